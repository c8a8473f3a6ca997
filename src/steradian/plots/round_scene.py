"""Angles round a circle: which way they run, how they are written, and how often they occur."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from steradian.data.directions import Directions
from steradian.data.notation import Notation
from steradian.numerics.arrays import Array
from steradian.plots.sphere_scene import Scene

Orientation = Literal["compass", "mathematical", "clock"]
ORIENTATIONS: tuple[Orientation, ...] = ("compass", "mathematical", "clock")
_FRAMES: dict[str, Orientation] = {"compass": "compass", "clock": "clock"}
_QUARTERS = {"compass": ("N", "E", "S", "W")}
_FEWEST, _MOST_MARKS = 4, 120  # petals of a rose; marks of a scale that is told from a fine one
_DECIMALS = 7  # of radians, to which angles that were written alike are alike
_OFF_MARK = 0.01  # of a step of a scale
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FIRST_DAYS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


@dataclass(frozen=True, slots=True)
class Dial:
    """How an angle is drawn and written.

    Attributes
    ----------
    orientation : {"compass", "mathematical", "clock"}
        Clockwise from the top, or counter-clockwise from the right.
    unit : str
        Of the linear axis: "°", "rad", "h" and the like.
    full : float
        A full turn in that unit.
    quantity : str
        What the angle is.
    kind : str
        "day", "week" or "year" of calendar times, else empty.
    """

    orientation: Orientation
    unit: str
    full: float
    quantity: str
    kind: str = ""

    @property
    def clockwise(self) -> bool:
        """From the top; else counter-clockwise from the right."""
        return self.orientation != "mathematical"

    def places(self, angle: Array, radius: Array | float = 1.0) -> tuple[Array, Array]:
        """Where angles in radians are on paper."""
        if self.clockwise:
            return np.asarray(radius * np.sin(angle)), np.asarray(radius * np.cos(angle))
        return np.asarray(radius * np.cos(angle)), np.asarray(radius * np.sin(angle))

    def marks(self) -> list[tuple[float, str]]:
        """Angles in radians that are named round the dial, and their names."""
        turn = 2.0 * np.pi
        if self.kind == "week":
            return [(turn * k / 7.0, day) for k, day in enumerate(_DAYS)]
        if self.kind == "year":
            days = zip(_FIRST_DAYS, _MONTHS, strict=True)
            return [(turn * first / 365.0, name) for first, name in days]
        if self.kind == "day":
            return [(turn * k / 8.0, f"{3 * k:02d}:00") for k in range(8)]
        if self.orientation == "compass":
            names = "N", "45°", "E", "135°", "S", "225°", "W", "315°"
            return [(turn * k / 8.0, name) for k, name in enumerate(names)]
        if self.unit == "rad":
            names = "0", "π/4", "π/2", "3π/4", "π", "5π/4", "3π/2", "7π/4"
            return [(turn * k / 8.0, name) for k, name in enumerate(names)]
        end = f" {self.unit}" if self.unit not in ("°", "") else self.unit
        parts = 8 if (self.full / 8.0).is_integer() else 4
        return [(turn * k / parts, f"{self.full * k / parts:.3g}{end}") for k in range(parts)]

    def ticks(self, share: float) -> tuple[list[float], list[str]]:
        """Values and names along a linear axis of ``share`` of a turn, in its unit."""
        if self.kind in ("week", "year"):
            named = [(self.full * angle / (2.0 * np.pi), name) for angle, name in self.marks()]
            some = named if self.kind == "week" else named[::2]
            return [value for value, _ in some], [name for _, name in some]
        if self.unit == "rad":
            names = ("0", "π/3", "2π/3", "π", "4π/3", "5π/3", "2π")
            values = np.linspace(0.0, 2.0 * np.pi, len(names))
            kept = [k for k, value in enumerate(values) if value <= share * self.full + 0.01]
            return [float(values[k]) for k in kept], [names[k] for k in kept]
        steps = 4 if self.kind == "day" or share == 1.0 else 6
        values = np.linspace(0.0, share * self.full, steps + 1)
        shown = [f"{v:02.0f}:00" if self.kind == "day" else f"{v:g}" for v in values]
        return values.tolist(), shown


def dial_of(scene: Scene, orientation: Orientation | None) -> Dial:
    """The dial that data of a scene are read on; ``orientation`` overrides what they say."""
    told = scene.notation
    frame = "none" if told is None else told.convention.frame
    chosen = _FRAMES.get(frame, "mathematical") if orientation is None else orientation
    if told is not None and told.clock is not None:
        kind, length = told.clock.kind, told.clock.length
        unit = {"day": "h", "week": "h", "year": "h"}.get(kind, "")
        return Dial(chosen, unit, length, f"time of the {kind}" if kind else "time", kind)
    quantity = "angle" if told is None else told.convention.role(0)
    if _in_radians(told, chosen):
        return Dial(chosen, "rad", 2.0 * np.pi, quantity)
    return Dial(chosen, "°", 360.0, quantity)


def _in_radians(told: Notation | None, orientation: Orientation) -> bool:
    if told is None or not told.convention.angular:
        return False
    return told.unit == "radians" and orientation == "mathematical"


def angles_of(x: Array) -> Array:
    """Angles of rows (n, 2) in radians, from 0 to a full turn."""
    return np.asarray(np.mod(np.arctan2(x[:, 1], x[:, 0]), 2.0 * np.pi))


def angle_counts(directions: Directions, bins: int, *, axial: bool, begin: float = 0.0) -> Array:
    """Shares of the weight in equal bins round the circle, (bins,), by blocks of rows.

    The first begins at ``begin`` radians. Axes count half at either end.
    """
    total = np.zeros(bins)
    for x, w in directions.blocks():
        turned = np.mod(angles_of(x) - begin, 2.0 * np.pi)
        at = np.minimum((turned * (bins / (2.0 * np.pi))).astype(np.int64), bins - 1)
        total += np.bincount(at, weights=w, minlength=bins)
    if axial:
        total = total + np.roll(total, bins // 2)
    return np.asarray(total / total.sum())


def bins_for(n: int) -> int:
    """How many bins show ``n`` angles: a multiple of twelve, as hours and bearings want."""
    for least, bins in ((20_000, 120), (1000, 72), (300, 36), (60, 24)):
        if n >= least:
            return bins
    return 12


def petals_for(directions: Directions, *, axial: bool) -> tuple[int, float]:
    """How many petals show some angles, and where the first begins, in radians.

    Angles that are written on a scale of few marks (the middles of bins, tens of degrees) have
    petals of whole steps of it that end between its marks; else every other one would be empty.
    """
    most = bins_for(directions.n)
    scale = _scale(directions, axial=axial)
    if scale is None:
        return most, 0.0
    marks, first = scale
    fitting = [k for k in range(_FEWEST, most + 1) if marks % k == 0 and not (axial and k % 2)]
    return (fitting[-1], first - np.pi / marks) if fitting else (most, 0.0)


def _scale(directions: Directions, *, axial: bool) -> tuple[int, float] | None:
    """Marks of the scale that all angles are on, and the first of them; None where it is fine."""
    seen = np.zeros(0)
    for x, _ in directions.blocks():
        angle = np.round(angles_of(np.vstack([x, -x]) if axial else x), _DECIMALS)
        seen = np.unique(np.append(seen, np.mod(angle, round(2.0 * np.pi, _DECIMALS))))
        if len(seen) > _MOST_MARKS:
            return None
    if len(seen) < 2:
        return None
    steps = np.diff(seen, append=seen[0] + 2.0 * np.pi)
    marks = int(np.rint(2.0 * np.pi / steps.min()))
    place = (seen - seen[0]) * (marks / (2.0 * np.pi))
    if marks > _MOST_MARKS or np.abs(place - np.rint(place)).max() > _OFF_MARK:
        return None
    return marks, float(seen[0])
