"""NodeHierarchy: everything that follows from features on a space with rules."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

from steradian.data.stacks import MomentStack
from steradian.families.nodes import NodeFamily, NodeLaw
from steradian.hierarchies.bare import BareHierarchy
from steradian.hierarchies.on_nodes import (
    checked_level,
    features_alone,
    moment_stack,
    moments_of_laws,
    summed_features,
)
from steradian.numerics.arrays import AnyArray, Array
from steradian.spaces import Space


class NodeHierarchy(BareHierarchy, ABC):
    """A hierarchy that is known by its features and integrated by the rules of its space.

    What it asks for is what only its author knows: `space`, `levels`, `dims`, `level_names`,
    `up_to`, `features` and `to_dict`. Make it a frozen dataclass, so that it is a value.
    """

    __slots__ = ()

    space: Space  # or a property
    levels: int

    @property
    @abstractmethod
    def dims(self) -> tuple[int, ...]:
        """Features added by each level."""

    @property
    @abstractmethod
    def level_names(self) -> tuple[str, ...]:
        """What each level adds, in a reader's words."""

    @abstractmethod
    def up_to(self, levels: int) -> Self:
        """The first ``levels`` levels of it."""

    @abstractmethod
    def features(self, x: AnyArray) -> AnyArray:
        """All features of all levels at ``x`` (n, d): (n, q_L), lowest level first."""

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Its ``kind`` and its arguments."""

    def q(self, level: int) -> int:
        return sum(self.dims[:level])

    def wider(self, levels: int) -> Self | None:
        """No more levels than there are."""
        return self.up_to(levels) if levels <= self.levels else None

    def coordinates(self, features: Array) -> Array | None:  # noqa: ARG002
        """None: features need not hold the mean of the points."""
        return None

    def sums(self, x: Array, weights: Array | None) -> Array:
        return summed_features(self, x, weights)

    @property
    def held(self) -> int:
        return self.q(self.levels)

    @property
    def held_levels(self) -> int:
        return self.levels

    def stack(self, x: Array, weights: Array, features: Array | None = None) -> MomentStack:
        return moment_stack(self, x, weights, features)

    def expectations(self, moments: MomentStack, level: int) -> Array:
        return moments.features[:, : self.q(level)]

    def stack_of_means(self, means: Array) -> MomentStack:
        return features_alone(self.space, means)

    def family(self, level: int) -> NodeFamily:
        return NodeFamily(self, checked_level(level, self.levels))

    def law(self, level: int, lam: Array, psi: float) -> NodeLaw:
        return self.family(level).law(lam, psi)

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        return moments_of_laws(self, lam, mean)
