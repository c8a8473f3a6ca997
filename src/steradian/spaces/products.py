"""Products of two harmonics: of degree at most twice theirs, and they reach all of it.

Moments through degree 2L make the second-moment matrix of the features of degree L, and, read the
other way, such a matrix those moments.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache, cached_property
from typing import TYPE_CHECKING

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.spheres.gaunt import (
    circle_second_moments,
    sphere_gaunt,
    sphere_second_moments,
)
from steradian.spaces import Circle, Sphere

if TYPE_CHECKING:
    from scipy import sparse

_BLOCK = 65_536  # rows whose features are held at once
_DENSE_LEVELS = 4  # up to which zeros are quicker multiplied than skipped
_SPARSE_LEVELS = 4, 8, 12, 16  # for which integrals are made and kept, half a million at the last


@dataclass(frozen=True, eq=False)
class SecondMoments:
    """From moments through degree 2L to E φφᵀ of the features of degree L, the constant first.

    The Hessian of a fit of level L needs nothing else of its law, at a cost that does not grow
    with the grid. On the circle it is a sum of Toeplitz and Hankel matrices; on the two-sphere a
    small matrix of integrals to level 4, a sparse one to level 16, and products over rings beyond.
    """

    space: Circle | Sphere
    level: int

    @cached_property
    def moments(self) -> int:
        """How many moments are read, K."""
        return self.space.size(2 * self.level)

    @cached_property
    def _count(self) -> int:
        """How many features there are with the constant, n."""
        return self.space.size(self.level)

    def stack(self, moments: Array) -> Array:
        """E φφᵀ (B, n, n) of the laws with ``moments`` (B, K)."""
        moments = moments[:, : self.moments]
        count = self._count
        if self.level <= _DENSE_LEVELS:
            return (moments @ self.dense.T).reshape(-1, count, count)
        if isinstance(self.space, Circle):
            return circle_second_moments(moments, self.level)
        if self.level > _SPARSE_LEVELS[-1]:
            return np.array([sphere_second_moments(one, self.level) for one in moments])
        pairs = np.ascontiguousarray((self._sparse @ moments.T).T)
        return pairs.take(self._symmetric, axis=1).reshape(-1, count, count)

    def expanded(self, matrix: Array) -> Array:
        """Coefficients (K,) of the function φᵀ A φ of degree 2L, for a symmetric A (n, n)."""
        if isinstance(self.space, Circle) or self.level > _SPARSE_LEVELS[-1]:
            grid = self.space.exact_grid(4 * self.level)
            phi = self.space.harmonics(grid.points, self.level)
            values = np.einsum("ni,ni->n", phi @ matrix, phi)
            return grid.analyze(values[None], 2 * self.level)[0]
        count = self._count
        twice = np.where(np.arange(count)[:, None] == np.arange(count), 1.0, 2.0) * matrix
        return np.asarray(self._sparse.T @ twice.ravel()[self._upper])

    @cached_property
    def _sparse(self) -> sparse.csr_array:
        """Rows of the pairs (i, j), i <= j, in the order i + j (j + 1) / 2."""
        whole = _integrals(next(top for top in _SPARSE_LEVELS if top >= self.level))
        count = self._count
        rows = count * (count + 1) // 2
        end = whole.indptr[rows]
        parts = whole.data[:end], whole.indices[:end], whole.indptr[: rows + 1]
        return type(whole)(parts, shape=(rows, self.moments))

    @cached_property
    def dense(self) -> Array:
        """∫ φ_k φ_i φ_j dν, flat in i and j: (n², K). Small to level 4."""
        if isinstance(self.space, Circle):
            return (
                circle_second_moments(np.eye(self.moments), self.level).reshape(self.moments, -1).T
            )
        return self._sparse.toarray()[self._symmetric]

    @cached_property
    def _upper(self) -> IntArray:
        """Where each pair stands in the flat matrix, column by column."""
        count = self._count
        j, i = np.tril_indices(count)
        return np.asarray(j * count + i)

    @cached_property
    def _symmetric(self) -> IntArray:
        """Which pair each entry of the flat matrix is."""
        index = np.arange(self.space.size(self.level))
        low, high = np.minimum.outer(index, index), np.maximum.outer(index, index)
        return np.asarray(low + high * (high + 1) // 2).ravel()

    @cached_property
    def expansion(self) -> Array:
        """Coefficients that write each φ_k, 1 <= degree <= 2L, as a sum of products: (pairs, K).

        Pairs of functions of `_spanning`, the first of them a partner.
        """
        points, count = self.space.exact_grid(2 * self.level).points, self._count
        some, partners = _spanning(self.space, points, self.level)
        harmonics = self.space.harmonics(points, self.level)
        known, *_ = np.linalg.lstsq(harmonics, some, rcond=None)
        known[np.abs(known) < 1e-13] = 0.0
        halves = known.T @ self.dense.reshape(count, -1)  # of the first function; then the second
        pairs = known.T @ halves.reshape(count, count, -1)[partners]
        flat = pairs.reshape(-1, self.moments)
        return np.ascontiguousarray(np.linalg.solve(flat.T @ flat, flat.T)[1:].T)


@cache
def second_moments_of(space: Circle | Sphere, level: int) -> SecondMoments:
    """The one object of a space and a level."""
    return SecondMoments(space, level)


@cache
def _integrals(level: int) -> sparse.csr_array:
    return sphere_gaunt(level)


def second_moments(space: Circle | Sphere, level: int, moments: Array) -> Array:
    """E φφᵀ of the features through ``level``, the constant first, (B, n, n).

    ``moments`` (B, K) are E φ through degree 2·level, the constant first.
    """
    return second_moments_of(space, level).stack(moments)


def _spanning(space: Circle | Sphere, x: Array, level: int) -> tuple[Array, slice]:
    """Functions at ``x`` (n, d) that span all degrees up to ``level``: (n, q + 1).

    The harmonics, or where that is quicker and as well conditioned, monomials. And which of them
    are partners, whose products with all span all degrees up to twice that.
    """
    if level != 2 or isinstance(space, Circle):
        return space.harmonics(x, level), slice(None)
    out = np.empty((9, len(x)))
    out[:3] = x.T
    out[3] = 1.0
    np.multiply(out[:3], out[0], out=out[4:7])  # xx, xy, xz; zz is the rest of one
    np.multiply(out[1:3], out[1], out=out[7:])
    return out.T, slice(3, None)


def sums_from_products(
    space: Circle | Sphere, x: Array, weights: Array | None, level: int
) -> Array:
    """Σ_i w_i φ(x_i) for degree 1..2·level from functions of degree ``level`` alone.

    Without ``weights`` each is one.
    """
    if isinstance(space, Circle):
        return _sums_of_powers(x, weights, level)
    some, partners = _spanning(space, x, level)
    weighted = some[:, partners] if weights is None else some[:, partners] * weights[:, None]
    gram = weighted.T.dot(some)
    return np.asarray(gram.ravel().dot(second_moments_of(space, level).expansion))


def _sums_of_powers(x: Array, weights: Array | None, level: int) -> Array:
    """The same on the circle, where products of features are powers of z = exp(iθ)."""
    powers = np.empty((level, len(x)), dtype=complex)
    powers[0] = np.ascontiguousarray(x).view(complex)[:, 0]
    known = 1
    while known < level:  # z^k z^known of all k that are known
        more = min(known, level - known)
        np.multiply(powers[:more], powers[known - 1], out=powers[known : known + more])
        known += more
    waves = np.empty(2 * level, dtype=complex)
    last = powers[-1] if weights is None else powers[-1] * weights
    waves[:level] = np.add.reduce(powers, axis=1) if weights is None else powers.dot(weights)
    waves[level:] = powers.dot(last)
    return waves.view(np.float64) * math.sqrt(2.0)


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
