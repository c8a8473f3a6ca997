"""Files in: text of any delimiter, Parquet, Feather, JSON lines, NPY and NPZ, columns by name."""

# ruff: noqa: PLR0913 - one parameter for each thing that a table does not say itself

from __future__ import annotations

import glob
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from steradian.arguments import is_frame
from steradian.data.conventions import CONVENTIONS
from steradian.data.directions import Directions
from steradian.data.notation import Notation, Reading
from steradian.data.validation import norms
from steradian.errors import InvalidDirections
from steradian.io.decision import OnBad, Request
from steradian.io.files import STANDARD_INPUT, as_path, mapped, read_table
from steradian.io.frames import Table
from steradian.io.reading import decided, understood
from steradian.numerics.arrays import AnyArray, IntArray
from steradian.text.messages import arguments

_ANGLES_TO_LOOK_AT = 1000  # rows that tell angles from vectors


def read_directions(
    path: Any,
    *,
    columns: Sequence[str] | None = None,
    coords: str | None = None,
    weights: str | None = None,
    counts: str | None = None,
    normalize: bool = False,
    axial: bool | None = None,
    degrees: bool | None = None,
    hours: bool = False,
    period: float | str | None = None,
    on_bad: OnBad = "error",
    bins: Sequence[str] | None = None,
    table: str | None = None,
    where: str | None = None,
    distinct: bool = False,
) -> Directions:
    """Read directions from a file, or from several as one sample.

    Parameters
    ----------
    path : str, Path, a list of them, or a frame
        Text with or without a header (commas, tabs, semicolons or spaces; MagIC tables),
        ``.parquet``, ``.feather``, JSON lines, ``.npy`` or ``.npz``, any text also with
        ``.gz``. A pattern like ``"sites/*.csv"`` is every file that fits it; ``"-"`` is the
        standard input. A frame of pandas, polars, Arrow or the like is read as it is.
    columns : sequence of str, optional
        Coordinate columns, by name or by number from 1 on; recognised by name when left out.
    coords : str, optional
        Convention of the columns, a name of the table in docs/coordinates.md.
    weights : str, optional
        Name of the column of weights.
    counts : str, optional
        Name of the column that says how often each row was observed.
    normalize : bool
        Scale Cartesian rows to unit norm.
    axial : bool, optional
        Whether x and -x are the same: axes rather than directions. By default as the
        convention has it: poles of planes are axes.
    degrees : bool, optional
        Whether angles are in degrees, as is assumed unless their sizes speak against it.
    hours : bool
        Whether right ascensions are in hours.
    period : float or str, optional
        Of times: a number, ``"day"``, ``"week"`` or ``"year"``.
    on_bad : {"error", "skip"}
        Whether rows that cannot be read are refused, all counted and the first named, or left
        out, which the printed profile says. A negative weight is an error either way.
    bins : two names, optional
        Columns of the lower and upper edges of bins on the circle, in place of ``columns``; with
        ``counts``. Every bin is counted at its middle.
    table : str, optional
        Which table of a MagIC file of several, or which array of an NPZ archive, to read.
    where : str, optional
        Which rows to read: comparisons of columns with numbers or with words in quotes, like
        ``"dip > 30 and formation == 'Ross'"``. A row without a value fulfils none.
    distinct : bool
        Keep one of each set of rows that agree in every column that is read.
    """
    request = Request(
        columns, coords, weights, counts, normalize, axial, degrees, hours, period, on_bad,
        bins, table, where, distinct,
    )  # fmt: skip
    if is_frame(path):
        return understood(path, request, "a table")
    return read_request(path, request)[0]


def read_request(path: Any, request: Request) -> tuple[Directions, Table | None]:
    """Directions of files, and the table they are from."""
    paths = found_files(path)
    array = _plain_array(paths, request)
    if array is not None:
        rows = _rows_to_keep(array, request.on_bad)
        kept = array[rows] if request.on_bad == "skip" and array.ndim == 2 else array
        made = Directions(kept, normalize=request.normalize, axial=bool(request.axial))
        reading = Reading(
            Notation(CONVENTIONS["xyz"]), made.n, paths[0], axial=bool(request.axial),
            skipped=len(array) - made.n,
            remarks=("scaled to unit norm",) if request.normalize else (),
        )  # fmt: skip
        made = made.with_rows(rows) if reading.skipped else made
        return made.with_reading(reading), None
    tables = [read_table(path, request.table) for path in paths]
    whole = pooled(paths, tables)
    table = request.rows_of(whole)
    how = decided(table, request, source_name(paths))
    if len(tables) > 1:
        how = how.after(table)
        for one, name in zip(tables, paths, strict=True):
            how.refuse_other_columns(one, Path(name).name)
            how.refuse_other_values(request.rows_of(one, some=False), Path(name).name)
    return how.whole(table), whole


def _rows_to_keep(array: AnyArray, on_bad: OnBad) -> IntArray:
    """Rows of an array that are directions; all of them unless bad ones are to be left out."""
    if on_bad == "error" or array.ndim != 2 or array.dtype.kind not in "fiub":
        return np.arange(len(array) if array.ndim else 0)
    good = np.isfinite(array).all(axis=1) & array.any(axis=1)
    if not good.any():
        raise InvalidDirections("no row can be read: all of them are zero or not finite")
    return np.flatnonzero(good)


def source_name(paths: Sequence[str]) -> str:
    """Files in words."""
    if list(paths) == [STANDARD_INPUT]:
        return "standard input"
    return Path(paths[0]).name if len(paths) == 1 else f"{len(paths)} files"


def found_files(path: Any) -> list[str]:
    """The names of the files that a name, a pattern or a list of them means."""
    given = path if isinstance(path, list | tuple) else [path]
    found: list[str] = []
    for each in given:
        name = str(as_path(each))
        if any(mark in name for mark in "*?[") and not Path(name).exists():
            fitting = sorted(glob.glob(name, recursive=True))
            if not fitting:
                raise InvalidDirections(f"no file fits {name!r}; check the pattern")
            found += fitting
        else:
            found.append(name)
    if not found:
        raise InvalidDirections("no file; give the name of one")
    return found


def pooled(paths: Sequence[str], tables: Sequence[Table]) -> Table:
    """The tables of several files as one, of the columns that all of them have."""
    if len(tables) == 1:
        return tables[0]
    names = [n for n in tables[0].columns if all(n in table.data for table in tables)]
    if not names:
        raise InvalidDirections(f"{paths[0]} and the other files share no column")
    files = [Path(path).name for path in paths]
    lengths = [len(table[names[0]]) for table in tables]
    lines = [
        np.arange(n) if table.lines is None else table.lines
        for table, n in zip(tables, lengths, strict=True)
    ]
    return Table(
        {name: np.concatenate([table[name] for table in tables]) for name in names},
        np.concatenate(lines),
        all(table.header for table in tables),
        tuple(f"{words} of {f}" for f, t in zip(files, tables, strict=True) for words in t.ragged),
        np.repeat(np.array(files, dtype=object), lengths),
        repeated=tuple(dict.fromkeys(name for table in tables for name in table.repeated)),
        units=tables[0].units if all(t.units == tables[0].units for t in tables) else {},
    )


def _plain_array(paths: Sequence[str], request: Request) -> AnyArray | None:
    """The rows of one NPY file of Cartesian coordinates, left on the disk."""
    path = Path(paths[0])
    if len(paths) > 1 or path.suffix.lower() != ".npy" or not path.is_file():
        return None
    if request.distinct or not request.is_cartesian:
        return None
    array: AnyArray = mapped(path)
    if array.dtype.names or (array.ndim == 1 and not len(array)):
        return None
    if request.coords is None and request.normalize and array.ndim == 2 and array.shape[1] == 2:
        _refuse_angles(np.asarray(array[:_ANGLES_TO_LOOK_AT]), path.name)
    return array


def _refuse_angles(rows: AnyArray, name: str) -> None:
    """Refuse to scale two columns that may be angles, unless they are said to be Cartesian."""
    norm = float(np.median(norms(rows))) if rows.dtype.kind in "fiu" and rows.size else 1.0
    if norm > 2.0 * np.pi:
        raise InvalidDirections(
            "{name} has two columns with norms about {norm:.3g}, which may be angles; say {angles} "
            "for angles, or {cartesian} for Cartesian ones",
            name=name, norm=norm, angles=arguments(coords="lonlat"),
            cartesian=arguments(coords="xyz"),
        )  # fmt: skip
