"""Streams: any source of rows, as pieces that fit in memory."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from steradian.arguments import is_frame, shown
from steradian.data.conventions import CONVENTIONS
from steradian.data.directions import Directions
from steradian.data.notation import Notation, Reading
from steradian.data.validation import as_numeric
from steradian.errors import InvalidDirections
from steradian.io.decision import Decision
from steradian.io.files import (
    STANDARD_INPUT,
    arrow,
    as_path,
    mapped,
    opened,
    read_table,
    refuse_no_file,
    table_of_array,
    table_of_arrow,
)
from steradian.io.frames import Table, eager, vector_of
from steradian.io.moments_file import is_moments_file
from steradian.io.pieces import (
    Piece,
    Wanted,
    array_pieces,
    block_pieces,
    direction_pieces,
    files_of_rows,
    frame_decision,
    frame_pieces,
    rows_at_a_time,
)
from steradian.io.tables import found_files, source_name
from steradian.io.text import decoded_lines, no_parts, tables_of_lines
from steradian.text.messages import arguments

_TEXT_ROWS = 1 << 15  # rows of text at a time, whose cells are objects
_COUNTED = {"parquet", "npy"}  # formats that tell their number of rows


@dataclass(frozen=True, slots=True)
class Stream:
    """Pieces of a source, one after the other, and how much there is in all, where known."""

    pieces: Iterator[Piece]
    total: int | None
    unit: str = "rows"
    decision: Decision | None = None  # how its tables are read; None for coordinates


def stream_of(source: Any, wanted: Wanted) -> Stream:
    """The pieces of anything that has rows.

    Raises
    ------
    InvalidDirections
        It has none, or not in a form that is known.
    """
    if isinstance(source, Directions):
        return Stream(direction_pieces(source, wanted), source.n)
    if is_path(source):
        return stream_of_files(files_of(source), wanted)
    if hasattr(source, "collect") and hasattr(source, "collect_schema"):
        raise InvalidDirections(
            "the source is a lazy frame; pass its .collect(), or the file of its .sink_parquet()"
        )
    if is_frame(source):
        wanted.refuse_arrays("table")
        frame = eager(source)
        how = frame_decision(frame, wanted, "a table")
        return Stream(frame_pieces(frame, wanted.names(how)), len(frame), decision=how)
    if hasattr(source, "to_batches") or hasattr(source, "__arrow_c_stream__"):
        return _stream_of_blocks(arrow_batches(source), wanted)
    if hasattr(source, "__next__"):
        return _stream_of_blocks(source, wanted)
    return _stream_of_array(source, wanted)


def _stream_of_blocks(blocks: Iterator[Any], wanted: Wanted) -> Stream:
    wanted.refuse_arrays("table")
    first = next(blocks, None)
    if first is None:
        return Stream(iter(()), 0)
    how = frame_decision(first, wanted, "a stream") if is_frame(first) else None
    whole = itertools.chain([first], blocks)
    return Stream(block_pieces(whole, wanted, how), None, decision=how)


def _stream_of_array(source: Any, wanted: Wanted) -> Stream:
    if callable(source) or isinstance(source, dict | set):
        raise InvalidDirections(
            f"the source is {shown(source)}; give rows, a table, files, or what yields blocks"
        )
    refuse_of_tables(wanted)
    x = as_numeric(source, "x")
    if x.ndim != 2:
        raise InvalidDirections(
            f"x has shape {x.shape}; give (n, d) with one direction per row and d >= 2"
        )
    return Stream(array_pieces(x, wanted.request.weights, wanted.by), len(x))


def refuse_of_tables(wanted: Wanted) -> None:
    """Refuse what only columns have, of an array."""
    if wanted.of_tables:
        raise InvalidDirections(
            "{columns}, {coords} and the like are for tables, and this is an array; make "
            "Directions of it, like sr.Directions.from_lonlat(x[:, 0], x[:, 1])",
            columns=arguments(columns=...),
            coords=arguments(coords=...),
        )


# --- files --------------------------------------------------------------------------------


def is_path(source: Any) -> bool:
    """Whether a source is a path, a pattern of paths, or a list of them."""
    if isinstance(source, list | tuple):
        return bool(source) and all(isinstance(each, str | os.PathLike) for each in source)
    return isinstance(source, str | os.PathLike)


def files_of(source: Any) -> list[Path]:
    """The files that a path, a pattern, a directory of Parquet files or a list of them names."""
    given = source if isinstance(source, list | tuple) else [source]
    return [file for each in given for file in _files_of_one(each)]


def _files_of_one(source: Any) -> list[Path]:
    path = as_path(source)
    if not path.is_dir():
        return [Path(name) for name in found_files(source)]
    found = [file for file in path.rglob("*.parquet") if not file.name.startswith(("_", "."))]
    if not found:
        raise InvalidDirections(
            f"no Parquet files in the folder {str(path)!r}; give a file, or '{path}/*.csv'"
        )
    return sorted(found)


@dataclass(frozen=True, slots=True)
class _File:
    """A file with the format that its first bytes tell."""

    path: Path
    format: str
    size: int

    @staticmethod
    def of(path: Path) -> _File:
        if str(path) == STANDARD_INPUT:
            return _File(path, "all at once", 0)
        if is_moments_file(path):
            raise InvalidDirections(f"{path.name} holds moments already; read it with Moments.load")
        with opened(path) as file:
            packed, kind = file.content is not file.raw, str(file.format)
        if kind not in ("text", "parquet", "npy") or (packed and kind != "text"):
            kind = "all at once"
        return _File(path, kind, path.stat().st_size)

    @property
    def rows(self) -> int:
        """Number of rows, where the format tells it."""
        return parquet_rows(self.path) if self.format == "parquet" else len(mapped(self.path))


def stream_of_files(paths: Sequence[Path], wanted: Wanted) -> Stream:
    """The rows of files, one after the other; the unit is bytes where rows are not known."""
    wanted.refuse_arrays("files")
    files = [_File.of(path) for path in paths]
    counted = {file.format for file in files} <= _COUNTED
    total = sum(file.rows for file in files) if counted else sum(file.size for file in files)
    unit = "rows" if counted else "bytes"
    if _are_plain_arrays(files, wanted):
        pieces = itertools.chain.from_iterable(_rows_of_array(file.path, wanted) for file in files)
        return Stream(pieces, total, unit)
    part = wanted.request.table
    head, begun = _begun(files[0], part)
    how = wanted.decision(head, source_name([str(path) for path in paths]))
    names = wanted.names(how)
    rest = itertools.chain.from_iterable(
        _agreeing(_pieces_of_file(file, names, not counted, part), file, how) for file in files[1:]
    )
    first = _pieces_of_file(files[0], names, not counted, part) if begun is None else begun
    return Stream(itertools.chain(first, rest), total, unit, how)


def _begun(file: _File, part: str | None) -> tuple[Table, Iterator[Piece] | None]:
    """The columns of a file; with its pieces where it was read to know them."""
    if part is not None and file.format in _COUNTED:
        raise no_parts(file.path.name)
    if file.format == "parquet":
        return parquet_head(file.path), None
    if file.format == "npy":
        return table_of_array(np.array(mapped(file.path)[:1]), file.path.name), None
    pieces = _pieces_of_file(file, None, True, part)
    first = next(pieces)
    return first.data, itertools.chain([first], pieces)


def file_pieces(
    path: Path, names: Sequence[str], part: str | None = None, *, how: Decision | None = None
) -> Iterator[Piece]:
    """Pieces of one file, of the columns needed where its format keeps them apart.

    With ``how`` it is one of several files after the first, and held to how that is read.
    """
    file = _File.of(path)
    pieces = _pieces_of_file(file, names, False, part)
    return pieces if how is None else _agreeing(pieces, file, how)


def _agreeing(pieces: Iterator[Piece], file: _File, how: Decision) -> Iterator[Piece]:
    """The pieces of a later file, whose columns are those of the first, and which has a name."""
    for k, piece in enumerate(pieces):
        if not k:
            head = parquet_head(file.path) if file.format == "parquet" else piece.data
            how.refuse_other_columns(head, file.path.name)
        yield piece if k else replace(piece, block=file.path.name)


def _pieces_of_file(
    file: _File, names: Sequence[str] | None, in_bytes: bool, part: str | None
) -> Iterator[Piece]:
    if file.format == "text":
        yield from _text_pieces(file.path, part)
    elif file.format == "parquet":
        yield from _sized(parquet_pieces(file.path, names or []), file, in_bytes)
    elif file.format == "npy":
        yield from _sized(_array_pieces(file.path), file, in_bytes)
    else:
        yield from _sized(_whole_pieces(file, part), file, in_bytes)


def _sized(pieces: Iterator[Piece], file: _File, in_bytes: bool) -> Iterator[Piece]:
    """The same pieces; in bytes all of the file counts with its first."""
    left = file.size
    for piece in pieces:
        yield replace(piece, amount=left) if in_bytes else piece
        left = 0


def _named(table: Table, path: Path, first: int, amount: int) -> Piece:
    """A table of a file as a piece that knows where its rows stand."""
    name = "standard input" if str(path) == STANDARD_INPUT else path.name
    placed = replace(table, files=files_of_rows(name, table.rows), first=first)
    return Piece(placed, first=first, source=name, amount=amount)


def _whole_pieces(file: _File, part: str | None) -> Iterator[Piece]:
    """Pieces of a file whose format is read all at once."""
    table = replace(read_table(file.path, part), beside={})  # pieces hold their own rows
    step = rows_at_a_time(len(table.data))
    for first in range(0, max(1, table.rows), step):
        rows = slice(first, first + step)
        data = {name: values[rows] for name, values in table.data.items()}
        lines = None if table.lines is None else table.lines[rows]
        ragged = table.ragged if not first else ()
        yield _named(replace(table, data=data, lines=lines, ragged=ragged), file.path, first, step)


def _text_pieces(path: Path, part: str | None) -> Iterator[Piece]:
    """Delimited text; amounts are bytes on the disk."""
    with opened(path) as file:
        read = 0
        for table in tables_of_lines(  # who holds the lines lets them go before the file
            decoded_lines(file.content, path.name), path.name, _TEXT_ROWS, part
        ):
            now = file.raw.tell()
            yield _named(table, path, table.first or 0, now - read)
            read = now


# --- arrays in files ----------------------------------------------------------------------


def _are_plain_arrays(files: Sequence[_File], wanted: Wanted) -> bool:
    """Whether all files are arrays of Cartesian coordinates, and nothing names a column."""
    if any(file.format != "npy" for file in files) or not wanted.request.is_cartesian:
        return False
    return not wanted.label and all(mapped(file.path).ndim == 2 for file in files)


def _slices(path: Path) -> Iterator[tuple[int, Any]]:
    """Rows are copied and the map let go, so that what was read does not stay in memory."""
    shape = mapped(path).shape
    step = rows_at_a_time(int(np.prod(shape[1:])))
    for first in range(0, shape[0] if shape else 0, step):
        yield first, np.array(mapped(path)[first : first + step])


def _array_pieces(path: Path) -> Iterator[Piece]:
    """An array as a table whose columns are numbered, or named by its fields."""
    for first, rows in _slices(path):
        yield _named(table_of_array(rows, path.name), path, first, len(rows))


def _rows_of_array(path: Path, wanted: Wanted) -> Iterator[Piece]:
    axial = bool(wanted.request.axial)
    remarks = ("scaled to unit norm",) if wanted.request.normalize else ()
    for first, rows in _slices(path):
        reading = Reading(
            Notation(CONVENTIONS["xyz"]), len(rows), path.name, axial=axial, remarks=remarks
        )
        yield Piece(rows, first=first, source=path.name, amount=len(rows), reading=reading)


# --- batches of Arrow and Parquet files ------------------------------------------------------

_BUFFER = 1 << 20  # bytes of a column that are read at a time
_PARTITION = re.compile(r"([^=/]+)=([^/]*)")  # of the name of a directory: column=value
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"


def arrow_batches(source: Any) -> Iterator[Any]:
    """Tables of a dataset, a reader, or anything that streams in Arrow's C interface."""
    pa = arrow("Arrow")
    try:
        if hasattr(source, "to_batches"):  # a dataset: read ahead, but not far
            batches = source.to_batches(batch_readahead=2, fragment_readahead=1)
        else:
            batches = pa.RecordBatchReader.from_stream(source)
        yield from (pa.Table.from_batches([batch]) for batch in batches)
    except pa.ArrowException as error:
        said = str(error).splitlines()[0]  # without the traceback of whoever made it
        raise InvalidDirections(f"the stream of batches broke off: {said}") from error


def parquet_rows(file: Path) -> int:
    """Number of rows, from the footer alone."""
    return int(_opened(file).metadata.num_rows)


def row_groups(file: Path) -> list[int]:
    """Rows of each of the groups that can be read on their own."""
    metadata = _opened(file).metadata
    return [metadata.row_group(k).num_rows for k in range(metadata.num_row_groups)]


def parquet_head(file: Path) -> Table:
    """The columns of a file, also those that its directories tell, with at most one row."""
    with _reading(file) as opened:
        head = next(opened.iter_batches(batch_size=1), None)
        whole = opened.schema_arrow.empty_table() if head is None else _as_table(head)
        return _piece(whole, file, 0)


def parquet_pieces(
    file: Path,
    names: Sequence[str],
    groups: list[int] | None = None,
    first: int = 0,
    block: str = "",
) -> Iterator[Piece]:
    """Pieces of a Parquet file, or of some of its row groups; only columns needed are read.

    Directories named ``column=value`` above the file are columns too.
    """
    with _reading(file) as opened:
        there = opened.schema_arrow.names
        held = list(dict.fromkeys(n if n in there else vector_of(n) for n in names))
        held = [name for name in held if name in there]
        options = {"row_groups": groups} if groups is not None else {}
        step = rows_at_a_time(len(names))
        for batch in opened.iter_batches(batch_size=step, columns=held, **options):
            table = _piece(_as_table(batch), file, first)
            rows = batch.num_rows
            yield Piece(table, first=first, source=file.name, amount=rows, block=block)
            first, block = first + rows, ""


def _as_table(batch: Any) -> Any:
    return arrow("Parquet").Table.from_batches([batch])


def _piece(table: Any, file: Path, first: int) -> Table:
    columns = dict(table_of_arrow(table, file.name).data)
    for name, value in _partition(file).items():
        columns.setdefault(name, np.full(len(table), value, dtype=object))
    return Table(columns, files=files_of_rows(file.name, len(table)), first=first)


def _partition(file: Path) -> dict[str, Any]:
    """Columns that the directories above a file tell."""
    found = (_PARTITION.fullmatch(part) for part in file.parent.parts)
    pairs = [(unquote(m[1]), unquote(m[2])) for m in found if m is not None]
    return {name: None if value == _NO_VALUE else value for name, value in pairs}


def _opened(file: Path) -> Any:
    pa = arrow("Parquet")
    from pyarrow import parquet

    refuse_no_file(file)
    try:
        return parquet.ParquetFile(file, buffer_size=_BUFFER, pre_buffer=False)
    except (pa.ArrowException, OSError) as error:
        raise InvalidDirections(f"{file.name} is not a Parquet file: {error}") from error


@contextlib.contextmanager
def _reading(file: Path) -> Iterator[Any]:
    """The file, opened; what is wrong further inside ends in words of ours."""
    pa, opened = arrow("Parquet"), _opened(file)
    try:
        yield opened
    except (pa.ArrowException, OSError) as error:
        raise InvalidDirections(f"{file.name} cannot be read: {error}") from error
