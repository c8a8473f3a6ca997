"""Arrow batches and Parquet files, a piece at a time."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import numpy as np

from steradian.errors import InvalidDirections
from steradian.io.files import arrow, refuse_no_file, table_of_arrow
from steradian.io.frames import Table, vector_of
from steradian.io.pieces import (
    Piece,
    block_name,
    files_of_rows,
    frame_pieces,
    rows_at_a_time,
)

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


def batch_pieces(batches: Iterator[Any], names: Sequence[str]) -> Iterator[Piece]:
    """Pieces of batches, each a table of Arrow."""
    first = 0
    for k, batch in enumerate(batches):
        yield from frame_pieces(batch, names, first, block_name(k))
        first += len(batch)


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
