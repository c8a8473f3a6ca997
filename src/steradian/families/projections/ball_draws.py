"""Exact draws of a law on the ball, by rejection from constants on boxes of the angles."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from steradian.errors import ResolutionError
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.balls.hemisphere_frame import Frame, FramePoints, log_density
from steradian.numerics.rejection import BoundExceeded, draws_of_boxes
from steradian.numerics.tolerances import BALL_EDGE

_CLEARANCE = 0.05  # nats above what the values on a box and their second differences tell
_LARGEST_BEND = 40.0  # second difference that belongs to the edge of the ball, where p vanishes
_UNFELT = 60.0  # nats below the highest box: no draw would come from there
_BATCH = 1 << 16
_RAISED = 8  # times that a proposal may exceed its box before the law is said to be too sharp


@dataclass(slots=True)
class BallEnvelope:
    """Constants above exp(f + log density of the angles) on boxes of a frame."""

    exponent: Callable[[Array], Array]
    frame: Frame
    d: int
    level: int
    width: float
    boxes: IntArray  # (m, k): those that may be felt
    ceiling: Array  # (m,)

    @classmethod
    def of(
        cls, exponent: Callable[[Array], Array], frame: Frame, d: int, *, level: int, boxes: int
    ) -> BallEnvelope:
        """For p ∝ exp(exponent(y)) as ``frame`` shows it, so many boxes for each angle.

        Values at corners and between them are off from the highest by an eighth of their second
        differences at most where those hardly change; draws notice where they do.
        """
        k = frame.k
        edges = np.pi * (np.arange(2 * boxes + 1) / (2.0 * boxes) - 0.5)
        edges[[0, -1]] *= 1.0 - BALL_EDGE
        angles = np.stack(np.meshgrid(*[edges] * k, indexing="ij"), axis=-1).reshape(-1, k)
        values = _heights(exponent, frame.at(angles), d).reshape((len(edges),) * k)
        reach = _largest(values, range(k)) + _CLEARANCE
        for axis in range(k):
            first, middle, last = _thirds(values, axis)
            bend = np.minimum(np.abs(first - 2.0 * middle + last), _LARGEST_BEND)
            reach += 0.125 * _largest(bend, [j for j in range(k) if j != axis])
        felt = np.argwhere(reach > reach.max() - _UNFELT)
        return cls(exponent, frame, d, level, np.pi / boxes, felt, reach[tuple(felt.T)])

    def draws(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Y (n, k) and z (n,)."""
        for _ in range(_RAISED):
            room = np.exp(self.ceiling - self.ceiling.max())
            try:
                found = draws_of_boxes(
                    room, lambda which: self._kept(which, rng), n, rng, batch=_BATCH
                )[0]
            except BoundExceeded:
                continue
            return found[:, :-1], found[:, -1]
        cause = "is too sharp to draw from: boxes do not follow its density"
        raise ResolutionError(self.level, cause, "draw from a lower level")

    def _kept(self, which: IntArray, rng: np.random.Generator) -> Array:
        """Y and z (m, k + 1) of those kept; a box below a proposal is raised."""
        spot = self.boxes[which] + rng.random((len(which), self.frame.k))
        points = self.frame.at(self.width * spot - 0.5 * np.pi)
        height = _heights(self.exponent, points, self.d)
        above = height - self.ceiling[which]
        if above.max() > 0.0:
            np.maximum.at(self.ceiling, which, height + _CLEARANCE)
            raise BoundExceeded
        good = np.log(rng.random(len(which))) < above
        return np.column_stack([points.y[good], points.z[good]])


def _thirds(values: Array, axis: int) -> tuple[Array, Array, Array]:
    """First corner, middle and last corner of every box along an axis."""
    moved = np.moveaxis(values, axis, 0)
    parts = moved[:-2:2], moved[1:-1:2], moved[2::2]
    first, middle, last = (np.moveaxis(part, 0, axis) for part in parts)
    return first, middle, last


def _largest(values: Array, over: Iterable[int]) -> Array:
    """The largest of the three values of every box along each of some axes."""
    for axis in over:
        first, middle, last = _thirds(values, axis)
        values = np.maximum(np.maximum(first, middle), last)
    return values


def _heights(exponent: Callable[[Array], Array], points: FramePoints, d: int) -> Array:
    return exponent(points.y) + log_density(points, d)
