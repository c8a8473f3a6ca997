"""Laws of a few coordinates of unit vectors, in any dimension: integrals over a ball.

Rules lie in a `Frame` that shows the law at hand as one of order one, whatever its place and size;
a fit found on one is verified on the next, as on any nodes.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.ball import examine_in_ball, moments_in_ball
from steradian.existence.placement import Placement
from steradian.families.nodes.family import NodeFamily
from steradian.families.nodes.rules import MOST_ENTRIES, Nodes
from steradian.families.projections.ball_draws import BallEnvelope
from steradian.families.projections.ball_peaks import Heights, hidden_ball_peaks
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.balls.hemisphere_frame import (
    Frame,
    FramePoints,
    frame_of_moments,
    frame_rule,
)
from steradian.numerics.tolerances import VERIFIED_DIFFERENCE

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy
    from steradian.hierarchies.low_rank import LowRank

_FIRST = 24  # nodes for each angle of the first rule; half as many more in every other that follows
_RATIO = np.sqrt(2.0)
_RULES = {1: 14, 2: 10, 3: 6}  # for the number of angles
_LOOKED_AT = {1: 4000, 2: 240, 3: 56}  # angles at which windows are looked for, twice
_BOXES = {1: 12, 2: 3, 3: 1}  # of an angle that draws are taken from, over a third of the nodes
_ZOOMS = 30  # frames tried before one is good enough
_GOOD = 0.25  # by which a frame may differ from the best for one law,
_SHARED = 0.7  # and for others that are integrated with it
_AGAIN = 5  # times that a law is looked at in a frame of its own,
_FOLLOWED = 1.0  # unless rules differ by so many nats about it: then there is none to follow
_FARTHER = 100.0  # or it misses the moments by so much more than before
_MOST_FOLLOWED = 240  # steps of a fit in all frames, after which no other is tried
_NARROW = 0.1  # standard deviation of rows that are one cluster of the ball


@dataclass(frozen=True, slots=True)
class LowRankFamily(NodeFamily):
    """p ∝ exp(λ·φ(y)), φ the polynomials of degree 1..level of k coordinates y."""

    hierarchy: LowRank
    level: int
    frame: Frame | None = None  # that of the laws at hand, where it is known

    @property
    def needs_support(self) -> bool:
        """Means and covariances tell all of two levels."""
        return self.level > 2

    @property
    def examines_quickly(self) -> bool:
        return True

    # --- rules ----------------------------------------------------------------------------

    @property
    def _first(self) -> int:
        return 0

    @property
    def _rungs(self) -> int:
        frame, most = self._frame, MOST_ENTRIES // (self.q + self.hierarchy.k)
        return max(2, sum(frame.count(_size(rung)) <= most for rung in range(_RULES[frame.k])))

    def _count(self, rung: int) -> int:
        return self._frame.count(_size(rung))

    def _nodes(self, rung: int) -> Nodes:
        return framed_nodes(self.hierarchy, self.level, self._frame, rung)

    @property
    def _frame(self) -> Frame:
        return self.frame or self.hierarchy.plain_frame

    def _in(self, frame: Frame) -> LowRankFamily:
        return replace(self, frame=frame)

    def _own(self, lam: Array) -> LowRankFamily:
        """The same in the frame of one law ``lam`` (q,)."""
        return self if self.frame else self._in(frame_of_law(self.hierarchy, self.level, *lam))

    def _frames(self, lam: Array) -> list[tuple[Frame, IntArray]]:
        """Frames for the laws ``lam`` (B, q), each with the rows that it is good for."""
        if self.frame is not None:
            return [(self.frame, np.arange(len(lam)))]
        out, left = [], np.arange(len(lam))
        while len(left):
            frame = frame_of_law(self.hierarchy, self.level, *lam[left[0]])
            good = self._in(frame).shows(lam[left])
            good[0] = True
            out.append((frame, left[good]))
            left = left[~good]
        return out

    def windows_of(self, lam: Array) -> Frame:
        """The frame with windows for one law ``lam`` (q,)."""
        frame = replace(self._frame, windows=())
        heights = self._in(frame)._heights(lam[None])
        for _ in range(2):
            frame = frame.windowed(
                lambda angles: heights.everywhere(angles)[0], _LOOKED_AT[frame.k]
            )
        return frame

    def shows(self, lam: Array) -> BoolArray:
        """Whether the laws ``lam`` (B, q) are of order one in the frame, (B,)."""
        return np.array([self._step(row)[1] < _SHARED for row in lam])

    def _step(self, lam: Array) -> tuple[Frame, float]:
        """The frame that one law asks for as this one shows it, and by how much they differ."""
        nodes = self._nodes(0)
        mass = nodes.masses(lam[None])[1][0]
        points = _seen(self._frame, 0, self.hierarchy.d)[0]
        seen = np.column_stack([points.z, points.inner])
        mean = mass @ seen
        away = seen - mean
        return self._frame.followed(mean, away.T @ (mass[:, None] * away))

    # --- integrals ------------------------------------------------------------------------

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        count, q = lam.shape
        psi, mean, covariance = np.empty(count), np.empty((count, q)), np.empty((count, q, q))
        for frame, rows in self._frames(lam):
            part = NodeFamily.log_partition(self._in(frame), lam[rows])
            psi[rows], mean[rows], covariance[rows] = part
        return psi, mean, covariance

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        out = np.empty((len(lam), wide.q(wide.levels)))
        for frame, rows in self._frames(lam):
            own = self._in(frame)
            nodes = own._nodes(own._resolving(lam[rows]))
            values = wide.of_coordinates(nodes.points)  # type: ignore[attr-defined]
            for part in nodes.blocks(len(rows)):
                out[rows[part]] = nodes.masses(lam[rows[part]])[1] @ values
        return out

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes with one direction across the subspace: good for functions of y, and no others."""
        points, mass = self._felt(lam)
        hierarchy = self.hierarchy
        x = points.y @ hierarchy.axes.T + np.outer(points.z, hierarchy.across)
        return x, mass

    def _felt(self, lam: Array) -> tuple[FramePoints, Array]:
        """The points of a rule that carry one law, and what they carry."""
        own = self._own(lam)
        rung = own._resolving(lam[None])
        mass = own._nodes(rung).masses(lam[None])[1][0]
        felt = mass > 0.0
        points = _seen(own._frame, rung, self.hierarchy.d)[0]
        return points.take(felt), mass[felt]

    def covariance(self, lam: Array) -> tuple[Array, float]:
        """Of y under one law ``lam`` (q,), and the variance of each coordinate across."""
        points, mass = self._felt(lam)
        away = points.y - mass @ points.y
        rest = self.hierarchy.d - self.hierarchy.k
        return away.T @ (mass[:, None] * away), float(mass @ points.z**2) / rest

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        return NodeFamily.deficit_on(self._own(lam), reach, m, lam)

    # --- existence ------------------------------------------------------------------------

    def contains(self, moments: MomentStack) -> IntArray:
        """Two levels exactly, by mean and covariance of y; what higher ones need of the same."""
        m = self.hierarchy.expectations(moments, self.level)
        both = [self.hierarchy.second_of(row) for row in m]
        return np.array([moments_in_ball(mean, second) for mean, second in both], dtype=np.int64)

    def examine(self, x: Array, weights: Array) -> Placement:
        y = self.hierarchy.within(x)
        found, spread = examine_in_ball(y, self.level), float(y.std(axis=0).max())
        if found.words or spread > _NARROW:
            return found
        words = (
            f"the rows lie within {spread:.1g} of one point of the subspace; far from them a "
            f"polynomial of degree {self.level} may rise to a faint mode"
        )
        return replace(found, words=words)  # for where a fit is not found

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """As on any nodes, in frames that the moments tell, and once more in that of the fit."""
        m = self.hierarchy.expectations(moments, self.level)
        out = DualSolution.empty(len(m), self.q, Status.UNRESOLVED)
        for frame, rows in self._frames_for(m):
            part = NodeFamily.solve(self._in(frame), moments.take(rows), start[rows])
            out.put(rows, part)
            self._in(frame).refuse_hidden(out, rows)
        for row in np.flatnonzero(out.status != Status.CONVERGED):
            self._again(out, moments, int(row))
        return out

    def refuse_hidden(self, out: DualSolution, rows: IntArray) -> None:
        """Say of fits that have a mode between the nodes of their rule that they are unresolved."""
        found = rows[out.status[rows] == Status.CONVERGED]
        if not len(found):
            return
        counts = np.array([_size(int(rung)) for rung in out.rungs[found]])
        heights = self._heights(out.lam[found])
        hidden = found[hidden_ball_peaks(heights, counts, out.psi[found])]
        out.status[hidden], out.quadrature[hidden] = Status.UNRESOLVED, np.inf

    def _heights(self, lam: Array) -> Heights:
        """The log-densities of laws (B, q) of the angles of the frame, but for ψ."""
        features = self.hierarchy.up_to(self.level).of_coordinates
        return Heights(self._frame, self.hierarchy.d, features, lam)

    def _again(self, out: DualSolution, moments: MomentStack, row: int) -> None:
        """One row whose fit was not verified, in frames and windows that follow it."""
        one, frame = np.array([row]), self._frame
        for _ in range(_AGAIN):
            lam, missed = out.lam[row], float(out.residual[row])
            if not np.isfinite(lam).all() or out.steps[row] > _MOST_FOLLOWED:
                return
            new = windowed_frame(self.hierarchy, self.level, *lam)
            if frame.covers(new):
                return
            frame = new
            part = NodeFamily.solve(self._in(frame), moments.take(one), lam[None])
            part.steps[:] += out.steps[row]
            out.put(one, part)
            self._in(frame).refuse_hidden(out, one)
            if not (part.quadrature[0] < _FOLLOWED and part.residual[0] < _FARTHER * missed):
                return
            if out.status[row] == Status.CONVERGED:
                beyond = self._in(frame).windows_of(part.lam[0])
                if frame.covers(beyond):
                    return
                out.status[row] = Status.UNRESOLVED

    def _frames_for(self, m: Array) -> list[tuple[Frame, IntArray]]:
        """Frames for the fits to ``m`` (B, q), each with the rows that share it."""
        frames = [self._frame_for(row) for row in m]
        out, left = [], np.arange(len(m))
        while len(left):
            frame = frames[left[0]]
            good = np.array([frame.distance(frames[row]) < _SHARED for row in left])
            good[0] = True
            out.append((frame, left[good]))
            left = left[~good]
        return out

    def _frame_for(self, m: Array) -> Frame:
        mean, second = self.hierarchy.second_of(m)
        assert second is not None  # above level 1
        return frame_of_moments(mean, second)

    def _judge_rest(self, out: DualSolution, m: Array) -> None:
        """What no rule resolves is said to be that: `examine` knows what has no fit."""
        coarse = ~(out.quadrature <= self._allowed(VERIFIED_DIFFERENCE))
        out.status[coarse] = Status.UNRESOLVED

    # --- draws ----------------------------------------------------------------------------

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """Exact draws: y by rejection from constants on boxes of a frame, the rest is uniform."""
        own = self._own(lam)
        boxes = _size(own._resolving(lam[None])) * _BOXES[self.hierarchy.k] // 3
        envelope = ball_envelope(self.hierarchy, self.level, own._frame, boxes, *lam)
        y, z = envelope.draws(n, rng)
        return embedded(self.hierarchy.axes, y, z, rng)


def embedded(axes: Array, y: Array, z: Array, rng: np.random.Generator) -> Array:
    """Unit vectors (n, d) of coordinates y (n, k) along ``axes`` (d, k), of length z across them.

    Their direction across is uniform.
    """
    across = rng.standard_normal((len(y), len(axes)))
    for _ in range(2):  # what is nearly in the subspace loses digits
        across -= (across @ axes) @ axes.T
        across /= np.linalg.norm(across, axis=1, keepdims=True)
    return np.asarray(y @ axes.T + z[:, None] * across)


def _size(rung: int) -> int:
    return round(_FIRST * _RATIO**rung)


@lru_cache(maxsize=8)
def _seen(frame: Frame, rung: int, d: int) -> tuple[FramePoints, Array]:
    return frame_rule(frame, _size(rung), d)


@lru_cache(maxsize=6)
def framed_nodes(hierarchy: LowRank, level: int, frame: Frame, rung: int) -> Nodes:
    """The nodes of a rule in a frame, with the features of a level."""
    points, logs = _seen(frame, rung, hierarchy.d)
    phi = hierarchy.up_to(level).of_coordinates(points.y)
    return Nodes(points.y, np.exp(logs), phi, log_weights=logs)


@lru_cache(maxsize=64)
def frame_of_law(hierarchy: LowRank, level: int, *lam: float) -> Frame:
    """The frame of a law ``lam``, with windows where rules of all of it would not resolve it."""
    frame = _enlarged(hierarchy, level, *lam)
    try:
        LowRankFamily(hierarchy, level, frame=frame)._resolving(np.array(lam)[None])
    except ResolutionError:
        return windowed_frame(hierarchy, level, *lam)
    return frame


@lru_cache(maxsize=64)
def windowed_frame(hierarchy: LowRank, level: int, *lam: float) -> Frame:
    """The frame of a law ``lam`` with windows."""
    frame = _enlarged(hierarchy, level, *lam)
    return LowRankFamily(hierarchy, level, frame=frame).windows_of(np.array(lam))


def _enlarged(hierarchy: LowRank, level: int, *lam: float) -> Frame:
    """The frame that shows the law ``lam`` as one of order one, found step by step."""
    frame, row = hierarchy.plain_frame, np.array(lam)
    for _ in range(_ZOOMS):
        frame, away = LowRankFamily(hierarchy, level, frame=frame)._step(row)
        if away < _GOOD:
            break
    return frame


@lru_cache(maxsize=8)
def ball_envelope(
    hierarchy: LowRank, level: int, frame: Frame, boxes: int, *lam: float
) -> BallEnvelope:
    """What draws of y are taken from."""
    features, row = hierarchy.up_to(level).of_coordinates, np.array(lam)
    return BallEnvelope.of(
        lambda y: features(y) @ row, frame, hierarchy.d, level=level, boxes=boxes
    )
