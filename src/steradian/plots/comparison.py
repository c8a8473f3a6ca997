"""What tells groups apart, level by level, beside what each group holds."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from steradian.errors import SteradianError
from steradian.plots.canvas import axes_for, frame, new_page, note, settled, titled
from steradian.plots.palette import (
    GREY,
    GROUPS,
    INK,
    PALE,
    TEXT,
    group_colour,
    group_marker,
    level_colour,
)
from steradian.wording import digits, pvalue_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.estimation.label_intervals import BetweenIntervals
    from steradian.numerics.arrays import Array
    from steradian.profile.comparison import Comparison

_HEADROOM = 1.3
_LISTED = 6  # groups in one column of the legend
_MOST_LEGEND = 0.6  # of the height of the axes
_WIDTH, _FLOOR = 0.56, 0.86  # of a bar and of its noise floor
_LETTERS = 16  # of the name of a level on one line
_RATIOS, _HEIGHT = (1.1, 1.0), 2.9  # of the two panels; inches


def between(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw C_l of a comparison with intervals, noise floor and p-values.

    Without axes, beside the gaps of every group, where these are few.

    Parameters
    ----------
    comparison : Comparison
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.examples.load("mcmurdo")
    >>> c = sr.compare(x, by=np.where(x.x[:, 2] > 0, "down", "up"))
    >>> ax = sr.plots.between(c)  # doctest: +SKIP
    """
    if ax is None and len(comparison.names) <= len(GROUPS):
        left, right = new_page(_RATIOS, _HEIGHT)
        group_gaps(comparison, right)
        return _bars(comparison, left)
    return _bars(comparison, axes_for(ax))


def _bars(comparison: Comparison, ax: Axes) -> Axes:
    levels, values = comparison.levels, comparison.between
    intervals, pvalues = _inference(comparison)
    ax.bar(levels, values, _WIDTH, color=[level_colour(int(k)) for k in levels], zorder=2.0)
    heights = np.maximum(values, 0.0)
    noise = comparison.noise
    for k in np.flatnonzero(np.isfinite(noise)):
        left, right = levels[k] - 0.5 * _FLOOR, levels[k] + 0.5 * _FLOOR
        ax.fill_between([left, right], 0.0, noise[k], color=PALE, linewidth=0.0, zorder=1.0)
        ax.hlines(noise[k], left, right, colors=GREY, linewidths=0.8, zorder=3.0)
        heights[k] = max(heights[k], noise[k])
    if intervals is not None:
        ax.vlines(levels, intervals.low, intervals.high, colors=INK, linewidths=1.0, zorder=4.0)
        for end in (intervals.low, intervals.high):
            ax.hlines(end, levels - 0.07, levels + 0.07, colors=INK, linewidths=1.0, zorder=4.0)
        heights = np.fmax(heights, intervals.high)
    for place, level in enumerate(levels):
        words = digits(float(values[place]))
        words += "" if pvalues is None else f"\n{pvalue_words(float(pvalues[place]))}"
        ax.annotate(
            words, (float(level), float(heights[place])), xytext=(0.0, 3.0),
            textcoords="offset points", ha="center", va="bottom", fontsize=TEXT, color=INK,
        )  # fmt: skip
    _level_ticks(comparison, ax)
    ax.set_ylim(min(0.0, float(values.min())), _HEADROOM * float(heights.max()) or 1.0)
    ax.set_ylabel("information between groups $C_l$ (nats)")
    titled(ax, _finding(comparison, pvalues))
    note(ax, _legend(comparison, intervals, pvalues))
    frame(ax)
    return settled(ax)


def group_gaps(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the gaps I_l of every group, each in its own colour and with its own marker."""
    ax = axes_for(ax)
    found, count = comparison.sample.groups.gaps, len(comparison.names)
    step = 0.5 / max(count - 1, 1)
    for g, name in enumerate(comparison.names):
        at = comparison.levels + (g - 0.5 * (count - 1)) * step
        ax.vlines(at, 0.0, found[g], colors=group_colour(g), linewidths=1.0, alpha=0.6)
        label = f"{textwrap.shorten(name, 24)} (n = {comparison.sizes[g]:,})"
        ax.plot(
            at, found[g], linestyle="none", marker=group_marker(g), color=group_colour(g),
            markersize=5.0, label=label,
        )  # fmt: skip
    _level_ticks(comparison, ax)
    columns = 1 if count <= _LISTED else 2
    room = 1.0 / (1.0 - min(_MOST_LEGEND, _lines(ax, -(-count // columns))))
    ax.set_ylim(min(0.0, float(found.min())), max(_HEADROOM, room) * float(found.max()))
    ax.set_ylabel("information gap $I_l$ of the group (nats)")
    ax.legend(frameon=False, fontsize=TEXT, loc="upper right", ncols=columns)
    titled(ax, "What each group holds")
    frame(ax)
    return settled(ax)


def _lines(ax: Axes, count: int) -> float:
    """So many lines of a legend, in heights of the axes."""
    points = 72.0 * ax.get_window_extent().height / ax.figure.dpi
    return (1.55 * count + 1.8) * TEXT / points


def _level_ticks(comparison: Comparison, ax: Axes) -> None:
    names = comparison.hierarchy.level_names
    words = [f"{k}\n{textwrap.fill(name, _LETTERS)}" for k, name in enumerate(names, start=1)]
    ax.set_xticks(comparison.levels, words)
    ax.tick_params(axis="x", length=0.0)
    ax.set_xlim(0.4, len(names) + 0.6)
    ax.set_xlabel("level and what it sees")


def _inference(comparison: Comparison) -> tuple[BetweenIntervals | None, Array | None]:
    """Intervals and corrected p-values, where there are any."""
    try:
        return comparison.intervals(), comparison.tests().pvalue_holm
    except SteradianError:
        return None, None


def _finding(comparison: Comparison, pvalues: Array | None) -> str:
    if pvalues is None:
        return f"{digits(comparison.total)} nats tell the groups apart"
    return comparison.headline


def _legend(
    comparison: Comparison, intervals: BetweenIntervals | None, pvalues: Array | None
) -> str:
    parts = []
    if intervals is not None:
        parts.append(f"whiskers: {intervals.confidence:.0%} intervals")
    if np.isfinite(comparison.noise).any():
        parts.append("grey: what noise alone gives")
    if pvalues is not None:
        parts.append("p with Holm's correction")
    return "; ".join(parts) or f"design {comparison.design.name}: no interval or p-value is defined"
