"""Intervals of several splits of one sample, combined into one for each level."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steradian.arguments import open_share
from steradian.estimation.intervals import GapIntervals
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, IntArray
from steradian.significance.split_tests import majority


@dataclass(frozen=True, eq=False, repr=False)
class SplitIntervals(LevelFrame):
    """Intervals for gaps about what other rows chose, over several splits.

    The gap that a split estimates is the one about its own choice. What is given holds the values
    that most of the splits cannot exclude: each is asked at the confidence 1 - αk / K, with K
    splits and k = ⌊K/2⌋ + 1, and an end is the median of theirs. By the argument of `SplitTests` a
    value that all splits share is missed with probability α at most (a majority vote; Gasparin and
    Ramdas, arXiv:2401.09379); with one split these are its own intervals.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    confidence : float
        1 - α.
    gaps, debiased, low, high : arrays, (L,)
        Medians over the splits of I in nats and of I less its bias, and the interval.
    deficit_low, deficit_high : arrays, (L,)
        For D, in the same way.
    splits : tuple of GapIntervals
        The intervals of each split, at the confidence that the vote needs.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "gaps",
        "debiased",
        "low",
        "high",
        "deficit_low",
        "deficit_high",
    )

    confidence: float
    splits: tuple[GapIntervals, ...]

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return self.splits[0].levels

    @property
    def gaps(self) -> Array:
        """Medians of I over the splits, (L,)."""
        return np.median([one.gaps for one in self.splits], axis=0)

    @property
    def debiased(self) -> Array:
        """Medians of I less its bias, (L,)."""
        return np.median([one.debiased for one in self.splits], axis=0)

    @property
    def low(self) -> Array:
        """Lower ends, (L,)."""
        return voted(np.array([(one.low, one.high) for one in self.splits]))[0]

    @property
    def high(self) -> Array:
        """Upper ends, (L,)."""
        return voted(np.array([(one.low, one.high) for one in self.splits]))[1]

    @property
    def deficit_low(self) -> Array:
        """Lower ends for D, (L,)."""
        return voted(np.array([(one.deficit_low, one.deficit_high) for one in self.splits]))[0]

    @property
    def deficit_high(self) -> Array:
        """Upper ends for D, (L,)."""
        return voted(np.array([(one.deficit_low, one.deficit_high) for one in self.splits]))[1]

    def __repr__(self) -> str:
        ends = zip(self.low, self.high, strict=True)
        shown = ", ".join(f"[{low:.4g}, {high:.4g}]" for low, high in ends)
        return f"SplitIntervals({self.confidence:.0%}, {len(self.splits)} splits: {shown} nats)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        names = ("levels", "gaps", "debiased", "low", "high", "deficit_low", "deficit_high")
        return {
            "confidence": self.confidence,
            **{name: getattr(self, name).tolist() for name in names},
            "splits": [one.to_dict() for one in self.splits],
        }

    def __str__(self) -> str:
        first = self.splits[0]
        lines = [
            f"{self.confidence:.0%} intervals, nats, about what other rows chose: what most of "
            f"{len(self.splits)} splits allow",
            f"design {first.design}: {first.sentence}",
            "",
            f"{'level':>5} {'median I':>10} {'debiased':>10} {'low':>10} {'high':>10} "
            f"{'D low':>10} {'D high':>10}",
        ]
        columns = (
            self.gaps,
            self.debiased,
            self.low,
            self.high,
            self.deficit_low,
            self.deficit_high,
        )
        for k, level in enumerate(self.levels):
            lines.append(f"{level:>5} " + " ".join(f"{column[k]:>10.5f}" for column in columns))
        return "\n".join(lines)


def voted(ends: Array) -> Array:
    """Ends (2, L) between which lies what most of K intervals (K, 2, L) hold; NaN without any.

    A value is held by K - k + 1 of them, so it is above the (K - k + 1)-th smallest lower end and
    below the k-th smallest upper one. An end that is not known excludes nothing.
    """
    count = len(ends)
    k = majority(count)
    low = np.sort(np.where(np.isnan(ends[:, 0]), -np.inf, ends[:, 0]), axis=0)[count - k]
    high = np.sort(np.where(np.isnan(ends[:, 1]), np.inf, ends[:, 1]), axis=0)[k - 1]
    out = np.array([low, high])
    return np.where(np.isfinite(out), out, np.nan)


def combined_intervals(
    confidence: float, count: int, intervals: Callable[[float], tuple[GapIntervals, ...]]
) -> SplitIntervals:
    """Intervals of ``count`` splits together; ``intervals`` gives those of each at a confidence."""
    confidence = open_share(confidence, "confidence", 0.95)
    each = 1.0 - (1.0 - confidence) * majority(count) / count
    return SplitIntervals(confidence, intervals(each))
