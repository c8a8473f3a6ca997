"""Orthonormal polynomials of k coordinates of a uniform unit vector of R^d.

Given the first coordinate y₁ the others, divided by s₁ = √(1 - y₁²), are those of a uniform unit
vector of R^{d-1}, and so on. With n_j the degree in y_j beyond what comes after it, m_j the degrees
of all that come after, and p^{(D)} the orthonormal polynomials of one coordinate in R^D,

    Π_j  s_{j-1}^{n_j} p_{n_j}^{(d-j+1+2 m_j)}(y_j / s_{j-1}) / √c_j,

with c_j = E s^{2 m_j} in R^{d-j+1}, are orthonormal and of degree n_1 + … + n_k (Dunkl and Xu,
Orthogonal Polynomials of Several Variables, 2014, section 5.2).
"""

from __future__ import annotations

from functools import cache
from itertools import product

import numpy as np

from steradian.numerics.arrays import AnyArray
from steradian.numerics.heights.gegenbauer import mean_power, polynomials


@cache
def degrees(k: int, levels: int) -> tuple[tuple[int, ...], ...]:
    """The exponents n_1..n_k of every polynomial of degree 1..levels, lowest degree first."""
    each = product(range(levels + 1), repeat=k)
    wanted = [n for n in each if 1 <= sum(n) <= levels]
    return tuple(sorted(wanted, key=lambda n: (sum(n), tuple(-j for j in n))))


def ball_polynomials(y: AnyArray, d: int, levels: int) -> AnyArray:
    """The polynomials of degree 1..levels at ``y`` (n, k), k < d: (n, q)."""
    n, k = y.shape
    square = np.ones(n, dtype=y.dtype)
    parts: list[list[AnyArray]] = []  # [coordinate][degree of what comes after][own degree]
    for j in range(k):
        after = levels if j + 1 < k else 0
        dimension = d - j
        parts.append([
            polynomials(y[:, j], dimension + 2.0 * m, levels - m, square)
            / np.sqrt(mean_power(dimension, m))
            for m in range(after + 1)
        ])  # fmt: skip
        square = square - y[:, j] * y[:, j]
    out = np.empty((n, len(degrees(k, levels))), dtype=y.dtype)
    for column, each in enumerate(degrees(k, levels)):
        value = parts[0][sum(each[1:])][each[0]]
        for j in range(1, k):
            value = value * parts[j][sum(each[j + 1 :])][each[j]]
        out[:, column] = value
    return out
