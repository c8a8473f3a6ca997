"""The picture that suits a result: by what its space declares, never by which space it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.arguments import checked_profile
from steradian.plots.canvas import new_page, settled
from steradian.plots.circle import rose
from steradian.plots.gap_bars import gaps
from steradian.plots.level_layout import levels_up_to
from steradian.plots.scene import scene_of
from steradian.plots.sphere_maps import globe, mollweide, stereonet
from steradian.plots.torus_map import ramachandran
from steradian.references.base import log_reference
from steradian.spaces.base import chart_of

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from steradian.decomposition import Profile


_ON_SPHERE: dict[str, Callable[..., Any]] = {
    "compass": stereonet,
    "geographic": mollweide,
    "sky": mollweide,
}
_PAGES = {"circle": ((1.0, 1.1), 4.1), "sphere": ((1.15, 1.0), 3.4), "torus": ((1.0, 1.0), 4.1)}
"""Ratio of the widths of picture and gaps, and height in inches."""


def density(source: Any, ax: Axes | None = None, *, level: int | None = None) -> Axes:
    """Draw data and the density of a level in the way of their field.

    Compass directions on a stereonet, longitudes and the sky on a Mollweide map, other directions
    of space on a globe; angles of the plane as a rose; two angles as Ramachandran's plot.

    Parameters
    ----------
    source : Profile, MaxEntFit or Directions
        What.
    ax : matplotlib Axes, optional
        Where; new ones unless given.
    level : int, optional
        Of a profile; the highest significant one unless given, and the highest where
        none is, which the title says. A rose has all levels up to it, of many four.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> ax = sr.plots.density(p)  # doctest: +SKIP
    """
    scene = scene_of(source, level, "circle", "sphere", "torus")
    chart = chart_of(scene.space)
    if chart == "torus":
        return ramachandran(source, ax, level=level)
    if chart == "sphere":
        draw: Callable[..., Any] = _ON_SPHERE.get(scene.frame, globe)
        return draw(source, ax, level=level)
    return rose(source, ax, levels=None if level is None else levels_up_to(level))


def overview(profile: Profile) -> Axes:
    """Draw a profile on a page: its data with a level beside its gaps.

    The level is the highest significant one, where a report begins too; where none
    is, the highest, and the title says so. Where the space has no picture there are the gaps alone.
    Returns the axes of the gaps, whose ``figure`` holds both.

    Examples
    --------
    >>> import steradian as sr
    >>> p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    >>> figure = sr.plots.overview(p).figure  # doctest: +SKIP
    """
    space = checked_profile(profile).moments.hierarchy.space
    chart = chart_of(space)
    if chart == "none" or log_reference(space, np.eye(1, space.d)) is None:  # no density to draw
        return gaps(profile)
    left, right = new_page(*_PAGES[chart])
    density(profile, left)
    gaps(profile, right)
    settled(left)
    return right
