"""Stacks of moments: B weighted samples at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, IntArray


@dataclass(frozen=True, slots=True)
class MomentStack:
    """Normalised moments of B weighted samples, as the families want them."""

    features: Array  # (B, q): E φ, constant left out, at least to the top level
    mean: Array  # (B, d): E x
    scatter: Array  # (B, d, d): centred second moment E (x - m)(x - m)ᵀ
    sought: bool = True  # whether a row that no shared rule resolves is worth a search of its own

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
        return cls(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.mean for part in parts]),
            np.concatenate([part.scatter for part in parts]),
        )

    def take(self, rows: IntArray) -> MomentStack:
        parts = self.features[rows], self.mean[rows], self.scatter[rows]
        return MomentStack(*parts, sought=self.sought)

    def unsought(self) -> MomentStack:
        """The same of replicates: a row that takes a search of its own is left unresolved."""
        return MomentStack(self.features, self.mean, self.scatter, sought=False)


Support = Callable[[int], tuple[Array, Array]]
"""Row of a stack → its distinct directions (n, d) and their weights (n,) of sum one."""


def centred_moments(x: Array, weights: Array) -> tuple[Array, Array]:
    """E x (B, d) and E (x - m)(x - m)ᵀ of samples (B, n, d) with weights (B, n) of sum one."""
    mean = (weights[:, None, :] @ x)[:, 0, :]
    away = x - mean[:, None, :]
    return mean, np.swapaxes(away, 1, 2) @ (weights[:, :, None] * away)


def support_of_rows(support: Support | None, rows: IntArray) -> Support | None:
    """The support of some ``rows`` of a stack, by their place among them."""
    return None if support is None else lambda place: support(int(rows[place]))


def support_of_one(support: Callable[[], tuple[Array, Array]]) -> Support:
    """The support of a stack of one sample, from what gives that of the sample."""
    return lambda _row: support()
