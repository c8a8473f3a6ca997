"""The answers of a hierarchy that is known by its features alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steradian.numerics.arrays import Array

if TYPE_CHECKING:
    from steradian.data.stacks import MomentStack
    from steradian.hierarchies.base import Hierarchy


class BareHierarchy:
    """What follows from the features, and capabilities that are not there.

    Its moments hold E φ of its own features and nothing beyond.
    """

    __slots__ = ()

    def q(self: Hierarchy, level: int) -> int:
        return sum(self.dims[:level])

    @property
    def held_levels(self: Hierarchy) -> int:
        return self.levels

    @property
    def held(self: Hierarchy) -> int:
        return self.q(self.levels)

    def expectations(self: Hierarchy, moments: MomentStack, level: int) -> Array:
        return moments.features[:, : self.q(level)]

    def turned(self, moments: MomentStack, matrix: Array) -> MomentStack | None:  # noqa: ARG002
        return None

    def zonal(self) -> None:
        return None

    @property
    def raw_scale(self) -> float:
        return 1.0

    @property
    def second_moment_levels(self) -> int:
        return 0

    def second_moments(self, level: int, sums: Array) -> None:  # noqa: ARG002
        return None
