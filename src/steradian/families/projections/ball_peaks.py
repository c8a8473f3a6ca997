"""Peaks of a law on the ball between the nodes of a rule, which two rules may miss alike.

Far from the data a polynomial may rise again, to a mode much narrower than the nodes there are
apart. The exponent is smooth: climbing from many places finds where it is highest.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.ascent import climbed
from steradian.numerics.balls.hemisphere_frame import Frame, log_density
from steradian.numerics.tolerances import BALL_EDGE, HEAVY_MASS

_STARTS = {1: 400, 2: 40, 3: 14}  # angles from which peaks are climbed, in each of two frames
_PEAKS = 24  # the highest of them
_REACH = 0.25  # of the first steps, over the way to the edge
_TOGETHER = 64  # laws that climb side by side
_SEEN = 3.0  # nats below a peak at which a node still sees it


@dataclass(frozen=True, slots=True)
class Heights:
    """Log-densities of some laws of the angles of a frame, but for their ψ."""

    frame: Frame
    d: int
    features: Callable[[Array], Array]  # of coordinates (n, k): (n, q)
    lam: Array  # (B, q)

    def everywhere(self, angles: Array) -> Array:
        """Of every law at angles (n, k): (B, n)."""
        seen = self.frame.at(angles)
        return np.asarray(self.lam @ self.features(seen.y).T + log_density(seen, self.d))

    def of(self, rows: IntArray, angles: Array) -> Array:
        """Of the laws ``rows`` (n,), each at one of the angles (n, k): (n,)."""
        seen = self.frame.at(angles)
        exponent = np.einsum("nq,nq->n", self.features(seen.y), self.lam[rows])
        return np.asarray(exponent + log_density(seen, self.d))


def hidden_ball_peaks(heights: Heights, counts: IntArray, psi: Array) -> BoolArray:
    """Which laws have a mode that may be felt between the nodes of their rule, (B,).

    ``counts`` (B,) nodes lie in each interval of the frame, and exp(height - psi) has integral
    one. A peak as wide as the nodes are apart would hold its height times their cell.
    """
    found = np.zeros(len(psi), dtype=bool)
    for first in range(0, len(psi), _TOGETHER):
        part = slice(first, first + _TOGETHER)
        some = Heights(heights.frame, heights.d, heights.features, heights.lam[part])
        found[part] = _hidden(some, counts[part], psi[part])
    return found


def _hidden(heights: Heights, counts: IntArray, psi: Array) -> BoolArray:
    spots, values, rows = _tops_of(heights)
    near, cell = np.empty_like(spots), np.zeros(len(spots))
    for count in np.unique(counts):
        mine = np.flatnonzero(counts[rows] == count)
        for k, at in enumerate(heights.frame.axis_nodes(int(count))):
            here = spots[mine, k]
            which = np.clip(np.searchsorted(at, here), 1, len(at) - 1)
            left, right = at[which - 1], at[which]
            near[mine, k] = np.where(here - left < right - here, left, right)
            cell[mine] += np.log(right - left)
    missed = values - heights.of(rows, near) > _SEEN
    felt = missed & (values + cell - psi[rows] > np.log(HEAVY_MASS))
    out = np.zeros(len(psi), dtype=bool)
    out[rows[felt]] = True
    return out


def _starts(frame: Frame) -> tuple[Array, int]:
    """Angles from which peaks are climbed, even ones in the frame and then in the whole ball."""
    k, count = frame.k, _STARTS[frame.k]
    even = np.pi * ((np.arange(count) + 0.5) / count - 0.5)
    grid = np.stack(np.meshgrid(*[even] * k, indexing="ij"), axis=-1).reshape(-1, k)
    whole = Frame.of(np.zeros(k), np.eye(k)).at(grid)
    starts = np.concatenate([grid, frame.angles(whole.y, whole.z)])
    return _within(starts), count


def _tops_of(heights: Heights) -> tuple[Array, Array, IntArray]:
    """Angles of the highest places of each law that are reached from many starts, and of which.

    All laws climb side by side: (n, k), their heights (n,) and the laws (n,).
    """
    k = heights.frame.k
    starts, count = _starts(heights.frame)
    half = len(starts) // 2
    chosen = []
    for row, values in enumerate(heights.everywhere(starts)):
        first = np.concatenate([_tops(values[:half], count, k),
                                half + _tops(values[half:], count, k)])  # fmt: skip
        best = first[np.argsort(-values[first])[:_PEAKS]]
        chosen.append((starts[best], values[best], np.full(len(best), row)))
    spots, values, rows = (np.concatenate(part) for part in zip(*chosen, strict=True))
    reach = _REACH * (0.5 * np.pi - np.abs(spots).max(axis=1))

    def climbing(angles: Array, which: IntArray) -> Array:
        owners = np.repeat(rows[which], angles.shape[1])
        return heights.of(owners, angles.reshape(-1, k)).reshape(angles.shape[:2])

    spots, values = climbed(climbing, _within, spots, k, reach)
    return spots, values, rows


def _within(angles: Array) -> Array:
    return np.clip(angles, BALL_EDGE - 0.5 * np.pi, 0.5 * np.pi - BALL_EDGE)


def _tops(values: Array, count: int, k: int) -> IntArray:
    """Which of a grid of values are no lower than their neighbours along every axis."""
    block = values.reshape((count,) * k)
    top = np.ones(block.shape, dtype=bool)
    for axis in range(k):
        moved, mark = np.moveaxis(block, axis, 0), np.moveaxis(top, axis, 0)
        mark[1:] &= moved[1:] >= moved[:-1]
        mark[:-1] &= moved[:-1] >= moved[1:]
    return np.flatnonzero(top)
