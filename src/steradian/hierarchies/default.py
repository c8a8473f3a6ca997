"""The hierarchy of data about which nothing was said but where they live."""

from __future__ import annotations

from steradian.errors import InvalidArgument
from steradian.hierarchies.axial import Axial
from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.harmonics import Harmonics
from steradian.hierarchies.torus_harmonics import TorusHarmonics
from steradian.spaces import Axes, Circle, Hypersphere, Rotations, Space, Sphere, Torus
from steradian.text.audience import Advice

_FEW, _MANY = 2, 4  # levels in many and in few dimensions
_SPHERES = Circle, Sphere, Hypersphere  # made once: every profile asks


def default_hierarchy(space: Space, levels: int | None = None) -> Hierarchy:
    """Harmonics of every degree on spheres and tori, of even ones on axes and rotations."""
    if isinstance(space, _SPHERES):
        many = _MANY if space.d <= 3 else _FEW
        return Harmonics(space.d, many if levels is None else levels)
    if isinstance(space, Axes | Rotations):
        return Axial.on(space, _axial_levels(space.d) if levels is None else levels)
    if isinstance(space, Torus):
        return TorusHarmonics(space.k, _FEW if levels is None else levels)
    raise InvalidArgument(
        "nothing is known to measure on the {space}; pass {remedy}",
        space=space.name,
        remedy=Advice("hierarchy=sr.Custom(space, blocks)", "a hierarchy of your own in Python"),
    )


def _axial_levels(d: int) -> int:
    """Two where the second is integrated in little time."""
    return 2 if d <= 4 else 1
