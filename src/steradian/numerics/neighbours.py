"""The nearest of some points, in few dimensions by a tree and in many by products of matrices."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import SAME_POINT

_TREE = 8  # coordinates up to which a tree leaves out more than it costs
_AT_ONCE = 4_000_000  # distances that are held


def neighbour_tree(points: AnyArray) -> Any:
    """SciPy's k-d tree of ``points`` (n, d); its module takes longer to import than NumPy."""
    from scipy.spatial import cKDTree

    return cKDTree(points)


def spreads(y: Array, least: int = 0) -> Array:
    """Distance of each point to its √n/2-th neighbour, or ``least``-th if that is more, (n,)."""
    if len(y) == 1:
        return np.ones(1)
    count = max(1, min(len(y) - 1, max(least, round(0.5 * math.sqrt(len(y))))))
    return np.maximum(neighbour_tree(y).query(y, k=count + 1)[0][:, -1], SAME_POINT)


def nearest(points: Array, x: Array, count: int) -> tuple[Array, IntArray]:
    """Distances (n, count) of ``x`` (n, k) to its nearest ``points`` (m, k), and which they are.

    The nearest first; ``count`` is at most m.
    """
    if points.shape[1] <= _TREE:
        distance, which = neighbour_tree(points).query(x, k=np.arange(1, count + 1))
        return np.asarray(distance), np.asarray(which)
    parts = [_by_products(points, x[rows], count) for rows in _blocks(len(x), len(points))]
    return np.concatenate([p[0] for p in parts]), np.concatenate([p[1] for p in parts])


def _blocks(rows: int, points: int) -> list[slice]:
    step = max(1, _AT_ONCE // points)
    return [slice(first, first + step) for first in range(0, rows, step)]


def _by_products(points: Array, x: Array, count: int) -> tuple[Array, IntArray]:
    """By |x|² - 2 x·y + |y|² about the mean of the points; of those kept once more by |x - y|.

    The first loses the digits of distances below 1e-8 of the spread, and only ranks.
    """
    centre = points.mean(axis=0)
    y, z = points - centre, x - centre
    square = np.einsum("mk,mk->m", y, y) - 2.0 * (z @ y.T)
    some = np.argpartition(square, count - 1, axis=1)[:, :count]
    distance = np.stack([np.linalg.norm(x - points[one], axis=1) for one in some.T], axis=1)
    order = np.argsort(distance, axis=1)
    return np.take_along_axis(distance, order, 1), np.take_along_axis(some, order, 1)
