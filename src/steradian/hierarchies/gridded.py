"""Harmonic exponential families integrated on a verified grid (circle and two-sphere).

The density of level L is ``exp(lam · phi - psi)`` with all harmonics through degree L. On a
grid ψ and the moments are plain weighted sums, taken with the maximum removed. Products of
two features have degree at most 2L, so the covariance needs only the moments of the density
through degree 2L: one small tensor product, at a cost that does not grow with the grid.
When the features become nearly collinear under the fit (concentrated laws) second moments
minus squares lose their digits; then the covariance is taken as a product ``RᵀR`` from the
centred features at the nodes instead, which re-orthonormalises them under the fit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from steradian.dual import DualSolution, Status, judge, newton
from steradian.hierarchies.base import MomentStack, Placement
from steradian.hierarchies.body import (
    circle_verdicts,
    examine_circle,
    examine_sphere,
    sphere_verdicts,
)
from steradian.numerics.arrays import Array, IntArray
from steradian.spaces import Circle, Grid, Sphere

QUADRATURE_TOLERANCE = 1e-12
_USABLE = 1e-6  # quadrature error below which a fit is worth starting from
_TENSOR_LIMIT = 4_000_000  # entries of the product tensor we are willing to keep
_COLLINEAR = 1e9  # condition above which second moments minus squares are not trusted
_NEARLY, _POLISH = 1e-6, 3  # residual worth a few more steps from where Newton ended
_NEGLIGIBLE = 1e-36  # node masses below it do not move a covariance


@dataclass(frozen=True, slots=True)
class _Covariance:
    """Moments through degree 2L turned into a covariance."""

    psi: Array
    mean: Array
    density: Array  # at the nodes
    covariance: Array

    def newton(self, gradient: Array) -> Array:
        try:
            return np.asarray(np.linalg.solve(self.covariance, gradient[..., None])[..., 0])
        except np.linalg.LinAlgError:
            return np.full_like(gradient, np.nan)

    def condition(self) -> Array:
        values = np.linalg.eigvalsh(self.covariance)
        return np.asarray(values[:, -1] / np.maximum(values[:, 0], 1e-100))


@dataclass(frozen=True, slots=True)
class _Root:
    """The covariance as RᵀR, R from the centred features at the nodes."""

    psi: Array
    mean: Array
    density: Array  # at the nodes
    root: Array  # (B, q, q), upper triangular

    def newton(self, gradient: Array) -> Array:
        try:
            half = np.linalg.solve(np.swapaxes(self.root, 1, 2), gradient[..., None])
            return np.linalg.solve(self.root, half)[..., 0]
        except np.linalg.LinAlgError:
            return np.full_like(gradient, np.nan)

    def condition(self) -> Array:
        values = np.linalg.svd(self.root, compute_uv=False)
        return np.asarray((values[:, 0] / np.maximum(values[:, -1], 1e-100)) ** 2)


@cache
def _product_tensor(space: Circle | Sphere, level: int) -> Array:
    """∫ φ_k φ_i φ_j dν for k of degree <= 2L, i and j of degree 1..L: (K, q·q)."""
    grid = space.exact_grid(4 * level)
    small = space.harmonics(grid.points, level)[:, 1:]
    large = space.harmonics(grid.points, 2 * level)
    pairs = (small[:, :, None] * small[:, None, :]).reshape(len(small), -1)
    tensor = (grid.weights[:, None] * large).T @ pairs
    tensor[np.abs(tensor) < 1e-14] = 0.0
    return np.asarray(tensor)


@dataclass(frozen=True, slots=True)
class GriddedFamily:
    """All harmonics through degree ``level`` on the circle or the two-sphere."""

    space: Circle | Sphere
    level: int

    @property
    def q(self) -> int:
        return self.space.size(self.level) - 1

    @property
    def needs_support(self) -> bool:
        return isinstance(self.space, Sphere) and self.level % 2 == 1

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance on the first rung of the ladder that resolves every row."""
        for rung in range(self.space.rungs()):
            grid = self.space.grid(rung)
            psi, density = _density(grid, lam)
            if (grid.unresolved(density) <= QUADRATURE_TOLERANCE).all():
                break
        roots = self._root(grid, lam)
        covariance = np.swapaxes(roots.root, 1, 2) @ roots.root
        return psi, roots.mean, covariance

    def contains(self, moments: MomentStack) -> IntArray:
        if isinstance(self.space, Circle):
            return circle_verdicts(moments.features, self.level)
        return sphere_verdicts(moments.features, self.level)

    def examine(self, x: Array, weights: Array) -> Placement:
        if isinstance(self.space, Circle):
            return examine_circle(x, weights, self.level)
        return examine_sphere(x, weights, self.level)

    def solve(self, moments: MomentStack, start: Array) -> DualSolution:
        """Newton on the rung the data ask for, then on higher ones until verified."""
        m, start = moments.features[:, : self.q], start.copy()
        rung = self._first_rung(moments, start)
        out = DualSolution.empty(len(m), self.q, Status.UNRESOLVED)
        pending = np.ones(len(m), dtype=bool)
        for step in range(int(rung.min()), self.space.rungs()):
            rows = np.flatnonzero(pending & (rung <= step))
            if not len(rows):
                continue
            part = self._solve_on(self.space.grid(step), m[rows], start[rows])
            out.put(rows, part)
            pending[rows[part.quadrature <= QUADRATURE_TOLERANCE]] = False
            if not pending.any():
                return out
            usable = (part.status == Status.CONVERGED) & (part.quadrature <= _USABLE)
            start[rows[usable]] = part.lam[usable]  # otherwise begin again below
        out.status[pending] = Status.UNRESOLVED
        return out

    def _first_rung(self, moments: MomentStack, start: Array) -> IntArray:
        """Where to begin: what the second moments ask for and where the start is resolved."""
        rung = self.space.rung_for(_sharpness(moments))
        if self.level == 2:  # the start is von Mises-Fisher: no sharper than its moments
            return rung
        for step in range(int(rung.min()), self.space.rungs() - 1):
            rows = np.flatnonzero(rung == step)
            if len(rows):
                grid = self.space.grid(step)
                _, density = _density(grid, start[rows])
                rung[rows[grid.unresolved(density) > _USABLE]] += 1
        return rung

    def _solve_on(self, grid: Grid, m: Array, start: Array) -> DualSolution:
        """Fits on one grid: quickly for the stack, then row by row where that is in doubt."""
        out = DualSolution.empty(len(m), self.q, Status.STALLED)
        doubtful = np.ones(len(m), dtype=bool)
        if self._has_tensor:
            out = _solve_with(lambda lam: self._covariance(grid, lam), grid, m, start)
            doubtful = (out.condition > _COLLINEAR) | (out.status != Status.CONVERGED)
        for row in np.flatnonzero(doubtful):
            pick = np.array([row])
            here = out.lam[pick] if out.status[row] == Status.CONVERGED else start[pick]
            out.put(pick, _solve_with(lambda lam: self._root(grid, lam), grid, m[pick], here))
        return out

    @property
    def _has_tensor(self) -> bool:
        """Whether the product tensor is small enough to keep."""
        return self.space.size(2 * self.level) * self.q**2 <= _TENSOR_LIMIT

    def _covariance(self, grid: Grid, lam: Array) -> _Covariance:
        psi, density = _density(grid, lam)
        moments = grid.analyze(density, 2 * self.level)
        mean = moments[:, 1 : self.q + 1]
        second = (moments @ _product_tensor(self.space, self.level)).reshape(-1, self.q, self.q)
        return _Covariance(psi, mean, density, second - mean[:, :, None] * mean[:, None, :])

    def _root(self, grid: Grid, lam: Array) -> _Root:
        psi, density = _density(grid, lam)
        means = np.empty_like(lam)
        roots = np.empty((len(lam), self.q, self.q))
        for b, row in enumerate(density):
            mass = row * grid.weights
            active = mass > _NEGLIGIBLE
            phi = self.space.harmonics(grid.points[active], self.level)[:, 1:]
            mass = mass[active]
            means[b] = mass @ phi
            centred = np.sqrt(mass)[:, None] * (phi - means[b])
            if len(centred) < self.q:
                centred = np.vstack([centred, np.zeros((self.q - len(centred), self.q))])
            roots[b] = np.linalg.qr(centred, mode="r")
        return _Root(psi, means, density, roots)


def _solve_with(
    evaluate: Callable[[Array], _Covariance | _Root], grid: Grid, m: Array, start: Array
) -> DualSolution:
    path = newton(evaluate, m, start)
    end = evaluate(path.lam)
    out = judge(path, m, end)
    for _ in range(_POLISH):
        if not ((out.status == Status.STALLED) & (out.residual < _NEARLY)).any():
            break
        path = newton(evaluate, m, out.lam)
        end = evaluate(path.lam)
        out = judge(path, m, end)
    out.quadrature[:] = grid.unresolved(end.density)
    out.nodes[:] = grid.nodes
    return out


def _density(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """ψ (B,) and the normalised density at the nodes (B, nodes)."""
    values = grid.synthesize(lam)
    peak = values.max(axis=1)
    values -= peak[:, None]
    np.exp(values, out=values)
    total = values @ grid.weights
    values /= total[:, None]
    return np.log(total) + peak, values


def _sharpness(moments: MomentStack) -> Array:
    """Concentration of the sharpest direction: the inverse of the least second moment."""
    second = moments.scatter + moments.mean[:, :, None] * moments.mean[:, None, :]
    least = np.linalg.eigvalsh(second)[:, 0]
    return 1.0 / np.maximum(least, 1e-12)
