"""The unit sphere of any dimension."""

from __future__ import annotations

from functools import cache

from steradian.spaces.base import HarmonicSpace
from steradian.spaces.circle import Circle
from steradian.spaces.hypersphere import Hypersphere
from steradian.spaces.sphere import Sphere


@cache
def unit_sphere(d: int) -> HarmonicSpace:
    """The space of unit vectors of R^d."""
    if d == 2:
        return Circle()
    if d == 3:
        return Sphere()
    return Hypersphere(d)
