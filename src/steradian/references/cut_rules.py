"""Rules on the circle and the two-sphere that end exactly at the edges of a region.

A region is cut out by circles of the sphere, {x: c·x = h}, or arcs of them. Along one axis the
sphere is a stack of rings: on each the region is a union of arcs whose ends have a closed form,

    cos(φ - φ_c) = (h - c_z z) / (√(1 - z²) √(1 - c_z²)),

and Gauss's rule on each arc integrates smooth functions to rounding. As a function of the height z
these integrals are smooth but at *breaks*: heights where a circle touches the ring (there the ends
behave like a square root), where two circles cross, and where an arc ends. Between two breaks a, b
the substitution z = a + (b - a) sin²(πt/2) turns square roots at both ends into smooth functions
of t, and Gauss's rule in t converges geometrically. With circles about the axis itself there is
nothing but bands, and the rule is that of the whole sphere, cut at the heights.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import ducc0
import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import BREAK_APART, CONCENTRIC
from steradian.references.base import HasReference
from steradian.spaces.base import Rule, Space

LADDER = (8, 12, 16, 24, 32, 48, 64, 96, 128, 192)  # nodes over half a turn
_LEAST_SHARE = 0.2  # of them that even the shortest piece has
_CUTS = 3  # of a circle that would otherwise be turned
_PER_TURN = 2.7  # Gauss nodes over a turn for one over half of it: π/2 more than equispaced ones

Inside = Callable[[Array], BoolArray]


@dataclass(frozen=True, slots=True, eq=False)
class Edge:
    """A circle {x: c·x = h} of the sphere, or the arc of it from ``start`` to ``end``."""

    centre: Array  # (3,), of length one
    height: float
    start: Array | None = None  # (3,): of a great circle only, counter-clockwise about the centre
    end: Array | None = None

    def turned(self, frame: Array) -> Edge:
        """The same in the axes that are the rows of ``frame`` (3, 3)."""
        start = None if self.start is None else frame @ self.start
        end = None if self.end is None else frame @ self.end
        return Edge(frame @ self.centre, self.height, start, end)

    def holds(self, x: Array) -> BoolArray:
        """Which of the points ``x`` (n, 3) of the circle lie on the arc, (n,)."""
        if self.start is None or self.end is None:
            return np.ones(len(x), dtype=bool)
        after = np.cross(self.start, x) @ self.centre
        before = np.cross(x, self.end) @ self.centre
        return np.asarray((after >= -BREAK_APART) & (before >= -BREAK_APART))

    @property
    def touching(self) -> Array:
        """Its highest and lowest points, (≤ 2, 3); none of a circle about the axis."""
        up = np.array([0.0, 0.0, 1.0])
        across = up - self.centre[2] * self.centre
        length = float(np.linalg.norm(across))
        if length <= CONCENTRIC:
            return np.empty((0, 3))
        reach = np.sqrt(max(1.0 - self.height**2, 0.0)) / length * across
        found = self.height * self.centre + np.array([reach, -reach])
        return np.asarray(found[self.holds(found)])

    def crossings(self, z: Array) -> Array:
        """Longitudes where it meets rings of heights z (k,): (k, 2), NaN where it does not."""
        c, radius = self.centre, np.sqrt((1.0 - z) * (1.0 + z))
        size = float(np.hypot(c[0], c[1]))
        if size <= CONCENTRIC:
            return np.full((len(z), 2), np.nan)
        cosine = (self.height - c[2] * z) / (radius * size)
        meets = np.abs(cosine) < 1.0
        reach = np.arccos(np.where(meets, cosine, 0.0))
        angle = np.arctan2(c[1], c[0]) + reach[:, None] * np.array([-1.0, 1.0])
        there = self.holds(ring_points(angle.ravel(), np.repeat(z, 2))).reshape(-1, 2)
        return np.where(meets[:, None] & there, angle, np.nan)


def ring_points(angle: Array, z: Array) -> Array:
    """Unit vectors (n, 3) of longitudes and heights (n,)."""
    radius = np.sqrt((1.0 - z) * (1.0 + z))
    return np.column_stack([radius * np.cos(angle), radius * np.sin(angle), z])


def _meeting(one: Edge, other: Edge) -> Array:
    """Points of both edges, (≤ 2, 3)."""
    axis = np.cross(one.centre, other.centre)
    size = float(axis @ axis)
    if size <= CONCENTRIC**2:
        return np.empty((0, 3))
    dot = float(one.centre @ other.centre)
    foot = (
        (one.height - other.height * dot) * one.centre
        + (other.height - one.height * dot) * other.centre
    ) / size
    rest = 1.0 - float(foot @ foot)
    if rest < 0.0:
        return np.empty((0, 3))
    reach = np.sqrt(rest / size) * axis
    found = np.array([foot + reach, foot - reach])
    return np.asarray(found[one.holds(found) & other.holds(found)])


def _breaks(edges: list[Edge]) -> Array:
    """Heights between which integrals over rings are smooth, from -1 to 1."""
    heights = [np.array([-1.0, 1.0])]
    for k, edge in enumerate(edges):
        if np.hypot(edge.centre[0], edge.centre[1]) <= CONCENTRIC:
            heights.append(np.array([edge.height * np.sign(edge.centre[2])]))
        heights.append(edge.touching[:, 2])
        if edge.start is not None and edge.end is not None:
            heights.append(np.array([edge.start[2], edge.end[2]]))
        heights += [_meeting(edge, other)[:, 2] for other in edges[:k]]
    z = np.sort(np.clip(np.concatenate(heights), -1.0, 1.0))
    return np.asarray(z[np.concatenate([[True], np.diff(z) > BREAK_APART])])


def sphere_rule(edges: list[Edge], inside: Inside, axis: Array, size: int) -> tuple[Rule, float]:
    """A rule of the part of the two-sphere that is ``inside``, and the share of it.

    Parameters
    ----------
    edges : list of Edge
        All circles and arcs at which ``inside`` changes, and possibly more.
    inside : callable
        Which of (n, 3) points belong to the region.
    axis : array, (3,)
        What rings are about; best one that many circles are about.
    size : int
        Nodes over half a turn.
    """
    frame = _frame(axis)
    local = [edge.turned(frame) for edge in edges]
    breaks = _breaks(local)
    middle = 0.5 * (breaks[:-1] + breaks[1:])
    crossed = np.isfinite(_cuts(local, middle)).sum(axis=1)
    panels = [
        _heights(low, high, size, crossed=bool(cut))
        for low, high, cut in zip(breaks[:-1], breaks[1:], crossed, strict=True)
    ]
    z, mass = (np.concatenate(part) for part in zip(*panels, strict=True))
    arcs = _Arcs.of_rings(_cuts(local, z))
    arcs = arcs.take(inside(ring_points(arcs.middle, z[arcs.ring]) @ frame))
    angle, share, ring = arcs.nodes(size)
    w = 0.5 * mass[ring] * share
    area = float(w.sum())
    return Rule(ring_points(angle, z[ring]) @ frame, w / area if area else w), area


def _cuts(edges: list[Edge], z: Array) -> Array:
    """Longitudes where edges meet rings of heights z (k,): (k, c), NaN where they do not."""
    return np.column_stack([np.full(len(z), np.nan), *(edge.crossings(z) for edge in edges)])


def _heights(low: float, high: float, size: int, *, crossed: bool) -> tuple[Array, Array]:
    """Nodes and weights between two breaks; with square roots at both ends where crossed."""
    angle = float(np.arccos(low) - np.arccos(high))
    count = int(np.ceil(size * (_LEAST_SHARE + abs(angle) / np.pi)))
    at, weight = _gauss(count)
    if not crossed:
        return low + (high - low) * at, (high - low) * weight
    turn = 0.5 * np.pi * at
    return (
        low + (high - low) * np.sin(turn) ** 2,
        (high - low) * weight * 0.5 * np.pi * np.sin(2.0 * turn),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Arcs:
    """Arcs of rings, or whole rings, between the places where they are cut."""

    ring: IntArray  # (k,) which ring
    start: Array  # (k,)
    length: Array  # (k,)
    whole: BoolArray  # (k,) whether nothing cuts the ring

    @classmethod
    def of_rings(cls, cuts: Array) -> _Arcs:
        """All arcs of rings that are cut at longitudes (rings, c), NaN for none."""
        sorted_cuts = np.sort(np.mod(cuts, 2.0 * np.pi), axis=1)  # NaN last
        found = np.isfinite(sorted_cuts).sum(axis=1)
        whole = np.flatnonzero(found == 0)
        ring, column = np.nonzero(np.isfinite(sorted_cuts))
        last = column == found[ring] - 1
        after = sorted_cuts[ring, np.where(last, 0, column + 1)] + 2.0 * np.pi * last
        start = sorted_cuts[ring, column]
        return cls(
            np.concatenate([whole, ring]),
            np.concatenate([np.zeros(len(whole)), start]),
            np.concatenate([np.full(len(whole), 2.0 * np.pi), after - start]),
            np.arange(len(whole) + len(ring)) < len(whole),
        )

    @property
    def middle(self) -> Array:
        """The middle of each, (k,)."""
        return np.asarray(self.start + 0.5 * self.length)

    def take(self, which: BoolArray) -> _Arcs:
        return _Arcs(self.ring[which], self.start[which], self.length[which], self.whole[which])

    def nodes(self, size: int) -> tuple[Array, Array, IntArray]:
        """Longitudes, shares of a turn and rings of all nodes: equispaced on whole rings."""
        needed = np.ceil(size * (_LEAST_SHARE + _PER_TURN * self.length / (2.0 * np.pi)))
        counts = np.where(self.whole, 2 * size, needed).astype(np.int64)
        parts = []
        for count in np.unique(counts):
            for even in (True, False):
                rows = np.flatnonzero((counts == count) & (self.whole == even))
                equal = np.arange(count) / count, np.full(count, 1.0 / count)
                at, weight = equal if even else _gauss(int(count))
                angle = self.start[rows, None] + self.length[rows, None] * at
                share = self.length[rows, None] / (2.0 * np.pi) * weight
                parts.append((angle.ravel(), share.ravel(), np.repeat(self.ring[rows], count)))
        if not parts:
            return np.empty(0), np.empty(0), np.empty(0, dtype=np.int64)
        angle, share, ring = (np.concatenate(part) for part in zip(*parts, strict=True))
        return angle, share, ring


def circle_rule(cuts: Array, inside: Inside, size: int) -> tuple[Rule, float]:
    """A rule of the part of the circle that is ``inside``, cut at angles (k,), and its share."""
    arcs = _Arcs.of_rings(cuts[None])
    arcs = arcs.take(inside(np.column_stack([np.cos(arcs.middle), np.sin(arcs.middle)])))
    angle, share, _ = arcs.nodes(2 * size)
    area = float(share.sum())
    x = np.column_stack([np.cos(angle), np.sin(angle)])
    return Rule(x, share / area if area else share), area


def turned_rule(space: Space, rung: int, rng: np.random.Generator) -> Rule:
    """The law of a rule of a space on other nodes, by a random symmetry.

    The nodes of a turned circle still are equispaced, and of an arc see one of two lengths; there
    the circle is cut at random instead, and each arc has its own nodes.
    """
    turned = space.reference.turned_rule(rung, rng) if isinstance(space, HasReference) else None
    if turned is not None:
        return turned
    rule = space.rule(rung)
    if space.d > 2:
        return Rule(rule.points @ space.symmetry(rng).T, rule.weights)
    cuts = 2.0 * np.pi * rng.random(_CUTS)
    size = int(len(rule.weights) / (2.0 * (_LEAST_SHARE * _CUTS + _PER_TURN))) + 1
    return circle_rule(cuts, lambda x: np.ones(len(x), dtype=bool), size)[0]


def _frame(axis: Array) -> Array:
    """Orthonormal axes as rows, the last of them ``axis`` (3,)."""
    up = axis / np.linalg.norm(axis)
    if abs(up[2]) >= 1.0 - CONCENTRIC:
        return np.diag([np.sign(up[2]), 1.0, np.sign(up[2])])
    first = np.cross(np.eye(3)[int(np.argmin(np.abs(up)))], up)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(up, first), up])


@lru_cache(maxsize=2048)
def _gauss(count: int) -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [0, 1]."""
    half = 0.5 * np.asarray(ducc0.misc.GL_thetas(count))
    return np.sin(half) ** 2, ducc0.misc.GL_weights(count, 1) / (4.0 * np.pi)
