"""Levels as rows: p-values, intervals and bootstrap replicates beside their names."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.diagnostics import CLEAR_BELOW, LIKELY_BELOW, Verdict, verdict_of
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.plots.canvas import axes_for, frame, note, settled, titled
from steradian.plots.palette import COLUMN, GREY, INK, PALE, TEXT, level_colour
from steradian.plots.thinning import kept_apart, lines_apart
from steradian.text.numbers import capital, digits, levels_in_words, pvalue_words, to_be

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.inference.bootstrap import Bootstrap
    from steradian.inference.gap_tests import GapTests
    from steradian.inference.intervals import GapIntervals

_DECADES = 16  # of p-values that are drawn; an arrow says that one is smaller
_AROUND, _ROW, _CLOSE_ROW = 1.35, 0.36, 0.16  # inches round the rows, and of a row
_HIGH, _PAGE_HIGH = 6.0, 9.0  # inches of a figure of some rows, and of many
_HALF = 0.34  # of a row, for replicates above its line
_BINS = 24
_FAR = 20.0  # times the replicates under the null, beyond which their hill is a line


def row_axes(ax: Axes | None, levels: IntArray, told: BoolArray | None = None) -> Axes:
    """Axes with one row for each level, the first on top.

    Of so many that their names overprint each other some are named: those in ``told``, (L,), first.
    """
    count = len(levels)
    ax = axes_for(ax, COLUMN, _height(count))
    ax.set_ylim(count + 0.6, 0.4)
    worth = np.zeros(count) if told is None else told.astype(np.float64)
    named = levels[
        kept_apart(np.arange(float(count)), lines_apart(ax, count, upright=False), worth)
    ]
    ax.set_yticks(named, [f"{level}" for level in named])
    ax.tick_params(axis="y", length=0.0, pad=6.0)  # beside marks that stand at zero
    ax.set_ylabel("level L")
    return ax


def _height(count: int) -> float:
    """Inches of a figure of so many rows: generous, then close, then as high as a page."""
    generous, close = _AROUND + _ROW * count, _AROUND + _CLOSE_ROW * count
    return max(min(generous, _HIGH), min(close, _PAGE_HIGH))


def unnamed(ax: Axes, levels: IntArray) -> str:
    """What a note says where rows have no name and no numbers, else nothing."""
    named = len(ax.get_yticks())
    return "" if named == len(levels) else f"; numbers of {named} of {len(levels)} levels"


def beside(ax: Axes, level: int, words: str) -> None:
    """Numbers of a row that has a name, right of the axes."""
    if level not in ax.get_yticks():
        return
    ax.annotate(
        words, (1.0, float(level)), xycoords=("axes fraction", "data"), xytext=(5.0, 0.0),
        textcoords="offset points", va="center", ha="left", fontsize=TEXT, color=INK,
    )  # fmt: skip


def nats_from_zero(ax: Axes) -> None:
    """The axis of gaps that were drawn, with zero at the left."""
    ax.set_xlim(0.0, 1.03 * ax.get_xlim()[1])  # marks of values that are close are whole
    ax.locator_params(axis="x", nbins=5)
    ax.set_xlabel("information gap $I_L$ (nats)")


def _interval(ax: Axes, level: int, ends: tuple[float, float], colour: str) -> None:
    """A bar with stops from end to end, and both in numbers beside it."""
    low, high = ends
    if np.isfinite(low) and np.isfinite(high):
        ax.hlines(level, low, high, colors=colour, linewidths=1.6, zorder=3.0)
        ax.vlines(
            [low, high], level - 0.12, level + 0.12, colors=colour, linewidths=1.2, zorder=3.0
        )
    beside(ax, level, f"{digits(low)} to {digits(high)}")


def gap_pvalues(tests: GapTests, ax: Axes | None = None) -> Axes:
    """Draw the p-value of each level, alone and after Holm's correction.

    Parameters
    ----------
    tests : GapTests
        Of `Profile.tests`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.gap_pvalues(p.tests())  # doctest: +SKIP
    """
    checked_result(tests, "pvalue_holm", "Profile.tests()")
    ax = row_axes(ax, tests.levels, tests.pvalue_holm < LIKELY_BELOW)
    ax.set_xscale("log")
    lowest = min(1e-4, float(np.nanmin(np.append(tests.pvalue, 1.0))))
    least = max(10.0**-_DECADES, 0.1 * lowest)
    ax.set_xlim(least * 0.5, 1.0)
    for at in (CLEAR_BELOW, LIKELY_BELOW):
        ax.axvline(at, color=GREY, linewidth=0.7, linestyle=":")
    ax.axvspan(LIKELY_BELOW, 1.0, color=PALE, alpha=0.5, linewidth=0.0)
    for level, alone, corrected in zip(tests.levels, tests.pvalue, tests.pvalue_holm, strict=True):
        beside(ax, level, pvalue_words(float(corrected)))
        if np.isnan(corrected):
            continue
        colour = level_colour(int(level))
        for p, filled in ((alone, False), (corrected, True)):
            mark = "<" if p < least else "o"
            face = colour if filled else "white"
            (point,) = ax.plot(max(float(p), least), level, mark, color=colour, mfc=face)
            point.set(markersize=5.5, clip_on=False)
    ax.set_xlabel("p-value of a gap of zero")
    titled(ax, _verdicts(tests.levels, tests.pvalue_holm))
    legend = "filled: after Holm, open: alone; grey: not significant; dotted: 0.001"
    note(ax, legend + unnamed(ax, tests.levels))
    frame(ax)
    return settled(ax)


def _verdicts(levels: IntArray, pvalues: Array) -> str:
    """Levels by what can be said of them."""
    said = [verdict_of(float(p)) for p in pvalues]
    parts = []
    for verdict in (one for one in Verdict if one in said):
        which = [int(level) for level, one in zip(levels, said, strict=True) if one is verdict]
        parts.append(f"{levels_in_words(which)} {to_be(which)} {verdict.words}")
    return capital("; ".join(parts))


def gap_intervals(intervals: GapIntervals, ax: Axes | None = None) -> Axes:
    """Draw the interval of each gap, with the gap and its debiased value.

    Parameters
    ----------
    intervals : GapIntervals
        Of `Profile.intervals`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.gap_intervals(p.intervals())  # doctest: +SKIP
    """
    checked_result(intervals, "clear_of_zero", "Profile.intervals()")
    ax = row_axes(ax, intervals.levels, intervals.clear_of_zero)
    for k, level in enumerate(intervals.levels):
        colour = level_colour(int(level))
        _interval(ax, level, (float(intervals.low[k]), float(intervals.high[k])), colour)
        (gap,) = ax.plot(intervals.gaps[k], level, "o", color=colour, markersize=5.5)
        (less,) = ax.plot(max(intervals.debiased[k], 0.0), level, "D", color=colour, mfc="white")
        gap.set(clip_on=False, zorder=4.0)
        less.set(clip_on=False, zorder=4.0, markersize=4.5)
    nats_from_zero(ax)
    titled(ax, _clear_of_zero(intervals))
    what = f"{intervals.confidence:.0%} intervals; dot: the gap"
    note(ax, f"{what}; diamond: less its bias, from 0 on{unnamed(ax, intervals.levels)}")
    frame(ax)
    return settled(ax)


def _clear_of_zero(intervals: GapIntervals) -> str:
    clear = [int(level) for level in intervals.levels[intervals.clear_of_zero]]
    if not clear:
        known = np.isfinite(intervals.high)
        if not known.any():
            return "No gap has an interval"
        return f"No gap is clear of zero: at most {digits(float(intervals.high[known].max()))} nats"
    top = int(np.argmax(np.where(intervals.clear_of_zero, intervals.gaps, -np.inf)))
    size = f"{digits(float(intervals.low[top]))} to {digits(float(intervals.high[top]))} nats"
    if len(clear) == 1:
        return f"The gap is clear of zero at {levels_in_words(clear)}: {size}"
    return f"The gaps are clear of zero at {levels_in_words(clear)}; the largest is {size}"


def bootstrap_replicates(bootstrap: Bootstrap, ax: Axes | None = None) -> Axes:
    """Draw the replicates of each gap, with the gap of the sample and what they say of it.

    Replicates under the null are grey, with the p-value of the gap beside them; those drawn by
    design have the colour of the level, with the 95% interval that they give.

    Parameters
    ----------
    bootstrap : Bootstrap
        Of `steradian.bootstrap`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=2)
    >>> ax = sr.plots.bootstrap_replicates(sr.bootstrap(p, replicates=99))  # doctest: +SKIP
    """
    checked_result(bootstrap, "under_null", "bootstrap()")
    levels = np.arange(1, len(bootstrap.observed) + 1)
    ax = row_axes(ax, levels)
    null = bootstrap.under_null
    low, high = (None, None) if null else bootstrap.interval()
    least = _least_drawn(bootstrap)
    for k, level in enumerate(levels.tolist()):
        colour = level_colour(int(level))
        _replicates(ax, bootstrap.gaps[:, k], level, GREY if null else colour, least)
        (sample,) = ax.plot(max(bootstrap.observed[k], least), level, "D", color=colour)
        sample.set(markersize=5.5, clip_on=False, zorder=4.0)
        if low is None or high is None:
            beside(ax, level, pvalue_words(float(bootstrap.pvalue[k])))
        else:
            _interval(ax, level, (float(low[k]), float(high[k])), INK)
    if least:
        ax.set_xscale("log")
        ax.set_xlim(left=least)
        ax.set_xlabel("information gap $I_L$ (nats)")
    else:
        nats_from_zero(ax)
    some = unnamed(ax, levels)
    count = f"{len(bootstrap.gaps):,} replicates ({bootstrap.kind})"
    top = int(np.argmax(bootstrap.observed))
    size = digits(float(bootstrap.observed[top]))
    gap = (
        f"The gap $I_{{{top + 1}}}$" if len(levels) == 1 else f"The largest gap, $I_{{{top + 1}}}$,"
    )
    if null:
        p = pvalue_words(float(bootstrap.pvalue[top]))
        titled(ax, f"{gap} of {size} nats has {p} under the null")
        note(
            ax,
            f"grey: {count} with a gap of zero; diamond: the sample; p of each level alone{some}",
        )
    else:
        titled(ax, f"{gap} is {size} ± {digits(float(bootstrap.se[top]))} nats (standard error)")
        note(ax, f"hills: {count}; diamond: the sample; line: 95% interval{some}")
    frame(ax)
    return settled(ax)


def _least_drawn(bootstrap: Bootstrap) -> float:
    """Where an axis of powers of ten begins; zero where a plain one shows the replicates.

    Under the null they may lie so far below the gap that nobody would see them.
    """
    known = bootstrap.gaps[np.isfinite(bootstrap.gaps) & (bootstrap.gaps > 0.0)]
    if not bootstrap.under_null or not len(known):
        return 0.0
    far = bootstrap.observed.max() > _FAR * np.quantile(known, 0.95)
    return float(np.quantile(known, 0.02)) if far else 0.0


def _replicates(ax: Axes, values: Array, level: int, colour: str, least: float) -> None:
    """A hill of the values, on the line of its level."""
    known = np.maximum(values[np.isfinite(values)], least)
    if not len(known):
        return
    ends = float(known.min()), float(known.max())
    bins = np.geomspace(*ends, _BINS + 1) if least and ends[0] < ends[1] else _BINS
    height, edges = np.histogram(known, bins=bins)
    hill = level - _HALF * height / height.max()
    ax.stairs(hill, edges, baseline=float(level), fill=True, color=colour, alpha=0.45, zorder=2.0)
