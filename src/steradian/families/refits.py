"""Fits of many replicates that lie about one fit, to the few digits that a comparison needs.

A p-value counts the replicates that leave more over than the sample: the one solver of grids is
asked for less. At levels 1 and 2 the verified fit is asked for replicates that it does not find so;
above they count as without a fit, unless the finest grid already tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.grids.grid_newton import Effort, grid_newton
from steradian.families.grids.laws import moments_on
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import (
    REFIT_LAST_STEP,
    REFIT_MISMATCH,
    REFIT_SEEN,
    REFIT_UNRESOLVED,
)
from steradian.spaces import Circle, Sphere

_MOST_LEVELS = {2: 256, 3: 20}  # by ambient dimension
_SEARCHED_LEVELS = 12  # of a circle; above, a search takes a tenth of a second, and finds few
_VERIFIED_LEVELS = 2  # above, each takes long
_MOST_NODES = 80_000  # of grids for moments
_FEW_NODES = 5_000  # and where what they miss is searched for by other means


@dataclass(frozen=True, slots=True)
class Refits:
    """The families of one level on the circle or the two-sphere, near one fit ``lam`` (q,)."""

    space: Circle | Sphere
    level: int
    lam: Array

    @property
    def verifiable(self) -> bool:
        """Whether a verified fit of a replicate that is not sure is worth its time."""
        return self.level <= _VERIFIED_LEVELS

    @property
    def possible(self) -> bool:
        """Whether the covariances are quick enough for hundreds of replicates."""
        return self.level <= _MOST_LEVELS[self.space.d]

    @property
    def thorough(self) -> bool:
        """Whether a replicate whose parameters are not found is not worth a search of its own."""
        return isinstance(self.space, Circle) and self.level > _SEARCHED_LEVELS

    def expectations(self, m: Array, degree: int) -> tuple[Array, BoolArray]:
        """E φ through ``degree`` of the fits to ``m`` (B, q): (B, q_degree), and which are sure.

        An unsure one is of the law on the nodes of the finest grid that has these moments, which
        is close to the fit; NaN where there is none.
        """
        found = self._fits(m, Effort(
            aim=REFIT_UNRESOLVED,
            left=REFIT_UNRESOLVED,
            residual=REFIT_MISMATCH,
            last_step=REFIT_LAST_STEP,
            most_nodes=_MOST_NODES,
        ))  # fmt: skip
        out = np.full((len(m), self.space.size(degree) - 1), np.nan)
        near = found.residual <= REFIT_MISMATCH
        for rung in np.unique(found.rungs[near]):
            grid = self.space.exact_grid(max(self.space.grid(int(rung)).reach, self.level + degree))
            rows = np.flatnonzero(near & (found.rungs == rung))
            out[rows] = moments_on(grid, found.lam[rows], degree)[1][:, 1:]
        return out, found.status == Status.CONVERGED

    def parameters(self, m: Array) -> tuple[Array, BoolArray]:
        """λ (B, q) of the fits to ``m`` (B, q), and which of them converged and are resolved.

        Few grids are tried: a replicate that takes many is quicker fitted by itself.
        """
        most = _MOST_NODES if self.thorough else _FEW_NODES
        found = self._fits(m, Effort(aim=REFIT_SEEN, left=REFIT_SEEN, most_nodes=most))
        good = found.status == Status.CONVERGED
        return np.where(good[:, None], found.lam, self.lam), good

    def _fits(self, m: Array, effort: Effort) -> DualSolution:
        """Of the replicates, from the one fit."""
        if not self.possible:
            return DualSolution.empty(len(m), m.shape[1], Status.UNRESOLVED)
        newton, start = grid_newton(self.space, self.level), self.lam[None]
        rung = newton.first_rungs(np.ones(1), start)
        return newton.fit(m, np.repeat(start, len(m), 0), np.repeat(rung, len(m)), effort)
