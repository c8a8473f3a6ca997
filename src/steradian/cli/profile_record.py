"""A profile as a record for machines: all that the printed table says, and in full digits."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.diagnostics import Verdict
from steradian.profile.level_table import LevelTable

if TYPE_CHECKING:
    from steradian.numerics.arrays import Array
    from steradian.profile import Profile


def profile_record(result: Profile, patience: float) -> dict[str, Any]:
    """Every number of a profile, with tests and intervals as far as its text has them.

    ``tests`` and ``intervals`` are those of the library, None where there are none; ``inference``
    has one entry for each level, None where it cannot be judged, and then the reason.
    """
    table = LevelTable.of(result, patience)
    tests, intervals = table.tests, table.intervals
    return {
        **result.to_dict(),
        "tests": None if tests is None else tests.to_dict(),
        "intervals": None if intervals is None else intervals.to_dict(),
        "inference": _inference(table),
    }


def _inference(table: LevelTable) -> dict[str, Any]:
    """P-values that mean something, intervals, and what is said of each level."""
    tests, intervals = table.tests, table.intervals
    none = np.full(len(table.profile.levels), np.nan)
    judged = [verdict is not Verdict.UNJUDGED for verdict in table.verdicts]
    return {
        "pvalue": _known(none if tests is None else tests.pvalue, judged),
        "pvalue_holm": _known(table.pvalues, judged),
        "correction": "holm",
        "low": _known(none if intervals is None else intervals.low),
        "high": _known(none if intervals is None else intervals.high),
        "confidence": None if intervals is None else intervals.confidence,
        "verdict": [str(one) for one in table.verdicts],
        "reason": [None if reason is None else reason.to_dict() for reason in table.reasons],
    }


def _known(values: Array, judged: list[bool] | None = None) -> list[float | None]:
    """Numbers, None where there is none or it is no evidence."""
    good = np.isfinite(values) & (True if judged is None else np.array(judged))
    return [float(value) if so else None for value, so in zip(values, good, strict=True)]
