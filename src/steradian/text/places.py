"""Where a profile is densest, and axes and girdles that a mean hides, in the words of the data."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.data.conventions import CONVENTIONS
from steradian.data.notation import Notation
from steradian.diagnostics import Diagnostic
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import POINTS_NOWHERE
from steradian.references.base import log_reference
from steradian.spaces.base import chart_of

if TYPE_CHECKING:
    from steradian.decomposition import Profile
    from steradian.fitting.maxent import MaxEntFit
    from steradian.fitting.modes import Mode
    from steradian.text.levels import LevelTable


READABLE = 3  # coordinates of a direction that people read
_AXIS_EXCESS = 0.25  # of the mean square over that of uniform, from which an axis is told
_GIRDLE_SHARE = 0.5  # of that of uniform, below which little is left along the pole of a girdle
_MEAN_SHARE = 0.25  # of the largest mean square, below which a mean hides the axis


def points_somewhere(profile: Profile) -> bool:
    """Whether its mean has a direction that people read."""
    readable = profile.has_mean and profile.d <= READABLE
    return readable and bool(profile.resultant >= POINTS_NOWHERE)


def in_words(profile: Profile) -> str:
    """The mean direction as the data were written; Cartesian where nothing else is known."""
    mean = profile.fits[1].mean()
    point = mean / np.linalg.norm(mean)
    known = profile.reading
    told = None if known is None or known.within else known.notation
    if told is None:
        return f" ({', '.join(f'{c:.4f}' for c in point)})"
    return f": {told.words(point)}" if told.convention.angular else f" {told.words(point)}"


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


_TOLD, _MOST = 3, 6  # peaks that are told, and peaks of which any is: a ring has no places
_LEAST = 0.25  # of the highest peak, below which another is not told
_BESIDE = 0.1  # radians from the mean direction, 6 degrees, within which a peak is no news
_ROUND = 72  # points of a girdle at which its law is looked at
_EVEN = 0.5  # of the highest density along a girdle, above which the lowest leaves no places
_NEARLY_UNIFORM = 1.5  # times uniform, below which there is no peak to speak of


def densest_places(table: LevelTable) -> list[Diagnostic]:
    """Where the fit of the highest significant level has its peaks, from the second level on.

    The first has its peak at the mean direction, which is printed. None where nobody said how
    coordinates are read, where the space has no picture, or where the one peak is at the mean.
    """
    p, space = table.profile, table.profile.moments.hierarchy.space
    known, sure = p.reading, table.told
    if known is None or known.within or not sure or sure[-1] < 2:
        return []
    if chart_of(space) == "none" or log_reference(space, np.eye(1, space.d)) is None:
        return []
    fit = p.fits[sure[-1]]
    if girdle_in_words(p) and _is_ring(p, fit):  # its pole is printed
        return []
    high = _high(fit)
    if not high or high[0].density < _NEARLY_UNIFORM or len(high) > _MOST:
        return []
    if len(high) == 1 and _at_mean(p, high[0].point):
        return []
    return [_places(fit.level, high, known.notation)]


def _high(fit: MaxEntFit) -> list[Mode]:
    """Peaks above uniform and above the reference, of which none is low beside the highest."""
    points = np.array([mode.point for mode in fit.modes()])
    raised = fit.logpdf(points, measure="reference") > 0.0
    above = [m for m, up in zip(fit.modes(), raised, strict=True) if up and m.log_density > 0.0]
    return [mode for mode in above if mode.density >= _LEAST * above[0].density]


def _is_ring(profile: Profile, fit: MaxEntFit) -> bool:
    """Whether a law beside a girdle has no places on it: it sees axes alone, or is about even."""
    if fit.level <= profile.moments.hierarchy.second_moment_levels:
        return True
    plane = np.linalg.eigh(second_moment(profile))[1][:, -2:]
    angle = np.linspace(0.0, 2.0 * np.pi, _ROUND, endpoint=False)
    along = fit.pdf(np.stack([np.cos(angle), np.sin(angle)], axis=1) @ plane.T)
    return bool(along.min() > _EVEN * along.max())


def _at_mean(profile: Profile, point: Array) -> bool:
    """Whether a peak is where the mean direction, which is printed, is already."""
    length = float(np.linalg.norm(profile.moments.mean)) if profile.has_mean else 0.0
    if not length:
        return False
    return bool(np.linalg.norm(point - profile.moments.mean / length) < _BESIDE)


def _places(level: int, high: list[Mode], told: Notation) -> Diagnostic:
    some = [{"place": told.words(m.point), "density": float(m.density)} for m in high[:_TOLD]]
    more = len(high) - len(some)
    code = "densest_places_and_more" if more else "densest_places"
    return Diagnostic(code, data={"of_level": int(level), "places": some, "more": more})
