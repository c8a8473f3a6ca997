"""One sample on one small grid, without the bookkeeping of a stack.

The same damped Newton as `dual.newton` and the same verdict as `dual.judge`, on plain vectors:
for a single sample the arrays of one row would cost several times the work itself. Whatever
does not converge here in the ordinary way is left to the stack solver.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.linalg import lapack

from steradian.dual import ACCEPTED_RESIDUAL, ARMIJO, DualSolution, matched_to_rounding
from steradian.hierarchies.products import feature_products
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.spaces import Circle, Grid, Sphere

_MOST_STEPS = 15
_CLOSE, _NEARLY, _AT_REST = 3e-2**2, 1e-6**2, 1e-8**2  # squared decrements
_COARSE = 1  # rung of the ladder on which the first steps are taken
_LARGEST_EXPONENT = 600.0  # below overflow, so that the maximum need not be removed


def solve_one(
    space: Circle | Sphere, level: int, rung: int, m: Array, lam: Array
) -> DualSolution | None:
    """The fit to one moment vector ``m`` (q,) from ``lam`` (q,), or None to give up."""
    grid = space.grid(rung)
    products = feature_products(space, level)
    coarse = rung > _COARSE  # the first steps need no fine grid
    synthesize, analyze = space.grid(min(rung, _COARSE)).single(level)
    q = len(m)
    trial, step = lam, lam
    dual, decrement, length = -math.inf, 0.0, 1.0
    for count in range(_MOST_STEPS):
        if q * float(trial @ trial) > _LARGEST_EXPONENT**2:  # |λ·φ|² <= q |λ|² everywhere
            return None
        values = synthesize(trial)
        np.exp(values, out=values)
        moments = analyze(values)
        total = moments[0]
        psi = math.log(total)
        value = float(trial @ m) - psi
        if value - dual < ARMIJO * length * decrement - 1e-13:
            length *= 0.5
            trial = lam + length * step
            continue
        lam, dual, length = trial, value, 1.0
        moments /= total
        mean = moments[1 : q + 1]
        covariance = (moments @ products).reshape(q, q)
        covariance -= mean[:, None] * mean
        gradient = m - mean
        factor, step, failed = lapack.dposv(covariance, gradient)
        if failed:
            return None
        decrement = float(gradient @ step)
        trial = lam + step
        if coarse:
            if decrement < _CLOSE:
                coarse, dual = False, -math.inf  # duals on two grids do not compare
                synthesize, analyze = grid.single(level)
            continue
        if decrement > _NEARLY:
            continue
        residual = np.abs(gradient).max()
        if decrement <= _AT_REST and residual <= 0.3 * ACCEPTED_RESIDUAL:
            size = np.abs(covariance).sum(axis=0).max()
            reciprocal, _ = lapack.dpocon(factor, size)
            unresolved = grid.unresolved(values.reshape(1, -1), level)
            report = (psi, dual, residual, math.sqrt(max(decrement, 0.0)), 1.0 / reciprocal)
            return _solution(lam, report, unresolved, grid, count)
        if residual <= matched_to_rounding(m[None])[0]:
            return None  # a step would only follow noise: the stack solver stays put
    return None


def _solution(
    lam: Array, report: tuple[float, ...], unresolved: Array, grid: Grid, steps: int
) -> DualSolution:
    numbers = np.array([*report, np.nan, ROUNDOFF * np.abs(lam).sum()])
    psi, deficit, residual, decrement, condition, gap, rounding = numbers[:, None]
    nodes, taken, status = np.array([[grid.nodes], [steps], [0]])
    return DualSolution(
        lam=lam[None],
        psi=psi,
        deficit=deficit,
        gap=gap,
        residual=residual,
        decrement=decrement,
        condition=condition,
        quadrature=unresolved,
        moment_rounding=rounding,
        nodes=nodes,
        steps=taken,
        status=status,
    )
