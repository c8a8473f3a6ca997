"""Levels of polynomials above the second: by rules of the space, or relative to level 2.

Relative to the exact law of level 2 (see `relative_nodes` for how) every deficit is that of level
2, which is exact, and the information over it, of which the standard error is known; five of them
and half of what was extrapolated are stated as the error of the deficit.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.families.nodes.family import NodeFamily
from steradian.families.nodes.rules import Nodes
from steradian.families.relative.nodes import (
    Laws,
    RelativeNodes,
    gap_over,
    highest_on_sphere,
    log_nodes,
    on_batches,
    relative_nodes,
    rounded,
)
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.rejection import CLEARANCE, drawn_below
from steradian.numerics.tolerances import (
    DRAWN_DIFFERENCE,
    MOMENT_ROUNDING,
    NODE_RESIDUAL,
    PRODUCT_RULE,
    VERIFIED_AIM,
)

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


_STANDARD_ERRORS = 5.0  # that are stated: of eight batches, one in six hundred is off by more
_EXTRAPOLATED = 0.5  # share of an extrapolation that is not relied on
_CARRYING = 2.0  # effective nodes per feature, below which a fit follows its nodes
_PASSES = 3  # after which the law of level 2 of the same moments is known well enough
_ALONE = 8  # rows, each of which is worth nodes of its own
_LEAST_KEPT = 1e-4  # share of proposals that a law must keep to be drawn from
_BATCH = 1 << 15


@dataclass(frozen=True, slots=True)
class RelativeFamily(NodeFamily):
    """p ∝ exp(λ·φ), φ polynomials of at most the degree of their level, on any unit sphere."""

    # --- what nodes there are ---------------------------------------------------------------

    @property
    def _rungs(self) -> int:
        return 1

    def _count(self, rung: int) -> int:
        return len(self._nodes(rung))

    def _nodes(self, rung: int) -> Nodes:
        return relative_nodes(self.hierarchy, np.zeros(self._below)).nodes.first(self.q)

    @property
    def noise_share(self) -> float:
        return _STANDARD_ERRORS / 3.0  # three standard errors may be as large as noise

    @property
    def noise_remedy(self) -> str:
        return "some of the features, by sr.Sketch, take less"

    @property
    def _below(self) -> int:
        return self.hierarchy.q(2)

    @property
    def has_rule(self) -> bool:
        return False

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        space = self.hierarchy.space
        raise NotImplementedError(f"a rule on the {space.name}: there is none")

    def resolved_by(self, rung: int) -> RelativeFamily:
        return self

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        return float("nan")

    def draw_work(self, rows: int) -> float:
        return 2.0 ** log_nodes(self.q) * self.q

    # --- integrals ------------------------------------------------------------------------

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance, each the derivative of the one before on nodes that stand still.

        Of laws of level 2 ψ and the mean are exact, and of the uniform law the covariance as well.
        """
        psi, mean = np.zeros(len(lam)), np.zeros_like(lam)
        covariance = np.tile(np.eye(self.q), (len(lam), 1, 1))  # features are white where λ = 0
        for k in np.flatnonzero(lam.any(axis=1)):
            place = self._place(lam[k])
            root = place.base.nodes.first(self.q).root(place.theta[None])
            psi[k], covariance[k] = place.psi, root.covariance[0]
            mean[k] = place.means if place.is_below else root.mean[0]
        return psi, mean, covariance

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ; what the nodes miss of the law of level 2 is taken to be missed of this one."""
        out = np.empty((len(lam), wide.q(wide.levels)))
        for k, row in enumerate(lam):
            place = self._place(row)
            nodes = place.base.nodes
            phi = wide.features(nodes.points)
            masses = nodes.first(self.q).masses(np.stack([place.theta, place.alpha]))[1]
            exact = self.hierarchy.family(2).expectations(place.base.lam[None], wide)[0]
            there, here = masses @ phi
            out[k] = exact + there - here
        return out

    def stated_errors(self, lam: Array) -> tuple[Array, Array]:
        """Five standard errors of ψ (B,) and of the means (B, q) that `log_partition` gives."""
        out = np.zeros((len(lam), 1 + self.q))
        for k in np.flatnonzero(lam[:, self._below :].any(axis=1)):
            place = self._place(lam[k])
            parts = on_batches(place.base, place.means, np.stack([place.theta, place.alpha]))
            out[k] = _STANDARD_ERRORS * parts.std(axis=0, ddof=1) / np.sqrt(len(parts))
        return out[:, 0], out[:, 1:]

    def _place(self, lam: Array) -> _Place:
        return _place(self, np.ascontiguousarray(lam).tobytes())

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """Each row about its own law of level 2; many about that of all together."""
        below = self.hierarchy.family(2).solve(moments, np.zeros((len(moments), self._below)))
        out = DualSolution.empty(len(moments), self.q, Status.UNRESOLVED)
        out.nodes[:] = 1 << log_nodes(self.hierarchy.q(self.hierarchy.levels))
        good = np.flatnonzero(below.status == Status.CONVERGED)
        m = self.hierarchy.expectations(moments, self.level)
        task = _Task(self, below, m, start)
        if len(good) > _ALONE:
            centre = self._centre(moments.take(good))
            task.put(out, relative_nodes(self.hierarchy, centre), good)
            good = good[(out.status[good] != Status.CONVERGED) & moments.sought]
        for row in good:
            task.put(out, relative_nodes(self.hierarchy, rounded(below.lam[row])), np.array([row]))
        return out

    def _centre(self, moments: MomentStack) -> Array:
        """The law of level 2 of all rows together, (q₂,)."""
        mean = moments.mean.mean(axis=0)
        away = moments.mean - mean
        scatter = moments.scatter.mean(axis=0) + away.T @ away / len(away)
        pooled = MomentStack(moments.features.mean(axis=0)[None], mean[None], scatter[None])
        return self.hierarchy.family(2).solve(pooled, np.zeros((1, self._below))).lam[0]

    # --- draws ----------------------------------------------------------------------------

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """Exact draws by rejection from a law of level 2.

        That of the same moments, or that of the same first parameters: whichever keeps more. The
        bound is the largest ratio that a search from the highest nodes finds, and somewhat
        more; a proposal that exceeds it all the same raises it, and all begins again.
        """
        place = self._place(lam)
        tried = [
            self._proposal(lam, own, place.psi) for own in (place.base.lam, lam[: self._below])
        ]
        law, tilt, bound, share = max(tried, key=lambda one: one[3])
        if not share >= _LEAST_KEPT:
            cause = f"is too sharp to draw from: of the proposals of level 2 {share:.0e} are kept"
            raise ResolutionError(self.level, cause, "draw from a lower level")

        def propose(count: int) -> tuple[Array, Array]:
            x = law.sample(count, rng)
            return x, self.exponent(x, tilt)

        return drawn_below(propose, bound, n, rng, share=share, batch=_BATCH)

    def _proposal(
        self, lam: Array, own: Array, psi: float
    ) -> tuple[FisherBinghamLaw, Array, float, float]:
        """A law of level 2, the exponent over it (q,), its bound, and the share that is kept."""
        base = relative_nodes(self.hierarchy, own)
        tilt = lam - _padded(own, self.q)
        bound = highest_on_sphere(self.hierarchy, tilt, base.nodes) + CLEARANCE
        return base.law, tilt, bound, float(np.exp(psi - base.law.psi - bound))


@dataclass(frozen=True, slots=True, eq=False)
class _Task:
    """Fits of rows of a stack, whose laws of level 2 are known."""

    family: RelativeFamily
    below: DualSolution
    m: Array  # (B, q)
    start: Array  # (B, q)

    def put(self, out: DualSolution, base: RelativeNodes, rows: IntArray) -> None:
        """Write the fits of ``rows`` about one law; the error of the first stands for all."""
        family, q = self.family, self.family.q
        wide, own = family.hierarchy.up_to(family.level), self.below.lam[rows]
        mu = family.hierarchy.family(2).expectations(own, wide)
        m = self.m[rows]
        origin = _padded(base.lam, q)
        padded = np.array([_padded(lam, q) for lam in own])
        alpha = base.fits(mu, padded - origin)
        theta = base.fits(m, self.start[rows] - origin)
        nodes = base.nodes.first(q)
        psi = nodes.psi(np.concatenate([theta, alpha])).reshape(2, -1)
        whole = np.einsum("bq,bq->b", theta - alpha, m) - psi[0] + psi[1]
        found = gap_over(base, np.stack([theta[0], alpha[0]]), np.stack([m[0], mu[0]]))
        share = 1.0 / whole[0] if whole[0] > 0.0 else 0.0
        value = whole * (1.0 - found.moved * share) if len(rows) > 1 else np.array([found.value])
        error = _STANDARD_ERRORS * found.error + _EXTRAPOLATED * abs(found.moved)
        root = nodes.root(theta[:1])
        residual = np.array([np.abs(nodes.masses(t[None])[1][0] @ nodes.phi - each).max()
                             for t, each in zip(theta, m, strict=True)])  # fmt: skip
        carried = np.array([base.effective(t) for t in theta])
        error = error * np.maximum(1.0, np.abs(whole) * share) * np.sqrt(carried[0] / carried)
        sound = (residual <= NODE_RESIDUAL) & (carried >= _CARRYING * q)
        out.lam[rows] = padded + theta - alpha
        if len(rows) == 1:  # the law on these nodes that `log_partition` takes it for
            out.lam[rows] = origin + theta - _calibrated(family, base.lam.tobytes())[1]
        out.deficit[rows] = self.below.deficit[rows] + value
        out.psi[rows] = np.einsum("bq,bq->b", out.lam[rows], m) - out.deficit[rows]
        laws = Laws(family.hierarchy, out.lam[rows], out.psi[rows], padded)
        missed = laws.missed(nodes, theta)
        error = error + missed  # the deficit is too large by that at most
        out.gap[rows] = value if family.level == 3 else np.nan
        out.residual[rows], out.decrement[rows] = residual, 0.0
        out.condition[rows] = root.condition()[0]
        out.quadrature[rows] = np.where(sound, self.below.quadrature[rows] + error, np.inf)
        rounding = MOMENT_ROUNDING * np.abs(out.lam[rows]).sum(axis=1)
        out.moment_rounding[rows] = self.below.moment_rounding[rows] + rounding
        fine = out.quadrature[rows] <= DRAWN_DIFFERENCE
        out.status[rows] = np.where(fine, int(Status.CONVERGED), int(Status.UNRESOLVED))
        out.status[rows[missed > DRAWN_DIFFERENCE]] = Status.UNSEEN


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """One law by its nodes: relative to a law of level 2 of nearly the same moments."""

    base: RelativeNodes
    theta: Array  # (q,)
    alpha: Array  # (q,)
    means: Array  # (q,) of the law of level 2, exact
    psi: float

    @property
    def is_below(self) -> bool:
        """Whether it is that law itself."""
        return self.theta is self.alpha


@lru_cache(maxsize=8)
def _place(family: RelativeFamily, key: bytes) -> _Place:
    lam, hierarchy, q = np.frombuffer(key), family.hierarchy, family.q
    count = hierarchy.q(2)
    own = lam[:count]
    higher = bool(lam[count:].any())
    own = _settled(family, lam) if higher else own
    base = relative_nodes(hierarchy, own)
    mu, alpha = _calibrated(family, own.tobytes())
    theta = lam - _padded(own, q) + alpha if higher else alpha
    carried = base.effective(theta)
    if not carried >= _CARRYING * q:
        cause = f"is too far from level 2 to be integrated: {carried:.0f} nodes carry it"
        raise ResolutionError(family.level, cause, "ask for fewer levels")
    nodes = base.nodes.first(q)
    over, there = nodes.psi(np.stack([theta, alpha]))
    psi = base.law.psi + float(over - there)
    laws = Laws(hierarchy, lam[None], np.array([psi]), _padded(own, q)[None])
    if higher and laws.missed(nodes, theta[None])[0] > DRAWN_DIFFERENCE:
        raise ResolutionError(family.level, Status.UNSEEN.sentence, "ask for fewer levels")
    return _Place(base, theta, alpha, mu, psi)


@lru_cache(maxsize=8)
def _calibrated(family: RelativeFamily, key: bytes) -> tuple[Array, Array]:
    """The exact means of a law of level 2 (q,), and what its nodes need to have them (q,)."""
    own, hierarchy = np.frombuffer(key), family.hierarchy
    mu = hierarchy.family(2).expectations(own[None], hierarchy.up_to(family.level))
    return mu[0], relative_nodes(hierarchy, own).fits(mu, np.zeros_like(mu))[0]


def _settled(family: RelativeFamily, lam: Array) -> Array:
    """A rounded law of level 2 of nearly the same moments, (q₂,)."""
    hierarchy, q = family.hierarchy, family.q
    below, count = hierarchy.family(2), hierarchy.q(2)
    own = rounded(lam[:count])
    for _ in range(_PASSES):
        base = relative_nodes(hierarchy, own)
        theta = lam - _padded(own, q) + _calibrated(family, own.tobytes())[1]
        mass = base.nodes.first(q).masses(theta[None])[1]
        found = below.solve(hierarchy.stack_of_means(mass @ base.nodes.phi), np.zeros((1, count)))
        if found.status[0] != Status.CONVERGED:
            break
        before, own = own, rounded(found.lam[0])
        if (own == before).all():
            break
    return own


def _padded(lam: Array, q: int) -> Array:
    """Parameters of a lower level among those of q features."""
    return np.concatenate([lam, np.zeros(q - len(lam))])


def polynomial_family(hierarchy: Hierarchy, level: int) -> NodeFamily:
    """The family of a level, whose features are polynomials of at most its degree."""
    kind = RuledFamily if hierarchy.space.rules() else RelativeFamily
    return kind(hierarchy, level)


@dataclass(frozen=True, slots=True)
class RuledFamily(NodeFamily):
    """By product rules as far as these resolve a law, then by quasi-random nodes."""

    @property
    def noise_share(self) -> float:
        return self._otherwise.noise_share

    @property
    def noise_remedy(self) -> str:
        return self._otherwise.noise_remedy

    @property
    def _otherwise(self) -> RelativeFamily:
        return RelativeFamily(self.hierarchy, self.level)

    def _allowed(self, difference: float) -> float:
        """More is accepted, and stated, than where finer rules would be at hand."""
        return difference if difference <= VERIFIED_AIM else PRODUCT_RULE

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        out = NodeFamily.solve(self, moments, start, support)
        left = np.flatnonzero(out.status == Status.UNRESOLVED)
        if len(left) and moments.sought:
            found = self._otherwise.solve(moments.take(left), start[left])
            better = found.status == Status.CONVERGED
            out.put(left[better], found.take(np.flatnonzero(better)))
        return out

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        try:
            return NodeFamily.log_partition(self, lam)
        except ResolutionError:
            return self._otherwise.log_partition(lam)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        try:
            return NodeFamily.expectations(self, lam, wide)
        except ResolutionError:
            return self._otherwise.expectations(lam, wide)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        try:
            return NodeFamily.sample(self, lam, n, rng)
        except ResolutionError:
            return self._otherwise.sample(lam, n, rng)

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """NaN where no rule has served."""
        known = self.known != NO_RUNG
        return NodeFamily.deficit_on(self, reach, m, lam) if known else float("nan")
