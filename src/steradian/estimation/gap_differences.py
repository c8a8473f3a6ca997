"""Do two groups have the same shape, up to a rotation? Differences of their gaps.

Gaps do not feel rotations of the space: I_l(A) - I_l(B) is zero for two groups of which one is the
other turned, whatever their means and axes. (Relative to another law than the uniform one they do,
and the question is whether groups tell as much beyond it; a sampled reference counts in both.) Each
gap is taken less its bias, the groups as independent, and the difference as normal: it is not where
both gaps are near zero.
"""

from __future__ import annotations

import textwrap
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
from steradian.wording import pvalue_number

_WIDTH = 80


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
    relative_to : str
        What gaps are relative to, where that is not the uniform law: they then do feel rotations.
    """

    pairs: tuple[tuple[str, str], ...]
    levels: IntArray
    confidence: float
    difference: Array
    se: Array
    low: Array
    high: Array
    near_zero: BoolArray
    relative_to: str = ""

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

    @property
    def _question(self) -> str:
        if not self.relative_to:
            return "Same shape up to a rotation? Differences of debiased gaps, nats"
        return (
            f"Do groups tell as much beyond {self.relative_to}? Differences of debiased gaps, nats"
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON; NaN is None."""
        arrays = "levels", "difference", "se", "low", "high", "near_zero", "pvalue", "pvalue_holm"
        return {
            "pairs": [list(pair) for pair in self.pairs],
            "confidence": self.confidence,
            "reference": self.relative_to or "uniform",
            **{name: without_nan(getattr(self, name).tolist()) for name in arrays},
        }

    def __str__(self) -> str:
        head = f"{'level':>5} {'I - I':>9} {'se':>8} {'low':>9} {'high':>9} {'p':>9} {'Holm':>9}"
        lines = [*textwrap.wrap(self._question, _WIDTH), "", head]
        pvalue, corrected = self.pvalue, self.pvalue_holm
        for k, (one, other) in enumerate(self.pairs):
            for j, level in enumerate(self.levels):
                lines.append(
                    f"{level:>5} {self.difference[k, j]:>9.4f} {self.se[k, j]:>8.2g} "
                    f"{self.low[k, j]:>9.4f} {self.high[k, j]:>9.4f} "
                    f"{pvalue_number(float(pvalue[k, j])):>9} "
                    f"{pvalue_number(float(corrected[k, j])):>9}  {one} - {other}"
                    + (" (both near zero)" if self.near_zero[k, j] else "")
                )
        return "\n".join(lines)


def gap_differences(
    names: Sequence[str],
    intervals: Sequence[GapIntervals],
    confidence: float,
    relative_to: str = "",
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
        relative_to=relative_to,
    )
