"""P-values of several splits of one sample, combined into one for each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from steradian.diagnostics import Diagnostic, Verdict
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance.gap_tests import GapTests, holm


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
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What speaks against trusting a p-value, in how many splits.

        Of one code and level once, with the numbers of the first split that has it.
        """
        total = len(self.splits)
        alike: dict[tuple[str, int | None], list[Diagnostic]] = {}
        for split in self.splits:
            for one in {(d.code, d.level): d for d in reversed(split.diagnostics)}.values():
                alike.setdefault((one.code, one.level), []).append(one)
        if total == 1:
            return self.splits[0].diagnostics
        return tuple(in_some(same[0], len(same), total) for same in alike.values())

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
            "diagnostics": [one.to_dict() for one in self.diagnostics],
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
            mark = "" if self.judged[k] else f"  {Verdict.UNJUDGED.words}"
            lines.append(
                f"{level:>5} {self.dof[k]:>8} {self.pvalue[k]:>10.3g} {self.pvalue_holm[k]:>10.3g} "
                f"{middle} {seen[:, k].max():>10.3g}{mark}"
            )
        return "\n".join([*lines, *(f"! {one}" for one in self.diagnostics)])


def in_some(found: Diagnostic, count: int, total: int) -> Diagnostic:
    """A diagnostic of so many of all splits."""
    data = {"what": found.nested, "count": count, "total": total}
    return Diagnostic("in_some_splits", found.level, data)


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
