"""Levels as rows: p-values, intervals, replicates and splits; criteria of order below levels."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.diagnostics import CLEAR_BELOW, LIKELY_BELOW, Verdict, verdict_of
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.plots.canvas import axes_for, finished
from steradian.plots.level_layout import kept_apart, lines_apart
from steradian.plots.palette import COLUMN, GREY, INK, PAGE, PALE, TEXT, level_colour
from steradian.text.numbers import (
    capital,
    counted,
    digits,
    levels_in_words,
    pvalue_number,
    pvalue_words,
    to_be,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.inference.bootstrap import Bootstrap
    from steradian.inference.gap_tests import GapTests
    from steradian.inference.intervals import GapIntervals
    from steradian.inference.order import OrderChoice
    from steradian.splits import SplitProfile


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
    legend = "filled: after Holm, open: alone; grey: not significant; dotted: 0.001"
    found = _verdicts(tests.levels, tests.pvalue_holm)
    return finished(ax, found, legend + unnamed(ax, tests.levels))


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
    what = f"{intervals.confidence:.0%} intervals; dot: the gap"
    words = f"{what}; diamond: less its bias, from 0 on{unnamed(ax, intervals.levels)}"
    return finished(ax, _clear_of_zero(intervals), words)


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
        words = f"grey: {count} with a gap of zero; diamond: the sample; p of each level alone"
        return finished(ax, f"{gap} of {size} nats has {p} under the null", words + some)
    found = f"{gap} is {size} ± {digits(float(bootstrap.se[top]))} nats (standard error)"
    words = f"hills: {count}; diamond: the sample; line: 95% interval"
    return finished(ax, found, words + some)


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


_HALF_OF_SPLITS = 0.18  # of a row, over which splits are laid out
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
    across = (
        np.linspace(-_HALF_OF_SPLITS, _HALF_OF_SPLITS, len(found))
        if len(found) > 1
        else np.zeros(1)
    )
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
    words = "dots: splits; diamond: their median; numbers: smallest to largest, no interval"
    finding = f"{which} $I_{{{top + 1}}}${comma} has {size}"
    return finished(ax, finding, words + unnamed(ax, profile.levels))


_CRITERIA = (
    ("residual", "residual p", "residual_pvalue"),
    ("holm", "gap p (Holm)", "holm_pvalue"),
    ("aic", "AIC (nats)", "aic"),
    ("bic", "BIC (nats)", "bic"),
    ("tic", "TIC (nats)", "tic"),
    ("held_out", "held out (nats)", "held_out"),
)
_NAMES = 1.25  # inches beside the table
_MOST = 10  # levels that a page shows
_TINT = 0.22  # of the colour of a level behind the criterion's choice


def order_criteria(order: OrderChoice, ax: Axes | None = None) -> Axes:
    """Draw the level that each criterion chooses, with the numbers it chooses by.

    AIC, BIC, TIC and the held-out score are less their best, so that the choice is 0; the held-out
    score has the standard error of that difference.

    Parameters
    ----------
    order : OrderChoice
        Of `choose_order`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.order_criteria(sr.choose_order(p))  # doctest: +SKIP
    """
    from matplotlib.patches import Rectangle

    checked_result(order, "held_out_se", "choose_order()")
    shown = _columns(order)
    count = len(shown)
    ax = axes_for(ax, min(max(COLUMN, 1.2 + 0.62 * count), PAGE), 2.9)
    for row, (name, _, column) in enumerate(_CRITERIA):
        cells = _cells(order, name, getattr(order, column))
        chosen = order.chosen[name]
        for k, level in enumerate(order.levels[shown].tolist()):
            best = chosen is not None and level == chosen
            if best:
                box = Rectangle((k - 0.5, row - 0.5), 1.0, 1.0)
                box.set(color=level_colour(level), alpha=_TINT, linewidth=0.0)
                ax.add_patch(box)
            ax.text(
                k, row, cells[shown[k]], ha="center", va="center", fontsize=TEXT,
                color=INK if best else GREY, fontweight="bold" if best else "normal",
            )  # fmt: skip
    ax.set(xlim=(-0.5, count - 0.5), ylim=(len(_CRITERIA) - 0.5, -0.5))
    ax.set_xticks(range(count), [str(level) for level in order.levels[shown]])
    ax.set_yticks(range(len(_CRITERIA)), [words for _, words, _ in _CRITERIA])
    ax.tick_params(length=0.0)
    ax.hlines(
        np.arange(1, len(_CRITERIA)) - 0.5, -0.5, count - 0.5, colors="#DDDDDD", linewidths=0.6
    )
    ax.spines[:].set_visible(False)
    ax.set_xlabel("level L (0 is uniform)")
    ax.set_ylabel("criterion")
    legend = f"tinted: the choice; p against {order.alpha:g}; other rows: distance from the best"
    if count < len(order.levels):
        left_out = np.flatnonzero(np.diff(shown) > 1) + 0.5
        ax.vlines(left_out, -0.5, len(_CRITERIA) - 0.5, colors=GREY, linewidths=0.8, linestyles=":")
        legend += f"; {count} of {len(order.levels)} levels, dotted where some are left out"
    return finished(ax, _order_finding(order), legend, _NAMES)


def _columns(order: OrderChoice) -> IntArray:
    """Which levels are shown: all that a page has room for, of more the first, the last, and those
    that are or are nearest to a choice.
    """
    count = len(order.levels)
    chosen = [level for level in order.chosen.values() if level is not None]
    marks = [0, count - 1, *np.flatnonzero(np.isin(order.levels, chosen))]
    away = np.abs(np.subtract.outer(np.arange(count), marks))
    away[:, 1] += (away[:, 1] > 0) * count  # nobody chose the last: its neighbours are no news
    return np.sort(np.argsort(away.min(axis=1), kind="stable")[:_MOST])


def _cells(order: OrderChoice, name: str, values: Array) -> list[str]:
    """The numbers of one criterion."""
    if name in ("residual", "holm"):
        return [pvalue_number(float(p)) for p in values]
    if np.isnan(values).all():
        return ["–"] * len(values)
    less = values - np.nanmax(values)
    if name != "held_out":
        return [digits(float(v)).replace("-", "−") for v in less]
    return [
        digits(float(v), 2).replace("-", "−") + (f"\n± {digits(float(se), 2)}" if se > 0.0 else "")
        for v, se in zip(less, order.held_out_se, strict=True)
    ]


def _order_finding(order: OrderChoice) -> str:
    chosen = [level for level in order.chosen.values() if level is not None]
    if not chosen:
        return "No criterion can tell how many levels there are"
    many = sorted(set(chosen))
    common = max(many, key=chosen.count)
    last = ", the highest tried" if common == int(order.levels[-1]) else ""
    if len(many) == 1:
        return f"Every criterion that can tell chooses {levels_in_words(many)}{last}"
    found = f"{chosen.count(common)} of {len(chosen)} criteria choose {levels_in_words([common])}"
    return f"{found}{last}"
