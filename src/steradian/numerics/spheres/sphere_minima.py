"""Where a harmonic expansion on the two-sphere is lowest, and its derivatives along great circles.

Along a great circle ``cos t x + sin t u`` a function of degree K is a trigonometric polynomial
of degree K in t, so its derivatives at t = 0 are fixed sums over 2K + 1 equispaced points:
exact to rounding, smooth at the poles, and linear in the coefficients.

Minima are descended to by exact derivatives, and not by `ascent`, which has none: hundreds of
starts in each of some twenty programmes took `boundary` at levels 6 to 8 3.5 to 5.6 times as long
(2.6 s for .46 s at level 7, 52 rows) for the same minima.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.neighbours import neighbour_tree
from steradian.numerics.paths import stencil
from steradian.numerics.spheres.harmonics import legendre_recurrence, sphere_harmonics, sphere_size
from steradian.numerics.tolerances import RESTING_DESCENT, TINY

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
    _, near = neighbour_tree(points).query(points, k=_NEIGHBOURS)
    spacing = float(np.sqrt(4.0 * np.pi / count))
    return Cover(points, sphere_harmonics(points, degree), near[:, 1:].astype(np.int64), spacing)


def tangents(x: Array) -> tuple[Array, Array]:
    """Two orthonormal tangent vectors at each of the points ``x`` (n, 3)."""
    helper = np.eye(3)[np.argmin(np.abs(x), axis=1)]
    u = _cross(x, helper)
    u /= np.sqrt(np.einsum("nd,nd->n", u, u))[:, None]
    return u, _cross(x, u)


def _cross(a: Array, b: Array) -> Array:
    """The product a × b row by row; `numpy.cross` spends most of its time on axes."""
    (ax, ay, az), (bx, by, bz) = a.T, b.T
    return np.stack([ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx], axis=1)


def slopes(x: Array, u: Array, degree: int) -> Array:
    """First and second derivatives of all harmonics at ``x`` (n, 3) along ``u``: (2, n, size)."""
    angle, weights = stencil(degree)
    path = np.cos(angle)[:, None, None] * x + np.sin(angle)[:, None, None] * u
    values = sphere_harmonics(path.reshape(-1, 3), degree).reshape(len(angle), len(x), -1)
    return np.asarray(np.tensordot(weights[:2], values, axes=1))


def contact_rows(x: Array, degree: int) -> Array:
    """Value and both slopes of all harmonics at ``x`` (n, 3): (3 n, size).

    A function that touches zero from above at ``x`` has coefficients orthogonal to all of them.
    """
    return np.vstack([sphere_harmonics(x, degree)] + [slopes(x, u, degree)[0] for u in tangents(x)])


def bend_rows(x: Array, degree: int, directions: int) -> Array:
    """Second derivatives of all harmonics at ``x`` in evenly spaced ``directions`` each.

    A function that touches zero from above at ``x`` has none below zero: (directions · n, size).
    """
    u, v = tangents(x)
    uu, vv, both = (slopes(x, t, degree)[1] for t in (u, v, (u + v) / np.sqrt(2.0)))
    mixed = 2.0 * both - uu - vv
    angle = np.pi / directions * np.arange(directions)
    c, s = np.cos(angle), np.sin(angle)
    return np.vstack([a * a * uu + b * b * vv + a * b * mixed for a, b in zip(c, s, strict=True)])


def curvatures(coefficients: Array, x: Array, degree: int) -> tuple[Array, Array, Array, Array]:
    """Slope (n, 2), curvatures (n, 2) ascending, their axes (n, 2, 2) and the frame (2, n, 3)."""
    _, gradient, bend = derivatives(coefficients, x, degree)
    return _on_tangents(x, gradient, bend)


def _on_tangents(x: Array, gradient: Array, bend: Array) -> tuple[Array, Array, Array, Array]:
    """The same from derivatives in R³: on the sphere the normal slope bends f too."""
    frame = np.stack(tangents(x))
    along = frame.transpose(1, 0, 2)
    slope = np.einsum("nkd,nd->nk", along, gradient)
    (uu, uv), (_, vv) = (along @ bend @ along.transpose(0, 2, 1)).transpose(1, 2, 0)
    middle = 0.5 * (uu + vv) - np.einsum("nd,nd->n", x, gradient)
    half = np.hypot(0.5 * (uu - vv), uv)
    angle = 0.5 * np.arctan2(2.0 * uv, uu - vv)  # of the upper axis
    c, s = np.cos(angle), np.sin(angle)
    values = np.stack([middle - half, middle + half], axis=1)
    return slope, values, np.array([[-s, c], [c, s]]).transpose(2, 0, 1), frame


def derivatives(coefficients: Array, x: Array, degree: int) -> tuple[Array, Array, Array]:
    """Value (n,), gradient (n, 3) and second derivatives (n, 3, 3) of the polynomial in R³.

    With w = x + iy it is ``Re Σ_m G_m(z) w^m``, G_m a sum of Legendre functions over sin^m,
    whose derivative in z is a multiple of the one of order m + 1.
    """
    m = np.arange(degree + 1)[:, None]
    power = np.ones((degree + 1, len(x)), dtype=complex)
    power[1:] = x[:, 0] + 1j * x[:, 1]
    power = np.cumprod(power, axis=0)
    lower, lowest = np.zeros((2, *power.shape), dtype=complex)
    lower[1:] = m[1:] * power[:-1]
    lowest[2:] = (m * (m - 1))[2:] * power[:-2]
    g, g_z, g_zz = _order_sums(coefficients, x[:, 2], degree)
    w, ww, wz = ((a * b).sum(axis=0) for a, b in ((g, lower), (g, lowest), (g_z, lower)))
    value, z, zz = ((a * power).sum(axis=0).real for a in (g, g_z, g_zz))
    bend = np.empty((len(x), 3, 3))
    bend[:, 0, 0], bend[:, 1, 1], bend[:, 2, 2] = ww.real, -ww.real, zz
    bend[:, 0, 1] = bend[:, 1, 0] = -ww.imag
    bend[:, 0, 2] = bend[:, 2, 0] = wz.real
    bend[:, 1, 2] = bend[:, 2, 1] = -wz.imag
    return value, np.stack([w.real, -w.imag, z], axis=1), bend


def _order_sums(coefficients: Array, z: Array, degree: int) -> list[AnyArray]:
    """The sums G_m(z) over degrees and their two derivatives: each (degree + 1, n)."""
    size = degree + 1
    parts = np.zeros((size, size, len(z)))  # order, degree
    a, b, start = legendre_recurrence(degree)
    for ell in range(size):
        if ell > 0:
            parts[:ell, ell] = a[ell, :ell, None] * z * parts[:ell, ell - 1]
        if ell > 1:
            parts[: ell - 1, ell] -= b[ell, : ell - 1, None] * parts[: ell - 1, ell - 2]
        parts[ell, ell] = start[ell]
    both = np.zeros((size, 2, size))  # order, cosine or sine, degree
    for ell in range(size):
        block = coefficients[ell**2 : (ell + 1) ** 2]
        both[0, 0, ell] = block[0]
        both[1 : ell + 1, 0, ell], both[1 : ell + 1, 1, ell] = block[1::2], block[2::2]
    found = []
    for shift, factor in enumerate(_order_steps(degree)):
        sums = np.zeros((size, 2, len(z)))
        sums[: size - shift] = (both * factor)[: size - shift] @ parts[shift:]
        found.append(sums[:, 0] - 1j * sums[:, 1])
    return found


@cache
def _order_steps(degree: int) -> tuple[Array, Array, Array]:
    """What no, one and two derivatives in z multiply by, by order and degree: (size, 1, size)."""
    m, ell = np.ogrid[: degree + 2, : degree + 1]
    step = np.sqrt(np.maximum((ell - m) * (ell + m + 1), 0) * np.where(m == 0, 0.5, 1.0))
    steps = np.ones_like(step[:-1]), step[:-1], step[:-1] * step[1:]
    return tuple(s[:, None, :] for s in steps)


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
    """Newton's method on the sphere in a trust region, all starts at once until each rests."""
    rest = RESTING_DESCENT * float(np.linalg.norm(coefficients))
    x = x.copy()
    value, gradient, bend = derivatives(coefficients, x, degree)
    reach = np.full(len(x), radius)
    moving = np.arange(len(x))
    for _ in range(_STEPS):
        here = x[moving]
        step, length, gain = _newton_step(here, gradient[moving], bend[moving], reach[moving])
        going = gain > rest
        moving, step, length = moving[going], step[going], length[going]
        if not len(moving):
            break
        trial = x[moving] + step * (np.tan(length) / np.maximum(length, TINY))[:, None]
        trial /= np.linalg.norm(trial, axis=1, keepdims=True)
        there = derivatives(coefficients, trial, degree)
        better = there[0] < value[moving]
        to = moving[better]
        x[to] = trial[better]
        for known, new in zip((value, gradient, bend), there, strict=True):
            known[to] = new[better]
        reach[moving[~better]] = 0.25 * length[~better]
    return x, value


def _newton_step(x: Array, gradient: Array, bend: Array, reach: Array) -> tuple[Array, ...]:
    """Towards a minimum: tangents (n, 3), their lengths (n,) up to ``reach``, the fall expected."""
    slope, curvature, axes, frame = _on_tangents(x, gradient, bend)
    along = np.einsum("nij,ni->nj", axes, slope)
    bent = np.maximum(np.abs(curvature), 1e-12)
    step = np.einsum("nij,nj->ni", axes, -along / bent)
    length = np.maximum(np.linalg.norm(step, axis=1), TINY)
    step *= np.minimum(1.0, reach / length)[:, None]
    gain = np.abs(np.einsum("ni,ni->n", slope, step))
    return np.einsum("ni,ind->nd", step, frame), np.minimum(length, reach), gain
