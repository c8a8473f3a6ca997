"""The circle cut into arcs, each with its own Gauss rule.

The one-dimensional companion of `cells`. Angles are counted from the nearer of the two ends of
the last axis, so that arcs however short keep all their digits at both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.spaces.cells import gauss_legendre

_HALVES = np.array([-0.5, 0.5])


@dataclass(frozen=True, slots=True)
class Arcs:
    """Arcs of the circle."""

    end: IntArray  # (k,): 0 about the last axis, 1 about its opposite
    centre: Array  # (k,): angle from that end
    half: Array  # (k,): half the length

    @classmethod
    def covering(cls, per_end: int) -> Arcs:
        """``per_end`` arcs about each end."""
        middle = 0.5 * np.pi * ((2.0 * np.arange(per_end) + 1.0) / per_end - 1.0)
        half = np.full(2 * per_end, 0.5 * np.pi / per_end)
        return cls(np.repeat([0, 1], per_end), np.tile(middle, 2), half)

    def __len__(self) -> int:
        return len(self.end)

    def take(self, which: IntArray | BoolArray | slice) -> Arcs:
        return Arcs(self.end[which], self.centre[which], self.half[which])

    def followed_by(self, more: Arcs) -> Arcs:
        return Arcs(
            np.concatenate([self.end, more.end]),
            np.concatenate([self.centre, more.centre]),
            np.concatenate([self.half, more.half]),
        )

    def parts(self) -> Arcs:
        """The two halves of each arc, those of one arc next to each other."""
        centre = self.centre[:, None] + self.half[:, None] * _HALVES
        return Arcs(np.repeat(self.end, 2), centre.ravel(), np.repeat(0.5 * self.half, 2))

    def halves(self) -> Arcs:
        """An arc has one side."""
        return self.parts()

    def cut(self, along: BoolArray) -> tuple[Arcs, IntArray]:
        """All parts, whatever the sides ``along`` which a law is steep; and which each is of."""
        return self.parts(), np.repeat(np.arange(len(along)), 2)

    def areas(self) -> Array:
        """Lengths, (k,)."""
        return 2.0 * self.half

    def draws(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A uniform point (k, 2) of each, and its arc element (k,), which is one."""
        angle = self.centre + self.half * rng.uniform(-1.0, 1.0, len(self))
        return self._points(angle[:, None])[:, 0], np.ones(len(self))

    def points_at(self, spots: Array) -> Array:
        """Unit vectors (k, s, 2) at ``spots`` (k, s, 1) from -1 to 1."""
        return self._points(self.centre[:, None] + self.half[:, None] * spots[:, :, 0])

    def _points(self, angle: Array) -> Array:
        """Unit vectors (k, m, 2) at angles (k, m) from the ends."""
        sign = np.where(self.end == 0, 1.0, -1.0)[:, None]
        return np.stack([np.sin(angle), sign * np.cos(angle)], axis=2)

    def nodes(self) -> tuple[Array, Array]:
        """Nodes as unit vectors (k, ORDER, 2), and their weights (k, ORDER) of sum one."""
        at, weight = gauss_legendre()
        angle = self.centre[:, None] + self.half[:, None] * at
        return self._points(angle), np.outer(self.half, weight) / (2.0 * np.pi)
