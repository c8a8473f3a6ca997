"""Second moments of harmonics from moments of twice their degree.

The product of two harmonics of degree at most L is a sum of harmonics of degree at most 2L, with
the integrals ``∫ φ_k φ_i φ_j dν`` as coefficients (Gaunt, 1929). On the circle these are the sum
and the difference of two frequencies, so that ``E φφᵀ`` is made of Toeplitz and Hankel matrices. On
the two-sphere an integral splits into one over the longitude, which couples an order to the sum and
the difference of two others, and one over the latitude, which Gauss's rule gives exactly: at level
12 one entry in sixty is not zero. Where even those are too many, the rule over the latitude is
applied anew to each law (`sphere_second_moments`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import combinations_with_replacement
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.spheres.harmonics import circle_size, legendre_functions, sphere_size

if TYPE_CHECKING:
    from scipy import sparse

_ROOT_2 = np.sqrt(2.0)


def circle_second_moments(moments: Array, level: int) -> Array:
    """E φφᵀ (B, n, n) on the circle from E φ through degree 2·level, the constant first (B, K).

    With c_k = E cos kθ and s_k = E sin kθ: 2 E cos jθ cos kθ = c_{j-k} + c_{j+k}, for two sines the
    difference, and 2 E cos jθ sin kθ = s_{j+k} - s_{j-k}.
    """
    c = moments[:, 1::2] / _ROOT_2
    s = moments[:, 2::2] / _ROOT_2
    even = np.concatenate([c[:, ::-1], moments[:, :1], c], axis=1)  # c_{-2L} … c_{2L}
    odd = np.concatenate([-s[:, ::-1], np.zeros_like(s[:, :1]), s], axis=1)
    out = np.empty((len(moments), circle_size(level), circle_size(level)))
    out[:, 0, 0] = moments[:, 0]
    out[:, 0, 1:] = out[:, 1:, 0] = moments[:, 1 : circle_size(level)]
    np.add(_toeplitz(even, level), _hankel(even, level), out=out[:, 1::2, 1::2])
    np.subtract(_toeplitz(even, level), _hankel(even, level), out=out[:, 2::2, 2::2])
    np.add(_toeplitz(odd, level), _hankel(odd, level), out=out[:, 1::2, 2::2])
    out[:, 2::2, 1::2] = out[:, 1::2, 2::2].swapaxes(1, 2)
    return out


def _toeplitz(line: Array, level: int) -> Array:
    """Entries ``k - j`` of lines (B, 4·level + 1) about 0, for j and k from 1 to ``level``."""
    row, entry = line.strides
    shape, strides = (len(line), level, level), (row, -entry, entry)
    return np.ndarray(shape, line.dtype, line, 2 * level * entry, strides)


def _hankel(line: Array, level: int) -> Array:
    """Entries ``k + j`` of them."""
    row, entry = line.strides
    shape, strides = (len(line), level, level), (row, entry, entry)
    return np.ndarray(shape, line.dtype, line, (2 * level + 2) * entry, strides)


def sphere_gaunt(level: int) -> sparse.csr_array:
    """∫ φ_k φ_i φ_j over the two-sphere: row ``i + j (j + 1) / 2`` for i <= j, column k.

    Features i and j of degree 0..level, k of 0..2·level. Rows and columns of a lower level come
    first, so that its matrix is a corner of this one.
    """
    from scipy import sparse

    by_order, weight = _latitudes(level)
    parts = []
    blocks: dict[tuple[int, int, int], Array] = {}
    for i, j, k, value in _longitudes(level):
        orders = m_i, m_j, m_k = (i + 1) // 2, (j + 1) // 2, (k + 1) // 2
        if orders not in blocks:
            small_i, small_j = (by_order[m][: level + 1 - m] for m in (m_i, m_j))
            pairs = small_i[:, None] * small_j * weight
            blocks[orders] = pairs @ by_order[m_k].T
        block = value * blocks[orders]
        at = np.nonzero(_coupling_degrees(level)[m_i:, m_j:, m_k:])
        one, other = _column(at[0] + m_i, i), _column(at[1] + m_j, j)
        keep = slice(None) if i != j else one <= other
        low, high = np.minimum(one, other)[keep], np.maximum(one, other)[keep]
        parts.append((low + high * (high + 1) // 2, _column(at[2] + m_k, k)[keep], block[at][keep]))
    rows, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    count = sphere_size(level)
    shape = (count * (count + 1) // 2, sphere_size(2 * level))
    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()


@cache
def _coupling_degrees(level: int) -> BoolArray:
    """Degrees whose integrals need not vanish: a triangle of even circumference."""
    i, j, k = np.ogrid[: level + 1, : level + 1, : 2 * level + 1]
    return np.asarray((abs(i - j) <= k) & (k <= i + j) & ((i + j + k) % 2 == 0))


def sphere_second_moments(moments: Array, level: int) -> Array:
    """E φφᵀ (n, n) on the two-sphere from E φ through degree 2·level, the constant first (K,).

    On the rings of Gauss's rule the density through degree 2L has Fourier coefficients of its own;
    for each function of the longitude they make one factor of a product over the rings. Each pair
    of functions of the longitude is looked at once.
    """
    by_order, weight = _latitudes(level)
    profile, trig, place, starts = _stacked(level)
    count = len(profile)
    pairs = np.empty((count, count))  # by functions of the longitude
    waves = _waves(moments, level) * weight
    which, value = _coupled(level)
    part = np.empty_like(profile)
    for i in range(circle_size(level)):
        m, first = (i + 1) // 2, starts[i]
        along = value[i, 0, i:, None] * waves[which[i, 0, i:]]
        along += value[i, 1, i:, None] * waves[which[i, 1, i:]]
        np.multiply(profile[first:], along[trig[first:] - i], out=part[first:])
        rows = by_order[m][: level + 1 - m]
        np.matmul(rows, part[first:].T, out=pairs[first : starts[i + 1], first:])
    return np.take(pairs, place, mode="clip")


def _waves(moments: Array, level: int) -> Array:
    """E of 1, cos, sin, … on each ring of the rule, (4·level + 1, rings)."""
    by_order, weight = _latitudes(level)
    degrees = 2 * level + 1
    waves = np.empty((2 * degrees - 1, len(weight)))
    for k in range(2 * degrees - 1):
        m = (k + 1) // 2
        waves[k] = moments[_column(np.arange(m, degrees), k)] @ by_order[m]
    return waves


@cache
def _latitudes(level: int) -> tuple[list[Array], Array]:
    """Legendre functions (degrees, rings) of each order through 2·level, and weights (rings,)."""
    z, weight = np.polynomial.legendre.leggauss(2 * level + 1)
    table = legendre_functions(z, 2 * level, set(range(2 * level + 1)))
    orders = range(2 * level + 1)
    by_order = [np.stack([table[ell][m] for ell in range(m, 2 * level + 1)]) for m in orders]
    return by_order, 0.5 * weight


@cache
def _stacked(level: int) -> tuple[Array, IntArray, IntArray, IntArray]:
    """Features by their functions of the longitude, one after the other.

    The Legendre function of each (n, rings), its function of the longitude (n,), where each pair of
    the usual order stands in the upper triangle (n, n), and where each such function begins.
    """
    by_order, _ = _latitudes(level)
    count = circle_size(level)
    orders = (np.arange(count) + 1) // 2
    profile = np.concatenate([by_order[m][: level + 1 - m] for m in orders])
    trig = np.repeat(np.arange(count), level + 1 - orders)
    usual = np.concatenate([_column(np.arange(m, level + 1), k) for k, m in enumerate(orders)])
    starts = np.concatenate([[0], np.cumsum(level + 1 - orders)])
    place = np.argsort(usual)
    low, high = np.minimum.outer(place, place), np.maximum.outer(place, place)
    return profile, trig, low * len(place) + high, starts


@cache
def _coupled(level: int) -> tuple[IntArray, Array]:
    """For all i and j the two k of the longitude that they couple to, and the factors of both.

    Each (2·level + 1, 2, 2·level + 1), by i, term and j; a factor is zero where there is no term.
    """
    count = circle_size(level)
    which, value = np.zeros((count, 2, count), dtype=np.int64), np.zeros((count, 2, count))
    terms = np.zeros((count, count), dtype=np.int64)
    for i, j, k, mean in _longitudes(level):
        for a, b in {(i, j), (j, i)}:
            at = a, terms[i, j], b
            which[at], value[at] = k, mean
        terms[i, j] += 1
    return which, value


def _column(degree: IntArray, trig: int) -> IntArray:
    """Where degree and function of the longitude stand among the harmonics of the sphere."""
    return np.asarray(degree * degree + trig)


def _longitudes(level: int) -> Iterator[tuple[int, int, int, float]]:
    """Mean of three of ``1, cos θ, sin θ, …`` where it is not zero: (i, j, k, mean), i <= j."""
    count = circle_size(level)
    for i, j in combinations_with_replacement(range(count), 2):
        a, b = (i + 1) // 2, (j + 1) // 2
        sin_a, sin_b = i > 0 and i % 2 == 0, j > 0 and j % 2 == 0
        mixed = sin_a != sin_b  # then the product is a sum of sines
        low, high = abs(a - b), a + b
        of_low, of_high = 0.5, -0.5 if sin_a and sin_b else 0.5
        if mixed:
            of_low *= np.sign(a - b if sin_a else b - a)
        terms = {low: of_low, high: of_high} if low != high else {low: of_low + of_high}
        for order, value in terms.items():
            if value and not (mixed and not order):
                k = 2 * order - (not mixed) if order else 0
                yield i, j, k, float(value) * (0.5 if order else 1.0)
