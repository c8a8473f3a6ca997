"""The one table: columns of cells, for print, Markdown, a notebook and a report."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

from steradian.text.numbers import NOTHING_KNOWN


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, its cells, and how they are written.

    Attributes
    ----------
    name : str
        Above the cells.
    cells : list, tuple or array
        Numbers or words.
    form : str
        The format of numbers, as of `format`.
    width : int
        Letters; 0 for as many as the widest cell has.
    left : bool
        Whether cells begin at the left end; else they end at the right one.
    gap : int
        Blanks before it, unless it is the first.
    dash : bool
        Whether what is no number is a dash.
    """

    name: str
    cells: Iterable[Any]
    form: str = ""
    width: int = 0
    left: bool = False
    gap: int = 1
    dash: bool = False

    @property
    def words(self) -> list[str]:
        """The cells in words."""
        return [self._written(cell) for cell in self.cells]

    def _written(self, cell: Any) -> str:
        if isinstance(cell, str):
            return cell
        unknown = self.dash and not math.isfinite(cell)
        return NOTHING_KNOWN if unknown else format(cell, self.form)

    def aligned(self) -> list[str]:
        """Its name and its cells, padded."""
        every = [self.name, *self.words]
        width = self.width or max(map(len, every))
        return [word.ljust(width) if self.left else word.rjust(width) for word in every]


@dataclass(frozen=True, slots=True)
class Table:
    """Columns of equal length; ``print`` aligns them.

    Examples
    --------
    >>> table = Table(Column("level", (1, 2), width=5), Column("I", (0.0669, 1.63), ".3f", 7))
    >>> print(table)
    level       I
        1   0.067
        2   1.630
    >>> print(table.markdown())
    | level | I |
    | --- | --- |
    | 1 | 0.067 |
    | 2 | 1.630 |
    """

    columns: tuple[Column, ...]

    def __init__(self, *columns: Column) -> None:
        object.__setattr__(self, "columns", columns)

    @property
    def head(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(column.name for column in self.columns)

    @property
    def rows(self) -> tuple[tuple[str, ...], ...]:
        """Cells in words, row by row."""
        return tuple(zip(*(column.words for column in self.columns), strict=True))

    def lines(self) -> list[str]:
        """The head and the rows, aligned."""
        first, *others = (column.aligned() for column in self.columns)
        gaps = [" " * column.gap for column in self.columns[1:]]
        rows = zip(first, *others, strict=True)
        lines = [a + "".join(g + b for g, b in zip(gaps, rest, strict=True)) for a, *rest in rows]
        return [line.rstrip() for line in lines] if self.columns[-1].left else lines

    @property
    def width(self) -> int:
        """Letters of the widest line."""
        return max(map(len, self.lines()))

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def markdown(self) -> str:
        """As a table of Markdown."""
        lines = [self.head, ("---",) * len(self.columns), *self.rows]
        return "\n".join("| " + " | ".join(line) + " |" for line in lines)

    def html(self, colours: Sequence[str] = ()) -> str:
        """As a table of HTML that inherits its style; ``colours`` mark the rows."""
        head = "".join(f"<th scope='col'>{escape(name)}</th>" for name in self.head)
        rows = []
        for k, (first, *rest) in enumerate(self.rows):
            mark = f"<span style='color:{colours[k]}'>■</span> " if colours else ""
            cells = "".join(f"<td>{escape(cell)}</td>" for cell in rest)
            rows.append(f"<tr><th scope='row'>{mark}{escape(first)}</th>{cells}</tr>")
        return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table>"
