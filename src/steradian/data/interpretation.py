"""Columns of numbers in a stated convention, as points with their notation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.arguments import wrong_value
from steradian.data.conventions import DEGREES_PER_HOUR, Convention, Unit, matrices_as_quaternions
from steradian.data.notation import Notation
from steradian.data.times import hours_assumed, times
from steradian.data.validation import angle_column, as_numeric, cos_sin
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import ANGLE_LIMIT
from steradian.text.audience import Advice
from steradian.text.messages import Name, Row, arguments

EITHER_UNIT = Advice("degrees=True or False", "--degrees or --radians")
_DEGREES, _RADIANS = arguments(degrees=True), arguments(degrees=False)
SEVERAL = 5  # rows from which on the sizes of angles tell their unit
_MOSTTURNS = 8  # of radians that are followed round the circle without a thought
TURN = {"degrees": 360.0, "radians": 2.0 * np.pi, "hours": 24.0}


@dataclass(frozen=True, slots=True)
class Units:
    """What the user said of units; None where nothing was said."""

    degrees: bool | None = None
    hours: bool = False
    default: Unit | None = None  # in place of the convention's own, as in tables
    period: Any = None  # of times

    def __post_init__(self) -> None:
        for name in ("degrees", "hours"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, bool | np.bool_):
                raise wrong_value(name, value, "give True or False", InvalidDirections)
        if self.hours and self.degrees is not None and not self.degrees:
            raise InvalidDirections(
                "{said} goes with declinations in degrees, not radians",
                said=arguments(hours=True),
            )

    def of(self, convention: Convention) -> tuple[Unit, bool]:
        """The unit of a convention's columns, and whether it is assumed."""
        if self.hours:
            return "hours", False
        if self.degrees is not None:
            return ("degrees" if self.degrees else "radians"), False
        return self.default or convention.unit, True


@dataclass(frozen=True, slots=True)
class Points:
    """Rows of coordinates with the notation they came in."""

    x: Array
    notation: Notation
    assumed: bool


def points(convention: Convention, columns: Sequence[Any], units: Units) -> Points:
    """Coordinates (n, d) from columns of angles; refused where their sizes speak against it."""
    if convention.frame == "clock":
        degrees, clock = times(columns[0], units.period)
        notation = Notation(convention, clock=clock)
        x = _rows(convention, [cos_sin(degrees, degrees=True)])
        return Points(x, notation, hours_assumed(columns[0], units.period))
    given = [_unitless(values) for values in columns]
    known = all(unit for _, unit in given)
    unit, assumed = (Units(degrees=True) if known else units).of(convention)
    if any(unit for _, unit in given) and not known:
        raise InvalidDirections("some columns carry a unit and some do not; give it to all")
    angles = [
        angle_column(values, convention.role(k), degrees=unit != "radians")
        for k, (values, _) in enumerate(given)
    ]
    _refuse_lengths(convention, angles)
    if assumed:
        _refuse_doubtful(convention, angles, unit)
    if unit == "hours":
        _refuse_no_hours(angles[0], convention.role(0))
        angles[0] = DEGREES_PER_HOUR * angles[0]
    radians = unit == "radians"
    _refuse_beyond(convention, angles, radians=radians)
    turns = [cos_sin(angle, degrees=not radians) for angle in angles]
    return Points(_rows(convention, turns), Notation(convention, unit), assumed)


def plain_points(convention: Convention, columns: Sequence[Any]) -> Array:
    """Coordinates from columns of numbers that are no angles."""
    lengths = {len(column) for column in columns}
    if len(lengths) > 1:
        raise InvalidDirections(f"columns have {sorted(lengths)} rows; give one value per row")
    rows = np.ascontiguousarray(np.array(columns).T)
    return matrices_as_quaternions(rows) if rows.shape[1] == 9 and convention.space else rows


def _rows(convention: Convention, turns: Sequence[tuple[Array, Array]]) -> Array:
    if convention.rows is None:
        raise InvalidDirections(
            "{name} {coords!r} are not angles", name=Name("coords"), coords=convention.name
        )
    return convention.rows(turns)


def _unitless(values: Any) -> tuple[Any, bool]:
    """Degrees of a quantity that carries its unit (astropy, pint); other values as they are."""
    if not (hasattr(values, "unit") or hasattr(values, "units")):
        return values, False
    try:
        if hasattr(values, "to_value"):
            return values.to_value("deg"), True
        if hasattr(values, "to") and hasattr(values, "magnitude"):
            return values.to("degree").magnitude, True
    except Exception as error:  # of a foreign library, whose sentence goes on
        raise InvalidDirections(f"a quantity is no angle: {error}; give degrees") from error
    return values, False


def _refuse_lengths(convention: Convention, angles: Sequence[Array]) -> None:
    lengths = [len(angle) for angle in angles]
    if len(set(lengths)) > 1:
        named = " but ".join(f"{n} {convention.role(k)}s" for k, n in enumerate(lengths))
        if not convention.roles:
            named = f"the angles have {', '.join(map(str, lengths))} rows"
        raise InvalidDirections(f"{named}; give one of each per row")


def _refuse_beyond(convention: Convention, angles: Sequence[Array], *, radians: bool) -> None:
    unit = np.pi / 180.0 if radians else 1.0
    for k, (low, high) in enumerate(convention.limits):
        slack = ANGLE_LIMIT * 90.0 * unit
        beyond = (angles[k] < low * unit - slack) | (angles[k] > high * unit + slack)
        if beyond.any():
            row = int(np.argmax(beyond))
            span = f"±{high * unit:g}" if low == -high else f"{low * unit:g} to {high * unit:g}"
            more = int(beyond.sum()) - 1
            raise InvalidDirections(
                "{row} has {role} {value:g}, beyond {span}{others}; "
                "check the column order and the unit ({remedy})",
                row=Row(row), role=convention.role(k), value=float(angles[k][row]), span=span,
                others=f" (and {more} others)" if more else "", remedy=EITHER_UNIT,
            )  # fmt: skip


def _refuse_no_hours(angle: Array, role: str) -> None:
    beyond = np.abs(angle) > TURN["hours"]
    if beyond.any():
        row = int(np.argmax(beyond))
        order = "check the column order, or " if (angle < 0.0).any() else ""
        raise InvalidDirections(
            "{row} has {role} {value:g}, beyond 24 hours: these look like degrees; "
            "{order}pass {remedy} in place of {said}",
            row=Row(row), role=role, value=float(angle[row]), order=order,
            remedy=_DEGREES, said=arguments(hours=True),
        )  # fmt: skip


def _refuse_doubtful(convention: Convention, angles: Sequence[Array], unit: Unit) -> None:
    """Refuse angles whose sizes are those of another unit than the one that was assumed."""
    if len(angles[0]) < SEVERAL:
        return
    largest = max(float(np.abs(angle).max()) for angle in angles)
    whole = all((angle == np.floor(angle)).all() for angle in angles)
    if unit == "degrees" and largest <= TURN["radians"] and not whole:
        raise InvalidDirections(
            "no angle is larger than {largest:.4g}: these look like radians, and degrees are "
            "assumed; pass {remedy}, or {as_assumed} if they are degrees",
            largest=largest, remedy=_RADIANS, as_assumed=_DEGREES,
        )  # fmt: skip
    if unit == "radians" and _looks_like_degrees(largest, whole):
        raise InvalidDirections(
            "angles go up to {largest:.4g}: these look like degrees, and radians are assumed; "
            "pass {remedy}, or {as_assumed} if they are radians",
            largest=largest, remedy=_DEGREES, as_assumed=_RADIANS,
        )  # fmt: skip
    first = angles[0]
    if convention.roles[:1] == ("right ascension",) and first.min() >= 0.0 and first.max() < 24.0:
        raise InvalidDirections(
            "no right ascension is larger than {largest:.4g}: these look like hours, and degrees "
            "are assumed; pass {remedy}, or {as_assumed} if they are degrees",
            largest=float(first.max()), remedy=arguments(hours=True), as_assumed=_DEGREES,
        )  # fmt: skip


def _looks_like_degrees(largest: float, whole: bool) -> bool:
    """Whole numbers beyond a turn, or more turns than an angle that was followed round takes."""
    return largest <= TURN["degrees"] and largest > (1 if whole else _MOSTTURNS) * TURN["radians"]


def sky(value: Any, *, equatorial: bool) -> tuple[Any, Any] | None:
    """Longitude and latitude of an astropy SkyCoord, in its own frame or as right ascension."""
    if not (hasattr(value, "spherical") and hasattr(value, "icrs")):
        return None
    position = (value.icrs if equatorial else value).spherical
    return np.atleast_1d(position.lon.deg), np.atleast_1d(position.lat.deg)


def stacked_columns(angles: Sequence[Any]) -> list[Any]:
    """Columns of angles, given one by one or as one array (n, k)."""
    if not angles:
        raise InvalidDirections("no angles; give one column for each, or an array (n, k)")
    if len(angles) == 1 and not hasattr(angles[0], "unit"):
        whole = as_numeric(angles[0], "angles")
        return list(whole.T) if whole.ndim == 2 else [whole]
    return list(angles)
