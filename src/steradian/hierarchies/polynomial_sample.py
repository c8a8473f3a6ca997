"""Exact draws from exp(polynomial) on the circle and the two-sphere.

Rejection from a piecewise constant envelope. Along any great circle the exponent f is a
trigonometric polynomial of degree L, so with A half its range Bernstein's inequality bounds
its second derivative by L² A, and on a cell of angular radius r about c

    f(x) <= f(c) + r |∇f(c)| + ½ r² L² A.

Cells are split where the bound is loose and carries weight, until most proposals are kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, BoolArray
from steradian.spaces import Circle, Sphere

_FIRST = 16
_MOST_CELLS = 400_000
_LOOSE = 0.35  # nats by which a bound may exceed the centre before its cell is split
_RANGE_SLACK = 1.1  # the range is measured on nodes, so it is taken a little larger


@dataclass(frozen=True, slots=True)
class _Cells:
    """Boxes in (z, longitude) on the sphere, in longitude on the circle (z unused)."""

    low: Array  # (k, 2)
    high: Array  # (k, 2)

    def centres(self, space: Circle | Sphere) -> Array:
        return _points(space, 0.5 * (self.low + self.high))

    def radii(self, space: Circle | Sphere) -> Array:
        """Angular distance from the centre that no point of the cell exceeds."""
        half = 0.5 * (self.high[:, 1] - self.low[:, 1])
        if isinstance(space, Circle):
            return half
        middle = np.arccos(0.5 * (self.low[:, 0] + self.high[:, 0]))
        north, south = np.arccos(self.high[:, 0]), np.arccos(self.low[:, 0])
        flat = np.where((self.low[:, 0] <= 0) & (self.high[:, 0] >= 0), 1.0, 0.0)
        widest = np.maximum(np.maximum(np.sin(north), np.sin(south)), flat)
        return np.maximum(south - middle, middle - north) + widest * half

    def volumes(self, space: Circle | Sphere) -> Array:
        share = (self.high[:, 1] - self.low[:, 1]) / (2.0 * np.pi)
        return share if isinstance(space, Circle) else share * 0.5 * (self.high - self.low)[:, 0]

    def split(self, mask: BoolArray, space: Circle | Sphere) -> _Cells:
        """Halve the marked cells in every direction."""
        low, high = self.low[mask], self.high[mask]
        middle = 0.5 * (low + high)
        parts = [(low, np.stack([high[:, 0], middle[:, 1]], 1))]
        parts.append((np.stack([low[:, 0], middle[:, 1]], 1), high))
        if isinstance(space, Sphere):
            parts = [
                half
                for a, b in parts
                for half in (
                    (a, np.stack([middle[:, 0], b[:, 1]], 1)),
                    (np.stack([middle[:, 0], a[:, 1]], 1), b),
                )
            ]
        return _Cells(np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts]))


def _points(space: Circle | Sphere, coordinates: Array) -> Array:
    cos, sin = np.cos(coordinates[:, 1]), np.sin(coordinates[:, 1])
    if isinstance(space, Circle):
        return np.stack([cos, sin], axis=1)
    z = coordinates[:, 0]
    radius = np.sqrt((1.0 - z) * (1.0 + z))
    return np.stack([radius * cos, radius * sin, z], axis=1)


class _Exponent:
    """f = lam · φ with its gradient and the bound on its curvature."""

    def __init__(self, space: Circle | Sphere, level: int, lam: Array) -> None:
        self.space, self.level, self.lam = space, level, lam
        values = self(space.exact_grid(16 * level).points)
        self.curvature = level**2 * 0.5 * _RANGE_SLACK * float(np.ptp(values))

    def __call__(self, x: Array) -> Array:
        return np.asarray(self.space.harmonics(x, self.level)[:, 1:] @ self.lam)

    def slope(self, x: Array) -> Array:
        """|∇f| at ``x``: exact derivatives of trigonometric polynomials along great circles."""
        nodes = 2 * self.level + 2
        angles = 2.0 * np.pi * np.arange(1, nodes) / nodes
        # f'(0) = Σ_k w_k f(θ_k), the derivative of the trigonometric interpolant
        weights = -0.5 * (-1.0) ** np.arange(1, nodes) / np.tan(0.5 * angles)
        total = np.zeros(len(x))
        for direction in _tangents(x):
            along = sum(
                w * self(np.cos(t) * x + np.sin(t) * direction)
                for w, t in zip(weights, angles, strict=True)
            )
            total += np.asarray(along) ** 2
        return np.sqrt(total)

    def bounds(self, cells: _Cells) -> tuple[Array, Array]:
        """Upper bound on each cell, and how far it lies above the value at the centre."""
        centres, radii = cells.centres(self.space), cells.radii(self.space)
        excess = radii * self.slope(centres) + 0.5 * radii**2 * self.curvature
        return self(centres) + excess, excess


def _tangents(x: Array) -> list[Array]:
    """Orthonormal tangent vectors at each point."""
    if x.shape[1] == 2:
        return [np.stack([-x[:, 1], x[:, 0]], axis=1)]
    other = np.where((np.abs(x[:, 2]) < 0.9)[:, None], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0])
    first = np.cross(other, x)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    return [first, np.cross(x, first)]


def _first_cells(space: Circle | Sphere) -> _Cells:
    turn = np.linspace(0.0, 2.0 * np.pi, 2 * _FIRST + 1)
    height = np.linspace(-1.0, 1.0, _FIRST + 1) if isinstance(space, Sphere) else np.array([0, 1.0])
    low = np.stack(np.meshgrid(height[:-1], turn[:-1], indexing="ij"), axis=-1).reshape(-1, 2)
    high = np.stack(np.meshgrid(height[1:], turn[1:], indexing="ij"), axis=-1).reshape(-1, 2)
    return _Cells(low, high)


def _envelope(space: Circle | Sphere, f: _Exponent) -> tuple[_Cells, Array]:
    """Cells and the upper bound on each, refined where it pays."""
    cells = _first_cells(space)
    bound, excess = f.bounds(cells)
    while len(bound) < _MOST_CELLS:
        mass = cells.volumes(space) * np.exp(bound - bound.max())
        split = (excess > _LOOSE) & (mass > 0.02 * mass.sum() / len(mass))
        if mass[split].sum() < 0.05 * mass.sum():
            break
        finer = cells.split(split, space)
        new_bound, new_excess = f.bounds(finer)
        keep = ~split
        cells = _Cells(
            np.concatenate([cells.low[keep], finer.low]),
            np.concatenate([cells.high[keep], finer.high]),
        )
        bound = np.concatenate([bound[keep], new_bound])
        excess = np.concatenate([excess[keep], new_excess])
    return cells, bound


def sample_polynomial(
    space: Circle | Sphere, level: int, lam: Array, n: int, rng: np.random.Generator
) -> Array:
    """``n`` exact draws from p ∝ exp(lam · φ), all harmonics through ``level``: (n, d)."""
    f = _Exponent(space, level, lam)
    cells, bound = _envelope(space, f)
    mass = cells.volumes(space) * np.exp(bound - bound.max())
    mass /= mass.sum()
    kept: list[Array] = []
    have = 0
    while have < n:
        pick = rng.choice(len(mass), size=max(64, 2 * (n - have)), p=mass)
        spot = rng.random((len(pick), 2))
        x = _points(space, cells.low[pick] + spot * (cells.high - cells.low)[pick])
        take = x[np.log(rng.random(len(pick))) <= f(x) - bound[pick]]
        kept.append(take)
        have += len(take)
    return np.concatenate([np.empty((0, space.d)), *kept])[:n]
