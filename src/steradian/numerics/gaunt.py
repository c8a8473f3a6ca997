"""Integrals of three harmonics, of which nearly all are zero (Gaunt, 1929).

``∫ φ_k φ_i φ_j dν`` splits into one over the longitude, which couples an order to the sum and the
difference of two others, and one over the latitude, which Gauss's rule gives exactly. On the
two-sphere at level 12 one entry in sixty is not zero.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.harmonics import circle_size, legendre_functions, sphere_size
from steradian.numerics.tolerances import ZERO_INTEGRAL

if TYPE_CHECKING:
    from scipy import sparse


def _gathered(values: Any, rows: Any, columns: Any, shape: tuple[int, int]) -> sparse.csr_array:
    """A sparse matrix of these entries; its module is imported when it is needed."""
    from scipy import sparse

    return sparse.coo_array((values, (rows, columns)), shape=shape).tocsr()


def circle_gaunt(level: int) -> sparse.csr_array:
    """∫ φ_k φ_i φ_j over the circle, rows (i, j) of degree 0..level, columns k of 0..2·level."""
    count = circle_size(level)
    found = list(_longitudes(level))
    rows = [i * count + j for i, j, _, _ in found]
    columns = [k for _, _, k, _ in found]
    scale = np.array([1.0] + [np.sqrt(2.0)] * (circle_size(2 * level) - 1))
    values = [value * scale[i] * scale[j] * scale[k] for i, j, k, value in found]
    shape = (count * count, circle_size(2 * level))
    return _gathered(values, rows, columns, shape)


def sphere_gaunt(level: int) -> sparse.csr_array:
    """The same over the two-sphere."""
    z, weight = np.polynomial.legendre.leggauss(2 * level + 1)
    table = legendre_functions(z, 2 * level, set(range(2 * level + 1)))
    by_order = [np.stack([table[ell][m] for ell in range(m, 2 * level + 1)])
                for m in range(2 * level + 1)]  # fmt: skip
    count = sphere_size(level)
    parts = []
    blocks: dict[tuple[int, int, int], Array] = {}
    for i, j, k, value in _longitudes(level):
        orders = m_i, m_j, m_k = (i + 1) // 2, (j + 1) // 2, (k + 1) // 2
        if orders not in blocks:
            small_i, small_j = (by_order[m][: level + 1 - m] for m in (m_i, m_j))
            pairs = small_i[:, None] * small_j * (0.5 * weight)
            blocks[orders] = pairs @ by_order[m_k].T
        block = value * blocks[orders]
        at = np.nonzero(np.abs(block) > ZERO_INTEGRAL)
        row = _column(at[0] + m_i, i) * count + _column(at[1] + m_j, j)
        parts.append((row, _column(at[2] + m_k, k), block[at]))
    rows, columns, values = (np.concatenate(each) for each in zip(*parts, strict=True))
    shape = (count * count, sphere_size(2 * level))
    return _gathered(values, rows, columns, shape)


def _column(degree: IntArray, trig: int) -> IntArray:
    """Where degree and function of the longitude stand among the harmonics of the sphere."""
    return np.asarray(degree * degree + trig)


def _longitudes(level: int) -> Iterator[tuple[int, int, int, float]]:
    """Mean of three of ``1, cos θ, sin θ, cos 2θ, …`` where it is not zero, as (i, j, k, mean)."""
    count = circle_size(level)
    for i, j in product(range(count), range(count)):
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
