"""Fits of many weightings, block by block: memory does not grow with their number."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from steradian.arguments import seed_number, whole_number
from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack, SharedPoints, support_of_weighting
from steradian.data.weightings import GivenRows, WeightingBlock, block_count, given_rows, rows_of
from steradian.errors import InvalidArgument, SteradianError
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.fitting.shrinkage import Shrinkage
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import CLEAR_RISE
from steradian.progress import tracked
from steradian.spaces import Space

_ENTRIES = 1 << 20  # numbers of weights and moments of one stack,
_STACK_ENTRIES = 1 << 18  # or of its covariances where these are small: calls cost as much as rows
_READ_ENTRIES = 1 << 17  # weights that are read at once and stay near the processor
_ARRAYS = "deficits", "gaps", "residual", "quadrature", "pvalue", "null_mean"
_MOST_WORKERS = 8  # blocks that are fitted side by side


@dataclass(frozen=True, slots=True)
class Permutation:
    """The null of weights that have nothing to do with the directions, by shuffling.

    The points stay, and so do the weights of every weighting; which weight goes to which point is
    drawn anew. If that assignment was as good as random, a gap is one of ``replicates`` + 1
    values in random order, so that the share of those at least as large, with itself counted,
    is a p-value whatever the points and the weights: ``P(p <= a) <= a``.

    One shuffle serves all weightings: each sees a uniformly random permutation, and that is all
    its own p-value needs. P-values of different weightings of the same points are dependent with or
    without it.

    Parameters
    ----------
    replicates : int
        Shuffles; the smallest p-value is 1 / (replicates + 1).
    seed : int
        Of the shuffles.
    """

    replicates: int = 199
    seed: int = 0

    def __post_init__(self) -> None:
        whole_number(self.replicates, "replicates", least=19)
        seed_number(self.seed)

    def orders(self, n: int) -> Iterator[IntArray]:
        """Random orders of ``n`` points, the same for every block."""
        for k in range(self.replicates):
            yield np.random.default_rng([self.seed, k]).permutation(n)


def as_permutation(given: Permutation | str | None) -> Permutation | None:
    """``"permute"`` means that with its defaults."""
    if given is None or isinstance(given, Permutation):
        return given
    if isinstance(given, str) and given == "permute":
        return Permutation()
    raise InvalidArgument(
        f"null is {given!r}; give 'permute', or sr.Permutation(replicates, seed), or nothing"
    )


@dataclass(frozen=True, slots=True)
class BlockFits:
    """What was found of one block: arrays (rows, levels), NaN where there is no fit."""

    deficits: Array
    gaps: Array
    residual: Array
    quadrature: Array
    pvalue: Array
    null_mean: Array
    ess: Array  # (rows,)
    failures: dict[int, SteradianError] = field(default_factory=dict)  # row, of all, → why


@dataclass(frozen=True)
class WeightedFits:
    """How the weightings of some points are fitted."""

    x: Array  # (n, d) the points,
    space: Space  # of these
    hierarchy: Hierarchy
    shrinkage: Shrinkage | None
    null: Permutation | None

    def of(self, weights: Any) -> Iterator[BlockFits]:
        """Stack after stack, several side by side."""
        parts = given_rows(weights, len(self.x), self.rows_at_once)
        known = rows_of(weights)
        total = 1 if known is None else block_count(known, self.rows_at_once)
        return tracked(_side_by_side(self.of_rows, parts), total, "weightings")

    @property
    def rows_at_once(self) -> int:
        """Weightings of about one stack: their weights and their moments, and some room.

        More where weights need not be kept and laws are small.
        """
        q = self.hierarchy.q(self.hierarchy.levels)
        return self._rows_kept if self.null else max(self._rows_kept, _STACK_ENTRIES // q**2)

    @property
    def _rows_kept(self) -> int:
        """Weightings that are held with their moments."""
        d, q = self.hierarchy.space.d, self.hierarchy.q(self.hierarchy.levels)
        traced = getattr(self.hierarchy, "centred_moments", None) == "trace"
        moments = q + (d if traced else d * d)
        return max(1, _ENTRIES // (2 * len(self.x) + 4 * moments))

    @property
    def _rows_read(self) -> int:
        """Weightings that are read at once: few, unless each time takes a walk over the points."""
        near = max(1, _READ_ENTRIES // len(self.x))
        return min(near, self._rows_kept) if self._points.held else self._rows_kept

    def of_rows(self, given: GivenRows) -> BlockFits:
        """All levels of the weightings of one stack."""
        blocks: Iterable[WeightingBlock] = given.blocks(self._rows_read)
        if self.null is not None:
            blocks = list(blocks)  # every shuffle asks for the weights
        out = self._empty(len(given))
        rows, moments = self._read(given, blocks, out)
        if not len(rows):
            return out

        def support(place: int) -> tuple[Array, Array]:
            points, weights = support_of_weighting(self.x, given.weighting(int(rows[place])), 0)
            return Directions(points, weights, space=self.space).support()

        nested = fit_levels(self.hierarchy, moments, support, self.shrinkage)
        _write(nested, given, rows, out)
        return out if self.null is None else self._compared(blocks, rows, out)

    def _read(
        self, given: GivenRows, blocks: Iterable[WeightingBlock], out: BlockFits
    ) -> tuple[IntArray, MomentStack]:
        """The rows that are weightings, counted from the first, and their moments."""
        rows, moments = [], []
        for block in blocks:
            place = block.first - given.first
            out.ess[place : place + block.count] = block.ess
            out.failures.update(block.refused)
            rows.append(place + block.rows)
            moments.append(self._points.moments(block.weights, block.totals))
        return np.concatenate(rows), MomentStack.concatenated(moments)

    @cached_property
    def _points(self) -> SharedPoints:
        return SharedPoints(self.x, self.hierarchy)

    def _empty(self, count: int) -> BlockFits:
        shape = count, self.hierarchy.levels
        arrays = {name: np.full(shape, np.nan) for name in _ARRAYS}
        return BlockFits(**arrays, ess=np.full(count, np.nan), failures={})

    def _compared(
        self, blocks: Iterable[WeightingBlock], rows: IntArray, found: BlockFits
    ) -> BlockFits:
        """With what shuffled points give; a shuffle without a fit counts as larger."""
        null = self.null or Permutation()
        seen = found.gaps[rows]
        reached, sums = np.ones_like(seen), np.zeros_like(seen)
        sound = np.zeros_like(seen)
        for order in null.orders(len(self.x)):
            shuffled = SharedPoints(self.x[order], self.hierarchy)
            parts = [shuffled.moments(block.weights, block.totals) for block in blocks]
            moments = MomentStack.concatenated(parts).unsought()
            gaps = fit_levels(self.hierarchy, moments, None, self.shrinkage).gaps
            reached += ~(gaps < seen - CLEAR_RISE)  # equal but for rounding is equal
            fitted = np.isfinite(gaps)
            sums += np.where(fitted, gaps, 0.0)
            sound += fitted
        found.pvalue[rows] = np.where(np.isfinite(seen), reached / (null.replicates + 1.0), np.nan)
        found.null_mean[rows] = np.where(sound > 0, sums / np.maximum(sound, 1.0), np.nan)
        return found


def _write(nested: NestedFits, given: GivenRows, rows: IntArray, out: BlockFits) -> None:
    out.deficits[rows], out.gaps[rows] = nested.deficits, nested.gaps
    out.residual[rows] = np.stack([s.residual for s in nested.solutions], axis=1)
    out.quadrature[rows] = np.stack([s.quadrature for s in nested.solutions], axis=1)
    for row, failure in nested.failures.items():
        out.failures[given.first + int(rows[row])] = failure.error()


def _side_by_side(
    fitted: Callable[[GivenRows], BlockFits], parts: Iterable[GivenRows]
) -> Iterator[BlockFits]:
    """In order, with as many parts in hand as there are processors: linear algebra lets go of
    the interpreter.
    """
    workers = min(_MOST_WORKERS, os.cpu_count() or 1)
    if workers == 1:
        yield from map(fitted, parts)
        return
    waiting: deque[Future[BlockFits]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for part in parts:
            waiting.append(pool.submit(fitted, part))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
