"""Which two groups differ: their distances, and tests of every pair."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np

from steradian.errors import DesignError
from steradian.io.records import without_nan
from steradian.numerics.arrays import Array
from steradian.significance.gap_tests import holm

_MOST_TESTED = 500  # pairs
_MOST_SHOWN = 12  # in print


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Every two groups.

    Attributes
    ----------
    names : tuple of str
    distance : array, (G, G)
        √JS of the fits of two groups with equal shares: a metric, between 0 and √log 2 = 0.833.
    pvalue, pvalue_holm : arrays, (G, G)
        Of "the same law" by a permutation test, worked out when they are asked for, and with Holm's
        correction over all pairs; NaN on the diagonal.
    """

    names: tuple[str, ...]
    distance: Array
    _test: Callable[[int, int], float]

    @cached_property
    def pvalue(self) -> Array:
        """Of the same law, each pair alone, (G, G)."""
        count = len(self.names)
        if count * (count - 1) // 2 > _MOST_TESTED:
            raise DesignError(
                f"{count} groups have {count * (count - 1) // 2} pairs, and at most {_MOST_TESTED} "
                "are tested; compare some of the groups"
            )
        out = np.full((count, count), np.nan)
        for g, h in combinations(range(count), 2):
            out[g, h] = out[h, g] = self._test(g, h)
        return out

    @property
    def pvalue_holm(self) -> Array:
        """Corrected over all pairs, (G, G)."""
        upper = np.triu_indices(len(self.names), 1)
        out = np.full(self.pvalue.shape, np.nan)
        out[upper] = holm(self.pvalue[upper])
        return np.fmin(out, out.T)

    def __repr__(self) -> str:
        return f"Pairs({len(self.names)} groups)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON; NaN is None."""
        return {
            "names": list(self.names),
            "distance": self.distance.tolist(),
            "pvalue": without_nan(self.pvalue.tolist()),
            "pvalue_holm": without_nan(self.pvalue_holm.tolist()),
        }

    def __str__(self) -> str:
        pvalue, corrected = self.pvalue, self.pvalue_holm
        pairs = list(combinations(range(len(self.names)), 2))
        pairs.sort(key=lambda pair: -float(self.distance[pair]))
        lines = ["Which groups differ: √JS of their fits (at most 0.833), same law by permutation"]
        lines += ["", f"{'√JS':>7} {'p':>9} {'Holm':>9}"]
        lines += [
            f"{self.distance[pair]:>7.3f} {pvalue[pair]:>9.3g} {corrected[pair]:>9.3g}  "
            f"{self.names[pair[0]]} – {self.names[pair[1]]}"
            for pair in pairs[:_MOST_SHOWN]
        ]
        more = len(pairs) - _MOST_SHOWN
        return "\n".join([*lines, *([f"… and {more} pairs that are closer"] if more > 0 else [])])
