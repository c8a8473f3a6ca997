"""Features at the nodes of a rule, and the laws there: what any smooth family is integrated by.

From the uniform law, or from the level below, Newton's method on nodes creeps where the features of
a level raise modes far from the data on its way: angles of a concentration above ten, in pairs.
`grown_fit` is a start for it. Masses begin at the nodes near the data and come in elsewhere only
when the law asks for them (`primal_dual`), in a basis of the features that is white under the rows
themselves.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from scipy.linalg import lapack

from steradian.families.grids.curvature import Root, mean_and_root
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.neighbours import neighbour_tree, spreads
from steradian.numerics.primal_dual import PrimalDual, primal_dual
from steradian.numerics.threads import one_thread
from steradian.numerics.tolerances import FAIR_RULE, NEGLIGIBLE_MASS
from steradian.spaces.uniform_law import is_drawn, rule_of, rules_of

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


MOST_ENTRIES = 20_000_000  # features at nodes that are held: 160 MB
_AT_ONCE = 4_000_000  # densities at nodes that are held
_STANDARD_ERRORS = 3.0  # of a mean over draws, by which it is said to be off
_STEPS = 150  # of the primal-dual method: two to three times what was ever needed
_NOWHERE = 1e4  # nats below the data at which no mass starts


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """The nodes of one rule with the features there."""

    points: Array  # (N, d), or what tells them apart
    weights: Array  # (N,), of sum one
    phi: Array  # (N, q)
    drawn: bool = False  # whether they are uniform draws
    log_weights: Array | None = None  # (N,), where weights too small for a number count
    basis: Array | None = None  # (N,) masses of the law that features are white under; the weights

    def __len__(self) -> int:
        return len(self.weights)

    @property
    def logs(self) -> Array:
        """Logarithms of the weights, (N,)."""
        return np.log(self.weights) if self.log_weights is None else self.log_weights

    def first(self, q: int) -> Nodes:
        """The same with the first ``q`` features."""
        return replace(self, phi=self.phi[:, :q])

    def masses(self, lam: Array) -> tuple[Array, Array]:
        """ψ = log Σ w exp(λ·φ) (B,), and what the nodes carry (B, N), of sum one."""
        values = lam @ self.phi.T
        if self.log_weights is not None:
            values += self.log_weights
        peak = values.max(axis=1)
        values -= peak[:, None]
        np.exp(values, out=values)
        if self.log_weights is None:
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
        out = np.empty(len(lam))
        for rows in self.blocks(len(lam)):
            out[rows] = self.masses(lam[rows])[0]
        return out

    def doubt(self, lam: Array) -> Array:
        """How far ψ may be off for want of nodes, (B,): nothing where they are those of a rule.

        The mean of N draws of exp(λ·φ) is off by N^{-1/2} of their standard deviation, which over
        the mean is √(N Σ mass² - 1); with many features q the fit follows the draws by q / 2N.
        """
        if not self.drawn:
            return np.zeros(len(lam))
        squares = [(self.masses(lam[rows])[1] ** 2).sum(axis=1) for rows in self.blocks(len(lam))]
        n = len(self)
        spread = np.sqrt(np.maximum(n * np.concatenate(squares) - 1.0, 0.0) / n)
        return _STANDARD_ERRORS * spread + 0.5 * lam.shape[1] / n

    def slack(self, direction: Array, m: Array) -> Array:
        """Mean over largest value of max c·φ - c·φ for each ``direction`` c (B, q), (B,)."""
        out = np.ones(len(m))
        for rows in self.blocks(len(m)):
            values = direction[rows] @ self.phi.T
            top, room = values.max(axis=1), np.ptp(values, axis=1)
            mean = top - np.einsum("bq,bq->b", direction[rows], m[rows])
            out[rows] = np.where(room > 0.0, mean / np.where(room > 0.0, room, 1.0), 1.0)
        return out

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


@runtime_checkable
class BringsNodes(Protocol):
    """A hierarchy whose features see less than the whole point, with rules for what they see."""

    @property
    def node_rules(self) -> int:
        """How many rules there are, ever finer."""
        ...

    def nodes(self, rung: int) -> Nodes:
        """The nodes of one, with all features."""
        ...

    def seen(self, x: Array) -> Array:
        """What tells points ``x`` (n, d) apart, as the points of these nodes have it, (n, k)."""
        ...


def points_among_nodes(hierarchy: Hierarchy, x: Array) -> Array:
    """Points ``x`` (n, d) in the coordinates that the nodes of ``hierarchy`` have, (n, k)."""
    return hierarchy.seen(x) if isinstance(hierarchy, BringsNodes) else x


def is_drawn_on(hierarchy: Hierarchy) -> bool:
    """Whether integrals of the features are means over draws, for want of rules."""
    return not isinstance(hierarchy, BringsNodes) and is_drawn(hierarchy.space)


def affordable_rules(hierarchy: Hierarchy) -> int:
    """Rules of the space at whose nodes all features fit in memory; of draws, always two."""
    if isinstance(hierarchy, BringsNodes):
        return hierarchy.node_rules
    space, q = hierarchy.space, hierarchy.q(hierarchy.levels)
    count = rules_of(space)
    if is_drawn(space):
        return count
    while count > 1 and len(space.rule(count - 1).weights) * q > MOST_ENTRIES:
        count -= 1
    return count


@lru_cache(maxsize=6)
def nodes_of(hierarchy: Hierarchy, rung: int) -> Nodes:
    """The nodes of a rule of the space, with all features of ``hierarchy``."""
    if isinstance(hierarchy, BringsNodes):
        return hierarchy.nodes(rung)
    rule = rule_of(hierarchy.space, rung)
    phi = np.ascontiguousarray(hierarchy.features(rule.points))
    return Nodes(rule.points, rule.weights, phi, is_drawn(hierarchy.space))


def node_count(hierarchy: Hierarchy, rung: int) -> int:
    """Nodes of a rule of the space; features, which take long, are not formed to count them."""
    if isinstance(hierarchy, BringsNodes):
        return len(nodes_of(hierarchy, rung))
    return len(rule_of(hierarchy.space, rung).weights)


@lru_cache(maxsize=256)
def fair_rung(hierarchy: Hierarchy, level: int, rungs: int) -> int:
    """The first rule, though not the last, under which the features are fairly orthonormal."""
    q = hierarchy.q(level)
    for rung in range(rungs - 2):
        nodes = nodes_of(hierarchy, rung)
        phi = nodes.phi[:, :q]
        mass = nodes.weights if nodes.basis is None else nodes.basis
        gram = (mass[:, None] * phi).T @ phi
        off = max(np.abs(gram - np.eye(q)).max(), np.abs(mass @ phi).max())
        if off < FAIR_RULE:
            return rung
    return max(0, rungs - 2)


@one_thread()
def grown_fit(nodes: Nodes, x: Array, weights: Array, phi: Array) -> Array | None:
    """Natural parameters (q,) of the fit on ``nodes`` to rows ``x`` (n, k) with features ``phi``.

    Rows are in the coordinates of the nodes' points, and their ``weights`` (n,) have sum one. None
    where masses on these nodes do not have the moments of the rows, or the rows do not tell the
    features apart.
    """
    mean = weights @ phi
    factor = np.linalg.qr(np.sqrt(weights)[:, None] * (phi - mean), mode="r")
    size = np.abs(np.diag(factor))
    if len(size) < phi.shape[1] or size.min() <= ROUNDOFF * size.max():
        return None
    white = np.asarray(lapack.dtrtrs(factor, (nodes.phi - mean).T, trans=1)[0]).T
    masses = _near(nodes, x)
    begin = PrimalDual(np.zeros(len(mean) + 1), masses, False, False, 0, 0.0)
    found = primal_dual(white, nodes.logs, begin, _STEPS)
    return np.asarray(lapack.dtrtrs(factor, found.theta[1:])[0]) if found.converged else None


def _near(nodes: Nodes, x: Array) -> Array:
    """Log masses of sum one at the nodes: a bell of one local spread about each row, (N,)."""
    distance, index = neighbour_tree(x).query(nodes.points)
    away = distance / spreads(x)[index]
    logs = nodes.logs - np.minimum(0.5 * away * away, _NOWHERE)
    return np.asarray(logs - np.logaddexp.reduce(logs))
