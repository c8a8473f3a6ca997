"""Do the verdict and the interval of a level agree, and if not, why?

The test asks whether a gap of zero explains the sample, by the covariance that the null would
have; the interval asks which gaps do, by the variance that is seen in the units, and alone, where
p-values are corrected for all levels. In small samples the one may find a level that the other
does not hold clear of zero.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from steradian.diagnostics import LIKELY_BELOW, Diagnostic, Verdict
from steradian.estimation.intervals import GapIntervals


def disagreement(
    intervals: GapIntervals, level: int, verdict: Verdict, pvalue: float
) -> Diagnostic | None:
    """Why an interval begins at zero though its level is significant, or the other way round.

    ``pvalue`` is that of the level alone. None where they agree, or either is not known.
    """
    low, high = float(intervals.low[level - 1]), float(intervals.high[level - 1])
    if verdict is Verdict.UNJUDGED or np.isnan(low):
        return None
    data: dict[str, Any] = {"low": low, "high": high, "pvalue": pvalue}
    if verdict is Verdict.NOISE:
        if not low > 0.0 or intervals.near_zero[level - 1]:
            return None
        corrected = pvalue < LIKELY_BELOW
        code = "not_significant_when_corrected" if corrected else "interval_excludes_zero"
        return Diagnostic(code, level, data)
    if low > 0.0:
        return None
    resting = [one for one in intervals.diagnostics if one.level == level]
    if any(one.code == "interval_rests_on_unit" for one in resting):
        return Diagnostic("significant_with_deciding_unit", level, data)
    return Diagnostic("significant_with_wide_interval", level, data)
