"""Many weightings of the same points: what people may hand over, in blocks of bounded size.

An array (B, n) of any real type, also one that lives on disk; a sparse matrix; or an iterator of
either, block after block. Nothing is ever copied whole. A row that is no weighting is left out,
with the reason.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.data.stacks import Weights, shares_of
from steradian.data.validation import as_numeric
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import PLAIN_WEIGHTS

_LEAST_POWER = -1000  # of two whose inverse is a finite number


@dataclass(frozen=True, slots=True)
class WeightingBlock:
    """Some rows of the weightings that were handed over."""

    first: int  # the row of the first
    count: int  # rows, good or bad
    rows: IntArray  # (G,) the good ones, counted from ``first``
    weights: Weights  # (G, n), of any scale that sums well; sparse by rows if they were sparse
    totals: Array  # (G,) their sums
    ess: Array  # (count,) Kish's effective sizes, NaN of the bad
    refused: dict[int, InvalidDirections]  # row, of all, → why it is no weighting


@dataclass(frozen=True, slots=True)
class GivenRows:
    """Some rows as they were handed over, not read yet."""

    first: int  # the row of the first
    rows: Any  # (count, n)

    def __len__(self) -> int:
        return int(self.rows.shape[0])

    def blocks(self, about: int) -> Iterator[WeightingBlock]:
        """Read ``about`` so many at a time, in blocks of one size."""
        size = -(-len(self) // block_count(len(self), about))
        for start in range(0, len(self), size):
            yield _block(self.rows[start : start + size], self.first + start)

    def weighting(self, row: int) -> Weights:
        """One of them, of sum one, (1, n)."""
        block = _block(self.rows[row : row + 1], self.first + row)
        return shares_of(block.weights, block.totals)


def given_rows(weights: Any, n: int, about: int) -> Iterator[GivenRows]:
    """Weightings of ``n`` points, ``about`` so many rows at a time, in parts of one size.

    What an iterator hands over is copied: it may use the memory again.
    """
    first, passing = 0, isinstance(weights, Iterator)
    for part in _parts(weights, n):
        count = part.shape[0]
        size = -(-count // block_count(count, about))
        for start in range(0, count, size):
            rows = part[start : start + size]
            yield GivenRows(first, rows.copy() if passing else rows)
            first += rows.shape[0]
    if not first:
        raise InvalidDirections(f"weights are empty; give (B, {n}), one weighting per row")


def block_count(count: int, about: int) -> int:
    """Blocks of ``about`` so many rows, half as many more at the most.

    Few rows would cost as much as many, and a little more than one block is better one.
    """
    return max(1, round(count / about))


def rows_of(weights: Any) -> int | None:
    """How many weightings there are, where that is known before they are read."""
    shape = getattr(weights, "shape", None)
    return shape[0] if isinstance(shape, tuple) and shape else None


def _parts(weights: Any, n: int) -> Iterator[Any]:
    """Arrays or matrices by rows, each of ``n`` columns."""
    if isinstance(weights, Iterator):
        for part in weights:
            yield _part(part, n)
    else:
        yield _part(weights, n)


def _part(weights: Any, n: int) -> Any:
    sparse = callable(getattr(weights, "tocsr", None))
    part = weights.tocsr() if sparse else as_numeric(weights, "weights")
    if part.ndim != 2 or part.shape[1] != n or not part.shape[0]:
        raise InvalidDirections(
            f"weights have shape {part.shape}; give (B, {n}), one weighting of the {n} points "
            "per row"
        )
    if sparse and part.dtype.kind not in "fiub":
        raise InvalidDirections(f"weights has type {part.dtype}; give real numbers")
    return part


def _block(given: Any, first: int) -> WeightingBlock:
    if isinstance(given, np.ndarray):
        return _dense_block(np.asarray(given, dtype=np.float64), first)
    return _sparse_block(given, first)


def _dense_block(w: Array, first: int) -> WeightingBlock:
    """As they are: what is summed of them is divided by the totals, which takes no copy."""
    with np.errstate(over="ignore", invalid="ignore"):
        totals = w.sum(axis=1)
    good = (w.min(axis=1) >= 0.0) & (totals > PLAIN_WEIGHTS[0]) & (totals < PLAIN_WEIGHTS[1])
    if not good.all():
        return _scaled_block(w, first)
    return _finished(first, good, (w, totals), np.einsum("bn,bn->b", w, w), {})


def _scaled_block(w: Array, first: int) -> WeightingBlock:
    """The good ones times a power of two, so that sums of the largest stay finite."""
    largest = w.max(axis=1)
    good = (w.min(axis=1) >= 0.0) & (largest < np.inf) & (largest > 0.0)
    rows = np.flatnonzero(good)
    powers = np.maximum(np.frexp(largest[rows])[1], _LEAST_POWER)
    scaled = w[rows] * np.ldexp(1.0, -powers)[:, None]  # exact
    squares = np.einsum("bn,bn->b", scaled, scaled)
    refused = {first + int(k): _refusal(first + int(k), w[k]) for k in np.flatnonzero(~good)}
    return _finished(first, good, (scaled, scaled.sum(axis=1)), squares, refused)


def _sparse_block(given: Any, first: int) -> WeightingBlock:
    w = given.astype(np.float64)
    w.sum_duplicates()
    count = w.shape[0]
    row_of = np.repeat(np.arange(count), np.diff(w.indptr))
    usable = (w.data >= 0.0) & (w.data < np.inf)
    largest = np.zeros(count)
    np.maximum.at(largest, row_of[usable], w.data[usable])
    good = largest > 0.0
    good[row_of[~usable]] = False
    wrong = np.flatnonzero(~good)
    refused = {first + int(k): _refusal(first + int(k), w[[k]].toarray()[0]) for k in wrong}
    kept = w if good.all() else w[np.flatnonzero(good)]
    place = np.repeat(np.arange(kept.shape[0]), np.diff(kept.indptr))
    kept.data = np.ldexp(kept.data, -np.frexp(largest[good])[1][place])
    totals, squares = (
        np.bincount(place, data, kept.shape[0]).astype(np.float64)
        for data in (kept.data, kept.data * kept.data)
    )
    return _finished(first, good, (kept, totals), squares, refused)


def _finished(
    first: int,
    good: BoolArray,
    weights: tuple[Weights, Array],
    squares: Array,
    refused: dict[int, Any],
) -> WeightingBlock:
    rows = np.flatnonzero(good)
    ess = np.full(len(good), np.nan)
    ess[rows] = weights[1] ** 2 / squares
    return WeightingBlock(first, len(good), rows, *weights, ess, refused)


def _refusal(row: int, w: Array) -> InvalidDirections:
    """Why a row is no weighting."""
    bad = ~(np.isfinite(w) & (w >= 0))
    if not bad.any():
        return InvalidDirections(f"weighting {row} is zero everywhere; give it a positive weight")
    column = int(np.argmax(bad))
    return InvalidDirections(
        f"weight of point {column} in weighting {row} is {w[column]:g}; "
        "weights are finite and not negative"
    )
