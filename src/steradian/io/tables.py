"""Files in: CSV, TSV, Parquet and NPY, columns by name."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.data.directions import Directions
from steradian.errors import InvalidDirections, MissingExtra
from steradian.io.frames import Coords, directions_from_frame, from_columns
from steradian.numerics.arrays import AnyArray

_DELIMITERS = {".csv": ",", ".tsv": "\t", ".txt": "\t"}


@dataclass(frozen=True, slots=True)
class Table:
    """Named columns of text or numbers; just enough of a frame."""

    data: Mapping[str, AnyArray]

    @property
    def columns(self) -> list[str]:
        return list(self.data)

    def __getitem__(self, name: str) -> AnyArray:
        return self.data[name]


def read_directions(
    path: str | Path,
    *,
    columns: Sequence[str] | None = None,
    coords: Coords | None = None,
    weights: str | None = None,
    normalize: bool = False,
    axial: bool = False,
) -> Directions:
    """Read directions from a file.

    Parameters
    ----------
    path : str or Path
        ``.csv``, ``.tsv`` or ``.txt`` (tab-separated) with a header line, ``.parquet``, or
        ``.npy`` with one direction per row.
    columns : sequence of str, optional
        Coordinate columns; recognised by name when left out.
    coords : {"xyz", "lonlat", "angle"}, optional
        Convention of the columns; angles in degrees.
    weights : str, optional
        Name of the column of weights.
    normalize : bool
        Scale Cartesian rows to unit norm.
    axial : bool
        Whether x and -x are the same: axes rather than directions.
    """
    path = _path(path)
    options: dict[str, Any] = {"coords": coords, "normalize": normalize, "axial": axial}
    if path.is_file() and path.suffix.lower() == ".npy":
        return _from_npy(path, columns, weights, **options)
    return directions_from_frame(read_table(path), columns=columns, weights=weights, **options)


def _path(path: Any) -> Path:
    try:
        found = Path(path)
        found.is_file()
    except (TypeError, ValueError, OSError) as error:  # a null byte, a name too long
        raise InvalidDirections(f"path is {shown(path)}; give the name of a file") from error
    return found


def read_table(path: str | Path) -> Table:
    """Named columns of a CSV, TSV or Parquet file."""
    path = _path(path)
    if not path.is_file():
        raise InvalidDirections(f"no file {str(path)!r}; check the path")
    suffix = path.suffix.lower()
    if suffix == ".parquet":
        return _read_parquet(path)
    if suffix in _DELIMITERS:
        return _read_text(path, _DELIMITERS[suffix])
    if suffix == ".npy":
        raise InvalidDirections(f"{path.name} has no named columns; use a table")
    raise InvalidDirections(
        f"{path.name}: unknown file type {suffix!r}; use .csv, .tsv, .txt, .parquet or .npy"
    )


def _from_npy(
    path: Path,
    columns: Sequence[str] | None,
    weights: str | None,
    *,
    coords: Coords | None,
    normalize: bool,
    axial: bool,
) -> Directions:
    if columns or weights:
        raise InvalidDirections(
            f"{path.name} has no column names; leave out --columns and --weights"
        )
    try:
        array: AnyArray = np.lib.format.open_memmap(path, mode="r")
    except (ValueError, OSError, EOFError) as error:
        raise InvalidDirections(
            f"{path.name} is not a NPY array of numbers; save one with numpy.save"
        ) from error
    if coords in (None, "xyz"):
        return Directions(array, normalize=normalize, axial=axial)
    grid = np.asarray(array)
    return from_columns(list(grid.T) if grid.ndim == 2 else [grid], coords, axial=axial)


def _read_parquet(path: Path) -> Table:
    try:
        from pyarrow import ArrowException, parquet
    except ImportError as error:
        raise MissingExtra(
            "Parquet files need pyarrow; install it with: pip install 'steradian[tables]'"
        ) from error
    try:
        table = parquet.ParquetFile(path).read()
    except (ArrowException, OSError) as error:
        raise InvalidDirections(f"{path.name} is not a Parquet file: {error}") from error
    _refuse_repeated(table.column_names, path.name)
    return Table({name: table[name].to_numpy(zero_copy_only=False) for name in table.column_names})


def _read_text(path: Path, delimiter: str) -> Table:
    """Read delimited text; columns that hold only numbers become numbers."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            return _parse(csv.reader(stream, delimiter=delimiter), path.name)
    except UnicodeDecodeError as error:
        raise InvalidDirections(f"{path.name} is not UTF-8 text: {error.reason}") from error
    except csv.Error as error:
        raise InvalidDirections(f"{path.name} cannot be read as a table: {error}") from error


def _parse(reader: Iterator[list[str]], name: str) -> Table:
    header = [cell.strip() for cell in next(reader, [])]
    if not any(header):
        raise InvalidDirections(f"{name} is empty; give a header line and one row per direction")
    if all(_is_number(cell) for cell in header):
        raise InvalidDirections(
            f"{name}: the first line is numbers; give a header line that names the columns"
        )
    _refuse_repeated(header, name)
    rows = [row for row in reader if row]
    for number, row in enumerate(rows):
        if len(row) != len(header):
            raise InvalidDirections(
                f"{name}: row {number} has {len(row)} cells, the header {len(header)}; fix that row"
            )
    if not rows:
        raise InvalidDirections(f"{name} has a header but no rows")
    return Table({column: _numbers([row[k] for row in rows]) for k, column in enumerate(header)})


def _refuse_repeated(names: list[str], file: str) -> None:
    repeated = [name for k, name in enumerate(names) if name and name in names[:k]]
    if repeated:
        raise InvalidDirections(f"{file}: column {repeated[0]!r} is there twice; rename one")


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(cells: list[str]) -> AnyArray:
    """Numbers where all cells are numbers; an empty cell is a missing number."""
    try:
        return np.array([float(cell) if cell.strip() else np.nan for cell in cells])
    except ValueError:
        return np.array(cells, dtype=object)
