"""Tests of zero gaps: does a level add anything that sampling does not explain?"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from steradian.diagnostics import (
    NOT_COMPUTED,
    REFUSED,
    Diagnostic,
    MethodCode,
    PvalueMethod,
    Verdict,
    distinct,
    verdict_of,
)
from steradian.errors import ResolutionError
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance import concerns
from steradian.significance.effort import TakesLong, together
from steradian.significance.level_tests import LevelTest, TooFewUnits, level_test
from steradian.significance.options import Options
from steradian.significance.sample import Sample


@dataclass(frozen=True, eq=False, repr=False)
class GapTests(LevelFrame):
    """Tests, level by level, of a zero gap in the law the sample came from.

    Attributes
    ----------
    levels, dof : arrays of int, (L,)
        1..L and the features each level adds.
    gap_statistic, score_statistic : arrays, (L,)
        a² I and its score form ½ a² |r|², which share their null law to first order.
    statistic : array, (L,)
        The one of the two that is referred to the null law.
    pvalue, pvalue_holm : arrays, (L,)
        Each level alone, and Holm's correction over all levels.
    coefficients : tuple of arrays
        Per level the coefficients ω of Σ ω_j χ²_1, the null law, in descending order. All are
        one half when the model null holds for equal weights: 2 a² I is then χ².
    judged : array of bool, (L,)
        Whether the sample can judge the level at all. It cannot where one unit outweighs all
        others together; the p-value beside it is then no evidence either way, and `reason` names
        the unit.
    methods : tuple of PvalueMethod
        Per level how the p-value was found, and with which covariance.
    diagnostics : tuple of Diagnostic
        What speaks against trusting a p-value.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "dof",
        "gap_statistic",
        "score_statistic",
        "pvalue",
        "pvalue_holm",
        "judged",
        "methods",
    )

    levels: IntArray
    dof: IntArray
    gap_statistic: Array
    score_statistic: Array
    pvalue: Array
    coefficients: tuple[Array, ...]
    judged: BoolArray
    methods: tuple[PvalueMethod, ...]
    diagnostics: tuple[Diagnostic, ...]
    options: Options
    rate: float
    design: str
    sentence: str

    @property
    def not_computed(self) -> tuple[Diagnostic, ...]:
        """Levels whose p-value takes more work than was to be begun, with how much.

        None of what `Profile.tests` gives: of tables that are printed before.
        """
        return tuple(one for one in self.diagnostics if one.code == MethodCode.NOT_COMPUTED)

    @property
    def left_open(self) -> Diagnostic:
        """That some p-values are not computed, with their work in all."""
        return together(self.not_computed)

    @property
    def later(self) -> list[int]:
        """Levels whose p-value is not computed: it takes more work than was to be begun."""
        return [one.level for one in self.not_computed if one.level is not None]

    def reason(self, level: int) -> Diagnostic | None:
        """Why a level is not judged; None where it is."""
        if self.verdicts[level - 1] not in {Verdict.UNJUDGED, Verdict.OPEN}:
            return None
        return next((one for one in self.diagnostics if one.level == level), None)

    @property
    def statistic(self) -> Array:
        """The statistic that is referred to the null law, (L,)."""
        return self.score_statistic if self.options.statistic == "score" else self.gap_statistic

    @property
    def pvalue_holm(self) -> Array:
        """Holm's step-down correction over the levels, (L,); NaN while one is not computed."""
        return np.full(len(self.pvalue), np.nan) if self.later else holm(self.pvalue)

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        """How sure it is that each level adds anything.

        While p-values are not computed, that of a level is known where the correction says the same
        whatever they are: at least Holm's among the others, at most Holm's if they are all one.
        """
        later = np.isin(self.levels, self.later)
        least, most = holm(self.pvalue), holm(np.where(later, 1.0, self.pvalue))
        both = zip(least, most, self.judged, later, strict=True)
        return tuple(_verdict((float(p), float(q)), bool(good), bool(o)) for p, q, good, o in both)

    @property
    def told(self) -> tuple[int, ...]:
        """Significant levels: clear or likely."""
        sure = {Verdict.CLEAR, Verdict.LIKELY}
        return tuple(level for level, v in enumerate(self.verdicts, 1) if v in sure)

    def __repr__(self) -> str:
        shown = ", ".join(f"{p:.3g}" for p in self.pvalue)
        return f"GapTests({len(self.levels)} levels, design {self.design}, p = {shown})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        options = self.options
        return {
            "design": self.design,
            "rate": self.rate,
            "null": options.null,
            "statistic_kind": options.statistic,
            "covariance": "model" if options.null == "model" else options.kind,
            "levels": self.levels.tolist(),
            "dof": self.dof.tolist(),
            "gap_statistic": self.gap_statistic.tolist(),
            "score_statistic": self.score_statistic.tolist(),
            "pvalue": self.pvalue.tolist(),
            "pvalue_holm": self.pvalue_holm.tolist(),
            "coefficients": [c.tolist() for c in self.coefficients],
            "judged": self.judged.tolist(),
            "methods": [one.to_dict() for one in self.methods],
            "replicates": options.replicates,
            "seed": options.seed,
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }

    def plot(self, ax: Any = None) -> Any:
        """Draw the p-values of all levels on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import gap_pvalues

        return gap_pvalues(self, ax)

    def __str__(self) -> str:
        options = self.options
        null = "the model of the level below is right" if options.null == "model" else (
            "the level's moments are those of the fit below"
        )  # fmt: skip
        lines = [
            f"Tests of zero gaps; null: {null}",
            f"design {self.design}: {self.sentence}",
            f"{options.statistic} statistic, a = {self.rate:.4g}",
            "",
            f"{'level':>5} {'features':>8} {'a²I':>10} {'score':>10} {'p':>10} {'Holm':>10}  "
            "method",
        ]
        for k, level in enumerate(self.levels):
            unjudged = "" if self.judged[k] else f"; {Verdict.UNJUDGED.words}"
            lines.append(
                f"{level:>5} {self.dof[k]:>8} {self.gap_statistic[k]:>10.4g} "
                f"{self.score_statistic[k]:>10.4g} {self.pvalue[k]:>10.3g} "
                f"{self.pvalue_holm[k]:>10.3g}  {self.methods[k]}{unjudged}"
            )
        return "\n".join([*lines, *(f"! {one}" for one in self.diagnostics)])


def _verdict(ends: tuple[float, float], judged: bool, is_open: bool) -> Verdict:
    """What the ends between which a corrected p-value lies both say."""
    one, other = (verdict_of(p, judged=judged) for p in ends)
    return Verdict.OPEN if is_open or one is not other else one


def holm(pvalues: Array) -> Array:
    """Step-down corrected p-values; NaN stays NaN and does not count."""
    out = np.full(len(pvalues), np.nan)
    known = np.flatnonzero(~np.isnan(pvalues))
    order = known[np.argsort(pvalues[known], kind="stable")]
    running = 0.0
    for rank, index in enumerate(order):
        running = max(running, (len(order) - rank) * float(pvalues[index]))
        out[index] = min(running, 1.0)
    return out


def gap_tests(sample: Sample, options: Options) -> GapTests:
    """Test every level of a sample."""
    rate = sample.rate
    levels = len(sample.nested.solutions)
    found = _test_levels(sample, levels, options)
    gaps = sample.nested.gaps[0]
    dims = np.array(sample.hierarchy.dims[:levels])
    said = [*concerns.of_weights(sample), *(d for one in found for d in one.diagnostics)]
    if options.statistic == "gap":
        said += concerns.of_numerics(sample, rate)
    return GapTests(
        levels=np.arange(1, levels + 1),
        dof=dims,
        gap_statistic=rate**2 * gaps,
        score_statistic=np.array([one.score for one in found]),
        pvalue=np.array([one.pvalue for one in found]),
        coefficients=tuple(one.coefficients for one in found),
        judged=np.array([one.judged for one in found]),
        methods=tuple(one.method for one in found),
        diagnostics=distinct(said),
        options=options,
        rate=rate,
        design=sample.design.name,
        sentence=sample.sentence,
    )


def _test_levels(sample: Sample, levels: int, options: Options) -> list[LevelTest]:
    """Every level; one that cannot be tested loses no other unless its method was asked for."""
    by_default = options.method is None and options.covariance is None
    found: list[LevelTest] = []
    for level in range(1, levels + 1):
        features = int(sample.hierarchy.dims[level - 1])
        try:
            work = partial(level_test, sample, level, options)
            found.append(sample.memo.once(("level test", level, options), work))
        except TakesLong as error:
            found.append(LevelTest.without(features, NOT_COMPUTED, error.diagnostic))
        except (TooFewUnits, ResolutionError) as error:
            if not (by_default and level > 1):
                raise
            found.append(LevelTest.without(features, REFUSED, error.diagnostic))
    return found
