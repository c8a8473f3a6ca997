"""Draws by rejection from a density that is bounded by a constant on each of many boxes.

Boxes are cut until most proposals are kept; whoever bounds the density says how.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray

_LOOSE = 0.35  # nats by which a bound may exceed the mean density of its box
_LIGHT = 0.02  # of the mean mass of a box: lighter ones stay as they are
_REST = 0.05  # share of the mass that may stay loose
_QUARTERS = np.array([[0.25, 0.25], [0.25, 0.75], [0.75, 0.25], [0.75, 0.75]])


@dataclass(frozen=True, slots=True)
class Boxes:
    """Rectangles in two coordinates."""

    low: Array  # (k, 2)
    size: Array  # (k, 2)

    def __len__(self) -> int:
        return len(self.low)

    def take(self, which: BoolArray | slice) -> Boxes:
        return Boxes(self.low[which], self.size[which])

    def followed_by(self, other: Boxes) -> Boxes:
        return Boxes(np.concatenate([self.low, other.low]), np.concatenate([self.size, other.size]))

    def quarter_points(self) -> Array:
        """The middles of the four quarters of each box, (k, 4, 2)."""
        return self.low[:, None, :] + self.size[:, None, :] * _QUARTERS

    def halved(self, along: IntArray) -> tuple[Boxes, Boxes]:
        """The lower and the upper half of each box, cut along the side ``along`` (k,)."""
        rows = np.arange(len(self))
        size = self.size.copy()
        size[rows, along] *= 0.5
        high = self.low.copy()
        high[rows, along] += size[rows, along]
        return Boxes(self.low, size), Boxes(high, size)


def envelope_mass(volume: Array, bound: Array) -> Array:
    """Of the envelope on each box, the heaviest one."""
    log = np.log(volume) + bound
    return np.asarray(np.exp(log - log.max()))


def boxes_to_cut(mass: Array, kept: Array) -> BoolArray:
    """Which boxes keep too small a share ``kept`` of their proposals; none once that is rare."""
    loose = kept < math.exp(-_LOOSE)
    cut = loose & (mass > _LIGHT * mass.mean())
    if mass[loose].sum() < _REST * mass.sum():
        cut[:] = False
    return np.asarray(cut)
