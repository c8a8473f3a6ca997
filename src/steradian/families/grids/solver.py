"""How a level is fitted on the circle and the two-sphere: on grids, and by what serves the rest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.body import examine_circle, examine_sphere
from steradian.existence.placement import Placement, Verdict
from steradian.families.grids.grid_newton import Effort, GridNewton, grid_newton
from steradian.families.meshes.rows import solve_rows
from steradian.families.meshes.search import Exponent
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray
from steradian.numerics.linalg import least_eigenvalues
from steradian.numerics.tolerances import (
    COLLINEAR,
    COLLINEAR_MOMENTS,
    FLAT,
    GOOD_DEFICIT,
    LEAST_SECOND_MOMENT,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import second_moments_of
from steradian.spaces.quadratic import gaussian_parameters

_CONVERGED = int(Status.CONVERGED)
_SHORT_MEAN = 0.5  # resultant length below which a law is axial rather than unimodal
_CAREFUL_LEVELS = 6  # to which collinear features are orthonormalised under the data in a second
_LONG_ROWS = 20_000_000  # rows times products of features, which pieces take seconds for
_ROW_FEATURES = 168  # of level 12 on the sphere: more, and pieces of the space hold too many
_PIECES_NODES = 250_000  # of grids, beyond which pieces of the space are quicker
_CONTOUR_SHARPNESS = 100.0  # level-2 laws sharper than this leave the grid
_EXCESS, _SHORTFALL = 1.5, 0.6  # of a Gaussian start, over those near the uniform law: measured
_GUARDED_LEVELS = 4  # above which starts are guarded
_GUARD = 0.03  # share of the Christoffel function
_SPARSE_DATA = 1e-2  # least eigenvalue of E φ_h φ_hᵀ of data that leave parts of the space empty
_FAR = 0.2  # decrement of a start that is no neighbour of the fit
_SUMMED = 16.0  # times the rounding of moments, measured on tight clusters


@dataclass(frozen=True, slots=True)
class GridSolver:
    """Fits of all harmonics through degree ``level`` on the circle or the two-sphere."""

    space: Circle | Sphere
    level: int

    @property
    def newton(self) -> GridNewton:
        """Newton's method on the rungs of the space."""
        return grid_newton(self.space, self.level)

    @property
    def q(self) -> int:
        """Features, without the constant."""
        return self.space.size(self.level) - 1

    def exponent(self, x: Array, lam: Array) -> Array:
        """λ·φ at points ``x`` (n, d), (n,)."""
        return np.asarray(self.space.harmonics(x, self.level)[:, 1:] @ lam)

    def examine(self, x: Array, weights: Array) -> Placement:
        """Whether rows have a fit, as far as they tell at once."""
        if isinstance(self.space, Circle):
            return examine_circle(x, weights, self.level)
        return examine_sphere(x, weights, self.level)

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """On grids; what these do not find, or find to few digits, in another way.

        At level 2 by the contour integral, which no concentration troubles. Above, on pieces of the
        space from the rows of ``support``, unless these show that there is no fit; without rows by
        careful steps, unless a row is not worth a search of its own.
        """
        sharpness = _sharpness(moments)
        m = moments.features[:, : self.q]
        near, pieces = self._near(moments, start), support is not None and self.q <= _ROW_FEATURES
        effort = self._effort(moments, pieces=pieces)
        if self.level > 2 or sharpness.max() <= _CONTOUR_SHARPNESS:
            out = self.newton.fit(m, near, self.newton.first_rungs(sharpness, near), effort)
        else:
            out = DualSolution.empty(len(m), self.q, Status.UNRESOLVED)
            rows = np.flatnonzero(sharpness <= _CONTOUR_SHARPNESS)
            rung = self.newton.first_rungs(sharpness[rows], near[rows])
            out.put(rows, self.newton.fit(m[rows], near[rows], rung, effort))
        for row in np.flatnonzero((out.status != _CONVERGED) | self._is_rough(out)):
            pick = np.array([row])
            if self.level == 2:
                one = FisherBinghamFamily(self.space).solve(moments.take(pick), near[pick])
            elif pieces:
                x, weights = support(int(row))  # type: ignore[misc]
                if out.status[row] == _CONVERGED and len(x) * self.q**2 > _LONG_ROWS:
                    continue  # it states what digits it lacks
                one = self._solve_rows(x, weights, partial(self.exponent, lam=start[row]))
            elif support is None and moments.sought:
                one = self._solve_moments(m[pick], start[pick], sharpness[pick])
            else:
                continue
            if out.status[row] != _CONVERGED or one.status[0] == _CONVERGED:
                out.put(pick, one)
        return out

    def _effort(self, moments: MomentStack, *, pieces: bool) -> Effort:
        """Less where there is another way, and for replicates."""
        if self.level > _CAREFUL_LEVELS:
            return Effort()
        if pieces or not moments.sought:
            return Effort(most_nodes=_PIECES_NODES, most_condition=COLLINEAR)
        return Effort(most_condition=COLLINEAR)

    def _is_rough(self, out: DualSolution) -> BoolArray:
        """Fits whose parameters have lost digits, (B,)."""
        if self.level == 2:
            return np.zeros(len(out.lam), dtype=bool)
        rough = out.moment_rounding > GOOD_DEFICIT
        if self.level <= _CAREFUL_LEVELS:
            rough |= out.condition > COLLINEAR
        return np.asarray(rough)

    def _solve_rows(self, x: Array, weights: Array, below: Exponent) -> DualSolution:
        """By a long search, unless the support shows at once that there is nothing to find."""
        if self.examine(x, weights).verdict is Verdict.OUTSIDE:
            return DualSolution.empty(1, self.q, Status.BOUNDARY)
        return solve_rows(self.space, self.level, x, weights, below)

    def _solve_moments(self, m: Array, start: Array, sharpness: Array) -> DualSolution:
        """One row whose rows are not at hand, by careful steps.

        Sums over many rows and transforms leave moments good to some hundreds of roundings, which
        only laws of large parameters feel. The law of the level below, where it has all the
        moments to a few roundings already, is beyond doubt. Where it misses them by more, nearly
        collinear features may hide ½ |r|² over the least eigenvalue of their covariance in the
        mismatch r.
        """
        rung = self.newton.first_rungs(sharpness, start)
        out = self.newton.fit(m, start, rung, Effort(carefully=True))
        if not np.array_equal(out.lam, start) and out.condition[0] > COLLINEAR_MOMENTS:
            out.moment_rounding[:] *= _SUMMED
        missed = np.where(out.residual > _SUMMED * ROUNDOFF, out.residual, 0.0)
        out.moment_rounding += 0.5 * self.q * missed**2 * out.condition
        return out

    def _near(self, moments: MomentStack, start: Array) -> Array:
        """Where a law in closed form is nearer than that of the level below, (B, q)."""
        if self.level == 2:
            return self._axial_start(moments, start)
        if self.level > _GUARDED_LEVELS and isinstance(self.space, Sphere):
            return self._guarded(moments.features[:, : self.q], start)
        return start

    def _axial_start(self, moments: MomentStack, start: Array) -> Array:
        """Parameters (B, 8 or 4) near level-2 fits whose means are short.

        Those of the Gaussian with the same moments, without most of what they are off by. Near the
        uniform law, with a and b the means of the features of degree one and two, they exceed the
        fit by 2 / (d + 2) of |a|² a and fall short of it by as much of b; away from it by more of
        the one and less of the other.
        """
        squared = np.einsum("bi,bi->b", moments.mean, moments.mean)[:, None]
        if squared.min() >= _SHORT_MEAN**2:
            return start
        gaussian = gaussian_parameters(self.space, moments.mean, moments.scatter)
        linear, quadratic = _shares(self.space.d, self.q)
        near = gaussian + moments.features[:, : self.q] * (quadratic - squared * linear)
        return np.where(squared < _SHORT_MEAN**2, near, start)

    def _guarded(self, m: Array, start: Array) -> Array:
        """Starts with less density where there are no data, when the fit is far from them.

        Newton's first steps put spurious modes there, which travel round the space for a hundred
        steps. With h = ⌊L/2⌋ and G = E φ_h φ_hᵀ of the data, the Christoffel function
        K = φ_hᵀ G⁻¹ φ_h / (h + 1)² is large there, and one on average over the data.
        """
        products = second_moments_of(self.space, self.level // 2)
        out, size = start.copy(), products.moments
        moments = np.concatenate([np.ones((len(m), 1)), m[:, : size - 1]], axis=1)
        for row, (values, axes) in enumerate(
            zip(*np.linalg.eigh(products.stack(moments)), strict=True)
        ):
            if FLAT < values[0] < _SPARSE_DATA:
                inverse = (axes / values) @ axes.T / len(values)
                out[row, : size - 1] -= _GUARD * products.expanded(inverse)[1:]
        return out


@cache
def _shares(d: int, q: int) -> tuple[Array, Array]:
    """Of the features (q,) in what a Gaussian start is off by: of |E x|² E φ, and of E φ itself."""
    linear = np.arange(q) < d
    near = 2.0 / (d + 2.0)
    return np.where(linear, _EXCESS * near * d, 0.0), np.where(linear, 0.0, _SHORTFALL * near)


def _sharpness(moments: MomentStack) -> Array:
    """Concentration of the sharpest direction: the inverse of the least second moment."""
    second = moments.scatter + moments.mean[:, :, None] * moments.mean[:, None, :]
    return 1.0 / np.maximum(least_eigenvalues(second), LEAST_SECOND_MOMENT)
