"""What the values of columns make one doubt, without being wrong: said, never acted upon."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from steradian.data.notation import Reading
from steradian.numerics.arrays import AnyArray
from steradian.text.messages import Message, arguments, message

_AXIAL = arguments(axial=True)
_ENOUGH = 20  # rows from which on one side of the circle or the sphere is no accident
_HALF_TURN, _TURN, _GRADIANS = 180.0, 360.0, 400.0
_NEARLY = 0.75  # of their range, from which on declinations look like radians that fill theirs


def doubts(reading: Reading, values: Sequence[AnyArray]) -> tuple[Message | str, ...]:
    """Remarks on lines that may have no sign, planes of no side, and a second column in radians."""
    convention, few = reading.notation.convention, len(values[0]) < _ENOUGH
    if few or reading.notation.unit == "radians" or any(v.dtype.kind != "f" for v in values):
        return ()
    if "strike" in convention.roles:
        return _of_no_side(values[0])
    if convention.axial or not convention.angular or reading.notation.clock is not None:
        return ()
    if len(values) == 1:
        return _on_one_side(values[0], convention.role(0)) + _gradians(values[0])
    said: tuple[Message | str, ...] = ()
    if "plunge" in convention.roles and (values[1] >= 0.0).all():
        said = (message("no line points upwards ({remedy} if lines have no sign)", remedy=_AXIAL),)
    return said + _mixed_units(reading, values)


def _on_one_side(angle: AnyArray, role: str) -> tuple[Message | str, ...]:
    spread = float(np.ptp(angle))
    within = angle.min() >= 0.0 and angle.max() <= _HALF_TURN
    within |= angle.min() >= -0.5 * _HALF_TURN and angle.max() <= 0.5 * _HALF_TURN
    if not within or spread < _NEARLY * _HALF_TURN:
        return ()
    words = "no {role} leaves half a turn ({remedy} if lines have no sign)"
    return (message(words, role=role, remedy=_AXIAL),)


def _of_no_side(strike: AnyArray) -> tuple[Message | str, ...]:
    if strike.min() < 0.0 or not _NEARLY * _HALF_TURN < strike.max() <= _HALF_TURN:
        return ()
    return ("no strike is above 180: do some dip to the left? (write dips with letters, 41NW)",)


def _gradians(angle: AnyArray) -> tuple[Message | str, ...]:
    largest = float(angle.max())
    if angle.min() < 0.0 or not _TURN < largest <= _GRADIANS:
        return ()
    return (f"angles go up to {largest:g}, beyond a turn (as gradians would, which are not read)",)


def _mixed_units(reading: Reading, values: Sequence[AnyArray]) -> tuple[Message | str, ...]:
    """A latitude that stays within ±π/2 while the longitude goes round in degrees."""
    limits = reading.notation.convention.limits
    if not reading.assumed or reading.notation.unit != "degrees":
        return ()
    for k, (low, high) in enumerate(limits):
        largest = float(np.abs(values[k]).max())
        quarter = np.deg2rad(high)
        if np.isfinite(low) and _NEARLY * quarter < largest <= quarter:
            role = reading.notation.convention.role(k)
            return (f"no {role} is larger than {largest:.3g}: taken as degrees, not radians",)
    return ()
