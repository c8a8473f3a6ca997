"""Densities of a hierarchy on the circle."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.data.directions import Directions
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import Array
from steradian.plots.canvas import GREY, axes_for, colour, dash, frame

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.profile import Profile

_STEPS = 721
_TICKS = ("0", "π/3", "2π/3", "π", "4π/3", "5π/3", "2π")


def circle_densities(
    profile: Profile, ax: Axes | None = None, *, empirical: tuple[Array, Array] | None = None
) -> Axes:
    """Draw p_1 … p_L of a profile on the circle against the angle, per radian.

    Parameters
    ----------
    profile : Profile
        Of directions in the plane.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    empirical : (angles, densities), optional
        A smoothed density of the data to compare with, angles in radians, ascending.
    """
    if profile.d != 2:
        raise InvalidDirections(f"this profile has d = {profile.d}; the circle has d = 2")
    ax = axes_for(ax)
    if empirical is not None:
        ax.fill_between(*empirical, color=GREY, alpha=0.25, linewidth=0, label="data, smoothed")
    theta = np.linspace(0.0, 2.0 * np.pi, _STEPS)
    at = Directions.from_angles(theta)
    for level in profile.levels:
        density = profile.fits[level].pdf(at, measure="surface")
        style = "-" if level == profile.levels[-1] else dash(level)
        (line,) = ax.plot(theta, density, linestyle=style, color=colour(level - 1))
        line.set(linewidth=1.8, label=f"$p_{{{level}}}$")
    ax.set_xticks(np.linspace(0.0, 2.0 * np.pi, len(_TICKS)), _TICKS)
    ax.set(xlim=(0.0, 2.0 * np.pi), xlabel="angle θ (rad)", ylabel="density (per rad)")
    ax.set_ylim(bottom=0.0)
    ax.legend(frameon=False)
    frame(ax)
    return ax
