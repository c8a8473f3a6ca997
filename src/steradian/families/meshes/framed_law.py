"""A law in the frame and basis that determine it, on the pieces that carry its mass."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.meshes.mesh import BLOCK, Basis, Mesh
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import FELT_MASS
from steradian.spaces.cells import highest
from steradian.spaces.pieces import Pieces

_CLEARANCE = 0.1  # nats above the values at the nodes, and half their differences
LARGEST = 300.0  # log of a mass that no law has: a spike between the nodes of a coarser mesh


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

    def rule(self) -> tuple[Array, Array]:
        """Nodes as directions (N, d) and their masses (N,): what integrates against the law."""
        return self.basis.frame.down(self.points), self.mass

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, d): rejection from constants above the law on each piece."""
        frame = self.basis.frame
        exponent = self.basis.at(self.points, self.factor) @ self.theta + self.deficit
        exponent += frame.log_jacobian(self.factor)
        ceiling = highest(exponent.reshape(len(self.pieces), -1)) + _CLEARANCE
        room = np.exp(ceiling - ceiling.max()) * self.pieces.areas()
        share = room / room.sum()
        kept: list[Array] = []
        missing = n
        while missing > 0:
            which = rng.choice(len(share), size=min(4 * missing + 64, BLOCK), p=share)
            y, element = self.pieces.take(which).draws(rng)
            f = frame.factor(y)
            height = self.basis.at(y, f) @ self.theta + self.deficit + frame.log_jacobian(f)
            good = y[np.log(rng.random(len(y)) / element) < height - ceiling[which]]
            kept.append(good[:missing])
            missing -= len(kept[-1])
        return frame.points(np.concatenate(kept)) if kept else np.zeros((0, frame.d))
