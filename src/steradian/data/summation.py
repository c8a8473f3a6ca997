"""moments(source, hierarchy): the sums of any source of rows, a piece at a time."""

from __future__ import annotations

import os
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.cluster import (
    collection_parts,
    file_parts,
    is_collection,
    summed_on_cluster,
    working_on,
)
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.notation import Reading
from steradian.errors import InvalidArgument, InvalidDirections
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import refuse_unproven
from steradian.hierarchies.registry import default_hierarchy, is_shipped
from steradian.io.decision import Decision, OnBad, Request
from steradian.io.pieces import Groups, Piece, Wanted, settled
from steradian.io.streams import Stream, is_path, stream_of
from steradian.progress import metered
from steradian.spaces import Space

Sums = dict[Any, Moments]
"""Moments by label; without labels all of them under None."""


@dataclass(frozen=True, slots=True)
class Summed:
    """Moments by label, and how many rows of each could not be read."""

    sums: Sums = field(default_factory=dict)
    skipped: Mapping[Any, int] = field(default_factory=dict)


_MOST_THREADS = 4  # beyond it reading is what one waits for
_NO_SCALE = -(1 << 20)  # exponent of sums that are zero: lower than that of any others


def moments(  # noqa: PLR0913 - one for each thing that a row may hold
    source: Any,
    hierarchy: Hierarchy,
    *,
    by: ArrayLike | str | None = None,
    weights: ArrayLike | str | None = None,
    counts: str | None = None,
    columns: Sequence[str] | None = None,
    coords: str | None = None,
    normalize: bool = False,
    axial: bool | None = None,
    degrees: bool | None = None,
    hours: bool = False,
    period: float | str | None = None,
    on_bad: OnBad = "error",
    bins: Sequence[str] | None = None,
    table: str | None = None,
    where: str | None = None,
    cluster: Any = None,
) -> Any:
    """Sum the features of a source that need not fit in memory.

    Parameters
    ----------
    source : anything with rows
        An array, `Directions`, a table (pandas, polars, Arrow); a path, a pattern like
        ``"2026-*.parquet"``, a directory of Parquet files or a list of these, in any format that
        `read_directions` reads; an Arrow dataset, reader or stream; an iterator of blocks, each an
        array, ``(x, weights)``, `Directions` or a table; a Dask array or data frame.
    hierarchy : Hierarchy
        The features: one of this package, like `Harmonics`, or your own.
    by : column name or array_like, optional
        A label per row; then a dictionary of moments by label is made in the same pass.
    weights : column name or array_like, optional
        Non-negative weights of any scale; their scale counts when moments are pooled.
    counts, columns, coords, normalize, axial, degrees, hours, period, on_bad, bins, table, where
        As for `read_directions`. Names and first rows decide how a table is read, and every
        block is then read alike.
    cluster : str or distributed.Client, optional
        Where to work: ``"local:2"`` for two processes here, the address of a Dask scheduler, or a
        client. Each part of the data (row group, chunk, partition) is summed where it is read.

    Returns
    -------
    Moments, or a dict of them by label
        Equal, to rounding, to the moments of all rows at once. `profile` takes them.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> rng = np.random.default_rng(0)
    >>> blocks = (sr.Sphere().uniform(1000, rng) for _ in range(5))
    >>> sr.moments(blocks, sr.Harmonics(3, 2)).n
    5000
    >>> x = sr.Sphere().uniform(6, rng)
    >>> parts = sr.moments(x, sr.Harmonics(3, 1), by=["a", "b", "a", "b", "a", "a"])
    >>> {label: part.n for label, part in parts.items()}
    {'a': 4, 'b': 2}
    """
    refuse_unproven(hierarchy)
    request = Request(
        columns, coords, weights, counts, normalize, axial, degrees, hours, period, on_bad,
        bins, table, where,
    )  # fmt: skip
    return summed(source, Wanted(request, by), _Features(hierarchy), cluster)


@dataclass(frozen=True, slots=True)
class _Features:
    """What is summed: the features that were given, or those that a space has by default."""

    given: Hierarchy | None = None
    levels: int | None = None

    @property
    def space(self) -> Space | None:
        """Where plain coordinates are points; None where nobody said."""
        return None if self.given is None else self.given.space

    def on(self, space: Space | None) -> Hierarchy:
        """Of the space where the first rows live; None where there are no rows."""
        if self.given is not None:
            return self.given
        if space is None:
            raise InvalidDirections("no row can be read; give at least one direction")
        return default_hierarchy(space, self.levels)


def default_moments(source: Any, wanted: Wanted, levels: int | None, cluster: Any = None) -> Any:
    """The same of the features that the space of the rows has by default."""
    return summed(source, wanted, _Features(None, levels), cluster)


def summed(source: Any, wanted: Wanted, features: _Features, cluster: Any) -> Any:
    """The moments of a source, or those of each label."""
    if is_collection(source) or cluster is not None:
        with working_on(cluster) as client:
            found, known = _spread(source, wanted, features, client)
    else:
        stream = stream_of(source, wanted)
        pieces, how, space = settled(stream.pieces, wanted, stream.decision, features.space)
        measure = _Measure(features.on(space), wanted.columns, how)
        found, known = _streamed(replace(stream, pieces=pieces), measure), measure.hierarchy
    return _finished(found, known, wanted.by is not None)


def _spread(
    source: Any, wanted: Wanted, features: _Features, client: Any
) -> tuple[Summed, Hierarchy]:
    """The sums of many machines."""
    if not is_collection(source) and not is_path(source):
        raise InvalidArgument(
            "cluster= takes files or Dask collections; what is in memory here is summed here"
        )
    made = collection_parts if is_collection(source) else file_parts
    parts = made(source, wanted, features.space)
    measure = _Measure(features.on(parts.space), wanted.columns, parts.decision)
    return summed_on_cluster(parts.parts, measure, pooled, client), measure.hierarchy


def _streamed(stream: Stream, measure: _Measure) -> Summed:
    """The sums of one machine: several pieces at a time, pooled in their order."""
    found = Summed()
    with metered(stream.total, "moments", stream.unit) as advance:
        for piece, part in _side_by_side(measure.of_piece, stream.pieces, measure.threads):
            found = pooled([found, part])
            advance(piece.amount)
    return found


def _side_by_side(
    work: Callable[[Piece], Summed], pieces: Iterable[Piece], threads: int
) -> Iterator[tuple[Piece, Summed]]:
    """Pieces and their sums, in order; while some are summed, the next are read."""
    if threads < 2:
        yield from ((piece, work(piece)) for piece in pieces)
        return
    under_way: deque[tuple[Piece, Future[Summed]]] = deque()
    with ThreadPoolExecutor(threads) as pool:
        try:
            for piece in pieces:
                under_way.append((piece, pool.submit(work, piece)))
                if len(under_way) > threads:
                    done, future = under_way.popleft()
                    yield done, future.result()
            while under_way:
                done, future = under_way.popleft()
                yield done, future.result()
        finally:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True)
class _Measure:
    """From pieces to sums; travels to the machines of a cluster."""

    hierarchy: Hierarchy
    wanted: Wanted
    decision: Decision | None

    @property
    def threads(self) -> int:
        """Several where all the code that runs in them is ours."""
        return min(_MOST_THREADS, os.cpu_count() or 1) if is_shipped(self.hierarchy) else 1

    def __call__(self, pieces: Iterable[Piece]) -> Summed:
        return reduce(lambda one, piece: pooled([one, self.of_piece(piece)]), pieces, Summed())

    def of_piece(self, piece: Piece) -> Summed:
        rows = piece.rows(self.wanted, self.decision, self.hierarchy.space)
        if rows.directions is None:
            return Summed({}, rows.skipped)
        if rows.groups is None:
            return Summed({None: self._sums(rows.directions, rows.weightless)}, rows.skipped)
        return Summed(self._by_label(rows.directions, rows.groups, rows.weightless), rows.skipped)

    def _sums(self, directions: Directions, weightless: bool) -> Moments:
        found = Moments.from_directions(directions, self.hierarchy)
        told = replace(found, reading=directions.reading)
        return _without_weight(told) if weightless else told

    def _by_label(self, directions: Directions, groups: Groups, weightless: bool) -> Sums:
        order = np.argsort(groups.codes, kind="stable")
        starts = np.searchsorted(groups.codes[order], np.arange(1, len(groups.labels)))
        x, found, known = directions.x, {}, directions.reading
        raw = np.concatenate([w for _, w in directions.blocks()]) if directions.weighted else None
        for label, rows in zip(groups.labels, np.split(order, starts), strict=True):
            w = None if raw is None else raw[rows]
            naught = weightless or (w is not None and not w.any())
            some = Directions(x[rows], None if naught else w, space=directions.space)
            told = None if known is None else known.of_group(len(rows))
            part = self._sums(some.with_reading(told), naught)
            scale = part.exponent + (0 if naught else directions.weight_exponent)
            found[label] = replace(part, exponent=scale)
        return found


def _without_weight(part: Moments) -> Moments:
    """The same rows, which weigh nothing."""
    return replace(
        part,
        weight=0.0,
        weight_sq=0.0,
        total=0.0 * part.total,
        total_sq=0.0 * part.total_sq,
        scatter=0.0 * part.scatter,
        exponent=_NO_SCALE,
    )


def pooled(parts: Sequence[Summed]) -> Summed:
    """The sums of several parts, label by label, in their order.

    All are of one hierarchy, though on a cluster each comes back with its own copy.
    """
    whole: Sums = {}
    skipped: Counter[Any] = Counter()
    for part in parts:
        skipped.update(part.skipped)
        for label, found in part.sums.items():
            known = whole.get(label)
            if known is None:
                whole[label] = found
            else:
                whole[label] = known + replace(found, hierarchy=known.hierarchy)
    return Summed(whole, skipped)


def _finished(found: Summed, hierarchy: Hierarchy, labelled: bool) -> Any:
    """What is returned: nothing without rows or weight."""
    if not found.sums:
        lost = sum(found.skipped.values())
        said = f"none of its {lost} rows can be read" if lost else "the source has no rows"
        raise InvalidDirections(f"{said}; give at least one direction")
    for label, part in found.sums.items():
        if not part.weight:
            whose = f"of the group {label!r} " if labelled else ""
            raise InvalidDirections(
                f"all weights {whose}are zero; give at least one positive weight"
            )
    own = {
        label: replace(part, hierarchy=hierarchy, reading=_with_skipped(found, label))
        for label, part in found.sums.items()
    }
    if not labelled:
        return own[None]
    try:
        return dict(sorted(own.items()))
    except TypeError:  # labels of several kinds have no order
        return own


def _with_skipped(found: Summed, label: Any) -> Reading | None:
    """What was understood of the rows of a label, with all that were left out in any block."""
    known, lost = found.sums[label].reading, found.skipped.get(label, 0)
    return None if known is None else replace(known, skipped=lost or known.skipped)
