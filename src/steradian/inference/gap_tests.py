"""Tests of zero gaps: does a level add anything that sampling does not explain?

P-values of several splits of one sample are combined into one for each level.

**Uniformity** is tested through each level. ``a² D_L`` is referred to the weighted χ² law with the
eigenvalues of ``½ Σ_L`` under uniformity. Where Σ_L is not settled by the null (ratios, clusters,
chains, surveys) it is estimated as in `Profile.tests`, and the score form ``½ a² Σ_l |m_l|²`` is
referred to it instead: a fitted deficit does not follow an estimated law. With fewer than ten rows
of equal weight per feature the χ² law of a fitted deficit rejects too often; the null being one
law, samples of it are drawn and the score form is placed among theirs. To first order ``2 n I_1``
of harmonics is Rayleigh's statistic, ``2 n I_2`` Bingham's, and ``2 n D_L`` the sum of all up to
L; the classical forms are shown beside it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np

from steradian.arguments import seed_number, whole_number
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
from steradian.families.whitening import Whitening
from steradian.hierarchies.base import names_of_tests
from steradian.inference import concerns
from steradian.inference.effort import TakesLong, together
from steradian.inference.level_tests import LevelTest, TooFewUnits, level_test
from steradian.inference.monte_carlo import ENOUGH_UNIFORM, monte_carlo_test
from steradian.inference.null_samples import samples_of_fit
from steradian.inference.sample import Sample
from steradian.inference.score_tests import Options
from steradian.inference.scores import (
    MOST_ENTRIES,
    PER_FEATURE,
    scores_of,
    streamed_scores,
    worthless,
)
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import chi_square_sf, mixture_sf
from steradian.references.base import reference_words
from steradian.text.table import Column, Table


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
        "verdicts",
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
        ways = zip(self.methods, self.judged, strict=True)
        table = Table(
            Column("level", self.levels, width=5),
            Column("features", self.dof, width=8),
            Column("a²I", self.gap_statistic, ".4g", 10),
            Column("score", self.score_statistic, ".4g", 10),
            Column("p", self.pvalue, ".3g", 10),
            Column("Holm", self.pvalue_holm, ".3g", 10),
            Column(
                "method",
                [f"{how}" + ("" if j else f"; {Verdict.UNJUDGED.words}") for how, j in ways],
                left=True, gap=2,
            ),
        )  # fmt: skip
        lines = [
            f"Tests of zero gaps; null: {null}",
            f"design {self.design}: {self.sentence}",
            f"{options.statistic} statistic, a = {self.rate:.4g}",
            "",
            *table.lines(),
        ]
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
        unjudged = Verdict.UNJUDGED.words
        table = Table(
            Column("level", self.levels, width=5),
            Column("features", self.dof, width=8),
            Column("p", self.pvalue, ".3g", 10),
            Column("Holm", self.pvalue_holm, ".3g", 10),
            Column("smallest", seen.min(axis=0), ".3g", 10),
            Column("median", np.median(seen, axis=0), ".3g", 10),
            Column("largest", seen.max(axis=0), ".3g", 10),
            Column("", ["" if judged else unjudged for judged in self.judged], left=True, gap=2),
        )
        lines = [
            f"Tests of zero gaps about what other rows chose, {_counted(len(seen))}",
            f"design {first.design}: {first.sentence}",
            "",
            *table.lines(),
        ]
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


_MOST_DRAWN = 4e8  # numbers of features of all samples: some seconds


@dataclass(frozen=True, eq=False, repr=False)
class Uniformity(LevelFrame):
    """Tests of uniformity through each level.

    Attributes
    ----------
    levels, dof : arrays of int, (L,)
        1..L and the number of features through each level.
    statistic : array, (L,)
        2 a² D_L; its score form a² Σ |m_l|² under designs whose covariance is estimated, and
        where p-values are drawn.
    pvalue : array, (L,)
        From the null law of the design; of few rows from uniform samples.
    judged : array of bool, (L,)
        False where one unit outweighs all others together, as in `GapTests`.
    classical : array, (L,)
        a² |m_l|², the score statistic of level l alone: of harmonics Rayleigh's at level 1 and
        Bingham's at 2.
    classical_pvalue : array, (L,)
        By χ² with the features of level l, which holds for equal weights only.
    names : tuple of str
        What the classical test of each level is called, or what the level looks at.
    diagnostics : tuple of Diagnostic
        What speaks against trusting a p-value.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "dof",
        "statistic",
        "pvalue",
        "judged",
        "classical",
        "classical_pvalue",
        "names",
    )

    levels: IntArray
    dof: IntArray
    statistic: Array
    pvalue: Array
    judged: BoolArray
    classical: Array
    classical_pvalue: Array
    names: tuple[str, ...]
    design: str
    diagnostics: tuple[Diagnostic, ...]
    reference: str = ""  # what is tested in the place of uniformity, in words

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        arrays = ("levels", "dof", "statistic", "pvalue", "judged", "classical", "classical_pvalue")
        values = {name: getattr(self, name).tolist() for name in arrays}
        said = [one.to_dict() for one in self.diagnostics]
        return {"design": self.design, **values, "diagnostics": said}

    def __repr__(self) -> str:
        return f"Uniformity({len(self.levels)} levels, p = {_shown(self.pvalue)})"

    @property
    def _tested(self) -> str:
        return f"Equality with {self.reference}" if self.reference else "Uniformity"

    def __str__(self) -> str:
        marks = ("" if judged else f"  {Verdict.UNJUDGED.words}" for judged in self.judged)
        names = [name + mark for name, mark in zip(self.names, marks, strict=True)]
        table = Table(
            Column("level", self.levels, width=5),
            Column("features", self.dof, width=8),
            Column("2a²D", self.statistic, ".4g", 10),
            Column("p", self.pvalue, ".3g", 10),
            Column("classical", self.classical, ".4g", 10, gap=3),
            Column("χ² p", self.classical_pvalue, ".3g", 10),
            Column("", names, left=True),
        )
        title = f"{self._tested} through each level; design {self.design}"
        return "\n".join([title, str(table), *(f"! {one}" for one in self.diagnostics)])


def _shown(values: Array) -> str:
    return ", ".join(f"{v:.3g}" for v in values)


@dataclass(frozen=True, slots=True)
class _Through:
    """The test through one level."""

    statistic: float  # as it is referred to the law, half of what is reported
    pvalue: float
    diagnostics: tuple[Diagnostic, ...] = ()
    judged: bool = True
    drawn: bool = False  # the p-value comes from uniform samples


@dataclass(frozen=True, slots=True)
class UniformDraws:
    """How many uniform samples at most a p-value of few rows is placed among, from which seed."""

    replicates: int = 9999
    seed: int = 0

    def __post_init__(self) -> None:
        whole_number(self.replicates, "replicates", least=19)
        seed_number(self.seed)


def uniformity_tests(sample: Sample, draws: UniformDraws) -> Uniformity:
    """Test uniformity through every level of a sample."""
    rate = sample.rate
    dims = np.array(sample.hierarchy.dims[: len(sample.nested.solutions)])
    ends = np.cumsum(dims)
    levels = np.arange(1, len(dims) + 1)
    classical = [rate**2 * _alone(sample, level) for level in levels.tolist()]
    found = [
        _through(sample, level, float(sum(classical[:level])), draws) for level in levels.tolist()
    ]
    pvalues = np.array([one.pvalue for one in found])
    crowded = [k for k in concerns.crowded(sample) if not found[k - 1].drawn]
    for level in crowded:  # where 2 n D is not χ²
        pvalues[level - 1] = np.nan
    said = [*concerns.of_weights(sample), *(d for one in found for d in one.diagnostics)]
    said += concerns.of_crowding(sample, crowded)
    return Uniformity(
        levels=levels,
        dof=ends,
        statistic=2.0 * np.array([one.statistic for one in found]),
        pvalue=pvalues,
        judged=np.array([one.judged for one in found]),
        classical=np.array(classical),
        classical_pvalue=np.asarray(chi_square_sf(classical, dims)),
        names=names_of_tests(sample.hierarchy)[: len(dims)],
        design=sample.design.name,
        diagnostics=distinct(said),
        reference=reference_words(sample.hierarchy.space),
    )


def _alone(sample: Sample, level: int) -> float:
    """|m_l|² of one level alone, its features white under the uniform law; NaN where none are."""
    h, below = sample.hierarchy, sample.hierarchy.q(level - 1)
    added = sample.moments.up_to_level(level)[below:]
    if h.basis_lam is None and h.reference_features is None:
        return float(added @ added)
    if not h.family(level).forms_matrices:
        return np.nan
    if not h.family(level).whitening(np.zeros((1, 0))).sound.all():
        return np.nan
    _, mean, covariance = h.family(level).log_partition(np.zeros((1, h.q(level))))
    away = added - mean[0, below:]
    return float(away @ np.linalg.solve(covariance[0, below:, below:], away))


def _through(sample: Sample, level: int, score: float, draws: UniformDraws) -> _Through:
    """Uniformity through one level; ``score`` is a² Σ |m_l|²."""
    deficit = sample.rate**2 * float(sample.nested.deficits[0, level - 1])
    p = sample.hierarchy.q(level)
    untold = concerns.untold(level, sample, level)
    if untold is not None:
        return _Through(deficit, np.nan, (untold,), False)
    if np.isnan(score):
        return _Through(deficit, np.nan, (Diagnostic("flat_features", level),), False)
    drawn = _drawn(sample, level, draws)
    if sample.has_rows:
        return _of_rows(sample, level, deficit, drawn)
    if drawn is not None:
        return drawn
    settled = sample.design.rows_of_one_law
    value = deficit if settled else 0.5 * score
    half = np.full(p, 0.5) if settled else _half_spread(sample, level, p)
    return _Through(value, float(mixture_sf([value], half[None])[0]))


def _of_rows(sample: Sample, level: int, deficit: float, drawn: _Through | None) -> _Through:
    units = sample.units
    white = sample.hierarchy.family(level).whitening(np.zeros((1, 0)))
    if white.q * sample.moments.n > MOST_ENTRIES:
        return _streamed(sample, white, deficit)
    scores = scores_of(sample.rows, units, white)
    scores = replace(scores, rate=scores.rate * np.sqrt(sample.own_share))
    why = concerns.unjudged(level, scores, units)
    said = [] if why is None else [why]
    if drawn is not None:
        return replace(drawn, diagnostics=(*said,), judged=why is None)
    if units.rows_of_one_law:
        pvalue = float(chi_square_sf(2.0 * deficit, white.q))
        return _Through(deficit, pvalue, (*said, *concerns.of_rows(level, scores)), why is None)
    kind = scores.settled("damped")
    value = float(scores.statistic[0])
    coefficients = scores.coefficients(kind)
    pvalue = float(mixture_sf([value], coefficients, scores.tail_dof(kind))[0])
    if why is None:
        said += concerns.of_scores(level, scores, kind, units, default=True)
    if worthless(scores)[0]:
        pvalue = np.nan
    return _Through(value, pvalue, (*said,), why is None)


def _drawn(sample: Sample, level: int, draws: UniformDraws) -> _Through | None:
    """The score form among those of uniform samples; None unless rows are few and of one law.

    None too where drawing is too much work, or the reference is a sample itself.
    """
    p, n, design = sample.hierarchy.q(level), sample.moments.n, sample.design
    known = design.rows_of_one_law and (sample.has_rows or design.equal_weights)
    if not known or sample.own_share < 1.0 or sample.moments.ess >= PER_FEATURE * p:
        return None
    hierarchy = sample.hierarchy.up_to(level)
    white = hierarchy.family(level).whitening(np.zeros((1, 0)))
    width = p if hierarchy.family(level).forms_matrices else hierarchy.space.d
    if not white.sound.all() or UniformDraws().replicates * n * width > _MOST_DRAWN:
        return None
    half = 0.5 * sample.rate**2
    value = half * float(white.score(sample.moments.up_to(level).stack())[0])
    samples = samples_of_fit(sample, 0, draws.replicates, draws.seed, width)
    null = (half * white.score(hierarchy.stack(x, w)) for x, w in samples)
    return _Through(value, monte_carlo_test(value, null, ENOUGH_UNIFORM).pvalue, drawn=True)


def _streamed(sample: Sample, white: Whitening, deficit: float) -> _Through:
    """Too many rows for their scores to be held."""
    if sample.units.rows_of_one_law:
        return _Through(deficit, float(chi_square_sf(2.0 * deficit, white.q)))
    found = streamed_scores(sample.rows, sample.units, white, "null")
    found = replace(found, statistic=found.statistic * sample.own_share)
    pvalue = float(mixture_sf([found.statistic], found.coefficients[None], found.dof)[0])
    return _Through(found.statistic, pvalue)


def _half_spread(sample: Sample, level: int, p: int) -> Array:
    """Eigenvalues of ½ Σ_L at the uniform law, whose features are white."""
    sigma = sample.covariance(level, np.zeros(p))
    return np.maximum(np.linalg.eigvalsh(0.5 * sigma)[::-1], 0.0)
