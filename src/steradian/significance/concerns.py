"""What speaks against trusting a p-value or a standard error, in words."""

from __future__ import annotations

import math

import numpy as np

from steradian.designs.pareto import HEAVY, pareto_shape
from steradian.designs.units import Units
from steradian.numerics.arrays import Array, BoolArray
from steradian.significance.off_diagonal import FEW_UNITS, SMALLEST, OffDiagonal
from steradian.significance.redrawn.judgement import (
    DOMINATES,
    FEW_CARRIERS,
    LEVERAGE,
    PER_FEATURE,
    dominating,
    effective_rows,
    needs_calibration,
    one_sided,
    too_uneven,
)
from steradian.significance.sample import Sample
from steradian.significance.scores import Covariance, Scores
from steradian.wording import digits, pvalue_words

CHI_SQUARE_SHIFT = 0.2  # `Family.chi_square_lead` above which the χ² law is off
LINDEBERG = 0.5  # max w / (Σ w²)^½ above which one row dominates
_FEW = 3  # points whose share of the variance is looked at
_MOST_SHARE = 0.5
_CARRIERS_PER_FEATURE = 10.0  # units that carry the variance, below which sandwiches over-reject
_MODEL_SPREAD = 0.7, 1.4  # ratio of spreads at which the model null is still plausible
_SHARE_OF_SCALE = 0.01  # numerical error that may be ignored, in units of sampling error
_SOME_LOST = 0.01  # share of replicates without a fit that is worth a word


def of_weights(sample: Sample) -> list[str]:
    """Weights under which no central limit theorem helps."""
    if not sample.has_rows or not sample.rows.weighted:
        return []
    w = sample.units.weights
    out = []
    largest = float(w.max() / math.sqrt(w @ w))
    design = sample.design
    if design.rows_of_one_law and not design.equal_weights and largest > LINDEBERG:
        out.append(
            f"one row dominates: max w / (Σw²)^½ = {largest:.2f}, and the central limit theorem "
            "asks for it to be small"
        )
    if sample.units.ratios:
        shape = pareto_shape(w)
        if shape > HEAVY:
            out.append(
                f"the importance ratios have a heavy tail (Pareto k = {shape:.2f} > {HEAVY}): "
                "their variance is not to be trusted, and no p-value or interval either; a wider "
                "proposal is the remedy"
            )
    return out


def of_stack(
    weights: Array, judged: BoolArray, rough: BoolArray, *, ratios: bool
) -> tuple[str, ...]:
    """What speaks against the p-values of many samples (B, L), counted."""
    out, count = [], len(judged)
    for k in range(judged.shape[1]):
        unjudged, few = int((~judged[:, k]).sum()), int(rough[:, k].sum())
        if unjudged:
            out.append(
                f"level {k + 1}: {unjudged} of {count} samples cannot be judged: one unit "
                "outweighs all others together, there is no fit, or no draw of the fit below can "
                "be tested"
            )
        if few:
            out.append(
                f"level {k + 1}: {few} of {count} samples have few rows per feature or one of high "
                "leverage; Profile.tests() calibrates such p-values, these are rough"
            )
    if ratios:
        heavy = sum(pareto_shape(w) > HEAVY for w in weights)
        if heavy:
            out.append(f"{heavy} of {count} samples have ratios with a heavy tail (k > {HEAVY})")
    return tuple(out)


def untold(level: int, sample: Sample, through: int) -> str:
    """Said of a level where rows take too few values for features through another; else empty."""
    words = sample.untold(through)
    return f"level {level}: cannot be judged: {words}" if words else ""


def no_tilt(level: int) -> str:
    """Said when the null-centred covariance replaces the tilted one."""
    return f"level {level}: no tilt of the sample obeys the null; covariance centred at the null"


def unjudged(level: int, scores: Scores, units: Units) -> str | None:
    """Why a single sample cannot judge a level by an estimated covariance, if so."""
    words = outweighed(level, scores, units)
    if words is None and too_uneven(scores)[0]:
        worth = float(effective_rows(scores)[0])
        words = (
            f"level {level}: cannot be judged: {_evenly(worth, units)}, too few for "
            f"{scores.h.shape[2]} features"
        )
    if words is None and one_sided(scores)[0]:
        worth = float(effective_rows(scores)[0])
        words = (
            f"level {level}: cannot be judged: no tilt of the sample obeys the null, and "
            f"{_evenly(worth, units)}: heavy ones that are missing could be what the level shows"
        )
    return words


def _evenly(worth: float, units: Units) -> str:
    """How many units of equal weight are as uneven as these: by weights, or by size alone."""
    if units.labels is None:
        return f"the weights are worth {worth:.1f} rows of equal weight"
    several = units.what + ("es" if units.what.endswith("ch") else "s")
    if np.ptp(units.weights) > 0.0:
        return f"the weights are worth {worth:.1f} {several} of equal weight"
    if round(worth, 1) == units.count:
        return f"there are {units.count} {several}"
    return f"the {units.count} {several} are worth {worth:.1f} of equal size"


def outweighed(level: int, scores: Scores, units: Units) -> str | None:
    """The one unit of a single sample that outweighs all others together, named."""
    unit = int(dominating(scores)[0])
    return None if unit < 0 else outweighing(level, units, unit, float(scores.contributed[0, unit]))


def outweighing(level: int, units: Units, unit: int, carried: float) -> str:
    """Said of a unit that carries this share of the squared scores, or holds too much weight."""
    what = f"carries {carried:.0%} of the evidence (squared scores)"
    if carried <= DOMINATES:
        what = f"holds {float(units.unit_weights[unit]):.0%} of the weight"
    return (
        f"level {level}: cannot be judged: {units.name_of(unit)} {what} and outweighs all others "
        "together, so there is nothing to compare it with"
    )


def of_sums(level: int, sample: Sample, p: int) -> list[str]:
    """Weights known from their sums alone that are worth few rows."""
    worth = float(sample.moments.ess)
    if sample.design.known_covariance is not None or worth >= PER_FEATURE * p:
        return []
    return [f"level {level}: {worth:.0f} rows' worth of weight for {p} features: the law is rough"]


def too_slow_to_calibrate(level: int) -> str:
    """Said where the default would calibrate, and the fit below is too sharp to be drawn often."""
    return (
        f"level {level}: cannot be judged: few rows or one of high leverage ask for a calibration "
        "by samples of the fit below, which is so sharp that each would be fitted on a mesh of "
        "its own; ask with fewer replicates"
    )


def draws_not_told_apart(level: int) -> str:
    """Said where the default would calibrate, and no sample of the fit below can be tested."""
    return (
        f"level {level}: cannot be judged: few rows or one of high leverage ask for a calibration "
        "by samples of the fit below, which is so concentrated that the features of the level "
        "cannot be told apart in them; ask for fewer levels"
    )


def not_calibrated(level: int, scores: Scores, units: Units) -> list[str]:
    """Said of forms that do not calibrate where the default does."""
    if not needs_calibration(scores)[0]:
        return []
    row, top = int(np.argmax(scores.leverage[0])), float(scores.top_leverage[0])
    why = f"one row of leverage {top:.2f} ({units.name_of(row)} has the most in this level)"
    if top <= LEVERAGE:
        why = f"{float(effective_rows(scores)[0]):.0f} rows for {scores.h.shape[2]} features"
    return [f"level {level}: {why}: rough; the default method calibrates this, this one does not"]


def of_scores(
    level: int, scores: Scores, kind: Covariance, units: Units, *, default: bool
) -> list[str]:
    """Covariances that rest on a few units; of the default form only what matters to it."""
    carried = scores.carried(kind)[0]
    order = np.argsort(carried)[::-1][:_FEW]
    share = float(carried[order].sum())
    p, out = scores.h.shape[2], []
    if share > _MOST_SHARE:
        out.append(
            f"level {level}: {_FEW} units ({units.names_of(order)}) carry {share:.0%} of the "
            "variance; the " + ("test has little power" if default else "p-value rests on them")
        )
    carriers = _carriers(carried)
    if default and not out and carriers < FEW_CARRIERS * p:
        out.append(
            f"level {level}: about {carriers:.0f} units carry the variance of {p} features; a "
            "small p-value is then rough"
        )
    if not default and carriers < _CARRIERS_PER_FEATURE * p:
        out.append(
            f"level {level}: about {carriers:.0f} units carry the variance of {p} features; this "
            "form is then rough, the default (damped score) less so"
        )
    return out


def may_rest_on_few(carried: float, p: int) -> bool:
    """Whether `of_scores` could say anything about units of which none carries more than this."""
    return _FEW * carried > _MOST_SHARE or carried * FEW_CARRIERS * p > 1.0


def _carriers(carried: Array) -> float:
    """How many units as it were carry the variance, from the share of each."""
    return float(1.0 / (carried @ carried))


def of_products(level: int, found: OffDiagonal) -> list[str]:
    """What the off-diagonal test can find, and what it cannot say."""
    if not found.kappa_2 > 0.0:
        return [
            f"level {level}: no p-value: its variance over random blocks of units is not above 0"
        ]
    out = [
        f"level {level}: a gap of {digits(found.detectable, 2)} nats would be found with power 0.8 "
        "at 5 %"
    ]
    if found.tail < SMALLEST:
        out.append(f"level {level}: p < {SMALLEST:.0e}: smaller ones are not told apart")
    if found.units < FEW_UNITS:
        out.append(
            f"level {level}: {found.units} units: the p-value is conservative below {FEW_UNITS}"
        )
    return out


def alone(level: int, pvalue: float) -> str:
    """Said of the one feature that drowns among the others."""
    return f"level {level}: the spread along the mean direction alone: {pvalue_words(pvalue)}"


def unjudged_products(level: int, found: OffDiagonal, units: Units) -> str | None:
    """Why products of units cannot judge a level: one of them holds more than half of all."""
    weights = units.unit_weights**2 if units.labels is None else units.unit_weights
    heaviest = int(np.argmax(weights))
    if found.share > DOMINATES:
        return outweighing(level, units, found.top, found.share)
    if weights[heaviest] > DOMINATES * weights.sum():
        return outweighing(level, units, heaviest, 0.0)
    return None


def of_rows(level: int, scores: Scores) -> list[str]:
    """Too few rows, as Kish counts them, for the χ² law of a fitted model."""
    count, p = float(effective_rows(scores)[0]), scores.h.shape[2]
    if count >= PER_FEATURE * p:
        return []
    worth = "rows" if count > scores.h.shape[1] - 0.5 else "rows' worth of weight"
    return [
        f"level {level}: {count:.0f} {worth} for {p} features: the χ² law is rough and rejects "
        "too often"
    ]


def of_model(level: int, scores: Scores) -> list[str]:
    """Signs that the reduced model does not describe the spread of the added features."""
    out, p = of_rows(level, scores), scores.h.shape[2]
    ratio = float(2.0 * scores.coefficients("null")[0].mean())
    carriers = _carriers(scores.carried("null")[0])
    if not _MODEL_SPREAD[0] <= ratio <= _MODEL_SPREAD[1]:
        out.append(
            f"level {level}: the added features vary {ratio:.2g} times as much as the model of the "
            "level below implies; null='moment' does not assume it"
        )
    elif carriers < _CARRIERS_PER_FEATURE * p:
        out.append(
            f"level {level}: about {carriers:.0f} rows carry the variance of {p} features; the χ² "
            "law then rejects too often"
        )
    return out


def of_numerics(sample: Sample, rate: float) -> list[str]:
    """Numerical error against the a⁻² that a null test of the fitted gap resolves."""
    out = []
    for level, solution in enumerate(sample.nested.solutions, start=1):
        error = float(
            solution.quadrature[0] + solution.decrement[0] ** 2 + solution.moment_rounding[0]
        )
        if error * rate**2 > _SHARE_OF_SCALE:
            out.append(
                f"level {level}: numerical error {error:.1e} nats against a⁻² = {rate**-2:.1e}"
            )
    return out


def of_precision(sample: Sample, se: Array) -> list[str]:
    """Numerical error against the standard errors of the gaps."""
    out = []
    for k, solution in enumerate(sample.nested.solutions):
        error = float(solution.quadrature[0] + solution.moment_rounding[0])
        if error > _SHARE_OF_SCALE * float(se[k]):
            out.append(f"level {k + 1}: numerical error {error:.1e} nats against se {se[k]:.1e}")
    return out


def chi_square_lead(sample: Sample, level: int) -> float:
    """Standard deviations by which 2 a² I of a level leads its χ² law for so many features."""
    return sample.hierarchy.family(level).chi_square_lead(sample.rate)


def crowded(sample: Sample) -> list[int]:
    """Levels with too many features for the sample: their gap does not follow the χ² law."""
    levels = range(1, len(sample.nested.solutions) + 1)
    return [level for level in levels if chi_square_lead(sample, level) > CHI_SQUARE_SHIFT]


def of_crowding(sample: Sample, levels: list[int] | None = None) -> list[str]:
    """The same in words, of all such levels or of these."""
    return [
        f"level {level}: {sample.hierarchy.dims[level - 1]} features are too many for "
        f"a = {sample.rate:.4g} and the asymptotic law; compare the held-out score of "
        "sr.choose_order"
        for level in (crowded(sample) if levels is None else levels)
    ]


def of_few_units(sample: Sample) -> list[str]:
    """Levels with more features than half the units: no covariance of theirs is known."""
    if not sample.has_rows or sample.covariance_of_sums(1) is None:
        return []
    count, out = sample.units.effective, []
    for level in range(1, len(sample.nested.solutions) + 1):
        p = sample.hierarchy.q(level)
        if count < 2 * p:
            out.append(f"level {level}: {count} units for {p} features: its interval is rough")
    return out


def bootstrap_instead(level: int, reason: str) -> str:
    """Said when an asymptotic law was asked for by default and a bootstrap was used."""
    return (
        f"level {level}: {reason}; p-value by the parametric bootstrap, which assumes that the "
        "model of the level below is right"
    )


def lost_replicates(level: int, share: float) -> list[str]:
    """Said when replicates whose fit takes a search of its own counted as beyond the sample."""
    if share <= _SOME_LOST:
        return []
    return [
        f"level {level}: {share:.0%} of the samples drawn to calibrate it are too concentrated to "
        "be fitted together and count as farther from the null than the data: the p-value is an "
        "upper bound"
    ]


def too_many_lost(level: int, share: float) -> str:
    """Said when most replicates take a search of their own."""
    return (
        f"level {level}: cannot be judged: {share:.0%} of the samples drawn to calibrate its "
        "p-value are too concentrated to be fitted together, a limit of this software; ask for "
        "fewer levels, or bring more rows"
    )
