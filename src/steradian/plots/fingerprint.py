"""The fingerprint: one bar per level, as high as the information it adds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steradian.plots.canvas import axes_for, colour, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.profile import Profile

_HEADROOM = 1.15  # above the highest bar, for its value


def fingerprint(profile: Profile, ax: Axes | None = None, *, top: float | None = None) -> Axes:
    """Draw the gaps I_L of a profile as bars with their values, in nats.

    Parameters
    ----------
    profile : Profile
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    top : float, optional
        Height of the axis, to compare several profiles; by default it fits the bars.
    """
    ax = axes_for(ax)
    levels, gaps = profile.levels, profile.gaps
    bars = ax.bar(levels, gaps, width=0.6, color=[colour(int(k) - 1) for k in levels])
    ax.bar_label(bars, [f"{gap:.3f}" for gap in gaps], padding=2, fontsize="small")
    ax.set_xticks(levels)
    ax.locator_params(axis="y", nbins=5)
    ax.set_xlabel("level L")
    ax.set_ylabel("information gap $I_L$ (nats)")
    highest = max(float(gaps.max()), 0.0) if top is None else top
    ax.set_ylim(min(0.0, float(gaps.min())), _HEADROOM * (highest or 1.0))
    frame(ax)
    return ax
