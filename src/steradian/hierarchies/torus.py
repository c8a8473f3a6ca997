"""Trigonometric functions of several angles: `Interactions` of them, and `TorusHarmonics`."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from math import comb

import numpy as np

from steradian.arguments import whole_number
from steradian.errors import InvalidArgument
from steradian.existence.squares import Roots
from steradian.hierarchies.base import Hierarchy, checked_levels
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.paths import Paths, turns
from steradian.numerics.torus import product_features, waves
from steradian.spaces import Torus

MOST_LEVELS = {1: 100, 2: 16, 3: 6, 4: 3}  # by the number of angles: below 1500 features
MOST_ANGLES = 4  # that have rules
_MOST_FEATURES = 1500
_NAMES = ("angles alone", "pairs of angles", "three angles together", "four angles together")


class OfAngles(Hierarchy):
    """Products of trigonometric functions of ``k`` angles."""

    __slots__ = ()
    k: int

    @property
    def space(self) -> Torus:
        return Torus(self.k)

    def paths(self, x: Array) -> Paths:
        return turns(x)


def _checked_angles(k: int) -> int:
    if whole_number(k, "k", least=1) > MOST_ANGLES:
        raise InvalidArgument(f"k is {k}; rules exist for at most {MOST_ANGLES} angles")
    return k


@dataclass(frozen=True, slots=True)
class Interactions(OfAngles):
    """Level l adds the products of trigonometric functions of exactly l different angles.

    With c_h = √2 cos hθ and s_h = √2 sin hθ of one angle, level l adds every product of l such
    functions, of l different angles, each of a frequency 1 <= h <= ``degree``: C(k, l) (2 degree)^l
    features. Level 1 makes the angles independent, each with its own law of maximum entropy, so the
    second gap is the dependence between pairs of angles in nats.

    Parameters
    ----------
    k : int
        Number of angles, at most four.
    degree : int
        The highest frequency of each angle.
    levels : int, optional
        How many angles are looked at together; all k unless said.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Interactions(3, 1).dims
    (6, 12, 8)
    """

    k: int
    degree: int
    levels: int = 0  # all k

    def __post_init__(self) -> None:
        k = _checked_angles(self.k)
        whole_number(self.degree, "degree", least=1)
        if not whole_number(self.levels, "levels"):
            object.__setattr__(self, "levels", k)
        checked_levels(self.levels, k, f"there are {k} angles")
        if self.q(self.levels) > _MOST_FEATURES:
            raise InvalidArgument(
                f"{self.q(self.levels)} features are more than the {_MOST_FEATURES} whose "
                "covariance is formed; pass a lower degree or fewer levels"
            )

    @property
    def level_names(self) -> tuple[str, ...]:
        return _NAMES[: self.levels]

    @property
    def dims(self) -> tuple[int, ...]:
        return tuple(comb(self.k, n) * (2 * self.degree) ** n for n in range(1, self.levels + 1))

    def up_to(self, levels: int) -> Interactions:
        return Interactions(self.k, self.degree, whole_number(levels, "levels", least=1))

    def wider(self, levels: int) -> Interactions | None:
        return self.up_to(levels) if levels <= self.k else None

    def features(self, x: AnyArray) -> AnyArray:
        return product_features(x, _interaction_terms(self.k, self.degree, self.levels))

    def terms(self, level: int) -> IntArray:
        """Which function of each angle makes each feature of levels 1..level, (q, k)."""
        return _interaction_terms(self.k, self.degree, level)

    def roots(self, level: int) -> list[Roots]:
        """Waves of some angles: no two of them differ by more than ``degree`` in any."""
        powers = np.array(list(product(range(self.degree + 1), repeat=level)))
        found = []
        for angles in combinations(range(self.k), level):
            frequencies = np.zeros((len(powers), self.k), dtype=np.int64)
            frequencies[:, angles] = powers
            found.append(Roots(partial(waves, frequencies=frequencies), self.degree))
        return found

    def path_degree(self, level: int) -> int:  # noqa: ARG002 - the same at every level
        return self.degree

    def coordinates(self, features: Array) -> Array:
        width = 2 * self.degree  # features of one angle, the lowest frequency first
        columns = [width * angle + part for angle in range(self.k) for part in (0, 1)]
        return np.asarray(features[..., columns] / np.sqrt(2.0))


@cache
def _interaction_terms(k: int, degree: int, levels: int) -> IntArray:
    """Which function of each angle makes each feature, (q, k), for `product_features`."""
    rows = []
    for together in range(1, levels + 1):
        for angles in combinations(range(k), together):
            for functions in product(range(1, 2 * degree + 1), repeat=together):
                row = np.zeros(k, dtype=np.int64)
                row[list(angles)] = functions
                rows.append(row)
    return np.array(rows)


@dataclass(frozen=True, slots=True)
class TorusHarmonics(OfAngles):
    """Level l adds the products of cos h_jθ_j and sin h_jθ_j with Σ_j h_j = l, h_j >= 0.

    They are the harmonics of the torus by total degree: level 1 holds the mean direction of each
    angle, level 2 the second frequency of each and the first of pairs. `Interactions`
    separates what each angle does alone from what they do together; here the two are mixed. With
    one angle it is `Harmonics` (2, levels).

    Parameters
    ----------
    k : int
        Number of angles, at most four.
    levels : int
        Highest total degree.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.TorusHarmonics(2, 2).dims
    (4, 8)
    """

    k: int
    levels: int

    def __post_init__(self) -> None:
        k = _checked_angles(self.k)
        checked_levels(self.levels, MOST_LEVELS[k], "the covariance of more features is not formed")

    @property
    def level_names(self) -> tuple[str, ...]:
        second = "two-fold, and pairs of angles" if self.k > 1 else "two-fold"
        names = ("mean directions", second, *(f"degree {n}" for n in range(3, self.levels + 1)))
        return names[: self.levels]

    @property
    def dims(self) -> tuple[int, ...]:
        return _degree_terms(self.k, self.levels)[1]

    def wider(self, levels: int) -> Hierarchy | None:
        return self.up_to(levels) if levels <= MOST_LEVELS[self.k] else None

    def features(self, x: AnyArray) -> AnyArray:
        return product_features(x, _degree_terms(self.k, self.levels)[0])

    def terms(self, level: int) -> IntArray:
        """Which function of each angle makes each feature of levels 1..level, (q, k)."""
        return _degree_terms(self.k, level)[0]

    def roots(self, level: int) -> list[Roots]:
        """Waves within half the degree of a centre, which for odd ones lies between two.

        So that those of one set differ by ``level`` at most, in total. Boxes of waves do, too.
        """
        sets = _root_frequencies(self.k, level)
        return [Roots(partial(waves, frequencies=each), level) for each in sets]

    def path_degree(self, level: int) -> int:
        return level

    def coordinates(self, features: Array) -> Array:
        return np.asarray(features[..., : 2 * self.k] / np.sqrt(2.0))


@cache
def _degree_terms(k: int, levels: int) -> tuple[IntArray, tuple[int, ...]]:
    """Which function of each angle makes each feature, (q, k), and how many of each degree."""
    frequencies = np.array(list(product(range(levels, -1, -1), repeat=k)))
    rows: list[tuple[int, ...]] = []
    dims = []
    for degree in range(1, levels + 1):
        before = len(rows)
        for each in frequencies[frequencies.sum(axis=1) == degree].tolist():
            choices = [(2 * h - 1, 2 * h) if h else (0,) for h in each]
            rows.extend(product(*choices))
        dims.append(len(rows) - before)
    return np.array(rows, dtype=np.int64), tuple(dims)


@cache
def _root_frequencies(k: int, level: int) -> tuple[IntArray, ...]:
    """Sets (p, k) of frequencies of which any two differ by at most ``level`` in total."""
    half = level // 2
    near = np.array(list(product(range(-half, half + 2), repeat=k)))
    axes = np.eye(k) if level % 2 else np.zeros((1, k))
    balls = [near[2 * np.abs(near - 0.5 * axis).sum(axis=1) <= level] for axis in axes]
    sides = [each for each in product(range(level + 1), repeat=k) if sum(each) == level]
    boxes = [np.array(list(product(*(range(side + 1) for side in each)))) for each in sides]
    return (*balls, *boxes)
