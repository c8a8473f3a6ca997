"""Harmonics(d, levels): level L is all spherical harmonics of degree 1..L."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from typing import Literal

import numpy as np

from steradian.arguments import whole_number, wrong_value
from steradian.data.stacks import MomentStack, centred_moments
from steradian.errors import InvalidArgument
from steradian.existence.squares import Roots, sphere_roots
from steradian.families.base import Family
from steradian.families.grids.gridded import GriddedFamily
from steradian.families.grids.quadratic_family import QuadraticFamily
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherFamily
from steradian.hierarchies.base import Hierarchy, checked_level
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.polynomials import HIGHEST_DEGREE
from steradian.numerics.paths import Paths, great_circles
from steradian.numerics.torus import waves
from steradian.spaces import Circle, HarmonicSpace, Sphere, unit_sphere
from steradian.spaces.products import direct_sums, second_moments, sums_from_products
from steradian.spaces.quadratic import (
    coordinates,
    feature_moments,
    linear_axes,
    linear_features,
    low_moments,
    natural_parameters,
)
from steradian.text.audience import Advice
from steradian.text.messages import Name, arguments

_NARROW = 0.8  # of the squared length of the degree-2 moments of one point
_DIRECT_ROWS = 2000  # fewer rows are summed directly, more through a transform
_MOST_FITTED = {3: 32}  # by dimension
MOST_LEVELS = {2: 1000, 3: 100}  # by dimension: some ten thousand features
_MOST_DIMENSIONS = 1 << 14
_MOST_INTEGRATED = 2000  # features above dimension 3 whose covariance is formed at nodes
_LEVEL_NAMES = ("mean direction", "axis or girdle", "three-fold", "four-fold")
_CIRCLE_NAMES = ("mean direction", "two-fold axis", "three-fold", "four-fold")
_CLASSICAL_NAMES = ("Rayleigh", "Bingham")  # of a² |m_l|², where it has one
_DIRECT_LEVELS = 8  # above it the tensor of products would be large


@dataclass(frozen=True, slots=True)
class Harmonics(Hierarchy):
    """Cumulative harmonic spaces: the rotation-invariant hierarchy.

    Level 1 is von Mises-Fisher, level 2 Fisher-Bingham, level L all harmonics through
    degree L. Up to 1000 levels on the circle and 100 on the two-sphere; above dimension 3 levels 1
    and 2 are exact in any dimension, and up to five are integrated (see docs/high_dimension.md).

    Parameters
    ----------
    d : int
        Ambient dimension.
    levels : int
        Number of levels.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Harmonics(3, 4).dims
    (3, 5, 7, 9)
    """

    d: int
    levels: int

    def __post_init__(self) -> None:
        if whole_number(self.d, "d") < 2:
            raise InvalidArgument(f"d is {self.d}; directions need at least two dimensions")
        if whole_number(self.levels, "levels") < 1:
            raise wrong_value("levels", self.levels, "a hierarchy has at least one level")
        if self.d > _MOST_DIMENSIONS:
            raise InvalidArgument(
                f"d is {self.d}; at most {_MOST_DIMENSIONS} dimensions are possible, whose "
                "covariance is two gigabytes"
            )
        if self.d <= 3 and self.levels > MOST_LEVELS[self.d]:
            raise InvalidArgument(
                "{name} is {levels}; at most {most} are possible in dimension {d}: the moments of "
                "more do not fit in memory",
                name=Name("levels"), levels=self.levels, most=MOST_LEVELS[self.d], d=self.d,
            )  # fmt: skip
        if self.d > 3 and self.levels > HIGHEST_DEGREE:
            raise InvalidArgument(
                f"{self.levels} levels in dimension {self.d}: above dimension 3 at most "
                f"{HIGHEST_DEGREE} levels are integrated; pass fewer"
            )
        if self._by_polynomials and self.q(self.levels) > _MOST_INTEGRATED:
            raise InvalidArgument(
                "{levels} levels in dimension {d} have {count} features; at most {most} are "
                "integrated: pass {remedy}, which is exact{sketch}",
                levels=self.levels, d=self.d, count=self.q(self.levels), most=_MOST_INTEGRATED,
                remedy=arguments(levels=2),
                sketch=Advice(", or take some of the features by sr.Sketch", ""),
            )  # fmt: skip

    @property
    def space(self) -> HarmonicSpace:
        return unit_sphere(self.d)

    @property
    def level_names(self) -> tuple[str, ...]:
        names = (_CIRCLE_NAMES if self.d == 2 else _LEVEL_NAMES)[: self.levels]
        return (*names, *(f"degree {k}" for k in range(len(names) + 1, self.levels + 1)))

    @property
    def classical_names(self) -> tuple[str, ...]:
        return (*_CLASSICAL_NAMES, *[""] * self.levels)[: self.levels]

    @property
    def level_one_parts(self) -> tuple[str, str]:
        return "direction", "concentration"

    def q(self, level: int) -> int:
        return self.space.size(level) - 1

    def wider(self, levels: int) -> Harmonics | None:
        if levels > MOST_LEVELS.get(self.d, max(2, self.levels)):
            return None
        return Harmonics(self.d, levels)

    @property
    def dims(self) -> tuple[int, ...]:
        size = self.space.size
        return tuple(size(k) - size(k - 1) for k in range(1, self.levels + 1))

    @property
    def degrees(self) -> tuple[int, ...]:
        return tuple(range(1, self.levels + 1))

    @property
    def held_levels(self) -> int:
        """Highest degree held in `Moments`: products of two features on a gridded space.

        Degree 2 alone is known by the second moments in any dimension.
        """
        if self.d <= 3:
            return 2 * self.levels
        return self.levels if self._by_polynomials else 1

    def features(self, x: AnyArray) -> AnyArray:
        return self.space.harmonics(x, self.levels)[:, 1:]

    def roots(self, level: int) -> list[Roots]:
        """Harmonics of half the degree; for odd ones 1 - a·x, zero at one point a, is left over.

        On the two-sphere that is part of what spinors give.
        """
        if self.d == 2:
            return [Roots(partial(waves, frequencies=np.arange(level + 1)[:, None]), level)]
        if self.d == 3:
            return [sphere_roots(level)]
        half = level // 2
        return [Roots(partial(self.space.harmonics, degree=half), half, spared=level % 2)]

    def path_degree(self, level: int) -> int:
        return level

    def paths(self, x: Array) -> Paths:
        return great_circles(x)

    def sums(self, x: Array, weights: Array | None) -> Array:
        space = self.space
        if self._by_polynomials:
            return Hierarchy.sums(self, x, weights)
        if not isinstance(space, Circle | Sphere):
            weights = np.ones(len(x)) if weights is None else weights
            return np.asarray(weights @ space.harmonics(x, self.held_levels)[:, 1:])
        if len(x) <= _DIRECT_ROWS and self.levels <= _DIRECT_LEVELS:
            sums = sums_from_products(space, x, weights, self.levels)
        elif len(x) <= _DIRECT_ROWS:
            sums = direct_sums(space, x, weights, self.held_levels)
        else:
            sums = space.sums(x, weights, self.held_levels)[1:]
        total = len(x) if weights is None else float(weights.sum())
        if isinstance(space, Sphere) and _is_narrow(sums, total):
            return direct_sums(space, x, weights, self.held_levels)
        return sums

    @property
    def held(self) -> int:
        return self.q(self.held_levels)

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        if self._by_polynomials:
            return Hierarchy.stack(self, x, weights, features)
        if not self._is_gridded:
            mean, scatter = centred_moments(x, weights)
            return MomentStack(self.space.harmonics(mean, 1)[:, 1:], mean, scatter)
        if features is None and self.levels <= 2:
            return self._stack_of_products(x, weights)
        seen = Harmonics(self.d, max(2, self.levels))
        if features is None or seen != self:
            features = seen.features(x.reshape(-1, self.d)).reshape(*x.shape[:2], -1)
        return self._stack_of_features(features, x, weights)

    def _stack_of_products(self, x: Array, weights: Array) -> MomentStack:
        """Moments of two levels on the circle or the two-sphere from E x and E xxᵀ."""
        mean = (weights[:, None, :] @ x)[:, 0, :]
        second = np.swapaxes(x * weights[:, :, None], 1, 2) @ x
        features = feature_moments(self.space, mean, second)
        return _with_tight(MomentStack.of_second(features, mean, second), x, weights)

    def _stack_of_features(self, phi: Array, x: Array, weights: Array) -> MomentStack:
        """Moments on the circle or the two-sphere from features (B, n, p) of two levels or more.

        The mean and second moment are linear in them; only concentrated samples, where the
        difference of the two would lose digits, are looked at again.
        """
        means = (weights[:, None, :] @ phi)[:, 0, :]
        stack = MomentStack.of_second(means, *low_moments(self.d, means))
        return _with_tight(stack, x, weights)

    def expectations(self, moments: MomentStack, level: int) -> Array:
        if self._is_gridded or level < 2:
            held = moments.features[:, : self.q(level)]
            return held if held.shape[1] else moments.mean @ linear_features(self.d)
        exact = np.array([
            feature_moments(self.space, mean, scatter + np.outer(mean, mean))
            for mean, scatter in zip(moments.mean, moments.scatter, strict=True)
        ])  # fmt: skip
        return (
            exact
            if level == 2
            else np.hstack([exact, moments.features[:, self.q(2) : self.q(level)]])
        )

    def second_moments(self, level: int, sums: Array) -> Array | None:
        space = self.space
        if not isinstance(space, Circle | Sphere) or len(sums) < space.size(2 * level):
            return None
        return second_moments(space, level, sums[None])[0]

    def coordinates(self, features: Array) -> Array:
        return coordinates(self.d, features)

    def stack_of_means(self, means: Array) -> MomentStack:
        """Of two levels or more, all of which are held."""
        if self._is_gridded:
            return MomentStack.of_second(means, *low_moments(self.d, means))
        forms = natural_parameters(self.space, means[:, : self.q(2)])[1]
        second = 2.0 * forms / (self.d * (self.d + 2.0)) + np.eye(self.d) / self.d
        return MomentStack.of_second(means, self.coordinates(means), second)

    def turned(self, moments: MomentStack, matrix: Array) -> MomentStack:
        """Harmonics of one degree turn into each other: φ(x Aᵀ) = φ(x) D(A)."""
        space, features = self.space, moments.features
        if isinstance(space, Circle | Sphere):
            held = features.shape[1] + 1
            degree = next(k for k in range(self.held_levels, 0, -1) if space.size(k) <= held)
            grid = space.exact_grid(2 * degree)
            here = space.harmonics(grid.points, degree)[:, 1:]
            there = space.harmonics(grid.points @ matrix.T, degree)[:, 1:]
            between = here.T @ (grid.weights[:, None] * there)
            features = features[:, : space.size(degree) - 1] @ between
        elif self._by_polynomials:
            features = features @ self._between(matrix)
        scatter = matrix @ moments.scatter @ matrix.T
        return MomentStack(features, moments.mean @ matrix.T, scatter)

    def _between(self, matrix: Array) -> Array:
        """D(A) of all features, (q, q), from what they are at as many points as there are."""
        x = self.space.uniform(2 * self.q(self.levels), np.random.default_rng(0))
        here, there = self.features(x), self.features(x @ matrix.T)
        out, first = np.zeros((here.shape[1], here.shape[1])), 0
        for size in self.dims:
            part = slice(first, first + size)
            out[part, part] = np.linalg.lstsq(here[:, part], there[:, part], rcond=None)[0]
            first += size
        return out

    @property
    def enough(self) -> str:
        return "at least two different directions"

    @property
    def counts_degrees(self) -> bool:
        return True

    def squared_length(self, level: int) -> float:
        return float(self.q(level))

    def zonal(self) -> Harmonics | None:
        most = MOST_LEVELS.get(self.d)
        return None if most is None else Harmonics(self.d, most)

    @property
    def most_fitted(self) -> int:
        """Levels whose features at the nodes of a grid still fit in memory."""
        return _MOST_FITTED.get(self.d, self.levels)

    @property
    def second_moment_levels(self) -> int:
        return 2

    @property
    def raw_scale(self) -> float:
        return float(np.sqrt(2.0)) if isinstance(self.space, Circle) else 1.0

    @property
    def centred_moments(self) -> Literal["trace", "scatter"] | None:
        """Two levels above dimension 3 look at E x and the scatter alone; one at its trace."""
        if self._is_gridded or self._by_polynomials:
            return None
        return "trace" if self.levels == 1 else "scatter"

    def family(self, level: int) -> Family:
        if not self._by_polynomials:
            return _family_of_level(self.d, checked_level(level, self.levels))
        if checked_level(level, self.levels) <= 2:
            return _below_polynomials(self.d, level)
        from steradian.families.relative.family import polynomial_family

        return polynomial_family(self, level)

    @property
    def _is_gridded(self) -> bool:
        """Whether grids integrate every level."""
        return self.d <= 3

    @property
    def _by_polynomials(self) -> bool:
        """Whether there are levels above dimension 3 that have no closed form."""
        return self.d > 3 and self.levels > 2

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        space = self.space
        if self._by_polynomials:
            family = self.family(self.level_of(lam.shape[1]))
            return self.stack_of_means(family.expectations(lam, self))
        if isinstance(space, Circle | Sphere):
            features = GriddedFamily(space, self.level_of(lam.shape[1])).harmonic_moments(
                lam, max(2, self.levels)
            )
            _, second = low_moments(self.d, features)
            return MomentStack.of_second(features, mean, second)
        _, _, covariance = self.family(1).log_partition(lam[:, : self.d])
        return MomentStack(np.zeros((len(lam), 0)), mean, covariance / self.d)


@cache
def _family_of_level(d: int, level: int) -> Family:
    """The family of a level where all levels have a closed form or a grid."""
    space = unit_sphere(d)
    if not isinstance(space, Circle | Sphere):
        return VonMisesFisherFamily(d, linear_axes(d)) if level == 1 else FisherBinghamFamily(space)
    if level > 2:
        return GriddedFamily(space, level)
    linear = VonMisesFisherFamily(d, linear_axes(d), GriddedFamily(space, 1))
    return linear if level == 1 else QuadraticFamily(linear, GriddedFamily(space, level))


@cache
def _below_polynomials(d: int, level: int) -> Family:
    """Levels 1 and 2 beside levels whose moments are polynomials at nodes."""
    from steradian.families.relative.below_polynomials import LinearBelow, QuadraticBelow

    return LinearBelow(d, linear_axes(d)) if level == 1 else QuadraticBelow(unit_sphere(d))


def _with_tight(stack: MomentStack, x: Array, weights: Array) -> MomentStack:
    """Concentrated samples (B, n, d), where a difference of moments loses digits, anew."""
    tight = stack.concentrated
    if len(tight):
        stack.mean[tight], stack.scatter[tight] = centred_moments(x[tight], weights[tight])
    return stack


def _is_narrow(sums: Array, total: float) -> bool:
    """Whether directions of the sphere lie so close about one axis that fits feel rounding.

    At one point the squares of the five features of degree two add up to five. Sums are
    divided before they are squared: with weights squared they may be near 1e200.
    """
    if not total:
        return False
    mean = sums[3:8] / total
    return bool(mean.dot(mean) > _NARROW * 5.0)
