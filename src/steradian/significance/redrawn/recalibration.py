"""Where a p-value stands among those of samples of the null: of the fit below, or of the units.

Valid to first order under the moment null as well, since the p-value is asymptotically pivotal.
Sampling stops at ten p-values as small as the observed one: 10 / samples is then a p-value
(Besag and Clifford, Biometrika 78, 1991).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.progress import drawn_chunks
from steradian.significance.effort import SETTLING
from steradian.significance.redrawn.drawn_samples import FitsBelow

SETTLED = 0.002  # p-values of the damped test that no recalibration could resolve
_FIRST = 25  # samples of a fit in the first chunk, where many p-values are settled
_ENTRIES = 2_000_000  # numbers of features of samples of several fits at once


class NullSamples(Protocol):
    """Samples of the null of one level, made for S observed ones."""

    @property
    def level(self) -> int:
        """The level whose null it is."""
        ...

    @property
    def entries(self) -> int:
        """Numbers of features of one sample."""
        ...

    def pvalues(self, rows: IntArray, count: int, rngs: list[np.random.Generator]) -> Array:
        """P-values (len(rows), count) of samples for some observed ones; NaN without one.

        Zero for those whose fit was not looked for: below any observed one.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ReducedFits:
    """The fits below ``level`` of S samples, and the weights that their draws keep."""

    hierarchy: Hierarchy
    level: int
    lam: Array  # (S, q); no columns for the uniform law
    weights: Array  # (S, n), of sum one

    @property
    def entries(self) -> int:
        """Numbers of features of one sample."""
        size = self.hierarchy.q(self.level)
        return self.weights.shape[1] * max(size, self.hierarchy.space.d)

    def pvalues(self, rows: IntArray, count: int, rngs: list[np.random.Generator]) -> Array:
        """P-values of the plain tilt of ``count`` draws of some fits."""
        n, d = self.weights.shape[1], self.hierarchy.space.d
        drawn = [self._draw(int(row), count * n, rngs[row]) for row in rows]
        x = np.concatenate(drawn).reshape(-1, n, d)
        w = np.repeat(self.weights[rows], count, axis=0)
        near = self.lam[rows[0]] if len(rows) == 1 else None
        return self._tails(x, w, near).reshape(len(rows), count)

    def _tails(self, x: Array, weights: Array, near: Array | None) -> Array:
        out = np.full(len(x), np.nan)
        reduced = self.hierarchy.up_to(self.level - 1) if self.level > 1 else None
        stack = None if reduced is None else reduced.stack(x, weights)
        below = FitsBelow.of(self.hierarchy, self.level, stack, (x, weights), near)
        out[below.gone] = 0.0
        known = below.scores(x, weights)
        if known is not None:
            scores, found = known
            coefficients = scores.coefficients("tilted")
            good = np.isfinite(coefficients).all(axis=1) & np.isfinite(scores.statistic)
            out[found[good]] = mixture_sf(scores.statistic[good], coefficients[good])
        return out

    def _draw(self, row: int, count: int, rng: np.random.Generator) -> Array:
        if not self.lam.shape[1]:
            return self.hierarchy.space.uniform(count, rng)
        return self.hierarchy.family(self.level - 1).sample(self.lam[row], count, rng)


def recalibrated(fits: NullSamples, pvalues: Array, replicates: int, seeds: IntArray) -> Array:
    """Where ``pvalues`` (S,) stand among those of samples of the null, (S,).

    NaN where none of the first of these can be tested.
    Each sample has its own seed, so that it does not matter what is tested beside it.
    """
    rngs = [np.random.default_rng([int(seed), fits.level]) for seed in seeds]
    standing = _Standing.of(pvalues)
    what = f"samples of the null of level {fits.level}"
    for piece in drawn_chunks(replicates, fits.entries, what, first=_FIRST):
        count = piece.stop - piece.start
        for rows in _groups(standing.open, count * fits.entries):
            standing.add(rows, fits.pvalues(rows, count, rngs))
        if not len(standing.open) or not standing.seen.any():  # or no draw is told apart
            break
    return standing.result()


def _groups(rows: IntArray, entries: int) -> list[IntArray]:
    """Rows in parts whose draws fit in memory together."""
    most = max(1, _ENTRIES // entries)
    return np.array_split(rows, max(1, math.ceil(len(rows) / most))) if len(rows) else []


@dataclass(frozen=True, eq=False)
class _Standing:
    """How many draws every sample has seen, and how many were as small as its own p-value."""

    pvalues: Array
    seen: IntArray
    below: IntArray
    settled: Array  # NaN as long as it is open

    @classmethod
    def of(cls, pvalues: Array) -> _Standing:
        seen, below = np.zeros((2, len(pvalues)), dtype=np.int64)
        return cls(pvalues, seen, below, np.full(len(pvalues), np.nan))

    @property
    def open(self) -> IntArray:
        return np.flatnonzero(np.isnan(self.settled))

    def add(self, rows: IntArray, null: Array) -> None:
        """Count the draws (rows, count) up to the tenth that is as small."""
        seen = self.seen[rows, None] + np.cumsum(np.isfinite(null), axis=1)
        below = self.below[rows, None] + np.cumsum(null <= self.pvalues[rows, None], axis=1)
        enough = below >= SETTLING
        for k in np.flatnonzero(enough[:, -1]):
            self.settled[rows[k]] = SETTLING / seen[k, int(np.argmax(enough[k]))]
        self.seen[rows], self.below[rows] = seen[:, -1], below[:, -1]

    def result(self) -> Array:
        """P-values; those still open by the add-one rule, NaN without any draw."""
        added = np.where(self.seen > 0, (self.below + 1.0) / (self.seen + 1.0), np.nan)
        return np.where(np.isnan(self.settled), added, self.settled)
