"""How long a stretch of a Markov chain must be for its mean to stand alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from steradian.data.directions import Directions
from steradian.designs.base import Features
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import TINY

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
