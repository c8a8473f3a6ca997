"""How far a log-density of a fit may be off, point by point, and the Newton step that it asks for.

The deficit is at its maximum over λ, so that a decrement of 1e-9 moves it by 1e-18. A log-density
is linear in λ: with g the mismatch of the moments that is left, it is off by g·Σ⁻¹(φ(x) - E φ),
which grows with the distance from the data and with the condition of the covariance Σ. One more
step leaves the square of that, and what the rounding of the moments and of the exponent does.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.errors import ResolutionError
from steradian.fitting.solution import NO_RUNG, DualSolution
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import solve_positive
from steradian.numerics.tolerances import (
    EXPONENT_ROUNDING,
    LAW_MEAN_ROUNDING,
    MOMENT_ROUNDING,
)

if TYPE_CHECKING:
    from steradian.fitting.maxent import MaxEntFit
    from steradian.hierarchies.base import Hierarchy

_LEFT = 2.0  # times what is linear in the mismatch that is left, for what is not


def sharpened(
    hierarchy: Hierarchy, level: int, solution: DualSolution, m: Array
) -> tuple[Array, float]:
    """λ (q,) and ψ of the one row of a solution after one more Newton step towards ``m`` (q,).

    Its means are those by which the family tells expectations, finer than what the fit is from.
    As they are where a step brings nothing, and where no rule of a ladder served: what is there in
    closed form or in a frame has its own digits.
    """
    lam, psi, rung = solution.lam[0], float(solution.psi[0]), int(solution.rungs[0])
    family = hierarchy.family(level).resolved_by(rung)
    if rung == NO_RUNG or solution.laws[0] is not None or family.natural(lam) is not None:
        return lam, psi
    try:
        covariance = family.log_partition(lam[None])[2]
        mean = family.expectations(lam[None], hierarchy.up_to(level))
        moved = lam + solve_positive(covariance, m - mean)[0]
        mean_there = family.expectations(moved[None], hierarchy.up_to(level))
        psi_there = family.log_partition(moved[None])[0]
    except ResolutionError:  # rules that agree about the deficit do not about a mean
        return lam, psi
    if not np.abs(m - mean_there).max() < np.abs(m - mean).max():
        return lam, psi
    return moved, float(psi_there[0])


def density_errors(fit: MaxEntFit, x: Array) -> Array:
    """Nats that the log-density λ·φ - ψ of a fit may be off by at ``x`` (n, d), (n,).

    With F = Σ⁻¹(φ - E φ): twice what the mismatch g of the moments leaves, |F·g|; the rounding of
    moments and means, which enters as |F|₁; that of the exponent; and what ψ differs by on the
    rule that the family chooses for this law afresh.
    """
    hierarchy, lam = fit.hierarchy.up_to(fit.level), fit.lam
    family = hierarchy.family(fit.level)
    psi, _, covariance = family.log_partition(lam[None])
    mean = family.expectations(lam[None], hierarchy)
    phi = np.asarray(hierarchy.features(x))
    away = np.linalg.solve(covariance[0], (phi - mean).T).T
    rounding = MOMENT_ROUNDING + LAW_MEAN_ROUNDING
    return np.asarray(
        _LEFT * np.abs(away @ (fit.moments - mean[0]))
        + rounding * np.abs(away).sum(axis=1)
        + EXPONENT_ROUNDING * (np.abs(phi) @ np.abs(lam) + np.abs(lam).sum())
        + abs(float(psi[0]) - fit.psi)
    )
