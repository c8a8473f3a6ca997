"""How the rows of a source are read: what was said of it, what was chosen, and what that means."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import truth, wrong_value
from steradian.data.conventions import CONVENTIONS, Convention, Unit, convention
from steradian.data.directions import Directions
from steradian.data.interpretation import Units
from steradian.data.notation import Notation
from steradian.diagnostics import Diagnostic
from steradian.errors import InvalidDirections
from steradian.io.frames import Table, placed
from steradian.io.recognition import COUNTS, WEIGHTS, candidates, listed
from steradian.io.rows import MOST_NAMED, RowColumns
from steradian.io.selection import Selection, selection
from steradian.numerics.arrays import BoolArray, IntArray
from steradian.spaces import Space
from steradian.text.messages import Joined, Message, Name, arguments, message

OnBad = Literal["error", "skip"]


@dataclass(frozen=True, slots=True)
class Request:
    """What the user said of a table; None where nothing was said."""

    columns: Sequence[str] | None = None
    coords: str | None = None
    weights: ArrayLike | str | None = None
    counts: ArrayLike | str | None = None
    normalize: bool = False
    axial: bool | None = None
    degrees: bool | None = None
    hours: bool = False
    period: Any = None
    on_bad: OnBad = "error"
    bins: Sequence[str] | None = None
    table: str | None = None
    where: Any = None
    distinct: bool = False
    used: Sequence[str] = ()  # columns that something else is read from: labels, clusters

    def __post_init__(self) -> None:
        if self.on_bad not in ("error", "skip"):
            raise wrong_value("on_bad", self.on_bad, "choose 'error' or 'skip'", InvalidDirections)
        if self.where is not None and not isinstance(self.where, str):
            remedy = "give a comparison, like \"dip > 30 and formation == 'Ross'\""
            raise wrong_value("where", self.where, remedy, InvalidDirections)
        if truth(self.distinct, "distinct") and self.counts is not None:
            raise InvalidDirections(
                "{said} counts no repeated rows, and {counts} says how often each was observed; "
                "give one of them",
                said=arguments(distinct=True), counts=arguments(counts=...),
            )  # fmt: skip

    @property
    def is_cartesian(self) -> bool:
        """Whether rows of numbers are Cartesian: nothing names a column or what only they have."""
        said = (self.columns, self.weights, self.counts, self.bins, self.table, self.where)
        plain = self.coords is None or convention(self.coords) == CONVENTIONS["xyz"]
        return plain and all(each is None for each in said)

    @property
    def selection(self) -> Selection | None:
        """Which rows are read; None for all of them."""
        return None if self.where is None else selection(self.where)

    def rows_of(self, table: Table, *, some: bool = True) -> Table:
        """The rows of a table that are read; refused where ``some`` are expected and none is."""
        where = self.selection
        if where is None:
            return table
        return where.some_of(table) if some else where.of(table)

    @property
    def units(self) -> Units:
        """What was said of units; angles of tables are in degrees."""
        return Units(self.degrees, self.hours, "degrees", self.period)


@dataclass(frozen=True, slots=True)
class Chosen:
    """Columns of a table with the convention they are in."""

    convention: Convention
    columns: tuple[str, ...]
    unit: Unit | None  # where the names say it
    guessed: bool = False  # Cartesian, because nothing says otherwise
    vectors: bool = False  # numbered columns, more than a direction has angles
    weights: Any = None
    counts: Any = None
    weights_name: str = ""
    counts_name: str = ""
    upper: str = ""  # the column of upper edges, where the first one is of the lower edges of bins
    tells_unused: bool = False  # whether what stands beside its columns is said
    remarks: tuple[Message | str, ...] = ()  # on what the names say and was not followed

    @property
    def labels(self) -> tuple[str, ...]:
        """What its values are called."""
        return (f"{self.columns[0]}–{self.upper}",) if self.upper else self.columns

    @property
    def read(self) -> tuple[str, ...]:
        """Columns that a direction is read from."""
        return (*self.columns, self.upper) if self.upper else self.columns

    def units(self, request: Request) -> Units:
        """What the user said of units, or the names of the columns."""
        units = request.units
        if units.degrees is None and not units.hours and self.unit is not None:
            named = self.unit == "degrees" if self.unit != "hours" else None
            return Units(named, self.unit == "hours", "degrees", request.period)
        return units


@dataclass(frozen=True, slots=True)
class Told:
    """What the first rows of a source have told: later ones are not asked again."""

    units: Units
    assumed: bool  # whether nobody stated the unit
    sexagesimal: tuple[bool, ...]  # of each column
    space: Space
    notation: Notation | None  # of angles


@dataclass(frozen=True, slots=True)
class Block:
    """Directions of some rows of a source, None where none of them can be read."""

    directions: Directions | None
    rows: IntArray  # of the table, for each direction
    skipped: IntArray  # rows that cannot be read
    weightless: bool = False  # the weights are all zero, and the directions have none


@dataclass(frozen=True, slots=True)
class Decision:
    """How the rows of a source are read: decided once, and then alike for all of its blocks."""

    chosen: Chosen
    request: Request
    source: str
    columns: tuple[str, ...]  # all that the first block has
    units: Mapping[str, Unit]  # of columns, where a line of the first block says them
    told: Told | None = None  # None: by the names of the columns alone

    @staticmethod
    def of(chosen: Chosen, request: Request, source: str, head: Table) -> Decision:
        """Columns as they are to be read; refused where that means nothing."""
        chosen.convention.refuse_number(len(chosen.columns))
        _refuse_one_column(chosen)
        _refuse_idle(chosen, request)
        return Decision(chosen, request, source, tuple(head.columns), head.units)

    @property
    def names(self) -> list[str]:
        """Columns that are needed."""
        extra = (self.chosen.weights_name, self.chosen.counts_name)
        return [*self.chosen.read, *(name for name in extra if name)]

    def after(self, table: Table) -> Decision:
        """The same with what the first rows tell of unit and cells, or refused by them."""
        columns, good, _ = self._looked_at(table)
        if not good.any():
            return self
        made = self._made(columns, good, weighted=False)
        unit, _ = columns.units.of(self.chosen.convention)
        units, assumed = columns.units, made.reading is not None and made.reading.assumed
        if not units.hours:
            units = replace(units, degrees=unit == "degrees")
        notation = None if made.reading is None else made.reading.notation
        return replace(self, told=Told(units, assumed, columns.sexagesimal, made.space, notation))

    def refuse_other_columns(self, head: Table, block: str) -> None:
        """Refuse a later block whose columns, by their names, are to be read in another way.

        It lacks what is read, has weights, counts or another set of coordinates that the first
        block does not have, or says other units.
        """
        names = head.columns
        lost = [name for name in self.names if name not in names]
        if lost:
            raise InvalidDirections(
                f"{block}: no column {lost[0]!r}, which the first block has; it has {listed(names)}"
            )
        for columns, what, named in (
            (WEIGHTS, "weights", self.chosen.weights is not None or self.chosen.weights_name),
            (COUNTS, "counts", self.chosen.counts is not None or self.chosen.counts_name),
        ):
            new = [n for n in names if n.strip().lower() in columns and n not in self.columns]
            if new and not named:
                raise InvalidDirections(
                    "{block} has a column {name!r}, which may hold {what} and which the first "
                    "block does not have; give it to all blocks ({remedy}), or drop it",
                    block=block, name=new[0], what=what, remedy=arguments(**{what: new[0]}),
                )  # fmt: skip
        known = {one.columns for one in candidates(self.columns)}
        other = [one for one in candidates(names) if one.columns not in known]
        if other and self.request.columns is None:
            raise InvalidDirections(
                "{block} has columns {names}, which the first block does not have; name the "
                "coordinates ({remedy}), or drop the others",
                block=block, names=", ".join(other[0].columns), remedy=arguments(columns=...),
            )  # fmt: skip
        if any(head.units.get(n) != self.units.get(n) for n in self.chosen.read):
            raise InvalidDirections(f"{block} says other units than the first; read it by itself")

    def refuse_other_values(self, table: Table, block: str) -> None:
        """Refuse the first rows of a later block that by themselves would be read otherwise."""
        if self.told is None:
            return
        try:
            again = replace(self, told=None).after(table).told
        except InvalidDirections as error:
            raise error.within(f"{block} does not agree with the first") from error
        if again is not None and replace(again, assumed=self.told.assumed) != self.told:
            raise InvalidDirections(
                f"{block} is written otherwise than the first: {_spoken(again)}, not "
                f"{_spoken(self.told)}; write all blocks alike"
            )

    def whole(self, table: Table) -> Directions:
        """Directions of all rows there are."""
        columns, good, reasons = self._looked_at(table)
        if len(good) and not good.any():
            _refuse_bad(table, reasons, len(good), "repair them; none is left to read")
        kept = good & columns.first_of_each() if self.request.distinct else good
        made = self._made(columns, kept, weighted=True)
        if made.reading is not None:
            lost = int(good.sum() - kept.sum())
            said: tuple[Message | Diagnostic, ...] = columns.repeats(made, kept)
            if self.request.distinct:
                said = (message("{lost:count repeated row} left out", lost=lost),)
            remarks = (*made.reading.remarks, *said)
            skipped = made.reading.skipped - lost
            made = made.with_reading(replace(made.reading, skipped=skipped, remarks=remarks))
        rows = columns.repeated(kept)
        if table.numbers is not None:
            return made.with_rows(table.numbers[rows])
        all_in_order = kept.all() and columns.counts is None
        return made if all_in_order else made.with_rows(rows)

    def block(self, table: Table) -> Block:
        """Directions of some of the rows; none of them need be good, or weigh anything."""
        columns, good, _ = self._looked_at(table)
        skipped = np.flatnonzero(~good)
        if not good.any():
            return Block(None, np.flatnonzero(good), skipped)
        naught = columns.weights is not None and not columns.weights[good].any()
        made = self._made(columns, good, weighted=not naught)
        return Block(made, columns.repeated(good), skipped, naught)

    def _looked_at(self, table: Table) -> tuple[RowColumns, BoolArray, dict[int, str]]:
        columns = RowColumns.of(table, self)
        good, reasons = columns.good_rows()
        bad = int((~good).sum())
        if (bad or table.ragged) and self.request.on_bad == "error":
            _refuse_bad(table, reasons, bad)
        return columns, good, reasons

    def _made(self, columns: RowColumns, good: BoolArray, *, weighted: bool) -> Directions:
        try:
            made = columns.directions(good, weighted=weighted)
        except InvalidDirections as error:
            table, kept = columns.table, np.flatnonzero(good)
            if table.lines is None and not table.first and table.files is None and good.all():
                raise
            raise placed(error, table, kept) from error
        return made.with_reading(columns.reading(made, good))


def _spoken(told: Told) -> str:
    """How angles are written, in words."""
    told_unit = "numbers" if told.notation is None else f"angles in {told.notation.unit}"
    return f"sexagesimal {told_unit}" if any(told.sexagesimal) else told_unit


def _refuse_one_column(chosen: Chosen) -> None:
    if not chosen.convention.angular and len(chosen.columns) < 2:
        raise InvalidDirections(
            "Cartesian coordinates need at least two columns; name them, or give the convention of "
            "the one there is ({remedy})",
            remedy=arguments(coords="angle"),
        )


def _refuse_idle(chosen: Chosen, request: Request) -> None:
    """Refuse what was said and means nothing for the convention."""
    name = chosen.convention.name
    if request.period is not None and chosen.convention.frame != "clock":
        raise InvalidDirections(
            "{said} is of times, and {coords} is {name!r}; leave it out",
            said=Name("period"), coords=Name("coords"), name=name,
        )  # fmt: skip
    if request.hours and "right ascension" not in chosen.convention.roles:
        raise InvalidDirections(
            "{said} is of right ascensions, and {coords} is {name!r}",
            said=arguments(hours=True), coords=Name("coords"), name=name,
        )  # fmt: skip


_REPAIR = message("repair them, or leave them out with {remedy}", remedy=arguments(on_bad="skip"))


def _refuse_bad(
    table: Table, reasons: dict[int, str], bad: int, remedy: Message | str = _REPAIR
) -> None:
    rows = [
        message("{row} ({why})", row=table.where(row), why=reasons[row]) for row in sorted(reasons)
    ]
    named = Joined((*table.ragged, *rows)[:MOST_NAMED], ", ")
    total = bad + len(table.ragged)
    more = ", …" if total > MOST_NAMED else ""
    raise InvalidDirections(
        "{total} of {rows} cannot be read: {named}{more}; {remedy}",
        total=total, rows=table.extent, named=named, more=more,
        remedy=remedy, source="" if table.files is None else str(table.files[0]),
    )  # fmt: skip
