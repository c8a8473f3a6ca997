"""Laws of the circle on one grid, and one factor for the covariances of many levels.

Features are ordered by level: the Cholesky factor of a high level has those of the levels below it
in its corners.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from steradian.numerics.arrays import Array, IntArray
from steradian.spaces import Circle
from steradian.spaces.circle import CircleGrid
from steradian.spaces.products import second_moments_of

_CIRCLE = Circle()
_ONE = np.ones(1)


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """A stack of laws on one grid."""

    lam: Array  # (k, q)
    psi: Array  # (k,)
    means: Array  # (k, K): E φ
    halved: float  # relative change of the total of the last one on half the nodes

    def mismatch(self, m: Array) -> Array:
        return np.asarray(m - self.means[:, : len(m)])

    def dual(self, m: Array) -> float:
        """Of the first one."""
        return float(self.lam[0] @ m - self.psi[0])

    def cut(self, q: int) -> Laws:
        """The same laws as those of fewer features, which have no others."""
        return Laws(self.lam[:, :q], self.psi, self.means, self.halved)


def laws_on(
    lam: Array, degree: int, grid: CircleGrid, about: Array | None = None, *, halved: bool = False
) -> Laws:
    """The laws ``lam`` (k, q) on a grid, with moments through a degree.

    ``about`` (k,): log-partitions of laws nearby, which spare the search for the largest values.
    """
    values = grid.waves_to_values(lam, 0.0 if about is None else -about)
    if about is None:
        about = np.maximum.reduce(values, axis=1)
        values -= about[:, None]
    np.exp(values, out=values)
    seen = grid.halved(values[-1]) if halved else 0.0
    moments = grid.values_to_waves(values, degree)
    total = moments[:, 0]
    return Laws(lam, np.log(total) + about, moments[:, 1:] / total[:, None], seen)


@dataclass(frozen=True, slots=True, eq=False)
class Factor:
    """The Cholesky factor of Cov φ through some level, and thereby of all levels below."""

    covariance: Array
    lower: Array

    @classmethod
    def of(cls, means: Array, level: int) -> Factor | None:
        """From E φ through degree 2·level of one law; None where it is not positive definite."""
        mean = means[: 2 * level]
        moments = np.concatenate([_ONE, means])
        covariance = second_moments_of(_CIRCLE, level).one(moments)[1:, 1:]
        covariance -= mean[:, None] * mean
        lower, failed = lapack.dpotrf(covariance, lower=1, clean=0)
        return None if failed else cls(covariance, lower)

    def corner(self, q: int) -> Factor:
        """That of the first features."""
        parts = self.covariance[:q, :q], self.lower[:q, :q]
        return self if q == len(self.lower) else Factor(*map(np.asfortranarray, parts))

    def white(self, gradient: Array) -> Array:
        """C⁻¹ g of rows (k, q); whoever sees fewer features cuts it off."""
        return np.asarray(blas.dtrsm(1.0, self.lower, gradient.T, lower=1).T)

    def steps(self, white: Array) -> Array:
        """C⁻ᵀ y of rows (k, q) that are cut off."""
        return np.asarray(blas.dtrsm(1.0, self.lower, white.T, lower=1, trans_a=1).T)

    def conditions(self, sizes: IntArray) -> Array:
        """In the 1-norm, of the covariances of the first features, ``sizes`` (k,): (k,).

        The norm of an inverse is estimated by the largest entry of A⁻¹ξ, with ξ the signs of
        A⁻¹ 1: two steps of Hager's (1984) method, for all sizes at once.
        """
        seen = (np.arange(len(self.lower)) < sizes[:, None]).astype(float)
        signs = np.copysign(seen, self.steps(self.white(seen) * seen))
        inverse = np.abs(self.steps(self.white(signs) * seen)).max(axis=1)
        columns = seen @ np.abs(self.covariance)
        return np.asarray(inverse * (columns * seen).max(axis=1))
