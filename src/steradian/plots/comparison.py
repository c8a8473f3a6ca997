"""What tells groups apart, one bar per level, with its interval and what noise gives."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import numpy as np

from steradian.errors import SteradianError
from steradian.plots.canvas import GREY, axes_for, frame, note, settled, titled
from steradian.plots.palette import level_colour
from steradian.wording import digits, pvalue_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.profile.comparison import Comparison

_HEADROOM = 1.25
_WIDTH = 0.6


def between_bars(comparison: Comparison, ax: Axes | None = None) -> Axes:
    """Draw C_l of a comparison as bars, with 95 % intervals, p-values and the noise floor.

    Parameters
    ----------
    comparison : Comparison
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    """
    ax = axes_for(ax)
    levels, between, noise = comparison.levels, comparison.between, comparison.noise
    colours = [level_colour(int(k)) for k in levels]
    ax.bar(levels, between, width=_WIDTH, color=colours)
    tops = between.copy()
    low, high, pvalues = _inference(comparison)
    if low is not None and high is not None:
        ends = np.array([between - np.minimum(low, between), np.maximum(high, between) - between])
        ax.errorbar(levels, between, yerr=ends, fmt="none", ecolor="black", capsize=3, lw=1)
        tops = np.maximum(high, between)
    for k, level in enumerate(levels):
        if np.isfinite(noise[k]):
            ax.fill_between(
                [level - 0.42, level + 0.42], 0.0, noise[k], color=GREY, alpha=0.35, lw=0,
            )  # fmt: skip
        text = digits(float(between[k])) + (f"\n{pvalues[k]}" if pvalues else "")
        ax.annotate(
            text, (float(level), float(tops[k])), xytext=(0, 3), textcoords="offset points",
            ha="center", va="bottom", fontsize=8,
        )  # fmt: skip
    names = comparison.hierarchy.level_names
    ax.set_xticks(
        levels,
        [f"{level}\n{textwrap.fill(name, 12)}" for level, name in zip(levels, names, strict=True)],
    )
    ax.set_xlabel("level")
    ax.set_ylabel("between groups, $C_l$ (nats)")
    ax.set_ylim(min(0.0, float(between.min())), _HEADROOM * (float(tops.max()) or 1.0))
    titled(ax, _title(comparison))
    if np.isfinite(noise).any():
        marks = "" if low is None else "whiskers: 95% intervals; "
        note(ax, f"{marks}grey: what noise alone gives on average")
    frame(ax)
    return settled(ax)


def _inference(c: Comparison) -> tuple[np.ndarray | None, np.ndarray | None, list[str]]:
    """Intervals and p-values in words, where there are any."""
    try:
        found, tests = c.intervals(), c.tests()
    except SteradianError:
        return None, None, []
    return (
        found.low,
        found.high,
        ["" if np.isnan(p) else pvalue_words(float(p)) for p in tests.pvalue],
    )


def _title(c: Comparison) -> str:
    groups = " – ".join(c.names) if len(c.names) <= 3 else f"{len(c.names)} groups"
    return f"{groups}: {digits(c.total)} nats between groups"
