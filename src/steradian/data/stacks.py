"""Stacks of moments: B weighted samples at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.spaces import Space
from steradian.spaces.uniform_law import uniform_moments


@dataclass(frozen=True, slots=True)
class MomentStack:
    """Normalised moments of B weighted samples, as the families want them."""

    features: Array  # (B, q): E φ, constant left out, at least to the top level
    mean: Array  # (B, d): E x
    scatter: Array  # (B, d, d): centred second moment E (x - m)(x - m)ᵀ

    def __len__(self) -> int:
        return len(self.mean)

    def toward_uniform(self, epsilon: float, space: Space) -> MomentStack:
        """Moments of (1 - ε) P + ε ν, with the uniform law ν of ``space``."""
        centre, scatter = uniform_moments(space)
        kept = 1.0 - epsilon
        away = self.mean - centre
        outer = away[:, :, None] * away[:, None, :]
        mixed = kept * self.scatter + epsilon * kept * outer + epsilon * scatter
        return MomentStack(kept * self.features, kept * self.mean + epsilon * centre, mixed)

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


def centred_moments(x: Array, weights: Array) -> tuple[Array, Array]:
    """E x (B, d) and E (x - m)(x - m)ᵀ of samples (B, n, d) with weights (B, n) of sum one."""
    mean = (weights[:, None, :] @ x)[:, 0, :]
    away = x - mean[:, None, :]
    return mean, np.swapaxes(away, 1, 2) @ (weights[:, :, None] * away)
