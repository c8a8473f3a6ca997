"""Products of trigonometric functions of several angles."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.harmonics import circle_harmonics


def product_features(x: Array, terms: IntArray) -> Array:
    """Products of harmonics of the circle, one of each angle, at ``x`` (n, 2k): (n, q).

    ``terms`` (q, k) says which: 0 is the constant, 2h - 1 is √2 cos hθ and 2h is √2 sin hθ. Under
    independent uniform angles they are orthonormal.
    """
    values = np.ones((len(x), len(terms)))
    for angle in range(terms.shape[1]):
        column = terms[:, angle]
        table = circle_harmonics(x[:, 2 * angle : 2 * angle + 2], int(-(-column.max() // 2)))
        used = np.flatnonzero(column)
        values[:, used] *= table[:, column[used]]
    return values
