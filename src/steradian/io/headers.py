"""The names of the columns of a text: which line has them, and which one their units."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from steradian.data.conventions import Unit
from steradian.io.recognition import UNITS

Row = tuple[int, list[str]]
"""The cells of a line, with its number."""

_RULE = re.compile(r"^[-=+]{2,}$")  # a cell of the line that VizieR and others draw below a header
_BEGIN = frozenset("+-.0123456789")  # of a number
_NO_UNIT = frozenset({"", "-", "--", "---", "none", "1", "n/a", "unitless", "dimensionless"})
_OTHER_UNITS = frozenset({
    "arcmin", "arcsec", "mas", "uas", "mas/yr", "mag", "jy", "mjy", "pc", "kpc", "mpc", "au",
    "km", "m", "cm", "mm", "um", "nm", "ft", "s", "sec", "min", "ms", "d", "day", "days", "yr",
    "year", "years", "ma", "ka", "km/s", "m/s", "kn", "kg", "g", "a/m", "am2", "t", "mt", "nt", "k",
    "hz", "ghz", "ev", "kev", "gev", "tev", "eev", "%", "dex", "str", "string", "text", "int",
    "float", "h:m:s", "d:m:s", '"h:m:s"', '"d:m:s"', "hms", "dms",
})  # fmt: skip


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
    every = all(cell in UNITS or cell in _OTHER_UNITS or cell in _NO_UNIT for cell in known)
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
