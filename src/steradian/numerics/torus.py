"""Products of trigonometric functions of several angles."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.spheres.harmonics import circle_harmonics


def product_features(x: Array, terms: IntArray) -> Array:
    """Products of harmonics of the circle, one of each angle, at ``x`` (n, 2k): (n, q).

    ``terms`` (q, k) says which: 0 is the constant, 2h - 1 is √2 cos hθ and 2h is √2 sin hθ. Under
    independent uniform angles they are orthonormal.
    """
    tables = []
    for angle in range(terms.shape[1]):
        highest = int(-(-terms[:, angle].max() // 2))
        tables.append(circle_harmonics(x[:, 2 * angle : 2 * angle + 2], highest))
    return products(tables, terms)


def products(tables: Sequence[Array], terms: IntArray) -> Array:
    """Products of functions of single angles, ``tables`` (n, p) of each: (n, q).

    Function 0 is the constant one; ``terms`` (q, k) says which of each angle.
    """
    values = np.ones((len(tables[0]), len(terms)))
    for table, column in zip(tables, terms.T, strict=True):
        used = np.flatnonzero(column)
        values[:, used] *= table[:, column[used]]
    return values


def waves(x: Array, frequencies: IntArray) -> AnyArray:
    """exp(i s·θ) of the ``frequencies`` s (p, k) at ``x`` (n, 2k): (n, p)."""
    circles = x[:, ::2] + 1j * x[:, 1::2]  # of length one, so that a power may be negative
    return np.asarray(np.prod(circles[:, None, :] ** frequencies, axis=2))
