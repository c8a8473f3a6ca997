"""Where a harmonic expansion on the two-sphere is lowest, and its derivatives along great circles.

Along a great circle ``cos t x + sin t u`` a function of degree K is a trigonometric polynomial
of degree K in t, so its derivatives at t = 0 are fixed sums over 2K + 1 equispaced points:
exact to rounding, smooth at the poles, and linear in the coefficients.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.spatial import cKDTree

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.harmonics import sphere_harmonics, sphere_size

_NODES_PER_FEATURE = 40
_NEIGHBOURS = 7  # a node and the six around it
_LOWEST = 12  # of so many nodes the lowest starts a descent, whatever its neighbours
_SAME_DIP = 6  # decimals to which two minima are one
_STEPS = 12


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """Evenly spread points with their harmonics and neighbours."""

    points: Array  # (N, 3)
    harmonics: Array  # (N, (degree + 1)²)
    neighbours: IntArray  # (N, 6)
    spacing: float  # angle between neighbours, roughly


@cache
def cover(degree: int) -> Cover:
    """A spiral of points dense enough to see every dip of a function of this degree."""
    count = _NODES_PER_FEATURE * sphere_size(degree)
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    angle = np.pi * (1.0 + np.sqrt(5.0)) * k
    radius = np.sqrt(1.0 - z * z)
    points = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    _, near = cKDTree(points).query(points, k=_NEIGHBOURS)
    spacing = float(np.sqrt(4.0 * np.pi / count))
    return Cover(points, sphere_harmonics(points, degree), near[:, 1:].astype(np.int64), spacing)


@cache
def _stencil(degree: int) -> tuple[Array, Array]:
    """Angles (T,) and the weights (2, T) of the first and second derivative at angle zero."""
    count = 2 * degree + 1
    angle = np.arange(count) * (2.0 * np.pi / count)
    k = np.arange(1, degree + 1)[:, None]
    first = 2.0 / count * (k * np.sin(k * angle)).sum(axis=0)
    second = -2.0 / count * (k * k * np.cos(k * angle)).sum(axis=0)
    return np.asarray(angle), np.stack([first, second])


def tangents(x: Array) -> tuple[Array, Array]:
    """Two orthonormal tangent vectors at each of the points ``x`` (n, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(x), axis=1)]
    u = np.asarray(np.cross(x, helper), dtype=np.float64)
    u /= np.linalg.norm(u, axis=1, keepdims=True)
    return u, np.asarray(np.cross(x, u), dtype=np.float64)


def slopes(x: Array, u: Array, degree: int) -> Array:
    """First and second derivatives of all harmonics at ``x`` (n, 3) along ``u``: (2, n, size)."""
    angle, weights = _stencil(degree)
    path = np.cos(angle)[:, None, None] * x + np.sin(angle)[:, None, None] * u
    values = sphere_harmonics(path.reshape(-1, 3), degree).reshape(len(angle), len(x), -1)
    return np.asarray(np.tensordot(weights, values, axes=1))


def contact_rows(x: Array, degree: int) -> Array:
    """Value and both slopes of all harmonics at ``x`` (n, 3): (3 n, size).

    A function that touches zero from above at ``x`` has coefficients orthogonal to all of them.
    """
    return np.vstack([sphere_harmonics(x, degree)] + [slopes(x, u, degree)[0] for u in tangents(x)])


def curvatures(coefficients: Array, x: Array, degree: int) -> tuple[Array, Array, Array, Array]:
    """Slope (n, 2), curvatures (n, 2) ascending, their axes (n, 2, 2) and the frame (2, n, 3)."""
    u, v = tangents(x)
    diagonal = (u + v) / np.sqrt(2.0)
    (du, uu), (dv, vv), (_, mixed) = (slopes(x, t, degree) @ coefficients for t in (u, v, diagonal))
    cross = mixed - 0.5 * (uu + vv)
    hessian = np.stack([np.stack([uu, cross], -1), np.stack([cross, vv], -1)], -2)
    values, axes = np.linalg.eigh(hessian)
    return np.stack([du, dv], -1), values, axes, np.stack([u, v])


def dips(coefficients: Array, degree: int, extra: Array | None = None) -> tuple[Array, Array]:
    """The local minima of Σ_k c_k φ_k: points (n, 3) and values (n,), lowest first.

    ``coefficients`` ((degree + 1)²,) include the constant. Every node of the cover below its
    neighbours starts a descent, as do the lowest nodes (in a narrow valley one dip hides the
    next from its neighbours) and every point of ``extra`` (m, 3).
    """
    nodes = cover(degree)
    values = nodes.harmonics @ coefficients
    start = values <= values[nodes.neighbours].min(axis=1)
    start[np.argsort(values)[: len(values) // _LOWEST]] = True
    starts = nodes.points[start]
    if extra is not None:
        starts = np.vstack([starts, extra])
    x, lowest = _descend(coefficients, starts, degree, nodes.spacing)
    _, first = np.unique(np.round(x, _SAME_DIP), axis=0, return_index=True)
    order = first[np.argsort(lowest[first])]
    return x[order], lowest[order]


def _descend(coefficients: Array, x: Array, degree: int, radius: float) -> tuple[Array, Array]:
    """Newton's method on the sphere in a trust region, all starts at once."""
    value = sphere_harmonics(x, degree) @ coefficients
    reach = np.full(len(x), radius)
    for _ in range(_STEPS):
        slope, curvature, axes, frame = curvatures(coefficients, x, degree)
        along = np.einsum("nij,ni->nj", axes, slope)
        bent = np.maximum(np.abs(curvature), 1e-12)
        step = np.einsum("nij,nj->ni", axes, -along / bent)
        length = np.maximum(np.linalg.norm(step, axis=1), 1e-300)
        step *= np.minimum(1.0, reach / length)[:, None]
        length = np.minimum(length, reach)
        away = np.einsum("ni,ind->nd", step, frame)
        trial = x + away * (np.tan(length) / np.maximum(length, 1e-300))[:, None]
        trial /= np.linalg.norm(trial, axis=1, keepdims=True)
        there = sphere_harmonics(trial, degree) @ coefficients
        better = there < value
        x = np.where(better[:, None], trial, x)
        value = np.where(better, there, value)
        reach = np.where(better, reach, 0.25 * length)
    return x, value
