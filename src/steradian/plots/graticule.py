"""Lines and labels of maps of the sphere: what a reader reads coordinates by."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.data.notation import Notation
from steradian.numerics.arrays import Array
from steradian.plots.palette import GREY, INK, TEXT
from steradian.plots.projections import Panel

if TYPE_CHECKING:
    from matplotlib.axes import Axes

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
    from matplotlib import patheffects

    text = ax.text(*at, words, fontsize=TEXT, color=INK, zorder=6.0, **where)  # type: ignore[arg-type]
    if inside:
        edge = patheffects.withStroke(linewidth=1.8, foreground="white", alpha=0.85)
        text.set_path_effects([edge])


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
