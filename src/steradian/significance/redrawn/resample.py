"""How each design draws again: random weightings of the same rows."""

from __future__ import annotations

import numpy as np

from steradian.designs.units import Units
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import EQUAL_WEIGHTS


def resampled_weights(units: Units, replicates: int, rng: np.random.Generator) -> Array:
    """Weightings (replicates, n) of sum one, drawn the way the design says.

    Rows of one law are drawn anew from the estimated law for every weight; units that brought
    their weights are drawn together with them, within strata one fewer than there are, and
    rescaled, for the sampled fraction too (Rao and Wu, JASA 83, 1988).
    """
    w = units.weights
    if units.fixed_weights:
        return _attached(w, replicates, rng)
    times = _times(units, replicates, rng)
    of_rows = times if units.labels is None else times[:, units.labels]
    drawn = of_rows * w
    return np.asarray(drawn / drawn.sum(axis=1, keepdims=True))


def _attached(w: Array, replicates: int, rng: np.random.Generator) -> Array:
    """Every weight gets a row drawn at random."""
    n = len(w)
    if np.ptp(w) <= EQUAL_WEIGHTS / n:
        return rng.multinomial(n, np.full(n, 1.0 / n), replicates) / n
    steps = np.cumsum(w)
    steps[-1] = 1.0
    out = np.empty((replicates, n))
    for b in range(replicates):
        drawn = np.searchsorted(steps, rng.random(n), side="right")
        out[b] = np.bincount(drawn, weights=w, minlength=n)
    return out


def _times(units: Units, replicates: int, rng: np.random.Generator) -> Array:
    """How often each unit is drawn, (replicates, count)."""
    if units.strata is None:
        even = np.full(units.count, 1.0 / units.count)
        return rng.multinomial(units.count, even, replicates).astype(np.float64)
    out = np.zeros((replicates, units.count))
    for stratum in range(int(units.strata.max()) + 1):
        members = np.flatnonzero(units.strata == stratum)
        size = len(members)
        draws = rng.multinomial(size - 1, np.full(size, 1.0 / size), replicates)
        rest = np.sqrt(units.factors[members] * (size - 1.0) / size)  # root of what was not sampled
        out[:, members] = 1.0 - rest + rest * draws * (size / (size - 1.0))
    return out
