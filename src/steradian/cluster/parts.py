"""What the machines of a cluster are given: chunks, partitions, row groups."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from steradian.cluster.engine import dask
from steradian.errors import InvalidDirections
from steradian.io.decision import Decision
from steradian.io.pieces import (
    Piece,
    Wanted,
    array_pieces,
    block_name,
    frame_decision,
    frame_pieces,
    settled,
)
from steradian.io.streams import (
    file_pieces,
    files_of,
    parquet_head,
    parquet_pieces,
    refuse_of_tables,
    row_groups,
    stream_of_files,
)
from steradian.spaces import Axes, Space, unit_sphere

_PARQUET = {".parquet", ".pq"}
_LOOKED_AT = 1 << 12  # rows of a partition that tell how all are read
_GROUPED_ROWS = 1 << 21  # rows of small row groups that make one part


@dataclass(frozen=True, slots=True)
class Part:
    """One task: arguments, some of them Dask's, from which pieces are made where it runs."""

    pieces: Any  # a function from the arguments to pieces
    arguments: tuple[Any, ...]


def is_collection(source: Any) -> bool:
    """Whether something is a Dask collection."""
    return hasattr(source, "__dask_graph__") and hasattr(source, "__dask_keys__")


@dataclass(frozen=True, slots=True)
class Parts:
    """All tasks, and how the tables among them are read, as the first rows tell."""

    parts: list[Part]
    decision: Decision | None
    space: Space | None  # None where there are no rows


def collection_parts(source: Any, wanted: Wanted, space: Space | None = None) -> Parts:
    """The partitions of a data frame, or the chunks of rows of an array."""
    kind = type(source)  # one that is delayed has an attribute of every name
    if hasattr(kind, "columns"):
        wanted.refuse_arrays("frame")
        return _frame_parts(source.to_delayed(), wanted)
    if not hasattr(kind, "chunks"):
        raise InvalidDirections(
            f"the source is a Dask {kind.__name__}; give a Dask array or data frame"
        )
    if source.ndim != 2:
        raise InvalidDirections(f"x has shape {source.shape}; give (n, d)")
    refuse_of_tables(wanted)
    parts = _array_parts(source, wanted)
    usual = Axes if wanted.request.axial else unit_sphere
    return Parts(parts, None, space or usual(source.shape[1]))


def _frame_parts(partitions: Any, wanted: Wanted) -> Parts:
    """Partitions; the first that has rows is looked at here, to decide how all are read."""
    decision = space = None
    for partition in partitions:
        first = dask().delayed(_first_rows)(partition).compute()
        decision = frame_decision(first, wanted, "a table")
        pieces = frame_pieces(first, wanted.names(decision))
        _, decision, space = settled(pieces, wanted, decision)
        if space is not None:
            break
    names = [] if decision is None else wanted.names(decision)
    return Parts(
        [
            Part(partial(frame_pieces, names=names, block=block_name(k)), (partition,))
            for k, partition in enumerate(partitions)
        ],
        decision,
        space,
    )


def _first_rows(frame: Any) -> Any:
    return frame.head(_LOOKED_AT)


def _array_parts(source: Any, wanted: Wanted) -> list[Part]:
    x = source.rechunk({1: -1})
    beside = [_column(wanted.request.weights, x, "weights"), _column(wanted.by, x, "by")]
    rows = [block for [block] in x.to_delayed().tolist()]
    pairs = [[None] * len(rows) if each is None else list(each.to_delayed()) for each in beside]
    return [
        Part(array_pieces, (block, w, label)) for block, w, label in zip(rows, *pairs, strict=True)
    ]


def _column(given: Any, x: Any, what: str) -> Any:
    """One number or label per row, in the chunks of the rows."""
    if given is None:
        return None
    if isinstance(given, str):
        raise InvalidDirections(f"{what} names a column, but the source is an array; pass an array")
    from_array = dask().array.from_array
    column = given if is_collection(given) else from_array(given, chunks=-1)
    if getattr(column, "ndim", 1) != 1 or getattr(column, "shape", (0,))[0] != x.shape[0]:
        raise InvalidDirections(
            f"{what} has shape {column.shape} for {x.shape[0]} rows; give one per row"
        )
    return column.rechunk((x.chunks[0],))


# --- files --------------------------------------------------------------------------------


def file_parts(source: Any, wanted: Wanted, space: Space | None = None) -> Parts:
    """Row groups of Parquet files, small ones together; other files whole.

    The machines read them by the same names: give paths that all of them see.
    """
    files = [file.absolute() for file in files_of(source)]
    stream = stream_of_files(files, wanted)
    _, decision, space = settled(stream.pieces, wanted, stream.decision, space)
    if decision is None:
        make = partial(_pieces_of_array, wanted=wanted)
        return Parts([Part(make, (file,)) for file in files], None, space)
    names, parts = wanted.names(decision), []
    for k, file in enumerate(files):
        if file.suffix.lower() not in _PARQUET:
            part = wanted.request.table
            make = partial(file_pieces, names=names, part=part, how=decision if k else None)
            parts.append(Part(make, (file,)))
            continue
        if k:
            decision.refuse_other_columns(parquet_head(file), file.name)
        groups = partial(parquet_pieces, names=names)
        parts += [
            Part(partial(groups, groups=lot, first=first, block="" if first else name), (file,))
            for name in [file.name if k else ""]
            for lot, first in _grouped(row_groups(file))
        ]
    return Parts(parts, decision, space)


def _pieces_of_array(file: Path, *, wanted: Wanted) -> Iterator[Piece]:
    return stream_of_files([file], wanted).pieces


def _grouped(rows: list[int]) -> Iterable[tuple[list[int], int]]:
    """Neighbouring row groups of some millions of rows, and the row each lot begins at."""
    lot: list[int] = []
    held = first = 0
    for group, count in enumerate(rows):
        if lot and held + count > _GROUPED_ROWS:
            yield lot, first
            lot, first, held = [], first + held, 0
        lot.append(group)
        held += count
    if lot:
        yield lot, first
