"""How long a stretch of a Markov chain must be for its mean to stand alone."""

from __future__ import annotations

import math

import numpy as np

from steradian.data.directions import Directions
from steradian.numerics.arrays import Array, IntArray

_TIMES = 5.0  # stretches this many autocorrelation times long are nearly independent
_FEWEST_TIMES = 2.5  # and never shorter than this many
_ENOUGH = 40  # stretches that are better kept than made longer
_MOST_DIMENSIONS = 8  # above, only the coordinates themselves are looked at
_WINDOW = 5.0  # autocorrelations are summed up to this many autocorrelation times (Sokal)


def batch_length(n: int, time: float) -> int:
    """Rows per stretch: several autocorrelation times, fewer when too few stretches remain."""
    wanted = max(_TIMES * time, n ** (1.0 / 3.0))
    return math.ceil(max(min(wanted, n / _ENOUGH), _FEWEST_TIMES * time))


def autocorrelation_time(directions: Directions, chains: IntArray) -> float:
    """The longest integrated autocorrelation time among w x and the w x_i x_j, in rows.

    Autocorrelations are averaged over chains and summed up to a self-consistent window
    (Sokal's), which a slowly mixing chain widens by itself.
    """
    w = directions.weights[:, None] * directions.n
    x = directions.x
    values = x
    if x.shape[1] <= _MOST_DIMENSIONS:
        first, second = np.triu_indices(x.shape[1])
        values = np.hstack([x, x[:, first] * x[:, second]])
    series = w * (values - directions.weights @ values)
    longest = 1.0
    correlation = _correlations(series, chains)
    for column in correlation.T:
        sums = 1.0 + 2.0 * np.cumsum(column[1:])
        times = np.maximum(sums, 1.0)
        enough = np.flatnonzero(np.arange(1, len(times) + 1) >= _WINDOW * times)
        longest = max(longest, float(times[enough[0] if len(enough) else -1]))
    return longest


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
    return np.asarray(total / np.maximum(total[0], 1e-300))
