"""Where a profile is densest, in the words of the data: what a mean direction hides."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.profile.principal_axes import girdle_in_words, second_moment
from steradian.references.base import log_reference
from steradian.spaces.base import chart_of

if TYPE_CHECKING:
    from steradian.data.notation import Notation
    from steradian.fitting.maxent import MaxEntFit
    from steradian.fitting.modes import Mode
    from steradian.numerics.arrays import Array
    from steradian.profile.level_table import LevelTable
    from steradian.profile.profile import Profile

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
    points = np.array([mode.point for mode in fit.modes])
    raised = fit.logpdf(points, measure="reference") > 0.0
    above = [m for m, up in zip(fit.modes, raised, strict=True) if up and m.log_density > 0.0]
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
