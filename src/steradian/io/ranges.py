"""Values of a column that are none of its convention: beyond its range, or marks of no value."""

from __future__ import annotations

from typing import Any

import numpy as np

from steradian.data.conventions import Convention
from steradian.data.interpretation import SEVERAL, TURN, Units
from steradian.data.times import DAY, unreadable_times
from steradian.numerics.arrays import AnyArray, BoolArray
from steradian.numerics.tolerances import UNIT_LENGTH

_FARTHEST = 720.0  # degrees: bearings and longitudes may go round, no farther than this
_MARKS = (999.0, 9999.0, 99999.0)  # written where there is no value, with either sign
_FEW_SHARE = 0.05  # of rows, beyond which what is out of range is no slip of a pen
_SMALL_MARK = -99.0  # likewise, and an angle as well: only where all others are positive


def foreign(
    convention: Convention, column: int, values: AnyArray, units: Units
) -> tuple[BoolArray, str]:
    """Which values are none of a column's convention, and why in words."""
    if convention.frame == "clock":
        return _no_times(values, units.period)
    if column >= len(convention.limits):
        return np.zeros(len(values), dtype=bool), ""
    unit, _ = units.of(convention)
    low, high = convention.limits[column]
    if np.isfinite(low):
        scale = np.pi / 180.0 if unit == "radians" else 1.0
        slack = 1.0 + UNIT_LENGTH
        beyond = (values < low * scale * slack) | (values > high * scale * slack)
        return beyond, f", beyond {low * scale:g} to {high * scale:g}"
    if unit == "hours" and not column:
        return np.abs(values) > DAY, ", beyond 24 hours"
    return _no_angles(values, degrees=unit == "degrees")


def wrong_column(
    convention: Convention, column: int, values: AnyArray, beyond: BoolArray, units: Units
) -> bool:
    """Whether values beyond a range are too many and too different to be rows that went wrong.

    They are then of another column, or in another unit: a latitude that holds longitudes goes
    beyond its range wherever those do. Marks of missing values are many too, and all the same.
    """
    unit, _ = units.of(convention)
    if convention.frame == "clock" or column >= len(convention.limits):
        return False
    if not np.isfinite(convention.limits[column][0]) and not (unit == "hours" and not column):
        return False  # angles that may go round
    turn = TURN["radians" if unit == "radians" else "degrees"]
    angles = values[beyond & (np.abs(values) <= turn)]
    return len(angles) > _FEW_SHARE * len(values) and len(np.unique(angles)) >= SEVERAL


def _no_angles(values: AnyArray, *, degrees: bool) -> tuple[BoolArray, str]:
    """Marks of missing values among angles that may go round; some turns more are honest."""
    mark = np.isin(np.abs(values), _MARKS)
    if degrees:
        mark |= np.abs(values) > _FARTHEST
        small = values == _SMALL_MARK
        if small.any() and not (values[~small & ~mark] < 0.0).any():
            mark |= small
    return np.asarray(mark), ", which no angle here is"


def _no_times(values: AnyArray, period: Any) -> tuple[BoolArray, str]:
    if values.dtype.kind in "OUST":
        return unreadable_times(values.tolist()), ", which is no time like the others"
    if values.dtype.kind not in "fiu" or period not in (None, "day"):
        return np.zeros(len(values), dtype=bool), ""
    return np.asarray((values < 0.0) | (values > DAY)), ", beyond the hours 0 to 24 of the day"
