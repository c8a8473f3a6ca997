"""What depends on a degree or a share: residuals, information per degree, sensitivity."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.diagnostics import CLEAR_BELOW, LIKELY_BELOW
from steradian.numerics.arrays import Array
from steradian.plots.canvas import axes_for, finished, legend_below
from steradian.plots.level_layout import LINE, levels_up_to, names_that_fit, round_ticks
from steradian.plots.palette import BLUE, COLUMN, GREY, LEVELS, PAGE, TEXT, level_colour
from steradian.text.numbers import counted, digits, power_of_ten, pvalue_words

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.adequacy.residuals import Residuals
    from steradian.adequacy.sensitivity import Sensitivity
    from steradian.spectrum import Spectrum


_MANY = 24  # degrees from which the picture is as wide as a page, and its marks are small
_MOST_TICKS = 15
_RESIDUAL_HEIGHT = 2.35  # inches without the legend
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
    ax = axes_for(ax, PAGE if many else COLUMN, _RESIDUAL_HEIGHT + len(rows) * LINE / 72.0)
    step, size = _SPREAD / max(len(rows), 1), 0.5 if many else 1.0
    for place, k in enumerate(rows):
        level = int(residuals.levels[k])
        above = degrees > level
        at = degrees[above] + (place - 0.5 * (len(rows) - 1)) * step
        values = residuals.contributions[k, above]
        colour = level_colour(level)
        ax.vlines(at, 0.0, values, colors=colour, linewidths=1.4 * size)
        ax.plot(
            at,
            values,
            "o",
            color=colour,
            markersize=4.0 * size,
            label=_residual_entry(residuals, k),
        )
    ax.set_xlim(0.5, residuals.degree + 0.5)
    _ticks(ax, residuals)
    highest = float(np.nanmax(residuals.contributions[rows], initial=0.0)) or 1.0
    ax.set_ylim(0.0, _HEADROOM * highest)
    ax.set_ylabel("left over, squared (no unit)")
    if rows:
        legend_below(ax)
    return finished(ax, _residual_finding(residuals, rows))


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


def _residual_entry(residuals: Residuals, k: int) -> str:
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


def _residual_finding(residuals: Residuals, rows: list[int]) -> str:
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


_BELOW = 0.2  # of the lowest value shown, where the axis begins
_ABOVE = 20.0  # times the highest, where it ends: there is the legend
_SCALES = (180.0, 90.0, 60.0, 45.0, 30.0, 20.0, 15.0, 10.0, 7.5, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0)
_WIDTH, _HEIGHT = 5.2, 3.2  # inches
_BESIDE = 0.85  # inches of the axis of powers of ten
_MOST_SCALE_TICKS = 12
_APART = 0.075  # of the axis between two angular scales that are written out


def nats_per_degree(spectrum: Spectrum, ax: Axes | None = None) -> Axes:
    """Draw debiased nats per degree with their intervals; levels within the noise are open.

    The grey band is what noise alone gives on average, the upper axis the angular scale 180° / l.
    A level whose debiased gap is nothing, or far below noise, is drawn as an upper limit.

    Parameters
    ----------
    spectrum : Spectrum
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    """
    checked_result(spectrum, "stands_out", "Profile.spectrum()")
    ax = axes_for(ax, _WIDTH, _HEIGHT)
    at = np.array(spectrum.degrees if len(spectrum.degrees) else spectrum.levels, dtype=float)
    known = np.isfinite(spectrum.noise).all()
    values = spectrum.debiased if known else spectrum.gaps
    bottom, top = _limits(spectrum, values)
    if known:
        edges = np.concatenate([[at[0] - 0.5], at[:-1] + 0.5 * np.diff(at), [at[-1] + 0.5]])
        ax.stairs(
            spectrum.noise, edges, baseline=bottom, fill=True, color=GREY, alpha=0.2,
            label="noise, on average",
        )  # fmt: skip
    _points(ax, spectrum, at, values, bottom)
    ax.set_yscale("log")
    ax.set(ylim=(bottom, top), xlim=(at[0] - 0.6, at[-1] + 0.6))
    ax.set_xlabel("degree $l$" if len(spectrum.degrees) else "level $L$")
    ax.set_ylabel("debiased information (nats)" if known else "information (nats)")
    ax.set_xticks(round_ticks(at, _MOST_SCALE_TICKS))
    if len(spectrum.degrees):
        _angular_axis(ax, spectrum)
    ax.legend(frameon=False, loc="upper right", fontsize=TEXT, ncols=2)
    return finished(ax, spectrum.finding.rstrip("."), margin=_BESIDE)


def _limits(spectrum: Spectrum, values: Array) -> tuple[float, float]:
    """Where the axis begins and ends: below the noise, above every interval."""
    shown = np.concatenate([values, spectrum.noise, spectrum.high])
    positive = shown[np.isfinite(shown) & (shown > 0.0)]
    floor = spectrum.noise if np.isfinite(spectrum.noise).all() else positive
    if not len(positive):
        return 0.1, 1.0
    return _BELOW * float(floor.min()), _ABOVE * float(positive.max())


def _points(ax: Axes, spectrum: Spectrum, at: Array, values: Array, bottom: float) -> None:
    """Points with whiskers; open within the noise; arrows where nothing is left over."""
    clear = spectrum.stands_out
    low = np.where(np.isfinite(spectrum.low), np.maximum(spectrum.low, bottom), values)
    high = np.where(np.isfinite(spectrum.high), spectrum.high, values)
    seen = values > bottom
    for pick, face, label in (
        (clear & seen, BLUE, "debiased, with 95% interval"),
        (~clear & seen, "white", "not significant"),
    ):
        if pick.any():
            y = values[pick]
            errors = np.maximum(np.stack([y - low[pick], high[pick] - y]), 0.0)
            (line, *_) = ax.errorbar(at[pick], y, errors, fmt="o", color=BLUE, elinewidth=1.0)
            line.set(markersize=4.5, markerfacecolor=face, label=label)
    none = ~seen
    if none.any():
        ends = np.where(np.isfinite(high[none]) & (high[none] > bottom), high[none], 2.0 * bottom)
        ax.plot(at[none], ends, linestyle="", marker="v", color=GREY, markersize=5,
                label="at most (95%)")  # fmt: skip


def _angular_axis(ax: Axes, spectrum: Spectrum) -> None:
    """The scale 180° / l above the picture, where there is room for its numbers."""
    span = ax.get_xlim()
    width = span[1] - span[0]
    kept: list[float] = []
    for scale in _SCALES:
        place = 180.0 / scale
        inside = spectrum.degrees[0] <= place <= spectrum.degrees[-1]
        if inside and (not kept or place - 180.0 / kept[-1] >= _APART * width):
            kept.append(scale)
    upper = ax.secondary_xaxis("top")
    upper.set_xticks([180.0 / scale for scale in kept], [f"{scale:g}°" for scale in kept])
    upper.set_xlabel("angular scale 180° / $l$", fontsize=TEXT)
    upper.tick_params(labelsize=TEXT)
    upper.spines["top"].set_visible(True)


_NAMED = 6  # levels up to which each has an entry in the legend


def sensitivity_curves(sensitivity: Sensitivity, ax: Axes | None = None) -> Axes:
    """Draw gaps against the share ε of the uniform law, and of the level below, mixed in.

    Parameters
    ----------
    sensitivity : Sensitivity
        Of `Profile.sensitivity`.
    ax : matplotlib Axes, optional
        Where; new ones unless given.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> ax = sr.plots.sensitivity_curves(p.sensitivity())  # doctest: +SKIP
    """
    checked_result(sensitivity, "quadrature_change", "Profile.sensitivity()")
    ax = axes_for(ax)
    order = np.argsort(sensitivity.epsilon)
    epsilon = sensitivity.epsilon[order]
    levels = sensitivity.uniform.shape[1]
    for k in range(levels):
        colour = level_colour(k + 1)
        ax.plot(
            epsilon, sensitivity.uniform[order, k], "o-", color=colour, markersize=3.0,
            linewidth=1.4, label=_mixing_entry(k + 1, levels), clip_on=False,
        )  # fmt: skip
        ax.plot(epsilon, sensitivity.below[order, k], "--", color=colour, linewidth=1.2)
    _axis(ax, epsilon)
    _legend(ax, levels)
    return finished(ax, _mixing_finding(sensitivity, order), _changes(sensitivity))


def _legend(ax: Axes, levels: int) -> None:
    """Levels in columns, and in the last one what is mixed in, with room for them above the curves.

    In two rows; in three where one entry is that of many levels, which is wide.
    """
    many = levels > _NAMED
    if many or (levels > len(LEVELS) and levels % 2):
        ax.plot([], [], " ", label=" ")  # fills the column of levels
    ax.plot([], [], "-", color=GREY, label="with uniform")
    ax.plot([], [], "--", color=GREY, label="with the level below")
    entries = len(ax.get_legend_handles_labels()[1])
    low, high = ax.get_ylim()
    ax.set_ylim(low, low + (1.6 if many else 1.38) * (high - low))
    ax.legend(
        frameon=False, fontsize=TEXT, loc="upper left", ncols=3 if many else -(-entries // 2),
        handlelength=1.5, columnspacing=1.0, borderpad=0.0,
    )  # fmt: skip


def _mixing_entry(level: int, top: int) -> str:
    """The name of a curve in the legend; of many the greys have one for all of them."""
    first = len(LEVELS) + 1
    if top <= _NAMED or level < first:
        return f"$I_{{{level}}}$"
    return f"$I_{{{first}}}$ to $I_{{{top}}}$" if level == first else "_grey"


def _axis(ax: Axes, epsilon: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> None:
    """Shares in powers of ten, with nothing mixed in at the left."""
    positive = epsilon[epsilon > 0.0]
    if len(positive) > 1:
        ax.set_xscale("symlog", linthresh=float(positive[0]), linscale=0.5)
        ax.set_xticks(epsilon, [f"{100 * e:g}" for e in epsilon])
        ax.minorticks_off()
    ax.set_xlim(float(epsilon[0]), float(epsilon[-1]))
    ax.set_ylim(bottom=min(0.0, ax.get_ylim()[0]))
    ax.set_xlabel("share ε of another law mixed in (%)")
    ax.set_ylabel("information gap $I_L$ (nats)")


def _mixing_finding(
    sensitivity: Sensitivity, order: np.ndarray[tuple[int, ...], np.dtype[np.intp]]
) -> str:
    """How much the largest gap loses at the largest share."""
    last = sensitivity.uniform[order[-1]]
    known = np.isfinite(sensitivity.gaps) & np.isfinite(last)
    if not known.any():
        return "No gap is known at every share"
    top = int(np.nanargmax(np.where(known, sensitivity.gaps, -np.inf)))
    before, share = float(sensitivity.gaps[top]), float(sensitivity.epsilon[order[-1]])
    kept = f"{digits(before)} to {digits(float(last[top]))} nats"
    return f"The largest gap, $I_{{{top + 1}}}$, goes from {kept} with {share:.0%} uniform mixed in"


def _changes(sensitivity: Sensitivity) -> str:
    """What should not matter, and does not beyond rounding."""
    parts = []
    if np.isfinite(sensitivity.quadrature_change):
        fine = power_of_ten(sensitivity.quadrature_change)
        parts.append(f"a grid twice as fine moves gaps by {fine} nats")
    if len(sensitivity.rotated):
        turns = counted(len(sensitivity.rotated), "rotation")
        moved = power_of_ten(sensitivity.rotation_change)
        parts.append(f"gaps move by {moved} nats in {turns} of the data")
    return "; ".join(parts)
