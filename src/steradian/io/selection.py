"""Which rows of a table are read: comparisons like ``dip > 30 and formation == 'Ross'``.

A comparison is the name of a column, one of ``== != < <= > >=``, and a number or a word in quotes;
``and`` joins several. Nothing is evaluated: a text that is anything else is refused. Names with
quotes or with ``and`` in them are put in backticks. A row without a value fulfils no comparison.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidDirections
from steradian.io.cells import missing, plain_number
from steradian.io.frames import Table
from steradian.io.recognition import listed
from steradian.numerics.arrays import AnyArray, BoolArray
from steradian.text.messages import Message, arguments, message

_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`")
_TOKEN = re.compile(rf"{_QUOTED.pattern}|[=!<>]+|[^\s'\"`=!<>]+|\S")
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "!=": operator.ne, "<=": operator.le, ">=": operator.ge, "<": operator.lt,
    ">": operator.gt,
}  # fmt: skip
_OF_WORDS = ("==", "!=")
_MOST_SHOWN = 4  # values of a column that a message names


@dataclass(frozen=True, slots=True)
class Comparison:
    """One comparison of the values of a column."""

    column: str
    operator: str
    value: float | str

    def rows(self, table: Table) -> BoolArray:
        """Which rows fulfil it."""
        cells = table[self.column]
        word = isinstance(self.value, str)
        values = np.array([str(cell).strip() for cell in cells]) if word else _numbers(cells)
        there = ~missing(values) & ~missing(cells)
        self._refuse_other_kind(cells, there)
        return np.asarray(there & _OPERATORS[self.operator](values, self.value))

    def _refuse_other_kind(self, cells: AnyArray, there: BoolArray) -> None:
        """Refuse words of a column of numbers, and numbers of a column of words."""
        given = np.flatnonzero(~missing(cells))
        fields = {"name": self.column, "said": arguments(where=...)}
        if isinstance(self.value, str) and cells.dtype.kind in "fiu" and len(given):
            raise InvalidDirections(
                "{said}: column {name!r} holds numbers; leave out the quotes around {value}",
                value=self.value, **fields,
            )  # fmt: skip
        if not isinstance(self.value, str) and len(given) and not there.any():
            raise InvalidDirections(
                "{said}: column {name!r} holds no numbers but words like {first}; compare it with "
                "a word in quotes",
                first=shown(str(cells[given[0]])), **fields,
            )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Selection:
    """Comparisons that a row has to fulfil, all of them."""

    text: str
    comparisons: tuple[Comparison, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns that are compared."""
        return tuple(dict.fromkeys(one.column for one in self.comparisons))

    def refuse_unknown(self, table: Table) -> None:
        """Refuse columns that a table does not have."""
        lost = [name for name in self.columns if name not in table.data]
        if lost:
            raise InvalidDirections(
                "{said}: no column {name!r}; the table has {names}",
                said=arguments(where=...), name=lost[0], names=listed(table.columns),
            )  # fmt: skip

    def of(self, table: Table) -> Table:
        """The rows of a table that fulfil it; there may be none."""
        self.refuse_unknown(table)
        good = np.ones(table.rows, dtype=bool)
        for one in self.comparisons:
            good &= one.rows(table)
        return table.take(np.flatnonzero(good))

    def some_of(self, table: Table) -> Table:
        """The same, refused where there are none."""
        found = self.of(table)
        if table.rows and not found.rows:
            raise InvalidDirections(
                "{said}: no row has {where}; {values}",
                said=arguments(where=...), where=self.text,
                values="; ".join(_values(table, name) for name in self.columns),
            )  # fmt: skip
        return found


def _numbers(cells: AnyArray) -> AnyArray:
    if cells.dtype.kind in "fiub":
        return cells.astype(np.float64)
    return np.array([plain_number(cell) for cell in cells], dtype=np.float64)


def _values(table: Table, name: str) -> str:
    """What a column holds, in words."""
    cells = table[name]
    known = list(dict.fromkeys(cells[~missing(cells)].tolist()))
    if len(known) > _MOST_SHOWN and cells.dtype.kind in "fiu":
        return f"{name!r} goes from {np.nanmin(cells):g} to {np.nanmax(cells):g}"
    named = ", ".join(f"{v:g}" if isinstance(v, float) else repr(v) for v in known[:_MOST_SHOWN])
    return f"{name!r} holds {named or 'nothing'}" + (", …" if len(known) > _MOST_SHOWN else "")


@lru_cache(maxsize=64)
def selection(text: str) -> Selection:
    """The comparisons of a text.

    Examples
    --------
    >>> [(one.column, one.operator, one.value) for one in
    ...  selection("Dip (deg) > 30 and formation == 'Ross and Byrd'").comparisons]
    [('Dip (deg)', '>', 30.0), ('formation', '==', 'Ross and Byrd')]
    """
    clauses: list[list[str]] = [[]]
    for token in _TOKEN.findall(text):
        if token.lower() == "and":
            clauses.append([])
        else:
            clauses[-1].append(token)
    return Selection(" ".join(text.split()), tuple(_comparison(one, text) for one in clauses))


def _comparison(tokens: list[str], text: str) -> Comparison:
    at = next((k for k, token in enumerate(tokens) if token[0] in "=!<>"), 0)
    name, value = tokens[:at], tokens[at + 1 :]
    if not name or len(value) != 1 or tokens[at] not in _OPERATORS:
        single = at and tokens[at] == "="
        raise _not_understood(text, "write == for equal" if single else _LANGUAGE)
    quoted = _QUOTED.fullmatch(value[0]) is not None
    key = name[0].strip("'\"`") if len(name) == 1 else " ".join(name)
    if not quoted and np.isnan(plain_number(value[0])):
        typed = f"{key} {tokens[at]} '{value[0]}'"
        raise _not_understood(text, f"{value[0]} is no number; put words in quotes, like {typed}")
    if quoted and tokens[at] not in _OF_WORDS:
        raise _not_understood(text, "words are compared by == or !=; write numbers without quotes")
    return Comparison(key, tokens[at], value[0][1:-1].strip() if quoted else float(value[0]))


_LANGUAGE = "write comparisons like \"dip > 30 and formation == 'Ross'\", joined by and alone"


def _not_understood(text: str, remedy: str) -> InvalidDirections:
    said: Message = message("{said} is {text}", said=arguments(where=...), text=shown(text))
    return InvalidDirections("{said}: {remedy}", said=said, remedy=remedy)
