"""Interactions(k, degree): what angles do alone, in pairs, in threes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, partial
from itertools import combinations, product
from math import comb
from typing import Any

import numpy as np

from steradian.arguments import whole_number
from steradian.errors import InvalidArgument
from steradian.existence.squares import Roots
from steradian.hierarchies.on_nodes import NodeHierarchy, checked_levels
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.paths import Paths, turns
from steradian.numerics.torus import product_features, waves
from steradian.spaces import Torus

MOST_ANGLES = 4  # that have rules
_MOST_FEATURES = 1500
_NAMES = ("angles alone", "pairs of angles", "three angles together", "four angles together")


@dataclass(frozen=True, slots=True)
class Interactions(NodeHierarchy):
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
        k = whole_number(self.k, "k", least=1)
        whole_number(self.degree, "degree", least=1)
        if k > MOST_ANGLES:
            raise InvalidArgument(f"k is {k}; rules exist for at most {MOST_ANGLES} angles")
        if not whole_number(self.levels, "levels"):
            object.__setattr__(self, "levels", k)
        checked_levels(self.levels, k, f"there are {k} angles")
        if self.q(self.levels) > _MOST_FEATURES:
            raise InvalidArgument(
                f"{self.q(self.levels)} features are more than the {_MOST_FEATURES} whose "
                "covariance is formed; pass a lower degree or fewer levels"
            )

    @property
    def space(self) -> Torus:
        return Torus(self.k)

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
        return product_features(x, _terms(self.k, self.degree, self.levels))

    def terms(self, level: int) -> IntArray:
        """Which function of each angle makes each feature of levels 1..level, (q, k)."""
        return _terms(self.k, self.degree, level)

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

    def paths(self, x: Array) -> Paths:
        return turns(x)

    def coordinates(self, features: Array) -> Array:
        width = 2 * self.degree  # features of one angle, the lowest frequency first
        columns = [width * angle + part for angle in range(self.k) for part in (0, 1)]
        return np.asarray(features[..., columns] / np.sqrt(2.0))

    def to_dict(self) -> dict[str, Any]:
        arguments = {"k": self.k, "degree": self.degree, "levels": self.levels}
        return {"kind": "Interactions", **arguments}


@cache
def _terms(k: int, degree: int, levels: int) -> IntArray:
    """Which function of each angle makes each feature, (q, k), for `product_features`."""
    rows = []
    for together in range(1, levels + 1):
        for angles in combinations(range(k), together):
            for functions in product(range(1, 2 * degree + 1), repeat=together):
                row = np.zeros(k, dtype=np.int64)
                row[list(angles)] = functions
                rows.append(row)
    return np.array(rows)
