"""Sketch(d, size, levels, seed): harmonics of each degree about a few random axes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import solve_triangular

from steradian.arguments import whole_number
from steradian.data.stacks import MomentStack
from steradian.errors import InvalidArgument
from steradian.families.base import Family
from steradian.families.quadratics.sketched import SketchedQuadratics
from steradian.families.relative.below_polynomials import LinearBelow
from steradian.families.relative.family import polynomial_family
from steradian.hierarchies.base import Hierarchy, checked_level, checked_levels
from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.fisher_bingham.polynomials import HIGHEST_DEGREE
from steradian.numerics.heights.gegenbauer import polynomials
from steradian.numerics.spheres.hyperspherical import harmonic_size
from steradian.numerics.tolerances import DEPENDENT_FUNCTION
from steradian.spaces import HarmonicSpace, unit_sphere
from steradian.spaces.quadratic import coordinates, linear_axes

_MOST_FEATURES = 2000
_MOST_ENTRIES = 20_000_000  # of the forms of level 2
_LEAST_DIMENSION = 4
INVARIANCE = (
    "A realised sketch is not rotation invariant: its gaps change when the data are turned. Its "
    "axes have a rotation-invariant law, so that a gap is invariant in distribution."
)


@dataclass(frozen=True, slots=True)
class Sketch(Hierarchy):
    """Level 1 is the mean direction; level l adds harmonics of degree l about random axes.

    Of all harmonics of degree l >= 2 those are taken that are symmetric about one of ``size``
    random axes, the polynomials p_l(a_j·x), made orthonormal within the degree by
    E p_l(a·x) p_l(b·x) = p_l(a·b) / p_l(1); where there are more axes than harmonics of the
    degree, those that depend on the ones before are left out. Levels 1 and 2 are exact; higher
    ones are integrated by product rules in dimensions 4 and 5 and by quasi-random nodes above.

    A realised sketch is not rotation invariant; under new axes its gap is invariant in
    distribution: see `steradian.sketches`. Its deficits never exceed those of `Harmonics`.

    Parameters
    ----------
    d : int
        Ambient dimension, at least 4: below it `Harmonics` has everything.
    size : int
        Axes for each degree.
    levels : int
        Number of levels, at most five.
    seed : int
        Of the axes.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Sketch(10, 20, 3, seed=1).dims
    (10, 20, 20)
    """

    d: int
    size: int
    levels: int
    seed: int

    def __post_init__(self) -> None:
        if whole_number(self.d, "d") < _LEAST_DIMENSION:
            raise InvalidArgument(
                f"d is {self.d}; sketches are for {_LEAST_DIMENSION} dimensions and more: below "
                "that sr.Harmonics(d, levels) takes all harmonics"
            )
        whole_number(self.size, "size", least=1)
        whole_number(self.seed, "seed", least=0)
        checked_levels(self.levels, HIGHEST_DEGREE, "higher degrees are not integrated")
        if self.d + (self.levels - 1) * self.size > _MOST_FEATURES:
            raise InvalidArgument(
                f"{self.levels - 1} degrees of {self.size} axes are more than the "
                f"{_MOST_FEATURES} features whose covariance is formed; take fewer axes"
            )
        if self.levels > 1 and self.size * self.d**2 > _MOST_ENTRIES:
            raise InvalidArgument(
                f"{self.size} quadratics of {self.d} dimensions do not fit in memory; take fewer "
                "axes"
            )

    @property
    def space(self) -> HarmonicSpace:
        return unit_sphere(self.d)

    @property
    def dims(self) -> tuple[int, ...]:
        higher = (self._degree(k).change.shape[1] for k in range(2, self.levels + 1))
        return (self.d, *higher)

    @property
    def level_names(self) -> tuple[str, ...]:
        higher = (f"degree {k} about random axes" for k in range(2, self.levels + 1))
        return ("mean direction", *higher)

    @property
    def enough(self) -> str:
        return "at least two different directions"

    def _degree(self, degree: int) -> _Degree:
        return _degree(self.d, self.size, degree, self.seed)

    def axes(self, degree: int) -> Array:
        """The axes of one degree, (k, d)."""
        return self._degree(degree).axes

    @property
    def forms(self) -> Array:
        """The matrices M_k of φ = xᵀM_k x of level 2, (k, d, d)."""
        return _forms(self.d, self.size, self.seed)

    def features(self, x: AnyArray) -> AnyArray:
        parts = [np.sqrt(np.asarray(self.d, dtype=x.dtype)) * x]
        square = (x * x).sum(axis=1, keepdims=True)
        for degree in range(2, self.levels + 1):
            sketch = self._degree(degree)
            t = x @ sketch.axes.T.astype(x.real.dtype)
            parts.append(
                polynomials(t, self.d, degree, square)[degree] @ sketch.change.astype(x.real.dtype)
            )
        return np.hstack(parts)

    def stack_of_means(self, means: Array) -> MomentStack:
        """What no level looks at is taken for round: of the second moments only the trace."""
        mean = self.coordinates(means)
        left = (1.0 - np.einsum("bi,bi->b", mean, mean)) / self.d
        return MomentStack(means, mean, left[:, None, None] * np.eye(self.d))

    def coordinates(self, features: Array) -> Array:
        return coordinates(self.d, features)

    def family(self, level: int) -> Family:
        if checked_level(level, self.levels) == 1:
            return LinearBelow(self.d, linear_axes(self.d))
        return SketchedQuadratics(self) if level == 2 else polynomial_family(self, level)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:  # noqa: ARG002 - among features
        family = self.family(self.level_of(lam.shape[1]))
        return self.stack_of_means(family.expectations(lam, self))


@dataclass(frozen=True, slots=True, eq=False)
class _Degree:
    """The axes of one degree, and how orthonormal features are made of their polynomials."""

    axes: Array  # (k, d)
    change: Array  # (k, k), upper triangular


@lru_cache(maxsize=64)
def _degree(d: int, size: int, degree: int, seed: int) -> _Degree:
    drawn = np.random.default_rng([seed, degree]).standard_normal((size, d))
    axes = drawn / np.linalg.norm(drawn, axis=1, keepdims=True)
    heights = np.clip(axes @ axes.T, -1.0, 1.0)
    gram = polynomials(heights, d, degree)[degree]
    gram = gram / np.sqrt(harmonic_size(d, degree))  # p(1)² is how many harmonics there are
    kept: list[int] = []
    root = np.zeros((0, 0))
    for k in range(min(size, len(gram))):
        if len(kept) == harmonic_size(d, degree):
            break
        above = solve_triangular(root, gram[kept, k], trans="T") if kept else np.zeros(0)
        rest = float(gram[k, k] - above @ above)
        if rest > DEPENDENT_FUNCTION:  # of a square, so that its root is felt above rounding
            grown = np.zeros((len(kept) + 1, len(kept) + 1))
            grown[:-1, :-1], grown[:-1, -1], grown[-1, -1] = root, above, np.sqrt(rest)
            root = grown
            kept.append(k)
    return _Degree(axes[kept], solve_triangular(root, np.eye(len(kept))))


@lru_cache(maxsize=8)
def _forms(d: int, size: int, seed: int) -> Array:
    sketch = _degree(d, size, 2, seed)
    scale = np.sqrt(harmonic_size(d, 2)) * d / (d - 1.0)  # p_2 = scale (t² - 1/d)
    outer = np.einsum("ki,kj->kij", sketch.axes, sketch.axes) - np.eye(d) / d
    return np.asarray(scale * np.tensordot(sketch.change.T, outer, axes=1))
