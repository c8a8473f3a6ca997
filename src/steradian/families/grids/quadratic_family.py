"""Level 2 on the circle and the two-sphere: fitted on a grid, held as a Fisher-Bingham law.

Grids serve most samples quickest. Their deficits have an absolute error of rounding, which is
too much for gaps near zero: those are integrated, as they are in any other dimension.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.certificate import Certificate
from steradian.existence.margin import Closest, Evidence
from steradian.existence.placement import Placement
from steradian.families.base import Family
from steradian.families.grids.gridded import GriddedFamily
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherFamily
from steradian.families.refits import Refits
from steradian.fitting.grouped import GroupedFits
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.fisher_bingham.gap import gap_over_von_mises_fisher
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.tolerances import GRID_CONTOUR, NEARLY_UNIFORM_DEFICIT, TINY_GAP
from steradian.spaces.quadratic import natural_parameters

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


@dataclass(frozen=True, slots=True)
class QuadraticFamily(Family):
    """All harmonics of degree one and two in the plane or in space."""

    linear: VonMisesFisherFamily
    grid: GriddedFamily

    @property
    def contour(self) -> FisherBinghamFamily:
        """The same laws by their contour integral."""
        return FisherBinghamFamily(self.grid.space)

    @property
    def q(self) -> int:
        return self.grid.q

    def features(self, x: AnyArray) -> AnyArray:
        return self.grid.features(x)

    def law(self, lam: Array, psi: float = np.nan) -> FisherBinghamLaw:
        """The law of parameters ``lam`` (q,)."""
        return self.contour.law(lam)

    @property
    def examines_quickly(self) -> bool:
        return self.grid.examines_quickly

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        return self.grid.log_partition(lam)

    def shared_fit(self, moments: MomentStack, shares: Array, own: int) -> GroupedFits | None:
        """By the contour, which no concentration troubles."""
        return self.contour.shared_fit(moments, shares, own)

    def resolved_by(self, rung: int) -> QuadraticFamily:
        return replace(self, grid=self.grid.resolved_by(rung))

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """As of the grid."""
        return self.grid.deficit_on(reach, m, lam)

    @property
    def has_rule(self) -> bool:
        return True

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        return self.grid.rule(lam, degree)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        return self.grid.expectations(lam, wide)

    def wide_covariance(self, lam: Array, wide: Hierarchy) -> tuple[Array, Array] | None:
        """As of the grid."""
        return self.grid.wide_covariance(lam, wide)

    def refits(self, lam: Array) -> Refits:
        return self.grid.refits(lam)

    def natural(self, lam: Array) -> tuple[Array, Array]:
        return natural_parameters(self.grid.space, lam)

    def contains(self, moments: MomentStack) -> IntArray:
        return self.grid.contains(moments)

    def examine(self, x: Array, weights: Array) -> Placement:
        return self.grid.examine(x, weights)

    def examine_failed(self, x: Array) -> Placement:
        return self.grid.examine_failed(x)

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest:
        return self.grid.closest_face(known, below)

    def margin_bound(self, known: Evidence) -> tuple[float, bool]:
        return self.grid.margin_bound(known)

    def peak(self, f: Certificate) -> Array | None:
        return self.grid.peak(f)

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """As on the grid; gaps near zero with relative accuracy."""
        out = self.grid.solve(moments, start, support)
        return self._with_small_gaps(out, moments, self.linear.solve(moments, start).deficit)

    def _with_small_gaps(
        self, out: DualSolution, moments: MomentStack, below: Array
    ) -> DualSolution:
        """Fits on the grid, whose gaps over the deficits ``below`` are integrated near zero."""
        if np.abs(out.deficit - below).min() >= TINY_GAP:
            return out
        solved = (out.status == Status.CONVERGED) & np.isnan(out.gap)
        tiny = solved & (np.abs(out.deficit - below) < TINY_GAP)
        for row in np.flatnonzero(tiny):
            gap = self._gap(moments.take(np.array([row])), out.lam[row], float(below[row]))
            if abs(below[row] + gap - out.deficit[row]) <= GRID_CONTOUR * (1.0 + out.deficit[row]):
                out.gap[row], out.deficit[row] = gap, below[row] + gap
        return out

    def _gap(self, moments: MomentStack, lam: Array, below: float) -> float:
        """I₂ of one sample whose fit is ``lam`` (q,)."""
        mean, scatter = moments.mean[0], moments.scatter[0]
        eta, quadratic = natural_parameters(self.grid.space, lam)
        beta, axes = np.linalg.eigh(quadratic)
        start = self.linear.solve(moments, np.zeros((1, self.linear.q))).lam[0]
        law = axes, beta, axes.T @ eta
        gap = gap_over_von_mises_fisher(law, self.linear.law(start).eta, mean, scatter)
        if below + abs(gap) < NEARLY_UNIFORM_DEFICIT:  # ½ rᵀr of what Newton's method left over
            left = moments.features[0, : self.q] - self.grid.harmonic_moments(lam[None], 2)[0]
            gap += 0.5 * float(left[self.linear.q :] @ left[self.linear.q :])
        return gap
