"""Designs whose rows depend on each other: clusters, strata of primary units, Markov chains.

A chain is cut into stretches so long that their means are nearly independent.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import whole_number
from steradian.data.directions import Directions
from steradian.data.validation import as_numeric
from steradian.designs.base import (
    Design,
    Features,
    Units,
    all_but_a_stretch,
    ids_of_rows,
    unit_labels,
    unit_names,
)
from steradian.errors import DesignError
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import TINY
from steradian.text.messages import arguments


@dataclass(frozen=True, eq=False)
class Clusters(Design):
    """Rows dependent within clusters, clusters independent; weights may be of any origin.

    Parameters
    ----------
    ids : array_like or column name
        The cluster of each row.
    """

    ids: ArrayLike | str
    name: ClassVar[str] = "clusters"

    @property
    def sentence(self) -> str:
        return "independent clusters of dependent rows, covariance between clusters · G / (G - 1)"

    def units(self, directions: Directions) -> Units:
        labels = unit_labels(self.ids, directions.n, "cluster")
        count = int(labels.max()) + 1
        if count < 2:
            raise DesignError(
                "there is only one cluster: variation between clusters cannot be seen; "
                "give finer clusters, or {remedy} for point estimates alone",
                remedy=arguments(design="descriptive"),
            )
        factor = count / (count - 1.0)
        return Units(
            directions.weights, count, np.sqrt(count), labels,
            factor=factor, dof=count - 1, what="cluster", names=unit_names(self.ids, labels),
        )  # fmt: skip

    def of_rows(self, rows: BoolArray) -> Clusters:
        return Clusters(np.asarray(ids_of_rows(self.ids, rows)))


@dataclass(frozen=True, eq=False)
class Survey(Design):
    """A stratified sample of primary sampling units, weighted by inverse inclusion.

    Parameters
    ----------
    psu : array_like or column name, optional
        Primary sampling unit of each row; by default every row is one.
    strata : array_like or column name, optional
        Stratum of each row; by default there is one.
    fraction : array_like or column name, optional
        Sampled fraction of the units of the row's stratum, for the finite-population factor.
    """

    psu: ArrayLike | str | None = None
    strata: ArrayLike | str | None = None
    fraction: ArrayLike | str | None = None
    name: ClassVar[str] = "survey"

    @property
    def sentence(self) -> str:
        return "stratified sample of primary units, linearised covariance between units in strata"

    def units(self, directions: Directions) -> Units:
        n = directions.n
        strata, first, labels = self._places(n)
        of_unit = strata[first]
        sizes = np.bincount(of_unit)
        if sizes.min() < 2:
            lonely = int(np.argmin(sizes))
            given = None if self.strata is None else np.asarray(self.strata)
            shown = "" if given is None else f" {given[strata == lonely][0]!s}"
            raise DesignError(
                f"stratum{shown} has a single primary unit: variation within it cannot be seen; "
                "merge it with a similar stratum"
            )
        factor = (sizes / (sizes - 1.0))[of_unit]
        if self.fraction is not None:
            fractions = self._fractions(n)
            for stratum in range(len(sizes)):
                if np.ptp(fractions[strata == stratum]) > 0.0:
                    raise DesignError("fraction: give one number per stratum, the same in its rows")
            factor = factor * (1.0 - fractions[first])
        count = len(first)
        return Units(
            directions.weights, count, np.sqrt(count), labels, of_unit, factor,
            dof=count - len(sizes), what="row" if self.psu is None else "primary unit",
            names=first if self.psu is None else unit_names(self.psu, labels),
        )  # fmt: skip

    def of_rows(self, rows: BoolArray) -> Survey:
        """With fewer units of every stratum, the sampled fraction is smaller in proportion."""
        fraction = None
        if self.fraction is not None:
            strata, first, _ = self._places(len(rows))
            left = np.bincount(strata[first[rows[first]]], minlength=int(strata.max()) + 1)
            share = left / np.bincount(strata[first])
            fraction = (self._fractions(len(rows)) * share[strata])[rows]
        return Survey(ids_of_rows(self.psu, rows), ids_of_rows(self.strata, rows), fraction)

    def _places(self, n: int) -> tuple[IntArray, IntArray, IntArray]:
        """Stratum of each row, first row of each unit, and unit of each row."""
        rows = np.zeros(n, dtype=np.int64)
        strata = rows if self.strata is None else unit_labels(self.strata, n, "stratum")
        names = np.arange(n) if self.psu is None else unit_labels(self.psu, n, "primary unit")
        pairs = strata * (int(names.max()) + 1) + names  # units are numbered within strata
        _, first, labels = np.unique(pairs, return_index=True, return_inverse=True)
        return strata, first, labels

    def _fractions(self, n: int) -> Array:
        if isinstance(self.fraction, str):
            raise DesignError(f"fraction {self.fraction!r} names a column, but there is no table")
        values = np.asarray(as_numeric(self.fraction, "fraction"), dtype=np.float64)
        values = np.full(n, float(values)) if values.ndim == 0 else values
        if values.shape != (n,) or not ((values >= 0.0) & (values < 1.0)).all():
            raise DesignError(f"fraction: give {n} numbers from 0 up to, not with, 1")
        return values


_TIMES = 5.0  # stretches this many autocorrelation times long are nearly independent
_FEWEST_TIMES = 2.5  # and never shorter than this many
_ENOUGH = 40  # stretches that are better kept than made longer
_MOST_DIMENSIONS = 8  # above, squares of random coordinates stand for all products
_MOST_SERIES = 200  # functions that are looked at one by one,
_MIXED = 64  # and random combinations that stand for more
_ENTRIES = 1 << 22  # numbers of features held at a time
_WINDOW = 5.0  # autocorrelations are summed up to this many autocorrelation times (Sokal)


def batch_length(n: int, time: float) -> int:
    """Rows per stretch: several autocorrelation times, fewer when too few stretches remain."""
    wanted = max(_TIMES * time, n ** (1.0 / 3.0))
    return math.ceil(max(min(wanted, n / _ENOUGH), _FEWEST_TIMES * time))


def autocorrelation_time(directions: Directions, chains: IntArray, features: Features) -> float:
    """The longest integrated autocorrelation time among w x and w φ, in rows.

    Autocorrelations are averaged over chains and summed up to a self-consistent window
    (Sokal's), which a slowly mixing chain widens by itself. More functions than `_MOST_SERIES`
    are looked at through random combinations of them.
    """
    w = directions.weights[:, None] * directions.n
    longest = 1.0
    for values in _series(directions.x, features):
        series = w * (values - directions.weights @ values)
        longest = max(longest, *(_time(column) for column in _correlations(series, chains).T))
    return longest


def second_moments(x: Array) -> Array:
    """The products x_i x_j, (n, d (d + 1) / 2): what is looked at when nobody says."""
    if x.shape[1] > _MOST_DIMENSIONS:
        return np.asarray((x @ _mixing(x.shape[1])) ** 2)
    first, second = np.triu_indices(x.shape[1])
    return np.asarray(x[:, first] * x[:, second])


def _series(x: Array, features: Features) -> Iterator[Array]:
    """Coordinates, then features, few columns at a time."""
    yield x if x.shape[1] <= _MOST_SERIES else x @ _mixing(x.shape[1])
    width = features(x[:1]).shape[1]
    if width <= _MOST_SERIES:
        yield features(x)
        return
    mixing = _mixing(width)
    rows = max(1, _ENTRIES // width)
    parts = [features(x[k : k + rows]) @ mixing for k in range(0, len(x), rows)]
    yield np.concatenate(parts)


def _mixing(width: int) -> Array:
    """Random combinations (width, `_MIXED`), always the same."""
    return np.random.default_rng(0).standard_normal((width, _MIXED))


def _time(correlation: Array) -> float:
    """The integrated autocorrelation time of one series, from its autocorrelations."""
    times = np.maximum(1.0 + 2.0 * np.cumsum(correlation[1:]), 1.0)
    enough = np.flatnonzero(np.arange(1, len(times) + 1) >= _WINDOW * times)
    return float(times[enough[0] if len(enough) else -1])


def _correlations(series: Array, chains: IntArray) -> Array:
    """Autocorrelations of the columns, averaged over chains, up to half the shortest chain."""
    sizes = np.bincount(chains)
    lags = max(2, int(sizes.min()) // 2)
    total = np.zeros((lags, series.shape[1]))
    for chain in range(len(sizes)):
        part = series[chains == chain]
        padded = np.fft.rfft(part, n=2 * len(part), axis=0)
        covariance = np.fft.irfft(np.abs(padded) ** 2, axis=0)[:lags]
        total[: len(covariance)] += covariance
    return np.asarray(total / np.maximum(total[0], TINY))


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
