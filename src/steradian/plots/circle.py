"""Angles: the rose on their dial, and densities against the angle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from steradian.arguments import one_of, shown
from steradian.data.directions import Directions
from steradian.data.notation import Notation
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.plots.canvas import (
    axes_for,
    dash,
    finished,
    note,
    pale_edges,
    point_alpha,
    point_areas,
    settled,
    titled,
)
from steradian.plots.level_layout import levels_up_to
from steradian.plots.palette import COLUMN, GREY, INK, PALE, TEXT, UNIFORM_STYLE, level_colour
from steradian.plots.scene import Scene, scene_of
from steradian.text.numbers import digits

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.fitting.maxent import MaxEntFit


Orientation = Literal["compass", "mathematical", "clock"]
ORIENTATIONS: tuple[Orientation, ...] = ("compass", "mathematical", "clock")
_FRAMES: dict[str, Orientation] = {"compass": "compass", "clock": "clock"}
_QUARTERS = {"compass": ("N", "E", "S", "W")}
_FEWEST, _MOST_MARKS = 4, 120  # petals of a rose; marks of a scale that is told from a fine one
_DECIMALS = 7  # of radians, to which angles that were written alike are alike
_OFF_MARK = 0.01  # of a step of a scale
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_FIRST_DAYS = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)


@dataclass(frozen=True, slots=True)
class Dial:
    """How an angle is drawn and written.

    Attributes
    ----------
    orientation : {"compass", "mathematical", "clock"}
        Clockwise from the top, or counter-clockwise from the right.
    unit : str
        Of the linear axis: "°", "rad", "h" and the like.
    full : float
        A full turn in that unit.
    quantity : str
        What the angle is.
    kind : str
        "day", "week" or "year" of calendar times, else empty.
    """

    orientation: Orientation
    unit: str
    full: float
    quantity: str
    kind: str = ""

    @property
    def clockwise(self) -> bool:
        """From the top; else counter-clockwise from the right."""
        return self.orientation != "mathematical"

    def places(self, angle: Array, radius: Array | float = 1.0) -> tuple[Array, Array]:
        """Where angles in radians are on paper."""
        if self.clockwise:
            return np.asarray(radius * np.sin(angle)), np.asarray(radius * np.cos(angle))
        return np.asarray(radius * np.cos(angle)), np.asarray(radius * np.sin(angle))

    def marks(self) -> list[tuple[float, str]]:
        """Angles in radians that are named round the dial, and their names."""
        turn = 2.0 * np.pi
        if self.kind == "week":
            return [(turn * k / 7.0, day) for k, day in enumerate(_DAYS)]
        if self.kind == "year":
            days = zip(_FIRST_DAYS, _MONTHS, strict=True)
            return [(turn * first / 365.0, name) for first, name in days]
        if self.kind == "day":
            return [(turn * k / 8.0, f"{3 * k:02d}:00") for k in range(8)]
        if self.orientation == "compass":
            names = "N", "45°", "E", "135°", "S", "225°", "W", "315°"
            return [(turn * k / 8.0, name) for k, name in enumerate(names)]
        if self.unit == "rad":
            names = "0", "π/4", "π/2", "3π/4", "π", "5π/4", "3π/2", "7π/4"
            return [(turn * k / 8.0, name) for k, name in enumerate(names)]
        end = f" {self.unit}" if self.unit not in ("°", "") else self.unit
        parts = 8 if (self.full / 8.0).is_integer() else 4
        return [(turn * k / parts, f"{self.full * k / parts:.3g}{end}") for k in range(parts)]

    def ticks(self, share: float) -> tuple[list[float], list[str]]:
        """Values and names along a linear axis of ``share`` of a turn, in its unit."""
        if self.kind in ("week", "year"):
            named = [(self.full * angle / (2.0 * np.pi), name) for angle, name in self.marks()]
            some = named if self.kind == "week" else named[::2]
            return [value for value, _ in some], [name for _, name in some]
        if self.unit == "rad":
            names = ("0", "π/3", "2π/3", "π", "4π/3", "5π/3", "2π")
            values = np.linspace(0.0, 2.0 * np.pi, len(names))
            kept = [k for k, value in enumerate(values) if value <= share * self.full + 0.01]
            return [float(values[k]) for k in kept], [names[k] for k in kept]
        steps = 4 if self.kind == "day" or share == 1.0 else 6
        values = np.linspace(0.0, share * self.full, steps + 1)
        shown = [f"{v:02.0f}:00" if self.kind == "day" else f"{v:g}" for v in values]
        return values.tolist(), shown


def dial_of(scene: Scene, orientation: Orientation | None) -> Dial:
    """The dial that data of a scene are read on; ``orientation`` overrides what they say."""
    told = scene.notation
    frame = "none" if told is None else told.convention.frame
    chosen = _FRAMES.get(frame, "mathematical") if orientation is None else orientation
    if told is not None and told.clock is not None:
        kind, length = told.clock.kind, told.clock.length
        unit = {"day": "h", "week": "h", "year": "h"}.get(kind, "")
        return Dial(chosen, unit, length, f"time of the {kind}" if kind else "time", kind)
    quantity = "angle" if told is None else told.convention.role(0)
    if _in_radians(told, chosen):
        return Dial(chosen, "rad", 2.0 * np.pi, quantity)
    return Dial(chosen, "°", 360.0, quantity)


def _in_radians(told: Notation | None, orientation: Orientation) -> bool:
    if told is None or not told.convention.angular:
        return False
    return told.unit == "radians" and orientation == "mathematical"


def angles_of(x: Array) -> Array:
    """Angles of rows (n, 2) in radians, from 0 to a full turn."""
    return np.asarray(np.mod(np.arctan2(x[:, 1], x[:, 0]), 2.0 * np.pi))


def angle_counts(directions: Directions, bins: int, *, axial: bool, begin: float = 0.0) -> Array:
    """Shares of the weight in equal bins round the circle, (bins,), by blocks of rows.

    The first begins at ``begin`` radians. Axes count half at either end.
    """
    total = np.zeros(bins)
    for x, w in directions.blocks():
        turned = np.mod(angles_of(x) - begin, 2.0 * np.pi)
        at = np.minimum((turned * (bins / (2.0 * np.pi))).astype(np.int64), bins - 1)
        total += np.bincount(at, weights=w, minlength=bins)
    if axial:
        total = total + np.roll(total, bins // 2)
    return np.asarray(total / total.sum())


def bins_for(n: int) -> int:
    """How many bins show ``n`` angles: a multiple of twelve, as hours and bearings want."""
    for least, bins in ((20_000, 120), (1000, 72), (300, 36), (60, 24)):
        if n >= least:
            return bins
    return 12


def petals_for(directions: Directions, *, axial: bool) -> tuple[int, float]:
    """How many petals show some angles, and where the first begins, in radians.

    Angles that are written on a scale of few marks (the middles of bins, tens of degrees) have
    petals of whole steps of it that end between its marks; else every other one would be empty.
    """
    most = bins_for(directions.n)
    scale = _scale(directions, axial=axial)
    if scale is None:
        return most, 0.0
    marks, first = scale
    fitting = [k for k in range(_FEWEST, most + 1) if marks % k == 0 and not (axial and k % 2)]
    return (fitting[-1], first - np.pi / marks) if fitting else (most, 0.0)


def _scale(directions: Directions, *, axial: bool) -> tuple[int, float] | None:
    """Marks of the scale that all angles are on, and the first of them; None where it is fine."""
    seen = np.zeros(0)
    for x, _ in directions.blocks():
        angle = np.round(angles_of(np.vstack([x, -x]) if axial else x), _DECIMALS)
        seen = np.unique(np.append(seen, np.mod(angle, round(2.0 * np.pi, _DECIMALS))))
        if len(seen) > _MOST_MARKS:
            return None
    if len(seen) < 2:
        return None
    steps = np.diff(seen, append=seen[0] + 2.0 * np.pi)
    marks = int(np.rint(2.0 * np.pi / steps.min()))
    place = (seen - seen[0]) * (marks / (2.0 * np.pi))
    if marks > _MOST_MARKS or np.abs(place - np.rint(place)).max() > _OFF_MARK:
        return None
    return marks, float(seen[0])


_NEARLY_UNIFORM = 1.2  # times uniform, below which no peak is spoken of
_LEAST_MODE = 0.1  # of the highest peak, below which another is not counted


def drawn_levels(source: Any, scene: Scene, levels: tuple[int, ...] | None) -> list[MaxEntFit]:
    """The fits whose densities are drawn: those asked for, else all up to the scene's, of many
    four that are told apart.
    """
    if scene.fit is None:
        return []
    fits = getattr(source, "fits", None)
    if fits is None:
        return [scene.fit]
    top = len(fits) - 1
    chosen = levels_up_to(scene.fit.level) if levels is None else levels
    listed = isinstance(chosen, Iterable)
    if not listed or any(type(level) is bool or level not in range(top + 1) for level in chosen):
        raise InvalidArgument(f"levels is {shown(levels)}; give some of 0 to {top}")
    return [fits[int(level)] for level in chosen]


def angle_finding(scene: Scene, fits: list[MaxEntFit]) -> str:
    """How many peaks the highest level has, and where the highest is."""
    if not fits:
        weighted = scene.directions is not None and scene.directions.weighted
        return scene.count_words + ("; areas are weights" if weighted else "")
    fit = fits[-1]
    if scene.noise:
        return scene.noise_words
    top = fit.modes()[0]
    if top.density < _NEARLY_UNIFORM:
        ends = f"{digits(fit.lowest)} to {digits(top.density)} times"
        return f"Level {fit.level} is nearly uniform ({ends})"
    count = sum(mode.density > _LEAST_MODE * top.density for mode in fit.modes())
    where = scene.words(top.point)
    many = "one peak" if count == 1 else f"{count} peaks, the highest"
    return f"Level {fit.level} has {many} at {where}, {digits(top.density)}\u00a0×\u00a0uniform"


_ROSE_STEPS = 1440  # of a curve
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
    turn = np.linspace(0.0, 2.0 * np.pi, _ROSE_STEPS + 1)
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
    note(ax, _rose_words(scene, petals))
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
    at = np.rint(covered * (_ROSE_STEPS / (2.0 * np.pi))).astype(np.intp)
    return min((float(np.abs(curve[at] - radius).min()) for curve in curves), default=0.0)


def _inside(ax: Axes, words: str, x: float, y: float) -> None:
    text = ax.text(x, y, words, fontsize=TEXT, color=GREY, ha="center", va="center", zorder=6.0)
    pale_edges(text, 2.0, 0.9)


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


def _rose_words(scene: Scene, petals: Array) -> str:
    parts = ["areas are probabilities"] if len(petals) or scene.fit is not None else []
    if scene.directions is not None:
        shown = []
        if len(petals):
            shown.append(f"petals of\u00a0{360 / len(petals):.3g}°")
        if scene.directions.n <= _MOST_DOTS:
            shown.append("dots (areas: weights)" if scene.directions.weighted else "dots")
        parts.append(f"{scene.count_words} as {' and '.join(shown)}")
    return "; ".join(parts) + (", each at both ends" if scene.axial and scene.directions else "")


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
    _legend(ax)
    return finished(ax, angle_finding(scene, fits))


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
