"""Coordinates in groups: quadratics that mix no two of them, as matrices that are zero between.

A group may turn within itself, so that a matrix of this kind has an eigenbasis of the same kind.
Products are taken group by group; all coordinates in one group is the full quadratic, each in its
own the diagonal one. Matrices are stacks (…, d, d).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np

from steradian.numerics.arrays import AnyArray, IntArray
from steradian.numerics.linalg import on_diagonal


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

    def masked(self, matrices: AnyArray) -> AnyArray:
        """Symmetric matrices, zero between the groups."""
        if self.is_whole:
            return matrices
        return np.where(self.labels[:, None] == self.labels, matrices, matrices.dtype.type(0.0))

    def eigh(self, matrices: AnyArray) -> tuple[AnyArray, AnyArray]:
        """Eigenvalues (…, d) and eigenbases of the masked matrices that mix no groups."""
        if self.is_whole:
            values, axes = np.linalg.eigh(matrices)
            return values, axes
        if self.is_diagonal:
            eye = np.eye(len(self.labels), dtype=matrices.dtype)
            return on_diagonal(matrices).copy(), np.broadcast_to(eye, matrices.shape).copy()
        values, axes = np.empty(matrices.shape[:-1], matrices.dtype), np.zeros_like(matrices)
        for group in self.groups:
            at = ..., group[:, None], group
            values[..., group], axes[at] = np.linalg.eigh(matrices[at])
        return values, axes

    def product(self, one: AnyArray, other: AnyArray) -> AnyArray:
        """``one @ other`` for masked ``other`` and any ``one`` (…, n, d)."""
        if self.is_whole:
            return np.asarray(one @ other)
        if self.is_diagonal:
            return np.asarray(one * on_diagonal(other)[..., None, :])
        stack = np.broadcast_shapes(one.shape[:-2], other.shape[:-2])
        out = np.empty((*stack, *one.shape[-2:]), one.dtype)
        for group in self.groups:
            out[..., group] = one[..., group] @ other[..., group[:, None], group]
        return out

    def gram(self, left: AnyArray, right: AnyArray) -> AnyArray:
        """leftᵀ right, masked, for real (…, n, d) arrays."""
        if self.is_whole:
            return np.asarray(left.swapaxes(-1, -2) @ right)
        stack, d = np.broadcast_shapes(left.shape[:-2], right.shape[:-2]), left.shape[-1]
        out = np.zeros((*stack, d, d), left.dtype)
        if self.is_diagonal:
            on_diagonal(out)[...] = (left * right).sum(axis=-2)
            return out
        for group in self.groups:
            turned = left[..., group].swapaxes(-1, -2)
            out[..., group[:, None], group] = turned @ right[..., group]
        return out


@cache
def _whole(d: int) -> Partition:
    return Partition.of(np.zeros(d, dtype=np.int64))
