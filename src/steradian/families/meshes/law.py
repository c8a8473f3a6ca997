"""A law on a mesh: its density and draws, and peaks between the nodes that no rule on it can see.

A faint mode far from the data may be thousands of times narrower than the pieces there and yet
hold a moment of the features. Its rise begins nowhere near a node, so that neither the masses at
the nodes nor the parts of a piece tell of it. The exponent does: it is smooth, and climbing from
the best node of each piece finds where it is highest.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.meshes.mesh import BLOCK, Basis, Mesh, log_sums
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.ascent import climbed
from steradian.numerics.balls.box_envelope import envelope_mass
from steradian.numerics.rejection import draws_of_boxes
from steradian.numerics.tolerances import (
    EXPONENT_ROUNDING,
    FELT_MASS,
    HEAVY_MASS,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces.pieces import Pieces, best_spots, highest

_CLEARANCE = 0.1  # nats above the values at the nodes, and half their differences
_HOPELESS = 0.01  # share of proposals that a piece keeps, below which it is cut,
_FELT_ROOM = 0.01  # where it has this share of all proposals,
_MOST_CUTS = 60  # of one piece: it is then a rounding of its place
LARGEST = 300.0  # log of a mass that no law has: a spike between the nodes of a coarser mesh
_REACH = 0.125  # of a half piece
_INSIDE, _BEYOND = 1.02, 1.05  # half pieces: what lies farther out is the neighbour's
_RISE = 1.0  # nats above the nodes with which a peak would be seen by its own piece


@dataclass(frozen=True, slots=True, eq=False)
class FramedLaw:
    """A law p = exp(θ·g + D), in the frame and basis that determine it; E_P g = 0."""

    basis: Basis
    theta: Array  # (q,)
    deficit: float  # D
    pieces: Pieces  # those that carry mass
    points: Array  # (N, d): their nodes, in the frame
    factor: Array  # (N,): f there
    mass: Array  # (N,): what they carry, of sum one

    @classmethod
    def on(cls, mesh: Mesh, theta: Array, deficit: float) -> FramedLaw:
        """The law on the pieces of a mesh that carry its mass."""
        mass = np.exp(np.minimum(mesh.features @ theta + mesh.log_weights + deficit, LARGEST))
        felt = mass.max(axis=1) > FELT_MASS
        points = mesh.points[felt].reshape(-1, mesh.points.shape[2])
        carried = mass[felt].ravel()
        return cls(
            mesh.basis, theta, deficit, mesh.pieces.take(felt), points,
            mesh.factor[felt].ravel(), carried / carried.sum(),
        )  # fmt: skip

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d), (n,)."""
        return np.asarray(self.basis(x) @ self.theta + self.deficit)

    def logpdf_errors(self, x: Array) -> Array:
        """Nats that `logpdf` may be off by at ``x`` (n, d), (n,).

        A deficit that is off by ε leaves a decrement of √2ε, and a log-density off by that times
        the distance of its features from their mean in standard deviations (Cauchy-Schwarz); and
        the exponent rounds.
        """
        at, nodes = self.basis(x), self.basis.at(self.points, self.factor)
        mean = self.mass @ nodes
        centred = nodes - mean
        covariance = centred.T @ (self.mass[:, None] * centred)
        away = at - mean
        squares = np.einsum("nq,nq->n", away, np.linalg.solve(covariance, away.T).T)
        left = np.sqrt(2.0 * VERIFIED_DIFFERENCE * np.maximum(squares, 0.0))
        return np.asarray(left + EXPONENT_ROUNDING * (np.abs(at) @ np.abs(self.theta)))

    def rule(self) -> tuple[Array, Array]:
        """Nodes as directions (N, d) and their masses (N,): what integrates against the law."""
        return self.basis.frame.down(self.points), self.mass

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d): rejection from constants above the law on each piece."""
        frame = self.basis.frame
        pieces, ceiling = self._envelope()

        def keep(which: IntArray) -> Array:
            y, element = pieces.take(which).draws(rng)
            height = self._height(y, frame.factor(y)) - ceiling[which]
            return np.asarray(y[np.log(rng.random(len(y)) / element) < height])

        room = envelope_mass(pieces.areas(), ceiling)
        return frame.points(draws_of_boxes(room, keep, n, rng, batch=BLOCK)[0])

    def _height(self, y: Array, f: Array) -> Array:
        """Log-density in the frame at ``y`` (n, d) of factors ``f`` (n,), (n,)."""
        return self.basis.at(y, f) @ self.theta + self.deficit + self.basis.frame.log_jacobian(f)

    def _envelope(self) -> tuple[Pieces, Array]:
        """Pieces, and a height that the law does not reach on each.

        On a piece where the law falls by thousands of nats that is far above all of it, and would
        be proposed again and again; such pieces are cut.
        """
        pieces, height = self.pieces, self._height(self.points, self.factor)
        height = height.reshape(len(pieces), -1)
        for _ in range(_MOST_CUTS):
            ceiling = highest(height) + _CLEARANCE
            room = envelope_mass(pieces.areas(), ceiling)
            kept = np.exp(height - ceiling[:, None]).mean(axis=1)
            cut = (kept < _HOPELESS) & (room > _FELT_ROOM * room.sum())
            if not cut.any():
                break
            parts = pieces.take(cut).parts()
            y = parts.nodes()[0].reshape(-1, self.points.shape[1])
            new = self._height(y, self.basis.frame.factor(y)).reshape(len(parts), -1)
            pieces = pieces.take(~cut).followed_by(parts)
            height = np.concatenate([height[~cut], new])
        return pieces, ceiling


def hidden_peaks(mesh: Mesh, theta: Array, log_partition: float, influence: Array) -> BoolArray:
    """Pieces on which exp(θ·g - ψ) rises well above all its nodes and may be felt, (k,).

    A peak as wide as its piece would hold its height times the share of the piece, and counts by
    its ``influence`` (k,) on some moment.
    """
    exponent = mesh.features @ theta - log_partition
    seen = exponent.max(axis=1)
    start = best_spots(exponent)

    def climbing(spots: Array, rows: IntArray) -> Array:
        points = mesh.pieces.take(rows).points_at(spots)
        flat = points.reshape(-1, points.shape[2])
        values = mesh.basis.at(flat, mesh.basis.frame.factor(flat)) @ theta
        return np.asarray(values - log_partition).reshape(spots.shape[:2])

    def within(spots: Array) -> Array:
        return np.clip(spots, -_BEYOND, _BEYOND)

    reach = np.full(len(mesh), _REACH)
    spot, highest = climbed(climbing, within, start, start.shape[1], reach)
    points = mesh.pieces.points_at(spot[:, None, :])[:, 0]
    noise = mesh.basis.noise(points, mesh.basis.frame.factor(points), theta)
    inside = np.abs(spot).max(axis=1) < _INSIDE
    felt = highest + log_sums(mesh.log_weights) + np.log(influence) > np.log(HEAVY_MASS)
    return np.asarray(inside & felt & (highest > seen + _RISE + noise))
