"""Rows of chosen columns as directions; bad rows are counted, named and, if asked, left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steradian.data.conventions import Unit
from steradian.data.directions import Directions
from steradian.data.interpretation import Units, plain_points, points
from steradian.data.notation import Notation, Reading
from steradian.data.validation import norms
from steradian.errors import InvalidDirections
from steradian.io.bins import grouping, middles, stated_grouping, widths
from steradian.io.cells import cell_words, missing, numbers
from steradian.io.compass_letters import AngleColumn
from steradian.io.doubts import doubts
from steradian.io.frames import Table
from steradian.io.ranges import foreign, wrong_column
from steradian.io.recognition import candidates, listed
from steradian.io.remarks import COUNTS, WEIGHTS
from steradian.io.request import Chosen, Request
from steradian.io.sexagesimal import in_one_unit
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.tolerances import UNIT_LENGTH
from steradian.spaces import Space
from steradian.text.messages import Joined, Message, Name, Row, arguments, message, names_rows

_SCALED, _CARTESIAN = arguments(normalize=True), arguments(coords="xyz")
_MANY = 64  # columns that are looked at together
_MOST_NAMED = 4  # bad rows that a message names


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
        made = self._made(columns, good, weighted=True)
        all_in_order = good.all() and columns.counts is None
        return made if all_in_order else made.with_rows(columns.repeated(good))

    def block(self, table: Table) -> Block:
        """Directions of some of the rows; none of them need be good, or weigh anything."""
        columns, good, _ = self._looked_at(table)
        skipped = np.flatnonzero(~good)
        if not good.any():
            return Block(None, np.flatnonzero(good), skipped)
        naught = columns.weights is not None and not columns.weights[good].any()
        made = self._made(columns, good, weighted=not naught)
        return Block(made, columns.repeated(good), skipped, naught)

    def _looked_at(self, table: Table) -> tuple[_Columns, BoolArray, dict[int, str]]:
        columns = _Columns.of(table, self)
        good, reasons = columns.good_rows()
        bad = int((~good).sum())
        if (bad or table.ragged) and self.request.on_bad == "error":
            _refuse_bad(table, reasons, bad)
        return columns, good, reasons

    def _made(self, columns: _Columns, good: BoolArray, *, weighted: bool) -> Directions:
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


def placed(error: InvalidDirections, table: Table, kept: IntArray) -> InvalidDirections:
    """The same error with lines or rows of the source in place of rows of an array."""
    found = error.placed(lambda row: table.where(int(kept[row])))
    if table.files is None or not names_rows(error.fields):
        return found
    return found.changed(source=str(table.files[0]))


@dataclass(frozen=True, slots=True)
class _Columns:
    """The values that are needed, as numbers where they are numbers."""

    table: Table
    decision: Decision
    values: tuple[AnyArray, ...]
    sexagesimal: tuple[bool, ...]
    letters: tuple[bool, ...]
    weights: Array | None
    counts: Array | None
    units: Units
    widths: Array | None = None  # of bins, in degrees

    @staticmethod
    def of(table: Table, decision: Decision) -> _Columns:
        chosen, told = decision.chosen, decision.told
        clock = chosen.convention.frame == "clock"
        written = told.sexagesimal if told else (None,) * len(chosen.read)
        units = told.units if told else chosen.units(decision.request)
        try:
            found = [
                numbers(_held(table, name), name, keep_text=clock, sexagesimal=text, angle=angle)
                for name, text, angle in zip(chosen.read, written, _angles(chosen), strict=True)
            ]
            units, values = in_one_unit(chosen.convention, chosen.read, found, units)
            wide = None
            if chosen.upper:
                wide = widths(values[0], values[1], chosen.convention, units)
                values = (middles(values[0], values[1], chosen.convention, units),)
        except InvalidDirections as error:
            raise placed(error, table, np.arange(table.rows)) from error
        extra = [
            _extra(table, given, (name, what), len(values[0]))
            for given, name, what in (
                (chosen.weights, chosen.weights_name, "weights"),
                (chosen.counts, chosen.counts_name, "counts"),
            )
        ]
        sexagesimal = tuple(column.sexagesimal for column in found)
        letters = tuple(column.letters for column in found)
        return _Columns(
            table, decision, values, sexagesimal, letters, extra[0], extra[1], units, wide
        )

    @property
    def chosen(self) -> Chosen:
        """The columns with their convention."""
        return self.decision.chosen

    def repeated(self, good: BoolArray) -> IntArray:
        """The row of the table that each direction is from."""
        kept = np.flatnonzero(good)
        return kept if self.counts is None else np.repeat(kept, self.counts[good].astype(np.int64))

    def good_rows(self) -> tuple[BoolArray, dict[int, str]]:
        """Rows that can be read, and what is wrong with some of the others."""
        good = np.ones(len(self.values[0]), dtype=bool)
        named = list(zip(self.chosen.labels, self.values, strict=True))
        for name, extra in (
            (self.chosen.weights_name or "weights", self.weights),
            (self.chosen.counts_name or "counts", self.counts),
        ):
            named += [] if extra is None else [(name, extra)]
        reasons: dict[int, str] = {}
        for name, values in [] if _all_finite(named) else named:
            bad = missing(values)
            good &= ~bad
            for row in np.flatnonzero(bad)[:_MOST_NAMED]:
                given = self.table[name][row] if name in self.table.data else values[row]
                reasons.setdefault(int(row), f"`{name}` is {cell_words(given)}")
        self._zero(good, reasons)
        self._beyond(good, reasons)
        return good, reasons

    def _zero(self, good: BoolArray, reasons: dict[int, str]) -> None:
        """Rows of Cartesian coordinates without a direction."""
        if self.chosen.convention.angular or self.chosen.guessed:
            return
        zero = good & (self.values[0] == 0.0)
        for values in self.values[1:] if zero.any() else ():
            zero &= values == 0.0
        good &= ~zero
        reasons |= {int(row): "it is the zero vector" for row in np.flatnonzero(zero)[:_MOST_NAMED]}

    def _beyond(self, good: BoolArray, reasons: dict[int, str]) -> None:
        """Rows that are none of their convention, unless they are so many that it is wrong."""
        if not self.chosen.convention.angular:
            return  # numbers of any size
        for k, name in enumerate(self.chosen.labels):
            beyond, words = foreign(self.chosen.convention, k, self.values[k], self.units)
            beyond &= good
            most = self.decision.told is None and 2 * beyond.sum() > good.sum()
            if most or wrong_column(self.chosen.convention, k, self.values[k], beyond, self.units):
                continue  # said where angles are read, with order and unit
            good &= ~beyond
            for row in np.flatnonzero(beyond)[:_MOST_NAMED]:
                said = f"`{name}` is {cell_words(self.values[k][row])}{words}"
                reasons.setdefault(int(row), said)

    def directions(self, good: BoolArray, *, weighted: bool) -> Directions:
        system, request = self.chosen.convention, self.decision.request
        values, weights, counts = list(self.values), self.weights, self.counts
        if not good.all():
            values = [each[good] for each in values]
            weights = None if weights is None else weights[good]
            counts = None if counts is None else counts[good]
        weights = weights if weighted else None
        axial = system.axial if request.axial is None else request.axial
        if system.angular:
            found = points(system, values, self.units)
            return Directions._understood(found, weights, counts, axial)
        x = plain_points(system, values)
        if self.chosen.guessed and not (self.chosen.vectors and request.normalize):
            self._refuse_guess(x)
        space = None if system.space is None else system.space(0)
        normalize = request.normalize
        return Directions(x, weights, counts=counts, normalize=normalize, space=space, axial=axial)

    def _refuse_guess(self, x: Array) -> None:
        """Refuse to take columns for Cartesian that neither their names nor their norms say."""
        length = norms(np.asarray(x, dtype=np.float64)) if x.size else np.ones(0)
        off = ~(np.abs(length - 1.0) <= UNIT_LENGTH)
        if off.any():
            row = int(np.argmax(off))
            names = ", ".join(self.chosen.columns[:4]) + (
                "…" if len(self.chosen.columns) > 4 else ""
            )
            where = message(
                "no unit vectors ({row} has norm {norm:.6g})", row=Row(row), norm=float(length[row])
            )
            if self.chosen.vectors:
                raise InvalidDirections(
                    "columns {names} are {where}; pass {remedy} if only the direction of each row "
                    "matters",
                    names=names, where=where, remedy=_SCALED,
                )  # fmt: skip
            if self.chosen.remarks and self.decision.request.coords is not None:
                raise InvalidDirections(
                    "columns {names} are not named like Cartesian coordinates and are {where}: "
                    "{why}; leave out {said}, or rename the columns if they are Cartesian",
                    names=names, where=where, why=self.chosen.remarks[0], said=_CARTESIAN,
                )  # fmt: skip
            raise InvalidDirections(
                "columns {names} do not say their convention and are {where}; say it, like "
                "{angles} for angles, or {cartesian} with {scaled} for Cartesian ones; other "
                "angles are {radec} ({hours} if right ascensions are in hours), 'trend_plunge', "
                "'strike_dip' and their like",
                names=names, where=where, cartesian=_CARTESIAN, scaled=_SCALED,
                angles=arguments(coords="lonlat"), radec=arguments(coords="radec"),
                hours=arguments(hours=True),
            )  # fmt: skip

    @property
    def _written(self) -> tuple[str, ...]:
        """How the columns are written, where that is not plain numbers."""
        ways = (("sexagesimal", self.sexagesimal), ("by letters of the compass", self.letters))
        said = [
            (", ".join(f"`{n}`" for n, so in zip(self.chosen.read, which, strict=True) if so), how)
            for how, which in ways
        ]
        return tuple(f"{names} {how}" for names, how in said if names)

    def reading(self, made: Directions, good: BoolArray) -> Reading:
        """What was understood, in words."""
        request, told = self.decision.request, self.decision.told
        plain = Reading(Notation(self.chosen.convention), rows=int(good.sum()))
        known = made.reading or plain
        weights = f"`{self.chosen.weights_name}`" if self.chosen.weights_name else "given"
        counts = f"`{self.chosen.counts_name}`" if self.chosen.counts_name else "given"
        remarks = (*self.chosen.remarks, *self._written)
        if self.widths is not None:
            remarks += stated_grouping(self.widths[good])
        elif self.counts is not None:
            remarks += grouping(known.notation, made.x)
        if request.axial is None and self.chosen.convention.angular:
            remarks += doubts(known, [values[good] for values in self.values])
        return Reading(
            known.notation,
            rows=int(good.sum()),
            source=self.decision.source,
            columns=self.chosen.labels,
            assumed=told.assumed if told else known.assumed,
            weights="none" if self.weights is None else weights,
            counts="" if self.counts is None else counts,
            observations=0 if self.counts is None else made.n,
            axial=bool(self.chosen.convention.axial if request.axial is None else request.axial),
            skipped=int((~good).sum()) + len(self.table.ragged),
            remarks=remarks + (("scaled to unit norm",) if request.normalize else ()),
        )


def _angles(chosen: Chosen) -> list[AngleColumn | None]:
    """What each column is that is read, None for numbers that are no angles."""
    if not chosen.convention.angular:
        return [None] * len(chosen.read)
    last = len(chosen.columns) - 1
    return [AngleColumn(chosen.convention, min(k, last)) for k in range(len(chosen.read))]


def _held(table: Table, name: str) -> AnyArray:
    """A column; each file of several, or each block, must have it."""
    if name not in table.data:
        raise InvalidDirections(f"no column {name!r}; the table has {listed(table.columns)}")
    return table[name]


def _extra(table: Table, given: Any, names: tuple[str, str], rows: int) -> Array | None:
    """Weights or counts: a column of the table, or an array with one for each row."""
    name = names[0] or names[1]
    if given is None and not names[0]:
        return None
    column = _held(table, name) if given is None else np.asarray(given)
    values = numbers(column, name, keep_text=False).values
    if values.shape != (rows,):
        raise InvalidDirections(
            f"{name} has shape {values.shape} for {rows} rows; give one per row"
        )
    return values


def _all_finite(named: Sequence[tuple[str, AnyArray]]) -> bool:
    """Whether nothing is missing, asked of all columns at once where they are many."""
    many = len(named) > _MANY and all(values.dtype.kind == "f" for _, values in named)
    return many and bool(np.isfinite(np.array([values for _, values in named])).all())


_REPAIR = message("repair them, or leave them out with {remedy}", remedy=arguments(on_bad="skip"))


def _refuse_bad(
    table: Table, reasons: dict[int, str], bad: int, remedy: Message | str = _REPAIR
) -> None:
    rows = [
        message("{row} ({why})", row=table.where(row), why=reasons[row]) for row in sorted(reasons)
    ]
    named = Joined((*table.ragged, *rows)[:_MOST_NAMED], ", ")
    total = bad + len(table.ragged)
    more = ", …" if total > _MOST_NAMED else ""
    raise InvalidDirections(
        "{total} of {rows} cannot be read: {named}{more}; {remedy}",
        total=total, rows=table.extent, named=named, more=more,
        remedy=remedy, source="" if table.files is None else str(table.files[0]),
    )  # fmt: skip
