"""Do two groups have the same shape, up to a rotation? Differences of their gaps.

Gaps do not feel rotations of the space: I_l(A) - I_l(B) is zero for two groups of which one is the
other turned, whatever their means and axes. Each gap is taken less its bias, the groups as
independent, and the difference as normal: it is not where both gaps are near zero.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from scipy.special import ndtr, ndtri

from steradian.estimation.intervals import GapIntervals
from steradian.io.records import without_nan
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import TINY
from steradian.significance.gap_tests import holm


@dataclass(frozen=True, eq=False, repr=False)
class GapDifferences:
    """Differences of the gaps of every two groups.

    Attributes
    ----------
    pairs : tuple of (str, str)
        The groups.
    levels : array of int, (L,)
    difference, se, low, high : arrays, (pairs, L)
        I_l of the first less that of the second, both debiased, in nats.
    pvalue, pvalue_holm : arrays, (pairs, L)
        Of no difference, and with Holm's correction over all of them.
    near_zero : array of bool, (pairs, L)
        Where both gaps are so small that no normal law describes their errors: no p-value.
    """

    pairs: tuple[tuple[str, str], ...]
    levels: IntArray
    confidence: float
    difference: Array
    se: Array
    low: Array
    high: Array
    near_zero: BoolArray

    @property
    def pvalue(self) -> Array:
        """Two-sided, (pairs, L); NaN where both gaps are near zero."""
        z = np.abs(self.difference) / np.maximum(self.se, TINY)
        return np.where(self.near_zero, np.nan, 2.0 * ndtr(-z))

    @property
    def pvalue_holm(self) -> Array:
        """Corrected over all pairs and levels."""
        return holm(self.pvalue.ravel()).reshape(self.pvalue.shape)

    def __repr__(self) -> str:
        return f"GapDifferences({len(self.pairs)} pairs, {len(self.levels)} levels)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON; NaN is None."""
        arrays = "levels", "difference", "se", "low", "high", "near_zero", "pvalue", "pvalue_holm"
        return {
            "pairs": [list(pair) for pair in self.pairs],
            "confidence": self.confidence,
            **{name: without_nan(getattr(self, name).tolist()) for name in arrays},
        }

    def __str__(self) -> str:
        head = f"{'level':>5} {'I - I':>9} {'se':>8} {'low':>9} {'high':>9} {'p':>9} {'Holm':>9}"
        lines = ["Same shape up to a rotation? Differences of debiased gaps, nats", "", head]
        pvalue, corrected = self.pvalue, self.pvalue_holm
        for k, (one, other) in enumerate(self.pairs):
            for j, level in enumerate(self.levels):
                lines.append(
                    f"{level:>5} {self.difference[k, j]:>9.4f} {self.se[k, j]:>8.2g} "
                    f"{self.low[k, j]:>9.4f} {self.high[k, j]:>9.4f} {pvalue[k, j]:>9.3g} "
                    f"{corrected[k, j]:>9.3g}  {one} - {other}"
                    + (" (both near zero)" if self.near_zero[k, j] else "")
                )
        return "\n".join(lines)


def gap_differences(
    names: Sequence[str], intervals: Sequence[GapIntervals], confidence: float
) -> GapDifferences:
    """Differences of the gaps of groups with these intervals."""
    pairs = list(combinations(range(len(names)), 2))
    value = np.array([one.debiased for one in intervals])
    square = np.array([one.se for one in intervals]) ** 2
    near = np.array([one.near_zero for one in intervals])
    first, second = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    difference, se = value[first] - value[second], np.sqrt(square[first] + square[second])
    z = float(ndtri(0.5 + 0.5 * confidence))
    return GapDifferences(
        pairs=tuple((names[a], names[b]) for a, b in pairs),
        levels=intervals[0].levels,
        confidence=confidence,
        difference=difference,
        se=se,
        low=difference - z * se,
        high=difference + z * se,
        near_zero=near[first] & near[second],
    )
