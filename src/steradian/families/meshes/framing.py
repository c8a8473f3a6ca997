"""What a mesh asks of a frame: coordinates in which some data are seen from close by."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from steradian.numerics.arrays import Array
from steradian.spaces.pieces import Pieces


class Framing(Protocol):
    """A map x → y of a space, with functions of y that span those of a level of x.

    ``f`` goes with y: what the frame needs beside it, one number of each point.
    """

    @property
    def d(self) -> int:
        """Numbers of a point x."""
        ...

    @property
    def scale(self) -> float:
        """Size of what is enlarged to order one; the rounding of x is felt by its inverse."""
        ...

    def up(self, x: Array) -> tuple[Array, Array]:
        """Y (n, e) and f (n,) of points ``x`` (n, d)."""
        ...

    def down(self, y: Array) -> Array:
        """X of ``y`` (n, e)."""
        ...

    def points(self, y: Array) -> Array:
        """The same, of unit length to the last digit."""
        ...

    def factor(self, y: Array) -> Array:
        """F at ``y`` (n, e): (n,)."""
        ...

    def log_jacobian(self, f: Array) -> Array:
        """Log of the density of the uniform law of x against that of the pieces, (n,)."""
        ...

    def functions(self, y: Array, f: Array, level: int) -> Array:
        """A basis of the constant and all features of the level, (n, q + 1)."""
        ...

    def terms(self, y: Array, f: Array, level: int) -> Array:
        """Sums of the absolute terms of these functions, (n, q + 1)."""
        ...

    def constant(self, level: int) -> Array:
        """The combination of `functions` that is constant, (q + 1,), of length one."""
        ...

    def chart(self, y: Array) -> Array:
        """Where distances from the data are taken, (n, c)."""
        ...

    def charted(self, at: Array) -> Array:
        """The y nearest to points of the chart."""
        ...

    def ground(self, y: Array) -> Array:
        """Where sizes of pieces are compared with distances, (n, c)."""
        ...

    def spreads(self, ground: Array) -> Array:
        """How close data lie about each of them, given on the ground (n, c): (n,)."""
        ...

    def narrowest(self, y: Array) -> Array | float:
        """Size of what the frame itself narrows at ``y``, (n,)."""
        ...

    def covering(self, level: int) -> Pieces:
        """Coarse pieces, enough for functions of the level itself."""
        ...

    def features(self, x: Array, level: int) -> Array:
        """Orthonormal features of the level at ``x`` (n, d), constant or not: (n, p)."""
        ...

    def expanded(self, function: Callable[[Array], Array], level: int) -> Array:
        """Coefficients of a function of x in the constant and these features, (q + 1,)."""
        ...
