"""Products of two harmonics: of degree at most twice theirs, and they reach all of it.

The integrals ``∫ φ_k φ_i φ_j dν`` turn moments through degree 2L into a second-moment matrix
of the features of degree L, and, read the other way, such a matrix into those moments.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.gaunt import circle_gaunt, sphere_gaunt
from steradian.spaces import Circle, Sphere

if TYPE_CHECKING:
    from scipy import sparse

_BLOCK = 65_536  # rows whose features are held at once
_DENSE = 200_000  # entries up to which zeros are quicker multiplied than skipped
_MOST_LEVELS = {2: 256, 3: 20}  # by ambient dimension: some millions of integrals not zero


def has_products(space: Circle | Sphere, level: int) -> bool:
    """Whether the integrals of the level are few enough to keep."""
    return level <= _MOST_LEVELS[space.d]


@cache
def products(space: Circle | Sphere, level: int) -> Array | sparse.csr_array:
    """∫ φ_k φ_i φ_j dν for i and j of degree 0..L, flat, and k of degree 0..2L: ((q + 1)², K)."""
    found = circle_gaunt(level) if isinstance(space, Circle) else sphere_gaunt(level)
    return found.toarray() if np.prod(found.shape) <= _DENSE else found


def second_moments(space: Circle | Sphere, level: int, moments: Array) -> Array:
    """E φφᵀ of the features through ``level``, the constant first, (B, q + 1, q + 1).

    ``moments`` (B, K) are E φ through degree 2·level, the constant first.
    """
    count = space.size(level)
    moments = moments[:, : space.size(2 * level)]
    if has_products(space, level):
        flat = (products(space, level) @ moments.T).T
        return np.ascontiguousarray(flat).reshape(-1, count, count)
    grid = space.exact_grid(4 * level)
    phi = space.harmonics(grid.points, level)
    height = moments @ space.harmonics(grid.points, 2 * level).T  # of the function with them
    return np.stack([phi.T @ ((grid.weights * one)[:, None] * phi) for one in height])


def _spanning(space: Circle | Sphere, x: Array, level: int) -> Array:
    """Functions at ``x`` (n, d) that span all degrees up to ``level``: (n, q + 1).

    The harmonics, or where that is quicker and as well conditioned, monomials.
    """
    if level != 2 or isinstance(space, Circle):
        return space.harmonics(x, level)
    out = np.empty((9, len(x)))
    out[0] = 1.0
    out[1:4] = x.T
    np.multiply(out[1:4], out[1], out=out[4:7])  # xx, xy, xz; zz is the rest of one
    np.multiply(out[2:4], out[2], out=out[7:9])
    return out.T


@cache
def _expansion(space: Circle | Sphere, level: int) -> Array:
    """Coefficients that write each φ_k, 1 <= degree <= 2L, as a sum of products: (q², K)."""
    found, count = products(space, level), space.size(level)
    flat = found if isinstance(found, np.ndarray) else found.toarray()
    of_harmonics = np.linalg.solve(flat.T @ flat, flat.T)[1:].reshape(-1, count, count)
    points = space.exact_grid(2 * level).points
    some, harmonics = _spanning(space, points, level), space.harmonics(points, level)
    change, *_ = np.linalg.lstsq(some, harmonics, rcond=None)
    change[np.abs(change) < 1e-13] = 0.0
    of_some = change @ of_harmonics @ change.T
    return np.ascontiguousarray(of_some.reshape(len(of_some), -1).T)


def sums_from_products(
    space: Circle | Sphere, x: Array, weights: Array | None, level: int
) -> Array:
    """Σ_i w_i φ(x_i) for degree 1..2·level from functions of degree ``level`` alone.

    Without ``weights`` each is one.
    """
    some = _spanning(space, x, level)
    weighted = some if weights is None else some * weights[:, None]
    gram = weighted.T @ some
    return np.asarray(gram.ravel() @ _expansion(space, level))


def direct_sums(space: Circle | Sphere, x: Array, weights: Array | None, degree: int) -> Array:
    """Σ_i w_i φ(x_i) for degree 1..degree, feature by feature.

    Slower than products or transforms, and nearer to the rounding of the features. Without
    ``weights`` each is one.
    """
    total = np.zeros(space.size(degree) - 1)
    for start in range(0, len(x), _BLOCK):
        rows = slice(start, start + _BLOCK)
        phi = space.harmonics(x[rows], degree)[:, 1:]
        total += phi.sum(axis=0) if weights is None else weights[rows] @ phi
    return total
