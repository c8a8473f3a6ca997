"""Cells of a table as numbers and angles: plain, sexagesimal, lettered like 41SE, or missing."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.data.conventions import DEGREES_PER_HOUR, Convention, Unit
from steradian.data.interpretation import Units
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, BoolArray
from steradian.text.messages import Message, Row, arguments, message

# --- letters of the compass: NNE, N27E, 149.17W, 41SE ----------------------------------------

_WORDS = (
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE",
    "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW",
)  # fmt: skip
_POINTS: Mapping[str, float] = {word: 22.5 * k for k, word in enumerate(_WORDS)}
_QUADRANT = re.compile(r"([NS])\s*(\d{1,2}(?:\.\d*)?)\s*°?\s*([EW])")
_SIDE = re.compile(r"(.*\d.*?)\s*([NSEW]{1,3})")
_DIP = re.compile(r"(\d{1,2}(?:\.\d*)?)\s*°?\s*([NSEW]{1,3})?")
_RIGHT_ANGLE = 90.0
_HEMISPHERES: Mapping[str, str] = {"longitude": "EW", "latitude": "NS"}


def bearing(cell: Any) -> float:
    """Degrees clockwise from north of a point of the compass or a quadrant bearing; else nan.

    Examples
    --------
    >>> [bearing(cell) for cell in ("NNE", "n27e", "S15W", "N 10.5 W", "home")]
    [22.5, 27.0, 195.0, 349.5, nan]
    """
    text = str(cell).strip().upper()
    found = _QUADRANT.fullmatch(text)
    if found is None:
        return _POINTS.get(text, np.nan)
    size = float(found[2])
    if size > _RIGHT_ANGLE:
        return np.nan
    from_north = size if found[1] == "N" else 180.0 - size
    return from_north if found[3] == "E" else (360.0 - from_north) % 360.0


def dip_and_side(cell: Any) -> tuple[float, float]:
    """Degrees of a dip and, clockwise from north, of the side it goes to; else nan.

    Examples
    --------
    >>> [dip_and_side(cell) for cell in ("41SE", "55.5 n", 90, "NE")]
    [(41.0, 135.0), (55.5, 0.0), (90.0, nan), (nan, nan)]
    """
    found = _DIP.fullmatch(str(cell).strip().upper())
    if found is None:
        return np.nan, np.nan
    side = _POINTS.get(found[2] or "", np.nan)
    return (np.nan if found[2] and np.isnan(side) else float(found[1])), side


@dataclass(frozen=True, slots=True)
class AngleColumn:
    """A column of a convention, with the letters that its cells may have."""

    convention: Convention
    column: int

    @property
    def role(self) -> str:
        """What it is."""
        return self.convention.role(self.column)

    @property
    def takes_bearings(self) -> bool:
        """Whether it goes round the compass."""
        limits, one = self.convention.limits, self.convention.frame == "compass"
        return one and not np.isfinite(limits[self.column][0])

    @property
    def takes_sides(self) -> bool:
        """Whether its cells may say to which side of a strike a plane dips: see `to_the_right`."""
        return self.role == "dip" and "strike" in self.convention.roles

    def signed(self, cell: Any) -> tuple[str, float]:
        """The text of a longitude or latitude without its letter, and its sign; 0 without one."""
        found = _SIDE.fullmatch(str(cell).strip().upper())
        east_west = _HEMISPHERES.get(self.role, "")
        if found is None or found[2] not in tuple(east_west):
            return "", 0.0
        return found[1].lower(), 1.0 if found[2] in "EN" else -1.0

    def remedy(self, cell: Any) -> Message | str:
        """What to do with a cell that cannot be read."""
        lettered = np.isfinite(bearing(cell))
        if self.role == "dip" and _SIDE.fullmatch(str(cell).strip().upper()):
            return "give the dip alone, from 0 to 90; the dip direction tells to which side"
        if lettered and len(self.convention.roles) == 1:
            return message("compass bearings are {remedy}", remedy=arguments(coords="azimuth"))
        return message(
            "give numbers, or name other columns ({remedy})", remedy=arguments(columns=...)
        )


# --- columns as numbers ----------------------------------------------------------------------

_SEXAGESIMAL = re.compile(
    r"^\s*([+\-−]?)\s*(\d{1,3})\s*(?P<mark>[:hd°\s])\s*(\d{1,2})(?:\s*[:m'′\s]\s*(\d{1,2}(?:\.\d*)?)\s*[s\"″]?)?"
    r"\s*['′m]?\s*$"
)
_LETTERS: Mapping[str, Unit] = {"h": "hours", "d": "degrees", "°": "degrees"}
_DAY = 24.0
_LOOKED_AT = 20  # rows
_MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "-", "--"})


@dataclass(frozen=True, slots=True)
class Numbers:
    """A column as numbers, not a number where a cell is none."""

    values: AnyArray
    sexagesimal: bool = False
    unit: Unit | None = None  # where letters say it: 19h30m00s, 292d30m00s
    clock: bool = False  # whether all may be times of the day, like 21:41
    letters: bool = False  # of the compass: NNE, N27E, 149.17W
    sides: AnyArray | None = None  # that letters give dips, degrees clockwise from north: 41SE


def numbers(
    values: AnyArray,
    name: str,
    *,
    keep_text: bool,
    sexagesimal: bool | None = None,
    angle: AngleColumn | None = None,
) -> Numbers:
    """A column as numbers; text of a column of times stays as it is.

    ``sexagesimal`` says how text is written, where other rows of the column have told it;
    ``angle`` what the column is, whose cells may then have letters of the compass.
    """
    if values.dtype == np.float64 and values.ndim == 1:
        return Numbers(values)
    if values.ndim != 1:
        raise InvalidDirections(f"column {name!r} has shape {values.shape}; give one value per row")
    if values.dtype.kind in "fiub":
        plain = values if values.dtype == np.float32 else values.astype(np.float64)
        return Numbers(plain)
    if keep_text:
        return Numbers(values)
    if values.dtype.kind not in "OUST":
        raise InvalidDirections(f"column {name!r} has type {values.dtype}; give real numbers")
    if sexagesimal:
        return _sexagesimal(values, name)
    return _dips(values, angle) or _of_cells(values, name, sexagesimal, angle)


def _dips(values: AnyArray, angle: AngleColumn | None) -> Numbers | None:
    """Dips of which some say to which side of a strike they go, if they are."""
    if angle is None or not angle.takes_sides:
        return None
    dips, sides = np.array([dip_and_side(cell) for cell in values]).reshape(-1, 2).T
    return Numbers(dips, letters=True, sides=sides) if np.isfinite(sides).any() else None


def _of_cells(
    values: AnyArray, name: str, sexagesimal: bool | None, angle: AngleColumn | None
) -> Numbers:
    """Text, of which some may be plain numbers."""
    found = np.array([plain_number(cell) for cell in values], dtype=np.float64)
    given = [cell for cell in values if not _is_missing(cell)]
    if given and not np.isfinite(found).any():
        return _of_text(values, given[0], name, sexagesimal, angle)
    if sexagesimal is None:
        _refuse_mixed(values, found, name)
    return Numbers(found)


def _of_text(
    values: AnyArray, first: Any, name: str, sexagesimal: bool | None, angle: AngleColumn | None
) -> Numbers:
    """A column without a plain number: sexagesimal, with letters of the compass, or refused."""
    if sexagesimal is None and np.isfinite((parts := _sexagesimal(values, name)).values).any():
        return parts
    lettered = np.array([np.nan if angle is None else _lettered(c, angle) for c in values])
    if np.isfinite(lettered).any():
        return Numbers(lettered, letters=True)
    if sexagesimal is not None:
        return Numbers(lettered)  # rows that cannot be read, among others that can
    raise InvalidDirections(
        "column {name!r} holds entries that are not numbers: {first}; {remedy}",
        name=name, first=shown(first),
        remedy="give numbers" if angle is None else angle.remedy(first),
    )  # fmt: skip


def _lettered(cell: Any, angle: AngleColumn) -> float:
    """Degrees of a cell with letters of the compass."""
    if angle.takes_bearings:
        return bearing(cell)
    text, sign = angle.signed(cell)
    plain = plain_number(text.removesuffix("°"))
    return sign * (plain if np.isfinite(plain) else _parts(text)) if sign else np.nan


def _sexagesimal(cells: AnyArray, name: str) -> Numbers:
    """Sexagesimal text, with the unit that its letters say."""
    found = [_SEXAGESIMAL.match(str(cell)) for cell in cells]
    marks = {match["mark"].strip() for match in found if match}
    units = {unit for mark, unit in _LETTERS.items() if mark in marks}
    if len(units) > 1:
        raise InvalidDirections(f"column {name!r} has both hours and degrees; write it in one unit")
    values = np.array([_parts(cell) for cell in cells])
    short = all(match is None or match[5] is None for match in found)
    within = not (np.nan_to_num(values, nan=0.0) > _DAY).any() and not (values < 0.0).any()
    clock = marks == {":"} and (short or within)
    return Numbers(values, True, next(iter(units), None), clock)


def _refuse_mixed(cells: AnyArray, found: AnyArray, name: str) -> None:
    """Refuse a column of which a good part is sexagesimal and the rest is not."""
    other = [k for k in np.flatnonzero(~np.isfinite(found)) if np.isfinite(_parts(cells[k]))]
    if other:
        first = shown(str(cells[other[0]]))
        raise InvalidDirections(
            "column {name!r} has {count} sexagesimal cells like {first} in {row} among {decimal} "
            "decimal ones; write all of them in one way",
            name=name, count=len(other), first=first, row=Row(other[0]),
            decimal=int(np.isfinite(found).sum()),
        )  # fmt: skip


def _is_missing(cell: Any) -> bool:
    return cell is None or str(cell).strip().lower() in _MISSING


def plain_number(cell: Any) -> float:
    """The number that a cell is, or not a number."""
    try:
        return float(cell)
    except (TypeError, ValueError, OverflowError):
        return np.nan


def _parts(cell: Any) -> float:
    """Hours or degrees of text like 05:34:31.9 or +22 00 52."""
    found = _SEXAGESIMAL.match(str(cell))
    if not found or int(found[4]) > 59:
        return np.nan
    size = int(found[2]) + int(found[4]) / 60.0 + float(found[5] or 0.0) / 3600.0
    return -size if found[1] in ("-", "−") else size


def may_be_angles(values: AnyArray) -> bool:
    """Whether the first cells of a column are numbers, or text that is read as an angle."""
    if values.ndim == 1 and values.dtype.kind in "fiu":
        return bool(np.isfinite(values).any())
    if values.ndim != 1 or values.dtype.kind not in "OUST":
        return False
    cells = [cell for cell in values[:_LOOKED_AT] if not _is_missing(cell)]
    ways = (plain_number, _parts, bearing, _dip)
    return 2 * sum(any(np.isfinite(way(cell)) for way in ways) for cell in cells) > len(cells)


def _dip(cell: Any) -> float:
    return dip_and_side(cell)[0]


def cell_words(cell: Any) -> str:
    """A cell that cannot be read, for a message."""
    if isinstance(cell, float | np.floating):
        return "missing" if np.isnan(cell) else f"{cell:g}"
    return "missing" if _is_missing(cell) else shown(str(cell))


def missing(values: AnyArray) -> BoolArray:
    """Which cells of a column hold nothing."""
    if values.dtype.kind == "f":
        return np.asarray(~np.isfinite(values))
    if values.dtype.kind == "M":
        return np.asarray(np.isnat(values))
    return np.array([not str(cell).strip() or str(cell) in ("nan", "None") for cell in values])


# --- planes whose dips say to which side they go: N42E 41SE ----------------------------------

_ALONG = np.cos(np.radians(80.0))  # letters this near to a strike tell no side of it
_HALF_TURN = 180.0


def to_the_right(
    convention: Convention, names: Sequence[str], found: Sequence[Numbers]
) -> list[AnyArray]:
    """The columns with strikes, in degrees, to the right of which their planes dip.

    Rows whose letters name neither side have no dip; level and upright planes need no letters.
    """
    values = [column.values for column in found]
    if convention.roles[:2] != ("strike", "dip"):
        return values
    sides = found[1].sides
    if sides is None:
        if found[0].letters:
            raise InvalidDirections(
                f"column {names[0]!r} has letters of the compass, which do not say to which side "
                "of its strike a plane dips; write dips with letters too, like 41SE, or give "
                "strikes as azimuths from 0 to 360 with the plane dipping to their right, or dip "
                "directions"
            )
        return values
    strike, dip = values
    right = np.cos(np.radians(strike + 90.0 - sides))
    either = (dip == 0.0) | (dip == 90.0)
    told = np.abs(right) >= _ALONG
    turned = np.where(told & (right < 0.0), (strike + _HALF_TURN) % 360.0, strike)
    return [turned, np.where(told | either, dip, np.nan)]


# --- the unit that letters, names and options agree on ---------------------------------------

_HOURS = 24.0
_RADIANS = arguments(degrees=False)


def in_one_unit(
    convention: Convention, names: Sequence[str], found: Sequence[Numbers], units: Units
) -> tuple[Units, tuple[AnyArray, ...]]:
    """The unit of the columns and their values, where some of them are text."""
    values = to_the_right(convention, names, found)
    for k, (name, column) in enumerate(zip(names, found, strict=True)):
        if column.letters:
            units = _of_letters(name, units)
        if not column.sexagesimal:
            continue
        _refuse_foreign(convention, name, column, units)
        if convention.role(k) == "right ascension":
            units = _of_right_ascension(name, column, units)
        elif column.unit == "hours":
            if k < len(convention.limits) and np.isfinite(convention.limits[k][0]):
                raise InvalidDirections(
                    f"column {name!r} is in hours (h), and a {convention.role(k)} is in degrees"
                )
            values[k] = DEGREES_PER_HOUR * values[k]
    return units, tuple(values)


def _of_letters(name: str, units: Units) -> Units:
    """Degrees, which letters of the compass go with."""
    if units.degrees is not None and not units.degrees:
        raise InvalidDirections(
            "column {name!r} has letters of the compass, which no radians have; leave out {said}",
            name=name, said=_RADIANS,
        )  # fmt: skip
    return Units(True, False, "degrees")


def _refuse_foreign(convention: Convention, name: str, column: Numbers, units: Units) -> None:
    if not convention.angular:
        raise InvalidDirections(
            f"column {name!r} is sexagesimal text, and coords {convention.name!r} are numbers"
        )
    if units.degrees is not None and not units.degrees:
        raise InvalidDirections(
            "column {name!r} is sexagesimal, which no radians are; leave out {said}",
            name=name, said=_RADIANS,
        )  # fmt: skip
    if len(convention.roles) == 1 and column.clock:
        raise InvalidDirections(
            "column {name!r} looks like times of the day, not like degrees; say {remedy}, or write "
            "degrees like 21d41m",
            name=name, remedy=arguments(coords="time"),
        )  # fmt: skip


def _of_right_ascension(name: str, column: Numbers, units: Units) -> Units:
    """Hours, unless letters, the column's name or an option say degrees."""
    said = "hours" if units.hours else "degrees" if units.degrees else None
    if None not in (said, column.unit) and said != column.unit:
        raise InvalidDirections(
            "column {name!r} is written in {unit}, and {said} were stated; leave out {stated}, or "
            "rename the column if its name says so",
            name=name, unit=column.unit, said=said, stated=arguments(**{str(said): True}),
        )  # fmt: skip
    if "degrees" in (said, column.unit):
        return Units(True, False, "degrees")
    if said is None and (np.abs(column.values) > _HOURS).any():
        row = int(np.argmax(np.abs(column.values) > _HOURS))
        raise InvalidDirections(
            "right ascension {name!r} in {row} is {value:g}, beyond 24 hours; "
            "pass {remedy} if it is sexagesimal degrees, or repair that row",
            name=name, row=Row(row), value=float(column.values[row]),
            remedy=arguments(degrees=True),
        )  # fmt: skip
    return Units(None, True, "degrees")
