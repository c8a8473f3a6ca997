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

from steradian.numerics.aliasing import extrapolated_tail, tail_windows
from steradian.numerics.arrays import Array, BoolArray, IntArray

ORDER = 16  # nodes of a cell in each direction
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

    def take(self, which: IntArray | slice) -> Cells:
        return Cells(self.face[which], self.centre[which], self.half[which])

    def quarters(self) -> Cells:
        """The four quarters of each cell, those of one cell next to each other."""
        centre = self.centre[:, None, :] + self.half[:, None, None] * _QUARTERS
        return Cells(np.repeat(self.face, 4), centre.reshape(-1, 2), np.repeat(0.5 * self.half, 4))

    def nodes(self) -> tuple[Array, Array]:
        """Nodes as unit vectors (k, CELL_NODES, 3), and their weights (k, CELL_NODES).

        The weights of all cells of the sphere add up to one.
        """
        at, weight = _nodes()
        u = np.repeat(self.centre[:, :1] + self.half[:, None] * at, ORDER, axis=1)
        v = np.tile(self.centre[:, 1:] + self.half[:, None] * at, (1, ORDER))
        inverse = 1.0 / np.sqrt(1.0 + u * u + v * v)
        sign = np.where(self.face < 3, 1.0, -1.0)[:, None]
        local = np.stack([u * inverse, v * inverse, sign * inverse], axis=2)
        turn = (np.arange(3) - self.face[:, None] - 1) % 3  # u follows the large coordinate
        points = np.take_along_axis(local, turn[:, None, :], axis=2)
        weights = np.outer(weight, weight).ravel() * inverse**3
        return points, weights * (self.half**2 / (4.0 * np.pi))[:, None]


@cache
def _nodes() -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights (sum two) on [-1, 1]."""
    return np.polynomial.legendre.leggauss(ORDER)


@cache
def _rule() -> tuple[Array, Array]:
    """One over each weight of a square, and the matrix from values to Legendre series."""
    at, weight = _nodes()
    values = np.polynomial.legendre.legvander(at, ORDER - 1)
    to_series = values.T * weight * (np.arange(ORDER) + 0.5)[:, None]
    return 1.0 / np.outer(weight, weight).ravel(), to_series


@cache
def _windows() -> Array:
    """Which products of Legendre polynomials lie in each tail window: (3, CELL_NODES)."""
    degree = np.maximum(*np.indices((ORDER, ORDER))).ravel()
    return np.array([np.isin(degree, list(w)) for w in tail_windows(ORDER - 1, _PERIOD)])


@dataclass(frozen=True, slots=True)
class CellMasses:
    """∫ exp(f) over each of k cells, by its own rule, and what that rule may miss."""

    scaled: Array  # (k, CELL_NODES): weight times exp(f - peak) at the nodes
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
    """Integrate exp(exponent); ``exponent`` and ``weights`` are (k, CELL_NODES).

    The error comes from the tail of each cell's own Legendre series, carried on to the degree
    at which the rule errs. A peak may stand between the nodes, so the height of a cell is
    that of its nodes plus half the way to their neighbours.
    """
    peak = exponent.max(axis=1)
    scaled = exponent - peak[:, None]
    np.exp(scaled, out=scaled)
    scaled *= weights
    inverse, to_series = _rule()
    square = (scaled * inverse).reshape(-1, ORDER, ORDER)
    series = np.abs(to_series @ (square @ to_series.T)).reshape(len(exponent), -1)
    largest = series.max(axis=1)
    sizes = np.array([series[:, window].max(axis=1) for window in _windows()]) / largest
    return CellMasses(
        scaled=scaled,
        peak=peak,
        log_mass=np.log(scaled.sum(axis=1)) + peak,
        log_height=np.log(4.0 * largest) + _highest(exponent),
        share=extrapolated_tail(sizes, ORDER - 1, _PERIOD),
    )


def _highest(exponent: Array) -> Array:
    """How high a function may rise of which these are values at the nodes, (k,)."""
    square = exponent.reshape(-1, ORDER, ORDER)
    reach = np.zeros_like(square)
    for near in (reach, reach.transpose(0, 2, 1)):
        values = square if near is reach else square.transpose(0, 2, 1)
        step = 0.5 * np.abs(values[:, 1:] - values[:, :-1])
        near[:, 0] += step[:, 0]
        near[:, -1] += step[:, -1]
        near[:, 1:-1] += np.maximum(step[:, 1:], step[:, :-1])
    reach += square
    return np.asarray(reach.reshape(len(exponent), -1).max(axis=1))
