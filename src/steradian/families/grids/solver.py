"""How a level is fitted on grids: one of them, the ladder, or pieces of the space."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.body import examine_circle, examine_sphere
from steradian.existence.placement import Placement, Verdict
from steradian.families.grids.high_levels import solve_high
from steradian.families.grids.ladder import LOW_LEVELS, MANY_ROWS, GridLadder, grid_ladder
from steradian.families.meshes.rows import solve_rows
from steradian.families.meshes.search import Exponent
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.linalg import least_eigenvalue, least_eigenvalues
from steradian.numerics.spheres.autoregression import autoregressive_parameters
from steradian.numerics.tolerances import COLLINEAR, GOOD_DEFICIT, LEAST_SECOND_MOMENT
from steradian.spaces import Circle, Sphere
from steradian.spaces.quadratic import gaussian_parameters

_SHORT_MEAN = 0.5  # resultant length below which a law is axial rather than unimodal
_CONVERGED = int(Status.CONVERGED)
_CAREFUL_LEVELS = 6  # to which collinear features are orthonormalised under the data in a second
_LONG_ROWS = 20_000_000  # rows times products of features, which pieces take seconds for
_ROW_FEATURES = 168  # of level 12 on the sphere: more, and pieces of the space hold too many
_STACKED_LEVELS = 12  # above it rows of a stack are fitted one by one
_CONTOUR_SHARPNESS = 100.0  # level-2 laws sharper than this leave the grid
_EXCESS, _SHORTFALL = 1.5, 0.6  # of a Gaussian start, over those near the uniform law: measured


@dataclass(frozen=True, slots=True)
class GridSolver:
    """Fits of all harmonics through degree ``level`` on the circle or the two-sphere."""

    space: Circle | Sphere
    level: int

    @property
    def ladder(self) -> GridLadder:
        """The grids, from coarse to fine."""
        return grid_ladder(self.space, self.level)

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

    def plain_fit(self, moments: MomentStack, below: DualSolution | None) -> DualSolution | None:
        """On the ladder of grids, at low levels and where one resolves it."""
        if self.level > LOW_LEVELS:
            return None
        ladder, mean = self.ladder, moments.mean[0]
        if self.level == 2 and mean.dot(mean) < _SHORT_MEAN**2:
            start = self._axial_start(moments, mean.dot(mean))
        else:
            start = np.zeros((1, ladder.q))
            if below is not None:
                start[:, : below.lam.shape[1]] = below.lam
        if below is not None and below.rungs[0] != NO_RUNG:
            rung = max(int(below.rungs[0]), ladder.least_rung)
        else:
            sharpness = _sharpness_of_one(mean, moments.scatter[0])
            if self.level == 2 and sharpness > _CONTOUR_SHARPNESS:
                return None
            rung = ladder.first_rung_of_one(sharpness, start)
        return ladder.solve_single(rung, moments.features[0, : start.shape[1]], start[0])

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Newton on the rung the data ask for, then on higher ones until verified.

        At level 2 sharp rows go to the contour integral, which no concentration troubles. Above,
        rows whose features are collinear under the fit, or that Newton's method does not
        find or the ladder not resolve, are fitted on pieces of the space: from their ``support``
        where there is one and it has a fit, else from their moments, unless they are not worth it.
        """
        sharpness = _sharpness(moments)
        if self.level == 2:
            sharp = sharpness > _CONTOUR_SHARPNESS
            if sharp.any():
                return self._solve_split(moments, start, sharp)
        if self.level > LOW_LEVELS:
            return self._solve_high(moments, start, support)
        near = self._better_start(moments, start)
        rung = self.ladder.first_rung(sharpness, near)
        m = moments.features[:, : self.q]
        out, doubtful = self.ladder.solve(m, near, rung)
        for row in np.flatnonzero(doubtful):
            pick = np.array([row])
            if self.level == 2:
                one = FisherBinghamFamily(self.space).solve(moments.take(pick), near[pick])
            elif support is not None:
                one = self._solve_rows(*support(int(row)))
            elif not moments.sought:
                out.status[row] = Status.UNRESOLVED
                continue
            else:
                one = self.ladder.solve_from_moments(m[row], start[row], int(rung[row]))
            out.put(pick, one)
        return out

    def _solve_high(
        self, moments: MomentStack, start: Array, support: Support | None
    ) -> DualSolution:
        """Levels on grids of any size; what these do not find, or find to few digits, otherwise."""
        m = moments.features[:, : self.q]
        careful = self.level <= _CAREFUL_LEVELS and (support is not None or moments.sought)
        out, left = self._high_together(moments, start)
        out.put(left, solve_high(self.space, self.level, m[left], start[left], otherwise=careful))
        found = out.status == _CONVERGED
        rough = out.moment_rounding > GOOD_DEFICIT
        if self.level <= _CAREFUL_LEVELS:
            rough |= out.condition > COLLINEAR
        for row in np.flatnonzero(~found | rough):
            if self.q > _ROW_FEATURES:
                break
            if support is not None:
                x, weights = support(int(row))
                if found[row] and len(x) * self.q**2 > _LONG_ROWS:
                    continue  # it states what digits it lacks
                one = self._solve_rows(x, weights, partial(self.exponent, lam=start[row]))
            elif moments.sought and (careful or not found[row]):
                rung = self.ladder.first_rung(_sharpness(moments), start)
                one = self.ladder.solve_from_moments(m[row], start[row], int(rung[row]))
            else:
                continue
            if not found[row] or one.status[0] == _CONVERGED:
                out.put(np.array([row]), one)
        return out

    def _high_together(self, moments: MomentStack, start: Array) -> tuple[DualSolution, IntArray]:
        """The plain rows of a large stack, and which rows are left."""
        if len(moments) < MANY_ROWS or self.level > _STACKED_LEVELS:
            out = DualSolution.empty(len(moments), self.q, Status.STALLED)
            return out, np.arange(len(moments))
        rung = self.ladder.first_rung(_sharpness(moments), start)
        out, doubtful = self.ladder.solve(moments.features[:, : self.q], start, rung)
        return out, np.flatnonzero(doubtful)

    def _solve_rows(self, x: Array, weights: Array, below: Exponent | None = None) -> DualSolution:
        """By a long search, unless the support shows at once that there is nothing to find."""
        if self.examine(x, weights).verdict is Verdict.OUTSIDE:
            return DualSolution.empty(1, self.q, Status.BOUNDARY)
        return solve_rows(self.space, self.level, x, weights, below)

    def _better_start(self, moments: MomentStack, start: Array) -> Array:
        """Where a law in closed form is nearer than that of the level below.

        For stacks on the circle the autoregressive one; at level 2, where the mean is short, nearly
        the Gaussian with the same moments.
        """
        if isinstance(self.space, Circle) and len(moments) >= MANY_ROWS:
            near = autoregressive_parameters(moments.features[:, : self.q])
            return np.where(np.isfinite(near).all(axis=1, keepdims=True), near, start)
        squared = np.einsum("bi,bi->b", moments.mean, moments.mean)[:, None]
        axial = squared < _SHORT_MEAN**2
        if self.level > 2 or not axial.any():
            return start
        return np.where(axial, self._axial_start(moments, squared), start)

    def _axial_start(self, moments: MomentStack, squared: Array | float) -> Array:
        """Parameters (B, 8 or 4) near level-2 fits whose means have short ``squared`` lengths.

        Those of the Gaussian with the same moments, without most of what they are off by. Near the
        uniform law, with a and b the means of the features of degree one and two, they exceed the
        fit by 2 / (d + 2) of |a|² a and fall short of it by as much of b; away from it by more of
        the one and less of the other.
        """
        gaussian = gaussian_parameters(self.space, moments.mean, moments.scatter)
        linear, quadratic = _shares(self.space.d, self.q)
        return gaussian + moments.features[:, : self.q] * (quadratic - squared * linear)

    def _solve_split(self, moments: MomentStack, start: Array, sharp: BoolArray) -> DualSolution:
        out = DualSolution.empty(len(moments), self.q)
        rows, others = np.flatnonzero(sharp), np.flatnonzero(~sharp)
        out.put(rows, FisherBinghamFamily(self.space).solve(moments.take(rows), start[rows]))
        if len(others):
            out.put(others, self.solve(moments.take(others), start[others]))
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


def _sharpness_of_one(mean: Array, scatter: Array) -> float:
    """The same of one sample."""
    return 1.0 / max(least_eigenvalue(scatter + mean[:, None] * mean), LEAST_SECOND_MOMENT)
