"""P-values of several splits of one sample, combined into one for each level."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance.gap_tests import GapTests, holm

_NUMBER = re.compile(r"\d[\d.,]*(?:e[+-]?\d+)?")


@dataclass(frozen=True, eq=False, repr=False)
class SplitTests(LevelFrame):
    """Tests of zero gaps about what other rows chose, over several splits.

    Each split has p-values of its own that are as good as those of any sample: the rows that are
    tested had no part in the choice. Of K dependent p-values with k = ⌊K/2⌋ + 1 the k-th smallest,
    times K / k, is one again, whatever ties them (Rüger, Metrika 25, 1978): the one p-value itself
    for a single split, and nearly twice the median for many, the rule of Meinshausen, Meier and
    Bühlmann (JASA 104, 2009).

    Attributes
    ----------
    levels, dof : arrays of int, (L,)
        1..L and the features each level adds.
    pvalue, pvalue_holm : arrays, (L,)
        Combined over the splits, each level alone, and Holm's correction over all levels.
    pvalues : array, (K, L)
        Of each split.
    judged : array of bool, (L,)
        Whether most splits can judge the level at all.
    splits : tuple of GapTests
        The tests of each split.
    """

    _columns: ClassVar[tuple[str, ...]] = ("dof", "pvalue", "pvalue_holm", "judged")

    splits: tuple[GapTests, ...]

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return self.splits[0].levels

    @property
    def dof(self) -> IntArray:
        """Features each level adds."""
        return self.splits[0].dof

    @property
    def pvalues(self) -> Array:
        """Of each split, (K, L)."""
        return np.array([one.pvalue for one in self.splits])

    @property
    def pvalue(self) -> Array:
        """Combined over the splits, (L,)."""
        return combined(self.pvalues)

    @property
    def pvalue_holm(self) -> Array:
        """Holm's step-down correction over the levels, (L,)."""
        return holm(self.pvalue)

    @property
    def judged(self) -> BoolArray:
        """Whether most splits can judge the level, (L,)."""
        return np.asarray(np.mean([one.judged for one in self.splits], axis=0) > 0.5)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What speaks against trusting a p-value, in how many splits."""
        said = [w for one in self.splits for w in dict.fromkeys(one.warnings)]
        total = len(self.splits)
        return tuple(
            f"{w} ({said.count(w)} of {total} splits)" if total > 1 else w
            for w in dict.fromkeys(said)
        )

    def __repr__(self) -> str:
        shown = ", ".join(f"{p:.3g}" for p in self.pvalue)
        return f"SplitTests({len(self.splits)} splits, {len(self.levels)} levels, p = {shown})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        return {
            "levels": self.levels.tolist(),
            "dof": self.dof.tolist(),
            "pvalue": self.pvalue.tolist(),
            "pvalue_holm": self.pvalue_holm.tolist(),
            "pvalues": self.pvalues.tolist(),
            "judged": self.judged.tolist(),
            "warnings": list(self.warnings),
            "splits": [one.to_dict() for one in self.splits],
        }

    def __str__(self) -> str:
        first, seen = self.splits[0], self.pvalues
        lines = [
            f"Tests of zero gaps about what other rows chose, {_counted(len(seen))}",
            f"design {first.design}: {first.sentence}",
            "",
            f"{'level':>5} {'features':>8} {'p':>10} {'Holm':>10} {'smallest':>10} {'median':>10} "
            f"{'largest':>10}",
        ]
        for k, level in enumerate(self.levels):
            middle = f"{seen[:, k].min():>10.3g} {np.median(seen[:, k]):>10.3g}"
            mark = "" if self.judged[k] else "  cannot be judged"
            lines.append(
                f"{level:>5} {self.dof[k]:>8} {self.pvalue[k]:>10.3g} {self.pvalue_holm[k]:>10.3g} "
                f"{middle} {seen[:, k].max():>10.3g}{mark}"
            )
        return "\n".join([*lines, *(f"! {w}" for w in _each_once(self.warnings))])


def _each_once(warnings: Sequence[str]) -> list[str]:
    """Warnings that differ in their numbers alone, as one with how many there are."""
    alike: dict[str, list[str]] = {}
    for words in warnings:
        alike.setdefault(_NUMBER.sub("#", words), []).append(words)
    return [
        same[0] + (f" (and {len(same) - 1} alike of other splits)" if len(same) > 1 else "")
        for same in alike.values()
    ]


def _counted(splits: int) -> str:
    if splits == 1:
        return "one split"
    return f"{splits} splits; p is {splits / majority(splits):.3g} times their median"


def majority(count: int) -> int:
    """K = ⌊K/2⌋ + 1: so many of K splits decide."""
    return count // 2 + 1


def combined(pvalues: Array) -> Array:
    """One p-value (L,) from those of K splits (K, L), whatever their dependence.

    The k-th smallest times K / k: of K p-values at most αk / K, the expected number is at most αk,
    so that k of them are so small with probability α at most. A NaN counts as one; all are NaN
    where no split has a p-value.
    """
    count = len(pvalues)
    k = majority(count)
    ordered = np.sort(np.where(np.isnan(pvalues), 1.0, pvalues), axis=0)
    out = np.minimum(ordered[k - 1] * count / k, 1.0)
    return np.where(np.isnan(pvalues).all(axis=0), np.nan, out)


def combined_tests(splits: Sequence[GapTests]) -> SplitTests:
    """The tests of several splits together."""
    return SplitTests(tuple(splits))
