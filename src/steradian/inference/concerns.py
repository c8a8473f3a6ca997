"""What speaks against trusting a p-value or a standard error.

**Of an interval**: too few units to have a spread, or one unit that is the spread. The variance of
a fit's log-density is seen in the very units the fit was made from. After p matched features and
the mean it has ``n - p - 1`` degrees of freedom left, so that below p + 2 units it says nothing,
and an interval made of it may rule out its own estimate.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from steradian.designs.base import Units
from steradian.designs.rows import HEAVY, pareto_shape
from steradian.diagnostics import Diagnostic
from steradian.inference.off_diagonal import FEW_UNITS, OffDiagonal
from steradian.inference.row_sweeps import MANY_ROWS
from steradian.inference.sample import Sample
from steradian.inference.scores import (
    DOMINATES,
    FEW_CARRIERS,
    LEVERAGE,
    PER_FEATURE,
    Covariance,
    Scores,
    dominating,
    effective_rows,
    needs_calibration,
    one_sided,
    too_uneven,
)
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import LEAST_ERROR, OFF_DIAGONAL_TAIL

CHI_SQUARE_SHIFT = 0.2  # `Family.chi_square_lead` above which the χ² law is off
LINDEBERG = 0.5  # max w / (Σ w²)^½ above which one row dominates
_FEW = 3  # points whose share of the variance is looked at
_MOST_SHARE = 0.5
_CARRIERS_PER_FEATURE = 10.0  # units that carry the variance, below which sandwiches over-reject
_MODEL_SPREAD = 0.7, 1.4  # ratio of spreads at which the model null is still plausible
_SHARE_OF_SCALE = 0.01  # numerical error that may be ignored, in units of sampling error
_SOME_LOST = 0.01  # share of replicates without a fit that is worth a word


def of_weights(sample: Sample) -> list[Diagnostic]:
    """Weights under which no central limit theorem helps."""
    if not sample.has_rows or not sample.rows.weighted:
        return []
    w = sample.units.weights
    out = []
    largest = float(w.max() / math.sqrt(w @ w))
    design = sample.design
    if design.rows_of_one_law and not design.equal_weights and largest > LINDEBERG:
        out.append(Diagnostic("dominant_row", data={"largest": largest}))
    if sample.units.ratios:
        shape = pareto_shape(w)
        if shape > HEAVY:
            out.append(Diagnostic("heavy_tail", data={"shape": float(shape), "limit": HEAVY}))
    return out


def of_stack(
    weights: Array, judged: BoolArray, rough: BoolArray, *, ratios: bool
) -> tuple[Diagnostic, ...]:
    """What speaks against the p-values of many samples (B, L), counted."""
    out, total = [], len(judged)
    for k in range(judged.shape[1]):
        unjudged, few = int((~judged[:, k]).sum()), int(rough[:, k].sum())
        for code, count in (("samples_not_testable", unjudged), ("samples_rough", few)):
            if count:
                out.append(Diagnostic(code, k + 1, {"count": count, "total": total}))
    heavy = sum(pareto_shape(w) > HEAVY for w in weights) if ratios else 0
    if heavy:
        data = {"count": int(heavy), "total": total, "limit": HEAVY}
        out.append(Diagnostic("samples_heavy_tail", data=data))
    return tuple(out)


def untold(level: int, sample: Sample, through: int) -> Diagnostic | None:
    """Of a level where rows take too few values for features through another; else None."""
    found = sample.untold(through)
    return None if found is None else replace(found, level=level)


def null_centred(level: int) -> Diagnostic:
    """The null-centred covariance replaces the tilted one."""
    return Diagnostic("null_centred", level)


def unjudged(level: int, scores: Scores, units: Units) -> Diagnostic | None:
    """Why a single sample cannot judge a level by an estimated covariance, if so."""
    found = outweighed(level, scores, units)
    if found is not None:
        return found
    if not (too_uneven(scores)[0] or one_sided(scores)[0]):
        return None
    worth = _worth(float(effective_rows(scores)[0]), units).nested
    if too_uneven(scores)[0]:
        data = {"worth": worth, "features": int(scores.h.shape[2])}
        return Diagnostic("uneven_weights", level, data)
    return Diagnostic("one_sided", level, {"worth": worth})


def _worth(worth: float, units: Units) -> Diagnostic:
    """How many units of equal weight are as uneven as these: by weights, or by size alone."""
    if units.labels is None:
        return Diagnostic("worth_in_rows", data={"worth": worth})
    data = {"worth": worth, "count": int(units.count), "what": units.what}
    if np.ptp(units.weights) > 0.0:
        return Diagnostic("worth_in_units", data=data)
    if round(worth, 1) == units.count:
        return Diagnostic("worth_of_all", data=data)
    return Diagnostic("worth_in_sizes", data=data)


def outweighed(level: int, scores: Scores, units: Units) -> Diagnostic | None:
    """The one unit of a single sample that outweighs all others together, named."""
    unit = int(dominating(scores)[0])
    return None if unit < 0 else outweighing(level, units, unit, float(scores.contributed[0, unit]))


def outweighing(level: int, units: Units, unit: int, carried: float) -> Diagnostic:
    """A unit that carries this share of the squared scores, or holds too much weight."""
    if carried > DOMINATES:
        data = {"unit": units.identity(unit), "share": carried}
        return Diagnostic("outweighed_by_evidence", level, data)
    share = float(units.unit_weights[unit])
    data = {"unit": units.identity(unit), "share": share}
    return Diagnostic("outweighed_by_weight", level, data)


def of_sums(level: int, sample: Sample, p: int) -> list[Diagnostic]:
    """Weights known from their sums alone that are worth few rows."""
    worth = float(sample.moments.ess)
    if sample.design.known_covariance is not None or worth >= PER_FEATURE * p:
        return []
    return [Diagnostic("few_rows_of_weight", level, {"rows": worth, "features": p})]


def too_slow_to_calibrate(level: int) -> Diagnostic:
    """The default would calibrate, and the fit below is too sharp to be drawn often."""
    return Diagnostic("too_slow_to_calibrate", level)


def draws_not_resolved(level: int) -> Diagnostic:
    """The default would calibrate, and no sample of the fit below can be tested."""
    return Diagnostic("draws_not_resolved", level)


def not_calibrated(level: int, scores: Scores, units: Units) -> list[Diagnostic]:
    """Of forms that do not calibrate where the default does."""
    if not needs_calibration(scores)[0]:
        return []
    row, top = int(np.argmax(scores.leverage[0])), float(scores.top_leverage[0])
    if top > LEVERAGE:
        data: dict[str, Any] = {"leverage": top, "unit": units.identity(row)}
        return [Diagnostic("leverage_not_calibrated", level, data)]
    data = {"rows": float(effective_rows(scores)[0]), "features": int(scores.h.shape[2])}
    return [Diagnostic("few_rows_not_calibrated", level, data)]


def of_scores(
    level: int, scores: Scores, kind: Covariance, units: Units, *, default: bool
) -> list[Diagnostic]:
    """Covariances that rest on a few units; of the default form only what matters to it."""
    carried = scores.carried(kind)[0]
    order = np.argsort(carried)[::-1][:_FEW]
    share = float(carried[order].sum())
    p, out = int(scores.h.shape[2]), []
    if share > _MOST_SHARE:
        code = "few_units_decide_power" if default else "few_units_decide_pvalue"
        named = [units.identity(int(unit)) for unit in order]
        out.append(Diagnostic(code, level, {"count": _FEW, "units": named, "share": share}))
    carriers = _carriers(carried)
    data = {"carriers": carriers, "features": p}
    if default and not out and carriers < FEW_CARRIERS * p:
        out.append(Diagnostic("few_carriers", level, data))
    if not default and carriers < _CARRIERS_PER_FEATURE * p:
        out.append(Diagnostic("few_carriers_of_form", level, data))
    return out


def may_rest_on_few(carried: float, p: int) -> bool:
    """Whether `of_scores` could say anything about units of which none carries more than this."""
    return _FEW * carried > _MOST_SHARE or carried * FEW_CARRIERS * p > 1.0


def _carriers(carried: Array) -> float:
    """How many units as it were carry the variance, from the share of each."""
    return float(1.0 / (carried @ carried))


def of_products(level: int, found: OffDiagonal) -> list[Diagnostic]:
    """What the off-diagonal test can find, and what it cannot say."""
    if not found.kappa_2 > 0.0:
        return [Diagnostic("no_variance_of_products", level)]
    out = [Diagnostic("detectable_gap", level, {"nats": float(found.detectable)})]
    if found.tail < OFF_DIAGONAL_TAIL:
        out.append(Diagnostic("tail_not_resolved", level, {"least": OFF_DIAGONAL_TAIL}))
    if found.units < FEW_UNITS:
        data = {"units": int(found.units), "least": FEW_UNITS}
        out.append(Diagnostic("conservative_of_few_units", level, data))
    return out


def alone(level: int, pvalue: float) -> Diagnostic:
    """The p-value of the one feature that drowns among the others."""
    return Diagnostic("spread_along_mean", level, {"pvalue": pvalue})


def unjudged_products(level: int, found: OffDiagonal, units: Units) -> Diagnostic | None:
    """Why products of units cannot judge a level: one of them holds more than half of all."""
    weights = units.unit_weights**2 if units.labels is None else units.unit_weights
    heaviest = int(np.argmax(weights))
    if found.share > DOMINATES:
        return outweighing(level, units, found.top, float(found.share))
    if weights[heaviest] > DOMINATES * weights.sum():
        return outweighing(level, units, heaviest, 0.0)
    return None


def of_rows(level: int, scores: Scores) -> list[Diagnostic]:
    """Too few rows, as Kish counts them, for the χ² distribution of a fitted model."""
    count, p = float(effective_rows(scores)[0]), int(scores.h.shape[2])
    if count >= PER_FEATURE * p:
        return []
    even = count > scores.h.shape[1] - 0.5
    code = "few_rows_chi_square" if even else "few_weights_chi_square"
    return [Diagnostic(code, level, {"rows": count, "features": p})]


def of_model(level: int, scores: Scores) -> list[Diagnostic]:
    """Signs that the reduced model does not describe the spread of the added features."""
    out, p = of_rows(level, scores), int(scores.h.shape[2])
    ratio = float(2.0 * scores.coefficients("null")[0].mean())
    carriers = _carriers(scores.carried("null")[0])
    if not _MODEL_SPREAD[0] <= ratio <= _MODEL_SPREAD[1]:
        out.append(Diagnostic("model_spread", level, {"ratio": ratio}))
    elif carriers < _CARRIERS_PER_FEATURE * p:
        data = {"carriers": carriers, "features": p}
        out.append(Diagnostic("few_carriers_of_model", level, data))
    return out


def of_numerics(sample: Sample, rate: float) -> list[Diagnostic]:
    """Numerical error against the a⁻² that a null test of the fitted gap resolves."""
    out = []
    for level, solution in enumerate(sample.nested.solutions, start=1):
        error = float(
            solution.quadrature[0] + solution.decrement[0] ** 2 + solution.moment_rounding[0]
        )
        if error * rate**2 > _SHARE_OF_SCALE:
            data = {"error": error, "scale": float(rate**-2)}
            out.append(Diagnostic("error_against_rate", level, data))
    return out


def of_precision(sample: Sample, se: Array) -> list[Diagnostic]:
    """Numerical error against the standard errors of the gaps."""
    out = []
    for level, solution in enumerate(sample.nested.solutions, start=1):
        error = max(float(solution.quadrature[0] + solution.moment_rounding[0]), LEAST_ERROR)
        spread = float(se[level - 1])
        if error > _SHARE_OF_SCALE * spread:
            out.append(Diagnostic("error_against_spread", level, {"error": error, "se": spread}))
    return out


def chi_square_lead(sample: Sample, level: int) -> float:
    """Standard deviations by which 2 a² I of a level leads its χ² law for so many features."""
    return sample.hierarchy.family(level).chi_square_lead(sample.rate)


def crowded(sample: Sample) -> list[int]:
    """Levels with too many features for the sample: their gap does not follow the χ² law."""
    levels = range(1, len(sample.nested.solutions) + 1)
    return [level for level in levels if chi_square_lead(sample, level) > CHI_SQUARE_SHIFT]


def of_crowding(sample: Sample, levels: list[int] | None = None) -> list[Diagnostic]:
    """The same, of all such levels or of these."""
    dims, rate = sample.hierarchy.dims, float(sample.rate)
    return [
        Diagnostic("crowded", level, {"features": int(dims[level - 1]), "rate": rate})
        for level in (crowded(sample) if levels is None else levels)
    ]


def of_few_units(sample: Sample) -> list[Diagnostic]:
    """Levels with more features than half the units: no covariance of theirs is known."""
    if not sample.has_rows or sample.covariance_of_sums(1) is None:
        return []
    count, out = int(sample.units.effective), []
    for level in range(1, len(sample.nested.solutions) + 1):
        p = sample.hierarchy.q(level)
        if count < 2 * p:
            data = {"units": count, "features": int(p)}
            out.append(Diagnostic("few_units_for_interval", level, data))
    return out


def lost_replicates(level: int, share: float) -> list[Diagnostic]:
    """Replicates whose fit takes a search of its own count as beyond the sample."""
    return [] if share <= _SOME_LOST else [Diagnostic("some_draws_lost", level, {"share": share})]


def too_many_lost(level: int, share: float) -> Diagnostic:
    """Most replicates take a search of their own."""
    return Diagnostic("most_draws_lost", level, {"share": share})


SPARE_UNITS = 2  # beyond the matched features: one for the mean, one for a spread about it


def without_spread(sample: Sample) -> list[int]:
    """Levels whose features leave no degree of freedom for a variance."""
    count = _count(sample)
    levels = range(1, len(sample.nested.solutions) + 1)
    return [level for level in levels if count < sample.hierarchy.q(level) + SPARE_UNITS]


def of_spread(sample: Sample) -> list[Diagnostic]:
    """The same, with what they have and what they need."""
    what = sample.units.what if sample.has_rows else "row"
    found = []
    for level in without_spread(sample):
        p = int(sample.hierarchy.q(level))
        data = {"units": _count(sample), "what": what, "features": p, "least": p + SPARE_UNITS}
        found.append(Diagnostic("too_few_for_interval", level, data))
    return found


def of_lost_sums(se: Array) -> list[Diagnostic]:
    """Levels whose standard error is NaN: the sums hold no digit of the variance."""
    return [
        Diagnostic("sums_without_variance", k + 1) for k in np.flatnonzero(np.isnan(se)).tolist()
    ]


def _count(sample: Sample) -> float:
    """Units that vary; without end where nothing is estimated from them."""
    if sample.has_rows:
        return float(sample.units.effective)
    return np.inf if sample.design.known_covariance is not None else float(sample.moments.n)


def of_deciding_units(sample: Sample) -> list[Diagnostic]:
    """Levels of which one unit carries more than half of the variance, with that unit."""
    if not sample.has_rows or sample.rows.n >= MANY_ROWS:
        return []
    units, silent, out = sample.units, without_spread(sample), []
    squares = units.squares(np.diff(sample.log_densities, axis=1))
    for level, column in enumerate(squares.T, start=1):
        unit, whole = int(np.argmax(column)), float(column.sum())
        if level not in silent and column[unit] > DOMINATES * whole:
            data = {"unit": units.identity(unit), "share": float(column[unit] / whole)}
            out.append(Diagnostic("interval_rests_on_unit", level, data))
    return out
