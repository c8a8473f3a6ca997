"""Cells that follow the density of a law on the two-sphere.

A product grid fine enough for one sharp mode is that fine everywhere. Here the sphere is cut
into `Pieces`, halved where the density of the law at hand is not resolved. The coarse cells
always cover the whole sphere, so a mode far from all data is seen, and the cells are chosen
anew for every law: ψ(λ) is verified wherever it is evaluated.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from steradian.families.grids.curvature import Root, allowed_quadrature, mean_and_root
from steradian.families.meshes.mesh import log_sum, worst
from steradian.numerics.arrays import ROUNDOFF, Array, IntArray
from steradian.numerics.tolerances import NEGLIGIBLE_MASS
from steradian.spaces import Sphere
from steradian.spaces.pieces import ORDER, PieceMasses, piece_masses, sphere_cells

CELL_NODES = ORDER * ORDER
_MOST_CELLS = 1600  # about 400,000 nodes
_DEGREES_PER_CELL = 8  # that a coarse cell resolves
_NOISE = 4.0  # of the exponent at the nodes, in units of ROUNDOFF ||λ||₁
_FINER = 1.0 / 64.0  # cells are chosen for a smaller error than is allowed
_UNFELT = math.log(NEGLIGIBLE_MASS)
_LARGEST = 300.0  # log of an error that is certainly too large


@dataclass(frozen=True, slots=True)
class LocalLaw:
    """A law on the nodes that carry its mass."""

    psi: float
    error: float  # estimated share of the mass that the cells miss
    nodes: int  # of all cells
    mass: Array  # (n,)
    features: Array  # (n, q)

    @property
    def words(self) -> str:
        """How well the cells do."""
        return f"error {self.error:.1e} with {self.nodes} nodes"

    def root(self) -> Root:
        """Its curvature, as a stack of one."""
        mean, root = mean_and_root(self.mass, self.features)
        return Root(np.array([self.psi]), mean[None], np.empty((1, 0)), root[None])


@dataclass(frozen=True, slots=True)
class LocalRule:
    """Cells that cover the sphere, chosen for one law and used for those near it.

    Exponents are that of the law at hand plus a correction. The rounding of a long sum of
    large terms is then the same for all of them: their means differ smoothly.
    """

    origin: Array  # (q,): the law
    exponent: Array  # (k, CELL_NODES): of that law
    weights: Array  # (k, CELL_NODES)
    features: Array  # (k, CELL_NODES, q)

    def law(self, lam: Array) -> LocalLaw:
        """The law ∝ exp(lam · φ), whether or not these cells resolve it; ``lam`` (q,)."""
        exponent = self.exponent + self.features @ (lam - self.origin)
        masses = piece_masses(exponent, self.weights)
        psi = log_sum(masses.log_mass)
        return _law(masses, self.features, psi, float(_errors(masses, lam, psi).sum()))


class CellTree:
    """Cells and their quarters, with the features of one level at their nodes.

    Grows by the cells that laws ask for; those of earlier laws are kept while there is room.
    """

    def __init__(self, level: int) -> None:
        self._space, self._level = Sphere(), level
        self._first = sphere_cells(2 * math.ceil(level / _DEGREES_PER_CELL))
        room = 2 * _MOST_CELLS
        self._cells = self._first
        self._child = np.empty(room, dtype=np.int64)  # first of four quarters, -1 without
        self._weights = np.empty((room, CELL_NODES))
        self._features = np.empty((room, CELL_NODES, self._space.size(level) - 1))
        self._fill(0)

    def rule(self, lam: Array) -> LocalRule:
        """The cells that resolve exp(lam · φ); ``lam`` (q,)."""
        leaves, *_ = self._resolving(lam)
        features = self._features[leaves]
        return LocalRule(lam, features @ lam, self._weights[leaves], features)

    def law(self, lam: Array) -> LocalLaw:
        """The law ∝ exp(lam · φ) on the cells that resolve it; ``lam`` (q,)."""
        leaves, masses, psi, error = self._resolving(lam)
        heavy = masses.peak - psi > _UNFELT
        law = _law(masses.take(heavy), self._features[leaves[heavy]], psi, error)
        return replace(law, nodes=len(leaves) * CELL_NODES)

    def _resolving(self, lam: Array) -> tuple[IntArray, PieceMasses, float, float]:
        """Which cells resolve a law, their masses under it, its ψ, and the error left."""
        leaves = np.arange(len(self._first))
        masses = self._masses(leaves, lam)
        tolerance = float(allowed_quadrature(_FINER * lam))
        while True:
            psi = log_sum(masses.log_mass)
            errors = _errors(masses, lam, psi)
            split = worst(errors, tolerance, (_MOST_CELLS - len(leaves)) // 3)
            if not split.any():
                return leaves, masses, psi, float(errors.sum())
            if not self._quarter(leaves[split]):
                return self._resolving(lam)  # with room again
            quarters = (self._child[leaves[split], None] + np.arange(4)).ravel()
            leaves = np.concatenate([leaves[~split], quarters])
            masses = masses.take(~split).followed_by(self._masses(quarters, lam))

    def _masses(self, which: IntArray, lam: Array) -> PieceMasses:
        exponent = np.array([self._features[k] @ lam for k in which])
        return piece_masses(exponent, self._weights[which])

    def _quarter(self, parents: IntArray) -> bool:
        """Make the quarters of the cells that have none yet, or without room forget all."""
        bare = parents[self._child[parents] < 0]
        made = len(self._cells)
        if made + 4 * len(bare) > len(self._child):
            self._cells = self._first
            self._child[:] = -1
            return False
        if len(bare):
            self._child[bare] = made + 4 * np.arange(len(bare))
            self._cells = self._cells.followed_by(self._cells.take(bare).parts())
            self._fill(made)
        return True

    def _fill(self, start: int) -> None:
        """Nodes and features of the cells from ``start`` on."""
        new = slice(start, len(self._cells))
        points, self._weights[new] = self._cells.take(new).nodes()
        features = self._space.harmonics(points.reshape(-1, 3), self._level)[:, 1:]
        self._features[new] = features.reshape(len(points), CELL_NODES, -1)
        self._child[new] = -1


def _errors(masses: PieceMasses, lam: Array, psi: float) -> Array:
    """Share of all mass that the rule of each cell may miss, (k,).

    Tails below the rounding of the exponent are noise that no smaller cell lowers.
    """
    noise = _NOISE * ROUNDOFF * float(np.abs(lam).sum())
    known = np.maximum(masses.share - noise, 0.0)
    return known * np.exp(np.minimum(masses.log_height - psi, _LARGEST))


def _law(masses: PieceMasses, features: Array, psi: float, error: float) -> LocalLaw:
    """The rounding of a large ψ would leave a total that is not quite one."""
    mass = masses.scaled * np.exp(masses.peak - psi)[:, None]
    mass /= mass.sum()
    return LocalLaw(psi, error, mass.size, mass.ravel(), features.reshape(mass.size, -1))
