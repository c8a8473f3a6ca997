"""The fingerprint: one bar per level, as high as the information it adds, with its uncertainty."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import numpy as np

from steradian.arguments import checked_profile, checked_result
from steradian.diagnostics import LIKELY_BELOW
from steradian.errors import SteradianError
from steradian.numerics.arrays import Array, IntArray
from steradian.plots.canvas import (
    axes_for,
    finished,
    frame,
    legend_below,
    new_page,
    settled,
    wrapped,
)
from steradian.plots.level_layout import (
    asked,
    gap_tests,
    gaps_finding,
    kept_apart,
    lines_apart,
    round_ticks,
)
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
from steradian.references.base import reference_words
from steradian.text.messages import TESTS
from steradian.text.numbers import digits, pvalue_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.comparison import Comparison
    from steradian.decomposition import Profile
    from steradian.inference.gap_tests import GapTests
    from steradian.inference.group_intervals import BetweenIntervals
    from steradian.inference.group_tests import ComparisonTests
    from steradian.inference.intervals import GapIntervals

    _Ends: TypeAlias = GapIntervals | BetweenIntervals

_WIDTH, _FLOOR = 0.56, 0.86  # of a bar and of its noise floor, of the step between levels
_SIDE = 0.6  # from the first and last level to the ends of the axis, levels or lines of text
_WORDY = 5  # levels up to which there is room for words
_LETTERS = 40  # of all names of levels side by side, at the width of a column
_HEIGHT, _HEIGHT_OF_MANY = 2.7, 3.1  # inches
_HEADROOM = 1.3  # above the highest mark, for numbers
_UPRIGHT, _UPRIGHT_OF_MANY = 1.75, 2.1  # the same for numbers that stand upright
_ALWAYS = 8  # levels up to which each has its number
_LARGE = 0.1  # of the largest value, from which one of many has its number
_MOST_TICKS = 15


def gaps(
    profile: Profile,
    ax: Axes | None = None,
    *,
    confidence: float = 0.95,
    compact: bool = False,
    top: float | None = None,
) -> Axes:
    """Draw the gaps I_L of a profile with intervals, noise floor and p-values.

    Bars are the information that each level adds, whiskers its interval, the grey band what noise
    alone would give on average; p-values are Holm's. A design that defines no inference has
    neither, and stems instead of bars.

    Parameters
    ----------
    profile : Profile
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    confidence : float
        Of the intervals.
    compact : bool
        Values, intervals and noise alone, for many small axes: no words and no p-values.
    top : float, optional
        The largest gap that the axis has room for, in nats, to compare several profiles.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.gaps(p)  # doctest: +SKIP
    """
    checked_profile(profile)
    ax = axes_for(ax, height=_HEIGHT if len(profile.levels) <= _ALWAYS else _HEIGHT_OF_MANY)
    ax.set_ylabel("information gap $I_L$ (nats)")
    intervals = asked(profile, "intervals", confidence)
    tests = None if compact else gap_tests(profile)
    names = profile.moments.hierarchy.level_names[: len(profile.levels)]
    _bars(ax, profile, intervals)
    floor = noise_floor(ax, profile.levels, profile.noise)
    ends = whiskers(ax, profile.levels, intervals)
    corrected = None if tests is None else tests.pvalue_holm
    tops = np.fmax(np.fmax(profile.gaps, floor), ends)
    level_numbers(ax, profile.gaps, tops, corrected)
    level_ticks(ax, profile.levels, () if compact else names)
    if relative := reference_words(profile.moments.hierarchy.space):
        ax.set_xlabel(wrapped(ax, f"{ax.get_xlabel()}, relative to {relative}", TEXT))
    level_heights(ax, profile.gaps, np.fmax(floor, ends), top)
    if compact:
        frame(ax)
        return settled(ax)
    words = _legend(profile, intervals, tests, len(numbered(ax, profile.gaps, corrected)))
    return finished(ax, gaps_finding(names, profile.gaps, corrected), words)


def _bars(ax: Axes, profile: Profile, intervals: GapIntervals | None) -> None:
    colours = [level_colour(int(level)) for level in profile.levels]
    if intervals is not None:
        ax.bar(profile.levels, profile.gaps, _WIDTH, color=colours, zorder=2.0)
        return
    ax.vlines(profile.levels, 0.0, profile.gaps, colors=colours, linewidths=1.6, zorder=2.0)
    ax.scatter(profile.levels, profile.gaps, s=28, c=colours, zorder=3.0)


def noise_floor(ax: Axes, levels: IntArray, noise: Array) -> Array:
    """A grey band as high as noise, behind each bar; its heights, zero where nothing tells."""
    known = np.isfinite(noise)
    left, right = levels - 0.5 * _FLOOR, levels + 0.5 * _FLOOR
    for k in np.flatnonzero(known):
        ax.fill_between([left[k], right[k]], 0.0, noise[k], color=PALE, linewidth=0.0, zorder=1.0)
        ax.hlines(noise[k], left[k], right[k], colors=GREY, linewidths=0.8, zorder=3.0)
    return np.where(known, noise, 0.0)


def whiskers(ax: Axes, levels: IntArray, intervals: _Ends | None) -> Array:
    """From the low to the high end of each interval; the high ends, zero where there are none."""
    if intervals is None:
        return np.zeros(len(levels))
    known = np.isfinite(intervals.low) & np.isfinite(intervals.high)
    at, low, high = levels[known], intervals.low[known], intervals.high[known]
    ax.vlines(at, low, high, colors=INK, linewidths=1.0, zorder=4.0)
    for end in (low, high):
        ax.hlines(end, at - 0.07, at + 0.07, colors=INK, linewidths=1.0, zorder=4.0)
    return np.where(np.isfinite(intervals.high), intervals.high, 0.0)


def level_numbers(ax: Axes, values: Array, heights: Array, pvalues: Array | None) -> None:
    """The value of levels 1, 2, … and its p-value above everything that is drawn of it; where there
    are many levels, upright and the p-value alone, of so many that they overprint each other only
    of those in `numbered`.
    """
    crowded = len(values) > _WORDY
    for k in numbered(ax, values, pvalues):
        words = digits(float(values[k]))
        if pvalues is not None:
            tested = pvalue_words(float(pvalues[k]))
            words = tested if crowded else f"{words}\n{tested}"
        ax.annotate(
            words, (k + 1.0, max(float(heights[k]), 0.0)), xytext=(0.0, 3.0),
            textcoords="offset points", ha="center", va="bottom", fontsize=TEXT, color=INK,
            rotation=90.0 if crowded else 0.0,
        )  # fmt: skip


def numbered(ax: Axes, values: Array, pvalues: Array | None) -> IntArray:
    """Which levels have room for numbers: all of few, else those that are significant, the surest
    first; without p-values the largest.
    """
    count = len(values)
    apart = lines_apart(ax, count, upright=True)
    if count <= _ALWAYS or apart <= 1.0:
        return np.arange(count)
    if pvalues is None:
        worth = np.where(values >= _LARGE * values.max(), values, np.nan)
    else:
        worth = np.where(pvalues < LIKELY_BELOW, -pvalues, np.nan)
    return kept_apart(np.arange(float(count)), apart, worth)


def level_ticks(ax: Axes, levels: IntArray, names: tuple[str, ...]) -> None:
    """Levels below their bars, with their names where these are few."""
    count = len(levels)
    if count > _WORDY or not names:
        ax.set_xticks(round_ticks(levels, _MOST_TICKS))
        ax.set_xlabel("level L")
    else:
        letters = max(10, _LETTERS // count)
        words = [f"{k}\n{textwrap.fill(name, letters)}" for k, name in enumerate(names, start=1)]
        ax.set_xticks(levels, words)
        ax.set_xlabel("level L and what it sees")
    ax.tick_params(axis="x", length=0.0)
    side = _SIDE
    if count > _ALWAYS:  # upright words of the first and last level stay off the axis
        side = max(side, _SIDE * lines_apart(ax, count, upright=True))
    ax.set_xlim(1.0 - side, count + side)


def level_heights(ax: Axes, values: Array, marks: Array, top: float | None = None) -> None:
    """The axis of the values of levels, with room for numbers above all that is drawn."""
    highest = max(float(values.max()), float(marks.max()), 0.0) if top is None else top
    few, some = len(values) <= _WORDY, len(values) <= _ALWAYS
    room = _HEADROOM if few else _UPRIGHT if some else _UPRIGHT_OF_MANY
    ax.set_ylim(min(0.0, float(values.min())), room * highest or 1.0)
    ax.locator_params(axis="y", nbins=5)


def _of_pvalues(tests: GapTests, shown: int) -> str:
    """What the p-values are, which of many are shown, or why some are missing: they take long, or
    nobody can tell.
    """
    known = bool(np.isfinite(tests.pvalue).all())
    if shown == len(tests.pvalue):
        why = f"not computed; see {TESTS}" if tests.later else f"{TESTS} says why"
        return "p after Holm" if known else f"p –: {why}"
    told = int((tests.pvalue_holm < LIKELY_BELOW).sum())
    which = f"the {shown} smallest with room" if shown < told else "of significant levels"
    which = which if told else "none below 0.05"
    return f"p after Holm, {which}" + ("" if known else f"; {TESTS} has the rest")


def _legend(
    profile: Profile, intervals: GapIntervals | None, tests: GapTests | None, shown: int
) -> str:
    """What the marks are, or why there are none."""
    if intervals is None and tests is None:
        if profile.shrinkage is not None:
            return "shrunk data: no interval or p-value is defined"
        return f"design {profile.design.name}: no interval or p-value is defined"
    parts = []
    if intervals is not None and np.isfinite(intervals.high).any():
        parts.append(f"whiskers: {intervals.confidence:.0%} intervals")
    if np.isfinite(profile.noise).any():
        parts.append("grey: what noise alone gives")
    if tests is not None:
        parts.append(_of_pvalues(tests, shown))
    return "; ".join(parts)


_Found = TypeVar("_Found")
_SOME_NAMED = "; numbers of significant levels, where there is room"
_RATIOS, _PAGE_HEIGHT = (1.1, 1.0), 2.9  # of the two panels; inches


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
        left, right = new_page(_RATIOS, _PAGE_HEIGHT)
        group_gaps(comparison, right)
        return _between_bars(comparison, left)
    return _between_bars(comparison, axes_for(ax))


def _between_bars(comparison: Comparison, ax: Axes) -> Axes:
    levels, values = comparison.levels, comparison.between
    intervals, no_interval = _asked(comparison.intervals)
    tests, no_test = _asked(comparison.tests)
    pvalues = None if tests is None else tests.pvalue_holm
    ax.bar(levels, values, _WIDTH, color=[level_colour(int(k)) for k in levels], zorder=2.0)
    floor = noise_floor(ax, levels, comparison.noise)
    ends = whiskers(ax, levels, intervals)
    heights = np.fmax(np.fmax(values, 0.0), np.fmax(floor, ends))
    level_numbers(ax, values, heights, pvalues)
    level_ticks(ax, levels, comparison.hierarchy.level_names)
    level_heights(ax, values, heights)
    ax.set_ylabel("information between groups $C_l$ (nats)")
    why = no_interval or no_test or ("" if tests is None else _first_reason(tests))
    named = len(numbered(ax, values, pvalues)) == len(values)
    words = _between_legend(comparison, intervals, pvalues, why) + ("" if named else _SOME_NAMED)
    return finished(ax, _between_finding(comparison, pvalues), words)


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
    return finished(ax, _held(found.sum(axis=1)))


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


def _between_finding(comparison: Comparison, pvalues: Array | None) -> str:
    if pvalues is None:
        return f"{digits(comparison.total)} nats tell the groups apart"
    return comparison.headline


def _between_legend(
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
