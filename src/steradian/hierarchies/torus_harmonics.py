"""TorusHarmonics(k, levels): trigonometric functions of several angles by total degree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import product
from typing import Any

import numpy as np

from steradian.arguments import whole_number
from steradian.errors import InvalidArgument
from steradian.existence.squares import Roots
from steradian.hierarchies.interactions import MOST_ANGLES
from steradian.hierarchies.on_nodes import NodeHierarchy, checked_levels
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.paths import Paths, turns
from steradian.numerics.torus import product_features, waves
from steradian.spaces import Torus

MOST_LEVELS = {1: 100, 2: 16, 3: 6, 4: 3}  # by the number of angles: below 1500 features


@dataclass(frozen=True, slots=True)
class TorusHarmonics(NodeHierarchy):
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
        k = whole_number(self.k, "k", least=1)
        if k > MOST_ANGLES:
            raise InvalidArgument(f"k is {k}; rules exist for at most {MOST_ANGLES} angles")
        checked_levels(self.levels, MOST_LEVELS[k], "the covariance of more features is not formed")

    @property
    def space(self) -> Torus:
        return Torus(self.k)

    @property
    def level_names(self) -> tuple[str, ...]:
        second = "two-fold, and pairs of angles" if self.k > 1 else "two-fold"
        names = ("mean directions", second, *(f"degree {n}" for n in range(3, self.levels + 1)))
        return names[: self.levels]

    @property
    def dims(self) -> tuple[int, ...]:
        return _terms(self.k, self.levels)[1]

    def up_to(self, levels: int) -> TorusHarmonics:
        return TorusHarmonics(self.k, levels)

    def wider(self, levels: int) -> TorusHarmonics | None:
        return self.up_to(levels) if levels <= MOST_LEVELS[self.k] else None

    def features(self, x: AnyArray) -> AnyArray:
        return product_features(x, _terms(self.k, self.levels)[0])

    def terms(self, level: int) -> IntArray:
        """Which function of each angle makes each feature of levels 1..level, (q, k)."""
        return _terms(self.k, level)[0]

    def roots(self, level: int) -> list[Roots]:
        """Waves within half the degree of a centre, which for odd ones lies between two.

        So that those of one set differ by ``level`` at most, in total. Boxes of waves do, too.
        """
        sets = _root_frequencies(self.k, level)
        return [Roots(partial(waves, frequencies=each), level) for each in sets]

    def path_degree(self, level: int) -> int:
        return level

    def paths(self, x: Array) -> Paths:
        return turns(x)

    def coordinates(self, features: Array) -> Array:
        return np.asarray(features[..., : 2 * self.k] / np.sqrt(2.0))

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "TorusHarmonics", "k": self.k, "levels": self.levels}


@cache
def _terms(k: int, levels: int) -> tuple[IntArray, tuple[int, ...]]:
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
