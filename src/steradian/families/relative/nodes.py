"""Quasi-random nodes that are distributed like a Fisher-Bingham law, and fits relative to it.

With p₂ a law of level 2 and μ = E_{p₂} φ its means, which are exact (`polynomials`), and m those of
the data, two fits are made on the same nodes: θ to m and α to μ. Were the nodes perfect, α would be
nothing. The information of the data's fit over p₂ is KL between the two,

    I = (θ - α)·m - χ(θ) + χ(α),        χ(θ) = log Σ w exp(θ·φ),

so that an error of the nodes counts in proportion to I and not to the deficit, and vanishes
with it. The nodes are placed about a rounded law near p₂, the same one for all its neighbours: they
stand still while parameters move a little, so that derivatives of what is integrated are
integrals of derivatives. They are some independent scramblings of one sequence. The spread of I
over them gives its standard error; its bias, which is of second order in the errors of means, is
as many times larger on one of them than on all together, and so is extrapolated away.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular

from steradian.families.nodes.rules import Nodes
from steradian.fitting.newton import newton
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.quasi_random import quasi_normal
from steradian.numerics.tolerances import (
    CHORD_LAST_STEP,
    NEARLY_DECREMENT,
    NODE_RESIDUAL,
    TINY_FACTOR,
)

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

BATCHES = 8  # independent scramblings
_WORK = 2_500_000_000  # multiplications of one covariance
_LEAST, _MOST = 13, 16  # powers of two of nodes
_SPACING = 1.0  # of rounded laws, over the root of the number of their parameters
_SEED = 20_240
_ROWS = 2048  # of nodes whose features are made at once
_CHORD_STEPS = 24  # with one covariance for all
_STEPS = 40


@dataclass(frozen=True, slots=True, eq=False)
class RelativeNodes:
    """Nodes that stand for one law of level 2, with all features of a hierarchy there."""

    lam: Array  # (q₂,) natural parameters of the law
    law: FisherBinghamLaw
    nodes: Nodes
    root: Array  # (q, q), upper triangular: the covariance RᵀR under the law

    def fits(self, m: Array, start: Array) -> Array:
        """Parameters θ (B, q) relative to the law whose means on the nodes are ``m`` (B, q)."""
        q = m.shape[1]
        return _fits(self.nodes.first(q), self.root[:q, :q], m, start)

    def batches(self, q: int) -> list[Nodes]:
        """The nodes of every scrambling, with q features and weights of sum one."""
        size = len(self.nodes) // BATCHES
        parts = [slice(k * size, (k + 1) * size) for k in range(BATCHES)]
        weights = [self.nodes.weights[part] for part in parts]
        return [
            Nodes(self.nodes.points[part], share / share.sum(), self.nodes.phi[part, :q])
            for part, share in zip(parts, weights, strict=True)
        ]

    def effective(self, theta: Array) -> float:
        """Kish's size of the masses of one law: how many nodes really carry it."""
        mass = self.nodes.first(len(theta)).masses(theta[None])[1][0]
        return 1.0 / float(mass @ mass)


@dataclass(frozen=True, slots=True)
class Gap:
    """The information over a law of level 2, with how far it may be off."""

    value: float  # nats, extrapolated
    error: float  # its standard error, nats
    moved: float  # by which it was extrapolated


def gap_over(base: RelativeNodes, fits: Array, means: Array) -> Gap:
    """I from the ``fits`` θ and α (2, q) to the ``means`` m and μ (2, q)."""
    q = means.shape[1]
    whole = _information(base.nodes.first(q), fits, means[0])
    parts = []
    for nodes in base.batches(q):
        found = _fits(nodes, nodes.root(fits[:1]).root[0], means, fits)
        parts.append(_information(nodes, found, means[0]))
    moved = float(np.mean(parts) - whole) / (BATCHES - 1.0)
    return Gap(whole - moved, float(np.std(parts, ddof=1)) / np.sqrt(BATCHES), moved)


def on_batches(base: RelativeNodes, mu: Array, fits: Array) -> Array:
    """ψ over the law of level 2, and E φ, of θ on every scrambling: (BATCHES, 1 + q).

    ``fits`` are θ and α (2, q). α gives the law of level 2 its exact means ``mu`` (q,); each
    scrambling has an α of its own.
    """
    out = np.empty((BATCHES, 1 + len(mu)))
    for k, nodes in enumerate(base.batches(len(mu))):
        alpha = _fits(nodes, nodes.root(fits[1:]).root[0], mu[None], fits[1:])
        psi, masses = nodes.masses(np.concatenate([fits[:1] - fits[1:] + alpha, alpha]))
        out[k, 0], out[k, 1:] = psi[0] - psi[1], masses[0] @ nodes.phi
    return out


def _information(nodes: Nodes, fits: Array, m: Array) -> float:
    """KL between the laws θ and α (2, q) on nodes, the first of which has the means ``m`` (q,)."""
    psi = nodes.psi(fits)
    return float((fits[0] - fits[1]) @ m - psi[0] + psi[1])


def _fits(nodes: Nodes, root: Array, m: Array, start: Array) -> Array:
    """Laws (B, q) whose means on ``nodes`` are ``m`` (B, q), one covariance serving most.

    As they started where that is singular: a law that has hardly a node to itself.
    """
    if not np.abs(np.diag(root)).min() > TINY_FACTOR:
        return start.copy()
    found = newton(
        lambda theta, _: _chord(nodes, root, theta),
        m, start, max_steps=_CHORD_STEPS, last_step=CHORD_LAST_STEP,
    ).lam  # fmt: skip
    end = _chord(nodes, root, found)
    gradient = m - end.mean
    decrement = np.sqrt(np.abs(np.einsum("bq,bq->b", gradient, end.newton(gradient))))
    matched = np.abs(gradient).max(axis=1) <= NODE_RESIDUAL
    left = np.flatnonzero(~(matched & (decrement <= NEARLY_DECREMENT)))
    if len(left):
        path = newton(lambda t, _: nodes.root(t), m[left], found[left], max_steps=_STEPS)
        found[left] = path.lam
    return found


@dataclass(frozen=True, slots=True)
class _Chord:
    """ψ and means of laws, with one covariance for all."""

    psi: Array
    mean: Array
    root: Array  # (q, q)

    def newton(self, gradient: Array) -> Array:
        half = solve_triangular(self.root, gradient.T, trans="T")
        return np.asarray(solve_triangular(self.root, half).T)

    def condition(self) -> Array:
        diagonal = np.abs(np.diag(self.root))
        return np.full(len(self.psi), float((diagonal.max() / diagonal.min()) ** 2))


def _chord(nodes: Nodes, root: Array, theta: Array) -> _Chord:
    psi, mean = np.empty(len(theta)), np.empty_like(theta)
    for rows in nodes.blocks(len(theta)):
        psi[rows], masses = nodes.masses(theta[rows])
        mean[rows] = masses @ nodes.phi
    return _Chord(psi, mean, root)


def log_nodes(q: int) -> int:
    """Power of two of nodes, all batches together, at which q features are held."""
    return int(np.clip(np.floor(np.log2(_WORK / q**2)), _LEAST, _MOST))


def relative_nodes(hierarchy: Hierarchy, lam: Array) -> RelativeNodes:
    """Nodes for the law ``lam`` (q₂,) of level 2 of a hierarchy."""
    return _relative_nodes(hierarchy, np.ascontiguousarray(lam, dtype=np.float64).tobytes())


def rounded(lam: Array) -> Array:
    """Parameters (q₂,) of a law of level 2 near ``lam`` that is the same for all its neighbours.

    Features of a sphere have Σ φ² = q₂, so that the two are on average 1/24 nats apart at most.
    """
    step = _SPACING / np.sqrt(len(lam))
    return np.asarray(step * np.round(lam / step)) + 0.0


@lru_cache(maxsize=3)
def _relative_nodes(hierarchy: Hierarchy, key: bytes) -> RelativeNodes:
    lam = np.frombuffer(key)
    natural = hierarchy.family(2).natural(lam)
    assert natural is not None  # level 2 is quadratic
    law, q = FisherBinghamLaw.of(*natural), hierarchy.q(hierarchy.levels)
    size = log_nodes(q) - int(np.log2(BATCHES))
    x, weights = law.weighted(quasi_normal(hierarchy.space.d, size, BATCHES, _SEED))
    phi = np.empty((len(x), q))
    for rows in (slice(k, k + _ROWS) for k in range(0, len(x), _ROWS)):
        phi[rows] = hierarchy.features(x[rows])
    nodes = Nodes(x, weights / weights.sum(), phi)
    return RelativeNodes(lam, law, nodes, nodes.root(np.zeros((1, q))).root[0])
