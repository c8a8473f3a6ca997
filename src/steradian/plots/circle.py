"""Densities of a hierarchy against the angle."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.numerics.arrays import Array
from steradian.plots.canvas import axes_for, dash, frame, settled, titled
from steradian.plots.palette import GREY, INK, PALE, TEXT, UNIFORM_STYLE, level_colour
from steradian.plots.points import point_alpha
from steradian.plots.round_scene import Dial, angle_counts, angles_of, bins_for, dial_of
from steradian.plots.round_words import angle_finding, drawn_levels
from steradian.plots.sphere_scene import Scene, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_STEPS = 721
_MOST_TICKS = 1000  # rows that are drawn one by one below the axis
_IN_A_ROW = 5  # entries of a legend
_FEWEST_BARS = 20  # rows from which bars say something


def circle_densities(
    source: Any,
    ax: Axes | None = None,
    *,
    levels: tuple[int, ...] | None = None,
    empirical: tuple[Array, Array] | None = None,
) -> Axes:
    """Draw p_1 … p_L of a profile against the angle, over its data, per unit of the angle.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        Of the circle, of axes of the plane (half a turn) or of one angle of a torus.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    levels : tuple of int, optional
        Whose densities are drawn; unless given all up to the highest significant one,
        of many the last four, above level 8 levels 1, 2, 4 and that one.
    empirical : (angles, densities), optional
        A smoothed density of the data instead of their bins, angles in radians, ascending,
        density per radian.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.circle_densities(p)  # doctest: +SKIP
    """
    scene = scene_of(source, None if levels is None else 0, "circle")  # named levels need no test
    dial = dial_of(scene, None)
    ax = axes_for(ax)
    share = 0.5 if scene.axial else 1.0
    end = share * dial.full
    turn = np.linspace(0.0, share * 2.0 * np.pi, _STEPS)
    x = turn * (dial.full / (2.0 * np.pi))
    if empirical is not None:
        scale = dial.full / (2.0 * np.pi)
        angles, density = (np.asarray(part) for part in empirical)
        ax.fill_between(
            angles * scale, density / scale, color=GREY, alpha=0.25, linewidth=0,
            label="data, smoothed",
        )  # fmt: skip
    elif scene.directions is not None:
        _draw_data(ax, scene, dial, share)
    fits = drawn_levels(source, scene, levels)
    curves = [(fit, fit.pdf(np.stack([np.cos(turn), np.sin(turn)], axis=1))) for fit in fits]
    for fit, density in curves:
        last = fit is fits[-1]
        (line,) = ax.plot(x, density / end, linestyle="-" if last else dash(fit.level))
        line.set(color=level_colour(fit.level), linewidth=1.8, label=f"$p_{{{fit.level}}}$")
    ax.axhline(1.0 / end, label="uniform", zorder=1.5, **UNIFORM_STYLE)  # type: ignore[arg-type]
    _name_axes(ax, dial, share)
    titled(ax, angle_finding(scene, fits))
    _legend(ax)
    frame(ax)
    return settled(ax)


def _draw_data(ax: Axes, scene: Scene, dial: Dial, share: float) -> None:
    """Bins of the data as a step of their density, and few rows as marks below it."""
    directions = scene.directions
    assert directions is not None
    end = share * dial.full
    if directions.n >= _FEWEST_BARS:
        bins = bins_for(directions.n)
        shares = angle_counts(directions, bins, axial=scene.axial)[: round(bins * share)] / share
        edges = np.linspace(0.0, end, len(shares) + 1)
        height = shares * (len(shares) / end)
        ax.stairs(height, edges, fill=True, color=PALE, label="data", zorder=1.0)
    if directions.n <= _MOST_TICKS:
        angle = np.mod(angles_of(directions.x), share * 2.0 * np.pi) * dial.full / (2.0 * np.pi)
        weight = directions.weights / directions.weights.max()
        alpha = np.maximum(0.15, weight * point_alpha(directions.n))
        lines = ax.vlines(
            angle, -0.045, -0.01, transform=ax.get_xaxis_transform(), clip_on=False,
            linewidths=0.7, colors=INK, label="_rows",
        )  # fmt: skip
        lines.set_alpha(alpha)


def _name_axes(ax: Axes, dial: Dial, share: float) -> None:
    values, names = dial.ticks(share)
    ax.set_xticks(values, names)
    ax.set_xlim(0.0, share * dial.full)
    ax.set_ylim(bottom=0.0)
    ax.tick_params(axis="x", pad=5.0)
    unit = {"°": "degree"}.get(dial.unit, dial.unit) or "unit of time"
    told = "" if dial.kind else f" ({dial.unit})" if dial.unit else ""
    ax.set_xlabel(f"{dial.quantity}{told}")
    ax.set_ylabel(f"density (per {unit})")


def _legend(ax: Axes) -> None:
    handles, _ = ax.get_legend_handles_labels()
    low, high = ax.get_ylim()
    rows = 1 if len(handles) <= _IN_A_ROW else 2
    ax.set_ylim(low, high * (1.06 + 0.16 * rows))
    ax.legend(
        frameon=False, fontsize=TEXT, ncols=-(-len(handles) // rows), loc="upper left",
        handlelength=1.4, columnspacing=0.9, borderaxespad=0.1,
    )  # fmt: skip
