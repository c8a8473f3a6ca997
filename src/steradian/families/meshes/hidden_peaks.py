"""Peaks of a law between the nodes of a mesh: narrow ones that no rule on it can see.

A faint mode far from the data may be thousands of times narrower than the pieces there and yet
hold a moment of the features. Its rise begins nowhere near a node, so that neither the masses at
the nodes nor the parts of a piece tell of it. The exponent does: it is smooth, and climbing from
the best node of each piece finds where it is highest.
"""

from __future__ import annotations

import numpy as np

from steradian.families.meshes.mesh import Mesh, log_sums
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import HEAVY_MASS
from steradian.spaces.pieces import best_spots

_STEP, _SHORTER, _CLIMBED = 0.125, 0.5, 40  # of a half piece; the last is below 1e-7 of it
_INSIDE, _BEYOND = 1.02, 1.05  # half pieces: what lies farther out is the neighbour's
_RISE = 1.0  # nats above the nodes with which a peak would be seen by its own piece


def hidden_peaks(mesh: Mesh, theta: Array, log_partition: float, influence: Array) -> BoolArray:
    """Pieces on which exp(θ·g - ψ) rises well above all its nodes and may be felt, (k,).

    A peak as wide as its piece would hold its height times the share of the piece, and counts by
    its ``influence`` (k,) on some moment.
    """
    exponent = mesh.features @ theta - log_partition
    seen = exponent.max(axis=1)
    spot = best_spots(exponent)
    highest, step = seen.copy(), np.full(len(mesh), _STEP)
    around = _stencil(spot.shape[1])
    for _ in range(_CLIMBED):
        tried = np.clip(spot[:, None, :] + step[:, None, None] * around, -_BEYOND, _BEYOND)
        values = _exponents(mesh, tried, theta) - log_partition
        best = values.argmax(axis=1)
        rows = np.arange(len(mesh))
        found = values[rows, best]
        higher = found > highest
        spot[higher], highest[higher] = tried[rows, best][higher], found[higher]
        step[~higher] *= _SHORTER
    points = mesh.pieces.points_at(spot[:, None, :])[:, 0]
    noise = mesh.basis.noise(points, mesh.basis.frame.factor(points), theta)
    inside = np.abs(spot).max(axis=1) < _INSIDE
    felt = highest + log_sums(mesh.log_weights) + np.log(influence) > np.log(HEAVY_MASS)
    return np.asarray(inside & felt & (highest > seen + _RISE + noise))


def _stencil(dim: int) -> Array:
    """Steps to all sides, (2 · dim or more, dim)."""
    steps = np.stack(np.meshgrid(*[[-1.0, 0.0, 1.0]] * dim, indexing="ij"), axis=-1)
    flat = steps.reshape(-1, dim)
    return flat[np.abs(flat).sum(axis=1) > 0.0]


def _exponents(mesh: Mesh, spots: Array, theta: Array) -> Array:
    """θ·g at spots (k, s, dim) of the pieces, (k, s)."""
    points = mesh.pieces.points_at(spots)
    flat = points.reshape(-1, points.shape[2])
    basis = mesh.basis
    return np.asarray(basis.at(flat, basis.frame.factor(flat)) @ theta).reshape(spots.shape[:2])
