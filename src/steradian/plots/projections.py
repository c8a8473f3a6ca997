"""Maps of the two-sphere: where a unit vector is on paper, and the lines and labels it is read by.

A `Panel` is one piece of paper: a disc that shows a hemisphere, or an ellipse that shows the whole
sphere. Rows of its ``frame`` say which vectors of space are to the right, up, and towards the eye
(for a disc its centre), so that one formula serves every orientation. Formulas: Snyder (1987),
*Map Projections, a Working Manual*, USGS Professional Paper 1395.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

import numpy as np

from steradian.data.notation import Notation
from steradian.numerics.arrays import Array, BoolArray
from steradian.plots.canvas import pale_edges
from steradian.plots.palette import GREY, INK, TEXT

if TYPE_CHECKING:
    from matplotlib.axes import Axes


DiscKind = Literal["equal area", "equal angle", "orthographic"]
_TABLE, _NEWTON_STEPS = 20_001, 2
_FLAT = 0.001  # slope within a degree of a pole


@dataclass(frozen=True, slots=True, eq=False)
class Mesh:
    """Cells of a panel: corners on paper, middles in space, and shares of the sphere.

    Attributes
    ----------
    corners : array, (rows + 1, columns + 1, 2)
        Where cells meet on paper.
    middles : array, (rows, columns, 2)
        On paper.
    points : array, (rows, columns, 3)
        The same in space, unit vectors.
    shares : array, (rows, columns)
        Of the area of the sphere.
    closed : bool
        Whether the last column is beside the first on paper too.
    """

    corners: Array
    middles: Array
    points: Array
    shares: Array
    closed: bool


class Panel(Protocol):
    """One piece of paper."""

    @property
    def name(self) -> str:
        """What it shows, below it; empty where that is everything."""
        ...

    @property
    def half_width(self) -> float:
        """On paper; half its height is one."""
        ...

    @property
    def shift(self) -> float:
        """Where its middle is on paper."""
        ...

    def places(self, x: Array) -> tuple[Array, BoolArray]:
        """Where ``x`` (n, 3) is on paper, (n, 2), and whether this panel shows it, (n,)."""
        ...

    def mesh(self, cells: int) -> Mesh:
        """Its cells, ``cells`` from its middle to its edge."""
        ...

    def outline(self) -> Array:
        """Its edge, (k, 2)."""
        ...


def frame_of(right: Array, up: Array, towards: Array) -> Array:
    """Rows right, up and towards the eye, (3, 3)."""
    return np.stack([right, up, towards])


@dataclass(frozen=True, slots=True, eq=False)
class Disc:
    """A hemisphere about a centre, of radius one on paper.

    With (a, b, c) the coordinates of x to the right, up and along the centre, it is drawn at
    ``(a, b) f``: f = 1/√(1 + c) is Lambert's equal-area projection (Schmidt's net), f = 1/(1 + c)
    the equal-angle one (Wulff's net), and f = 1 the view from afar.
    """

    frame: Array
    kind: DiscKind = "equal area"
    name: str = ""
    shift: float = 0.0

    @property
    def half_width(self) -> float:
        return 1.0

    def places(self, x: Array) -> tuple[Array, BoolArray]:
        a, b, c = (x @ self.frame.T).T
        near = np.maximum(c, 0.0)
        factor = {"equal area": np.sqrt(1.0 + near), "equal angle": 1.0 + near}.get(self.kind, 1.0)
        return np.stack([a / factor + self.shift, b / factor], axis=1), c >= 0.0

    def _in_space(self, x: Array, y: Array) -> Array:
        """Unit vectors drawn at (x, y) about the middle."""
        square = np.minimum(x * x + y * y, 1.0)
        if self.kind == "equal area":
            c = 1.0 - square
            factor = np.sqrt(1.0 + c)
        elif self.kind == "equal angle":
            c = (1.0 - square) / (1.0 + square)
            factor = 1.0 + c
        else:
            c, factor = np.sqrt(1.0 - square), np.ones_like(square)
        return np.stack([x * factor, y * factor, c], axis=-1) @ self.frame

    def mesh(self, cells: int) -> Mesh:
        radius = np.linspace(0.0, 1.0, cells + 1)
        turn = np.linspace(0.0, 2.0 * np.pi, 4 * cells + 1)
        corners = np.stack(
            [
                np.outer(radius, np.cos(turn)) + self.shift,
                np.outer(radius, np.sin(turn)),
            ],
            axis=-1,
        )
        middle_radius = np.sqrt(0.5 * (radius[1:] ** 2 + radius[:-1] ** 2))
        middle_turn = 0.5 * (turn[1:] + turn[:-1])
        x = np.outer(middle_radius, np.cos(middle_turn))
        y = np.outer(middle_radius, np.sin(middle_turn))
        # the share of a ring is half the step of the cosine to the centre
        rim = self._in_space(radius, np.zeros_like(radius)) @ self.frame[2]
        ring = 0.5 * (rim[:-1] - rim[1:]) / (4 * cells)
        shares = np.repeat(ring[:, None], 4 * cells, axis=1)
        middles = np.stack([x + self.shift, y], axis=-1)
        return Mesh(corners, middles, self._in_space(x, y), shares, True)

    def outline(self) -> Array:
        turn = np.linspace(0.0, 2.0 * np.pi, 361)
        return np.stack([np.cos(turn) + self.shift, np.sin(turn)], axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class Mollweide:
    """The whole sphere as an ellipse twice as wide as high, equal areas.

    ``x = (2/π) λ cos t``, ``y = sin t`` with ``2t + sin 2t = π sin β``, λ the longitude from the
    middle to the right and β the latitude.
    """

    frame: Array
    name: str = ""
    shift: float = 0.0

    @property
    def half_width(self) -> float:
        return 2.0

    def places(self, x: Array) -> tuple[Array, BoolArray]:
        right, up, towards = (x @ self.frame.T).T
        return self._on_paper(np.arctan2(right, towards), up), np.ones(len(x), dtype=bool)

    def _on_paper(self, longitude: Array, sine: Array) -> Array:
        t = mollweide_angle(sine)
        x = (2.0 / np.pi) * longitude * np.cos(t) + self.shift
        return np.stack([x, np.sin(t)], axis=-1)

    def mesh(self, cells: int) -> Mesh:
        t = np.linspace(-0.5 * np.pi, 0.5 * np.pi, 2 * cells + 1)
        longitude = np.linspace(-np.pi, np.pi, 4 * cells + 1)
        corners = np.stack(
            [
                (2.0 / np.pi) * np.outer(np.cos(t), longitude) + self.shift,
                np.repeat(np.sin(t)[:, None], len(longitude), axis=1),
            ],
            axis=-1,
        )
        sine = (2.0 * t + np.sin(2.0 * t)) / np.pi
        shares = np.repeat(0.5 * np.diff(sine)[:, None], 4 * cells, axis=1) / (4 * cells)
        middle_sine = np.repeat(0.5 * (sine[1:] + sine[:-1])[:, None], 4 * cells, axis=1)
        middle = np.repeat(0.5 * (longitude[1:] + longitude[:-1])[None], 2 * cells, axis=0)
        cosine = np.sqrt(1.0 - middle_sine**2)
        points = np.stack([cosine * np.sin(middle), middle_sine, cosine * np.cos(middle)], axis=-1)
        middles = self._on_paper(middle, middle_sine)
        return Mesh(corners, middles, points @ self.frame, shares, False)

    def outline(self) -> Array:
        turn = np.linspace(0.0, 2.0 * np.pi, 361)
        return np.stack([2.0 * np.cos(turn) + self.shift, np.sin(turn)], axis=1)


def mollweide_angle(sine: Array) -> Array:
    """The angle t of ``2t + sin 2t = π sin β`` for the sine of a latitude β, by a table and Newton.

    The left side is flat at the poles, where the table alone is near enough.
    """
    target = np.pi * np.clip(sine, -1.0, 1.0)
    table = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _TABLE)
    t = np.interp(target, 2.0 * table + np.sin(2.0 * table), table)
    for _ in range(_NEWTON_STEPS):
        slope = 2.0 + 2.0 * np.cos(2.0 * t)
        step = np.where(slope > _FLAT, (2.0 * t + np.sin(2.0 * t) - target), 0.0)
        t = t - step / np.maximum(slope, _FLAT)
    return np.asarray(t)


_STEPS = 361  # points of a line
_THIN: dict[str, Any] = {"color": GREY, "linewidth": 0.35, "alpha": 0.6}


def sphere_points(longitude: Array, latitude: Array) -> Array:
    """Unit vectors of angles in degrees, about z from x: (n, 3)."""
    lon, lat = np.deg2rad(longitude), np.deg2rad(latitude)
    return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], axis=-1)


def polar_lines(parallels: float, meridians: float) -> list[Array]:
    """Parallels and meridians about z, so many degrees apart."""
    across = np.linspace(-90.0, 90.0, _STEPS)
    around = np.linspace(0.0, 360.0, _STEPS)
    lines = [
        sphere_points(around, np.full(_STEPS, latitude))
        for latitude in np.arange(-90.0 + parallels, 90.0, parallels)
    ]
    lines += [
        sphere_points(np.full(_STEPS, longitude), across)
        for longitude in np.arange(0.0, 360.0, meridians)
    ]
    return lines


def equatorial_lines(step: float) -> list[Array]:
    """Great circles through north and south, and small circles about them: the meridional net.

    North is x, as in the compass frame: (x, y, z) of `polar_lines` become (z, x, y).
    """
    return [line[:, [2, 0, 1]] for line in polar_lines(step, step)]


def draw_lines(ax: Axes, panel: Panel, lines: list[Array]) -> None:
    """What a panel shows of lines in space."""
    for line in lines:
        places, seen = panel.places(line)
        jump = np.abs(np.diff(places[:, 0], prepend=places[0, 0])) > panel.half_width
        places[~seen | jump] = np.nan  # behind the panel, or round its edge
        if seen.any():
            ax.plot(*places.T, zorder=2.0, **_THIN)


def draw_outline(ax: Axes, panel: Panel) -> None:
    """The edge of a panel."""
    ax.plot(*panel.outline().T, color=INK, linewidth=0.8, zorder=4.0, clip_on=False)


def label(
    ax: Axes, words: str, at: tuple[float, float], *, inside: bool = False, **where: str
) -> None:
    """A word on the map; one inside has a pale edge, so that it reads on every colour."""
    text = ax.text(*at, words, fontsize=TEXT, color=INK, zorder=6.0, **where)  # type: ignore[arg-type]
    if inside:
        pale_edges(text, 1.8, 0.85)


@dataclass(frozen=True, slots=True)
class Legend:
    """How longitude and latitude of a map are called and written in the data's own notation."""

    names: tuple[str, str] = ("longitude", "latitude")
    columns: tuple[int, int] | None = None
    notation: Notation | None = None

    def longitude(self, degrees: float) -> str:
        """A longitude of the map, 0 to 360, as the data write it."""
        return self._written(degrees % 360.0, sphere_points(*_one(degrees, 0.0)), 0)

    def latitude(self, degrees: float) -> str:
        """A latitude of the map as the data write it."""
        return self._written(degrees, sphere_points(*_one(0.0, degrees)), 1)

    @property
    def in_hours(self) -> bool:
        """Whether its longitude is written in hours, as right ascensions are."""
        return self.notation is not None and self.notation.unit == "hours"

    @property
    def by_azimuth(self) -> bool:
        """Whether its longitude is the angle about z itself, as it is not for poles of planes."""
        return self.columns is not None and self.longitude(40.0) == "40°"

    def place(self, x: Array) -> str:
        """A point of the map, like "(30°, −60°)"."""
        lon, lat = np.rad2deg(np.arctan2(x[1], x[0])), np.rad2deg(np.arcsin(x[2]))
        return f"({self.longitude(round(lon, 6))}, {self.latitude(round(lat, 6))})"

    def _written(self, plain: float, at: Array, which: int) -> str:
        if self.notation is None or self.columns is None:
            return f"{plain:g}°".replace("-", "−")
        column = self.columns[which]
        value = round(float(self.notation.values(at)[column][0]), 9) + 0.0
        if self.in_hours and column == 0:
            return f"{round(value, 4) % 24.0:g} h"
        degrees = np.rad2deg(value) if self.notation.unit == "radians" else value
        return f"{round(degrees, 6):g}°".replace("-", "−")


def _one(longitude: float, latitude: float) -> tuple[Array, Array]:
    return np.array([longitude]), np.array([latitude])


def legend_of(notation: Notation | None) -> Legend:
    """Which columns of a notation are the longitude and the latitude of a map about z.

    Found by what changes along a parallel and along a meridian, so that no convention is asked its
    name; plain degrees where columns mix the two, as strike and dip of a plane do.
    """
    if notation is None or not notation.convention.angular:
        return Legend()
    along, up = (
        (np.array([40.0, 80.0]), np.full(2, 20.0)),
        (np.full(2, 40.0), np.array([20.0, 50.0])),
    )
    changes = [
        [not np.isclose(*column) for column in notation.values(sphere_points(*path))]
        for path in (along, up)
    ]
    if [sum(one) for one in changes] != [1, 1] or changes[0] == changes[1]:
        return Legend()
    columns = changes[0].index(True), changes[1].index(True)
    role = notation.convention.role
    return Legend((role(columns[0]), role(columns[1])), columns, notation)
