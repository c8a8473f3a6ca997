"""What speaks against trusting a p-value or a standard error, in words."""

from __future__ import annotations

import math

import numpy as np

from steradian.inference.pareto import HEAVY, pareto_shape
from steradian.inference.sample import Sample
from steradian.inference.scores import Covariance, Scores
from steradian.numerics.arrays import Array

CHI_SQUARE_SHIFT = 0.2  # d² / (6 n) above which the χ² law of level 2 is off
LINDEBERG = 0.5  # max w / (Σ w²)^½ above which one row dominates
_SMALL = 0.05
_BEYOND_DOUBT = 1e-8  # p-values of the default below it need no second thoughts
_FEW = 3  # points whose share of the variance is looked at
_MOST_SHARE = 0.5
_CARRIERS_PER_FEATURE = 10.0  # units that carry the variance, below which sandwiches over-reject
_FEW_CARRIERS_PER_FEATURE = 4.0  # and below which small p-values of the tilted test are rough
_ROWS_PER_FEATURE = 10.0
_MODEL_SPREAD = 0.7, 1.4  # ratio of spreads at which the model null is still plausible
_SHARE_OF_SCALE = 0.01  # numerical error that may be ignored, in units of sampling error


def of_weights(sample: Sample) -> list[str]:
    """Weights under which no central limit theorem helps."""
    if not sample.has_rows or not sample.rows.weighted:
        return []
    w = sample.units.weights
    out = []
    largest = float(w.max() / math.sqrt(w @ w))
    if sample.design.name == "fixed" and largest > LINDEBERG:
        out.append(
            f"one row dominates: max w / (Σw²)^½ = {largest:.2f}, and the central limit theorem "
            "asks for it to be small"
        )
    if sample.design.name == "importance":
        shape = pareto_shape(w)
        if shape > HEAVY:
            out.append(
                f"the importance ratios have a heavy tail (Pareto k = {shape:.2f} > {HEAVY}): "
                "their variance is not to be trusted; a wider proposal is the remedy"
            )
    return out


def no_tilt(level: int) -> str:
    """Said when the null-centred covariance replaces the tilted one."""
    return f"level {level}: no tilt of the sample obeys the null; covariance centred at the null"


def of_scores(
    level: int, scores: Scores, kind: Covariance, pvalue: float, *, default: bool
) -> list[str]:
    """Covariances that rest on a few units; the default form is told only when it matters."""
    if default and pvalue < _BEYOND_DOUBT:
        return []
    carried = np.sort(scores.carried(kind)[0])
    out = []
    share = float(carried[-_FEW:].sum())
    if share > _MOST_SHARE:
        out.append(
            f"level {level}: {_FEW} units carry {share:.0%} of the variance; the p-value may be "
            "too small"
        )
    p = scores.h.shape[2]
    carriers = _carriers(carried)
    if default and pvalue < _SMALL and carriers < _FEW_CARRIERS_PER_FEATURE * p and not out:
        out.append(
            f"level {level}: about {carriers:.0f} units carry the variance of {p} features; small "
            "p-values are then rough"
        )
    if not default and carriers < _CARRIERS_PER_FEATURE * p:
        out.append(
            f"level {level}: about {carriers:.0f} units carry the variance of {p} features; this "
            "form then rejects too often, the default (tilted score) does not"
        )
    return out


def _carriers(carried: Array) -> float:
    """How many units as it were carry the variance, from the share of each."""
    return float(1.0 / (carried @ carried))


def of_model(level: int, scores: Scores, p: int) -> list[str]:
    """Signs that the reduced model does not describe the spread of the added features."""
    out = []
    n = scores.h.shape[1]
    if n < _ROWS_PER_FEATURE * p:
        out.append(
            f"level {level}: {n} rows for {p} features: the χ² law is rough and rejects too often"
        )
    ratio = float(2.0 * scores.coefficients("null")[0].mean())
    carried = scores.carried("null")[0]
    carriers = _carriers(carried)
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


def chi_square_shift(sample: Sample) -> float:
    """Standard deviations by which 2 a² I_2 leads its χ² law in high dimension, d² / (6 a²)."""
    d = sample.hierarchy.d
    return d * d / (6.0 * sample.rate**2) if d > 3 else 0.0


def of_crowding(sample: Sample) -> list[str]:
    """Level 2 in a dimension too high for the sample."""
    if len(sample.nested.solutions) < 2 or chi_square_shift(sample) <= CHI_SQUARE_SHIFT:
        return []
    return [
        f"level 2: {sample.hierarchy.dims[1]} features are too many for a = {sample.rate:.4g} and "
        "the asymptotic law; compare the held-out score of sr.choose_order"
    ]


def of_few_units(sample: Sample) -> list[str]:
    """Levels with more features than half the units: no covariance of theirs is known."""
    if not sample.has_rows or sample.hierarchy.d > 3:
        return []
    count, out = sample.units.effective, []
    for level in range(1, len(sample.nested.solutions) + 1):
        p = sample.hierarchy.space.size(level) - 1
        if count < 2 * p:
            out.append(f"level {level}: {count} units for {p} features: its interval is rough")
    return out


def bootstrap_instead(level: int, reason: str) -> str:
    """Said when an asymptotic law was asked for by default and a bootstrap was used."""
    return (
        f"level {level}: {reason}; p-value by the parametric bootstrap, which assumes that the "
        "model of the level below is right"
    )
