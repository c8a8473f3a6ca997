"""How finely angles were written: binned or rounded ones take few values, however many rows.

On m values there are no more than m independent functions. Of m at equal steps on a circle the
degrees k, m - k and m + k are one and the same (aliasing), so that nothing from degree m / 2 on is
seen of the law behind the rows: what they show there is what lower degrees show.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.numerics.arrays import Array
from steradian.spaces.base import Space, chart_of, has_no_sign

_FINEST = 720  # values of a turn: finer ones limit no level that anybody fits
_REPEATS = 2  # rows per value that occurs, from which values are repeated rather than met by chance
_OFF = 0.05  # of a step, by which a value may be off: points of the compass in whole degrees
_DECIMALS = 9  # of a radian, to which two angles are one
_BLOCK = 4096  # rows looked at together: angles of any value end the search within the first


@dataclass(frozen=True, slots=True)
class Resolution:
    """How many values rows can take.

    Attributes
    ----------
    values : float
        Their number, those that do not occur included; infinite where nothing limits it.
    step : float
        Degrees from one to the next; 0 where nothing limits it.

    Examples
    --------
    >>> import steradian as sr
    >>> rows = sr.Directions.from_angles([0, 90, 270], degrees=True, counts=[5, 9, 4])
    >>> Resolution.of(rows, rows.space)
    Resolution(values=4, step=90.0)
    """

    values: float = np.inf
    step: float = 0.0

    @classmethod
    def of(cls, rows: Directions, space: Space) -> Resolution:
        """That of rows as points of a space; known where the space is drawn as a circle."""
        if chart_of(space) != "circle":
            return cls()
        folds = 2 if has_no_sign(space) else 1
        angles = _distinct(rows, folds)
        if not 2 <= len(angles) <= rows.n / _REPEATS:
            return cls()
        smallest = float(np.diff(angles, append=angles[0] + 2.0 * np.pi).min())
        most = int(np.ceil((1.0 + 2.0 * _OFF) * 2.0 * np.pi / smallest))
        for values in range(max(3, len(angles)), max(4, min(most, _FINEST)) + 1):
            if _off(angles, values) <= _OFF:
                near = range(values, values + values // 10 + 1)  # few values fit several
                best = min(near, key=lambda count: _off(angles, count))
                return cls(best, 360.0 / (best * folds))
        return cls()

    def tells(self, features: int) -> bool:
        """Whether so many features, and the constant, can be told apart on the values."""
        return features < self.values


def _distinct(rows: Directions, folds: int) -> Array:
    """The angles that occur, times ``folds``, ascending in [0, 2π); none where there are many."""
    found = np.zeros(0)
    for x, _ in rows.blocks(_BLOCK):
        turned = np.round(np.mod(folds * np.arctan2(x[:, 1], x[:, 0]), 2.0 * np.pi), _DECIMALS)
        found = np.union1d(found, np.where(turned < 2.0 * np.pi - 10.0**-_DECIMALS, turned, 0.0))
        if len(found) > _FINEST:
            return np.zeros(0)
    return found


def _off(angles: Array, values: int) -> float:
    """The most an angle is off its place among so many at equal steps, from any first, in steps.

    Infinite where two angles have one place.
    """
    turns = angles * (values / (2.0 * np.pi))
    first = np.angle(np.exp(2j * np.pi * turns).sum()) / (2.0 * np.pi)
    places = np.round(turns - first)
    apart = len(np.unique(np.mod(places, values))) == len(angles)
    return float(np.abs(turns - first - places).max()) if apart else np.inf
