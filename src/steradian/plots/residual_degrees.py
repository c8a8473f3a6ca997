"""What each level leaves over, degree by degree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.plots.canvas import axes_for, frame, settled, titled
from steradian.plots.palette import GREY, TEXT, level_colour
from steradian.wording import CLEAR_BELOW, LIKELY_BELOW, digits, pvalue_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.adequacy.residuals import Residuals

_MOST = 4  # levels that are told apart
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
    ax = axes_for(ax)
    rows = [k for k, level in enumerate(residuals.levels) if level < residuals.degree][-_MOST:]
    degrees = np.arange(1, residuals.degree + 1)
    step = _SPREAD / max(len(rows), 1)
    for place, k in enumerate(rows):
        level = int(residuals.levels[k])
        above = degrees > level
        at = degrees[above] + (place - 0.5 * (len(rows) - 1)) * step
        values = residuals.contributions[k, above]
        colour = level_colour(level)
        ax.vlines(at, 0.0, values, colors=colour, linewidths=1.4)
        ax.plot(at, values, "o", color=colour, markersize=4.0, label=_entry(residuals, k))
    ax.set_xlim(0.5, residuals.degree + 0.5)
    _ticks(ax, residuals)
    highest = float(np.nanmax(residuals.contributions, initial=0.0)) or 1.0
    ax.set_ylim(0.0, highest * (1.1 + 0.12 * len(rows)))
    ax.set_ylabel("left over, squared (no unit)")
    if rows:
        ax.legend(frameon=False, fontsize=TEXT, loc="upper right", handlelength=0.8, borderpad=0.0)
    titled(ax, _finding(residuals, rows))
    frame(ax)
    return settled(ax)


def _pvalue(residuals: Residuals, k: int) -> float:
    """NaN under a design that defines none."""
    if not residuals.of_design.defines_inference:
        return float("nan")
    return float(residuals.pvalue[k])


def _entry(residuals: Residuals, k: int) -> str:
    size = digits(float(residuals.values[k]))
    return f"above level {residuals.levels[k]}: {size} ({pvalue_words(_pvalue(residuals, k))})"


def _ticks(ax: Axes, residuals: Residuals) -> None:
    degrees = list(range(1, residuals.degree + 1))
    if residuals.level_names:
        ax.set_xticks(degrees, [f"{k}\n{residuals.level_names[k - 1]}" for k in degrees])
    else:
        ax.set_xticks(degrees[:: 1 + len(degrees) // 16])
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
        return f"Level {level} leaves most over at {residuals.at(largest)}; it cannot be judged"
    if p >= LIKELY_BELOW:
        return f"Level {level} leaves nothing over that is told apart from noise"
    how = "Clearly" if p < CLEAR_BELOW else "Likely"
    return f"{how} more structure above level {level}, most at {residuals.at(largest)}"
