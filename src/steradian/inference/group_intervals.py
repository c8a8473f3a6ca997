"""Intervals for what tells groups apart: the gaps C_l of a comparison, and their sum J.

By the delta method the error of C_l is, to first order, that of the mean over the rows (x, g) of
log p_l(x | g) - log p_{l-1}(x | g), the fits of W_l and W_{l-1}, taken about its mean in each
group: the sizes of the groups count as given. Noise alone adds

    ½ tr(I_l⁻¹ V_l) - ½ tr(I_{l-1}⁻¹ V_{l-1})

on average, with I the information of the free parameters (an arrow, `fitting.grouped`) and V the
variance of their moments, of units with rows of several groups the joint one: about (G - 1) q_l /
2n. The interval is that of `inference.intervals`; J, no less than any C, reaches as high as each.
A sampled reference adds its variance (`inference.sampled_reference`).

**Differences of gaps** tell whether two groups have the same shape, up to a rotation. Gaps do not
feel rotations of the space: I_l(A) - I_l(B) is zero for two groups of which one is the other
turned, whatever their means and axes. (Relative to another law than the uniform one they do, and
the question is whether groups tell as much beyond it; a sampled reference counts in both.) Each
gap is taken less its bias, the groups as independent, and the difference as normal: it is not
where both gaps are near zero.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np
from scipy.special import ndtr, ndtri

from steradian.arguments import open_share
from steradian.errors import ResolutionError
from steradian.fitting.grouped import Arrow, GroupedFits, integrals
from steradian.inference.gap_tests import holm
from steradian.inference.intervals import Estimates, GapIntervals, errors_of_means
from steradian.inference.sample import GroupedSample
from steradian.inference.sampled_reference import between_variance
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import TINY, VERIFIED_AIM
from steradian.text.numbers import pvalue_number
from steradian.text.table import Column, Table

_NOTHING = np.array([[0.0], [np.inf], [0.0]])  # no error, known for sure, not skew


@dataclass(frozen=True, eq=False, repr=False)
class BetweenIntervals(LevelFrame):
    """Intervals for the between-group information of every level.

    Attributes
    ----------
    levels : array of int, (L,)
    between, debiased, se, low, high : arrays, (L,)
        C in nats; less what noise adds on average; its standard error; and the interval.
    total, total_debiased, total_se, total_low, total_high : float
        The same of J = Σ C.
    """

    _columns: ClassVar[tuple[str, ...]] = ("between", "debiased", "se", "low", "high")

    levels: IntArray
    confidence: float
    between: Array
    debiased: Array
    se: Array
    low: Array
    high: Array
    total: float
    total_debiased: float
    total_se: float
    total_low: float
    total_high: float
    of: str = "what tells the groups apart"

    def __repr__(self) -> str:
        ends = zip(self.low, self.high, strict=True)
        shown = ", ".join(f"[{low:.4g}, {high:.4g}]" for low, high in ends)
        return f"BetweenIntervals({self.confidence:.0%}: {shown} nats)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON; NaN is None."""
        names = self.__dataclass_fields__
        values = {name: np.asarray(getattr(self, name)).tolist() for name in names}
        return {k: without_nan(v) if isinstance(v, list) else v for k, v in values.items()}

    def __str__(self) -> str:
        table = Table(
            Column("level", [*map(str, self.levels), "all"], width=5),
            Column("C", [*self.between, self.total], ".5f", 10),
            Column("debiased", [*self.debiased, self.total_debiased], ".5f", 10),
            Column("se", [*self.se, self.total_se], ".2g", 9),
            Column("low", [*self.low, self.total_low], ".5f", 10),
            Column("high", [*self.high, self.total_high], ".5f", 10),
        )
        title = f"{self.confidence:.0%} intervals of {self.of}, nats"
        return "\n".join([title, "", str(table)])


def between_intervals(sample: GroupedSample, confidence: float) -> BetweenIntervals:
    """Intervals for every level of a comparison, and for all together."""
    confidence = open_share(confidence, "confidence", 0.95)
    sample.check_inference()
    value = sample.levels.between
    bias = between_bias(sample)
    features = (sample.count - 1) * np.array(sample.hierarchy.dims, dtype=np.float64)
    matched = np.cumsum(features) + sample.hierarchy.q(sample.hierarchy.levels)
    errors, whole = _errors(sample)
    steps, total_step = between_variance(sample)
    errors[0], whole[0] = np.hypot(errors[0], np.sqrt(steps)), np.hypot(whole[0], total_step**0.5)
    for found, of in ((value, errors), (value.sum(keepdims=True), whole)):
        of[:, found <= VERIFIED_AIM] = _NOTHING  # rounding has no error of its own
    levels = Estimates(value, errors, bias, features, matched, sample.rate, _kish(sample))
    total = Estimates(
        np.array([value.sum()]),
        whole,
        np.array([bias.sum()]),
        np.array([features.sum()]),
        matched[-1:],
        sample.rate,
        _kish(sample),
    )
    low, high = levels.interval(confidence, "noncentral")
    total_low, total_high = total.interval(confidence, "noncentral")
    return BetweenIntervals(
        levels=np.arange(1, len(value) + 1),
        confidence=confidence,
        between=value,
        debiased=value - bias,
        se=levels.se,
        low=low,
        high=high,
        total=float(value.sum()),
        total_debiased=float((value - bias).sum()),
        total_se=float(total.se[0]),
        total_low=float(total_low[0]),
        total_high=float(np.fmax(total_high[0], high.max())),  # J is no less than any C
    )


def _kish(sample: GroupedSample) -> float:
    """Independent units, by Kish's count of their weights."""
    if not sample.has_units:
        return sample.rate**2
    shares = sample.units.unit_weights
    return float(1.0 / (shares @ shares))


def _errors(sample: GroupedSample) -> tuple[Array, Array]:
    """Standard errors, degrees of freedom and skewness of all C (3, L), and of J (3, 1)."""
    steps = [
        above.lam[0] - below.lam[0]
        for below, above in zip(sample.levels.fits[:-1], sample.levels.fits[1:], strict=True)
    ]
    if not sample.has_units:
        return _errors_from_sums(sample, steps)
    rows, family = sample.known_rows, sample.hierarchy.family(sample.hierarchy.levels)
    x, values = rows.directions.x, np.empty((len(rows.labels), len(steps)))
    order = np.argsort(rows.labels, kind="stable")
    ends = np.cumsum(np.bincount(rows.labels, minlength=sample.count))
    for group, (stop, size) in enumerate(zip(ends, np.diff(ends, prepend=0), strict=True)):
        some = order[stop - size : stop]
        w = sample.units.weights[some] / sample.shares[group]
        for k, step in enumerate(steps):
            f = family.exponent(x[some], step[group])
            values[some, k] = f - w @ f
    whole = values.sum(axis=1, keepdims=True)
    return errors_of_means(sample.units, values), errors_of_means(sample.units, whole)


def _errors_from_sums(sample: GroupedSample, steps: list[Array]) -> tuple[Array, Array]:
    def error(step: Array) -> float:
        squares = np.einsum("gq,gqr,gr->g", step, sample.variances, step)
        return float(np.sqrt(max(sample.shares**2 @ squares, 0.0)))

    def known(values: list[float]) -> Array:
        return np.array([values, np.full(len(values), np.inf), np.zeros(len(values))])

    return known([error(step) for step in steps]), known([error(np.sum(steps, axis=0))])


def between_bias(sample: GroupedSample) -> Array:
    """What noise alone adds to each C on average, (L,), nats."""
    if sample.forms:
        try:
            return 0.5 * np.diff([_trace(sample, fit) for fit in sample.levels.fits])
        except ResolutionError:  # a law too sharp for the rules of its features
            pass
    if sample.has_shared_units:  # what units add to all of their groups largely cancels
        return np.full(sample.hierarchy.levels, np.nan)
    return plain_noise(sample) if sample.forms else _noise_of_many_features(sample)


def plain_noise(sample: GroupedSample) -> Array:
    """(Σ π_g / n_g - 1 / n) q_l / 2: with observed shares (G - 1) q_l / 2n."""
    each = float((sample.shares / sample.units_per_group).sum()) - 1.0 / sample.rate**2
    return 0.5 * each * np.array(sample.hierarchy.dims, dtype=np.float64)


def _trace(sample: GroupedSample, fit: GroupedFits) -> float:
    """tr(I⁻¹ V) of the free parameters of W.

    With P_g = (-J_aa⁻¹ J_aθ, 1) the inverse of an arrow is that of its blocks plus P S⁻¹ Pᵀ.
    """
    hierarchy, pi, variance = sample.hierarchy, sample.shares, sample.variances
    lam = fit.lam[:, :1] if fit.own == 0 else fit.lam  # one law for all groups
    covariance = integrals(hierarchy.family(hierarchy.levels), lam)[2]
    covariance = np.broadcast_to(covariance, (1, len(pi), *covariance.shape[2:]))
    arrow, own = Arrow.of(covariance, pi, fit.own), fit.own
    blocks = np.einsum("gij,gji->g", arrow.inverse[0], variance[:, :own, :own])
    trace = float(pi @ blocks)
    rest = variance.shape[1] - own
    if rest:
        eye = np.broadcast_to(np.eye(rest), (len(pi), rest, rest))
        p = np.concatenate([-arrow.slope[0], eye], axis=1)
        seen = sample.variance_of_sum(p)
        trace += float(np.trace(np.linalg.solve(arrow.schur[0], seen)))
    return trace


def _noise_of_many_features(sample: GroupedSample) -> Array:
    """Σ π_g noise(n_g) - noise(n) where a family knows its noise; level by level."""
    out = []
    for level in range(1, sample.hierarchy.levels + 1):
        family = sample.hierarchy.family(level)

        def noise(rows: float, level: int = level, family: Any = family) -> float:
            known = family.noise(rows)
            return 0.5 * sample.hierarchy.q(level) / rows if np.isnan(known) else known

        groups = sum(
            pi * noise(n) for pi, n in zip(sample.shares, sample.units_per_group, strict=True)
        )
        out.append(groups - noise(sample.rate**2))
    return np.diff(out, prepend=0.0)


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
        pairs, count = len(self.pairs), len(self.levels)
        named = [f"{one} - {other}" for one, other in self.pairs for _ in range(count)]
        near = zip(named, self.near_zero.ravel(), strict=True)
        table = Table(
            Column("level", np.tile(self.levels, pairs), width=5),
            Column("I - I", self.difference.ravel(), ".4f", 9),
            Column("se", self.se.ravel(), ".2g", 8),
            Column("low", self.low.ravel(), ".4f", 9),
            Column("high", self.high.ravel(), ".4f", 9),
            Column("p", [pvalue_number(float(p)) for p in self.pvalue.ravel()], width=9),
            Column("Holm", [pvalue_number(float(p)) for p in self.pvalue_holm.ravel()], width=9),
            Column("", [name + " (both near zero)" * bool(zero) for name, zero in near],
                   left=True, gap=2),
        )  # fmt: skip
        return "\n".join([*textwrap.wrap(self._question, _WIDTH), "", str(table)])


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
