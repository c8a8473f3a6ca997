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

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.body import (
    circle_verdicts,
    examine_circle,
    examine_face,
    examine_sphere,
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
from steradian.families.cell_tree import CellTree, LocalLaw
from steradian.families.concentrated import solve_locally
from steradian.families.curvature import Covariance, Root, allowed_quadrature, mean_and_root
from steradian.families.fisher_bingham import FisherBinghamFamily
from steradian.families.meshed import solve_rows
from steradian.families.polynomial_sample import sample_polynomial
from steradian.families.refits import Refits
from steradian.families.single import solve_one
from steradian.families.whitening import Whitening, formed_whitening
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array, BoolArray, IntArray
from steradian.numerics.linalg import eigenvalues
from steradian.numerics.tolerances import (
    COLLINEAR_MOMENTS,
    DOUBTED_GRID,
    NEARLY_RESIDUAL,
    NEGLIGIBLE_MASS,
    QUADRATURE_TOLERANCE,
    USABLE_QUADRATURE,
)
from steradian.spaces import Circle, Grid, Sphere
from steradian.spaces.products import has_products, second_moments
from steradian.spaces.quadratic import coordinates, gaussian_parameters

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_GENTLE = 12.0  # exponents this small make no law sharper than its level
_SHORT_MEAN = 0.5  # resultant length below which a law is axial rather than unimodal
_CONVERGED = int(Status.CONVERGED)
_CONTOUR_SHARPNESS = 100.0  # level-2 laws sharper than this leave the grid
_CELL_LEVELS = 12  # above it the features at the nodes of cells are too many to keep
_SLOW_RUNGS = 3  # of the ladder on the sphere, slower than cells
_SUMMED = 16.0  # times the rounding of moments, measured on tight clusters
_TRIES = 4  # to end a fit that Newton nearly ended
_MOST_STEPS = 40  # of Newton's method on a grid; where it creeps another way is quicker
_NO_OVERFLOW = 300.0  # exponents that leave room for sums of exponentials


@dataclass(frozen=True, slots=True)
class GriddedFamily:
    """All harmonics through degree ``level`` on the circle or the two-sphere."""

    space: Circle | Sphere
    level: int
    known: int = NO_RUNG  # a rung that resolves the laws it is asked about, where one is known

    @property
    def q(self) -> int:
        return self.space.size(self.level) - 1

    def exponent(self, x: Array, lam: Array) -> Array:
        return np.asarray(self.space.harmonics(x, self.level)[:, 1:] @ lam)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        return sample_polynomial(self.space, self.level, lam, n, rng)

    @property
    def forms_matrices(self) -> bool:
        return True

    @property
    def examines_quickly(self) -> bool:
        return isinstance(self.space, Circle)

    def whitening(self, below: Array) -> Whitening:
        return formed_whitening(self, self._features, below)

    def chi_square_lead(self, rate: float) -> float:  # noqa: ARG002
        return 0.0

    def draw_work(self, rows: int) -> float:  # noqa: ARG002
        return 0.0

    def _features(self, x: AnyArray) -> AnyArray:
        return self.space.harmonics(x, self.level)[:, 1:]

    @property
    def needs_support(self) -> bool:
        return isinstance(self.space, Sphere) and self.level % 2 == 1

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance on the first rung of the ladder that resolves every row.

        Rows too sharp for the ladder get cells of their own.
        """
        grid, sharp = self._resolving(lam)
        if not sharp.any():
            return self._on_grid(grid, lam)
        out = np.empty(len(lam)), np.empty_like(lam), np.empty((len(lam), self.q, self.q))
        parts = (
            [(np.flatnonzero(~sharp), self._on_grid(grid, lam[~sharp]))] if not sharp.all() else []
        )
        for row in np.flatnonzero(sharp):
            root = self._local(lam[row]).root()
            parts.append((np.array([row]), (root.psi, root.mean, root.covariance)))
        for rows, part in parts:
            for whole, new in zip(out, part, strict=True):
                whole[rows] = new
        return out

    def _on_grid(self, grid: Grid, lam: Array) -> tuple[Array, Array, Array]:
        if self._has_products:
            quick = self._covariance(grid, lam)
            if (quick.condition() < COLLINEAR_MOMENTS).all():
                return quick.psi, quick.mean, quick.covariance
        roots = self._root(grid, lam)
        return roots.psi, roots.mean, roots.covariance

    @property
    def has_rule(self) -> bool:
        return True

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for wider harmonics: (B, q_wide)."""
        return self.harmonic_moments(lam, wide.levels)

    def harmonic_moments(self, lam: Array, degree: int) -> Array:
        """E φ of the laws ``lam`` (B, q) for features through ``degree``: (B, q_degree)."""
        grid, sharp = self._resolving(lam)
        finer = self.space.exact_grid(grid.reach + degree)  # products alias sooner
        out = finer.analyze(_density(finer, lam)[1], degree)[:, 1:]
        for row in np.flatnonzero(sharp):
            points, mass = self.rule(lam[row], degree)
            out[row] = mass @ self.space.harmonics(points, degree)[:, 1:]
        return out

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,).

        Good for functions of a degree up to ``degree`` times the density.
        """
        grid, sharp = self._resolving(lam[None])
        if sharp[0]:
            law = self._local(lam)
            return coordinates(3, law.features), law.mass
        finer = self.space.exact_grid(grid.reach + degree)
        return finer.points, _density(finer, lam[None])[1][0] * finer.weights

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
        found = self._solve_on(grid, m[None], lam[None])
        return float(found.deficit[0]) if found.status[0] == _CONVERGED else float("nan")

    def refits(self, lam: Array) -> Refits:
        return Refits(self.space, self.level, lam)

    @property
    def closed_leftover(self) -> bool:
        return False

    def natural(self, lam: Array) -> tuple[Array, Array] | None:  # noqa: ARG002
        return None

    def _resolving(self, lam: Array) -> tuple[Grid, BoolArray]:
        """The first grid of the ladder that resolves all rows, or the last; rows it does not.

        Where one is known that does, it is that one, or what features of the level ask for.
        """
        if self.known != NO_RUNG:
            least = int(self.space.rung_for(np.zeros(1), self.level)[0])
            return self.space.grid(max(self.known, least)), np.zeros(len(lam), dtype=bool)
        allowed = allowed_quadrature(lam)
        for rung in range(self._rungs):
            grid = self.space.grid(rung)
            sharp = grid.unresolved(_density(grid, lam)[1], self.level) > allowed
            if not sharp.any():
                break
        if sharp.any() and not self._has_cells:
            raise self._unresolved(f"{grid.nodes} nodes")
        return grid, sharp

    def _local(self, lam: Array) -> LocalLaw:
        """One law on its own cells."""
        law = CellTree(self.level).law(lam)
        if law.error > allowed_quadrature(lam):
            raise self._unresolved(law.words)
        return law

    def _unresolved(self, words: str) -> ResolutionError:
        cause = f"{Status.UNRESOLVED.sentence} ({words})"
        return ResolutionError(self.level, cause, "ask for fewer levels")

    def contains(self, moments: MomentStack) -> IntArray:
        if self.level == 2:
            return scatter_verdicts(moments.scatter)
        if isinstance(self.space, Circle):
            return circle_verdicts(moments.features, self.level)
        return sphere_verdicts(moments.features, self.level)

    def examine(self, x: Array, weights: Array) -> Placement:
        if isinstance(self.space, Circle):
            return examine_circle(x, weights, self.level)
        return examine_sphere(x, weights, self.level)

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
        """Newton on the rung the data ask for, then on higher ones until verified.

        At level 2 sharp rows go to the contour integral, which no concentration troubles. Above,
        rows whose features are collinear under the fit, or that Newton's method does not
        find or the ladder not resolve, are fitted on pieces of the space: from their ``support``
        where there is one, else from their moments, unless they are not worth it.
        """
        sharpness = _sharpness(moments)
        if self.level == 2:
            sharp = sharpness > _CONTOUR_SHARPNESS
            if sharp.any():
                return self._solve_split(moments, start, sharp)
            start = self._better_start(moments, start)
        rung = self._first_rung(sharpness, start)
        m = moments.features[:, : self.q]
        out, doubtful = self._solve_on_grids(m, start, rung)
        for row in np.flatnonzero(doubtful):
            pick = np.array([row])
            if self.level == 2:
                one = FisherBinghamFamily(self.space).solve(moments.take(pick), start[pick])
            elif support is not None:
                one = solve_rows(self.space, self.level, *support(int(row)))
            elif not moments.sought:
                out.status[row] = Status.UNRESOLVED
                continue
            else:
                one = self._from_moments(m[row], start[row], int(rung[row]))
            out.put(pick, one)
        return out

    def _from_moments(self, m: Array, start: Array, rung: int) -> DualSolution:
        """One row whose rows are not at hand: careful steps on the ladder, then on cells."""
        begin = start
        for step in range(rung, self._rungs):
            one = self._solve_carefully(self.space.grid(step), m[None], start[None])
            one.rungs[:] = step
            self._look_again(one, step)
            if one.quadrature[0] <= allowed_quadrature(one.lam)[0]:
                return _as_determined(one, begin)
            one.status[:] = Status.UNRESOLVED
            if one.quadrature[0] <= USABLE_QUADRATURE:
                start = one.lam[0]
        if self._has_cells:
            return _as_determined(solve_locally(self.level, m, start), begin)
        return one

    def _better_start(self, moments: MomentStack, start: Array) -> Array:
        """Where the mean is short the Gaussian with the same moments beats von Mises-Fisher."""
        axial = np.einsum("bi,bi->b", moments.mean, moments.mean) < _SHORT_MEAN**2
        if not axial.any():
            return start
        gaussian = gaussian_parameters(self.space, moments.mean, moments.scatter)
        return np.where(axial[:, None], gaussian, start)

    def _solve_split(self, moments: MomentStack, start: Array, sharp: BoolArray) -> DualSolution:
        out = DualSolution.empty(len(moments), self.q)
        rows, others = np.flatnonzero(sharp), np.flatnonzero(~sharp)
        out.put(rows, FisherBinghamFamily(self.space).solve(moments.take(rows), start[rows]))
        if len(others):
            out.put(others, self.solve(moments.take(others), start[others]))
        return out

    def _solve_on_grids(
        self, m: Array, start: Array, rung: IntArray
    ) -> tuple[DualSolution, BoolArray]:
        """Fits on the ladder of grids, and which rows must be found in another way."""
        if len(m) == 1:
            one = self._solve_single(int(rung[0]), m[0], start[0])
            if one is not None:
                return one, np.zeros(1, dtype=bool)
        start = start.copy()
        out = DualSolution.empty(len(m), self.q, Status.UNRESOLVED)
        doubtful = np.ones(len(m), dtype=bool)
        pending = np.arange(len(m))
        for step in range(int(rung.min()), self._rungs):
            rows = pending[rung[pending] <= step]
            if not len(rows):
                continue
            part = self._solve_on(self.space.grid(step), m[rows], start[rows])
            part.rungs[:] = step
            self._look_again(part, step)
            found = (part.status == _CONVERGED) & (part.condition <= COLLINEAR_MOMENTS)
            settled = found & (part.quadrature <= allowed_quadrature(part.lam))
            out.put(rows, part)
            doubtful[rows[settled]] = False
            usable = found & (part.quadrature <= USABLE_QUADRATURE)
            start[rows[usable]] = part.lam[usable]  # the others begin again below
            creeping = (part.status != _CONVERGED) & (part.quadrature <= USABLE_QUADRATURE)
            leaving = settled | creeping | (part.condition > COLLINEAR_MOMENTS)
            pending = np.setdiff1d(pending, rows[leaving], assume_unique=True)
            if not len(pending):
                break
        return out, doubtful

    def _solve_single(self, rung: int, m: Array, start: Array) -> DualSolution | None:
        """One sample the quick way, or None where it takes the careful one."""
        while self._has_products and rung < self._rungs:
            one = solve_one(self.space, self.level, rung, m, start)
            if one is None or one.condition[0] > COLLINEAR_MOMENTS:
                return None
            self._look_again(one, rung)
            if one.quadrature[0] <= QUADRATURE_TOLERANCE:
                return one
            start = one.lam[0] if one.quadrature[0] <= USABLE_QUADRATURE else start
            rung += 1
        return None

    def _look_again(self, found: DualSolution, rung: int) -> None:
        """ψ of nearly collinear laws on the next grid too: faint sharp modes hide from a spectrum.

        The difference joins the estimate of the quadrature error.
        """
        rows = np.flatnonzero(
            (found.condition > DOUBTED_GRID) & (found.quadrature <= USABLE_QUADRATURE)
        )
        if not len(rows) or rung + 1 >= self.space.rungs():
            return
        finer, _ = _density(self.space.grid(rung + 1), found.lam[rows])
        apart = np.abs(finer - found.psi[rows]) - ROUNDOFF * np.abs(found.lam[rows]).sum(axis=1)
        found.quadrature[rows] = np.maximum(found.quadrature[rows], apart)

    def _first_rung(self, sharpness: Array, start: Array) -> IntArray:
        """Where to begin: what the second moments ask for and where the start is resolved."""
        rung = self.space.rung_for(sharpness, self.level)
        if self.level == 2:  # the start is von Mises-Fisher: no sharper than its moments
            return rung
        reach = np.sqrt(self.q * np.einsum("bq,bq->b", start, start))  # |λ·φ| is never larger
        if reach.max() < _GENTLE:
            return rung
        for step in range(int(rung.min()), self._rungs - (not self._has_cells)):
            rows = np.flatnonzero(rung == step)
            if len(rows):
                grid = self.space.grid(step)
                _, density = _density(grid, start[rows])
                rung[rows[grid.unresolved(density, self.level) > USABLE_QUADRATURE]] += 1
        return rung

    def _solve_on(self, grid: Grid, m: Array, start: Array) -> DualSolution:
        """Fits on one grid, in few steps or not at all."""
        evaluate = self._covariance if self._has_products else self._root
        return _solve_with(lambda lam: evaluate(grid, lam), self.level, grid, m, start)

    def _solve_carefully(self, grid: Grid, m: Array, start: Array) -> DualSolution:
        """The same with features re-orthonormalised under the law at every step."""

        def evaluate(lam: Array, _rows: IntArray) -> Root:
            return self._root(grid, lam)

        for _ in range(_TRIES):
            path = newton(evaluate, m, start)
            end = self._root(grid, path.lam)
            out = judge(path, m, end)
            start = out.lam
            if out.status[0] == _CONVERGED or not out.residual[0] < NEARLY_RESIDUAL:
                break
        out.quadrature[:] = grid.unresolved(end.density, self.level)
        out.nodes[:] = grid.nodes
        return out

    @property
    def _has_products(self) -> bool:
        """Whether covariances come from moments of twice the level."""
        return has_products(self.space, self.level)

    @property
    def _has_cells(self) -> bool:
        """Whether laws too sharp for the ladder go to cells that follow them."""
        return isinstance(self.space, Sphere) and self.level <= _CELL_LEVELS

    @property
    def _rungs(self) -> int:
        """Rungs of the ladder before cells are quicker."""
        return self.space.rungs() - (_SLOW_RUNGS if self._has_cells else 0)

    def _covariance(self, grid: Grid, lam: Array) -> Covariance:
        peak, values = _peaked(grid, lam)
        moments = grid.analyze(values, 2 * self.level)
        total = moments[:, :1]
        psi = np.log(total[:, 0]) + peak
        second = second_moments(self.space, self.level, moments / total)
        mean = second[:, 0, 1:]
        covariance = second[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :]
        return Covariance(psi, mean, covariance, values)

    def _root(self, grid: Grid, lam: Array) -> Root:
        psi, density = _density(grid, lam)
        means = np.empty_like(lam)
        roots = np.empty((len(lam), self.q, self.q))
        for b, row in enumerate(density):
            mass = row * grid.weights
            active = mass > NEGLIGIBLE_MASS
            phi = self.space.harmonics(grid.points[active], self.level)[:, 1:]
            means[b], roots[b] = mean_and_root(mass[active], phi)
        return Root(psi, means, density, roots)


def _solve_with(
    evaluate: Callable[[Array], Covariance | Root], level: int, grid: Grid, m: Array, start: Array
) -> DualSolution:
    def stacked(lam: Array, _rows: IntArray) -> Covariance | Root:
        return evaluate(lam)  # all rows share the grid

    path = newton(stacked, m, start, max_steps=_MOST_STEPS)
    end = evaluate(path.lam)
    out = judge(path, m, end)
    out.quadrature[:] = grid.unresolved(end.density, level)
    out.nodes[:] = grid.nodes
    return out


def _as_determined(out: DualSolution, start: Array) -> DualSolution:
    """A fit to moments alone, under which the features may be nearly collinear.

    Sums over many rows and transforms leave moments good to some hundreds of roundings, which
    only laws of large parameters feel. The law of the level below, where it has all the
    moments already, is beyond doubt.
    """
    if not np.array_equal(out.lam[0], start) and out.condition[0] > COLLINEAR_MOMENTS:
        out.moment_rounding[:] *= _SUMMED
    return out


def _peaked(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """An exponent near the largest (B,), and the density over its value there (B, nodes)."""
    values = grid.synthesize(lam)
    if lam.shape[1] * np.einsum("bq,bq->b", lam, lam).max(initial=0.0) < _NO_OVERFLOW**2:
        np.exp(values, out=values)
        return np.zeros(len(lam)), values  # |λ·φ|² <= q |λ|²: nothing to remove
    peak = values.max(axis=1)
    values -= peak[:, None]
    np.exp(values, out=values)
    return peak, values


def _density(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """ψ (B,) and the normalised density at the nodes (B, nodes)."""
    peak, values = _peaked(grid, lam)
    total = values @ grid.weights
    values /= total[:, None]
    return np.log(total) + peak, values


def _sharpness(moments: MomentStack) -> Array:
    """Concentration of the sharpest direction: the inverse of the least second moment."""
    second = moments.scatter + moments.mean[:, :, None] * moments.mean[:, None, :]
    least = eigenvalues(second)[:, 0]
    return 1.0 / np.maximum(least, 1e-12)
