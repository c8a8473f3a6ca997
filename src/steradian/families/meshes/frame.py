"""Coordinates in which some data are seen from close by, and what a mesh asks of them.

Directions are seen in a `Boost`. Concentrated angles have a frame of their own, with functions of
each that are white under its own rows. An angle θ is counted from the mean direction of its rows.
The functions of frequency <= h of it are spanned by 1, p, r, p r, r², …, p r^{h-1}, r^h with
``p = sin θ`` and ``r = 1 - cos θ``, which are small where the rows are, and keep their digits;
those of angles that are spread out by cosines and sines. One orthogonalisation after the other
leaves functions that are white under the rows of the angle, of a frequency no higher than those
they came from; the features of several angles are their products, as they are those of cosines and
sines.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Protocol

import numpy as np
from scipy.linalg import lapack

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.neighbours import neighbour_tree, spreads
from steradian.numerics.spheres.harmonics import circle_harmonics
from steradian.numerics.tolerances import RANK, SAME_POINT
from steradian.numerics.torus import product_features, products
from steradian.spaces import Torus
from steradian.spaces.pieces import Pieces, torus_boxes


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


_SPREAD = 0.5  # mean resultant length above which an angle is seen from close by
_FREQUENCIES_PER_BOX = 4  # that coarse boxes resolve: a half turn holds two waves
_SHARE = 8  # a window holds one in so many rows
_LOOKED_AT = 1000  # rows whose neighbours are counted,
_CLUSTER = 16  # of which a cluster holds at least one in so many
_BLUR = 0.3  # share of rows beside the data that functions are white under, too


@dataclass(frozen=True, slots=True, eq=False)
class _Angle:
    """One angle: where it is counted from, and functions of it, the constant first."""

    centre: Array  # (2,): a unit vector
    close: bool  # whether it is seen from close by
    change: Array  # (2h + 1, 2h + 1): from the plain functions to white ones
    width: float  # of its tightest cluster

    def up(self, x: Array) -> Array:
        """θ of unit vectors ``x`` (n, 2): (n,)."""
        c, s = self.centre
        return np.arctan2(c * x[:, 1] - s * x[:, 0], c * x[:, 0] + s * x[:, 1])

    def down(self, theta: Array) -> Array:
        c, s = self.centre
        u, v = np.cos(theta), np.sin(theta)
        return np.stack([c * u - s * v, s * u + c * v], axis=1)

    def functions(self, theta: Array) -> Array:
        """(n, 2h + 1)."""
        return _plain(theta, len(self.change) // 2, self.close) @ self.change

    def terms(self, theta: Array) -> Array:
        plain = np.abs(_plain(theta, len(self.change) // 2, self.close))
        return np.asarray(plain @ np.abs(self.change))


@dataclass(frozen=True, slots=True, eq=False)
class TorusFrame:
    """Angles counted from centres of their own: y are the angles (n, k)."""

    table: IntArray  # (q, k): which function of each angle makes each feature
    angles: tuple[_Angle, ...]

    @property
    def d(self) -> int:
        return 2 * len(self.angles)

    @property
    def scale(self) -> float:
        """Width of the tightest angle that is seen from close by."""
        return min([one.width for one in self.angles if one.close], default=1.0)

    def up(self, x: Array) -> tuple[Array, Array]:
        parts = [one.up(x[:, 2 * k : 2 * k + 2]) for k, one in enumerate(self.angles)]
        return np.stack(parts, axis=1), np.ones(len(x))

    def down(self, y: Array) -> Array:
        return np.hstack([one.down(y[:, k]) for k, one in enumerate(self.angles)])

    def points(self, y: Array) -> Array:
        return self.down(y)

    def factor(self, y: Array) -> Array:
        return np.ones(len(y))

    def log_jacobian(self, f: Array) -> Array:
        """Pieces are those of the torus itself."""
        return np.zeros_like(f)

    def functions(self, y: Array, f: Array, level: int) -> Array:
        return products([one.functions(y[:, k]) for k, one in enumerate(self.angles)], self._rows)

    def terms(self, y: Array, f: Array, level: int) -> Array:
        return products([one.terms(y[:, k]) for k, one in enumerate(self.angles)], self._rows)

    @property
    def _rows(self) -> IntArray:
        return np.vstack([np.zeros_like(self.table[:1]), self.table])

    def constant(self, level: int) -> Array:
        return np.eye(len(self.table) + 1)[0]

    def chart(self, y: Array) -> Array:
        """Chords in units of the widths: about the data angles themselves, (n, 2k)."""
        across, along = np.sin(y), 2.0 * np.sin(0.5 * y) ** 2
        return np.hstack([across / self._widths, along / self._widths])

    def charted(self, at: Array) -> Array:
        across, along = np.split(at, 2, axis=1)
        return np.arctan2(across * self._widths, 1.0 - along * self._widths)

    def ground(self, y: Array) -> Array:
        return self.chart(y)

    def spreads(self, ground: Array) -> Array:
        """Of clusters rather than of neighbours: boxes hold more nodes than arcs and cells do."""
        some = ground[:: -(-len(ground) // _LOOKED_AT)]
        near = neighbour_tree(some).query(ground)[1]
        return np.asarray(spreads(some, len(some) // _CLUSTER)[near])

    def narrowest(self, y: Array) -> float:
        return np.inf

    @property
    def _widths(self) -> Array:
        return np.array([one.width for one in self.angles])

    def covering(self, level: int) -> Pieces:
        highest = -(-int(self.table.max()) // 2)
        least = 4 if len(self.angles) < 3 else 2
        return torus_boxes(least * -(-highest // _FREQUENCIES_PER_BOX), self._widths)

    def features(self, x: Array, level: int) -> Array:
        return product_features(x, self.table)

    def expanded(self, function: Callable[[Array], Array], level: int) -> Array:
        """By the product of equispaced rules that is exact for products of two features."""
        points = _equispaced(len(self.angles), 2 * int(self.table.max()) + 2)
        values = function(points) / len(points)
        return np.append(values.sum(), values @ product_features(points, self.table))


def torus_frames(table: IntArray, x: Array, weights: Array) -> list[TorusFrame]:
    """Frames worth trying for rows ``x`` (n, 2k) with weights of sum one, the closest first."""
    both = []
    for close in (True, False):
        pairs = [x[:, 2 * k : 2 * k + 2] for k in range(x.shape[1] // 2)]
        highest = [-(-int(column.max()) // 2) for column in table.T]
        angles = (
            _angle(pair, weights, h, close=close) for pair, h in zip(pairs, highest, strict=True)
        )
        both.append(TorusFrame(table, tuple(angles)))
    near = [one.close for one in both[0].angles]
    return both if any(near) else both[1:]


def _angle(x: Array, weights: Array, highest: int, *, close: bool) -> _Angle:
    """The frame of one angle, with functions of frequencies up to ``highest``."""
    mean = weights @ x
    length = float(np.linalg.norm(mean))
    centre = mean / length if length > 0.0 else np.array([1.0, 0.0])
    bare = _Angle(centre, close and length > _SPREAD, np.eye(2 * highest + 1), 1.0)
    theta = bare.up(x)
    width = _width(theta)
    beside = np.concatenate([theta - width, theta + width])
    share = np.concatenate([weights, np.tile(0.5 * _BLUR * weights, 2)]) / (1.0 + _BLUR)
    plain = _plain(np.concatenate([theta, beside]), highest, bare.close)
    return _Angle(centre, bare.close, _white(plain, share), width)


def _white(plain: Array, share: Array) -> Array:
    """The change (p, p) of functions (n, p), the constant first, to white ones, step by step."""
    sizes = np.sqrt(share @ plain**2)
    factor = np.linalg.qr(np.sqrt(share)[:, None] * plain / sizes, mode="r")
    if np.abs(np.diag(factor)).min() <= RANK:
        return np.diag(1.0 / sizes)
    inverse = np.asarray(lapack.dtrtri(factor)[0]) * np.sign(np.diag(factor))
    return inverse / sizes[:, None]


def _plain(theta: Array, highest: int, close: bool) -> Array:
    """Functions of frequencies 0..highest of an angle (n,), two of each but the first."""
    across, along = np.sin(theta), 2.0 * np.sin(0.5 * theta) ** 2
    if not close:
        return circle_harmonics(np.stack([np.cos(theta), across], axis=1), highest)
    out = np.ones((len(theta), 2 * highest + 1))
    for h in range(highest):
        out[:, 2 * h + 1] = out[:, 2 * h] * across
        out[:, 2 * h + 2] = out[:, 2 * h] * along
    return out


def _width(theta: Array) -> float:
    """Length of a window that holds one in eight rows, in the middle of those at all rows."""
    ordered = np.sort(theta)
    held = max(1, len(ordered) // _SHARE)
    ahead = np.concatenate([ordered, ordered + 2.0 * np.pi])[held : held + len(ordered)]
    return float(np.clip(np.median(ahead - ordered), SAME_POINT, 1.0))


@cache
def _equispaced(k: int, nodes: int) -> Array:
    """Points (N, 2k) of a product of equispaced rules."""
    turn = np.arange(nodes) * (2.0 * np.pi / nodes)
    return Torus(k).points(np.stack(np.meshgrid(*[turn] * k, indexing="ij"), -1).reshape(-1, k))
