"""Where the groups of a comparison point to, in the words of their rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steradian.errors import SteradianError
from steradian.inference.effort import SOON
from steradian.profile.principal_axes import axis_and_share, strongest_axis
from steradian.profile.summary import in_words, points_somewhere

if TYPE_CHECKING:
    from steradian.profile.comparison import Comparison
    from steradian.profile.profile import Profile

_STANDARD_ERRORS = 3.0  # at most, of a mean of uniform rows: a shorter one points nowhere
_MEAN, _AXIS = 1, 2  # levels that see the mean direction, and the axis
_MOST_ASKED = 8  # groups of which each is tested by itself


def pointing(profile: Profile) -> str:
    """Its mean direction where level 1 is significant, else the axis where level 2 is.

    Of axes without a sign the axis, which level 1 sees. Empty where neither is, or where nobody
    reads such directions. Where the design defines no test, a mean of three standard errors counts.
    """
    if points_somewhere(profile) and mean_is_clear(profile):
        return in_words(profile).lstrip(": ")
    told = _told(profile)
    if told is None:
        axis, _ = axis_and_share(profile)
        return f"axis {axis}" if axis else ""
    return strongest_axis(profile) if (_AXIS if profile.has_mean else _MEAN) in told else ""


def mean_is_clear(profile: Profile) -> bool:
    """Whether its mean has a direction: level 1 is significant."""
    told = _told(profile)
    if told is None:
        return bool(profile.resultant > _STANDARD_ERRORS * profile.ess**-0.5)
    return _MEAN in told


def _told(profile: Profile) -> tuple[int, ...] | None:
    """Significant levels; None where nothing is tested."""
    try:
        return profile.tests_within(SOON).told
    except SteradianError:
        return None


def without_mean(c: Comparison) -> list[str]:
    """Groups, of few, whose own mean is not significant: they have no direction."""
    if len(c.names) > _MOST_ASKED:
        return []
    profiles = {name: c.groups[name] for name in c.names}
    return [name for name, p in profiles.items() if p.has_mean and not mean_is_clear(p)]
