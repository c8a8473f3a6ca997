"""A space cut into pieces, each with its own Gauss rule: quadrature that is refined where needed.

A piece is a product of intervals in coordinates of its own, and carries the product of
Gauss-Legendre rules there with the surface element in the weights, so that any pieces that cover
the space without overlap are a quadrature rule. Pieces are cut where a function asks for it, and
only there: a law of concentration κ costs log κ more of them about each of its modes, where a
product grid costs κ nodes everywhere. There are

- arcs of the circle, of angles counted from the nearer of the two ends of the last axis, so that
  arcs however short keep all their digits at both;
- cells of the two-sphere, rectangles on the faces of a cube: the point of u, v in [-1, 1] is
  ``(u, v, 1) / r``, ``r² = 1 + u² + v²``, in the axes of its face, the surface element du dv / r³;
- boxes of the torus, of angles counted from a centre of each, as long in every angle as the widths
  of that angle ask for.

What is tight along one coordinate and broad along another is cut where it is tight.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from functools import cache
from itertools import product

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.spheres.aliasing import extrapolated_tail, tail_windows

ORDER = 16  # nodes of a piece in each direction, of one or two dimensions
_ORDERS = {1: ORDER, 2: ORDER, 3: 12}  # of a piece, by its dimension: there are order^dim
_SHAPES = {order**dim: (order, dim) for dim, order in _ORDERS.items()}
_PERIOD = 2  # exponentials of locally quadratic functions: even and odd degrees differ

Place = Callable[[IntArray, Array], tuple[Array, Array]]
"""Faces (k,) and coordinates (k, m, dim) on them → points (k, m, d), surface elements (k, m)."""


@dataclass(frozen=True, slots=True, eq=False)
class Pieces:
    """Products of intervals of coordinates on faces of a space."""

    place: Place
    whole: float  # area of the space
    widths: Array  # (dim,): what lengths of sides are compared with
    face: IntArray  # (k,)
    centre: Array  # (k, dim)
    sides: Array  # (k, dim): half the length of each side

    def __len__(self) -> int:
        return len(self.face)

    @property
    def half(self) -> Array:
        """Half the longest side in units of the widths, (k,)."""
        return np.asarray(self._relative.max(axis=1))

    @property
    def _relative(self) -> Array:
        return self.sides / self.widths

    def take(self, which: IntArray | BoolArray | slice) -> Pieces:
        """Some of them."""
        at = self.face[which], self.centre[which], self.sides[which]
        return Pieces(self.place, self.whole, self.widths, *at)

    def followed_by(self, more: Pieces) -> Pieces:
        """These and more."""
        pairs = ((getattr(self, n), getattr(more, n)) for n in ("face", "centre", "sides"))
        return Pieces(self.place, self.whole, self.widths, *(np.concatenate(p) for p in pairs))

    def parts(self) -> Pieces:
        """All sides halved, the parts of one piece next to each other."""
        return self.cut(np.ones(self.sides.shape, dtype=bool))[0]

    def halves(self) -> Pieces:
        """The longest side halved, in units of the widths."""
        relative = self._relative
        return self.cut(relative == relative.max(axis=1, keepdims=True))[0]

    def cut(self, along: BoolArray) -> tuple[Pieces, IntArray]:
        """The sides ``along`` (k, dim) halved, and which piece each part is of.

        Those of one piece are next to each other.
        """
        out, of = self, np.arange(len(self))
        for axis in range(along.shape[1]):
            cut = along[of, axis]
            first = np.repeat(np.arange(len(of)), 1 + cut)
            side = np.full(len(first), -1.0)
            side[1:][first[1:] == first[:-1]] = 1.0
            out, of, cut = out.take(first), of[first], cut[first]
            out.sides[cut, axis] *= 0.5
            out.centre[cut, axis] += (side * out.sides[:, axis])[cut]
        return out, of

    def areas(self) -> Array:
        """Sizes in their own coordinates, (k,)."""
        return np.asarray(np.prod(2.0 * self.sides, axis=1))

    def points_at(self, spots: Array) -> Array:
        """Points (k, s, d) at ``spots`` (k, s, dim), each coordinate from -1 to 1."""
        return self._placed(spots)[0]

    def draws(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A point (k, d) of each, uniform in its own coordinates, and its surface element (k,).

        Surface elements are at most one.
        """
        points, element = self._placed(rng.uniform(-1.0, 1.0, self.centre.shape)[:, None])
        return points[:, 0], element[:, 0]

    def nodes(self) -> tuple[Array, Array]:
        """Nodes as points (k, m, d), and weights (k, m) that add up to the share covered."""
        spots, weights = _product_rule(self.centre.shape[1])
        points, element = self._placed(spots)
        share = np.prod(self.sides, axis=1) / self.whole
        return points, np.outer(share, weights) * element

    def _placed(self, spots: Array) -> tuple[Array, Array]:
        return self.place(self.face, self.centre[:, None] + self.sides[:, None] * spots)


def circle_arcs(per_end: int) -> Pieces:
    """``per_end`` arcs about each end of the last axis."""
    face, middle = np.repeat([0, 1], per_end), np.tile(_middles(per_end), 2)[:, None]
    sides = np.full(middle.shape, 0.5 * np.pi / per_end)
    return Pieces(_on_circle, 2.0 * np.pi, np.ones(1), face, 0.5 * np.pi * middle, sides)


def sphere_cells(per_edge: int) -> Pieces:
    """``per_edge``² cells on each face of the cube."""
    square = np.array(list(product(_middles(per_edge), repeat=2)))
    face, centre = np.repeat(np.arange(6), len(square)), np.tile(square, (6, 1))
    sides = np.full(centre.shape, 1.0 / per_edge)
    return Pieces(_on_cube, 4.0 * np.pi, np.ones(2), face, centre, sides)


def torus_boxes(per_turn: int, widths: Array) -> Pieces:
    """``per_turn`` boxes along every angle; their points are the angles."""
    centre = np.pi * np.array(list(product(_middles(per_turn), repeat=len(widths))))
    sides = np.full(centre.shape, np.pi / per_turn)
    face = np.zeros(len(centre), dtype=np.int64)
    return Pieces(_as_angles, (2.0 * np.pi) ** len(widths), widths, face, centre, sides)


def _middles(count: int) -> Array:
    """Those of so many equal parts of [-1, 1]."""
    return (2.0 * np.arange(count) + 1.0) / count - 1.0


def _on_circle(face: IntArray, at: Array) -> tuple[Array, Array]:
    """Face 0 is about the last axis, 1 about its opposite; coordinates are angles from there."""
    angle, sign = at[..., 0], np.where(face == 0, 1.0, -1.0)[:, None]
    return np.stack([np.sin(angle), sign * np.cos(angle)], axis=2), np.ones_like(angle)


def _on_cube(face: IntArray, at: Array) -> tuple[Array, Array]:
    """Faces 0..2 are where the first, second, third coordinate is largest, 3..5 least."""
    u, v = at[..., 0], at[..., 1]
    inverse = 1.0 / np.sqrt(1.0 + u * u + v * v)
    sign = np.where(face < 3, 1.0, -1.0)[:, None]
    local = np.stack([u * inverse, v * inverse, sign * inverse], axis=2)
    turn = (np.arange(3) - face[:, None] - 1) % 3  # u follows the large coordinate
    return np.take_along_axis(local, turn[:, None, :], axis=2), inverse**3


def _as_angles(face: IntArray, at: Array) -> tuple[Array, Array]:  # noqa: ARG001 - there is one
    return at, np.ones(at.shape[:2])


@cache
def gauss_legendre(order: int = ORDER) -> tuple[Array, Array]:
    """The Gauss-Legendre nodes and weights (sum two) on [-1, 1]."""
    return np.polynomial.legendre.leggauss(order)


@cache
def _product_rule(dim: int) -> tuple[Array, Array]:
    """Nodes (1, m, dim) and weights (m,) of [-1, 1]^dim."""
    at, weight = gauss_legendre(_ORDERS[dim])
    spots = np.stack(np.meshgrid(*[at] * dim, indexing="ij"), axis=-1).reshape(1, -1, dim)
    whole = weight
    for _ in range(dim - 1):
        whole = np.outer(whole, weight).ravel()
    return spots, whole


def shape_of(nodes: int) -> tuple[int, int]:
    """Order and dimension of pieces of so many nodes."""
    return _SHAPES[nodes]


def best_spots(values: Array) -> Array:
    """Where in its piece the best node of ``values`` (k, nodes) lies, (k, dim) in [-1, 1]."""
    spots = _product_rule(shape_of(values.shape[1])[1])[0]
    return np.asarray(spots[0, values.argmax(axis=1)])


@cache
def _series(order: int, dim: int) -> tuple[Array, Array]:
    """One over each weight of a piece, and the matrix from values to Legendre series."""
    at, weight = gauss_legendre(order)
    values = np.polynomial.legendre.legvander(at, order - 1)
    return 1.0 / _product_rule(dim)[1], values.T * weight * (np.arange(order) + 0.5)[:, None]


@cache
def _windows(order: int, dim: int) -> Array:
    """Which products of Legendre polynomials lie in each tail window: (3, nodes)."""
    degree = np.max(np.indices((order,) * dim), axis=0).ravel()
    return np.array([np.isin(degree, list(w)) for w in tail_windows(order - 1, _PERIOD)])


@dataclass(frozen=True, slots=True)
class PieceMasses:
    """∫ exp(f) over each of k pieces, by its own rule, and what that rule may miss."""

    scaled: Array  # (k, nodes): weight times exp(f - peak) at the nodes
    peak: Array  # (k,): the largest f at the nodes
    log_mass: Array  # (k,)
    log_height: Array  # (k,): log of what a share of one means in the same units
    share: Array  # (k,): of the height that the rule may miss

    def take(self, which: IntArray | BoolArray) -> PieceMasses:
        return PieceMasses(*(getattr(self, f.name)[which] for f in fields(self)))

    def followed_by(self, more: PieceMasses) -> PieceMasses:
        names = [f.name for f in fields(self)]
        return PieceMasses(*(np.concatenate([getattr(self, n), getattr(more, n)]) for n in names))


def piece_masses(exponent: Array, weights: Array) -> PieceMasses:
    """Integrate exp(exponent) over pieces, (k, nodes), like ``weights``.

    The error comes from the tail of each piece's own Legendre series, carried on to the degree
    at which the rule errs. A peak may stand between the nodes, so the height of a piece is
    that of its nodes plus half the way to their neighbours.
    """
    order, dim = shape_of(exponent.shape[1])
    peak = exponent.max(axis=1)
    scaled = exponent - peak[:, None]
    np.exp(scaled, out=scaled)
    scaled *= weights
    inverse, to_series = _series(order, dim)
    flat = scaled * inverse
    series = flat.reshape(-1, order) @ to_series.T
    for axis in range(1, dim):
        series = to_series @ series.reshape(-1, order, order**axis)
    series = np.abs(series).reshape(len(exponent), -1)
    largest = series.max(axis=1)
    sizes = np.array([*(series[:, w].max(axis=1) for w in _windows(order, dim)), largest])
    return PieceMasses(
        scaled=scaled,
        peak=peak,
        log_mass=np.log(scaled.sum(axis=1)) + peak,
        log_height=np.log(2.0**dim * largest) + highest(exponent),
        share=extrapolated_tail(sizes.T, order - 1, _PERIOD),
    )


def highest(exponent: Array) -> Array:
    """How high a function may rise of which (k, nodes) are values at the nodes, (k,)."""
    order, dim = shape_of(exponent.shape[1])
    block = exponent.reshape(-1, *(order,) * dim)
    reach = block.copy()
    for axis in range(1, dim + 1):
        values, near = np.moveaxis(block, axis, 1), np.moveaxis(reach, axis, 1)
        step = 0.5 * np.abs(values[:, 1:] - values[:, :-1])
        near[:, 0] += step[:, 0]
        near[:, -1] += step[:, -1]
        near[:, 1:-1] += np.maximum(step[:, 1:], step[:, :-1])
    return np.asarray(reach.reshape(len(exponent), -1).max(axis=1))


def steep_sides(exponent: Array, within: float) -> BoolArray:
    """Sides along which a function, (k, nodes), changes half as much as along any: (k, dim).

    What is more than ``within`` below its largest value is taken to be no lower.
    """
    order, dim = shape_of(exponent.shape[1])
    top = exponent.max(axis=1, keepdims=True)
    block = np.maximum(exponent - top, -within).reshape(-1, *(order,) * dim)
    others = tuple(range(1, dim))
    change = np.stack([np.ptp(block, axis=1 + a).max(axis=others) for a in range(dim)], axis=1)
    return np.asarray(change >= 0.5 * change.max(axis=1, keepdims=True))
