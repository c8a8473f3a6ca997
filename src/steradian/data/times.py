"""Times as angles: hours of a day, any other period, and calendar times."""

from __future__ import annotations

import datetime
import math
import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import real_number, shown
from steradian.data.validation import number_column
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, Array, BoolArray
from steradian.text.messages import Joined, Message, Name, Row, arguments, message

_CLOCK = re.compile(r"^\s*(\d{1,2}):(\d{2})(?::(\d{2}(?:\.\d*)?))?\s*$")
_ZONE = re.compile(r"\d(Z|[+-]\d{2}:?\d{2})\s*$")
_DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HOURS = {"day": 24.0, "week": 7 * 24.0, "year": 365.2425 * 24.0}
_EXAMPLE = "give a number like 24 or 12, or 'day', 'week' or 'year' for calendar times"


_OF_NUMBERS = (
    "give a number like 24 of hours, 86400 of seconds or 365.25 of days of the year; or give dates"
)
DAY = 24.0  # hours
_SPANS = (
    (366, "days of the year; give {remedy}", 365.25),
    (1440, "minutes of the day; give {remedy}", 1440),
    (86400, "seconds of the day; give {remedy}", 86400),
    (100_000_000, "numbers of another period; give its length, like {remedy}", 365.25),
    (math.inf, "seconds since 1970; give {remedy} for the time of the day", 86400),
)


@dataclass(frozen=True, slots=True)
class Clock:
    """A period that repeats, and how a moment of it is written."""

    length: float
    kind: str = ""  # "day", "week" or "year"; empty for a number

    @property
    def unit(self) -> str:
        """Words for the unit of its columns."""
        return f"time of the {self.kind}" if self.kind else f"period {self.length:g}"

    def words(self, value: float) -> str:
        """A moment of the period as people write it."""
        if not self.kind:
            digits = max(4, math.ceil(math.log10(max(1.0, self.length))))  # whole seconds of a day
            return f"{value:.{digits}g} of {self.length:.{max(6, digits)}g}"
        minutes = round(value * 60.0)
        day, clock = divmod(minutes, 24 * 60)
        time = f"{clock // 60:02d}:{clock % 60:02d}"
        if self.kind == "day":
            return time if day == 0 else "00:00"
        if self.kind == "week":
            return f"{_DAYS[day % 7]} {time}"
        date = datetime.date(2001, 1, 1) + datetime.timedelta(days=min(364, int(value / 24.0)))
        return f"{date.day} {date:%B}"


def hours_assumed(values: Any, period: Any) -> bool:
    """Whether times are numbers that nobody has given a unit."""
    return period is None and _calendar(values) is None


def times(values: ArrayLike, period: Any = None) -> tuple[Array, Clock]:
    """Degrees of a full turn for moments of a period, and the period.

    Numbers are in the unit of a numeric ``period``, which they may pass any number of times;
    without one they are hours of a day, 0 to 24. Calendar times
    are datetimes of NumPy, pandas or Python, astropy's Time, or text like ``2024-03-01 14:35``;
    their period is ``"day"`` (the default), ``"week"`` (from Monday) or ``"year"`` (each of its
    own length). Text like ``14:35`` is a time of the day.
    """
    moments = _calendar(values)
    if moments is None:
        return _of_numbers(values, period)
    name = "day" if period is None else period
    if name not in _HOURS:
        raise InvalidDirections(
            "{name} is {value} for calendar times; give {remedy} (a number is for numbers)",
            name=Name("period"), value=shown(period), remedy=_one_of("day", "week", "year"),
        )  # fmt: skip
    clock = Clock(_HOURS[name], name)
    if moments.dtype.kind == "f":  # times of the day without a date
        if name != "day":
            raise InvalidDirections(f"times of the day have no {name}; give dates with them")
        return moments * 15.0, clock
    part = _part_of(moments, name)
    if period is None and len(part) > 1 and not part.any():
        raise InvalidDirections(
            "all times are midnight: these are dates, and times of the day are assumed; give "
            "{remedy}, or {as_assumed} if they are times",
            remedy=_one_of("year", "week"), as_assumed=arguments(period="day"),
        )  # fmt: skip
    return part * 360.0, clock


def _of_numbers(values: ArrayLike, period: Any) -> tuple[Array, Clock]:
    column = number_column(values, "time")
    if period is None or (isinstance(period, str) and period == "day"):
        clock = Clock(24.0, "day")
        _refuse_no_hours(column)
    else:
        if isinstance(period, str):
            raise InvalidDirections(
                "{name} is {value} for plain numbers; {remedy}",
                name=Name("period"), value=shown(period), remedy=_OF_NUMBERS,
            )  # fmt: skip
        length = real_number(period, "period", _EXAMPLE)
        if length <= 0.0:
            raise InvalidDirections(
                "{name} is {value}; {remedy}",
                name=Name("period"), value=shown(period), remedy=_EXAMPLE,
            )  # fmt: skip
        clock = Clock(length, "day" if length == 24.0 else "")
    return np.fmod(column, clock.length) / clock.length * 360.0, clock


def _refuse_no_hours(column: Array) -> None:
    """Refuse numbers that are no hours of a day, with what they look like."""
    beyond = (column < 0.0) | (column > DAY)
    if not beyond.any():
        return
    row = int(np.argmax(beyond))
    largest = float(column.max())
    what, length = next((what, length) for most, what, length in _SPANS if largest <= most)
    if _are_hhmm(column):
        what = "hours and minutes without a colon; write them like 21:41"
    likely = largest > DAY and column.min() >= 0.0
    raise InvalidDirections(
        "time in {row} is {value:.10g}, beyond the hours 0 to 24 of the day that are assumed"
        "{likely}; or state the period, like {modulo}, if they are to be taken modulo it",
        row=Row(row), value=float(column[row]), modulo=arguments(period=24),
        likely=_likely(what, length) if likely else "",
    )  # fmt: skip


def _likely(what: str, length: float) -> Message:
    """What numbers look like that are no hours, and how to say so."""
    return message(
        ": these look like {words}", words=message(what, remedy=arguments(period=length))
    )


def _one_of(*periods: str) -> Joined:
    """Periods of calendar times, one of which is to be stated."""
    *most, last = (arguments(period=period) for period in periods)
    return Joined((Joined(tuple(most), ", "), last))


def _are_hhmm(column: Array) -> bool:
    whole = bool((column == np.floor(column)).all())
    return (
        whole
        and column.max() > 366.0
        and bool(((column % 100.0 < 60.0) & (column <= 2400.0)).all())
    )


def _calendar(values: Any) -> AnyArray | None:
    """Datetimes, hours of the day of clock times, or None for plain numbers."""
    if hasattr(values, "datetime64"):  # astropy's Time
        values = values.datetime64
    to_numpy = getattr(values, "to_numpy", None)
    try:
        array = np.atleast_1d(np.asarray(to_numpy() if callable(to_numpy) else values))
    except Exception:  # ragged: said where numbers are read
        return None
    if array.dtype.kind == "M":
        return _whole(array.astype("datetime64[us]"))
    if array.dtype.kind not in "OUST":
        return None
    cells = array.ravel().tolist()
    if all(isinstance(cell, datetime.time) for cell in cells):
        return np.array([_hours(c.hour, c.minute, c.second + 1e-6 * c.microsecond) for c in cells])
    text = [str(cell) for cell in cells]
    matches = [_CLOCK.match(cell) for cell in text]
    if all(matches):
        parts = [(m[1], m[2], m[3] or "0") for m in matches if m]
        return np.array([_hours(int(h), int(m), float(s)) for h, m, s in parts])
    return None if _are_numbers(text) else _dates(text)


def _hours(hour: int, minute: int, second: float) -> float:
    if hour > 24 or minute > 59 or second >= 61.0:
        raise InvalidDirections(f"{hour}:{minute:02d} is no time of the day; write hours to 24")
    return hour + minute / 60.0 + second / 3600.0


def _are_numbers(text: list[str]) -> bool:
    try:
        [float(cell) for cell in text]
    except ValueError:
        return False
    return True


def _dates(text: list[str]) -> AnyArray:
    zoned = next((k for k, cell in enumerate(text) if _ZONE.search(cell) and ":" in cell), None)
    if zoned is not None:
        raise InvalidDirections(
            "time in {row} is {value!r}, with a time zone; give local times without",
            row=Row(zoned), value=text[zoned],
        )  # fmt: skip
    try:
        return _whole(_as_datetimes(text))
    except (ValueError, UserWarning, DeprecationWarning) as error:
        if isinstance(error, InvalidDirections):
            raise
        row = int(np.argmax(unreadable_times(text)))
        raise InvalidDirections(
            "times are not understood: the one in {row} is {value}; write them like "
            "2024-03-01 14:35 or 14:35, all in one way",
            row=Row(row), value=shown(text[row]),
        ) from error  # fmt: skip


def _as_datetimes(text: Sequence[str]) -> AnyArray:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        return np.array([cell.strip() for cell in text], dtype="datetime64[us]")


def unreadable_times(cells: Sequence[Any]) -> BoolArray:
    """Cells of text that are not written in the way most of the others are."""
    if _alike(cells):
        return np.zeros(len(cells), dtype=bool)
    kinds = np.array([_kind(str(cell)) for cell in cells])
    known, counts = np.unique(kinds[kinds != ""], return_counts=True)
    if not len(known):
        return np.ones(len(kinds), dtype=bool)
    return np.asarray(kinds != known[np.argmax(counts)])


def _alike(cells: Sequence[Any]) -> bool:
    """Whether all are dates or all are numbers, asked at once."""
    text = [str(cell) for cell in cells]
    if _are_numbers(text):
        return True
    try:
        return not np.isnat(_as_datetimes(text)).any()
    except (ValueError, UserWarning, DeprecationWarning):
        return False


def _kind(cell: str) -> str:
    """How a time is written; empty where it is none."""
    clock = _CLOCK.match(cell)
    if clock is not None:
        return "clock" if int(clock[1]) <= DAY and int(clock[2]) < 60 else ""
    if _are_numbers([cell]):
        return "number"
    try:
        return "" if np.isnat(_as_datetimes([cell])[0]) else "date"
    except (ValueError, UserWarning, DeprecationWarning):
        return "zoned" if _ZONE.search(cell) and ":" in cell else ""


def _whole(moments: AnyArray) -> AnyArray:
    missing = np.isnat(moments)
    if missing.any():
        row = int(np.argmax(missing))
        raise InvalidDirections("time in {row} is missing; drop or repair that row", row=Row(row))
    return moments


def _part_of(moments: AnyArray, name: str) -> Array:
    """The part of its day, week or year that has passed at each moment."""
    if name == "year":
        begin = moments.astype("datetime64[Y]")
        end = (begin + 1).astype(moments.dtype)
        begin = begin.astype(moments.dtype)
    else:
        days = moments.astype("datetime64[D]")
        if name == "week":  # day 0 of the epoch was a Thursday
            days = days - (days.astype(np.int64) + 3) % 7
        length = np.timedelta64(1 if name == "day" else 7, "D")
        begin, end = days.astype(moments.dtype), (days + length).astype(moments.dtype)
    passed = (moments - begin).astype(np.float64)
    return np.asarray(passed / (end - begin).astype(np.float64))
