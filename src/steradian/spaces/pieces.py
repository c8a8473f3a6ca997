"""What a set of pieces of a space provides: quadrature that can be refined where it is needed."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray


class Pieces(Protocol):
    """Pieces of the circle (`Arcs`), the two-sphere (`Cells`) or the torus (`Boxes`).

    Each has its own Gauss rule.
    """

    @property
    def half(self) -> Array:
        """Half the length of the longest side, (k,)."""
        ...

    def __len__(self) -> int: ...

    def take(self, which: IntArray | BoolArray | slice) -> Self:
        """Some of them."""
        ...

    def followed_by(self, more: Self) -> Self:
        """These and more."""
        ...

    def parts(self) -> Self:
        """The parts of each, those of one piece next to each other."""
        ...

    def halves(self) -> Self:
        """Each cut across its longest side only, where sides differ; else its parts."""
        ...

    def cut(self, along: BoolArray) -> tuple[Self, IntArray]:
        """Parts by the sides ``along`` (k, dim), where sides differ; and which each is of.

        Those of one piece are next to each other; else all its parts.
        """
        ...

    def nodes(self) -> tuple[Array, Array]:
        """Nodes as points (k, m, d), and weights (k, m) that add up to the share covered."""
        ...

    def points_at(self, spots: Array) -> Array:
        """Points (k, s, d) at ``spots`` (k, s, dim), each coordinate from -1 to 1."""
        ...

    def areas(self) -> Array:
        """Sizes in their own coordinates, (k,)."""
        ...

    def draws(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A point (k, d) of each, uniform in its own coordinates, and its surface element (k,).

        Surface elements are at most one.
        """
        ...
