"""Concentrated data seen from close by: the boosted frame.

Conformal maps of the unit sphere to itself are Lorentz boosts. With a centre c, the height
``t = c·x`` and a scale ``s = e^{-r} <= 1``, stereographic projection from -c followed by division
by s sends x to y, where a cluster of size s about c is spread over the whole sphere. With

    f = {(1 - t) + s² (1 + t)} / (2 s²) = 2 / {(1 + y_c) + s² (1 - y_c)}

(one at c, s⁻² at the far side) the functions of degree <= L of x are exactly the functions of
degree <= L of y times f^L, and the uniform law of x is ``(s f)^{d-1}`` times that of y. A cluster
that loses all digits of its higher moments in x keeps them in y. Every difference is taken so
that nothing cancels at either end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.neighbours import spreads
from steradian.numerics.tolerances import SMALLEST_FRAME, TINY
from steradian.spaces.circle import Circle
from steradian.spaces.pieces import Pieces, circle_arcs, sphere_cells
from steradian.spaces.sphere import Sphere

_SPREAD = 0.5  # mean height above which data are enlarged at all
_HALVINGS = 60
_WIDE = 0.3  # scale above which points are seen well enough as they are
_SEEN = 3000  # points by which one is chosen
_DEGREES_PER_PIECE = 8  # that a coarse piece resolves


@dataclass(frozen=True, slots=True, eq=False)
class Boost:
    """The map x → y of one centre and scale; ``scale`` one only turns."""

    space: Circle | Sphere
    turn: Array  # (d, d): orthogonal, takes the centre to the last axis
    scale: float

    @classmethod
    def about(cls, space: Circle | Sphere, centre: Array, scale: float) -> Boost:
        """That of a unit vector and a scale."""
        last = np.eye(space.d)[-1]
        sign = 1.0 if centre[-1] < 0.0 else -1.0
        mirror = centre - sign * last
        turn = np.eye(space.d) - 2.0 * np.outer(mirror, mirror) / (mirror @ mirror)
        return cls(space, sign * turn, scale)

    @classmethod
    def plain(cls, space: Circle | Sphere) -> Boost:
        """The space as it is."""
        return cls(space, np.eye(space.d), 1.0)

    @property
    def d(self) -> int:
        return self.space.d

    def up(self, x: Array) -> tuple[Array, Array]:
        """Y (n, d) and f (n,) of directions ``x`` (n, d)."""
        turned = x @ self.turn.T
        if self.scale == 1.0:
            return turned, np.ones(len(x))
        below, above, across = _ends(turned)
        square = self.scale * self.scale
        whole = square * above + below
        y = np.empty_like(turned)
        y[:, :-1] = 2.0 * self.scale * across / whole[:, None]
        y[:, -1] = (square * above - below) / whole
        return y, whole / (2.0 * square)

    def down(self, y: Array) -> Array:
        """X of directions ``y`` (n, d)."""
        below, above, across = _ends(y)
        square = self.scale * self.scale
        whole = above + square * below
        x = np.empty_like(y)
        x[:, :-1] = 2.0 * self.scale * across / whole[:, None]
        x[:, -1] = (above - square * below) / whole
        return np.asarray(x @ self.turn)

    def points(self, y: Array) -> Array:
        """X of ``y`` (n, d), of unit length to the last digit."""
        x = self.down(y)
        return np.asarray(x / np.maximum(np.linalg.norm(x, axis=1, keepdims=True), 0.5))

    def factor(self, y: Array) -> Array:
        """F at ``y`` (n, d): (n,)."""
        below, above, _ = _ends(y)
        return np.asarray(2.0 / (above + self.scale * self.scale * below))

    def log_jacobian(self, f: Array) -> Array:
        """Log of the density of the uniform law of x against that of y."""
        return np.asarray((self.space.d - 1.0) * np.log(self.scale * f))

    def functions(self, y: Array, f: Array, level: int) -> Array:
        """A basis of all functions of x of degree 0..level, at y and f: (n, q + 1)."""
        values = self.space.harmonics(y, level)
        if self.scale < 1.0:
            values *= (f**level)[:, None]
        return values

    def terms(self, y: Array, f: Array, level: int) -> Array:
        """Their absolute values."""
        return np.abs(self.functions(y, f, level))

    def constant(self, level: int) -> Array:
        """The combination of `functions` that is constant, (q + 1,), of length one."""
        grid = self.space.exact_grid(2 * level)
        one = grid.analyze(self.factor(grid.points)[None] ** -level, level)[0]
        return np.asarray(one / np.linalg.norm(one))

    def chart(self, y: Array) -> Array:
        """Where distances are taken: y itself, or when enlarged its stereographic projection.

        In the latter the far side is far, (n, d - 1).
        """
        if self.scale == 1.0:
            return y
        _, above, across = _ends(y)
        return np.asarray(across / np.maximum(above, TINY)[:, None])

    def charted(self, at: Array) -> Array:
        """The y nearest to points of the chart."""
        if self.scale == 1.0:
            return np.asarray(at / np.linalg.norm(at, axis=1, keepdims=True))
        square = np.einsum("ni,ni->n", at, at)[:, None]
        return np.hstack([2.0 * at, 1.0 - square]) / (1.0 + square)

    def ground(self, y: Array) -> Array:
        """Y itself."""
        return y

    def spreads(self, ground: Array) -> Array:
        return spreads(ground)

    def narrowest(self, y: Array) -> Array | float:
        """What is far from the data is drawn together at the far side, to the square of the scale.

        There pieces are as small as they are near to it.
        """
        if self.scale == 1.0:
            return math.inf
        far = np.where(y[:, -1] < 0.0, np.linalg.norm(y[:, :-1], axis=1), 2.0)
        return np.asarray(far + 2.0 * self.scale)

    def covering(self, level: int) -> Pieces:
        count = 2 * math.ceil(level / _DEGREES_PER_PIECE)
        circle = isinstance(self.space, Circle)
        return circle_arcs(2 * count) if circle else sphere_cells(count)

    def pulled_back(self, f: Array, level: int) -> Array:
        """Of a function of y (coefficients) that of x with its signs and zeros.

        It is multiplied by ``(s² f)^level``, which is at most one.
        """
        if self.scale == 1.0 and (self.turn == np.eye(self.d)).all():
            return f

        def values(x: Array) -> Array:
            y, factor = self.up(x)
            return np.asarray(
                self.space.harmonics(y, level) @ f * (self.scale**2 * factor) ** level
            )

        return self.expanded(values, level)

    def features(self, x: Array, level: int) -> Array:
        return self.space.harmonics(x, level)

    def expanded(self, function: Callable[[Array], Array], level: int) -> Array:
        grid = self.space.exact_grid(2 * level)
        return grid.analyze(function(grid.points)[None], level)[0]


def boosts_for(space: Circle | Sphere, x: Array, weights: Array) -> list[Boost]:
    """Boosts worth trying for weighted directions, the most enlarging one first."""
    mean = weights @ x
    length = float(np.linalg.norm(mean))
    if length < _SPREAD:
        return [Boost.plain(space)]
    centre = mean / length
    low, high = math.log(SMALLEST_FRAME), 0.0
    for _ in range(_HALVINGS):
        middle = 0.5 * (low + high)
        y, _ = Boost.about(space, centre, math.exp(middle)).up(x)
        low, high = (low, middle) if weights @ y[:, -1] > 0.0 else (middle, high)
    return [Boost.about(space, centre, math.exp(power * high)) for power in (1.0, 0.5, 0.0)]


def boost_onto(space: Circle | Sphere, x: Array) -> Boost:
    """The one that spreads the points ``x`` (n, d) over the space; the plain one where they are.

    A function is nowhere negative, and zero on x, where the one of the same level is on y: so that
    whether a support lies on the boundary may be asked where no digit is lost to its concentration.
    """
    some = x[:: -(-len(x) // _SEEN)]
    closest = boosts_for(space, some, np.full(len(some), 1.0 / len(some)))[0]
    return closest if closest.scale < _WIDE else Boost.plain(space)


def _ends(y: Array) -> tuple[Array, Array, Array]:
    """1 - t, 1 + t for the last coordinate t, both without cancellation, and the others."""
    across, height = y[:, :-1], y[:, -1]
    square = np.einsum("ni,ni->n", across, across)
    near = square / (1.0 + np.abs(height))
    up = height > 0.0
    return np.where(up, near, 1.0 - height), np.where(up, 1.0 + height, near), across
