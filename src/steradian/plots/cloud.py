"""Directions on the two-sphere, seen from afar."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from steradian.arguments import checked_result, longitude_latitude
from steradian.data.directions import Directions
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import Array
from steradian.plots.canvas import BLUE, GREY, axes_for, titled
from steradian.plots.palette import COLUMN
from steradian.text.numbers import counted

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_OPAQUE = 1000  # rows from which points are fainter
_FEW, _LARGE = 30, 16.0  # rows that are drawn large, and their area in square points
_MOST = 100_000  # rows that are drawn; of more one in so many is
_STEPS = 181  # points of a line of the graticule
_PARALLELS, _MERIDIANS = (-60, -30, 0, 30, 60), range(0, 360, 30)


def sphere_cloud(
    directions: Directions,
    ax: Axes | None = None,
    *,
    view: tuple[float, float] = (30.0, 35.0),
    colour: str = BLUE,
) -> Axes:
    """Draw directions under orthographic projection; those on the far side are faint.

    Of more than 100,000 rows one in so many is drawn, which the title says; `globe` counts all.

    Parameters
    ----------
    directions : Directions
        Unit vectors of space, d = 3.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    view : (longitude, latitude)
        Where the eye stands, degrees.
    colour : str
        Of the points.
    """
    checked_result(directions, "blocks", "Directions(x)")
    if directions.d != 3:
        raise InvalidDirections(f"these directions have d = {directions.d}; the sphere has d = 3")
    view = longitude_latitude(view, "view")
    own, ax = ax is None, axes_for(ax, COLUMN, 3.9)
    turn = _towards(*np.deg2rad(view))
    _graticule(ax, turn)
    every = -(-directions.n // _MOST)
    seen = directions.x[::every] @ turn.T
    fading = min(1.0, math.sqrt(_OPAQUE / len(seen)))
    size = max(1.5, _LARGE * min(1.0, (_FEW / len(seen)) ** 0.3))
    for front, alpha in ((False, 0.2), (True, 0.7)):
        part = seen[(seen[:, 0] >= 0.0) == front]
        ax.scatter(
            part[:, 1], part[:, 2], s=size, color=colour, alpha=alpha * fading,
            linewidths=0, rasterized=directions.n > _OPAQUE,
        )  # fmt: skip
    ax.set_aspect("equal")
    ax.set(xlim=(-1.05, 1.05), ylim=(-1.05, 1.05))
    ax.set_axis_off()
    if own:  # axes that were given have their own title
        seen_from = f"({view[0]:g}°, {view[1]:g}°)".replace("-", "−")
        words = counted(directions.n, directions.space.point_name)
        some = f", one in {every:,} drawn," if every > 1 else ""
        titled(ax, f"{words}{some} seen from {seen_from}; faint: the far side")
    return ax


def _towards(longitude: float, latitude: float) -> Array:
    """Rows: towards the eye, to the right, and up, as the eye sees them."""
    a, b = longitude, latitude
    return np.array(
        [
            [np.cos(b) * np.cos(a), np.cos(b) * np.sin(a), np.sin(b)],
            [-np.sin(a), np.cos(a), 0.0],
            [-np.sin(b) * np.cos(a), -np.sin(b) * np.sin(a), np.cos(b)],
        ]
    )


def _graticule(ax: Axes, turn: Array) -> None:
    """The outline, and the near halves of parallels and meridians."""
    round_trip = np.linspace(0.0, 2.0 * np.pi, _STEPS)
    ax.plot(np.cos(round_trip), np.sin(round_trip), color=GREY, linewidth=0.8)
    across = np.linspace(-90.0, 90.0, _STEPS)
    lines = [Directions.from_lonlat(np.rad2deg(round_trip), np.full(_STEPS, p)) for p in _PARALLELS]
    lines += [Directions.from_lonlat(np.full(_STEPS, m), across) for m in _MERIDIANS]
    for line in lines:
        near = line.x @ turn.T
        hidden = near[:, 0] < 0.0
        near[hidden] = np.nan
        if not hidden.all():
            ax.plot(near[:, 1], near[:, 2], color=GREY, linewidth=0.3, alpha=0.5)
