"""Where directions live: reference measure, harmonics, quadrature grids, uniform draws."""

from __future__ import annotations

from functools import cache

from steradian.spaces.base import Grid, GriddedSpace, HarmonicSpace, Rule, Space
from steradian.spaces.circle import Circle
from steradian.spaces.hypersphere import Hypersphere
from steradian.spaces.sphere import Sphere

__all__ = [
    "Circle",
    "Grid",
    "GriddedSpace",
    "HarmonicSpace",
    "Hypersphere",
    "Rule",
    "Space",
    "Sphere",
    "unit_sphere",
]


@cache
def unit_sphere(d: int) -> HarmonicSpace:
    """The space of unit vectors of R^d."""
    if d == 2:
        return Circle()
    if d == 3:
        return Sphere()
    return Hypersphere(d)
