"""The two seams: a `Hierarchy` of features and the `Family` of each of its levels."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Protocol

import numpy as np

from steradian.dual import DualSolution
from steradian.hierarchies.certificate import Certificate
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.spaces import Space


class Verdict(IntEnum):
    """Where moments lie relative to the moment body."""

    OUTSIDE = -1  # on the boundary (or beyond it): no finite fit
    UNSURE = 0  # closer to the boundary than rounding of the moments can tell
    INSIDE = 1


@dataclass(frozen=True, slots=True)
class Placement:
    """The exact verdict on a support; when there is no fit, why in words and as a function."""

    verdict: Verdict
    words: str = ""
    certificate: Certificate | None = None


@dataclass(frozen=True, slots=True)
class MomentStack:
    """Normalised moments of B weighted samples, as the families want them."""

    features: Array  # (B, q): E φ, constant left out, at least to the top level
    mean: Array  # (B, d): E x
    scatter: Array  # (B, d, d): centred second moment E (x - m)(x - m)ᵀ

    def __len__(self) -> int:
        return len(self.mean)

    def toward_uniform(self, epsilon: float) -> MomentStack:
        """Moments of (1 - ε) P + ε ν."""
        d = self.mean.shape[1]
        kept = 1.0 - epsilon
        outer = self.mean[:, :, None] * self.mean[:, None, :]
        scatter = kept * self.scatter + epsilon * kept * outer + epsilon * np.eye(d) / d
        return MomentStack(kept * self.features, kept * self.mean, scatter)

    def toward(self, other: MomentStack, epsilon: float) -> MomentStack:
        """Moments of (1 - ε) P + ε Q for a law Q of the same mean."""
        kept = 1.0 - epsilon
        return MomentStack(
            kept * self.features[:, : other.features.shape[1]] + epsilon * other.features,
            self.mean,
            kept * self.scatter + epsilon * other.scatter,
        )

    def with_rows(self, rows: IntArray, part: MomentStack) -> MomentStack:
        """A copy in which ``rows`` are those of ``part``, with as many features as it has."""
        features = self.features[:, : part.features.shape[1]].copy()
        copies = features, self.mean.copy(), self.scatter.copy()
        for whole, new in zip(copies, (part.features, part.mean, part.scatter), strict=True):
            whole[rows] = new
        return MomentStack(*copies)

    @classmethod
    def concatenated(cls, parts: Sequence[MomentStack]) -> MomentStack:
        """One stack of several."""
        names = ("features", "mean", "scatter")
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    def take(self, rows: IntArray) -> MomentStack:
        return MomentStack(self.features[rows], self.mean[rows], self.scatter[rows])


Support = Callable[[int], tuple[Array, Array]]
"""Row of a stack → its distinct directions (n, d) and their weights (n,) of sum one."""


class Law(Protocol):
    """One law of a family, ready for densities and draws."""

    def logpdf(self, x: Array) -> Array:
        """Log-density at unit vectors ``x`` (n, d): (n,)."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d)."""
        ...


class Family(Protocol):
    """The exponential family of one level; everything takes and gives stacks."""

    @property
    def q(self) -> int:
        """Number of features."""
        ...

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of the features at ``lam`` (B, q)."""
        ...

    def contains(self, moments: MomentStack) -> IntArray:
        """A `Verdict` per row, from the moments alone."""
        ...

    @property
    def needs_support(self) -> bool:
        """Whether the moments alone may miss a boundary that the support shows."""
        ...

    def examine(self, x: Array, weights: Array) -> Placement:
        """The exact verdict for distinct directions ``x`` (n, d) of positive ``weights``."""
        ...

    def exponent(self, x: Array, lam: Array) -> Array:
        """λ·φ(x) of one law ``lam`` (q,) at ``x`` (n, d): (n,)."""
        ...

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws from one law ``lam`` (q,): (n, d)."""
        ...

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Natural parameters of the rows of ``moments``, from ``start`` (B, q).

        ``support`` gives the directions behind a row, for those that moments do not determine.
        """
        ...


class Hierarchy(Protocol):
    """Nested spaces of mean-zero features V_1 ⊂ V_2 ⊂ … on one space."""

    @property
    def space(self) -> Space:
        """Where the directions live."""
        ...

    @property
    def levels(self) -> int:
        """Number of levels."""
        ...

    @property
    def dims(self) -> tuple[int, ...]:
        """Features added by each level, q_l - q_{l-1}."""
        ...

    def features(self, x: AnyArray) -> AnyArray:
        """All features of all levels at ``x`` (n, d): (n, q_L), lowest level first."""
        ...

    def sums(self, x: Array, weights: Array | None) -> Array:
        """Σ_i w_i φ(x_i) of everything a `Moments` of this hierarchy holds, constant left out.

        Without ``weights`` each is one.
        """
        ...

    def law(self, level: int, lam: Array, psi: float) -> Law:
        """The law exp(lam · φ - psi) of one level, ``lam`` (q,)."""
        ...

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        """Moments of the fits ``lam`` (B, q) of any one level with means ``mean`` (B, d)."""
        ...

    def family(self, level: int) -> Family:
        """The exponential family of one level, 1 <= level <= levels."""
        ...
