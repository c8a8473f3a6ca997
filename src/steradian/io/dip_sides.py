"""Planes whose dips say by letters to which side they go: N42E 41SE, 042 41NW."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.conventions import Convention
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray

if TYPE_CHECKING:
    from steradian.io.cells import Numbers

_ALONG = np.cos(np.radians(80.0))  # letters this near to a strike tell no side of it
_HALF_TURN = 180.0


def to_the_right(
    convention: Convention, names: Sequence[str], found: Sequence[Numbers]
) -> list[AnyArray]:
    """The columns with strikes, in degrees, to the right of which their planes dip.

    Rows whose letters name neither side have no dip; level and upright planes need no letters.
    """
    values = [column.values for column in found]
    if convention.roles[:2] != ("strike", "dip"):
        return values
    sides = found[1].sides
    if sides is None:
        if found[0].letters:
            raise InvalidDirections(
                f"column {names[0]!r} has letters of the compass, which do not say to which side "
                "of its strike a plane dips; write dips with letters too, like 41SE, or give "
                "strikes as azimuths from 0 to 360 with the plane dipping to their right, or dip "
                "directions"
            )
        return values
    strike, dip = values
    right = np.cos(np.radians(strike + 90.0 - sides))
    either = (dip == 0.0) | (dip == 90.0)
    told = np.abs(right) >= _ALONG
    turned = np.where(told & (right < 0.0), (strike + _HALF_TURN) % 360.0, strike)
    return [turned, np.where(told | either, dip, np.nan)]
