"""Tables written as text: delimiter, lines of names and units, rows that are none."""

from __future__ import annotations

import contextlib
import csv
import io
import itertools
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from steradian.data.conventions import Unit
from steradian.errors import InvalidDirections
from steradian.io.frames import Table
from steradian.io.recognition import NO_UNIT, OTHER_UNITS, UNITS
from steradian.numerics.arrays import AnyArray
from steradian.text.messages import arguments

_DELIMITERS = ("\t", ";", ",", "|")
_SPACES, _SLASH = " ", "/"  # geologists write 120/30
_MAGIC = re.compile(r"^tab(?:\s+delimited)?\s*\t\s*(\S+)\s*$")
_MAGIC_END = re.compile(r"^>{3,}\s*$")
_DECIMAL_COMMA = re.compile(r"^\s*[+-]?\d+,\d+\s*$")
_LEADING_ZERO = re.compile(r",0\d")  # as no whole number begins
_SEPARATOR = re.compile(r"^sep=.\s*$")
_PAIR = re.compile(r"^[^/]+/[^/]+$")
_LOOKED_AT = 5  # lines that tell the delimiter
_COMMENTS = 2  # that may be names and units
_ENCODINGS = ((b"\xff\xfe", "utf-16"), (b"\xfe\xff", "utf-16"), (b"\xef\xbb\xbf", "utf-8-sig"))
_LONGEST_MARK = 3  # bytes


def decoded_lines(stream: Any, name: str) -> Iterator[str]:
    """The lines of a file in UTF-8, or UTF-16 with its mark, however they end."""
    start = stream.read(_LONGEST_MARK)
    encoding = next((e for mark, e in _ENCODINGS if start.startswith(mark)), "utf-8")
    stream.seek(0)
    text = io.TextIOWrapper(stream, encoding, newline=None)
    try:
        for line in text:
            if "\0" in line:
                raise InvalidDirections(f"{name} is not text: it holds null bytes; give a table")
            yield line
    except UnicodeDecodeError as error:
        raise InvalidDirections(
            f"{name} is not UTF-8 text: {error.reason}; save it as UTF-8"
        ) from error
    finally:
        with contextlib.suppress(ValueError):  # it is closed where reading was broken off
            text.detach()  # whoever opened the stream closes it


def no_parts(name: str) -> InvalidDirections:
    """The error of a table that is asked for by its name, of a file that is one table."""
    return InvalidDirections(
        "{name} is no MagIC file or NPZ archive of several tables; leave out {said}",
        name=name, said=arguments(table=...),
    )  # fmt: skip


def tables_of_lines(
    lines: Iterator[str], name: str, rows: int | None, part: str | None = None
) -> Iterator[Table]:
    """Tables of some ``rows`` of delimited text each, or one of all rows; there is at least one.

    Columns that hold only numbers become numbers; ``part`` is the one of several MagIC tables.
    """
    whole = _Lines.of(lines, name, part)
    try:
        yield from _parsed(whole, _delimiter(whole.head), name, rows)
    except csv.Error as error:
        raise InvalidDirections(f"{name} cannot be read as a table: {error}") from error


@dataclass(frozen=True, slots=True)
class _Lines:
    """The lines of one table, with the number of the first."""

    lines: Iterator[str]
    first: int
    comments: Sequence[str]  # right before the first line, the nearest first: names, or units
    head: Sequence[str]  # its first lines that are not blank

    @staticmethod
    def of(lines: Iterator[str], name: str, part: str | None) -> _Lines:
        first = next(lines, "")
        if (found := _MAGIC.match(first.strip("\r\n"))) is not None:
            if part is not None:
                return _Lines._from(*_named_magic_table(lines, found[1], name, part), ())
            return _Lines._from(_one_magic_table(lines, found[1], name), 2, ())
        if part is not None:
            raise no_parts(name)
        if first.lstrip().lower().startswith(("<!doctype", "<html", "<?xml")):
            raise InvalidDirections(f"{name} is a web page or XML, not a table; save it as CSV")
        skipped, comments = 0, deque[str](maxlen=_COMMENTS)
        if _SEPARATOR.match(first):  # as spreadsheets write it
            skipped, first = 1, next(lines, "")
        while first.lstrip().startswith(("#", "%")) or (first and not first.strip()):
            if first.strip():
                comments.appendleft(first.lstrip().lstrip("#% ").strip())
            skipped += 1
            first = next(lines, "")
        return _Lines._from(itertools.chain([first], lines), 1 + skipped, tuple(comments))

    @staticmethod
    def _from(lines: Iterator[str], first: int, comments: Sequence[str]) -> _Lines:
        seen: list[str] = []
        head: list[str] = []
        for line in lines:
            seen.append(line)
            head += [line.rstrip("\r\n")] if line.strip() else []
            if len(head) == _LOOKED_AT:
                break
        return _Lines(itertools.chain(seen, lines), first, comments, head)

    def cells_above(self, delimiter: str, width: int) -> list[list[str]]:
        """Cells of the comments above: between delimiters, or else between spaces."""
        both = [([cell.strip() for cell in c.split(delimiter)], c.split()) for c in self.comments]
        return [cells if len(cells) == width else spaced for cells, spaced in both]

    def rows(self, delimiter: str) -> Iterator[tuple[int, list[str]]]:
        """Cells of every line that is not blank or a comment, with its number."""
        if delimiter == _SPACES:
            for number, line in enumerate(self.lines, self.first):
                if line.strip() and not line.lstrip().startswith("#"):
                    yield number, line.split()
            return
        reader = csv.reader(self.lines, delimiter=delimiter)
        for row in reader:
            cells = [cell.strip() for cell in row]
            if any(cells) and not cells[0].startswith("#"):
                yield self.first - 1 + reader.line_num, cells


def _one_magic_table(lines: Iterator[str], kind: str, name: str) -> Iterator[str]:
    """The lines of the one table of a MagIC file; several are refused by name."""
    for line in lines:
        if _MAGIC_END.match(line):
            break
        yield line
    kinds = [kind, *(found[1] for line in lines if (found := _MAGIC.match(line)))]
    if len(kinds) > 1:
        raise InvalidDirections(
            "{name} holds the MagIC tables {kinds}; say which to read: {remedy}",
            name=name, kinds=", ".join(kinds), remedy=arguments(table=_likely(kinds)),
        )  # fmt: skip


def _likely(kinds: Sequence[str]) -> str:
    """The table that most people mean."""
    wanted = ("sites", "pmag_sites", "samples", "specimens", "pmag_specimens")
    return next((kind for kind in wanted if kind in kinds), kinds[0])


def _named_magic_table(
    lines: Iterator[str], kind: str, name: str, part: str
) -> tuple[Iterator[str], int]:
    """The lines of one of the tables of a MagIC file, and the number of their first."""
    kinds, number = [kind], 2
    while kinds[-1] != part:
        line = next((each for each in _counted(lines) if _MAGIC.match(each[1])), None)
        found = None if line is None else _MAGIC.match(line[1])
        if line is None or found is None:
            raise InvalidDirections(f"{name} holds no MagIC table {part!r}, but {', '.join(kinds)}")
        number += line[0]
        kinds.append(found[1])
    return itertools.takewhile(lambda each: not _MAGIC_END.match(each), lines), number


def _counted(lines: Iterator[str]) -> Iterator[tuple[int, str]]:
    return enumerate(lines, 1)


def _delimiter(head: Sequence[str]) -> str:  # noqa: PLR0911 - one for each way to tell
    """What separates the cells: the first that cuts all lines alike, or else cuts the first."""
    if not head:
        return ","
    if _is_one_column_of_commas(head):
        return ";"
    spaces = [len(line.split()) for line in head]
    if spaces[0] > 1 and _are_commas_among_spaces(head):
        return _SPACES
    counts = {d: [_cells(line, d) for line in head] for d in _DELIMITERS}
    alike = [d for d, n in counts.items() if n[0] > 1 and len(set(n)) == 1]
    if alike:
        return alike[0]
    if spaces[0] > 1 and len(set(spaces)) == 1 and not any(n[0] > 1 for n in counts.values()):
        return _SPACES
    most = max(_DELIMITERS, key=lambda d: counts[d][0])
    if counts[most][0] > 1:
        return most
    if all(_PAIR.match(line.strip()) for line in head):
        return _SLASH
    numbers = all(is_number(cell) for cell in head[-1].split())
    return _SPACES if spaces[0] > 1 and len(head) > 1 and numbers and spaces[-1] > 1 else ","


def _is_one_column_of_commas(head: Sequence[str]) -> bool:
    """Whether lines are one number each with a decimal comma: under one name, or like 12,05."""
    named = not any(delimiter in head[0] for delimiter in _DELIMITERS) and not is_data([head[0]])
    rows = head[1:] if named else head
    if not rows or not all(_DECIMAL_COMMA.match(line) for line in rows):
        return False
    return named or any(_LEADING_ZERO.search(line) for line in rows)


def _are_commas_among_spaces(head: Sequence[str]) -> bool:
    """Whether lines are numbers between spaces or tabs, all of them with a decimal comma."""
    rows = [line.split() for line in (head if is_data(head[0].split()) else head[1:])]
    return bool(rows) and all(
        len(row) == len(rows[0]) > 1 and all(_DECIMAL_COMMA.match(cell) for cell in row)
        for row in rows
    )


def _cells(line: str, delimiter: str) -> int:
    """How many cells a delimiter makes of a line; one where that is no table."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter)))
    except csv.Error:  # a cell longer than any
        return 1


def _parsed(lines: _Lines, delimiter: str, name: str, size: int | None) -> Iterator[Table]:
    rows = lines.rows(delimiter)
    top = next(rows, (0, []))
    if not any(top[1]):
        raise InvalidDirections(f"{name} is empty; give a header line and one row per direction")
    header, below = header_of(
        top, list(itertools.islice(rows, 2)), lines.cells_above(delimiter, len(top[1]))
    )
    rows = itertools.chain(below, rows)
    width = len(header.names)
    first = 0
    while True:
        kept, numbers, ragged = _sort(itertools.islice(rows, size), width)
        if first and not kept and not ragged:
            return
        if not kept and not first:
            raise InvalidDirections(
                f"{name}: no row has the {width} cells of the header"
                if ragged
                else f"{name} has a header but no rows"
            )
        cells = _columns(kept, delimiter) if kept else [np.empty(0)] * width
        data = dict(zip(header.names, cells, strict=True))
        begin = None if size is None else first
        lined = np.array(numbers, dtype=np.int64)
        yield Table(
            data, lined, header.named, tuple(ragged), first=begin, delimiter=delimiter,
            repeated=header.repeated, units=header.units,
        )  # fmt: skip
        if size is None:
            return
        first += len(kept) + len(ragged)


def _columns(rows: Sequence[Sequence[str]], delimiter: str) -> Sequence[AnyArray]:
    """Cells as columns; all at once where all of them are numbers."""
    try:
        return list(np.array([[float(cell) for cell in row] for row in rows]).T.copy())
    except ValueError:
        return [_column(cells, delimiter) for cells in zip(*rows, strict=True)]


def _sort(
    rows: Iterable[tuple[int, list[str]]], width: int
) -> tuple[list[list[str]], list[int], list[str]]:
    """The rows of the right width with their lines; the others in words."""
    kept: list[list[str]] = []
    numbers: list[int] = []
    ragged = []
    for number, found in rows:
        row = found
        while len(row) > width and not row[-1]:
            row = row[:-1]
        if len(row) == width:
            kept.append(row)
            numbers.append(number)
        else:
            ragged.append(f"line {number} ({len(row)} cells, not {width})")
    return kept, numbers, ragged


def _column(cells: Sequence[str], delimiter: str) -> AnyArray:
    """Numbers where all cells are numbers; an empty cell is a missing number."""
    for attempt in (cells, [cell.replace(",", ".") for cell in cells]):
        try:
            return np.array([float(cell) if cell else np.nan for cell in attempt])
        except ValueError:
            if delimiter == ",":
                break
    return np.array(cells, dtype=object)


# --- names of columns and their units --------------------------------------------------------

Row = tuple[int, list[str]]
"""The cells of a line, with its number."""

_RULE = re.compile(r"^[-=+]{2,}$")  # a cell of the line that VizieR and others draw below a header
_BEGIN = frozenset("+-.0123456789")  # of a number


@dataclass(frozen=True, slots=True)
class Header:
    """Names of columns, each another; those that a text has twice are told by their number."""

    names: tuple[str, ...]
    named: bool = True  # whether they are from the file rather than numbers
    repeated: tuple[str, ...] = ()  # names that several columns have
    units: Mapping[str, Unit] = field(default_factory=dict)  # of columns, where a line says them

    @classmethod
    def of(cls, names: Sequence[str], units: Sequence[str] = (), *, named: bool = True) -> Header:
        """From the cells of a line and, where there is one, of that of the units."""
        repeated = tuple(name for name, often in Counter(names).items() if often > 1)
        keys = _told_apart(names, repeated) if repeated else tuple(names)
        known = {
            key: UNITS[unit]
            for key, cell in zip(keys, units or keys, strict=True)
            if units and (unit := _bare(cell)) in UNITS
        }
        return cls(keys, named, tuple(name for name in repeated if name), known)


def _told_apart(names: Sequence[str], repeated: Sequence[str]) -> tuple[str, ...]:
    """Names of columns, those that are ``repeated`` with their number; one may be empty."""
    many, seen = set(repeated), set[str]()
    keys = []
    for k, name in enumerate(names, 1):
        again = name in many and (name or name in seen)
        keys.append(f"{name} (column {k})".lstrip() if again else name)
        seen.add(name)
    return tuple(keys)


def header_of(
    first: Row, rows: list[Row], comments: Sequence[Sequence[str]]
) -> tuple[Header, list[Row]]:
    """The header, and the rows among the ``first`` line and those that follow.

    ``comments`` are the cells of the last lines before it that are comments, the nearest first.
    """
    cells = first[1]
    if _is_header(cells, rows[0][1] if rows else []):
        units, below = _units_below(rows, len(cells))
        return Header.of(cells, units), below
    width = len(cells)
    above = [c for c in comments if any(c) and len(c) == width and not is_data(c)]
    if len(above) > 1 and (_are_units(above[0]) or len(set(above[0])) < width):
        return Header.of(above[1], above[0]), [first, *rows]
    alone = above[0] if above and _are_units(above[0]) else ()
    if above and not alone:
        return Header.of(above[0]), [first, *rows]
    numbers = [str(k) for k in range(1, width + 1)]
    return Header.of(numbers, alone, named=False), [first, *rows]


def _units_below(rows: list[Row], width: int) -> tuple[Sequence[str], list[Row]]:
    """The line of units below a header, if any, and the rows below it and a ruled line."""
    for k, (_, cells) in enumerate(rows):
        if all(_RULE.match(cell) for cell in cells):
            return (rows[0][1] if k else ()), rows[k + 1 :]
    if rows and len(rows[0][1]) == width and _are_units(rows[0][1]):
        return rows[0][1], rows[1:]
    return (), rows


def _are_units(cells: Sequence[str]) -> bool:
    """Whether a line says units, at least one of them of an angle."""
    known = [_bare(cell) for cell in cells]
    every = all(cell in UNITS or cell in OTHER_UNITS or cell in NO_UNIT for cell in known)
    return every and any(cell in UNITS for cell in known)


def _bare(cell: str) -> str:
    return cell.strip().strip("[]()").strip().lower()


def _is_header(first: Sequence[str], second: Sequence[str]) -> bool:
    """Whether a first line names columns; words alone do not where the second has them too."""
    numbers = [cell for cell in first if cell[:1] in _BEGIN and is_number(cell)]
    counted = [str(k) for k in range(len(numbers) + 1)]
    if len(numbers) > 2 and numbers in (counted[:-1], counted[1:]):  # a frame without names
        return any("." in cell for cell in second)
    if len(numbers) == len(first) or is_data(first):
        return False
    kinds = ([is_number(cell) for cell in cells] for cells in (first, second))
    return not numbers or next(kinds) != next(kinds)


def is_data(cells: Sequence[str]) -> bool:
    """Whether a line is a row already: numbers, dates, no words."""
    given = [cell for cell in cells if cell]
    return bool(given) and all(
        is_number(cell) or not any(letter.isalpha() for letter in cell) for cell in given
    )


def is_number(cell: str) -> bool:
    """Whether a cell is one number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True
