"""What each level leaves over, degree by degree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.diagnostics import CLEAR_BELOW, LIKELY_BELOW
from steradian.plots.canvas import axes_for, frame, legend_below, settled, titled
from steradian.plots.palette import COLUMN, GREY, PAGE, level_colour
from steradian.plots.thinning import LINE, levels_up_to, names_that_fit, round_ticks
from steradian.text.numbers import digits, pvalue_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.adequacy.residuals import Residuals

_MANY = 24  # degrees from which the picture is as wide as a page, and its marks are small
_MOST_TICKS = 15
_HEIGHT = 2.35  # inches without the legend
_HEADROOM = 1.1
_SPREAD = 0.6  # of a degree over which the levels stand side by side


def residual_spectrum(residuals: Residuals, ax: Axes | None = None) -> Axes:
    """Draw what each degree adds to the squared residual of each level, with its p-value.

    Parameters
    ----------
    residuals : Residuals
        Of `Profile.residuals`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> ax = sr.plots.residual_spectrum(p.residuals())  # doctest: +SKIP
    """
    checked_result(residuals, "contributions", "Profile.residuals()")
    rows, degrees = _rows(residuals), np.arange(1, residuals.degree + 1)
    many = len(degrees) > _MANY
    ax = axes_for(ax, PAGE if many else COLUMN, _HEIGHT + len(rows) * LINE / 72.0)
    step, size = _SPREAD / max(len(rows), 1), 0.5 if many else 1.0
    for place, k in enumerate(rows):
        level = int(residuals.levels[k])
        above = degrees > level
        at = degrees[above] + (place - 0.5 * (len(rows) - 1)) * step
        values = residuals.contributions[k, above]
        colour = level_colour(level)
        ax.vlines(at, 0.0, values, colors=colour, linewidths=1.4 * size)
        ax.plot(at, values, "o", color=colour, markersize=4.0 * size, label=_entry(residuals, k))
    ax.set_xlim(0.5, residuals.degree + 0.5)
    _ticks(ax, residuals)
    highest = float(np.nanmax(residuals.contributions[rows], initial=0.0)) or 1.0
    ax.set_ylim(0.0, _HEADROOM * highest)
    ax.set_ylabel("left over, squared (no unit)")
    if rows:
        legend_below(ax)
    titled(ax, _finding(residuals, rows))
    frame(ax)
    return settled(ax)


def _rows(residuals: Residuals) -> list[int]:
    """Which levels are drawn: those that look at a degree, of many the ones that are told apart."""
    below = [int(level) for level in residuals.levels if level < residuals.degree]
    shown = levels_up_to(max(below, default=0))
    return [k for k, level in enumerate(residuals.levels) if level in shown]


def _pvalue(residuals: Residuals, k: int) -> float:
    """NaN under a design that defines none."""
    if not residuals.of_design.defines_inference:
        return float("nan")
    return float(residuals.pvalue[k])


def _entry(residuals: Residuals, k: int) -> str:
    size = digits(float(residuals.values[k]))
    return f"above level {residuals.levels[k]}: {size} ({pvalue_words(_pvalue(residuals, k))})"


def _ticks(ax: Axes, residuals: Residuals) -> None:
    degrees = np.arange(1, residuals.degree + 1)
    if names := names_that_fit(ax, residuals.level_names):
        ax.set_xticks(degrees, [f"{k}\n{name}" for k, name in enumerate(names, start=1)])
    else:
        ax.set_xticks(round_ticks(degrees, _MOST_TICKS))
    ax.set_xlabel(f"{residuals.kind} of the features left out")
    ax.tick_params(axis="x", length=0.0, labelcolor=GREY)


def _finding(residuals: Residuals, rows: list[int]) -> str:
    """What the highest level leaves over."""
    if not rows:
        return f"Nothing above {residuals.through} was looked at"
    k = rows[-1]
    level, p = int(residuals.levels[k]), _pvalue(residuals, k)
    largest = int(np.argmax(residuals.contributions[k])) + 1
    if np.isnan(p):
        return f"Level {level} leaves most over at {residuals.at(largest)}; it is not testable"
    if p >= LIKELY_BELOW:
        return f"Level {level} leaves nothing over that is significant"
    how = "Clearly" if p < CLEAR_BELOW else "Likely"
    return f"{how} more structure above level {level}, most at {residuals.at(largest)}"
