"""Which columns of a table are the directions, and in which coordinates and units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from steradian.arguments import wrong_value
from steradian.data.conventions import CONVENTIONS, Convention, Unit, convention
from steradian.data.directions import Directions
from steradian.data.interpretation import EITHER_UNIT
from steradian.errors import InvalidDirections
from steradian.io.cells import may_be_angles
from steradian.io.decision import Chosen, Decision, Request
from steradian.io.frames import Table, as_table, vector_of
from steradian.io.recognition import (
    COUNTS,
    EULER,
    PERIODS,
    TIMES,
    Candidate,
    candidates,
    directions_by_word,
    edges,
    listed,
    named_convention,
    numbered,
    recognised,
    refuse_split,
    split_angles,
    within_name,
)
from steradian.io.remarks import quadrants, remarks
from steradian.io.selection import Selection
from steradian.numerics.tolerances import UNIT_LENGTH
from steradian.text.messages import Arguments, Joined, Message, arguments, message

_NAMELESS = re.compile(r"\(column \d+\)")  # what a second column without a name is called
_DIGITS = "0123456789"
_RANGE = re.compile(r"^(\d+)-(\d*)$")  # of columns by number: 2-17, or 2- for all that follow
_MOST_DIGITS = 9.0  # after a comma, where it is one
_SEVERAL = 5  # rows
_TITLE = "; if the first line is a title rather than names, put # before it"
_LOOKED_AT = 20  # rows
_COLUMNS, _TIMES_OF_DAY = arguments(columns=...), arguments(coords="time")
_MOST_SPOKEN = 2  # columns of which each may be a direction
_MOST_ANGLES = 4  # numbered columns that may be angles or a quaternion; more are a vector


def directions_from_frame(frame: Any, *, source: str = "a table", **options: Any) -> Directions:
    """Directions from named columns of a frame; the options are those of `Request`."""
    return understood(frame, Request(**options), source)


def understood(frame: Any, request: Request, source: str) -> Directions:
    """Directions of a frame."""
    table = frame if isinstance(frame, Table) else as_table(frame)
    chosen = request.rows_of(table)
    return decided(chosen, request, source).whole(chosen)


def decided(table: Table, request: Request, source: str, beside: str = "") -> Decision:
    """How a table is read, from its names; ``beside`` is a column that is no part of a row."""
    weights, weights_name = _named(table, request.weights, "weights")
    counts, counts_name = _named(table, request.counts, "counts")
    taken = {name for name in (weights_name, counts_name, beside) if name}
    stated = None if request.coords is None else convention(request.coords)
    if request.columns is None and request.bins is None:
        _refuse_repeated(table, source)
    free = [n for n in table.columns if n and n not in taken and not _NAMELESS.fullmatch(n)]
    chosen = _bins(table, free, request, stated, counted=bool(counts_name) or counts is not None)
    if chosen is None and request.columns is None:
        chosen = _recognised(table, free, stated)
        _refuse_quaternions(table, chosen, free)
    elif chosen is None:
        chosen = _stated(table, _column_names(request.columns), stated, taken)
    _refuse_decimals(table, chosen)
    _refuse_period(table, chosen, request)
    chosen = replace(
        chosen, weights=weights, counts=counts, weights_name=weights_name, counts_name=counts_name
    )
    chosen = with_units(table, chosen, request)
    if request.selection is not None:
        chosen = replace(chosen, remarks=(*chosen.remarks, _chosen_rows(table, request.selection)))
    idle = [name for name in free if name not in request.used]
    said = remarks(table, chosen, idle)
    said += quadrants(table, idle, chosen, named=request.columns is not None)
    chosen = replace(chosen, remarks=(*chosen.remarks, *said))
    return Decision.of(chosen, request, source, table)


def _chosen_rows(table: Table, where: Selection) -> str:
    """What is said of rows that were chosen; of a stream nobody has counted them."""
    where.refuse_unknown(table)
    said = f" ({table.rows} of {table.chosen_of})" if table.chosen_of else ""
    return f"only rows with {where.text}{said}"


def _refuse_repeated(table: Table, source: str) -> None:
    """Refuse to look for names where two columns have one; by number they are all told apart."""
    if table.repeated:
        raise InvalidDirections(
            "{source}: column {name!r} is there twice; rename one, or give the columns by number "
            "({remedy})",
            source=source, name=table.repeated[0], remedy=_COLUMNS,
        )  # fmt: skip


def _bins(
    table: Table, free: list[str], request: Request, stated: Convention | None, *, counted: bool
) -> Chosen | None:
    """The edges of bins, where they are named, or names and counts say that they are there."""
    if request.bins is not None:
        names = [_by_number(table, name) for name in _column_names(request.bins)]
        if request.columns is not None or len(names) != 2:
            raise InvalidDirections(
                "{bins} takes two columns, of lower and upper edges, in place of {columns}",
                bins=arguments(bins=...), columns=_COLUMNS,
            )  # fmt: skip
    else:
        found = edges(free) if request.columns is None and table.header else None
        if found is None or (stated is not None and len(stated.roles) != 1):
            return None
        names = list(found)
    for name in names:
        if name not in table.data:
            raise InvalidDirections(f"no column {name!r}; the table has {listed(table.columns)}")
    said, unit = (stated, None) if stated else within_name(names[0])
    if request.bins is None and (said is None or not counted):
        _ask_for_bins(free, names, said, counted)
        return None
    if said is None or len(said.roles) != 1:
        raise InvalidDirections(
            "bins from {lower} to {upper} need a convention of the circle: {azimuth}, {angle} or "
            "{time}",
            lower=names[0], upper=names[1], azimuth=arguments(coords="azimuth"),
            angle=arguments(coords="angle"), time=_TIMES_OF_DAY,
        )  # fmt: skip
    return Chosen(said, (names[0],), unit, upper=names[1])


def _ask_for_bins(
    free: Sequence[str], names: Sequence[str], said: Convention | None, counted: bool
) -> None:
    """Refuse columns that look like edges of bins beside counts, with what reads them so."""
    counts = next((name for name in free if name.strip().lower() in COUNTS), None)
    if counts is None and not counted:
        return
    how = {"bins": list(names), "coords": "azimuth" if said is None else said.name}
    if counts is not None:
        how["counts"] = counts
    other = " (or 'angle', or 'time')" if said is None else ""
    raise InvalidDirections(
        "columns {names} look like the edges of bins; say {remedy}{other}",
        names=", ".join(names), remedy=arguments(**how), other=other,
    )  # fmt: skip


def _refuse_period(table: Table, chosen: Chosen, request: Request) -> None:
    """Refuse months and days of the week where hours of the day would be assumed."""
    if chosen.convention.frame != "clock" or request.period is not None:
        return
    name = chosen.columns[0]
    length = PERIODS.get(re.sub(r"[\s_]", "", name.lower()).removesuffix("s"))
    if length is not None and table[name].dtype.kind in "fiu":
        raise InvalidDirections(
            "column {name!r} is not named like hours of the day, which are assumed; pass {remedy}, "
            "or {as_assumed} if they are hours",
            name=name, remedy=arguments(period=length), as_assumed=arguments(period=24),
        )  # fmt: skip


def _refuse_quaternions(table: Table, chosen: Chosen, free: Sequence[str]) -> None:
    """Refuse x, y, z that are unit vectors only together with a w beside them."""
    last = chosen.columns[-1]
    fourth = last[:-1] + ("W" if last.endswith("Z") else "w")
    names = (*chosen.columns, fourth)
    if chosen.convention.angular or last[-1:] not in ("z", "Z") or fourth not in free:
        return
    columns = [table[name][:_LOOKED_AT] for name in names]
    if len(names) != 4 or any(column.dtype.kind != "f" for column in columns):
        return
    alone = np.sum([column**2 for column in columns[:3]], axis=0)
    if not np.allclose(alone, 1.0) and np.allclose(alone + columns[3] ** 2, 1.0, atol=UNIT_LENGTH):
        raise InvalidDirections(
            "there is {fourth!r} beside {names}, and the four are unit vectors; say which: "
            "{quaternions} (scalar last), or {vectors}",
            fourth=fourth, names=", ".join(chosen.columns),
            quaternions=arguments(columns=list(names), coords="quaternions"),
            vectors=arguments(columns=list(chosen.columns), coords="xyz"),
        )  # fmt: skip


def _refuse_decimals(table: Table, chosen: Chosen) -> None:
    """Refuse two columns without names that are rather one with decimal commas."""
    if table.header or tuple(chosen.columns) != ("1", "2") or len(table.columns) != 2:
        return
    first, second = (table[name] for name in chosen.columns)
    if table.delimiter != "," or second.dtype.kind != "f" or len(second) < _SEVERAL:
        return
    whole = (first == np.floor(first)).all() and (second == np.floor(second)).all()
    if whole and (second >= 0.0).all() and (second <= _MOST_DIGITS).all():
        raise InvalidDirections(
            f"lines like {first[0]:g},{second[0]:g} may be one number with a decimal comma, or "
            "two; add a header line with one name, or with two"
        )


def _named(table: Table, given: Any, what: str) -> tuple[Any, str]:
    """The name of a column, or an array as it is."""
    if not isinstance(given, str):
        return given, ""
    name = _by_number(table, given)
    if name not in table.data and name in table.beside:
        return table.beside[name], ""
    if name not in table.data:
        raise InvalidDirections(
            f"no {what} column {given!r}; the table has {listed(table.columns)}"
        )
    return None, name


def _all_of(table: Table, name: str) -> list[str]:
    """The columns that a name stands for: one, a range of numbers, or those of vectors."""
    if name in table.data:
        return [name]
    if (found := _RANGE.match(name)) is not None:
        first, last = int(found[1]), int(found[2] or len(table.columns))
        if 1 <= first <= last <= len(table.columns):
            return table.columns[first - 1 : last]
    vectors = [each for each in table.columns if vector_of(each) == name]
    run = [each for each in table.columns if each != name and each.rstrip(_DIGITS) == name]
    return vectors or run or [_by_number(table, name)]


def _is_number(table: Table, said: str) -> bool:
    """Whether columns are given by number: then their names have no say."""
    return said not in table.data and (said.isdecimal() or _RANGE.match(said) is not None)


def _by_number(table: Table, name: str) -> str:
    """A column given by its number, from 1 on, unless one is called so."""
    if name in table.data or not name.isdecimal() or not 1 <= int(name) <= len(table.data):
        return name
    return table.columns[int(name) - 1]


def _stated(table: Table, given: list[str], stated: Convention | None, taken: set[str]) -> Chosen:
    """Columns that the user named, in the convention stated or that their names say."""
    columns = [name for said in given for name in _all_of(table, said)]
    for name in columns:
        if name in taken:
            raise InvalidDirections(f"column {name!r} cannot be a coordinate and the weights")
        if name not in table.data:
            raise InvalidDirections(f"no column {name!r}; the table has {listed(table.columns)}")
    counted = stated is not None and all(_is_number(table, said) for said in given)
    named = named_convention(columns, stated, strict=not counted)
    if stated is not None:
        other = "" if named else _said_by_names(columns)
        unit = None if named is None else named.unit
        guessed = bool(other) and not stated.angular and not counted
        other = "the other order" if other == stated.name else other
        said = (f"the names of the columns say {other}",) if other else ()
        return Chosen(stated, tuple(columns), unit, guessed=guessed, remarks=said)
    if named is not None:
        return Chosen(named.convention, tuple(columns), named.unit)
    vectors = len(columns) > _MOST_ANGLES
    return Chosen(CONVENTIONS["xyz"], tuple(columns), None, guessed=True, vectors=vectors)


def _said_by_names(columns: Sequence[str]) -> str:
    """The convention that the names of columns say, in whatever order; empty where none."""
    found = [one for one in candidates(columns) if set(one.columns) == set(columns)]
    return found[0].convention.name if found else ""


def _recognised(table: Table, free: list[str], stated: Convention | None) -> Chosen:
    """Columns that nobody named."""
    found = _recognised_by_name(table, free, stated) if table.header else None
    cartesian = stated in (None, CONVENTIONS["xyz"])
    if found is not None:
        if len(found.columns) == 1 and stated is None and (vectors := numbered(free)):
            raise InvalidDirections(
                "column {angle!r} or {first}, …, {last} could be the directions; name the columns "
                "({remedy})",
                angle=found.columns[0], first=vectors[0], last=vectors[-1], remedy=_COLUMNS,
            )  # fmt: skip
        return Chosen(found.convention, found.columns, found.unit)
    known = {name.strip().lower() for name in free} if table.header else set()
    if any(angles <= known for angles in EULER):
        raise InvalidDirections(
            "Euler angles have too many conventions to be guessed; write rotations as quaternions "
            "x, y, z, w, as by scipy.spatial.transform.Rotation, and say {remedy}",
            remedy=arguments(coords="quaternions"),
        )
    numeric = [name for name in free if table[name].dtype.kind in "fiub"]
    if stated is not None and not table.header and len(numeric) == len(stated.roles or numeric):
        return Chosen(stated, tuple(numeric), None, tells_unused=True)
    run = numbered(numeric) if cartesian and table.header else ()
    spoken = [] if run or not table.header else _spoken_of(table, free, stated)
    vectors = run
    if not vectors and cartesian and not spoken and (len(numeric) == len(free) or not table.header):
        vectors = tuple(numeric) if len(numeric) > 2 else ()
    if vectors:
        return Chosen(
            CONVENTIONS["xyz"], vectors, None,
            guessed=stated is None, vectors=len(run) > _MOST_ANGLES, tells_unused=True,
        )  # fmt: skip
    raise InvalidDirections(
        "cannot tell which of the columns {names} are the coordinates; name them ({columns}) with "
        "their convention ({coords}){like}{times}{title}{number}",
        names=listed(free), columns=_COLUMNS, coords=arguments(coords=...),
        like=message(", like {remedy}", remedy=Joined(tuple(spoken))) if spoken else "",
        times=_of_times(free),
        title=_TITLE if "" in table.data else "",
        number="" if table.header else _numbers(free, stated),
    )  # fmt: skip


def _recognised_by_name(
    table: Table, free: Sequence[str], stated: Convention | None
) -> Candidate | None:
    """What names say; parts of an angle are no angles, and refused unless it is there whole."""
    split = split_angles(free)
    parts = {name for each in split for name in each.columns}
    whole = [name for name in free if name not in parts]
    angles = [name for name in whole if may_be_angles(table[name])]
    found = recognised(whole, stated, angles)
    columns = () if found is None else found.columns
    if split and not any(each.angle in name.lower() for each in split for name in columns):
        refuse_split(split)
    return found


def _spoken_of(table: Table, free: Sequence[str], stated: Convention | None) -> list[Arguments]:
    """What reads one or two columns whose names speak of a direction; more may be a vector."""
    system = stated or CONVENTIONS["azimuth"]
    if len(system.roles) != 1 or system.frame == "clock":
        return []
    found = directions_by_word([name for name in free if may_be_angles(table[name])])
    said = [replace(one, convention=system).arguments for one in found]
    return said if len(said) <= _MOST_SPOKEN else []


def _of_times(free: Sequence[str]) -> Message | str:
    """What to say where a column is called by a word for times, which nobody need have meant."""
    named = [name for name in free if name.strip().lower() in TIMES]
    if not named:
        return ""
    remedy = arguments(columns=named[:1], coords="time")
    return message("; for times of the day: {remedy}", remedy=remedy)


def _numbers(free: Sequence[str], stated: Convention | None) -> Message:
    """Columns by number, as many as the convention has."""
    number = len(stated.roles) if stated is not None and stated.roles else 2
    remedy = arguments(columns=[str(k) for k in range(1, min(number, len(free)) + 1)])
    return message("; there is no header, so by number: {remedy}", remedy=remedy)


def _column_names(columns: Any) -> list[str]:
    """Names of columns as a list of text."""
    try:
        return [str(c).strip() for c in columns]
    except Exception as error:  # whatever a foreign object does
        remedy = "give a list of names, like ['x', 'y']"
        raise wrong_value("columns", columns, remedy, InvalidDirections) from error


# --- units that a line of the table says -----------------------------------------------------


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
