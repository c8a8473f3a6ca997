"""Axes and girdles that a mean does not show, in the words of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.data.conventions import CONVENTIONS
from steradian.data.notation import Notation
from steradian.numerics.arrays import Array
from steradian.spaces.base import chart_of

if TYPE_CHECKING:
    from steradian.profile.profile import Profile

READABLE = 3  # coordinates of a direction that people read
_AXIS_EXCESS = 0.25  # of the mean square over that of uniform, from which an axis is told
_GIRDLE_SHARE = 0.5  # of that of uniform, below which little is left along the pole of a girdle
_MEAN_SHARE = 0.25  # of the largest mean square, below which a mean hides the axis


def second_moment(profile: Profile) -> Array:
    """E xxᵀ of the data, (d, d)."""
    m = profile.moments
    return np.asarray(m.scatter / m.weight + np.outer(m.mean, m.mean))


def axis_in_words(profile: Profile) -> str:
    """The axis that rows are closest to, in their own convention; else empty.

    Of rows with a sign only where the axis holds most of them and their mean does not.
    """
    axis, share = axis_and_share(profile)
    return f"{axis} (mean cos² {share:.3f})" if axis else ""


def axis_and_share(profile: Profile) -> tuple[str, float]:
    """The same axis, and the mean cos² of rows about it."""
    known = profile.reading
    if known is None or not _told(profile):
        return "", 0.0
    values, axes = np.linalg.eigh(second_moment(profile))
    even = values.sum() / profile.d
    if not known.axial and values[-1] - even <= _AXIS_EXCESS * (values.sum() - even):
        return "", 0.0
    end = _signed(axes[:, -1])
    words = known.notation.words(end)
    on_circle = chart_of(profile.moments.hierarchy.space) == "circle"
    if on_circle and not known.axial:  # times and bearings: nobody adds half a turn in the head
        words += f" and {known.notation.words(-end)}"
    return words, float(values[-1])


def strongest_axis(profile: Profile) -> str:
    """Both ends of the axis that rows are closest to, or the pole of their girdle; else empty.

    Without a look at how strong it is: that is for a test of the level that sees it.
    """
    known = profile.reading
    axial = known is not None and known.axial
    if (known is not None and known.within) or not (axial or _sees_axes(profile)):
        return ""
    values, axes = np.linalg.eigh(second_moment(profile))
    told = Notation(CONVENTIONS["xyz"]) if known is None else known.notation
    if _is_girdle(values):
        return _girdle(_signed(axes[:, 0]), told)
    end = _signed(axes[:, -1])
    return f"axis {told.words(end)}" + ("" if axial else f" and {told.words(-end)}")


def _sees_axes(profile: Profile) -> bool:
    """Whether level 2 has all quadratics of directions that people read."""
    d, dims = profile.d, profile.dims
    quadratics = d * (d + 1) // 2 - 1
    return profile.has_mean and d <= READABLE and len(dims) > 1 and bool(dims[1] == quadratics)


def principal_axes(profile: Profile) -> list[str]:
    """Lines about the axis, with the rows at either end of it, or about the girdle."""
    girdle = girdle_in_words(profile)
    if girdle:
        return [girdle]
    axis = axis_in_words(profile)
    return [f"principal axis: {axis}{_ends(profile)}"] if axis else []


def _told(profile: Profile) -> bool:
    """Whether there are words for an axis, and the mean does not say it already."""
    known = profile.reading
    if known is None or known.within:
        return False
    if known.axial:
        return True
    if profile.d > READABLE or not profile.has_mean:
        return False
    largest = float(np.linalg.eigvalsh(second_moment(profile))[-1])
    return profile.resultant**2 < _MEAN_SHARE * largest


def _signed(axis: Array) -> Array:
    """The end of an axis whose last coordinate is positive."""
    return np.asarray(axis * np.sign(axis[np.flatnonzero(axis)[-1]]))


def _is_girdle(values: Array) -> bool:
    """Whether rows with mean squares ``values`` (d,), ascending, are closer to a great circle than
    to an axis: Woodcock's (1977, Geol. Soc. Am. Bull. 88, 1231) ln(S₁/S₂) < ln(S₂/S₃).
    """
    return bool(values[-1] * values[0] < values[-2] ** 2)


def girdle_in_words(profile: Profile) -> str:
    """The pole of a girdle, where rows are closer to a great circle than to an axis."""
    known = profile.reading
    if known is None or profile.d > READABLE or not _told(profile):
        return ""
    values, axes = np.linalg.eigh(second_moment(profile))
    if not _is_girdle(values) or values[0] > _GIRDLE_SHARE * values.sum() / profile.d:
        return ""
    return f"{_girdle(_signed(axes[:, 0]), known.notation)} (mean cos² {values[0]:.3f})"


def _girdle(pole: Array, told: Notation) -> str:
    if told.convention.axial:  # poles of planes: their girdle is a plane, and its pole a line
        line = Notation(CONVENTIONS["trend_plunge"], told.unit)
        return f"girdle: {told.words(pole)}; its pole: {line.words(pole)}"
    return f"girdle, with its pole at {told.words(pole)}"


def _ends(profile: Profile) -> str:
    """How many rows point to either end of the axis, of rows that have a sign."""
    known, rows = profile.reading, profile.directions
    if rows is None or known is None or known.axial:
        return ""
    axis = _signed(np.linalg.eigh(second_moment(profile))[1][:, -1])
    along = int(np.count_nonzero(rows.x @ axis > 0.0))
    return f", {along} rows one way and {len(rows.x) - along} the other"
