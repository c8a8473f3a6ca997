"""Where directions live: reference measure, harmonics, quadrature grids, uniform draws."""

from __future__ import annotations

from steradian.spaces.axes import Axes
from steradian.spaces.base import (
    Condenses,
    EvenCoordinates,
    Grid,
    GriddedSpace,
    HarmonicSpace,
    OneForm,
    OtherForms,
    Rule,
    Space,
)
from steradian.spaces.circle import Circle
from steradian.spaces.hypersphere import Hypersphere, unit_sphere
from steradian.spaces.rotations import Rotations
from steradian.spaces.sphere import Sphere
from steradian.spaces.torus import Torus

SHIPPED_SPACES = frozenset({Axes, Circle, Hypersphere, Rotations, Sphere, Torus})
"""The spaces of this package, which its tests prove; others are proven when they are used."""

__all__ = [
    "SHIPPED_SPACES",
    "Axes",
    "Circle",
    "Condenses",
    "EvenCoordinates",
    "Grid",
    "GriddedSpace",
    "HarmonicSpace",
    "Hypersphere",
    "OneForm",
    "OtherForms",
    "Rotations",
    "Rule",
    "Space",
    "Sphere",
    "Torus",
    "unit_sphere",
]
