"""Peaks of a law on the ball between the nodes of a rule, which two rules may miss alike.

Far from the data a polynomial may rise again, to a mode much narrower than the nodes there are
apart. The exponent is smooth: climbing from many places finds where it is highest.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.hemisphere_frame import Frame
from steradian.numerics.tolerances import BALL_EDGE, HEAVY_MASS

Height = Callable[[Array], Array]
"""Log-density at angles (n, k) of a frame, up to a constant: (n,)."""

_STARTS = {1: 400, 2: 40, 3: 14}  # angles from which peaks are climbed, in each of two frames
_PEAKS = 24  # the highest of them
_CLIMBED, _SHORTER, _STEP = 70, 0.5, 0.25  # steps, and their length over the way to the edge
_SEEN = 3.0  # nats below a peak at which a node still sees it


def hidden_peak(frame: Frame, count: int, height: Height, psi: float) -> bool:
    """Whether a mode of the law that may be felt lies between the nodes of a rule.

    ``count`` nodes lie in each interval of the frame, and exp(height - psi) has integral one. A
    peak as wide as the nodes are apart would hold its height times their cell.
    """
    spots, values = _climbed(frame, height)
    axes = frame.axis_nodes(count)
    near, cell = np.empty_like(spots), np.zeros(len(spots))
    for k, at in enumerate(axes):
        which = np.clip(np.searchsorted(at, spots[:, k]), 1, len(at) - 1)
        left, right = at[which - 1], at[which]
        near[:, k] = np.where(spots[:, k] - left < right - spots[:, k], left, right)
        cell += np.log(right - left)
    missed = values - height(near) > _SEEN
    return bool((missed & (values + cell - psi > np.log(HEAVY_MASS))).any())


def _climbed(frame: Frame, height: Height) -> tuple[Array, Array]:
    """Angles of the highest places that are reached from many starts, and their heights."""
    k, count = frame.k, _STARTS[frame.k]
    even = np.pi * ((np.arange(count) + 0.5) / count - 0.5)
    grid = np.stack(np.meshgrid(*[even] * k, indexing="ij"), axis=-1).reshape(-1, k)
    whole = Frame.of(np.zeros(k), np.eye(k)).at(grid)
    starts = np.concatenate([grid, frame.angles(whole.y, whole.z)])
    starts = np.clip(starts, BALL_EDGE - 0.5 * np.pi, 0.5 * np.pi - BALL_EDGE)
    values = height(starts)
    first = np.concatenate([_tops(values[: len(grid)], count, k),
                            len(grid) + _tops(values[len(grid) :], count, k)])  # fmt: skip
    best = first[np.argsort(-values[first])[:_PEAKS]]
    spots, values = starts[best], values[best]
    step = _STEP * (0.5 * np.pi - np.abs(spots).max(axis=1))
    around = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * k, indexing="ij"), axis=-1).reshape(-1, k)
    for _ in range(_CLIMBED):
        trial = spots[:, None, :] + step[:, None, None] * around
        trial = np.clip(trial, BALL_EDGE - 0.5 * np.pi, 0.5 * np.pi - BALL_EDGE)
        seen = height(trial.reshape(-1, k)).reshape(len(spots), -1)
        top = np.argmax(seen, axis=1)
        rows = np.arange(len(spots))
        better = seen[rows, top] > values
        spots = np.where(better[:, None], trial[rows, top], spots)
        values = np.where(better, seen[rows, top], values)
        step = np.where(better, step, _SHORTER * step)
    return spots, values


def _tops(values: Array, count: int, k: int) -> IntArray:
    """Which of a grid of values are no lower than their neighbours along every axis."""
    block = values.reshape((count,) * k)
    top = np.ones(block.shape, dtype=bool)
    for axis in range(k):
        moved, mark = np.moveaxis(block, axis, 0), np.moveaxis(top, axis, 0)
        mark[1:] &= moved[1:] >= moved[:-1]
        mark[:-1] &= moved[:-1] >= moved[1:]
    return np.flatnonzero(top)
