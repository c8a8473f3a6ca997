"""Frames of any library as plain columns, and results as a frame."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from steradian.data.conventions import Unit
from steradian.data.validation import as_numeric
from steradian.errors import InvalidDirections, MissingExtra
from steradian.io.recognition import listed
from steradian.numerics.arrays import AnyArray, IntArray
from steradian.text.messages import Message, Row, message, names_rows

# What narwhals says of a column name that a frame has more than once, in all its versions.


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of text or numbers; just enough of a frame."""

    data: Mapping[str, AnyArray]
    lines: IntArray | None = None  # of the file that each row stood on
    header: bool = True  # whether the names are from the file rather than numbers
    ragged: tuple[str, ...] = ()  # rows that are no rows, in words
    files: AnyArray | None = None  # the file of each row, when there are several
    first: int | None = None  # the row of its source that it begins at, when it is a piece of one
    delimiter: str = ""  # of text
    repeated: tuple[str, ...] = ()  # names that several columns have, which are told by number
    beside: Mapping[str, AnyArray] = field(default_factory=dict)  # arrays with one number per row
    units: Mapping[str, Unit] = field(default_factory=dict)  # of columns, where a line says them
    numbers: IntArray | None = None  # of its rows in their source, where some are chosen
    chosen_of: int = 0  # how many rows some were chosen of

    @property
    def columns(self) -> list[str]:
        """Names."""
        return list(self.data)

    def __getitem__(self, name: str) -> AnyArray:
        return self.data[name]

    @property
    def rows(self) -> int:
        """Number of rows."""
        return len(next(iter(self.data.values()), ()))

    def take(self, rows: IntArray) -> Table:
        """Some of the rows, which keep their places."""
        return replace(
            self,
            data={name: values[rows] for name, values in self.data.items()},
            lines=None if self.lines is None else self.lines[rows],
            files=None if self.files is None else self.files[rows],
            beside={name: values[rows] for name, values in self.beside.items()},
            numbers=rows if self.numbers is None else self.numbers[rows],
            chosen_of=self.chosen_of or self.rows,
        )

    def where(self, row: int) -> Row | Message | str:
        """The place of a row: its number, or the line of a file."""
        number = Row((row if self.numbers is None else int(self.numbers[row])) + (self.first or 0))
        line = number if self.lines is None else f"line {self.lines[row]}"
        if self.files is None:
            return line
        return message("{row} of {file}", row=line, file=self.files[row])

    @property
    def extent(self) -> Message | str:
        """All rows; of a piece, which ones."""
        whole = self.rows + len(self.ragged)
        if self.first is None or not self.rows:
            return f"{whole} rows"
        ends = {"first": self.where(0), "last": self.where(self.rows - 1)}
        return message("{count} rows ({first} to {last})", count=whole, **ends)


def is_astropy(data: Any) -> bool:
    """Whether ``data`` is a table of astropy."""
    return hasattr(type(data), "colnames") and hasattr(data, "columns")


def as_table(frame: Any, names: Collection[str] | None = None) -> Table:
    """The columns of a frame of any library that narwhals knows (pandas, polars, Arrow, …)."""
    if is_astropy(frame):
        from steradian.io.astronomy import table_of_astropy

        return table_of_astropy(frame)
    return _of_frame(eager(frame), frame, names)


def eager(frame: Any) -> Any:
    """A frame with its rows, as narwhals' own; its slices are frames."""
    try:
        import narwhals as nw
    except ImportError as error:
        raise MissingExtra(
            "frames need narwhals; install it with: pip install 'steradian[tables]'"
        ) from error
    try:
        native = nw.from_native(frame)
        return native.collect() if isinstance(native, nw.LazyFrame) else native
    except Exception as error:  # whatever calls itself a frame
        if twice := _repeated(frame):
            words = f"column {twice[0]!r} is there more than once; rename one"
            raise InvalidDirections(words) from error
        raise InvalidDirections(
            f"a {type(frame).__name__} does not tell its columns; pass an array: {error}"
        ) from error


def _repeated(frame: Any) -> list[str]:
    """The names that several columns have, as far as a foreign frame tells its names."""
    try:
        names = [str(name) for name in frame.columns]
    except Exception:  # whatever calls itself a frame
        return []
    return [name for name, count in Counter(names).items() if count > 1]


def table_of_slice(frame: Any, start: int, stop: int, names: Collection[str] | None) -> Table:
    """Some rows and columns of a frame of narwhals."""
    return _of_frame(frame[start:stop], frame, names)


def _of_frame(whole: Any, frame: Any, names: Collection[str] | None) -> Table:
    try:
        held = None if names is None else {*names, *map(vector_of, names)}
        wanted = [name for name in whole.columns if held is None or str(name) in held]
        return Table(spread({str(name): _plain(whole.get_column(name)) for name in wanted}))
    except Exception as error:  # whatever a foreign frame does
        raise InvalidDirections(
            f"a {type(frame).__name__} does not tell its columns; pass an array: {error}"
        ) from error


def spread(columns: Mapping[str, AnyArray]) -> dict[str, AnyArray]:
    """Columns of vectors as one column for each coordinate: ``name.0``, ``name.1``, …"""
    found: dict[str, AnyArray] = {}
    for name, values in columns.items():
        if values.ndim == 2 and values.dtype.kind in "fiub":
            found |= {f"{name}.{k}": values[:, k] for k in range(values.shape[1])}
        else:
            found[name] = values
    return found


def vector_of(name: str) -> str:
    """The column of vectors that a column may be a coordinate of."""
    stem, _, number = name.rpartition(".")
    return stem if number.isdecimal() else name


def _plain(series: Any) -> AnyArray:
    """A column as an array; numbers as numbers, whatever the library held them in."""
    values = np.asarray(series.to_numpy())
    if values.dtype.kind == "O":
        if len(values) and isinstance(values[0], np.ndarray | list | tuple):
            return _vectors(values)
        try:
            return as_numeric(values, "column").astype(np.float64)
        except InvalidDirections:
            return values
    return values


def _vectors(cells: AnyArray) -> AnyArray:
    """Lists of numbers as an array (n, d); as they are where their lengths differ."""
    if len({len(cell) if hasattr(cell, "__len__") else -1 for cell in cells}) > 1:
        return cells
    try:
        return np.array([np.asarray(cell, dtype=np.float64) for cell in cells])
    except (TypeError, ValueError):
        return cells


def column(frame: Any, name: str) -> AnyArray:
    """The values of one named column, of any type."""
    table = frame if isinstance(frame, Table) else as_table(frame)
    if name not in table.data:
        raise InvalidDirections(f"no column {name!r}; the table has {listed(table.columns)}")
    return table[name]


def placed(error: InvalidDirections, table: Table, kept: IntArray) -> InvalidDirections:
    """The same error with lines or rows of the source in place of rows of an array."""
    found = error.placed(lambda row: table.where(int(kept[row])))
    if table.files is None or not names_rows(error.fields):
        return found
    return found.changed(source=str(table.files[0]))


def frame_of_columns(table: dict[str, Any]) -> Any:
    """Columns by name as a pandas frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra(
            "a frame needs pandas; install it with: pip install 'steradian[tables]'"
        ) from error
    return pd.DataFrame(table)


def frame_of_levels(record: dict[str, Any]) -> Any:
    """One row per level of a profile's dictionary, as a pandas frame."""
    table = {
        "level": record["levels"],
        "features": record["dims"],
        "deficit": record["deficits"],
        "gap": record["gaps"],
        "noise": np.array(record["noise"], dtype=np.float64),
        "debiased": np.array(record["debiased"], dtype=np.float64),
        "uncertainty": record["uncertainty"],
    }
    certificates = {k: v for k, v in record["numerics"].items() if isinstance(v, list)}
    return frame_of_columns({**table, **certificates})
