"""What is said of a table beside its directions: columns not used, doubtful values, bins."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.notation import Notation, Reading
from steradian.errors import InvalidDirections
from steradian.io.recognition import COUNTS, WEIGHTS, listed
from steradian.numerics.arrays import AnyArray, Array
from steradian.text.messages import Message, arguments, message

if TYPE_CHECKING:
    from steradian.io.decision import Chosen
    from steradian.io.frames import Table

_QUADRANT = re.compile(r"^\s*[NSEW]{1,3}\s*$", re.IGNORECASE)
_CORRECTION = "tilt_correction"
_LOOKED_AT = 20  # rows


def remarks(table: Table, chosen: Chosen, free: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of columns that nobody named, ``free``, and nothing reads."""
    read = set(chosen.read)
    idle = [name for name in free if name not in read]
    said = _unused(idle) if chosen.tells_unused else ()
    if chosen.counts is None and not chosen.counts_name:
        said += _idle_counts(idle) if table.header else _idle_decimals(table, idle)
        unweighted = chosen.weights is None and not chosen.weights_name
        said += _idle_weights(idle) if unweighted else ()
    return said + _corrections(table, chosen, idle)


def _unused(idle: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of columns beside those of vectors."""
    return (f"not used: {listed([f'`{name}`' for name in idle])}",) if idle else ()


def _idle_weights(names: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of a column that may hold weights and that nobody named."""
    found = [name for name in names if name.strip().lower() in WEIGHTS]
    return tuple(
        message("column `{name}` not used ({remedy})", name=n, remedy=arguments(weights=n))
        for n in found[:1]
    )


def _idle_counts(names: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of a column that may count observations and that nobody named."""
    return tuple(
        message(
            "column `{name}` not used ({remedy} if rows are bins)",
            name=name,
            remedy=arguments(counts=name),
        )
        for name in names
        if name.strip().lower() in COUNTS
    )[:1]


def _idle_decimals(table: Table, names: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of a second column without a name, which may be what follows a comma."""
    if len(table.columns) != 2 or names != ["2"]:
        return ()
    return ("column `2` not used (if it is the decimals after a comma, add a header line)",)


def _corrections(table: Table, chosen: Chosen, idle: Sequence[str]) -> tuple[Message | str, ...]:
    """What is said of directions before and after a correction for tilt that stand together."""
    for name in idle if "inclination" in chosen.convention.roles else ():
        if name.lower().endswith(_CORRECTION):
            values = dict.fromkeys(str(value).strip() for value in table[name])
            kinds = [value.removesuffix(".0") for value in values if value not in ("", "nan")]
            if len(kinds) > 1:
                remark = message(
                    "`{name}` is {kinds}: rows of different corrections are pooled ({remedy} keeps "
                    "them apart)",
                    name=name, kinds=" and ".join(sorted(kinds)[:3]), remedy=arguments(by=name),
                )  # fmt: skip
                return (remark,)
    return ()


def quadrants(
    table: Table, free: Sequence[str], chosen: Chosen, *, named: bool
) -> tuple[Message | str, ...]:
    """Refuse a column of compass letters beside strikes, or say that it is not used."""
    if "strike" not in chosen.convention.roles:
        return ()
    for name in free:
        cells = table[name][:_LOOKED_AT]
        if name in chosen.columns or cells.dtype.kind not in "OUST" or not len(cells):
            continue
        if all(_QUADRANT.match(str(cell)) for cell in cells):
            said = f"column `{name}` holds compass letters like {str(cells[0]).strip()}"
            if named:
                return (f"{said}, not used: a plane dips to the right of its strike",)
            raise InvalidDirections(
                "{said}, and strikes are read by the right-hand rule: a plane dips to the right of "
                "its strike; write the letters beside the dips, like 41SE, or add 180 to the "
                "strikes of those that dip to the left and say {remedy}",
                said=said,
                remedy=arguments(columns=list(chosen.columns), coords="strike_dip"),
            )
    return ("a plane dips to the right of its strike",)


# --- values that make one doubt, without being wrong -----------------------------------------

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


# --- counts of bins --------------------------------------------------------------------------

_AS_REPEATED = ("counts are taken as repeated rows",)


def grouping(notation: Notation, x: Array) -> tuple[str, ...]:
    """What bins of equal width do to the moments of counts, in words.

    An observation anywhere in a bin of width h counts as one at its middle: the density is averaged
    over a bin's width, which multiplies its moments of degree l by sin(l h / 2) / (l h / 2)
    (Sheppard's correction; Batschelet, *Circular Statistics in Biology*, 1981).
    """
    if notation.convention.angles is None or x.shape[1] != 2:
        return _AS_REPEATED
    angle = np.rad2deg(notation.convention.angles(x)[0])
    places = np.unique(np.round(np.mod(angle, 360.0), 6))
    steps = np.diff(np.append(places, places[0] + 360.0))
    width = float(steps.min())
    even = np.abs(steps / width - np.round(steps / width)).max() < 1e-3 if width else False
    if len(places) < 3 or not even:
        return _AS_REPEATED
    return (f"values taken as the middles of bins of {width:g}°, {_shortened(width)}",)


def stated_grouping(width: Array) -> tuple[str, ...]:
    """The same of bins whose edges are known."""
    largest = float(width.max())
    even = largest - float(width.min()) < 1e-6 * largest
    said = f"of {largest:g}°" if even else f"of up to {largest:g}°"
    return (f"bins {said}, each counted at its middle, {_shortened(largest)}",)


def _shortened(width: float) -> str:
    half = np.deg2rad(width) / 2.0
    lost = [1.0 - np.sin(level * half) / (level * half) for level in (1, 4)]
    return f"which shorten moments of degree 1 by {lost[0]:.1%} and of degree 4 by {lost[1]:.1%}"
