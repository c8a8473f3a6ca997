"""Monte Carlo p-values: one count of draws, and one rule of when they are enough.

Statistics of draws of the null are compared with the observed one, large ones being extreme. Where
``enough`` draws are as extreme, drawing stops and

    p = enough / draws

is a p-value of relative error 1 / √enough (Besag and Clifford, Biometrika 78, 1991); else

    p = (1 + extreme draws) / (1 + draws).

A draw without a fit is NaN: it is no draw, and its share is told. One whose fit was not looked
for, since it takes a search of its own, is ∞: as extreme as any, so that p can only be too large.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from steradian.errors import DesignError
from steradian.numerics.arrays import Array, IntArray

ENOUGH_RECALIBRATED = 10  # extreme draws that settle a p-value of a tilt among those of draws,
ENOUGH_OF_GROUPS = 20  # of a step of a comparison,
ENOUGH_OF_RESIDUALS = 30  # of what a fit leaves over,
ENOUGH_OF_MODEL = 50  # of the model null,
ENOUGH_UNIFORM = 100  # of uniform samples, of which none is fitted
MOST_LOST = 0.5
"""Share of draws whose fit was not looked for, above which the others say nothing."""


@dataclass(frozen=True, slots=True)
class Replicates:
    """How many shuffles and samples, from which seed, and how many settle a p-value.

    Where no more than ``rare`` of all ``samples`` are as extreme, four times as many are drawn: 999
    alone could call nothing clear. Who is rejected at a level above (rare + 1) / samples is only
    rejected less often by that.
    """

    permutations: int = 9999
    samples: int = 999
    seed: int = 0
    enough: int = ENOUGH_OF_GROUPS
    rare: int = -1  # -1: never more than ``samples``


class MonteCarlo:
    """How S observed statistics compare with draws that come some at a time.

    Examples
    --------
    >>> found = MonteCarlo([1.0, 5.0], enough=2)
    >>> found.add(np.array([[0.0, 2.0, 3.0, 4.0], [0.0, np.nan, 3.0, 4.0]]))
    >>> found.pvalues.tolist(), found.unsettled.tolist()
    ([0.6666666666666666, 0.25], [1])
    """

    def __init__(self, observed: ArrayLike, enough: int | None = None) -> None:
        self.observed = np.atleast_1d(np.asarray(observed, dtype=np.float64))
        self.enough = np.inf if enough is None else enough
        self.draws, self.extreme, self._without, self._infinite = np.zeros(
            (4, len(self.observed)), dtype=np.int64
        )
        self._settled = np.full(len(self.observed), np.nan)

    def add(self, null: Array, rows: IntArray | None = None) -> None:
        """Count statistics (len(rows), b) of draws for some of the observed ones, or for all."""
        rows = np.arange(len(self.observed)) if rows is None else rows
        draws = self.draws[rows, None] + np.cumsum(~np.isnan(null), axis=1)
        extreme = self.extreme[rows, None] + np.cumsum(null >= self.observed[rows, None], axis=1)
        reached = extreme >= self.enough
        for k in np.flatnonzero(reached[:, -1]):
            self._settled[rows[k]] = self.enough / draws[k, int(np.argmax(reached[k]))]
        self.draws[rows], self.extreme[rows] = draws[:, -1], extreme[:, -1]
        self._without[rows] += np.count_nonzero(np.isnan(null), axis=1)
        self._infinite[rows] += np.count_nonzero(np.isinf(null), axis=1)

    @property
    def unsettled(self) -> IntArray:
        """Which need more draws."""
        return np.flatnonzero(np.isnan(self._settled))

    @property
    def finished(self) -> bool:
        """Whether more draws change nothing: all are settled, or draws tell nothing."""
        lost = self._infinite.sum() > MOST_LOST * self.draws.sum()
        return bool(not len(self.unsettled) or lost or not self.draws.any())

    @property
    def pvalues(self) -> Array:
        """P-values (S,); NaN without any draw."""
        added = np.where(self.draws > 0, (1.0 + self.extreme) / (1.0 + self.draws), np.nan)
        return np.where(np.isnan(self._settled), added, self._settled)

    @property
    def pvalue(self) -> float:
        """That of a single statistic."""
        if not self.draws[0]:
            raise DesignError(
                "no replicate has a fit, so the bootstrap says nothing; use fewer levels"
            )
        return float(self.pvalues[0])

    @property
    def not_fitted(self) -> float:
        """Share of the draws whose fit was not looked for, by which p may be too large."""
        return float(self._infinite.sum() / max(1, self.draws.sum()))

    @property
    def without_fit(self) -> float:
        """Share of all that was drawn that has no fit."""
        return float(self._without.sum() / max(1, self._without.sum() + self.draws.sum()))


def monte_carlo_test(
    observed: float, pieces: Iterable[Array], enough: int | None = None
) -> MonteCarlo:
    """A single statistic among draws (b,) that come some at a time, until they are enough."""
    found = MonteCarlo(observed, enough)
    for null in pieces:
        found.add(null[None])
        if found.finished:
            break
    return found
