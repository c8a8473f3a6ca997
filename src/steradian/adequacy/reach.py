"""How far data reach: within some local spreads of the nearest of them.

The local spread of a row is the distance within which the others hold the share ½ / √n of the
weight, Kish's effective size for n: of equal weights, the distance to the √n/2-th neighbour. Rows
that are the same count once, with their weights together, so that a spread is zero for none. The
few rows that are farthest from all others, less than that share, would reach everywhere: their
spread is at most twice the largest of the rest.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

import numpy as np

from steradian.data.directions import Directions
from steradian.hierarchies.base import Hierarchy, seen_by
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray
from steradian.numerics.neighbours import nearest
from steradian.numerics.tolerances import EQUAL_WEIGHTS
from steradian.spaces.base import has_no_sign

_SPREADS, _IN_ONE_DIMENSION = 2.0, 8.0  # see `spreads_reached`
_MOST_ROWS = 2000  # whose spreads are found; of more a sample tells
_MOST_PRODUCTS = 1_000_000_000  # of their coordinates, rows by rows
_OUTLYING = 2.0  # times the largest spread of all but the few farthest rows
_UNEQUAL = 4  # times as many neighbours are looked at where weights differ
_SEED = 0


@dataclass(frozen=True, slots=True, eq=False)
class Reach:
    """Balls about the rows of a sample, as the features of its hierarchy see them.

    Attributes
    ----------
    points : array, (m, k)
        Distinct rows, as the hierarchy sees them.
    radius : array, (m,)
        How far each reaches, in the units of the rows.
    spreads : float
        How many local spreads that are.
    """

    hierarchy: Hierarchy
    points: Array
    radius: Array
    spreads: float

    @classmethod
    def of(cls, rows: Directions, hierarchy: Hierarchy) -> Reach:
        """The reach of some rows, or of a sample of very many."""
        x, weights = _some(rows).support()
        seen, weights = _distinct(seen_by(hierarchy, x), weights)
        both = has_no_sign(hierarchy.space)
        spread = _spreads(np.vstack([seen, -seen]) if both else seen, seen, weights)
        whole = x.shape[1] == seen.shape[1]
        spreads = spreads_reached(hierarchy.space.dimension if whole else seen.shape[1])
        return cls(hierarchy, seen, spreads * spread, spreads)

    def contains(self, x: Array) -> BoolArray:
        """Whether points ``x`` (n, d) of the space are within reach of the nearest row, (n,)."""
        seen, points = seen_by(self.hierarchy, x), self.points
        if has_no_sign(self.hierarchy.space):
            points = np.vstack([points, -points])
        distance, which = nearest(points, seen, 1)
        return np.asarray(distance[:, 0] <= self.radius[which[:, 0] % len(self.points)])

    @property
    def typical(self) -> float:
        """The median radius."""
        return float(np.median(self.radius))


def spreads_reached(dimension: int) -> float:
    """2 + 8 / k local spreads in k dimensions: 10 on a line, 6 on a surface, some 2 in many.

    On a surface a normal cloud of 500 rows then holds all but 1e-9 or less of its own fit, so that
    more than that is no tail; in many dimensions distances are much alike, and twice the
    distance to a neighbour is far away.
    """
    return _SPREADS + _IN_ONE_DIMENSION / dimension


def _some(rows: Directions) -> Directions:
    """All rows, or a random sample of very many."""
    most = min(_MOST_ROWS, int(sqrt(_MOST_PRODUCTS / rows.d)))
    if rows.n <= most:
        return rows
    rng = np.random.default_rng(_SEED)
    heavy = np.flatnonzero(rows.weights > 0.0)
    kept = np.zeros(rows.n, dtype=bool)
    kept[rng.choice(heavy, size=min(most, len(heavy)), replace=False)] = True
    return rows.take(kept)


def _distinct(seen: Array, weights: Array) -> tuple[Array, Array]:
    """Rows that the features tell apart, and what each weighs."""
    points, which = np.unique(seen, axis=0, return_inverse=True)
    return points, np.bincount(which.ravel(), weights=weights).astype(np.float64)


def _spreads(points: Array, seen: Array, weights: Array) -> Array:
    """The local spread of every row ``seen`` (m, k) among ``points``, (m,).

    ``points`` are the rows, and after them their antipodes where these are the same.
    """
    m = len(seen)
    if m == 1:
        return np.zeros(1)
    share = 0.5 * sqrt(float(weights @ weights))  # ½ / √ESS of weights of sum one
    room = 1 if np.ptp(weights) <= EQUAL_WEIGHTS else _UNEQUAL
    count = min(m, room * ceil(share * m) + 2)
    distance, which = nearest(points, seen, count)
    others = np.where(which % m == np.arange(m)[:, None], 0.0, weights[which % m])
    enough = np.cumsum(others, axis=1) >= share - m * ROUNDOFF
    enough[:, -1] = True
    spread = np.take_along_axis(distance, np.argmax(enough, axis=1)[:, None], axis=1)[:, 0]
    return np.minimum(spread, _OUTLYING * _upper(spread, weights, share))


def _upper(spread: Array, weights: Array, share: float) -> float:
    """The largest spread of all rows but the farthest, which hold less than ``share``."""
    order = np.argsort(spread)[::-1]
    beyond = np.cumsum(weights[order]) < share
    return float(spread[order][min(int(beyond.sum()), len(spread) - 1)])
