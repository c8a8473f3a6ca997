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

Nodes that are distributed like a law of level 2 have no point where a cubic that is small where the
data are rises on the far side of the sphere, and agree with each other about an integral that
misses nearly everything. The exponent shows such a mode: climbing from points scattered over the
whole sphere finds it, and its height and curvature tell how much it holds.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np
from scipy.linalg import solve_triangular
from scipy.special import gammaln

from steradian.families.nodes.rules import Nodes
from steradian.fitting.newton import newton
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.ascent import climbed, unit_length
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.quasi_random import quasi_normal
from steradian.numerics.tolerances import (
    CHORD_LAST_STEP,
    COMPLEX_STEP,
    FAINT_MODE,
    NEARLY_DECREMENT,
    NODE_RESIDUAL,
    SLOPE_STEP,
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
_LOG_SCATTERED, _SCATTERING = 8, 7  # points, each with its antipode
_BY_RATIO, _BY_HEIGHT = 6, 2  # starts of a climb
_REACH = 0.1  # radians between a start and what a climb sees first
_SAFETY = 2.0  # times what the curvature at its top says that a mode holds
_LAWS = 32  # laws whose modes are looked for at once
_CARRYING = 30.0  # effective nodes by which a mode is seen
_STARTS = 12


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


@dataclass(frozen=True, slots=True, eq=False)
class Mode:
    """A local maximum of a density on the sphere."""

    point: Array  # (d,)
    curvature: Array  # (d, d), of minus the log of the density, across the point; positive
    log_mass: float  # of the normal law with this height and curvature

    def holds(self, x: Array) -> Array:
        """Whether points (n, d) are within what holds nearly all of it, (n,)."""
        away = x - self.point
        squares = np.einsum("ni,ij,nj->n", away, self.curvature, away)
        return np.asarray((squares <= 2.0 * len(self.point)) & (x @ self.point > 0.0))


@dataclass(frozen=True, slots=True, eq=False)
class Laws:
    """Densities exp(λ·φ - ψ) on one sphere, each with a law of level 2 that is near the data."""

    hierarchy: Hierarchy
    lam: Array  # (B, q)
    psi: Array  # (B,)
    below: Array  # (B, q)

    def missed(self, nodes: Nodes, theta: Array) -> Array:
        """Upper estimates of log Z/Z' (B,), Z' being what ``nodes`` see as ``theta`` (B, q)."""
        out = np.empty(len(self.lam))
        for first in range(0, len(out), _LAWS):
            rows = slice(first, first + _LAWS)
            part = Laws(self.hierarchy, self.lam[rows], self.psi[rows], self.below[rows])
            found = [
                _unseen(modes, nodes, at)
                for modes, at in zip(part._modes(), theta[rows], strict=True)
            ]
            out[rows] = np.logaddexp(0.0, np.log(_SAFETY) + np.array(found))
        return out

    def _modes(self) -> list[list[Mode]]:
        """Those that climbs from all over the sphere find, and that are not negligible."""
        tops, heights = _climb(self.hierarchy, self.lam, self._starts())
        return [self._modes_at(b, tops[b], heights[b]) for b in range(len(tops))]

    def _starts(self) -> Array:
        """Where climbs begin: the highest points, and the highest over level 2, (B, s, d)."""
        points, phi = _scattered(self.hierarchy)
        phi = phi[:, : self.lam.shape[1]]
        ratios, heights = (self.lam - self.below) @ phi.T, self.lam @ phi.T
        best = (np.argsort(ratios)[:, -_BY_RATIO:], np.argsort(heights)[:, -_BY_HEIGHT:])
        return np.asarray(points[np.concatenate(best, axis=1)])

    def _modes_at(self, b: int, tops: Array, heights: Array) -> list[Mode]:
        out: list[Mode] = []
        for k in np.argsort(-heights):
            if any(mode.holds(tops[k : k + 1])[0] for mode in out):
                continue
            mode = _mode_at(self.hierarchy, self.lam[b], tops[k], float(heights[k] - self.psi[b]))
            if mode.log_mass > np.log(FAINT_MODE):
                out.append(mode)
        return out


def _unseen(modes: list[Mode], nodes: Nodes, theta: Array) -> float:
    """Log of the mass of modes of one law that too few nodes carry."""
    masses = nodes.masses(theta[None])[1][0] if modes else np.empty(0)
    total = -np.inf
    for mode in modes:
        share = masses[mode.holds(nodes.points)]
        carried = share.sum() ** 2 / (share @ share) if share.any() else 0.0
        if not carried >= _CARRYING:
            total = np.logaddexp(total, mode.log_mass)
    return float(total)


@lru_cache(maxsize=4)
def _scattered(hierarchy: Hierarchy) -> tuple[Array, Array]:
    """Points all over the sphere and the features there."""
    z = quasi_normal(hierarchy.space.d, _LOG_SCATTERED, 1, _SCATTERING)
    x = z / np.linalg.norm(z, axis=1)[:, None]
    x = np.concatenate([x, -x])
    return x, np.asarray(hierarchy.features(x))


def _climb(hierarchy: Hierarchy, lam: Array, starts: Array) -> tuple[Array, Array]:
    """Tops (B, s, d) of lam · φ, each of ``lam`` (B, q) from its ``starts``, and their heights."""
    count, d = starts.shape[1:]

    def heights(x: Array, rows: IntArray) -> Array:
        phi = hierarchy.features(x.reshape(-1, d))[:, : lam.shape[1]].reshape(*x.shape[:2], -1)
        return np.asarray(np.einsum("smq,sq->sm", phi, lam[rows // count]))

    flat = starts.reshape(-1, d)
    tops, found = climbed(heights, unit_length, flat, d - 1, np.full(len(flat), _REACH))
    return tops.reshape(starts.shape), found.reshape(starts.shape[:2])


def _gradients(hierarchy: Hierarchy, lam: Array, x: Array) -> tuple[Array, Array]:
    """Lam · φ (n,) and its gradient in space (n, d) at points (n, d)."""
    n, d = x.shape
    steps = x[:, None, :] + 1j * COMPLEX_STEP * np.eye(d)
    phi = hierarchy.features(steps.reshape(-1, d))[:, : lam.shape[1]].reshape(n, d, -1)
    at = np.einsum("ndq,nq->nd", phi, lam)
    return at[:, 0].real, at.imag / COMPLEX_STEP


def _mode_at(hierarchy: Hierarchy, lam: Array, x: Array, height: float) -> Mode:
    """The mode with its top ``x`` (d,) and log-density there, by the Hessian on the sphere.

    It is taken to be at most as wide as the sphere.
    """
    d = len(x)
    moved = x + SLOPE_STEP * np.concatenate([np.zeros((1, d)), np.eye(d), -np.eye(d)])
    _, slopes = _gradients(hierarchy, np.tile(lam, (len(moved), 1)), moved)
    slope, ahead, behind = slopes[0], slopes[1 : d + 1], slopes[d + 1 :]
    hessian = (ahead - behind) / (2.0 * SLOPE_STEP)
    across = np.eye(d) - np.outer(x, x)
    bent = across @ (0.5 * (hessian + hessian.T) - (slope @ x) * np.eye(d)) @ across
    log_area = np.log(2.0) + 0.5 * d * np.log(np.pi) - gammaln(0.5 * d)
    widest = 2.0 * np.pi * np.exp(-2.0 * log_area / (d - 1.0))
    basis = np.linalg.svd(across)[0][:, : d - 1]
    values, axes = np.linalg.eigh(basis.T @ -bent @ basis)
    values = np.maximum(values, widest)
    axes = basis @ axes
    log_volume = 0.5 * (d - 1.0) * np.log(2.0 * np.pi) - 0.5 * np.log(values).sum() - log_area
    return Mode(x, (axes * values) @ axes.T, height + float(log_volume))


def highest_on_sphere(hierarchy: Hierarchy, lam: Array, nodes: Nodes) -> float:
    """Max lam · φ(x) as far as climbs from the highest nodes find it."""
    values = nodes.phi[:, : len(lam)] @ lam
    starts = nodes.points[np.argsort(values)[-_STARTS:]]
    return float(_climb(hierarchy, lam[None], starts[None])[1].max())
