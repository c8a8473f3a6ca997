"""Products of two harmonics: of degree at most twice theirs, and they reach all of it.

The integrals ``∫ φ_k φ_i φ_j dν`` turn moments through degree 2L into a second-moment matrix
of the features of degree L, and, read the other way, such a matrix into those moments.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from steradian.numerics.arrays import Array
from steradian.spaces import Circle, Sphere


@cache
def product_tensor(space: Circle | Sphere, level: int) -> Array:
    """∫ φ_k φ_i φ_j dν for k of degree 0..2L, i and j of degree 0..L: (K, q + 1, q + 1)."""
    grid = space.exact_grid(4 * level)
    small = space.harmonics(grid.points, level)
    large = space.harmonics(grid.points, 2 * level)
    pairs = (small[:, :, None] * small[:, None, :]).reshape(len(small), -1)
    tensor = (grid.weights[:, None] * large).T @ pairs
    tensor[np.abs(tensor) < 1e-14] = 0.0
    return np.asarray(tensor.reshape(-1, small.shape[1], small.shape[1]))


@cache
def feature_products(space: Circle | Sphere, level: int) -> Array:
    """The same without constant features, flat: (K, q²)."""
    tensor = product_tensor(space, level)[:, 1:, 1:]
    return np.ascontiguousarray(tensor.reshape(len(tensor), -1))


@cache
def _expansion(space: Circle | Sphere, level: int) -> Array:
    """Coefficients that write each φ_k, 1 <= degree <= 2L, as a sum of products: (q², K)."""
    tensor = product_tensor(space, level)
    flat = tensor.reshape(len(tensor), -1)
    return np.ascontiguousarray(np.linalg.solve(flat @ flat.T, flat)[1:].T)


def sums_from_products(
    space: Circle | Sphere, x: Array, weights: Array | None, level: int
) -> Array:
    """Σ_i w_i φ(x_i) for degree 1..2·level from the features of degree ``level`` alone.

    Without ``weights`` each is one.
    """
    features = space.harmonics(x, level)
    weighted = features if weights is None else features * weights[:, None]
    gram = weighted.T @ features
    return np.asarray(gram.ravel() @ _expansion(space, level))
