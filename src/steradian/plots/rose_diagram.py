"""The rose: angles on their dial, with the densities of all levels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.arguments import one_of
from steradian.numerics.arrays import Array
from steradian.plots.canvas import axes_for, note, settled, titled
from steradian.plots.palette import COLUMN, GREY, INK, PALE, TEXT, UNIFORM_STYLE, level_colour
from steradian.plots.points import point_alpha, point_areas
from steradian.plots.round_scene import (
    ORIENTATIONS,
    Dial,
    Orientation,
    angle_counts,
    angles_of,
    dial_of,
    petals_for,
)
from steradian.plots.round_words import angle_finding, drawn_levels
from steradian.plots.sphere_scene import Scene, scene_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.fitting.maxent import MaxEntFit

_STEPS = 1440  # of a curve
_MOST_DOTS = 300  # rows that are drawn one by one round the rim
_FEWEST_PETALS = 20  # rows from which petals say something
_PETAL_STEPS = 12  # of an arc
_WORD = 0.25  # radians that a word on a ring covers at either side
_RINGS = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0, 512.0, 1024.0)


def rose(
    source: Any,
    ax: Axes | None = None,
    *,
    levels: tuple[int, ...] | None = None,
    orientation: Orientation | None = None,
) -> Axes:
    """Draw angles as a rose of true areas, with the densities of a profile's levels.

    The radius is the root of the density over the uniform one, so that areas are probabilities and
    the uniform law is the dotted circle. Bearings run clockwise from north, times clockwise from
    the top of a clock, other angles counter-clockwise from the right.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        Of the circle, of axes of the plane (drawn at both ends) or of one angle of a torus.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    levels : tuple of int, optional
        Whose densities are drawn; unless given all up to the highest significant one,
        of many the last four, above level 8 levels 1, 2, 4 and that one.
    orientation : {"compass", "mathematical", "clock"}, optional
        Instead of that of the data's own convention.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("turtles"), levels=3)
    >>> ax = sr.plots.rose(p, orientation="compass")  # doctest: +SKIP
    """
    if orientation is not None:
        one_of(orientation, "orientation", ORIENTATIONS)
    scene = scene_of(source, None if levels is None else 0, "circle")  # named levels need no test
    dial = dial_of(scene, orientation)
    ax = axes_for(ax, COLUMN, 4.15)
    fits = drawn_levels(source, scene, levels)
    turn = np.linspace(0.0, 2.0 * np.pi, _STEPS + 1)
    curves = [(fit, fit.pdf(np.stack([np.cos(turn), np.sin(turn)], axis=1))) for fit in fits]
    petals, begin = _petals(scene)
    most = max([float(density.max()) for _, density in curves] + [float(petals.max(initial=1.0))])
    reach = np.sqrt(most)
    _draw_petals(ax, dial, petals, begin)
    if curves or len(petals):
        _draw_rings(ax, dial, most, [np.sqrt(density) for _, density in curves])
    for fit, density in curves:
        _draw_curve(ax, dial, turn, fit, density)
    rim = _draw_dots(ax, dial, scene, 1.06 * reach)
    _name_dial(ax, dial, rim * 1.04)
    _finish(ax, rim * 1.16)
    titled(ax, angle_finding(scene, fits))
    note(ax, _words(scene, petals))
    return settled(ax)


def _petals(scene: Scene) -> tuple[Array, float]:
    """The density of the data in bins, as multiples of uniform, none where rows are few; and where
    the first bin begins.
    """
    directions = scene.directions
    if directions is None or directions.n < _FEWEST_PETALS:
        return np.zeros(0), 0.0
    bins, begin = petals_for(directions, axial=scene.axial)
    return angle_counts(directions, bins, axial=scene.axial, begin=begin) * bins, begin


def _draw_petals(ax: Axes, dial: Dial, petals: Array, begin: float) -> None:
    from matplotlib.patches import Polygon

    bins = len(petals)
    edge = min(0.6, 12.0 / max(bins, 1))
    for k, density in enumerate(petals):
        arc = begin + (k + np.linspace(0.0, 1.0, _PETAL_STEPS)) * (2.0 * np.pi / bins)
        x, y = dial.places(arc, float(np.sqrt(density)))
        corners = np.vstack([[0.0, 0.0], np.stack([x, y], axis=1)])
        ax.add_patch(
            Polygon(corners, facecolor=PALE, edgecolor="white", linewidth=edge, zorder=1.0)
        )


def _draw_rings(ax: Axes, dial: Dial, most: float, curves: list[Array]) -> None:
    """Circles of one density each: the uniform one dotted, at most three others thin; named where
    curves, given by their radii, leave most room.
    """
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    others = [ring for ring in _RINGS if ring != 1.0 and ring <= 1.02 * most][-3:]
    for ring in [1.0, *others]:
        style = UNIFORM_STYLE if ring == 1.0 else {"color": GREY, "linewidth": 0.35, "alpha": 0.7}
        ax.plot(*dial.places(turn, float(np.sqrt(ring))), zorder=2.0, **style)  # type: ignore[arg-type]
    free = [np.deg2rad(22.5 + 45.0 * k) for k in (1, 0, 2, 3, 4, 5, 6, 7)]
    for ring in [1.0, *(ring for ring in others[-1:] if ring > 1.0)]:
        radius = float(np.sqrt(ring))
        angle = max(free, key=lambda one: _room(one, radius, curves))
        free.remove(angle)
        x, y = dial.places(np.array(angle), radius)
        _inside(ax, "uniform" if ring == 1.0 else f"{ring:g}×", float(x), float(y))


def _room(angle: float, radius: float, curves: list[Array]) -> float:
    """How far the nearest curve is from a word at an angle and radius."""
    covered = np.mod(angle + np.linspace(-_WORD, _WORD, 9), 2.0 * np.pi)
    at = np.rint(covered * (_STEPS / (2.0 * np.pi))).astype(np.intp)
    return min((float(np.abs(curve[at] - radius).min()) for curve in curves), default=0.0)


def _inside(ax: Axes, words: str, x: float, y: float) -> None:
    from matplotlib import patheffects

    text = ax.text(x, y, words, fontsize=TEXT, color=GREY, ha="center", va="center", zorder=6.0)
    text.set_path_effects([patheffects.withStroke(linewidth=2.0, foreground="white", alpha=0.9)])


def _draw_curve(ax: Axes, dial: Dial, turn: Array, fit: MaxEntFit, density: Array) -> None:
    (line,) = ax.plot(*dial.places(turn, np.sqrt(density)), zorder=3.0)
    line.set(color=level_colour(fit.level), linewidth=1.6, label=f"$p_{{{fit.level}}}$")


def _draw_dots(ax: Axes, dial: Dial, scene: Scene, rim: float) -> float:
    """Rows as dots outside the rim, stacked where they are alike; how far out they reach."""
    directions = scene.directions
    turn = np.linspace(0.0, 2.0 * np.pi, 361)
    ax.plot(*dial.places(turn, rim), color=INK, linewidth=0.8, zorder=4.0)
    if directions is None or directions.n > _MOST_DOTS:
        return rim
    angle = angles_of(directions.x)
    areas, step = point_areas(directions.weights), 0.045 * rim
    height = np.zeros(len(angle))
    if not directions.weighted:
        cell = np.round(angle / np.deg2rad(3.0)).astype(int) % 120
        for one in np.unique(cell):
            rows = np.flatnonzero(cell == one)
            height[rows] = np.arange(len(rows))
    if scene.axial:
        angle, areas, height = (
            np.append(angle, angle + np.pi),
            np.tile(areas, 2),
            np.tile(height, 2),
        )
    step = min(step, 0.4 * rim / max(float(height.max()), 1.0))
    x, y = dial.places(angle, rim + (height + 0.8) * step)
    ax.scatter(
        x, y, s=areas, color=INK, alpha=point_alpha(1 if not directions.weighted else directions.n),
        linewidths=0.0, zorder=5.0, clip_on=False,
    )  # fmt: skip
    return float(rim + (height.max() + 1.6) * step)


def _name_dial(ax: Axes, dial: Dial, radius: float) -> None:
    for angle, name in dial.marks():
        x, y = dial.places(np.array(angle), radius)
        across = "center" if abs(x) < 0.3 * radius else ("left" if x > 0 else "right")
        upright = "center" if abs(y) < 0.3 * radius else ("bottom" if y > 0 else "top")
        ax.text(float(x), float(y), name, fontsize=TEXT, color=INK, ha=across, va=upright)


def _finish(ax: Axes, reach: float) -> None:
    ax.set_aspect("equal", anchor="N")
    ax.set(xlim=(-reach, reach), ylim=(-reach, reach), xticks=[], yticks=[])
    ax.spines[:].set_visible(False)
    if handles := ax.get_legend_handles_labels()[0]:
        ax.legend(
            frameon=False, fontsize=TEXT, loc="upper center", bbox_to_anchor=(0.5, 0.0),
            ncols=len(handles), handlelength=1.3, columnspacing=1.2, borderaxespad=0.1,
        )  # fmt: skip
        ax.xaxis.labelpad = 2.2 * TEXT


def _words(scene: Scene, petals: Array) -> str:
    parts = ["areas are probabilities"] if len(petals) or scene.fit is not None else []
    if scene.directions is not None:
        shown = []
        if len(petals):
            shown.append(f"petals of\u00a0{360 / len(petals):.3g}°")
        if scene.directions.n <= _MOST_DOTS:
            shown.append("dots (areas: weights)" if scene.directions.weighted else "dots")
        parts.append(f"{scene.count_words} as {' and '.join(shown)}")
    return "; ".join(parts) + (", each at both ends" if scene.axial and scene.directions else "")
