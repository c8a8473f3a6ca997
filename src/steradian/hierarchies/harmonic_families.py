"""The exponential families of harmonics: which one integrates a level, by dimension."""

from __future__ import annotations

from functools import cache

from steradian.families.base import Family
from steradian.families.grids.gridded import GriddedFamily
from steradian.families.grids.quadratic_family import QuadraticFamily
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherFamily
from steradian.families.relative.below_polynomials import LinearBelow, QuadraticBelow
from steradian.spaces import Circle, Sphere, unit_sphere
from steradian.spaces.quadratic import linear_axes


@cache
def family_of_level(d: int, level: int) -> Family:
    """The family of a level where all levels have a closed form or a grid."""
    space = unit_sphere(d)
    if level > 2 and isinstance(space, Circle | Sphere):
        return GriddedFamily(space, level)
    return closed_family(d, level)


@cache
def below_polynomials(d: int, level: int) -> Family:
    """Levels 1 and 2 beside levels whose moments are polynomials at nodes."""
    return LinearBelow(d, linear_axes(d)) if level == 1 else QuadraticBelow(unit_sphere(d))


@cache
def closed_family(
    d: int, level: int
) -> VonMisesFisherFamily | QuadraticFamily | FisherBinghamFamily:
    """The families of levels 1 and 2, whose laws have a normaliser without a grid."""
    space = unit_sphere(d)
    grid = GriddedFamily(space, 1) if isinstance(space, Circle | Sphere) else None
    linear = VonMisesFisherFamily(d, linear_axes(d), grid)
    if level == 1:
        return linear
    if isinstance(space, Circle | Sphere):
        return QuadraticFamily(linear, GriddedFamily(space, level))
    return FisherBinghamFamily(space)
