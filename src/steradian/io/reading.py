"""Which columns of a table are the directions, and in which coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from steradian.arguments import shown
from steradian.data.conventions import CONVENTIONS, Convention, convention
from steradian.data.directions import Directions
from steradian.errors import InvalidDirections
from steradian.io.frames import Table, as_table
from steradian.io.recognition import candidates, listed, named_convention, recognised
from steradian.io.rows import Chosen, Decision, Request
from steradian.numerics.arrays import IntArray

_COUNTS = frozenset({"count", "counts", "n", "freq", "frequency", "frequencies"})


def directions_from_frame(frame: Any, *, source: str = "a table", **options: Any) -> Directions:
    """Directions from named columns of a frame; the options are those of `Request`."""
    return understood(frame, Request(**options), source)[0]


def understood(frame: Any, request: Request, source: str) -> tuple[Directions, IntArray]:
    """Directions of a frame, and the row of the frame that each is from."""
    table = frame if isinstance(frame, Table) else as_table(frame)
    return decided(table, request, source).whole(table)


def decided(table: Table, request: Request, source: str, beside: str = "") -> Decision:
    """How a table is read, from its names; ``beside`` is a column that is no part of a row."""
    weights, weights_name = _named(table, request.weights, "weights")
    counts, counts_name = _named(table, request.counts, "counts")
    taken = {name for name in (weights_name, counts_name, beside) if name}
    stated = None if request.coords is None else convention(request.coords)
    free = [name for name in table.columns if name not in taken]
    if request.columns is None:
        chosen = _recognised(table, free, stated)
    else:
        chosen = _stated(table, _column_names(request.columns), stated, taken)
    chosen = replace(
        chosen, weights=weights, counts=counts, weights_name=weights_name, counts_name=counts_name
    )
    if counts is None and not counts_name:
        used = set(chosen.columns)
        idle = [name for name in free if name not in used]
        said = _idle_counts(idle) if table.header else _idle_decimals(table, idle)
        chosen = replace(chosen, remarks=(*chosen.remarks, *said))
    return Decision.of(chosen, request, source)


def _idle_counts(names: Sequence[str]) -> tuple[str, ...]:
    """What is said of a column that may count observations and that nobody named."""
    return tuple(
        f"column `{name}` not used (counts={name!r} or --counts {name} if rows are bins)"
        for name in names
        if name.strip().lower() in _COUNTS
    )[:1]


def _idle_decimals(table: Table, names: Sequence[str]) -> tuple[str, ...]:
    """What is said of a second column without a name, which may be what follows a comma."""
    if len(table.columns) != 2 or names != ["2"]:
        return ()
    return ("column `2` not used (if it is the decimals after a comma, add a header line)",)


def _named(table: Table, given: Any, what: str) -> tuple[Any, str]:
    """The name of a column, or an array as it is."""
    if not isinstance(given, str):
        return given, ""
    name = _by_number(table, given)
    if name not in table.data:
        raise InvalidDirections(
            f"no {what} column {given!r}; the table has {listed(table.columns)}"
        )
    return None, name


def _by_number(table: Table, name: str) -> str:
    """A column given by its number, from 1 on, unless one is called so."""
    if name in table.data or not name.isdecimal() or not 1 <= int(name) <= len(table.data):
        return name
    return table.columns[int(name) - 1]


def _stated(table: Table, given: list[str], stated: Convention | None, taken: set[str]) -> Chosen:
    """Columns that the user named, in the convention stated or that their names say."""
    columns = [_by_number(table, name) for name in given]
    for name, said in zip(columns, given, strict=True):
        if name in taken:
            raise InvalidDirections(f"column {said!r} cannot be a coordinate and the weights")
        if name not in table.data:
            raise InvalidDirections(f"no column {said!r}; the table has {listed(table.columns)}")
    named = named_convention(columns, stated)
    if stated is not None:
        other = "" if named else _said_by_names(columns)
        unit = None if named is None else named.unit
        guessed = bool(other) and not stated.angular
        remarks = (f"the names of the columns say {other}",) if other else ()
        return Chosen(stated, tuple(columns), unit, guessed=guessed, remarks=remarks)
    if named is not None:
        return Chosen(named.convention, tuple(columns), named.unit)
    return Chosen(CONVENTIONS["xyz"], tuple(columns), None, guessed=True)


def _said_by_names(columns: Sequence[str]) -> str:
    """The convention that the names of columns say, in whatever order; empty where none."""
    found = [one for one in candidates(columns) if set(one.columns) == set(columns)]
    return found[0].convention.name if found else ""


def _recognised(table: Table, free: list[str], stated: Convention | None) -> Chosen:
    """Columns that nobody named."""
    found = recognised(free, stated) if table.header else None
    if found is not None:
        return Chosen(found.convention, found.columns, found.unit)
    if stated is not None and not table.header and len(free) == len(stated.roles or free):
        return Chosen(stated, tuple(free), None)
    if stated in (None, CONVENTIONS["xyz"]) and len(free) > 2 and _all_numbers(table, free):
        return Chosen(CONVENTIONS["xyz"], tuple(free), None, guessed=stated is None)
    raise InvalidDirections(
        f"cannot tell which of the columns {listed(free)} are the coordinates; "
        "name them (columns=…, --columns) with their convention (coords=…, --coords)"
        + ("" if table.header else f"; there is no header, so by number: {_numbered(stated)}")
    )


def _numbered(stated: Convention | None) -> str:
    """Columns by number, as many as the convention has."""
    number = len(stated.roles) if stated is not None and stated.roles else 2
    return "columns=" + ",".join(str(k) for k in range(1, number + 1))


def _all_numbers(table: Table, names: Sequence[str]) -> bool:
    return all(table[name].dtype.kind in "fiub" for name in names)


def _column_names(columns: Any) -> list[str]:
    """Names of columns as a list of text."""
    try:
        return [str(c).strip() for c in columns]
    except Exception as error:  # whatever a foreign object does
        raise InvalidDirections(
            f"columns is {shown(columns)}; give a list of names, like ['x', 'y']"
        ) from error
