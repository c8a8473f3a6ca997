"""White features of a level under the fits of the level below.

With ``J = C Cᵀ`` the covariance of the level's features under the reduced fit (C lower triangular)
and μ₀ their mean, ``ζ = C⁻¹(φ - μ₀)`` has unit covariance there; its last q components are what
the level adds, free of the others.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from steradian.data.stacks import MomentStack
from steradian.numerics.arrays import AnyArray, Array, BoolArray

_COLLINEAR = 1e-6  # ratio of diagonals of C below which C⁻¹ would be made of rounding

Features = Callable[[AnyArray], AnyArray]
"""Points (n, d) → all features of a level there, (n, p)."""


@dataclass(frozen=True, slots=True)
class WhiteFeatures:
    """ζ for a stack of B reduced fits, from the covariance itself."""

    features: Features
    below: int  # features of the levels below
    mean: Array  # (B, p): μ₀
    inverse: Array  # (B, p, p): C⁻¹, NaN where J is singular to rounding

    @classmethod
    def of(cls, features: Features, below: int, mean: Array, covariance: Array) -> WhiteFeatures:
        """From the mean (B, p) and covariance (B, p, p) of the features."""
        return cls(features, below, mean, np.array([_inverse_root(c) for c in covariance]))

    @property
    def q(self) -> int:
        """Features the level adds."""
        return self.mean.shape[1] - self.below

    @property
    def sound(self) -> BoolArray:
        """Which fits of the stack have white features at all, (B,)."""
        return np.asarray(np.isfinite(self.inverse).all(axis=(1, 2)))

    @property
    def formed(self) -> WhiteFeatures:
        """The same with its matrices at hand."""
        return self

    def rows(self, x: Array) -> Array:
        """ζ at ``x`` (B, n, d): (B, n, below + q)."""
        return self.of_features(_stacked(self.features, x))

    def of_features(self, phi: Array) -> Array:
        """ζ of features (B, n, p)."""
        return (phi - self.mean[:, None, :]) @ np.swapaxes(self.inverse, 1, 2)

    def score(self, moments: MomentStack) -> Array:
        """|E ζ_added|² of B samples known by their moments, (B,)."""
        zeta = self.of_features(moments.features[:, None, : self.mean.shape[1]])[:, 0, self.below :]
        return np.asarray(np.einsum("bq,bq->b", zeta, zeta))


@dataclass(frozen=True, slots=True)
class UniformWhitening:
    """Under ``count`` uniform laws features are white as they stand, and no matrix is needed."""

    features: Features
    q: int
    count: int

    @property
    def below(self) -> int:
        """Features of the levels below: none."""
        return 0

    @property
    def sound(self) -> BoolArray:
        """Which fits of the stack have white features at all, (B,)."""
        return np.ones(self.count, dtype=np.bool_)

    @property
    def formed(self) -> WhiteFeatures:
        """The same with its matrices at hand."""
        eye = np.broadcast_to(np.eye(self.q), (self.count, self.q, self.q))
        return WhiteFeatures(self.features, 0, np.zeros((self.count, self.q)), eye)

    def rows(self, x: Array) -> Array:
        """ζ = φ at ``x`` (B, n, d): (B, n, q)."""
        return _stacked(self.features, x)

    def score(self, moments: MomentStack) -> Array:
        """|E ζ|² of B samples known by their moments, (B,)."""
        mean = moments.features[:, : self.q]
        return np.asarray(np.einsum("bq,bq->b", mean, mean))


def _stacked(features: Features, x: Array) -> Array:
    count, n, d = x.shape
    return np.asarray(features(x.reshape(-1, d))).reshape(count, n, -1)


def _inverse_root(covariance: Array) -> Array:
    factor, failed = lapack.dpotrf(covariance, lower=1, clean=1)
    diagonal = np.diag(factor)
    if failed or diagonal.min() < _COLLINEAR * diagonal.max():
        return np.full_like(covariance, np.nan)
    return np.asarray(lapack.dtrtri(factor, lower=1)[0])
