"""The seam of what is measured: a `Hierarchy` of nested features."""

from __future__ import annotations

from typing import Protocol

from steradian.data.stacks import MomentStack
from steradian.families.base import Family, Law
from steradian.numerics.arrays import AnyArray, Array
from steradian.spaces import Space


class Hierarchy(Protocol):
    """Nested spaces of mean-zero features V_1 ⊂ V_2 ⊂ … on one space."""

    @property
    def space(self) -> Space:
        """Where the directions live."""
        ...

    @property
    def levels(self) -> int:
        """Number of levels."""
        ...

    @property
    def dims(self) -> tuple[int, ...]:
        """Features added by each level, q_l - q_{l-1}."""
        ...

    def features(self, x: AnyArray) -> AnyArray:
        """All features of all levels at ``x`` (n, d): (n, q_L), lowest level first."""
        ...

    def sums(self, x: Array, weights: Array | None) -> Array:
        """Σ_i w_i φ(x_i) of everything a `Moments` of this hierarchy holds, constant left out.

        Without ``weights`` each is one.
        """
        ...

    def law(self, level: int, lam: Array, psi: float) -> Law:
        """The law exp(lam · φ - psi) of one level, ``lam`` (q,)."""
        ...

    def moments_of(self, lam: Array, mean: Array) -> MomentStack:
        """Moments of the fits ``lam`` (B, q) of any one level with means ``mean`` (B, d)."""
        ...

    def family(self, level: int) -> Family:
        """The exponential family of one level, 1 <= level <= levels."""
        ...
