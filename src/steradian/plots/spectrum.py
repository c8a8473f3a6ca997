"""The information spectrum on a logarithmic axis, with what noise alone would give."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result
from steradian.numerics.arrays import Array
from steradian.plots.canvas import BLUE, GREY, axes_for, frame, settled, titled
from steradian.plots.palette import TEXT
from steradian.plots.thinning import round_ticks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.spectrum import Spectrum

_BELOW = 0.2  # of the lowest value shown, where the axis begins
_ABOVE = 20.0  # times the highest, where it ends: there is the legend
_SCALES = (180.0, 90.0, 60.0, 45.0, 30.0, 20.0, 15.0, 10.0, 7.5, 6.0, 5.0, 4.0, 3.0, 2.0, 1.0)
_WIDTH, _HEIGHT = 5.2, 3.2  # inches
_BESIDE = 0.85  # inches of the axis of powers of ten
_MOST_TICKS = 12
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
    checked_result(spectrum, "stands_out", "Profile.spectrum")
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
    ax.set_xticks(round_ticks(at, _MOST_TICKS))
    titled(ax, spectrum.finding.rstrip("."), margin=_BESIDE)
    frame(ax)
    if len(spectrum.degrees):
        _angular_axis(ax, spectrum)
    ax.legend(frameon=False, loc="upper right", fontsize=TEXT, ncols=2)
    return settled(ax)


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
