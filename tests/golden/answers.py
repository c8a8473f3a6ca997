"""What results answer, as plain numbers: one small dictionary for each question.

An answer sorts its numbers by what they are, which decides how they are compared (`golden.rules`):
``nats`` with their stated ``error``, ``p`` with the draws behind it, ``ends`` of intervals,
``values`` that follow from the fits, ``replicates`` (means over draws), and what must be the
``same``. Public attributes only, and no sentence: remarks are counted by their codes.
"""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

import steradian as sr
from steradian.diagnostics import Diagnostic
from steradian.numerics.arrays import Array

Answer = dict[str, dict[str, Any]]

REPLICATES = 99  # of what is drawn because a case asks for it
_STOPS = 20, 30, 50, 100  # draws as extreme after which the library asks for no more
_SIZES = 19, 99, 199, 999, 1999, 3999, 9999  # draws that are asked for, here or by default
_MOST_DRAWS = 40_000


def code_of(remark: Any) -> str:
    """The code of a remark and the level that it is about; of one in words, that there is one."""
    if not isinstance(remark, Diagnostic):
        return "in words"
    return remark.code if remark.level is None else f"{remark.code} {remark.level}"


def codes(found: Any) -> list[str]:
    """Codes of all remarks of a result."""
    held = next((name for name in ("diagnostics", "notes", "warnings") if hasattr(found, name)), "")
    return sorted(code_of(remark) for remark in getattr(found, held, ()))


def method_of(how: Any) -> str:
    """How a p-value was found, by the codes of its parts; of one in words, that there is one."""
    if isinstance(how, str):
        return "in words"
    return " ".join(part for part in (how.code, how.covariance, how.recalibration) if part)


def refusal(error: sr.SteradianError) -> Answer:
    """Which error, of which level, for which reason."""
    code = error.diagnostic.code
    level = getattr(error, "level", None)
    return {"same": {"error": type(error).__name__, "level": level, "code": code}}


def draws_behind(p: float) -> int:
    """How many draws a p-value stands among, 0 where it is exact.

    Drawn ones are fractions with small denominators, which exact ones are not: one in a million.
    """
    near = Fraction(p).limit_denominator(_MOST_DRAWS)
    if p <= 0.0 or abs(float(near) - p) > 1e-13 * p:
        return 0
    stopped = [round(stop / p) for stop in _STOPS if abs(stop / p - round(stop / p)) < 1e-9]
    whole = [size + 1 for size in _SIZES if (size + 1) % near.denominator == 0]
    return min([*stopped, *whole], default=near.denominator)


def pvalues(values: Any) -> list[list[float | int | None]]:
    """Each with the draws behind it."""
    known = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return [[None, 0] if np.isnan(p) else [float(p), draws_behind(float(p))] for p in known]


def numbers(values: Any, digits: int = 10) -> Any:
    """Rounded to digits that no comparison sees, NaN as None."""
    array = np.asarray(values, dtype=np.float64)
    if array.ndim:
        return [numbers(each, digits) for each in array]
    return float(f"{array:.{digits}g}") if np.isfinite(array) else None


def full(values: Any) -> Any:
    """Every digit."""
    return numbers(values, 17)


def stated_error(numerics: sr.results.Numerics) -> Array:
    """What a profile states of each deficit, nats."""
    return np.asarray(numerics.quadrature + numerics.moment_rounding + 0.5 * numerics.decrement**2)


def _names(values: Any) -> list[str]:
    return [one.name if isinstance(one, Enum) else str(one) for one in values]


# --- profiles ---------------------------------------------------------------------------------


def of_profile(p: sr.results.Profile) -> Answer:
    """Deficits and gaps with their errors, and what is known of the fits."""
    n, top = p.numerics, p.fits[-1]
    values: dict[str, Any] = {}
    if p.has_mean:
        values["length"] = numbers(p.resultant)
    if p.has_kappa:
        values["kappa"] = numbers(p.kappa)
    if p.directions is not None:
        values["logpdf"] = numbers(top.logpdf(p.directions.take(slice(0, 3)), measure="reference"))
    return {
        "same": {
            "n": p.n,
            "dims": p.dims[: len(p.levels)].tolist(),
            "status": _names(fit.status for fit in p.fits[1:]),
            "stopped": code_of(p.stopped) if p.stopped else None,
            "design": p.design.name,
        },
        "nats": {"D": full(p.deficits), "I": full(p.gaps)},
        "error": {
            "quadrature": numbers(n.quadrature, 2),
            "moment_rounding": numbers(n.moment_rounding, 2),
            "decrement": numbers(n.decrement, 2),
        },
        "values": values,
    }


def of_tests(found: sr.results.GapTests) -> Answer:
    """P-values of the gaps, their verdicts and remarks."""
    return {
        "same": {
            "judged": found.judged.tolist(),
            "verdicts": _names(found.verdicts),
            "methods": [method_of(how) for how in found.methods],
            "codes": codes(found),
        },
        "p": {"level": pvalues(found.pvalue)},
        "values": {"score": numbers(found.score_statistic)},
    }


def of_uniformity(found: sr.results.Uniformity) -> Answer:
    """P-values of uniformity through each level, and the classical ones."""
    return {
        "same": {"judged": found.judged.tolist(), "codes": codes(found)},
        "p": {"level": pvalues(found.pvalue), "classical": pvalues(found.classical_pvalue)},
        "values": {"statistic": numbers(found.statistic), "classical": numbers(found.classical)},
    }


def of_intervals(found: sr.results.GapIntervals) -> Answer:
    """Both ends of all intervals."""
    names = ("low", "high", "deficit_low", "deficit_high")
    return {
        "same": {"near_zero": found.near_zero.tolist(), "codes": codes(found)},
        "ends": {name: numbers(getattr(found, name)) for name in names},
        "values": {"debiased": numbers(found.debiased), "se": numbers(found.se)},
    }


def of_leftover(found: sr.results.Residuals | sr.results.Mmd) -> Answer:
    """Distances of data and fits, and their p-values."""
    known = found.of_design.defines_inference
    return {
        "same": {"methods": [method_of(how) for how in found.methods], "codes": codes(found)},
        "p": {"level": pvalues(found.pvalue) if known else []},
        "values": {"distance": numbers(found.values)},
    }


def of_trust(found: sr.results.Trust) -> Answer:
    """The three answers, and the codes of their reasons."""
    reasons = [sorted(code_of(why) for why in one.reasons) for one in found.judgements]
    return {"same": {"answers": _names(one.answer for one in found.judgements), "why": reasons}}


def of_order(found: sr.results.OrderChoice) -> Answer:
    """What every criterion chooses, and from what."""
    return {
        "same": {"chosen": dict(found.chosen), "codes": codes(found)},
        "p": {"residual": pvalues(found.residual_pvalue), "holm": pvalues(found.holm_pvalue)},
        "values": {name: numbers(getattr(found, name)) for name in ("aic", "bic", "tic")},
        "replicates": {"mean": numbers(found.held_out), "se": numbers(found.held_out_se)},
    }


def of_bootstrap(found: sr.results.Bootstrap) -> Answer:
    """Means and spread of the replicates."""
    fitted = np.isfinite(found.gaps)
    spread = np.nanstd(found.gaps, axis=0, ddof=1)
    return {
        "same": {"fitted": fitted.sum(axis=0).tolist(), "codes": codes(found)},
        "p": {"level": pvalues(found.pvalue) if found.under_null else []},
        "replicates": {
            "mean": numbers(np.nanmean(found.gaps, axis=0)),
            "se": numbers(spread / np.sqrt(fitted.sum(axis=0))),
        },
    }


def of_beyond(found: sr.results.Beyond) -> Answer:
    """Mass of the fits where there are no data, by a rule or by draws."""
    mass, drawn = numbers(found.mass, 6), int(found.draws.max())
    error = np.sqrt(found.mass * (1.0 - found.mass) / max(drawn, 1))
    known = {"replicates": {"mean": mass, "se": numbers(error)}} if drawn else {}
    return {
        "same": {"codes": codes(found), "draws": found.draws.tolist()},
        **(known or {"values": {"mass": mass, "share": numbers(found.share_of_gap, 6)}}),
    }


# --- everything else ------------------------------------------------------------------------


def of_boundary(found: sr.results.Boundary) -> Answer:
    """Which levels exist, and how far inside the data are."""
    return {
        "same": {
            "inside": found.inside.tolist(),
            "decided": [one.decided for one in found.entries],
            "shown": [one.shown_by is not None for one in found.entries],
            "exact": found.exact,
        },
        "margins": {
            "margin": full(found.margins),
            "slack": numbers([one.slack for one in found.entries], 2),
        },
    }


def of_comparison(found: sr.results.Comparison) -> Answer:
    """Information between groups."""
    return {
        "same": {"groups": list(found.names), "left_out": sorted(found.left_out)},
        "nats": {"C": full(found.between), "J": full([found.total])},
        "values": {
            "parts": numbers(list(found.level1.values())),
            "noise": numbers(found.noise),
        },
    }


def of_labels(found: sr.results.Comparison) -> Answer:
    """What a direction tells of its label, integrated by a rule or by draws."""
    known = found.label_information
    mean, error = numbers([known.value], 6), numbers([known.error], 2)
    return {"replicates": {"mean": mean, "se": error}}


def of_comparison_tests(found: Any) -> Answer:
    """P-values of the levels of a comparison, of its parts, and of one distribution for all."""
    return {
        "same": {"methods": [method_of(how) for how in found.methods], "codes": codes(found)},
        "p": {
            "level": pvalues(found.pvalue),
            "overall": pvalues(found.any_pvalue),
            "parts": pvalues(list(found.parts.values())),
        },
        "values": {"statistic": numbers(found.statistic)},
    }


def of_comparison_intervals(found: Any) -> Answer:
    """Intervals of the information between groups."""
    ends = [*found.low, found.total_low], [*found.high, found.total_high]
    return {
        "ends": {"low": numbers(ends[0]), "high": numbers(ends[1])},
        "values": {"se": numbers([*found.se, found.total_se])},
    }


def of_profiles(found: sr.results.Profiles) -> Answer:
    """Many weightings of the same rows, and which of them have no fit."""
    refused = {str(row): refusal(error)["same"] for row, error in found.failures.items()}
    error = np.nan_to_num(found.quadrature)
    return {
        "same": {"refused": refused, "enough": found.enough.tolist()},
        "nats": {"D": full(found.deficits), "I": full(found.gaps)},
        "error": {"quadrature": numbers(error, 2)},
        "p": {} if found.null is None else {"level": pvalues(np.ravel(found.pvalue))},
    }


def of_splits(found: sr.results.SplitProfile) -> Answer:
    """Medians over splits of the rows, and their combined p-values."""
    tests = found.tests()
    return {
        "same": {"splits": len(found.splits), "judged": np.asarray(tests.judged).tolist()},
        "replicates": {
            "mean": numbers(found.gaps),
            "se": numbers(found.split_gaps.std(axis=0, ddof=1)),
        },
        "p": {"level": pvalues(tests.pvalue)},
    }


QUESTIONS: dict[str, Callable[[Any], Answer]] = {
    "profile": of_profile,
    "tests": lambda p: of_tests(p.tests(replicates=REPLICATES)),
    "tests by gap": lambda p: of_tests(p.tests(statistic="gap", replicates=REPLICATES)),
    "tests of the model": lambda p: of_tests(p.tests(null="model", replicates=REPLICATES)),
    "tests, tilted": lambda p: of_tests(p.tests(covariance="tilted")),
    "tests, empirical": lambda p: of_tests(p.tests(covariance="empirical")),
    "tests by bootstrap": lambda p: of_tests(p.tests(method="bootstrap", replicates=REPLICATES)),
    "model by bootstrap": lambda p: of_tests(
        p.tests(null="model", method="bootstrap", replicates=REPLICATES)
    ),
    "tests by simulation": lambda p: of_tests(p.tests(method="simulate", replicates=REPLICATES)),
    "uniformity": lambda p: of_uniformity(p.uniformity(replicates=REPLICATES)),
    "intervals": lambda p: of_intervals(p.intervals()),
    "intervals by root": lambda p: of_intervals(p.intervals(0.9, method="sqrt")),
    "residuals": lambda p: of_leftover(p.residuals(replicates=REPLICATES)),
    "residuals, exact": lambda p: of_leftover(p.residuals(method="exact")),
    "residuals, weighted": lambda p: of_leftover(p.residuals(weights="sobolev", method="exact")),
    "residuals by bootstrap": lambda p: of_leftover(
        p.residuals(method="bootstrap", replicates=REPLICATES)
    ),
    "mmd": lambda p: of_leftover(p.mmd(replicates=REPLICATES)),
    "mmd, exact": lambda p: of_leftover(p.mmd(method="exact")),
    "noise": lambda p: {"values": {"noise": numbers(p.noise)}},
    "trust": lambda p: of_trust(p.trust()),
    "beyond": lambda p: of_beyond(p.beyond(draws=500)),
    "order": lambda p: of_order(sr.choose_order(p, folds=3)),
    "bootstrap": lambda p: of_bootstrap(sr.bootstrap(p, replicates=19)),
    "parametric": lambda p: of_bootstrap(sr.bootstrap(p, "parametric", replicates=19)),
    "multiplier": lambda p: of_bootstrap(sr.bootstrap(p, "multiplier", replicates=REPLICATES)),
    "boundary": of_boundary,
    "comparison": of_comparison,
    "labels": of_labels,
    "comparison tests": lambda c: of_comparison_tests(
        c.tests(permutations=199, replicates=REPLICATES)
    ),
    "permutation": lambda c: of_comparison_tests(c.tests("permutation", permutations=199)),
    "comparison intervals": lambda c: of_comparison_intervals(c.intervals()),
    "profiles": of_profiles,
    "splits": of_splits,
}
"""Every question by its name in the record."""
