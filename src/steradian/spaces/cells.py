"""The two-sphere cut into square cells on the faces of a cube, each with its own Gauss rule.

A point of a face with coordinates u, v in [-1, 1] is ``(u, v, 1) / r``, ``r² = 1 + u² + v²``,
in the axes of that face, and the surface element is ``du dv / r³``. A cell carries the tensor
product of two Gauss-Legendre rules of `ORDER` nodes, with that Jacobian in the weights, so any
set of cells that covers the sphere without overlap is a quadrature rule. Cells are halved in
both directions where a function asks for it, and only there: a law of concentration κ costs
log κ more cells about each of its modes, where a product grid costs κ nodes everywhere.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cache

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.spheres.aliasing import extrapolated_tail, tail_windows

ORDER = 16  # nodes of a cell in each direction
_ORDERS = {1: ORDER, 2: ORDER, 3: 12}  # of a piece, by its dimension: there are order^dim
_SHAPES = {order**dim: (order, dim) for dim, order in _ORDERS.items()}
CELL_NODES = ORDER * ORDER
_PERIOD = 2  # exponentials of locally quadratic functions: even and odd degrees differ
_QUARTERS = np.array([[-0.5, -0.5], [-0.5, 0.5], [0.5, -0.5], [0.5, 0.5]])


@dataclass(frozen=True, slots=True)
class Cells:
    """Squares on the faces of the cube."""

    face: IntArray  # (k,): 0..2 where the first, second, third coordinate is largest, 3..5 least
    centre: Array  # (k, 2): u and v
    half: Array  # (k,): half the side

    @classmethod
    def covering(cls, per_edge: int) -> Cells:
        """``per_edge``² cells on each face."""
        middle = (2.0 * np.arange(per_edge) + 1.0) / per_edge - 1.0
        face, u, v = np.meshgrid(np.arange(6), middle, middle, indexing="ij")
        centre = np.stack([u.ravel(), v.ravel()], axis=1)
        return cls(face.ravel(), centre, np.full(len(centre), 1.0 / per_edge))

    @classmethod
    def concatenated(cls, parts: Sequence[Cells]) -> Cells:
        """One set of several."""
        names = ("face", "centre", "half")
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    def __len__(self) -> int:
        return len(self.face)

    def take(self, which: IntArray | BoolArray | slice) -> Cells:
        return Cells(self.face[which], self.centre[which], self.half[which])

    def followed_by(self, more: Cells) -> Cells:
        return Cells.concatenated([self, more])

    def parts(self) -> Cells:
        """The four quarters of each cell, those of one cell next to each other."""
        centre = self.centre[:, None, :] + self.half[:, None, None] * _QUARTERS
        return Cells(np.repeat(self.face, 4), centre.reshape(-1, 2), np.repeat(0.5 * self.half, 4))

    def halves(self) -> Cells:
        """Squares are cut both ways."""
        return self.parts()

    def cut(self, along: BoolArray) -> tuple[Cells, IntArray]:
        """All parts, whatever the sides ``along`` which a law is steep; and which each is of."""
        return self.parts(), np.repeat(np.arange(len(along)), 4)

    def areas(self) -> Array:
        """Of the squares as they lie on the faces, (k,)."""
        return np.asarray(4.0 * self.half**2)

    def draws(self, rng: np.random.Generator) -> tuple[Array, Array]:
        """A point (k, 3) of each, uniform on its square, and its surface element (k,)."""
        spot = self.centre + self.half[:, None] * rng.uniform(-1.0, 1.0, (len(self), 2))
        points, inverse = self._points(spot[:, :1], spot[:, 1:])
        return points[:, 0], inverse[:, 0] ** 3

    def points_at(self, spots: Array) -> Array:
        """Unit vectors (k, s, 3) at ``spots`` (k, s, 2) from -1 to 1."""
        at = self.centre[:, None, :] + self.half[:, None, None] * spots
        return self._points(at[:, :, 0], at[:, :, 1])[0]

    def _points(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Unit vectors (k, m, 3) at coordinates (k, m) of the faces, and 1 / r there."""
        inverse = 1.0 / np.sqrt(1.0 + u * u + v * v)
        sign = np.where(self.face < 3, 1.0, -1.0)[:, None]
        local = np.stack([u * inverse, v * inverse, sign * inverse], axis=2)
        turn = (np.arange(3) - self.face[:, None] - 1) % 3  # u follows the large coordinate
        return np.take_along_axis(local, turn[:, None, :], axis=2), inverse

    def nodes(self) -> tuple[Array, Array]:
        """Nodes as unit vectors (k, CELL_NODES, 3), and their weights (k, CELL_NODES).

        The weights of all cells of the sphere add up to one.
        """
        at, weight = gauss_legendre()
        u = np.repeat(self.centre[:, :1] + self.half[:, None] * at, ORDER, axis=1)
        v = np.tile(self.centre[:, 1:] + self.half[:, None] * at, (1, ORDER))
        points, inverse = self._points(u, v)
        weights = np.outer(weight, weight).ravel() * inverse**3
        return points, weights * (self.half**2 / (4.0 * np.pi))[:, None]


def order_in(dim: int) -> int:
    """Nodes of a piece of ``dim`` dimensions in each direction."""
    return _ORDERS[dim]


def shape_of(nodes: int) -> tuple[int, int]:
    """Order and dimension of pieces of so many nodes."""
    return _SHAPES[nodes]


@cache
def gauss_legendre(order: int = ORDER) -> tuple[Array, Array]:
    """The Gauss-Legendre nodes and weights (sum two) on [-1, 1]."""
    return np.polynomial.legendre.leggauss(order)


@cache
def _rule(order: int, dim: int) -> tuple[Array, Array]:
    """One over each weight of a piece, and the matrix from values to Legendre series."""
    at, weight = gauss_legendre(order)
    values = np.polynomial.legendre.legvander(at, order - 1)
    to_series = values.T * weight * (np.arange(order) + 0.5)[:, None]
    whole = weight
    for _ in range(dim - 1):
        whole = np.outer(whole, weight).ravel()
    return 1.0 / whole, to_series


@cache
def _windows(order: int, dim: int) -> Array:
    """Which products of Legendre polynomials lie in each tail window: (3, nodes)."""
    degree = np.max(np.indices((order,) * dim), axis=0).ravel()
    return np.array([np.isin(degree, list(w)) for w in tail_windows(order - 1, _PERIOD)])


@dataclass(frozen=True, slots=True)
class CellMasses:
    """∫ exp(f) over each of k pieces, by its own rule, and what that rule may miss."""

    scaled: Array  # (k, nodes): weight times exp(f - peak) at the nodes
    peak: Array  # (k,): the largest f at the nodes
    log_mass: Array  # (k,)
    log_height: Array  # (k,): log of what a share of one means in the same units
    share: Array  # (k,): of the height that the rule may miss

    def take(self, which: IntArray | BoolArray) -> CellMasses:
        return CellMasses(*(getattr(self, f.name)[which] for f in fields(self)))

    def followed_by(self, more: CellMasses) -> CellMasses:
        names = [f.name for f in fields(self)]
        return CellMasses(*(np.concatenate([getattr(self, n), getattr(more, n)]) for n in names))


def cell_masses(exponent: Array, weights: Array) -> CellMasses:
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
    inverse, to_series = _rule(order, dim)
    flat = scaled * inverse
    series = flat.reshape(-1, order) @ to_series.T
    for axis in range(1, dim):
        series = to_series @ series.reshape(-1, order, order**axis)
    series = np.abs(series).reshape(len(exponent), -1)
    largest = series.max(axis=1)
    sizes = np.array([*(series[:, w].max(axis=1) for w in _windows(order, dim)), largest])
    return CellMasses(
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
