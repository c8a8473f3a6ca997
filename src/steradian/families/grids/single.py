"""One sample on one small grid, without the bookkeeping of a stack.

The same damped Newton as `fitting.newton` and the same verdict as its `judge`, on plain vectors:
for one sample the arrays of a stack would cost half as much again as the whole profile. Whatever
does not converge here in the ordinary way is left to the stack solver, and a test holds the two to
the same fits and stated errors.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

from steradian.families.grids.stacks import aliasing_bound_of_one
from steradian.fitting.newton import ARMIJO, matched_to_rounding
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    DUAL_ROUNDING,
    MOMENT_ROUNDING,
    QUADRATURE_TOLERANCE,
    RESTING_DECREMENT,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import second_moments_of

_MOST_STEPS = 15
_CLOSE = 2e-3  # decrement from which the finer grid takes over
_COARSE = 1  # rung of the ladder on which the first steps are taken
_MATCHED = 0.3 * ACCEPTED_RESIDUAL  # mismatch that leaves no doubt
_LARGEST_EXPONENT = 600.0  # below overflow, so that the maximum need not be removed


def solve_one(
    space: Circle | Sphere, level: int, rung: int, m: Array, lam: Array
) -> DualSolution | None:
    """The fit to one moment vector ``m`` (q,) from ``lam`` (q,), or None to give up.

    The constant is carried along as a feature: with ``M`` the second moments of (1, φ), the
    system ``M (a, s) = (1, m)`` has the Newton step of the centred features as its ``s``, and
    the lower block of its Cholesky factor is the factor of the covariance.

    The last step is taken without a look at where it leads: see `_end`.
    """
    grid = space.grid(rung)
    integrals = second_moments_of(space, level).dense  # of pairs of features with each moment
    coarse = rung > _COARSE  # the first steps need no fine grid
    far = _MATCHED / math.sqrt(len(m))  # squared decrement that no last step is taken from
    synthesize, analyze = (space.grid(_COARSE) if coarse else grid).single(level)
    q = len(m)
    square, largest = (q + 1, q + 1), _LARGEST_EXPONENT**2 / q  # |λ·φ|² <= q |λ|² everywhere
    wanted = np.empty(q + 1)
    wanted[0], wanted[1:] = 1.0, m
    trial, step = lam, lam
    dual, decrement, length = -math.inf, 0.0, 1.0
    for count in range(_MOST_STEPS):
        if trial.dot(trial) > largest:
            return None
        values = synthesize(trial)
        np.exp(values, out=values)
        moments = analyze(values)
        total = float(moments[0])
        value = float(trial.dot(m)) - math.log(total)
        if value - dual < ARMIJO * length * decrement - DUAL_ROUNDING:
            length *= 0.5
            trial = lam + length * step
            continue
        lam, dual, length = trial, value, 1.0
        moments /= total
        second = integrals.dot(moments).reshape(square)
        factor, solution, failed = lapack.dposv(second, wanted)
        if failed:
            return None
        step = solution[1:]
        decrement = float(wanted.dot(solution)) - 1.0  # squared, up to rounding
        trial = lam + step
        if coarse:
            if decrement < _CLOSE**2:
                coarse, dual = False, -math.inf  # duals on two grids do not compare
                synthesize, analyze = grid.single(level)
            continue
        if decrement > far:
            continue
        gradient = m - moments[1 : q + 1]
        end = _end(lam, dual, step, gradient, m)
        if end is not None:
            psi = float(end[0].dot(m)) - end[1]
            unresolved = _quadrature(space, rung, level, values, (end[0], psi))
            error = _condition(second, factor), unresolved
            return _solution(psi, end, error, nodes=grid.nodes, steps=count, rung=rung)
        if np.abs(gradient).max() <= matched_to_rounding(m):
            return None  # a step would only follow noise: the stack solver stays put
    return None


_End = tuple[Array, float, float, float]
"""Parameters (q,), their deficit, the mismatch and the decrement there."""


def _end(lam: Array, dual: float, step: Array, gradient: Array, m: Array) -> _End | None:
    """Where Newton's method ends, at ``lam`` or one ``step`` further; None where it goes on.

    A step s at a decrement δ leaves a mismatch ½ E (s·φ)² φ_k of the centred features, which is
    below ``√q δ²``, since |φ|² = q. What it leaves of the decrement is below ``√q |s| δ``, of the
    parameters about ``√q |s|²``, and the deficit rises by ½ δ², but for √q |s| δ². Where these are
    no more than a fit may show nobody looks again. No step follows a gradient that is the rounding
    of ``m``, which deficits near zero would feel.
    """
    squared, length = max(float(gradient.dot(step)), 0.0), float(step.dot(step))
    reach, root = math.sqrt(squared), math.sqrt(len(lam))
    felt = ACCEPTED_RESIDUAL * (1.0 + math.sqrt(lam.dot(lam)))
    residual, resting = max(map(abs, gradient.tolist())), reach <= RESTING_DECREMENT
    if resting and residual <= matched_to_rounding(m):
        return lam, dual, residual, reach
    if root * squared <= _MATCHED and root * length <= felt:
        left = root * math.sqrt(length) * reach
        return lam + step, dual + 0.5 * squared, root * squared, left
    return (lam, dual, residual, reach) if resting and residual <= _MATCHED else None


def _quadrature(
    space: Circle | Sphere, rung: int, level: int, values: Array, law: tuple[Array, float]
) -> float:
    """Error of ψ on a grid: on the sphere a bound, or where that is large what the spectrum says.

    On the circle a spectrum is as quick. ``law`` is λ (q,) and its ψ, ``values`` are near it.
    """
    grid = space.grid(rung)
    if isinstance(space, Sphere):
        bound = aliasing_bound_of_one(space, *law, grid.reach)
        if bound <= QUADRATURE_TOLERANCE:
            return bound
    return grid.unresolved_one(values, level)


def _condition(second: Array, factor: Array) -> float:
    """Of the covariance in second moments with the constant, from their Cholesky factor."""
    mean = second[0, 1:]
    covariance = second[1:, 1:] - mean[:, None] * mean
    size = lapack.dlange("1", covariance)
    return 1.0 / float(lapack.dpocon(factor[1:, 1:], size)[0])


def _solution(psi: float, end: _End, error: tuple[float, float], **served: int) -> DualSolution:
    lam, dual, residual, reach = end
    condition, unresolved = error
    rounding = MOMENT_ROUNDING * sum(map(abs, lam.tolist()))
    numbers = (psi, dual, math.nan, residual, reach, condition, unresolved, rounding)
    return DualSolution.of_one(lam, numbers, **served)
