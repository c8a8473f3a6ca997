"""Sums of waves over very many points of the circle, without their angles.

Points are counted into cells about equispaced nodes. A point at an angle δ from its node, of which
the sine v is a difference of two products, has ``exp(ikδ) = Σ_p a_p(k) v^p`` with ``a_0 = 1``,
``a_1 = ik`` and ``a_{p+2} = a_p (p² - k²) / ((p + 1)(p + 2))``, the series of exp(ik arcsin v). So
the sums of the powers of v in each cell, and one Fourier transform of each power over the nodes,
give all waves to rounding. What a point costs is a table look-up and ten additions: no arc tangent,
which takes as long as all of it, and no spreading of points over the nodes near them.
"""

from __future__ import annotations

from functools import lru_cache

import ducc0
import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray

_ROWS = 1 << 14  # points at a time: their columns stay in the processor's cache
_NODES_PER_DEGREE = 32  # at least
_CELLS_PER_NODE = 4  # of the table that finds a node
_SPARE_DIGITS = 28  # of two: weights to 25 digits, so that sums of `_ROWS` have less than 53
_POWERS = 10  # |kδ| <= (π + 1) / 32, whose tenth power over 10! is 4e-16


def circle_modes(x: Array, weights: Array | None, degree: int) -> AnyArray:
    """Σ_i w_i exp(ikθ_i) of k = 0..degree, (degree + 1,).

    Of points ``x`` (n, 2) and ``weights`` (n,), without which each is one. Memory O(degree).
    """
    nodes = _NODES_PER_DEGREE << max(degree - 1, 0).bit_length()
    powers = np.zeros((_POWERS, nodes))
    for first in range(0, len(x), _ROWS):
        part = slice(first, first + _ROWS)
        _add_powers(powers, x[part], None if weights is None else weights[part])
    waves = ducc0.fft.r2c(powers, axes=(1,), forward=False)[:, : degree + 1]
    return np.asarray((waves * _series(degree)).sum(axis=0))


def _add_powers(powers: Array, x: Array, weights: Array | None) -> None:
    """Add Σ w v^p of the points about each node to ``powers`` (p, nodes)."""
    nodes = powers.shape[1]
    nearest, cos, sin = _tables(nodes)
    across, up = np.ascontiguousarray(x.T)
    side = len(nearest) // 2
    half_tangent = up / (1.0 + np.abs(across))  # of the angle from the nearer end of the axis
    half_tangent += 1.0
    half_tangent *= (side - 1) / 2
    cell = half_tangent.astype(np.intp)
    cell += side * (across < 0.0)
    at = nearest[cell]
    sine = cos[at] * up - sin[at] * across
    powers[0] += _totals(at, weights, nodes)
    term = sine.copy() if weights is None else weights * sine
    for p in range(1, _POWERS):
        powers[p] += np.bincount(at, term, nodes)
        term *= sine


def _totals(at: IntArray, weights: Array | None, nodes: int) -> AnyArray:
    """Σ w of the points about each node, (nodes,).

    The leading digits of weights are added without rounding: equal ones would round alike, and
    rows of few points be off by a fifth of a rounding each.
    """
    if weights is None:
        return np.bincount(at, minlength=nodes)
    large = np.ldexp(0.75, int(np.frexp(weights.max())[1]) + _SPARE_DIGITS)
    leading = (weights + large) - large
    total: AnyArray = np.bincount(at, leading, nodes)
    return total + np.bincount(at, weights - leading, nodes)


@lru_cache(maxsize=8)
def _tables(nodes: int) -> tuple[IntArray, Array, Array]:
    """The node next to each cell of the half-angle's tangent, and cos and sin of the nodes.

    Cells of [-1, 1] for points on the right, then those for points on the left.
    """
    cells = _CELLS_PER_NODE * nodes // 2
    right = 2.0 * np.arctan((2.0 * np.arange(cells + 1) + 1.0) / cells - 1.0)
    angle = np.concatenate([right, np.pi - right])
    turn = np.arange(nodes) * (2.0 * np.pi / nodes)
    nearest = np.round(angle * (nodes / (2.0 * np.pi))).astype(np.intp) % nodes
    return nearest, np.cos(turn), np.sin(turn)


@lru_cache(maxsize=8)
def _series(degree: int) -> AnyArray:
    """Coefficients a_p(k) of exp(ik arcsin v), (p, degree + 1)."""
    k = np.arange(degree + 1.0)
    series = np.empty((_POWERS, degree + 1), dtype=complex)
    series[0], series[1] = 1.0, 1j * k
    for p in range(_POWERS - 2):
        series[p + 2] = series[p] * ((p * p - k * k) / ((p + 1.0) * (p + 2.0)))
    return series
