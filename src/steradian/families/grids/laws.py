"""Laws on the nodes of grids: ψ, mean and covariance of harmonics, and the rung that resolves them.

The density of level L is ``exp(lam · φ - psi)`` with all harmonics through degree L. On a grid ψ
and the moments are plain weighted sums, taken with the maximum removed. Products of two features
have degree at most 2L, so the covariance needs only the moments of the density through degree 2L.
When features become nearly collinear under the law, second moments minus squares lose their digits;
then the covariance is a product ``RᵀR`` from the centred features at the nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steradian.data.stacks import blocks
from steradian.families.grids.curvature import Root, allowed_quadrature, mean_and_root
from steradian.fitting.newton import DenseCurvature
from steradian.fitting.solution import NO_RUNG
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.linalg import Solver, conditions, solver
from steradian.numerics.tolerances import COLLINEAR_MOMENTS, NEGLIGIBLE_MASS
from steradian.spaces import Circle, Grid, Sphere
from steradian.spaces.products import second_moments

_NO_OVERFLOW = 300.0  # exponents that leave room for sums of exponentials
_ENTRIES = 1 << 15  # values at nodes that stay near the processor
_HELD = 1 << 17  # values at nodes that are held at once


def peaked(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """An exponent near the largest (B,), and the density over its value there (B, nodes)."""
    values = grid.synthesize(lam)
    with np.errstate(over="ignore"):  # of parameters on their way to nowhere
        most = lam.shape[1] * np.einsum("bq,bq->b", lam, lam).max(initial=0.0)
    if most < _NO_OVERFLOW**2:
        np.exp(values, out=values)
        return np.zeros(len(lam)), values  # |λ·φ|² <= q |λ|²: nothing to remove
    peak = values.max(axis=1)
    values -= peak[:, None]
    np.exp(values, out=values)
    return peak, values


def density_on(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """ψ (B,) and the normalised density at the nodes (B, nodes)."""
    peak, values = peaked(grid, lam)
    total = values @ grid.weights
    values /= total[:, None]
    return np.log(total) + peak, values


def psi_on(grid: Grid, lam: Array) -> Array:
    """ψ of laws ``lam`` (B, q), (B,); no density is kept."""
    parts = []
    for rows in blocks(len(lam), grid.nodes, _ENTRIES):
        peak, values = peaked(grid, lam[rows])
        parts.append(np.log(values @ grid.weights) + peak)
    return np.concatenate(parts)


def moments_on(grid: Grid, lam: Array, degree: int) -> tuple[Array, Array]:
    """ψ (B,) and E φ of laws ``lam`` (B, q) for degree 0..degree, (B, K); no density is kept."""
    if len(lam) > 1 and len(lam) * grid.nodes > _ENTRIES:
        some = blocks(len(lam), grid.nodes, _ENTRIES)
        parts = zip(*(moments_on(grid, lam[rows], degree) for rows in some), strict=True)
        psi, moments = (np.concatenate(each) for each in parts)
        return psi, moments
    peak, values = peaked(grid, lam)
    moments = grid.analyze(values, degree)
    total = moments[:, 0].copy()
    moments /= total[:, None]
    return np.log(total) + peak, moments


@dataclass(frozen=True, slots=True)
class GridCurvature(DenseCurvature):
    """A stack of laws whose covariances are factorised once."""

    systems: Solver

    def newton(self, gradient: Array) -> Array:
        return self.systems.solve(gradient)

    def condition(self) -> Array:
        return conditions(self.covariance, self.systems)


@dataclass(frozen=True, slots=True)
class GridLaws:
    """The laws of all harmonics through degree ``level`` on the grids of a space."""

    space: Circle | Sphere
    level: int

    @property
    def q(self) -> int:
        """Features, without the constant."""
        return self.space.size(self.level) - 1

    def on(self, grid: Grid, lam: Array) -> GridCurvature:
        """The laws ``lam`` (B, q) on one grid, covariances from moments through degree 2L."""
        psi, moments = moments_on(grid, lam, 2 * self.level)
        second = second_moments(self.space, self.level, moments)
        mean = second[:, 0, 1:]
        covariance = second[:, 1:, 1:]
        covariance -= mean[:, :, None] * mean[:, None, :]
        return GridCurvature(psi, mean, covariance, solver(covariance))

    def seen_on(self, grid: Grid, lam: Array, near: GridCurvature) -> GridCurvature:
        """The same with the covariances of laws ``near``."""
        psi, moments = moments_on(grid, lam, self.level)
        return replace(near, psi=psi, mean=moments[:, 1:])

    def carefully_on(self, grid: Grid, lam: Array) -> Root:
        """The same from features re-orthonormalised under each law."""
        psi, density = density_on(grid, lam)
        means = np.empty_like(lam)
        roots = np.empty((len(lam), self.q, self.q))
        for b, row in enumerate(density):
            mass = row * grid.weights
            active = mass > NEGLIGIBLE_MASS
            phi = self.space.harmonics(grid.points[active], self.level)[:, 1:]
            means[b], roots[b] = mean_and_root(mass[active], phi)
        return Root(psi, means, density, roots)

    def integrals(self, grid: Grid, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance of the laws ``lam`` (B, q), the latter carefully where it must."""
        quick = self.on(grid, lam)
        out = quick.psi, quick.mean, quick.covariance
        collinear = np.flatnonzero(~(quick.condition() < COLLINEAR_MOMENTS))
        for rows in (collinear[some] for some in blocks(len(collinear), grid.nodes, _HELD)):
            roots = self.carefully_on(grid, lam[rows])
            for whole, part in zip(out, (roots.psi, roots.mean, roots.covariance), strict=True):
                whole[rows] = part
        return out

    def climb(self, lam: Array, rungs: int) -> IntArray:
        """The first of some ``rungs`` that resolves each law (B, q); `NO_RUNG` where none does."""
        allowed, left = allowed_quadrature(lam), np.arange(len(lam))
        out = np.full(len(lam), NO_RUNG)
        for rung in range(rungs):
            grid = self.space.grid(rung)
            _, density = density_on(grid, lam[left])
            resolved = grid.unresolved(density, self.level) <= allowed[left]
            out[left[resolved]] = rung
            left = left[~resolved]
            if not len(left):
                break
        return out
