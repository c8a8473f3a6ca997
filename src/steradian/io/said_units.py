"""Units that a line of a table says of its columns."""

from __future__ import annotations

from dataclasses import replace

from steradian.data.conventions import Unit
from steradian.data.interpretation import EITHER_UNIT
from steradian.errors import InvalidDirections
from steradian.io.frames import Table
from steradian.io.request import Chosen, Request


def with_units(table: Table, chosen: Chosen, request: Request) -> Chosen:
    """The same columns in the unit that their table says, where names and options say none.

    Right ascensions in hours beside declinations in degrees are in hours.
    """
    convention = chosen.convention
    said = [table.units.get(name) for name in chosen.read]
    if request.degrees is not None or request.hours or chosen.unit is not None:
        return chosen
    if not any(said) or not convention.angular or convention.frame == "clock":
        return chosen
    unit = _one_unit(chosen, said)
    remark = f"{unit} as the table says"
    return replace(chosen, unit=unit, remarks=(*chosen.remarks, remark))


def _one_unit(chosen: Chosen, said: list[Unit | None]) -> Unit:
    first, rest = said[0], set(said[1:])
    if first == "hours" and "right ascension" in chosen.convention.roles:
        if rest <= {"degrees", None}:
            return "hours"
    elif "hours" not in said and len(found := {unit for unit in said if unit}) == 1:
        return found.pop()
    named = ", ".join(
        f"{name} in {unit or 'none'}" for name, unit in zip(chosen.read, said, strict=True)
    )
    raise InvalidDirections(
        "the table says {named}, which are not read together; write them in one unit, or say it "
        "({remedy})",
        named=named, remedy=EITHER_UNIT,
    )  # fmt: skip
