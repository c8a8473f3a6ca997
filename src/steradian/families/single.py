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

from steradian.fitting.newton import ARMIJO, matched_to_rounding
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    DUAL_ROUNDING,
    MOMENT_ROUNDING,
    NEARLY_DECREMENT,
    RESTING_DECREMENT,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import second_moments_of

_MOST_STEPS = 15
_CLOSE = 3e-2  # decrement from which the finer grid takes over
_COARSE = 1  # rung of the ladder on which the first steps are taken
_ONE = np.ones(1)
_LARGEST_EXPONENT = 600.0  # below overflow, so that the maximum need not be removed


def solve_one(
    space: Circle | Sphere, level: int, rung: int, m: Array, lam: Array
) -> DualSolution | None:
    """The fit to one moment vector ``m`` (q,) from ``lam`` (q,), or None to give up.

    The constant is carried along as a feature: with ``M`` the second moments of (1, φ), the
    system ``M (a, s) = (1, m)`` has the Newton step of the centred features as its ``s``, and
    the lower block of its Cholesky factor is the factor of the covariance.
    """
    grid = space.grid(rung)
    integrals = second_moments_of(space, level).one
    coarse = rung > _COARSE  # the first steps need no fine grid
    synthesize, analyze = space.grid(min(rung, _COARSE)).single(level)
    q = len(m)
    wanted = np.concatenate([_ONE, m])
    trial, step = lam, lam
    dual, decrement, length = -math.inf, 0.0, 1.0
    for count in range(_MOST_STEPS):
        if q * trial.dot(trial) > _LARGEST_EXPONENT**2:  # |λ·φ|² <= q |λ|² everywhere
            return None
        values = synthesize(trial)
        np.exp(values, out=values)
        moments = analyze(values)
        total = float(moments[0])
        psi = math.log(total)
        value = float(trial.dot(m)) - psi
        if value - dual < ARMIJO * length * decrement - DUAL_ROUNDING:
            length *= 0.5
            trial = lam + length * step
            continue
        lam, dual, length = trial, value, 1.0
        moments /= total
        second = integrals(moments)
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
        if decrement > NEARLY_DECREMENT**2:
            continue
        gradient = m - moments[1 : q + 1]
        decrement = float(gradient.dot(step))
        residual = float(np.abs(gradient).max())
        if decrement <= RESTING_DECREMENT**2 and residual <= 0.3 * ACCEPTED_RESIDUAL:
            unresolved = float(grid.unresolved(values.reshape(1, -1), level)[0])
            reach = math.sqrt(max(decrement, 0.0))
            mean = second[0, 1:]
            covariance = second[1:, 1:] - mean[:, None] * mean
            size = np.add.reduce(np.abs(covariance)).max()
            reciprocal, _ = lapack.dpocon(factor[1:, 1:], size)
            condition = 1.0 / float(reciprocal)
            rounding = MOMENT_ROUNDING * float(np.abs(lam).sum())
            numbers = (psi, dual, math.nan, residual, reach, condition, unresolved, rounding)
            return DualSolution.of_one(lam, numbers, nodes=grid.nodes, steps=count, rung=rung)
        if residual <= matched_to_rounding(m[None])[0]:
            return None  # a step would only follow noise: the stack solver stays put
    return None
