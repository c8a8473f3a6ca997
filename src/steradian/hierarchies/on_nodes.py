"""NodeHierarchy: everything that follows from features on a space with rules or draws."""

from __future__ import annotations

import numpy as np

from steradian.arguments import whole_number
from steradian.data.stacks import MomentStack, blocks, moments_of_samples
from steradian.errors import InvalidArgument
from steradian.families.nodes.family import NodeFamily
from steradian.hierarchies.bare import BareHierarchy
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array


class NodeHierarchy(BareHierarchy):
    """A hierarchy that is known by its features and integrated by the rules of its space.

    What it asks for is what only its author knows: `space`, `levels`, `dims`, `level_names`,
    `up_to`, `features` and `to_dict`. Make it a frozen dataclass, so that it is a value.
    """

    __slots__ = ()

    def wider(self: Hierarchy, levels: int) -> Hierarchy | None:
        """No more levels than there are."""
        return self.up_to(levels) if levels <= self.levels else None

    def coordinates(self, features: Array) -> Array | None:  # noqa: ARG002
        """None: features need not hold the mean of the points."""
        return None

    def sums(self: Hierarchy, x: Array, weights: Array | None) -> Array:
        return summed_features(self, x, weights)

    def stack(
        self: Hierarchy, x: Array, weights: Array, features: Array | None = None
    ) -> MomentStack:
        return moments_of_samples(self, x, weights, features)

    def stack_of_means(self: Hierarchy, means: Array) -> MomentStack:
        return MomentStack.of_features(means, self.space.d)

    def family(self: Hierarchy, level: int) -> NodeFamily:
        return NodeFamily(self, checked_level(level, self.levels))

    def moments_of(self: Hierarchy, lam: Array, mean: Array) -> MomentStack:
        return moments_of_laws(self, lam, mean)


def checked_level(level: int, levels: int) -> int:
    """``level``, when it is among 1..levels."""
    if not 1 <= whole_number(level, "level") <= levels:
        raise InvalidArgument(f"level {level} is not among 1..{levels}")
    return level


def checked_levels(levels: int, most: int, why: str) -> None:
    """Refuse a number of levels that is not among 1..most; ``why`` there are no more."""
    if whole_number(levels, "levels") < 1:
        raise InvalidArgument(f"levels is {levels}; a hierarchy has at least one level")
    if levels > most:
        raise InvalidArgument(f"levels is {levels}; at most {most} are possible: {why}")


def summed_features(hierarchy: Hierarchy, x: Array, weights: Array | None) -> Array:
    """Σ_i w_i φ(x_i), (q,), over blocks of rows."""
    total = np.zeros(hierarchy.q(hierarchy.levels))
    weights = np.ones(len(x)) if weights is None else weights
    for rows in blocks(len(x), len(total)):
        total += weights[rows] @ hierarchy.features(x[rows])
    return total


def moments_of_laws(hierarchy: Hierarchy, lam: Array, mean: Array) -> MomentStack:
    """Moments of the fits ``lam`` (B, q) of any one level, of centres ``mean`` (B, d)."""
    level = next(k for k in range(1, hierarchy.levels + 1) if hierarchy.q(k) == lam.shape[1])
    family = hierarchy.family(level)
    scatter = np.empty((len(lam), mean.shape[1], mean.shape[1]))
    for row, each in enumerate(lam):
        points, mass = family.rule(each, 2)
        away = points - mean[row]
        scatter[row] = away.T @ (mass[:, None] * away)
    return MomentStack(family.expectations(lam, hierarchy), mean, scatter)
