"""The null of a level seen from its reduced fit: features that are white under it.

With ``J = C Cᵀ`` the covariance of the level's features under the reduced fit (C lower
triangular) and μ₀ their mean, ``ζ = C⁻¹(φ - μ₀)`` has unit covariance there. Its first
components are the features of the levels below; its last q are what the level adds, free of
the others: ``S^{-1/2} N₀ (φ - μ₀)`` of the paper, up to a rotation.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.tolerances import COLLINEAR_FACTOR

_HELD = 1 << 24  # numbers of sums of units held at a time: 134 MB

Features = Callable[[AnyArray], AnyArray]
"""Points (n, d) → all features of a level there, (n, p)."""


class RowFeatures(Protocol):
    """Features of rows whose means are scores: those of the levels below, then those added."""

    @property
    def below(self) -> int:
        """Features of the levels below."""
        ...

    @property
    def q(self) -> int:
        """Features the level adds."""
        ...

    def rows(self, x: Array, features: Array | None = None) -> Array:
        """ζ at ``x`` (B, n, d): (B, n, below + q).

        ``features`` (B, n, >= below + q) are those of the hierarchy there, where they have been
        formed already.
        """
        ...


class Whitening(RowFeatures, Protocol):
    """White features of one level for a stack of B reduced fits."""

    @property
    def sound(self) -> BoolArray:
        """Which fits of the stack have white features at all, (B,)."""
        ...

    def score(self, moments: MomentStack) -> Array:
        """|E ζ_added|² of B samples known by their moments, (B,): no row is looked at."""
        ...

    @property
    def formed(self) -> FormedWhitening | None:
        """The same with its matrices at hand; None where they are not formed."""
        ...

    @property
    def kernel(self) -> ProductKernel | None:
        """Of a stack of one: inner products of its features without them; None where unknown."""
        ...


class ProductKernel(Protocol):
    """Added white features z, and those v of the levels below, by inner products of rows.

    What a test needs of features too many to be held. ``parts`` of rows are whatever the kernel
    wants to know of them.
    """

    @property
    def q(self) -> int:
        """Features the level adds."""
        ...

    @property
    def alone(self) -> RowFeatures | None:
        """One added feature that deserves a look of its own, with what it goes with below."""
        ...

    @property
    def curvature(self) -> tuple[float, float]:
        """|H|² and |tr H|² of H = E[z v v] under the fit below."""
        ...

    def parts(self, x: Array) -> Any:
        """What is needed of rows (n, d)."""
        ...

    def squares(self, rows: Any) -> Array:
        """|z|² of every row, (n,)."""
        ...

    def gram(self, rows: Any) -> Array:
        """z·z' of every two rows, (n, n)."""
        ...

    def sums(self, rows: Any, weights: Array, starts: IntArray) -> Array:
        """Vectors (G, m) whose inner products are those of Σ w z of G units of rows."""
        ...

    def most_units(self, rows_per_unit: float) -> int:
        """How many units' sums may be held; none where products of rows cost less."""
        ...

    def below(self, rows: Any) -> Array:
        """White features v of the levels below, (n, p)."""
        ...

    def curved(self, rows: Any, v: Array) -> Array:
        """z·H[v, v] of every row and its own ``v`` (n, p)."""
        ...


class LogPartition(Protocol):
    """What of a family is asked to form its covariance."""

    @property
    def q(self) -> int:
        """Number of features."""
        ...

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of the features at ``lam`` (B, q)."""
        ...


@dataclass(frozen=True, slots=True)
class FormedWhitening:
    """From the covariance itself."""

    features: Features
    below: int
    mean: Array  # (B, p): μ₀
    inverse: Array  # (B, p, p): C⁻¹
    plain: bool = False  # whether C is the identity and μ₀ zero: features are white as they stand

    @property
    def q(self) -> int:
        return self.mean.shape[1] - self.below

    @property
    def sound(self) -> BoolArray:
        return np.asarray(np.isfinite(self.inverse).all(axis=(1, 2)))

    @property
    def formed(self) -> FormedWhitening:
        return self

    @property
    def kernel(self) -> None:
        """Features that can be held need none."""

    def rows(self, x: Array, features: Array | None = None) -> Array:
        p = self.mean.shape[1]
        return self.of_features(
            _stacked(self.features, x) if features is None else features[..., :p]
        )

    def of_features(self, phi: Array) -> Array:
        """ζ from features (B, n, p); in memory one feature after the other, as the sums like it."""
        if self.plain:
            return phi
        columns = self.inverse @ np.swapaxes(phi, 1, 2)
        columns -= self.inverse @ self.mean[:, :, None]
        return np.swapaxes(columns, 1, 2)

    def score(self, moments: MomentStack) -> Array:
        zeta = self.of_features(moments.features[:, None, : self.mean.shape[1]])
        return _squares(zeta[:, 0, self.below :])


@dataclass(frozen=True, slots=True)
class ReferenceWhitening:
    """Under the reference law, where features are white as they stand and no matrix is needed."""

    features: Features
    q: int
    count: int  # B

    @property
    def below(self) -> int:
        return 0

    @property
    def sound(self) -> BoolArray:
        return np.ones(self.count, dtype=np.bool_)

    @property
    def formed(self) -> FormedWhitening:
        eye = np.broadcast_to(np.eye(self.q), (self.count, self.q, self.q))
        return FormedWhitening(self.features, 0, np.zeros((self.count, self.q)), eye, plain=True)

    @property
    def kernel(self) -> ProductKernel:
        """Products of the features themselves: nothing below is estimated."""
        return _FeatureKernel(self.features, self.q)

    def rows(self, x: Array, features: Array | None = None) -> Array:
        return _stacked(self.features, x) if features is None else features[..., : self.q]

    def score(self, moments: MomentStack) -> Array:
        return _squares(moments.features[:, : self.q])


@dataclass(frozen=True, slots=True)
class _FeatureKernel:
    """Features that are white as they stand, with no level below."""

    features: Features
    q: int

    @property
    def alone(self) -> None:
        """No feature stands out."""

    @property
    def curvature(self) -> tuple[float, float]:
        return 0.0, 0.0

    def parts(self, x: Array) -> Array:
        return np.asarray(self.features(x))

    def squares(self, rows: Array) -> Array:
        return _squares(rows)

    def gram(self, rows: Array) -> Array:
        return np.asarray(rows @ rows.T)

    def sums(self, rows: Array, weights: Array, starts: IntArray) -> Array:
        return np.asarray(np.add.reduceat(weights[:, None] * rows, starts))

    def most_units(self, rows_per_unit: float) -> int:
        return max(2, _HELD // self.q)

    def below(self, rows: Array) -> Array:
        return rows[:, :0]

    def curved(self, rows: Array, v: Array) -> Array:
        return np.zeros(len(rows))


def formed_whitening(
    family: LogPartition, features: Features, below: Array, *, white_reference: bool = True
) -> Whitening:
    """White features of ``family`` under the fits ``below`` (B, q_below) of the level below.

    For any family that forms its covariance: `Family.whitening` in one line. ``features`` gives
    all features of the level; ``below`` has no columns where the level below is the reference
    law, and is padded with zeros otherwise, since the reduced fits are laws of the family too.
    Features of a hierarchy with another `basis_lam` are not white under the reference law.
    """
    count, lower = below.shape
    if not lower and white_reference:
        return ReferenceWhitening(features, family.q, count)
    padded = np.zeros((count, family.q))
    padded[:, :lower] = below
    _, mean, covariance = family.log_partition(padded)
    return FormedWhitening(features, lower, mean, inverse_roots(covariance))


def _stacked(features: Features, x: Array) -> Array:
    """Features of samples (B, n, d): (B, n, p)."""
    count, n, d = x.shape
    phi = np.asarray(features(x.reshape(-1, d)))
    return phi.reshape(count, n, phi.shape[1])


def _squares(values: Array) -> Array:
    return np.asarray(np.einsum("bq,bq->b", values, values))


def inverse_roots(covariance: Array) -> Array:
    """C⁻¹ of J = C Cᵀ for a stack (B, p, p); NaN where J is singular to rounding."""
    try:
        root = np.linalg.cholesky(covariance)
        diagonal = np.diagonal(root, axis1=1, axis2=2)
        singular = diagonal.min(axis=1) < COLLINEAR_FACTOR * diagonal.max(axis=1)
        inverse = np.tril(np.linalg.inv(root))
        inverse[singular] = np.nan
        return inverse
    except np.linalg.LinAlgError:
        if len(covariance) == 1:
            return np.full_like(covariance, np.nan)
        return np.concatenate([inverse_roots(one[None]) for one in covariance])
