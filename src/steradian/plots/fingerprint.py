"""The fingerprint: one bar per level, as high as the information it adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steradian.plots.canvas import colour, frame
from steradian.references.base import reference_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.profile import Profile

_HEADROOM = 1.15  # above the highest bar, for its value


def fingerprint(ax: Axes, profile: Profile, *, top: float | None = None) -> Axes:
    """Draw the gaps I_L of a profile as bars with their values, in nats.

    Parameters
    ----------
    ax : matplotlib Axes
        Where.
    profile : Profile
        What.
    top : float, optional
        Height of the axis, to compare several profiles; by default it fits the bars.
    """
    levels, gaps = profile.levels, profile.gaps
    bars = ax.bar(levels, gaps, width=0.6, color=[colour(int(k) - 1) for k in levels])
    ax.bar_label(bars, [f"{gap:.3f}" for gap in gaps], padding=2, fontsize="small")
    ax.set_xticks(levels)
    ax.locator_params(axis="y", nbins=5)
    words = reference_words(profile.moments.hierarchy.space)
    ax.set_xlabel(f"level L, relative to {words}" if words else "level L")
    ax.set_ylabel("information gap $I_L$ (nats)")
    highest = max(float(gaps.max()), 0.0) if top is None else top
    ax.set_ylim(min(0.0, float(gaps.min())), _HEADROOM * (highest or 1.0))
    frame(ax)
    return ax
