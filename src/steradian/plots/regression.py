"""What depends on a covariate: information of each level, and the fit along it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.errors import SteradianError
from steradian.plots.canvas import axes_for, finished, legend_below, new_page
from steradian.plots.gap_bars import (
    level_heights,
    level_numbers,
    level_ticks,
    noise_floor,
    whiskers,
)
from steradian.plots.palette import BLUE, GREY, PALE, level_colour
from steradian.text.numbers import digits, sentence

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.inference.covariate_intervals import Curve
    from steradian.regression import Regression

_WIDTH, _RATIOS, _HEIGHT = 0.56, (1.0, 1.15), 3.0
_ALPHA = 0.75


def along(regression: Regression, ax: Axes | None = None) -> Axes:
    """Draw C_l of a regression with intervals, noise floor and p-values.

    Without axes, beside the information of the fit along the covariate.

    Parameters
    ----------
    regression : Regression
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> x = sr.examples.load("mcmurdo")
    >>> r = sr.regress(x, on=x.x[:, 2])
    >>> ax = sr.plots.along(r)  # doctest: +SKIP
    """
    checked_result(regression, "simplest_functions", "regress()")
    if ax is not None or len(regression.basis.least) > 1:
        return _bars(regression, axes_for(ax))
    left, right = new_page(_RATIOS, _HEIGHT)
    information_along(regression, right)
    return _bars(regression, left)


def _bars(r: Regression, ax: Axes) -> Axes:
    intervals, pvalues, words = None, None, f"design {r.design.name}: no interval or p-value"
    if r.design.defines_inference:
        words = "whiskers: 95% intervals; grey: what noise alone gives; p with Holm's correction"
        intervals = r.intervals()
        try:
            pvalues = r.tests().pvalue_holm
        except SteradianError as error:
            words = str(error)
    ax.bar(r.levels, r.between, _WIDTH, color=[level_colour(int(k)) for k in r.levels], zorder=2.0)
    floor = noise_floor(ax, r.levels, r.noise)
    ends = whiskers(ax, r.levels, intervals)
    heights = np.fmax(np.fmax(r.between, 0.0), np.fmax(floor, ends))
    level_numbers(ax, r.between, heights, pvalues)
    level_ticks(ax, r.levels, r.hierarchy.level_names)
    level_heights(ax, r.between, heights)
    ax.set_ylabel("information along the covariate $C_l$ (nats)")
    return finished(ax, sentence(r.headline).removesuffix("."), words)


def information_along(regression: Regression, ax: Axes | None = None) -> Axes:
    """Draw I_l of the fit at each value of one covariate, one level upon the other."""
    checked_result(regression, "simplest_functions", "regress()")
    ax, c = axes_for(ax), regression.curve()
    z, top = np.asarray(c.z, dtype=np.float64), np.zeros(len(c.gaps))
    for k, level in enumerate(regression.levels):
        upper = top + np.maximum(c.gaps[:, k], 0.0)
        name = regression.hierarchy.level_names[k]
        colour = level_colour(int(level))
        ax.fill_between(z, top, upper, color=colour, alpha=_ALPHA, linewidth=0.0, label=name)
        top = upper
    ax.set_xlim(float(z.min()), float(z.max()))
    ax.set_xlabel(regression.on)
    ax.set_ylabel("information $I_l$ of the fit (nats)")
    _top(ax, c)
    legend_below(ax)
    ends = digits(float(c.deficit.min())), digits(float(c.deficit.max()))
    return finished(ax, f"The fit holds {ends[0]} to {ends[1]} nats along {regression.on}")


def _top(ax: Axes, c: Curve) -> None:
    """The band of the whole."""
    z = np.asarray(c.z, dtype=np.float64)
    if np.isfinite(c.deficit_high).all():
        for end in (c.deficit_low, c.deficit_high):
            ax.plot(z, end, color=GREY, linewidth=0.8, linestyle=":")
        ax.set_ylim(0.0, 1.08 * float(c.deficit_high.max()))


def mean_along(regression: Regression, ax: Axes | None = None) -> Axes:
    """Draw the mean resultant length along one covariate, with its pointwise band."""
    checked_result(regression, "simplest_functions", "regress()")
    ax, c = axes_for(ax), regression.curve()
    z = np.asarray(c.z, dtype=np.float64)
    if np.isfinite(c.resultant_low).all():
        ax.fill_between(z, c.resultant_low, c.resultant_high, color=PALE, linewidth=0.0)
    ax.plot(z, c.resultant, color=BLUE)
    ax.set_xlim(float(z.min()), float(z.max()))
    ax.set_ylim(0.0, 1.0)
    ax.set_xlabel(regression.on)
    ax.set_ylabel("mean resultant length")
    ends = digits(float(c.resultant.min())), digits(float(c.resultant.max()))
    words = f"band: {c.confidence:.0%}, pointwise"
    return finished(ax, f"Mean resultant length {ends[0]} to {ends[1]}", words)
