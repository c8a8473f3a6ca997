"""The answers of a hierarchy that is known by its features alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

from steradian.numerics.arrays import Array

if TYPE_CHECKING:
    from steradian.data.stacks import MomentStack


class BareHierarchy:
    """Capabilities that are not there, each in the way `Hierarchy` asks for."""

    __slots__ = ()

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
