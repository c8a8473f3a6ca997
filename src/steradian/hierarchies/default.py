"""The hierarchy of directions about which nothing was said."""

from __future__ import annotations

from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.harmonics import Harmonics


def default_hierarchy(d: int, levels: int) -> Hierarchy:
    """All spherical harmonics of unit vectors of ``d`` coordinates through degree ``levels``."""
    return Harmonics(d, levels)
