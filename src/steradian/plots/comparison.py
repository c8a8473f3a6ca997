"""What tells groups apart, level by level, beside what each group holds."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

import numpy as np

from steradian.arguments import checked_result
from steradian.errors import SteradianError
from steradian.plots.canvas import (
    axes_for,
    frame,
    legend_below,
    new_page,
    note,
    settled,
    titled,
)
from steradian.plots.gap_bars import level_heights, level_numbers, level_ticks, numbered
from steradian.plots.palette import (
    GREY,
    GROUPS,
    INK,
    PALE,
    group_colour,
    group_marker,
    level_colour,
)
from steradian.text.numbers import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.comparison import Comparison
    from steradian.inference.group_intervals import BetweenIntervals
    from steradian.inference.group_tests import ComparisonTests
    from steradian.numerics.arrays import Array

_Found = TypeVar("_Found")
_HEADROOM = 1.3
_WIDTH, _FLOOR = 0.56, 0.86  # of a bar and of its noise floor
_SOME_NAMED = "; numbers of significant levels, where there is room"
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
    checked_result(comparison, "between", "compare()")
    if ax is None and len(comparison.names) <= len(GROUPS):
        left, right = new_page(_RATIOS, _HEIGHT)
        group_gaps(comparison, right)
        return _bars(comparison, left)
    return _bars(comparison, axes_for(ax))


def _bars(comparison: Comparison, ax: Axes) -> Axes:
    levels, values = comparison.levels, comparison.between
    intervals, no_interval = _asked(comparison.intervals)
    tests, no_test = _asked(comparison.tests)
    pvalues = None if tests is None else tests.pvalue_holm
    ax.bar(levels, values, _WIDTH, color=[level_colour(int(k)) for k in levels], zorder=2.0)
    heights = _marks(ax, comparison, intervals)
    level_numbers(ax, values, heights, pvalues)
    level_ticks(ax, levels, comparison.hierarchy.level_names)
    level_heights(ax, values, heights)
    ax.set_ylabel("information between groups $C_l$ (nats)")
    titled(ax, _finding(comparison, pvalues))
    why = no_interval or no_test or ("" if tests is None else _first_reason(tests))
    named = len(numbered(ax, values, pvalues)) == len(values)
    note(ax, _legend(comparison, intervals, pvalues, why) + ("" if named else _SOME_NAMED))
    frame(ax)
    return settled(ax)


def _marks(ax: Axes, comparison: Comparison, intervals: BetweenIntervals | None) -> Array:
    """Noise floor and whiskers; how high all that is drawn of a level reaches."""
    levels, noise = comparison.levels, comparison.noise
    heights = np.maximum(comparison.between, 0.0)
    for k in np.flatnonzero(np.isfinite(noise)):
        left, right = levels[k] - 0.5 * _FLOOR, levels[k] + 0.5 * _FLOOR
        ax.fill_between([left, right], 0.0, noise[k], color=PALE, linewidth=0.0, zorder=1.0)
        ax.hlines(noise[k], left, right, colors=GREY, linewidths=0.8, zorder=3.0)
        heights[k] = max(heights[k], noise[k])
    if intervals is None:
        return heights
    ax.vlines(levels, intervals.low, intervals.high, colors=INK, linewidths=1.0, zorder=4.0)
    for end in (intervals.low, intervals.high):
        ax.hlines(end, levels - 0.07, levels + 0.07, colors=INK, linewidths=1.0, zorder=4.0)
    return np.asarray(np.fmax(heights, intervals.high))


def group_gaps(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw the gaps I_l of every group, each in its own colour and with its own marker."""
    checked_result(comparison, "between", "compare()")
    ax = axes_for(ax)
    found, count = comparison.sample.groups.gaps, len(comparison.names)
    step = 0.5 / max(count - 1, 1)
    for g, name in enumerate(comparison.names):
        at = comparison.levels + (g - 0.5 * (count - 1)) * step
        ax.vlines(at, 0.0, found[g], colors=group_colour(g), linewidths=1.0, alpha=0.6)
        label = f"{textwrap.shorten(name, 24)} (n = {comparison.sizes[g]:,})"
        ax.plot(
            at, found[g], linestyle="none", marker=group_marker(g), color=group_colour(g),
            markersize=5.0, label=label, clip_on=False,
        )  # fmt: skip
    level_ticks(ax, comparison.levels, comparison.hierarchy.level_names)
    ax.set_ylim(min(0.0, float(found.min())), _HEADROOM * float(found.max()) or 1.0)
    ax.set_ylabel("information gap $I_l$ of the group (nats)")
    legend_below(ax)
    titled(ax, _held(found.sum(axis=1)))
    frame(ax)
    return settled(ax)


def _held(totals: Array) -> str:
    """How many nats the groups hold, each by itself."""
    low, high = digits(float(totals.min())), digits(float(totals.max()))
    size = f"{low} nats" if low == high else f"{low} to {high} nats"
    return f"Each group by itself holds {size}"


def _asked(method: Callable[[], _Found]) -> tuple[_Found | None, str]:
    """What a method answers, or why it does not."""
    try:
        return method(), ""
    except SteradianError as error:
        return None, str(error)


def _first_reason(tests: ComparisonTests) -> str:
    """Why a level has no p-value, without its name."""
    known = (one.words for one in tests.diagnostics if one.level and "part" not in one.data)
    return next(known, "")


def _finding(comparison: Comparison, pvalues: Array | None) -> str:
    if pvalues is None:
        return f"{digits(comparison.total)} nats tell the groups apart"
    return comparison.headline


def _legend(
    comparison: Comparison, intervals: BetweenIntervals | None, pvalues: Array | None, why: str
) -> str:
    """What the marks are, or why there are none."""
    if not comparison.design.defines_inference:
        return f"design {comparison.design.name}: no interval or p-value is defined"
    parts, missing = [], []
    if intervals is not None:
        parts.append(f"whiskers: {intervals.confidence:.0%} intervals")
    else:
        missing.append("interval")
    if np.isfinite(comparison.noise).any():
        parts.append("grey: what noise alone gives")
    if pvalues is not None and np.isfinite(pvalues).any():
        parts.append("p with Holm's correction")
    else:
        missing.append("p-value")
    if missing and why:
        parts.append(f"no {' or '.join(missing)}: {why}")
    return "; ".join(parts)
