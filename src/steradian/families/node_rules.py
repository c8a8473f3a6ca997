"""Features at the nodes of a rule, and the laws there: what any smooth family is integrated by."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from steradian.families.curvature import Root, mean_and_root
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import FAIR_RULE, NEGLIGIBLE_MASS

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

MOST_ENTRIES = 20_000_000  # features at nodes that are held: 160 MB
_AT_ONCE = 4_000_000  # densities at nodes that are held


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The nodes of one rule with the features there."""

    points: Array  # (N, d)
    weights: Array  # (N,), of sum one
    phi: Array  # (N, q)

    def __len__(self) -> int:
        return len(self.weights)

    def first(self, q: int) -> Nodes:
        """The same with the first ``q`` features."""
        return Nodes(self.points, self.weights, self.phi[:, :q])

    def masses(self, lam: Array) -> tuple[Array, Array]:
        """ψ = log Σ w exp(λ·φ) (B,), and what the nodes carry (B, N), of sum one."""
        values = lam @ self.phi.T
        peak = values.max(axis=1)
        values -= peak[:, None]
        np.exp(values, out=values)
        values *= self.weights
        total = values.sum(axis=1)
        values /= total[:, None]
        return np.log(total) + peak, values

    def blocks(self, rows: int) -> Iterator[slice]:
        """Rows of a stack whose masses are held at once."""
        step = max(1, _AT_ONCE // len(self))
        return (slice(first, first + step) for first in range(0, rows, step))

    def psi(self, lam: Array) -> Array:
        """Log-partitions of ``lam`` (B, q), (B,)."""
        return np.concatenate([self.masses(lam[rows])[0] for rows in self.blocks(len(lam))])

    def root(self, lam: Array) -> Root:
        """ψ, mean and covariance RᵀR of the features under the laws ``lam`` (B, q)."""
        psi, mean = np.empty(len(lam)), np.empty_like(lam)
        root = np.empty((len(lam), lam.shape[1], lam.shape[1]))
        for rows in self.blocks(len(lam)):
            psi[rows], masses = self.masses(lam[rows])
            for b, mass in enumerate(masses, start=rows.start):
                felt = mass > NEGLIGIBLE_MASS
                phi = self.phi if felt.all() else self.phi[felt]
                mean[b], root[b] = mean_and_root(mass if felt.all() else mass[felt], phi)
        return Root(psi, mean, np.empty((len(lam), 0)), root)


def affordable_rules(hierarchy: Hierarchy) -> int:
    """Rules of the space at whose nodes all features fit in memory."""
    space, q = hierarchy.space, hierarchy.q(hierarchy.levels)
    count = space.rules()
    while count > 1 and len(space.rule(count - 1).weights) * q > MOST_ENTRIES:
        count -= 1
    return count


@lru_cache(maxsize=6)
def nodes_of(hierarchy: Hierarchy, rung: int) -> Nodes:
    """The nodes of a rule of the space, with all features of ``hierarchy``."""
    rule = hierarchy.space.rule(rung)
    return Nodes(rule.points, rule.weights, np.ascontiguousarray(hierarchy.features(rule.points)))


@lru_cache(maxsize=256)
def fair_rung(hierarchy: Hierarchy, level: int, rungs: int) -> int:
    """The first rule, though not the last, under which the features are fairly orthonormal."""
    q = hierarchy.q(level)
    for rung in range(rungs - 2):
        nodes = nodes_of(hierarchy, rung)
        phi = nodes.phi[:, :q]
        gram = (nodes.weights[:, None] * phi).T @ phi
        off = max(np.abs(gram - np.eye(q)).max(), np.abs(nodes.weights @ phi).max())
        if off < FAIR_RULE:
            return rung
    return max(0, rungs - 2)
