"""Rows of chosen columns as directions; bad rows are counted, named and, if asked, left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.data.conventions import Convention
from steradian.data.directions import Directions
from steradian.data.interpretation import SEVERAL, TURN, Units, plain_points, points
from steradian.data.notation import Notation, Reading
from steradian.data.times import DAY, unreadable_times
from steradian.data.validation import norms
from steradian.diagnostics import Diagnostic
from steradian.errors import InvalidDirections
from steradian.io.cells import AngleColumn, cell_words, in_one_unit, missing, numbers
from steradian.io.frames import Table, placed
from steradian.io.recognition import listed
from steradian.io.remarks import doubts, grouping, stated_grouping
from steradian.io.repeats import first_of_each, repeats
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.tolerances import UNIT_LENGTH
from steradian.text.messages import Row, arguments, message

if TYPE_CHECKING:
    from steradian.io.decision import Chosen, Decision

_SCALED, _CARTESIAN = arguments(normalize=True), arguments(coords="xyz")
_MANY = 64  # columns that are looked at together
MOST_NAMED = 4  # bad rows that a message names
_FARTHEST = 720.0  # degrees: bearings and longitudes may go round, no farther than this
_MARKS = (999.0, 9999.0, 99999.0)  # written where there is no value, with either sign
_FEW_SHARE = 0.05  # of rows, beyond which what is out of range is no slip of a pen
_SMALL_MARK = -99.0  # likewise, and an angle as well: only where all others are positive


@dataclass(frozen=True, slots=True)
class RowColumns:
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
    def of(table: Table, decision: Decision) -> RowColumns:
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
        return RowColumns(
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

    def first_of_each(self) -> BoolArray:
        """Which rows repeat no earlier one in any column that is read."""
        return first_of_each([*self.values, *self._beside])

    @property
    def _beside(self) -> list[AnyArray]:
        """What is read of a row beside its coordinates: weights, labels, columns of a design."""
        used = (self.table.data.get(name) for name in self.decision.request.used)
        return [each for each in (self.weights, *used) if each is not None]

    def repeats(self, made: Directions, good: BoolArray) -> tuple[Diagnostic, ...]:
        """What is said of rows that repeat earlier ones, where rounding does not explain them."""
        system, known = self.chosen.convention, made.reading
        if self.counts is not None or known is None:
            return ()
        columns, turns = [values[good] for values in self.values], []
        if system.frame == "clock" and known.notation.clock is not None:
            columns, turns = known.notation.values(made.x), [known.notation.clock.length]
        elif system.angular:
            unit = known.notation.unit
            turns = [
                TURN["degrees" if k and unit == "hours" else unit] for k in range(len(columns))
            ]
            for k, (low, _) in enumerate(system.limits):
                turns[k] = 0.0 if np.isfinite(low) else turns[k]
        found = repeats(columns, turns, [each[good] for each in self._beside])
        if found is None:
            return ()
        data: dict[str, Any] = {"repeated": found.repeated, "rows": found.rows}
        if found.few_points:
            data["distinct"] = found.rows - found.repeated
            data["names"] = ", ".join(f"`{name}`" for name in self.chosen.labels)
            data["remedy"] = arguments(columns=...)
            return (Diagnostic("few_distinct_rows", data=data),)
        data |= {"expected": found.expected, "remedy": arguments(distinct=True)}
        return (Diagnostic("repeated_rows", data=data),)

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
            for row in np.flatnonzero(bad)[:MOST_NAMED]:
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
        reasons |= {int(row): "it is the zero vector" for row in np.flatnonzero(zero)[:MOST_NAMED]}

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
            for row in np.flatnonzero(beyond)[:MOST_NAMED]:
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


# --- values that are none of their convention ----------------------------------------------


def foreign(
    convention: Convention, column: int, values: AnyArray, units: Units
) -> tuple[BoolArray, str]:
    """Which values are none of a column's convention, and why in words."""
    if convention.frame == "clock":
        return _no_times(values, units.period)
    if column >= len(convention.limits):
        return np.zeros(len(values), dtype=bool), ""
    unit, _ = units.of(convention)
    low, high = convention.limits[column]
    if np.isfinite(low):
        scale = np.pi / 180.0 if unit == "radians" else 1.0
        slack = 1.0 + UNIT_LENGTH
        beyond = (values < low * scale * slack) | (values > high * scale * slack)
        return beyond, f", beyond {low * scale:g} to {high * scale:g}"
    if unit == "hours" and not column:
        return np.abs(values) > DAY, ", beyond 24 hours"
    return _no_angles(values, degrees=unit == "degrees")


def wrong_column(
    convention: Convention, column: int, values: AnyArray, beyond: BoolArray, units: Units
) -> bool:
    """Whether values beyond a range are too many and too different to be rows that went wrong.

    They are then of another column, or in another unit: a latitude that holds longitudes goes
    beyond its range wherever those do. Marks of missing values are many too, and all the same.
    """
    unit, _ = units.of(convention)
    if convention.frame == "clock" or column >= len(convention.limits):
        return False
    if not np.isfinite(convention.limits[column][0]) and not (unit == "hours" and not column):
        return False  # angles that may go round
    turn = TURN["radians" if unit == "radians" else "degrees"]
    angles = values[beyond & (np.abs(values) <= turn)]
    return len(angles) > _FEW_SHARE * len(values) and len(np.unique(angles)) >= SEVERAL


def _no_angles(values: AnyArray, *, degrees: bool) -> tuple[BoolArray, str]:
    """Marks of missing values among angles that may go round; some turns more are honest."""
    mark = np.isin(np.abs(values), _MARKS)
    if degrees:
        mark |= np.abs(values) > _FARTHEST
        small = values == _SMALL_MARK
        if small.any() and not (values[~small & ~mark] < 0.0).any():
            mark |= small
    return np.asarray(mark), ", which no angle here is"


def _no_times(values: AnyArray, period: Any) -> tuple[BoolArray, str]:
    if values.dtype.kind in "OUST":
        return unreadable_times(values.tolist()), ", which is no time like the others"
    if values.dtype.kind not in "fiu" or period not in (None, "day"):
        return np.zeros(len(values), dtype=bool), ""
    return np.asarray((values < 0.0) | (values > DAY)), ", beyond the hours 0 to 24 of the day"


# --- bins ----------------------------------------------------------------------------------


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
        return DAY
    if isinstance(units.period, str):
        raise InvalidDirections("edges of bins are numbers; give the period as a number too")
    return float(units.period)


def widths(lower: AnyArray, upper: AnyArray, convention: Convention, units: Units) -> Array:
    """The width of each bin, in degrees of a full turn."""
    turn = _turn(convention, units)
    return np.asarray(np.mod(upper - lower, turn) * (360.0 / turn))
