"""Counts of bins: their middles, and what taking those does to the moments."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.data.conventions import Convention
from steradian.data.interpretation import TURN, Units
from steradian.data.notation import Notation
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, Array
from steradian.text.messages import Row

_DAY = 24.0
_MOST_SEARCHED = 2000  # columns of a table whose names are looked at
_EDGES = (
    ("from", "to"), ("start", "end"), ("begin", "end"), ("lower", "upper"), ("low", "high"),
    ("min", "max"), ("left", "right"),
)  # fmt: skip
_AS_REPEATED = ("counts are taken as repeated rows",)


def edges(columns: Sequence[str]) -> tuple[str, str] | None:
    """Columns whose names are those of edges of bins: from and to, azimuth_min and _max."""
    if len(columns) > _MOST_SEARCHED:
        return None
    lower = {name.strip().lower(): name for name in columns}
    for begin, end in _EDGES:
        for name, column in lower.items():
            if name == begin or name.endswith(("_" + begin, " " + begin)):
                other = lower.get(name[: len(name) - len(begin)] + end)
                if other is not None:
                    return column, other
    return None


def middles(lower: AnyArray, upper: AnyArray, convention: Convention, units: Units) -> Array:
    """The middle of each bin; one whose upper edge is the smaller passes the beginning."""
    if "f" not in (lower.dtype.kind, upper.dtype.kind):
        raise InvalidDirections("edges of bins are no numbers; write them as degrees or hours")
    turn = _turn(convention, units)
    width = upper - lower
    width = np.where(width < 0.0, width + turn, width)
    wrong = (width <= 0.0) | (width > turn)
    if wrong.any():
        row = int(np.argmax(wrong))
        raise InvalidDirections(
            "{row} is a bin from {lower:g} to {upper:g}; give edges that follow each other",
            row=Row(row), lower=float(lower[row]), upper=float(upper[row]),
        )  # fmt: skip
    middle = lower + 0.5 * width
    return np.asarray(np.where(upper < lower, np.mod(middle, turn), middle))


def _turn(convention: Convention, units: Units) -> float:
    """A full turn, in the unit of the edges."""
    if convention.frame != "clock":
        return TURN[units.of(convention)[0]]
    if units.period in (None, "day"):
        return _DAY
    if isinstance(units.period, str):
        raise InvalidDirections("edges of bins are numbers; give the period as a number too")
    return float(units.period)


def widths(lower: AnyArray, upper: AnyArray, convention: Convention, units: Units) -> Array:
    """The width of each bin, in degrees of a full turn."""
    turn = _turn(convention, units)
    return np.asarray(np.mod(upper - lower, turn) * (360.0 / turn))


def grouping(notation: Notation, x: Array) -> tuple[str, ...]:
    """What bins of equal width do to the moments of counts, in words.

    An observation anywhere in a bin of width h counts as one at its middle: the density is averaged
    over a bin's width, which multiplies its moments of degree l by sin(l h / 2) / (l h / 2)
    (Sheppard's correction; Batschelet, *Circular Statistics in Biology*, 1981).
    """
    if notation.convention.angles is None or x.shape[1] != 2:
        return _AS_REPEATED
    angle = np.rad2deg(notation.convention.angles(x)[0])
    places = np.unique(np.round(np.mod(angle, 360.0), 6))
    steps = np.diff(np.append(places, places[0] + 360.0))
    width = float(steps.min())
    even = np.abs(steps / width - np.round(steps / width)).max() < 1e-3 if width else False
    if len(places) < 3 or not even:
        return _AS_REPEATED
    return (f"values taken as the middles of bins of {width:g}°, {_shortened(width)}",)


def stated_grouping(width: Array) -> tuple[str, ...]:
    """The same of bins whose edges are known."""
    largest = float(width.max())
    even = largest - float(width.min()) < 1e-6 * largest
    said = f"of {largest:g}°" if even else f"of up to {largest:g}°"
    return (f"bins {said}, each counted at its middle, {_shortened(largest)}",)


def _shortened(width: float) -> str:
    half = np.deg2rad(width) / 2.0
    lost = [1.0 - np.sin(level * half) / (level * half) for level in (1, 4)]
    return f"which shorten moments of degree 1 by {lost[0]:.1%} and of degree 4 by {lost[1]:.1%}"
