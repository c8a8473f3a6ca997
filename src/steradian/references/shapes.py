"""Bands, caps and polygons of the sphere, and arcs of the circle."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import SAME_POINT, SHAPE_EDGE
from steradian.references.base import HalfSpace
from steradian.references.cut_rules import Edge


class Shape(Protocol):
    """A part of the circle or the sphere; its edge belongs to it, and not to what is around."""

    @property
    def words(self) -> str:
        """What it is."""
        ...

    @property
    def axis(self) -> Array:
        """What its edges are best seen along, (d,)."""
        ...

    @property
    def edges(self) -> list[Edge]:
        """All that bounds it, on the sphere."""
        ...

    def half_spaces(self, *, around: bool) -> list[HalfSpace]:
        """Some that hold all of it, or all that is ``around`` it."""
        ...

    def holds(self, x: Array) -> BoolArray:
        """Which of ``x`` (n, d) belong to it, (n,); those on the edge do not."""
        ...


def lonlat_vector(lon: float, lat: float) -> Array:
    """The unit vector of longitude and latitude in radians, (3,)."""
    return np.array([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])


@dataclass(frozen=True, slots=True)
class Band:
    """Latitudes from ``low`` to ``high`` about a pole, radians."""

    low: float
    high: float
    pole: tuple[float, float, float]

    @property
    def words(self) -> str:
        return f"latitudes {_degrees(self.low)} to {_degrees(self.high)}{_about(self.pole)}"

    @property
    def axis(self) -> Array:
        return np.array(self.pole)

    @property
    def edges(self) -> list[Edge]:
        ends = (end for end in (self.low, self.high) if abs(end) < 0.5 * np.pi)
        return [Edge(self.axis, float(np.sin(end))) for end in ends]

    def half_spaces(self, *, around: bool) -> list[HalfSpace]:
        """On both sides of a band that ends at no pole there is something around it."""
        low, high = self.low > -0.5 * np.pi, self.high < 0.5 * np.pi
        if around and low and high:
            return []
        above = HalfSpace(-float(np.sin(self.low)), self.axis)
        below = HalfSpace(float(np.sin(self.high)), -self.axis)
        found = [each for each, ends in ((above, low), (below, high)) if ends]
        return [HalfSpace(-each.offset, -each.normal) for each in found] if around else found

    def holds(self, x: Array) -> BoolArray:
        height = x @ self.axis
        above = (height > np.sin(self.low) + SHAPE_EDGE) | (self.low <= -0.5 * np.pi)
        below = (height < np.sin(self.high) - SHAPE_EDGE) | (self.high >= 0.5 * np.pi)
        return np.asarray(above & below)


@dataclass(frozen=True, slots=True)
class Cap:
    """All within ``radius`` radians of a centre, on the circle or the sphere."""

    centre: tuple[float, ...]
    radius: float

    @property
    def words(self) -> str:
        return f"within {_degrees(self.radius)} of {_place(self.centre)}"

    @property
    def axis(self) -> Array:
        return np.array(self.centre)

    @property
    def edges(self) -> list[Edge]:
        return [Edge(self.axis, float(np.cos(self.radius)))]

    def half_spaces(self, *, around: bool) -> list[HalfSpace]:
        side = -1.0 if around else 1.0
        return [HalfSpace(-side * float(np.cos(self.radius)), side * self.axis)]

    @property
    def ends(self) -> Array:
        """Angles where an arc of the circle ends, (2,)."""
        middle = np.arctan2(self.centre[1], self.centre[0])
        return np.array([middle - self.radius, middle + self.radius])

    def holds(self, x: Array) -> BoolArray:
        return np.asarray(x @ self.axis > np.cos(self.radius) + SHAPE_EDGE)


@dataclass(frozen=True, slots=True)
class Polygon:
    """What great arcs between corners enclose: the smaller side, whichever way round they are."""

    corners: tuple[tuple[float, float, float], ...]  # counter-clockwise seen from outside

    @classmethod
    def of(cls, corners: Array) -> Polygon:
        """With its corners (m, 3) in order, the last next to the first."""
        apart = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
        if len(corners) < 3 or apart.min() <= SAME_POINT or apart.max() >= 2.0 - SAME_POINT:
            raise InvalidArgument(
                "a polygon has at least three corners, and no two neighbours are equal or opposite"
            )
        area = _enclosed(corners)
        if not min(area, 4.0 * np.pi - area) > SAME_POINT:
            raise InvalidArgument("a polygon of no area; give its corners in order")
        ordered = corners if area <= 2.0 * np.pi else corners[::-1]
        return cls(tuple(tuple(corner) for corner in ordered.tolist()))

    @property
    def words(self) -> str:
        return f"a polygon of {len(self.corners)} corners"

    @property
    def axis(self) -> Array:
        mean = np.array(self.corners).mean(axis=0)
        length = float(np.linalg.norm(mean))
        return mean / length if length > SAME_POINT else np.array([0.0, 0.0, 1.0])

    @property
    def edges(self) -> list[Edge]:
        corners = np.array(self.corners)
        found = []
        for start, end in zip(corners, np.roll(corners, -1, axis=0), strict=True):
            normal = np.cross(start, end)
            found.append(Edge(normal / np.linalg.norm(normal), 0.0, start, end))
        return found

    def half_spaces(self, *, around: bool) -> list[HalfSpace]:
        """None are looked for."""
        return []

    def holds(self, x: Array) -> BoolArray:
        """By how often the corners wind about a point; about its antipode they wind backwards."""
        corners = np.array(self.corners)
        first = np.cross(np.eye(3)[np.argmin(np.abs(x), axis=1)], x)
        first /= np.linalg.norm(first, axis=1)[:, None]
        second = np.cross(x, first)
        angle = np.arctan2(second @ corners.T, first @ corners.T)  # (n, m)
        step = np.diff(np.column_stack([angle, angle[:, :1]]), axis=1)
        step = (step + np.pi) % (2.0 * np.pi) - np.pi
        return np.asarray(step.sum(axis=1) > np.pi)


def _enclosed(corners: Array) -> float:
    """Area to the left of great arcs between corners (m, 3): angles less those of a flat one."""
    before, after = np.roll(corners, 1, axis=0), np.roll(corners, -1, axis=0)
    into, out = np.cross(before, corners), np.cross(corners, after)
    turn = np.arctan2(
        np.einsum("mk,mk->m", np.cross(into, out), corners), np.einsum("mk,mk->m", into, out)
    )
    return float((2.0 * np.pi - turn.sum()) % (4.0 * np.pi))


def _degrees(angle: float) -> str:
    return f"{np.degrees(angle):.6g}°"


def _place(x: tuple[float, ...]) -> str:
    if len(x) == 2:
        return _degrees(float(np.arctan2(x[1], x[0])))
    lon, lat = np.arctan2(x[1], x[0]) % (2.0 * np.pi), np.arcsin(np.clip(x[2], -1.0, 1.0))
    return f"({_degrees(float(lon))}, {_degrees(float(lat))})"


def _about(pole: tuple[float, float, float]) -> str:
    return "" if pole == (0.0, 0.0, 1.0) else f" about the pole {_place(pole)}"
