"""Columns of text: the unit that letters, names and options agree on."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.data.conventions import DEGREES_PER_HOUR, Convention
from steradian.data.interpretation import Units
from steradian.errors import InvalidDirections
from steradian.io.cells import Numbers
from steradian.io.dip_sides import to_the_right
from steradian.numerics.arrays import AnyArray
from steradian.text.messages import Row, arguments

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
