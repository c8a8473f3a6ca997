"""Sums of harmonics of few degrees over many points of the two-sphere, without angles.

A harmonic of degree l and order m is Q_lm(z) times the real or the imaginary part of (x + iy)^m,
and Q_lm a polynomial of degree l - m. All sums to degree K are therefore linear in the
(2K + 1)(K + 1) sums of (x + iy)^m T_k(z), with Chebyshev polynomials T_k: one matrix product per
block of points. Its cost grows as K², where that of a transform hardly grows; to degree 12 it
is the quicker by far.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.spheres.harmonics import sphere_harmonics, sphere_size

MOST_DEGREES = 12
"""Beyond it Q_lm is large near the poles, where the powers are small, and digits would be lost."""

_ROWS = 1 << 13  # points at a time: their functions stay in the processor's cache


def separable_sphere_sums(x: Array, weights: Array | None, degree: int) -> Array:
    """Σ_i w_i φ(x_i) for all sphere harmonics to ``degree``.

    ``x`` (n, 3), ``weights`` (n,), without which each is one; returns ((degree + 1)²,).
    """
    weights = np.broadcast_to(1.0, len(x)) if weights is None else weights
    order, coefficients = _expansion(degree)
    total = np.zeros((2 * degree + 1, degree + 1))
    room = np.empty((3 * degree + 4, min(len(x), _ROWS)))
    for first in range(0, len(x), _ROWS):
        rows = slice(first, first + _ROWS)
        powers, heights = _functions(x[rows], weights[rows], degree, room)
        total += powers @ heights.T
    return np.asarray(np.einsum("ck,ck->c", coefficients, total[order]))


def _functions(x: Array, weights: Array, degree: int, room: Array) -> tuple[Array, Array]:
    """Parts of (x + iy)^m, (2K + 1, n), and w T_k(z), (K + 1, n), written into ``room``."""
    n = len(x)
    powers, heights = room[: 2 * degree + 1, :n], room[2 * degree + 1 : 3 * degree + 2, :n]
    part, twice = room[-2, :n], room[-1, :n]
    powers[0] = 1.0
    heights[0] = weights
    if degree:
        powers[1:3] = x[:, :2].T
        np.multiply(weights, x[:, 2], out=heights[1])
        np.multiply(x[:, 2], 2.0, out=twice)
    for k in range(2, degree + 1):
        cos, sin = powers[2 * k - 3], powers[2 * k - 2]
        np.multiply(cos, powers[1], out=powers[2 * k - 1])
        powers[2 * k - 1] -= np.multiply(sin, powers[2], out=part)
        np.multiply(sin, powers[1], out=powers[2 * k])
        powers[2 * k] += np.multiply(cos, powers[2], out=part)
        np.multiply(heights[k - 1], twice, out=heights[k])
        heights[k] -= heights[k - 2]
    return powers, heights


@cache
def _expansion(degree: int) -> tuple[IntArray, Array]:
    """For every harmonic its row among the powers, and Q_lm in Chebyshev polynomials.

    Interpolation at the zeros of T_{K+1}, exact for polynomials of degree K, in extended precision.
    """
    count = degree + 1
    half_turn = np.arccos(np.longdouble(-1))  # np.pi has the digits of a double only
    angle = (np.arange(count) + np.longdouble(0.5)) * (half_turn / count)
    z = np.cos(angle)
    at = np.stack([np.ones_like(z), np.zeros_like(z), z], axis=1)  # (x + iy)^m = 1 for every m
    values = sphere_harmonics(at, degree)
    table = np.cos(np.arange(count)[:, None] * angle) * (np.longdouble(2) / count)
    table[0] *= 0.5
    order = np.zeros(sphere_size(degree), dtype=np.int64)
    for ell in range(1, count):
        first = ell * ell
        order[first + 1 : first + 2 * ell + 1] = np.arange(1, 2 * ell + 1)
        values[:, first + 2 : first + 2 * ell + 1 : 2] = values[:, first + 1 : first + 2 * ell : 2]
    return order, (table @ values).T.astype(np.float64)
