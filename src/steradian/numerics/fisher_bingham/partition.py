"""Coordinates in groups: quadratics that mix no two of them, as matrices that are zero between.

A group may turn within itself, so that a matrix of this kind has an eigenbasis of the same kind.
Products are taken group by group; all coordinates in one group is the full quadratic, each in its
own the diagonal one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.linalg.blas import dsyrk

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.contour import Complex
from steradian.numerics.linalg import on_diagonal, real_product


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """Groups of coordinates."""

    labels: IntArray  # (d,): the group of each coordinate
    groups: tuple[IntArray, ...]  # the coordinates of each
    is_whole: bool
    is_diagonal: bool

    @classmethod
    def of(cls, labels: Sequence[int] | IntArray) -> Partition:
        """From the group of each coordinate."""
        each = np.asarray(labels, dtype=np.int64)
        groups = tuple(np.flatnonzero(each == k) for k in np.unique(each))
        return cls(each, groups, len(groups) == 1, len(groups) == len(each))

    @staticmethod
    def whole(d: int) -> Partition:
        """All in one group."""
        return _whole(d)

    def masked(self, matrix: Array) -> Array:
        """A symmetric matrix (d, d), zero between the groups."""
        if self.is_whole:
            return matrix
        return np.where(self.labels[:, None] == self.labels, matrix, 0.0)

    def eigh(self, matrix: Array) -> tuple[Array, Array]:
        """Eigenvalues (d,) and an eigenbasis (d, d) of the masked matrix that mixes no groups."""
        if self.is_whole:
            values, axes = np.linalg.eigh(matrix)
            return values, axes
        if self.is_diagonal:
            return np.diagonal(matrix).copy(), np.eye(len(matrix))
        values, axes = np.empty(len(matrix)), np.zeros_like(matrix)
        for group in self.groups:
            at = np.ix_(group, group)
            values[group], axes[at] = np.linalg.eigh(matrix[at])
        return values, axes

    def product(self, one: Array, other: Array) -> Array:
        """``one @ other`` for masked ``other`` (d, d) and any ``one`` (n, d)."""
        if self.is_whole:
            return np.asarray(one @ other)
        if self.is_diagonal:
            return np.asarray(one * np.diagonal(other))
        out = np.empty_like(one)
        for group in self.groups:
            out[:, group] = one[:, group] @ other[np.ix_(group, group)]
        return out

    def gram(self, left: Complex, right: Complex) -> Array:
        """Re(leftᵀ right), masked, for complex (n, d) arrays, by real products."""
        if self.is_whole:
            return real_product(left, right)
        if self.is_diagonal:
            return np.diag((left.real * right.real - left.imag * right.imag).sum(axis=0))
        out = np.zeros((left.shape[1],) * 2)
        for group in self.groups:
            out[np.ix_(group, group)] = real_product(left[:, group], right[:, group])
        return out

    def spread(self, values: Array, axes: Array) -> Array:
        """``axesᵀ diag(values) axes`` for ``axes`` (d, d) that mix no groups."""
        if self.is_diagonal:
            return np.diag(values)
        if self.is_whole:
            scaled = np.sqrt(values)[:, None] * axes
            half = dsyrk(1.0, scaled.T)  # of one triangle: half the work, zeros in the other
            out = half + half.T
            on_diagonal(out)[...] *= 0.5
            return np.asarray(out)
        return np.asarray(self.product(axes.T * values, axes))


@cache
def _whole(d: int) -> Partition:
    return Partition.of(np.zeros(d, dtype=np.int64))
