"""What speaks against an interval: too few units to have a spread, or one unit that is the spread.

The variance of a fit's log-density is seen in the very units the fit was made from. After p
matched features and the mean it has ``n - p - 1`` degrees of freedom left, so that below p + 2
units it says nothing, and an interval made of it may rule out its own estimate.
"""

from __future__ import annotations

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.numerics.arrays import Array
from steradian.significance.many_rows.feature_blocks import MANY_ROWS
from steradian.significance.redrawn.judgement import DOMINATES
from steradian.significance.sample import Sample

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
