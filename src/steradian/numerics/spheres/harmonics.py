"""Real orthonormal harmonics on the circle and the two-sphere.

Orthonormal against the *uniform law of mass one*. Column order, fixed here once:

* circle, degree K: ``1, √2 cos θ, √2 sin θ, √2 cos 2θ, √2 sin 2θ, …`` (2K + 1 columns);
* sphere, degree K: for each degree l the orders ``0, cos 1, sin 1, …, cos l, sin l``
  ((K + 1)² columns; degree l starts at column l²). No Condon-Shortley sign, so degree one
  is ``√3 (z, x, y)``.

Both are evaluated from Cartesian coordinates by recurrences that are smooth on the whole
sphere: no angles, no special case at the poles.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import ducc0
import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.spheres.circle_sums import circle_modes
from steradian.numerics.tolerances import TRANSFORM_ACCURACY

_TOGETHER = 512  # rows of one direction that a transform adds with about 100 roundings
_LOOKED_AT = 64  # rows that tell few values from many
_ALIKE = 6  # decimals of a radian, to which two angles add nearly equal numbers to a grid


def circle_size(degree: int) -> int:
    """Number of circle harmonics of degree 0..degree."""
    return 2 * degree + 1


def sphere_size(degree: int) -> int:
    """Number of sphere harmonics of degree 0..degree."""
    return (degree + 1) ** 2


def circle_harmonics(x: AnyArray, degree: int) -> AnyArray:
    """Harmonics of points ``x`` (n, 2) on the circle: (n, 2 degree + 1), dtype of ``x``."""
    values = np.empty((circle_size(degree), len(x)), dtype=x.dtype)
    values[0] = 1.0
    if degree:
        root = np.sqrt(np.asarray(2, dtype=x.dtype))
        np.multiply(x.T, root, out=values[1:3])
    for k in range(2, degree + 1):
        c, s = values[2 * k - 3], values[2 * k - 2]
        np.subtract(c * x[:, 0], s * x[:, 1], out=values[2 * k - 1])
        np.add(s * x[:, 0], c * x[:, 1], out=values[2 * k])
    return values.T


@cache
def _legendre_recurrence(degree: int) -> tuple[AnyArray, AnyArray, AnyArray]:
    """Coefficients a, b of Q_lm = a_lm z Q_{l-1,m} - b_lm Q_{l-2,m} and the start Q_mm.

    Q_lm is the associated Legendre function over sin^m, normalised so that Q_l0,
    √2-free Q_lm (x + iy)^m are orthonormal; squares are exact integers before the root.
    """
    a = np.zeros((degree + 1, degree + 1), dtype=np.longdouble)
    b = np.zeros_like(a)
    start = np.ones(degree + 1, dtype=np.longdouble)
    one = np.longdouble(1)
    for m in range(degree + 1):
        if m:
            start[m] = start[m - 1] * np.sqrt(one * (2 * m + 1) / (2 * m))
        if m == 1:
            start[m] *= np.sqrt(one * 2)
        for ell in range(m + 1, degree + 1):
            below = (ell - m) * (ell + m)
            a[ell, m] = np.sqrt(one * (2 * ell - 1) * (2 * ell + 1) / below)
            if ell > m + 1:
                above = (2 * ell + 1) * (ell - 1 - m) * (ell - 1 + m)
                b[ell, m] = np.sqrt(one * above / ((2 * ell - 3) * below))
    return a, b, start


def sphere_harmonics(x: AnyArray, degree: int) -> AnyArray:
    """Harmonics of points ``x`` (n, 3) on the sphere: (n, (degree + 1)²), dtype of ``x``."""
    px, py, pz = np.ascontiguousarray(x.T)
    values = np.empty((sphere_size(degree), len(x)), dtype=x.dtype)
    a, b, start = _recurrence_as(degree, x.dtype)
    cos, sin = px, py  # (x + iy)^m, from m = 1
    for m in range(degree + 1):
        if m > 1:
            cos, sin = cos * px - sin * py, sin * px + cos * py
        previous: AnyArray = start[m]
        current: AnyArray = start[m]
        for ell in range(m, degree + 1):
            if ell == m + 1:
                current = (a[ell, m] * start[m]) * pz
            elif ell > m + 1:
                previous, current = current, a[ell, m] * pz * current - b[ell, m] * previous
            if m:
                np.multiply(current, cos, out=values[ell * ell + 2 * m - 1])
                np.multiply(current, sin, out=values[ell * ell + 2 * m])
            else:
                values[ell * ell] = current
    return values.T


@cache
def _recurrence_as(degree: int, dtype: Any) -> tuple[AnyArray, AnyArray, AnyArray]:
    a, b, start = _legendre_recurrence(degree)
    return a.astype(dtype), b.astype(dtype), start.astype(dtype)


def legendre_recurrence(degree: int) -> tuple[Array, Array, Array]:
    """Coefficients a, b and the start Q_mm of ``Q_lm = a_lm z Q_{l-1,m} - b_lm Q_{l-2,m}``.

    Q_lm is the associated Legendre function over sin^m in the normalisation of this module.
    """
    return _recurrence_as(degree, np.dtype(np.float64))


def legendre_functions(z: Array, degree: int, wanted: set[int]) -> dict[int, Array]:
    """Normalised associated Legendre functions at ``z`` (k,) for the ``wanted`` degrees.

    Each is (degree + 1, k), one row per order; times cos or sin of order · longitude they
    are the sphere harmonics of this module. Orders above the degree are zero.
    """
    a, b, start = _recurrence_as(degree, np.dtype(np.float64))
    radius = np.sqrt((1.0 - z) * (1.0 + z))
    order = np.arange(degree + 1)
    sectoral = start[:, None] * radius[None, :] ** order[:, None]
    previous = np.zeros((degree + 1, len(z)))
    current = np.zeros_like(previous)
    found: dict[int, Array] = {}
    for ell in range(degree + 1):
        following = a[ell][:, None] * z * current - b[ell][:, None] * previous
        following[ell] = sectoral[ell]
        previous, current = current, following
        if ell in wanted:
            found[ell] = current
    return found


def circle_sums(x: Array, weights: Array | None, degree: int) -> Array:
    """Σ_i w_i φ(x_i) for all circle harmonics to ``degree``, in one pass over the points.

    ``x`` (n, 2), ``weights`` (n,), without which each is one; returns (2 degree + 1,). Memory
    O(degree), not O(n · degree).
    """
    waves = circle_modes(x, weights, degree)
    sums = np.empty(circle_size(degree))
    sums[0] = len(x) if weights is None else weights.sum()
    sums[1::2] = np.sqrt(2.0) * waves[1:].real
    sums[2::2] = np.sqrt(2.0) * waves[1:].imag
    return sums


def sphere_sums(x: Array, weights: Array | None, degree: int) -> Array:
    """Σ_i w_i φ(x_i) for all sphere harmonics to ``degree`` by one adjoint transform.

    ``x`` (n, 3), ``weights`` (n,), without which each is one; returns ((degree + 1)²,).
    """
    weights = np.broadcast_to(1.0, len(x)) if weights is None else weights
    where = np.empty((len(x), 2))
    np.arctan2(np.hypot(x[:, 0], x[:, 1]), x[:, 2], out=where[:, 0])
    np.arctan2(x[:, 1], x[:, 0], out=where[:, 1])
    where[:, 1][where[:, 1] < 0] += 2.0 * np.pi
    alm = sum(
        ducc0.sht.adjoint_synthesis_general(
            lmax=degree,
            map=weights[None, rows],
            loc=where[rows],
            spin=0,
            epsilon=TRANSFORM_ACCURACY,
        )[0]
        for rows in _pieces(where[:, 1])
    )
    sums = sphere_coefficients(alm, degree)
    sums[0] = weights.sum()
    return sums


def _pieces(angle: Array) -> list[slice]:
    """Rows that one transform takes: all, or some at a time where few values repeat themselves.

    Equal numbers that are added to one cell of a transform's grid round alike: by n/5 roundings
    of the sum for n rows of one direction. Sums of pieces stay below `MOMENT_ROUNDING`.
    """
    n = len(angle)
    if n <= _TOGETHER:
        return [slice(0, n)]
    few = np.unique(angle[:: n // _LOOKED_AT].round(_ALIKE))
    if len(few) > _LOOKED_AT // 2:
        return [slice(0, n)]
    return [slice(first, first + _TOGETHER) for first in range(0, n, _TOGETHER)]


@cache
def _places(degree: int) -> tuple[IntArray, Array]:
    """Where each harmonic stands among real and imaginary parts of a_lm, order by order.

    And the factor between the two, ((degree + 1)²,): ``Σ_i φ(x_i)`` over the part of
    ``Σ_i conj Y_lm(x_i)``.
    """
    order = np.repeat(np.arange(degree + 1), np.arange(degree + 1, 0, -1))
    ell = np.concatenate([np.arange(m, degree + 1) for m in range(degree + 1)])
    place, factor = np.empty(sphere_size(degree), dtype=np.int64), np.empty(sphere_size(degree))
    at, sign = 2 * np.arange(len(ell)), np.where(order % 2, -1.0, 1.0)
    size = np.sqrt(np.where(order, 8.0, 4.0) * np.pi)
    cosine = ell * ell + np.maximum(2 * order - 1, 0)
    place[cosine], factor[cosine] = at, sign * size
    sine = (ell * ell + 2 * order)[order > 0]
    place[sine], factor[sine] = at[order > 0] + 1, -(sign * size)[order > 0]
    return place, factor


def sphere_coefficients(alm: AnyArray, degree: int) -> Array:
    """Sums of the harmonics of this module, from those of conj Y_lm in the order of ducc0."""
    place, factor = _places(degree)
    return np.asarray(alm.view(np.float64)[place] * factor)


def sphere_alm(lam: Array, degree: int) -> AnyArray:
    """Coefficients a_lm (1, ·) of the function Σ_k lam_k φ_k, ``lam`` without the constant."""
    place, factor = _places(degree)
    parts = np.zeros((1, (degree + 1) * (degree + 2)))
    size = 1.0 / factor[1:]
    parts[0, place[1:]] = lam * (4.0 * np.pi * size)
    return parts.view(np.complex128)
