"""Markov chains, cut into stretches that are nearly independent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import whole_number
from steradian.data.directions import Directions
from steradian.designs.base import Design, Features, ids_of_rows, unit_labels
from steradian.designs.batches import (
    autocorrelation_time,
    batch_length,
    second_moments,
)
from steradian.designs.division import all_but_a_stretch
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.numerics.arrays import BoolArray, IntArray

_FEWEST_BATCHES = 20
_MOST_UNSEEN = 0.5  # share of the variance that tests are corrected for, at most


@dataclass(frozen=True, eq=False)
class Chain(Design):
    """Rows in the order of one or several Markov chains.

    Covariances come from batch means: each chain is cut into stretches long enough that their
    means are nearly independent. What adjacent stretches share is missed by them: a part
    τ / (2 · length) of the variance, τ the autocorrelation time (Flegal and Jones, Ann. Stat. 38,
    2010), for which tests are corrected.

    Parameters
    ----------
    ids : array_like or column name, optional
        The chain of each row, when there are several; rows of a chain are in order.
    batch : int, optional
        Length of a stretch. By default from the autocorrelation of the directions.
    """

    ids: ArrayLike | str | None = None
    batch: int | None = None
    name: ClassVar[str] = "chain"

    @property
    def sentence(self) -> str:
        return "one or several Markov chains in the order of the rows, covariance by batch means"

    def units(self, directions: Directions) -> Units:
        return self.units_for(directions, second_moments)

    def units_for(self, directions: Directions, features: Features) -> Units:
        """Stretches as long as the slowest of these features asks for.

        A chain may forget its place quickly and its distance from three symmetric modes slowly.
        """
        n = directions.n
        chains = self._chains(n)
        batch = None if self.batch is None else whole_number(self.batch, "batch")
        if batch is not None and not 1 <= batch <= n // 2:
            raise DesignError(f"batch is {batch}; give 1 to half the {n} rows")
        time = autocorrelation_time(directions, chains, features)
        length = batch or batch_length(n, time)
        labels = _cut(chains, length)
        count = int(labels.max()) + 1
        if count < _FEWEST_BATCHES:
            raise DesignError(
                f"the rows are so dependent that {n} of them hold only {count} stretches of "
                f"{length}; run the chain longer ({_FEWEST_BATCHES} stretches are the least)"
            )
        cuts = count - int(chains.max()) - 1
        unseen = min(0.5 * time * cuts / n, _MOST_UNSEEN)
        factor = count / (count - 1.0)
        note = (
            f"{count} stretches of about {n // count} rows; autocorrelation time {time:.1f}, so "
            f"about {n / time:.0f} independent rows"
        )
        return Units(
            directions.weights, count, np.sqrt(n), labels,
            factor=factor, dof=count - 1, serial=True, unseen=unseen, what="stretch", note=note,
        )  # fmt: skip

    def _chains(self, n: int) -> IntArray:
        """The chain of each row, numbered."""
        return (
            np.zeros(n, dtype=np.int64) if self.ids is None else unit_labels(self.ids, n, "chain")
        )

    def drawn_rows(
        self, directions: Directions, share: float, rng: np.random.Generator
    ) -> BoolArray:
        """All but a connected stretch of each chain, so that what is left is a chain again."""
        return all_but_a_stretch(self._chains(directions.n), share, rng)

    def of_rows(self, rows: BoolArray) -> Chain:
        return Chain(ids_of_rows(self.ids, rows), self.batch)


def _cut(chains: IntArray, length: int) -> IntArray:
    """Stretches of at least ``length`` rows of each chain, numbered."""
    labels = np.empty(len(chains), dtype=np.int64)
    used = 0
    for chain in range(int(chains.max()) + 1):
        rows = np.flatnonzero(chains == chain)
        pieces = max(1, len(rows) // length)
        labels[rows] = used + np.arange(len(rows)) * pieces // len(rows)
        used += pieces
    return labels
