"""Two parts of a sample, each of whole units: one that may be looked at, one that is left."""

from __future__ import annotations

import numpy as np

from steradian.errors import DesignError
from steradian.numerics.arrays import BoolArray, IntArray

_LEFT = 2  # units of every stratum that are left: fewer do not show how they vary


def whole_units(
    labels: IntArray, strata: IntArray | None, share: float, rng: np.random.Generator
) -> BoolArray:
    """Rows of a random ``share`` of the units, (n,): of every stratum as many as can be spared.

    ``labels`` (n,) are the units of the rows, ``strata`` (units,) their strata.
    """
    count = int(labels.max()) + 1
    of_unit = np.zeros(count, dtype=np.int64) if strata is None else strata
    drawn = np.zeros(count, dtype=bool)
    for stratum in range(int(of_unit.max()) + 1):
        units = rng.permutation(np.flatnonzero(of_unit == stratum))
        wanted = max(round(share * len(units)), 1)
        drawn[units[: max(min(wanted, len(units) - _LEFT), 0)]] = True
    if not drawn.any():
        raise DesignError(
            f"{count} independent units cannot be split: {_LEFT} must be left"
            f"{'' if strata is None else ' of every stratum'}, and one at least must choose; "
            "give more data, or an axis or a basis that is known beforehand"
        )
    return np.asarray(drawn[labels])


def all_but_a_stretch(chains: IntArray, share: float, rng: np.random.Generator) -> BoolArray:
    """All rows but a connected stretch of each chain, at a random place, (n,)."""
    drawn = np.ones(len(chains), dtype=bool)
    for chain in range(int(chains.max()) + 1):
        rows = np.flatnonzero(chains == chain)
        left = len(rows) - round(share * len(rows))
        first = int(rng.integers(len(rows) - left + 1))
        drawn[rows[first : first + left]] = False
    return drawn
