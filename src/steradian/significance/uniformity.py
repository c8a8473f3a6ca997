"""Is the law uniform, as far as the first L levels can see?

``a² D_L`` is referred to the weighted χ² law with the eigenvalues of ``½ Σ_L`` under uniformity.
Where Σ_L is not settled by the null (ratios, clusters, chains, surveys) it is estimated as in
`Profile.tests`, and the score form ``½ a² Σ_l |m_l|²`` is referred to it instead: a fitted
deficit does not follow an estimated law. With fewer than ten rows of equal weight per feature the
χ² law of a fitted deficit rejects too often; the null being one law, samples of it are drawn and
the score form is placed among theirs. To first order ``2 n I_1`` of harmonics is Rayleigh's
statistic, ``2 n I_2`` Bingham's, and ``2 n D_L`` the sum of all up to L; the classical forms are
shown beside it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from steradian.arguments import seed_number, whole_number
from steradian.diagnostics import Diagnostic, Verdict, distinct
from steradian.families.whitening import Whitening
from steradian.hierarchies.base import KnowsReference, basis_of, names_of_tests
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import chi_square_sf, mixture_sf
from steradian.references.base import reference_words
from steradian.significance import concerns
from steradian.significance.redrawn.judgement import PER_FEATURE, worthless
from steradian.significance.redrawn.null_replicates import among, samples_of_fit
from steradian.significance.sample import Sample
from steradian.significance.scores import MOST_ENTRIES, scores_of, streamed_scores

_ENOUGH = 100  # uniform samples as far out as the observed one that settle a p-value
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
        lines = [
            f"{self._tested} through each level; design {self.design}",
            f"{'level':>5} {'features':>8} {'2a²D':>10} {'p':>10}   {'classical':>10} {'χ² p':>10}",
        ]
        for k, level in enumerate(self.levels):
            lines.append(
                f"{level:>5} {self.dof[k]:>8} {self.statistic[k]:>10.4g} {self.pvalue[k]:>10.3g}   "
                f"{self.classical[k]:>10.4g} {self.classical_pvalue[k]:>10.3g} "
                f"{self.names[k]}{'' if self.judged[k] else f'  {Verdict.UNJUDGED.words}'}"
            )
        return "\n".join([*lines, *(f"! {one}" for one in self.diagnostics)])


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
    if basis_of(h) is None and not isinstance(h, KnowsReference):
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
    return _Through(value, among(value, null, _ENOUGH)[0], drawn=True)


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
