"""Harmonic exponential families integrated on a verified grid (circle and two-sphere).

The density of level L is ``exp(lam · phi - psi)`` with all harmonics through degree L. On a
grid ψ and the moments are plain weighted sums, taken with the maximum removed. Products of
two features have degree at most 2L, so the covariance needs only the moments of the density
through degree 2L: one product with few numbers, at a cost that does not grow with the grid.
When the features become nearly collinear under the fit (concentrated laws) second moments
minus squares lose their digits; then the covariance is taken as a product ``RᵀR`` from the
centred features at the nodes instead, which re-orthonormalises them under the fit.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.body import (
    circle_verdicts,
    examine_face,
    scatter_verdicts,
    sphere_verdicts,
)
from steradian.existence.certificate import Certificate
from steradian.existence.margin import (
    Closest,
    Evidence,
    circle_face,
    margin_bound,
    quadratic_face,
    sphere_face,
)
from steradian.existence.placement import Placement, Verdict
from steradian.existence.support_words import circle_peak, sphere_peak
from steradian.families.base import Family
from steradian.families.grids.curvature import allowed_quadrature
from steradian.families.grids.laws import GridLaws, density_on
from steradian.families.grids.polynomial_sample import PolynomialLaw, sample_polynomial
from steradian.families.grids.solver import GridSolver
from steradian.families.meshes.cell_tree import CellTree, LocalLaw
from steradian.families.refits import Refits
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import COLLINEAR_MOMENTS
from steradian.spaces import Circle, Grid, Sphere
from steradian.spaces.quadratic import coordinates

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_CONVERGED = int(Status.CONVERGED)
_CELL_LEVELS = 12  # above it the features at the nodes of cells are too many to keep
_SLOW_RUNGS = 3  # of the ladder on the sphere, slower than cells
_FEW_FEATURES = 100  # below it their products are quick at the nodes of any grid
_LONG_PRODUCTS = 300_000_000  # multiplications of features at nodes: some hundredths of a second


@dataclass(frozen=True, slots=True)
class GriddedFamily(Family):
    """All harmonics through degree ``level`` on the circle or the two-sphere."""

    space: Circle | Sphere
    level: int
    known: int = NO_RUNG  # a rung that resolves the laws it is asked about, where one is known

    @property
    def _laws(self) -> GridLaws:
        return self._solver.newton.laws

    @property
    def q(self) -> int:
        return self._solver.q

    @property
    def _solver(self) -> GridSolver:
        return GridSolver(self.space, self.level)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        return sample_polynomial(self.space, self.level, lam, n, rng)

    @property
    def examines_quickly(self) -> bool:
        return isinstance(self.space, Circle)

    def law(self, lam: Array, psi: float = np.nan) -> PolynomialLaw:
        return PolynomialLaw(self.space, self.level, lam, psi)

    def features(self, x: AnyArray) -> AnyArray:
        return self.space.harmonics(x, self.level)[:, 1:]

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance of each law on the first rung of the ladder that resolves it.

        Rows too sharp for the ladder get cells of their own.
        """
        rungs = self._resolving(lam)
        different = np.unique(rungs)
        if len(different) == 1 and different[0] != NO_RUNG:
            return self._laws.integrals(self.space.grid(int(different[0])), lam)
        out = np.empty(len(lam)), np.empty_like(lam), np.empty((len(lam), self.q, self.q))
        for rung in different:
            rows = rungs == rung
            part = (
                self._on_cells(lam[rows])
                if rung == NO_RUNG
                else self._laws.integrals(self.space.grid(int(rung)), lam[rows])
            )
            for whole, new in zip(out, part, strict=True):
                whole[rows] = new
        return out

    def _on_cells(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance of laws too sharp for the ladder."""
        tree = CellTree(self.level)  # neighbouring laws ask for the same cells
        roots = [self._local(one, tree).root() for one in lam]
        return (
            np.concatenate([root.psi for root in roots]),
            np.concatenate([root.mean for root in roots]),
            np.concatenate([root.covariance for root in roots]),
        )

    @property
    def has_rule(self) -> bool:
        return True

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for wider harmonics: (B, q_wide)."""
        return self.harmonic_moments(lam, wide.levels)

    def harmonic_moments(self, lam: Array, degree: int) -> Array:
        """E φ of the laws ``lam`` (B, q) for features through ``degree``: (B, q_degree)."""
        rungs = self._resolving(lam)
        out = np.empty((len(lam), self.space.size(degree) - 1))
        for rung in np.unique(rungs[rungs != NO_RUNG]):
            rows = rungs == rung
            finer = self._finer(int(rung), degree)
            out[rows] = finer.analyze(density_on(finer, lam[rows])[1], degree)[:, 1:]
        for row in np.flatnonzero(rungs == NO_RUNG):
            points, mass = self.rule(lam[row], degree)
            out[row] = mass @ self.space.harmonics(points, degree)[:, 1:]
        return out

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,).

        Good for functions of a degree up to ``degree`` times the density.
        """
        rung = int(self._resolving(lam[None])[0])
        if rung == NO_RUNG:
            law = self._local(lam, CellTree(self.level))
            return coordinates(3, law.features), law.mass
        finer = self._finer(rung, degree)
        return finer.points, density_on(finer, lam[None])[1][0] * finer.weights

    def wide_covariance(self, lam: Array, wide: Hierarchy) -> tuple[Array, Array] | None:
        """From moments of twice the degree, where values at the nodes would be long to multiply.

        None too where so many features are collinear under the law: nodes then keep more digits.
        """
        count = self.space.size(wide.levels)
        if count < _FEW_FEATURES:
            return None
        rung = int(self._resolving(lam[None])[0])
        if rung == NO_RUNG:
            return None
        finer = self._finer(rung, 2 * wide.levels)
        if finer.nodes * count**2 < _LONG_PRODUCTS:
            return None
        padded = np.zeros((1, count - 1))
        padded[0, : self.q] = lam
        found = GridLaws(self.space, wide.levels).on(finer, padded)
        if found.condition()[0] > COLLINEAR_MOMENTS:
            return None
        return found.mean[0], found.covariance[0]

    def resolved_by(self, rung: int) -> GriddedFamily:
        return replace(self, known=rung)

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """Deficit of the fit to ``m`` (q,) on a grid ``reach`` times as fine as what served it.

        Newton's method starts from ``lam`` (q,). NaN where it does not end, and where no grid of
        the ladder served.
        """
        if self.known == NO_RUNG:
            return float("nan")
        grid = self.space.exact_grid(int(reach * self.space.grid(self.known).reach))
        path = newton(lambda one, _: self._laws.on(grid, one), m[None], lam[None])
        found = judge(path, m[None], self._laws.on(grid, path.lam))
        return float(found.deficit[0]) if found.status[0] == _CONVERGED else float("nan")

    def refits(self, lam: Array) -> Refits:
        return Refits(self.space, self.level, lam)

    def _resolving(self, lam: Array) -> IntArray:
        """A rung that resolves each law ``lam`` (B, q); `NO_RUNG` of those left to cells.

        Where one is known that does, it is that one; else the first that does.
        """
        if self.known != NO_RUNG:
            return np.full(len(lam), self.known)
        has_cells = isinstance(self.space, Sphere) and self.level <= _CELL_LEVELS
        last = self.space.rungs() - (_SLOW_RUNGS if has_cells else 0)
        rungs = self._laws.climb(lam, last)
        refused = np.flatnonzero(rungs == NO_RUNG)
        if len(refused) and not has_cells:
            raise self._unresolved(f"{self.space.grid(last - 1).nodes} nodes", refused)
        return rungs

    def _finer(self, rung: int, degree: int) -> Grid:
        """A grid for laws of a rung times functions of a degree, which alias sooner."""
        return self.space.exact_grid(self.space.grid(rung).reach + degree)

    def _local(self, lam: Array, tree: CellTree) -> LocalLaw:
        """One law on the cells that it asks for."""
        law = tree.law(lam)
        if law.error > allowed_quadrature(lam):
            raise self._unresolved(law.words)
        return law

    def _unresolved(self, words: str, rows: IntArray | None = None) -> ResolutionError:
        cause = f"{Status.UNRESOLVED.sentence} ({words})"
        error = ResolutionError(self.level, cause, "ask for fewer levels")
        error.rows = rows
        return error

    def contains(self, moments: MomentStack) -> IntArray:
        if self.level == 2:
            return scatter_verdicts(moments.scatter)
        if isinstance(self.space, Circle):
            return circle_verdicts(moments.features, self.level)
        return sphere_verdicts(moments.features, self.level)

    def examine(self, x: Array, weights: Array) -> Placement:
        return self._solver.examine(x, weights)

    def examine_failed(self, x: Array) -> Placement:
        """On the two-sphere above level 2 the first look was not exact."""
        if self.level > 2 and isinstance(self.space, Sphere):
            return examine_face(x, self.level)
        return Placement(Verdict.UNSURE)

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest:
        if self.level == 2:
            return quadratic_face(known, below)
        if isinstance(self.space, Circle):
            return circle_face(known, self.level, below)
        return sphere_face(known, self.level, below)

    def margin_bound(self, known: Evidence) -> tuple[float, bool]:
        if self.level > 2 and isinstance(self.space, Sphere):
            return margin_bound(known, self.level), False
        return self.closest_face(known, None).margin, True

    def peak(self, f: Certificate) -> Array | None:
        return circle_peak(f) if isinstance(self.space, Circle) else sphere_peak(f)

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        return self._solver.solve(moments, start, support)
