"""Axial(d, levels): even harmonics, for axes and rotations, whose sign means nothing."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from steradian.arguments import shown, whole_number
from steradian.data.stacks import MomentStack, moments_about_centres
from steradian.errors import InvalidArgument
from steradian.existence.squares import Roots
from steradian.families.base import Family
from steradian.families.nodes.family import NodeFamily
from steradian.families.quadratics.bingham import BinghamFamily
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.paths import Paths, great_circles
from steradian.numerics.quadratics import quadratic_features, quadratic_size
from steradian.numerics.spheres.harmonics import circle_harmonics, sphere_harmonics
from steradian.numerics.spheres.three_sphere import three_sphere_harmonics
from steradian.numerics.torus import waves
from steradian.spaces import Axes, Rotations
from steradian.spaces.axes import signless

MOST_LEVELS = {2: 100, 3: 12, 4: 4}  # by dimension: features whose covariance is formed
_MOST_DIMENSIONS = 1 << 14
_NAMES = ("axis or girdle", "four-fold", "six-fold", "eight-fold")
_CIRCLE_NAMES = ("axis", *_NAMES[1:])  # a girdle takes three dimensions
_ROTATION_NAMES = ("mean rotation", "degree four", "degree six", "degree eight")


@dataclass(frozen=True, slots=True)
class Axial(Hierarchy):
    """Level l adds the harmonics of degree 2l, which do not tell x from -x.

    Level 1 is Bingham, exact in any dimension; on rotations, as unit quaternions, it is matrix
    Fisher (Prentice 1986). More levels exist up to d = 4. On the circle they are
    `Harmonics` (2, levels) of doubled angles.

    Parameters
    ----------
    d : int
        Ambient dimension.
    levels : int
        Number of levels: up to 100 on the circle, 12 on the two-sphere, 4 for d = 4, else one.
    space : Axes or Rotations, optional
        Where the points live: axes of R^d unless said.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Axial(3, 2).dims
    (5, 9)
    >>> sr.Axial.on(sr.Rotations(), 2).dims
    (9, 25)
    """

    d: int
    levels: int
    space: Axes | Rotations

    def __init__(self, d: int, levels: int, space: Axes | Rotations | None = None) -> None:
        if whole_number(d, "d") < 2:
            raise InvalidArgument(f"d is {d}; axes need at least two dimensions")
        if d > _MOST_DIMENSIONS:
            raise InvalidArgument(f"d is {d}; at most {_MOST_DIMENSIONS} are possible")
        why = f"in dimension {d} there are no rules for more"
        checked_levels(levels, MOST_LEVELS.get(d, 1), why)
        space = Axes(d) if space is None else _even_space(space)
        if space.d != d:
            raise InvalidArgument(f"d is {d}, and the {space.name} have d={space.d}")
        for name, value in (("d", d), ("levels", levels), ("space", space)):
            object.__setattr__(self, name, value)

    @classmethod
    def on(cls, space: Axes | Rotations, levels: int) -> Axial:
        """The even harmonics of a space of axes or of rotations."""
        return cls(_even_space(space).d, levels, space)

    @property
    def level_names(self) -> tuple[str, ...]:
        axes = _CIRCLE_NAMES if self.d == 2 else _NAMES
        rotations = isinstance(self.space, Rotations)
        names = (_ROTATION_NAMES if rotations else axes)[: self.levels]
        return (*names, *(f"degree {2 * k}" for k in range(len(names) + 1, self.levels + 1)))

    @property
    def enough(self) -> str:
        """Bingham exists unless all points lie in one hyperplane."""
        rows = "quaternions" if isinstance(self.space, Rotations) else "axes"
        return f"{rows} that span all {self.d} dimensions"

    @property
    def dims(self) -> tuple[int, ...]:
        return tuple(_size(self.d, 2 * k) for k in range(1, self.levels + 1))

    def up_to(self, levels: int) -> Axial:
        return Axial(self.d, levels, self.space)

    def wider(self, levels: int) -> Axial | None:
        return self.up_to(levels) if levels <= MOST_LEVELS.get(self.d, 1) else None

    def features(self, x: AnyArray) -> AnyArray:
        x = signless(x)
        if self.d > 3:
            higher = [three_sphere_harmonics(x, 2 * k) for k in range(2, self.levels + 1)]
            return np.hstack([quadratic_features(x), *higher])
        degrees = 2 * np.arange(1, self.levels + 1)
        if self.d == 2:
            even = [np.arange(2 * n - 1, 2 * n + 1) for n in degrees]
            return circle_harmonics(x, 2 * self.levels)[:, np.concatenate(even)]
        even = [np.arange(n * n, (n + 1) ** 2) for n in degrees]
        return sphere_harmonics(x, 2 * self.levels)[:, np.concatenate(even)]

    def roots(self, level: int) -> list[Roots]:
        """Harmonics of the degrees ``level``, ``level`` - 2, …: sums of powers of that degree."""
        if self.d == 2:
            double = 2 * np.arange(level + 1)[:, None]
            return [Roots(partial(waves, frequencies=double), 2 * level)]
        return [Roots(partial(_powers, level=level), level)]

    def path_degree(self, level: int) -> int:
        return 2 * level

    def paths(self, x: Array) -> Paths:
        return great_circles(x)

    def sums(self, x: Array, weights: Array | None) -> Array:
        if self.levels > 1:
            return Hierarchy.sums(self, x, weights)
        axis = signless(x)
        second = axis.T @ (axis if weights is None else weights[:, None] * axis)
        return BinghamFamily(self).features_of(np.zeros(self.d), second)

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        x = signless(x.reshape(-1, self.d)).reshape(x.shape)
        if self.levels > 1 or features is not None:
            return Hierarchy.stack(self, x, weights, features)
        centre, second = moments_about_centres(self.space, x, weights)
        return self._of_second_moments(centre, second)

    def _of_second_moments(self, centre: Array, second: Array) -> MomentStack:
        """Moments of level 1, without the features of the rows."""
        features = BinghamFamily(self).features_of(np.zeros_like(centre), second)
        return MomentStack(features, centre, second)

    def stack_of_means(self, means: Array) -> MomentStack:
        second = BinghamFamily(self).second_of(means)
        return MomentStack(means, np.zeros(second.shape[:2]), second)

    def family(self, level: int) -> Family:
        if checked_level(level, self.levels) == 1:
            return BinghamFamily(self)
        return NodeFamily(self, level)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        if self.levels > 1:
            return Hierarchy.moments_of(self, lam, mean)
        family = BinghamFamily(self)
        second = np.array([family.law(row).covariance() for row in lam])
        return self._of_second_moments(mean, second)

    def to_dict(self) -> dict[str, Any]:
        rotations = isinstance(self.space, Rotations)
        space = {"space": "rotations"} if rotations else {}
        return {"kind": "Axial", "d": self.d, "levels": self.levels, **space}


def _even_space(space: Any) -> Axes | Rotations:
    """``space`` itself, when it is one of axes or of rotations."""
    if not isinstance(space, Axes | Rotations):
        raise InvalidArgument(f"space is {shown(space)}; give sr.Axes(d) or sr.Rotations()")
    return space


def _powers(x: Array, level: int) -> Array:
    """A basis of what is of degree ``level`` and even or odd like it, at ``x`` (n, d): (n, p)."""
    if level == 1:
        return x
    degrees = range(level, -1, -2)
    if x.shape[1] > 3:
        return np.hstack([three_sphere_harmonics(x, n) for n in degrees])
    which = np.concatenate([np.arange(n * n, (n + 1) ** 2) for n in degrees])
    return np.asarray(sphere_harmonics(x, level)[:, which])


def _size(d: int, degree: int) -> int:
    """Number of harmonics of exactly an even degree."""
    if degree == 2:
        return quadratic_size(d)
    return {2: 2, 3: 2 * degree + 1, 4: (degree + 1) ** 2}[d]
