"""Cells of a table as numbers: plain, sexagesimal, or missing."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.data.conventions import Unit
from steradian.errors import InvalidDirections
from steradian.io.compass_letters import AngleColumn, bearing, dip_and_side
from steradian.numerics.arrays import AnyArray, BoolArray
from steradian.text.messages import Row

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
    found = np.array([_number(cell) for cell in values], dtype=np.float64)
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
    plain = _number(text.removesuffix("°"))
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


def _number(cell: Any) -> float:
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
    ways = (_number, _parts, bearing, _dip)
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
