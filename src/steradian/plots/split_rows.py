"""Gaps over several splits of a sample: each one, their median, and how far they spread."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.plots.canvas import axes_for, frame, note, settled, titled
from steradian.plots.level_rows import beside, nats_from_zero, row_axes, unnamed
from steradian.plots.palette import INK, level_colour
from steradian.text.numbers import counted, digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.splits import SplitProfile

_HALF = 0.18  # of a row, over which splits are laid out
_DOT = 14.0  # square points


def split_gaps(profile: SplitProfile, ax: Axes | None = None) -> Axes:
    """Draw the gaps of every split, their medians, and the smallest and largest of each level.

    Parameters
    ----------
    profile : SplitProfile
        Of `steradian.profile` with a hierarchy that some of the rows choose.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.Directions(np.random.default_rng(0).normal(1, 1, (200, 8)), normalize=True)
    >>> p = sr.profile(x, hierarchy=sr.LowRank("pca", 2, split=0.5))
    >>> ax = sr.plots.split_gaps(p)  # doctest: +SKIP
    """
    checked_result(profile, "split_gaps", "profile() over splits")
    ax = row_axes(ax if ax is None else axes_for(ax), profile.levels)
    found, medians = profile.split_gaps, profile.gaps
    across = np.linspace(-_HALF, _HALF, len(found)) if len(found) > 1 else np.zeros(1)
    for k, level in enumerate(profile.levels.tolist()):
        colour, seen = level_colour(level), found[:, k]
        ax.hlines(level, seen.min(), seen.max(), colors=colour, linewidths=1.2, zorder=2.0)
        ax.scatter(seen, level + across, s=_DOT, color=colour, alpha=0.5, linewidths=0, zorder=3.0)
        ax.plot(medians[k], level, "D", color=INK, markersize=5.5, zorder=4.0)
        beside(ax, level, f"{digits(float(seen.min()))} to {digits(float(seen.max()))}")
    nats_from_zero(ax)
    top = int(np.argmax(medians))
    many = counted(len(found), "split")
    size = f"a median of {digits(float(medians[top]))} nats over {many}"
    which = "The gap" if len(medians) == 1 else "The largest gap,"
    comma = "" if len(medians) == 1 else ","
    titled(ax, f"{which} $I_{{{top + 1}}}${comma} has {size}")
    words = "dots: splits; diamond: their median; numbers: smallest to largest, no interval"
    note(ax, words + unnamed(ax, profile.levels))
    frame(ax)
    return settled(ax)
