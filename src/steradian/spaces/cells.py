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
from dataclasses import dataclass
from functools import cache

import numpy as np

from steradian.numerics.aliasing import extrapolated_tail, tail_windows
from steradian.numerics.arrays import Array, IntArray

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
        at, weight, _ = _rule()
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
def _rule() -> tuple[Array, Array, Array]:
    """Nodes and weights (sum two) on [-1, 1], and the matrix from values to Legendre series."""
    at, weight = np.polynomial.legendre.leggauss(ORDER)
    values = np.polynomial.legendre.legvander(at, ORDER - 1)
    return at, weight, values.T * weight * (np.arange(ORDER) + 0.5)[:, None]


@cache
def _windows() -> Array:
    """Which products of Legendre polynomials lie in each tail window: (3, CELL_NODES)."""
    degree = np.maximum(*np.indices((ORDER, ORDER))).ravel()
    return np.array([np.isin(degree, list(w)) for w in tail_windows(ORDER - 1, _PERIOD)])


def cell_errors(exponent: Array, weights: Array) -> tuple[Array, Array]:
    """What the rule of each cell may miss of ∫ exp(exponent), as a log (k,) and as a share (k,).

    From the tail of each cell's own Legendre series, carried on to the degree at which the
    rule errs. ``exponent`` and ``weights`` are (k, CELL_NODES). A peak may stand between the
    nodes, so the height of a cell is that of its nodes plus half the way to their neighbours.
    The share is relative to the largest Legendre coefficient.
    """
    peak = exponent.max(axis=1)
    scaled = np.exp(exponent - peak[:, None]) * weights
    _, weight, to_series = _rule()
    scaled /= np.outer(weight, weight).ravel()
    square = scaled.reshape(-1, ORDER, ORDER)
    series = np.abs(to_series @ (square @ to_series.T)).reshape(len(exponent), -1)
    largest = series.max(axis=1)
    sizes = np.array([series[:, window].max(axis=1) for window in _windows()]) / largest
    share = extrapolated_tail(sizes, ORDER - 1, _PERIOD)
    return np.log(4.0 * largest) + peak + _overshoot(exponent, peak), share


def _overshoot(exponent: Array, peak: Array) -> Array:
    """How far a function of which these are values at the nodes may rise above them, (k,)."""
    square = exponent.reshape(-1, ORDER, ORDER)
    reach = np.zeros_like(square)
    for axis in (1, 2):
        step = np.abs(np.diff(square, axis=axis))
        ends = [(0, 0)] * 3
        before, after = ends.copy(), ends.copy()
        before[axis], after[axis] = (1, 0), (0, 1)
        reach += 0.5 * np.maximum(np.pad(step, before), np.pad(step, after))
    return np.asarray((square + reach).max(axis=(1, 2)) - peak)
