"""The exponential family of any level of any hierarchy, on the nodes of rules of its space.

On the nodes of a rule ψ, mean and covariance of the features are plain weighted sums, taken with
the maximum removed. A fit found on one rule is *verified* on the next finer one: the difference of
ψ there, and half the squared Newton decrement, are how much the deficit may be off. Rules are
climbed until that is below 1e-11; up to 1e-9 it is accepted and reported. Where a space has no
rules, two independent sets of uniform draws take their place: the fit is made on one, and what is
reported is three standard errors of its mean, or the difference on the other if that is larger.

Relative to another law than the uniform one rules carry its density. Where that has edges that they
do not know, they differ by more than rounding: see `AgainstFamily`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.placement import Placement, Verdict
from steradian.existence.vanishing import examine_on_nodes, place_support, vanishing_functions
from steradian.families.base import LEAST_KEPT, Family, FamilyLaw
from steradian.families.meshes.rows import solve_angles, table_of
from steradian.families.nodes.rules import (
    Nodes,
    affordable_rules,
    fair_rung,
    grown_fit,
    is_drawn_on,
    node_count,
    nodes_of,
    points_among_nodes,
)
from steradian.families.verification import integration_error
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.rejection import CLEARANCE
from steradian.numerics.tolerances import (
    DRAWN_DIFFERENCE,
    NODE_NEAR,
    NODE_TOUCHING,
    ROUGH_MARGIN,
    ROUGH_REFERENCE,
    RULE_MARGIN,
    RULE_ROUNDING,
    RUN_OFF,
    USABLE_RULE,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.references.base import is_rough, rough_parts

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


_MOST_STEPS = 60  # on one rule,
_MOST_GROWN = 8  # rows of a stack that are fitted from their data one by one,
_MOST_GROWN_WORK = 20_000_000  # by so many multiplications in one of some fifty steps
_QUICK_WORK = 30_000_000  # multiplications of a step by which boxes are not quicker
_MOST_IN_ALL = 240  # and on those that did not resolve the law or end the work
_ALONE = 2e3  # work of the fit of one drawn sample by itself, and
_OF_NODE = 0.5  # that of a feature at a node in it
_CONVERGED = int(Status.CONVERGED)
_STANDARD_ERRORS = 5.0  # that are stated: of sixteen parts, one in six thousand is off by more
_NOISE_SHARE = 0.02  # of what noise gives that integration may be off by: 2n error is 0.02 features


@dataclass(frozen=True, slots=True)
class NodeFamily(Family):
    """p ∝ exp(λ·φ) with the features of levels 1..level of ``hierarchy``."""

    hierarchy: Hierarchy
    level: int
    known: int = NO_RUNG  # a rule that resolves the laws it is asked about, where one is known

    @property
    def q(self) -> int:
        return self.hierarchy.q(self.level)

    def features(self, x: AnyArray) -> AnyArray:
        return self.hierarchy.features(x)[:, : self.q]

    @property
    def needs_support(self) -> bool:
        return True

    @property
    def has_rule(self) -> bool:
        """Whether `rule` integrates against its laws."""
        return True

    @property
    def examines_quickly(self) -> bool:
        """Whether `examine` takes no longer than a fit."""
        return False

    def draw_work(self, rows: int) -> float:
        """Work of fitting, or of making white, one drawn sample by itself."""
        return _ALONE + _OF_NODE * self._count(self._first) * self.q

    # --- integrals ------------------------------------------------------------------------

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance on a rule that agrees with a coarser one for every row."""
        root = self._nodes(self._resolving(lam)).root(lam)
        return root.psi, root.mean, root.covariance

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for all features of ``wide`` on the same space."""
        rung = self._resolving(lam)
        nodes, values = self._nodes(rung), nodes_of(wide, rung).phi
        out = np.empty((len(lam), values.shape[1]))
        for rows in nodes.blocks(len(lam)):
            out[rows] = nodes.masses(lam[rows])[1] @ values
        return out

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,).

        They are one rule finer than what resolves the law, so that functions no rougher than its
        features are integrated as well as it is; ``degree`` asks for nothing more.
        """
        nodes = self._nodes(self._resolving(lam[None]))
        return nodes.points, nodes.masses(lam[None])[1][0]

    def examine_failed(self, x: Array) -> Placement:
        """By a programme on the nodes of a rule, once the solver has failed."""
        vanishing = vanishing_functions(self.hierarchy, self.level, x)
        nodes = self._nodes(min(1, self._rungs - 1))
        return examine_on_nodes(vanishing, nodes.phi, len(x))

    def resolved_by(self, rung: int) -> NodeFamily:
        return replace(self, known=rung)

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """Deficit of the fit to ``m`` (q,) on a rule ``reach`` times as fine as what served it.

        The nearest rule of the ladder serves. NaN where there is none, or Newton does not end.
        """
        if self.known == NO_RUNG:
            return float("nan")
        sizes = np.log([self._count(rung) for rung in range(self._rungs)])
        used = self.known
        wanted = sizes[used] + self.hierarchy.space.dimension * np.log(reach)
        rung = int(np.argmin(np.abs(sizes - wanted)))
        if rung == used and reach != 1.0:
            rung = used + (1 if reach > 1.0 else -1)
        if not 0 <= rung < self._rungs:
            return float("nan")
        found = self._solve_on(rung, m[None], lam[None])
        return float(found.deficit[0]) if found.status[0] == _CONVERGED else float("nan")

    def _resolving(self, lam: Array) -> int:
        """The finer of the first two neighbouring rules that agree about ψ of every row.

        Where a rule is known that resolves them, or what the features of the level ask for if that
        is finer, it is the next one.
        """
        first = self._first
        if self.known != NO_RUNG:
            return min(max(self.known, first) + 1, self._rungs - 1)
        coarse = self._nodes(first).psi(lam)
        for rung in range(first + 1, self._rungs):
            fine = self._nodes(rung).psi(lam)
            apart = np.abs(fine - coarse)
            last = rung == self._rungs - 1
            allowed = self._allowed(VERIFIED_DIFFERENCE if last else VERIFIED_AIM)
            if (apart <= np.maximum(allowed, _rounding(lam))).all():
                return rung
            coarse = fine
        cause = f"{Status.UNRESOLVED.sentence} ({len(self._nodes(self._rungs - 1))} nodes)"
        raise ResolutionError(self.level, cause, "ask for fewer levels")

    def _allowed(self, difference: float) -> float:
        """``difference`` of rules, or of draws where there are no rules."""
        return max(difference, DRAWN_DIFFERENCE) if self._drawn else difference

    @property
    def _drawn(self) -> bool:
        return is_drawn_on(self.hierarchy)

    @property
    def _rungs(self) -> int:
        return affordable_rules(self.hierarchy)

    @property
    def _first(self) -> int:
        """The rule to begin with: the coarsest that knows the features apart."""
        return fair_rung(self.hierarchy, self.level, self._rungs)

    def _count(self, rung: int) -> int:
        """Nodes of a rule."""
        return node_count(self.hierarchy, rung)

    def _nodes(self, rung: int) -> Nodes:
        return nodes_of(self.hierarchy, rung).first(self.q)

    # --- existence ------------------------------------------------------------------------

    def contains(self, moments: MomentStack) -> IntArray:
        """INSIDE, or UNSURE where a function nowhere negative has hardly any mean.

        The function looked at is the one that the moments themselves point to,
        max m·φ - m·φ; those that it does not show are the solver's to find.
        """
        m = self.hierarchy.expectations(moments, self.level)
        nodes = self._nodes(self._first)
        near = nodes.slack(m, m) < NODE_NEAR
        return np.where(near, Verdict.UNSURE, Verdict.INSIDE).astype(np.int64)

    def examine(self, x: Array, weights: Array) -> Placement:
        """What is quick: functions of the level that vanish on all of the support."""
        return place_support(self.hierarchy, self.level, self._rule, x)

    def _rule(self, rung: int) -> Nodes:
        """The nodes of a rule, counted from the last where ``rung`` is negative."""
        return self._nodes(rung % self._rungs)

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        """Newton on the coarsest rule that resolves the start, then finer ones until verified.

        Where that does not end, and the rows are at hand, by boxes that follow them where the space
        has such, and from the fit that grows from them elsewhere.
        """
        m = self.hierarchy.expectations(moments, self.level)
        out = DualSolution.empty(len(m), self.q, Status.UNRESOLVED)
        table = table_of(self.hierarchy, self.level) if moments.sought else None
        most = np.inf if table is None or support is None else _QUICK_WORK
        self._climb(m, start, self._first_rungs(start), out, most)
        failed = np.flatnonzero(~self._accepted(out))
        if table is not None and support is not None:
            for row in failed.tolist():
                out.put(np.array([row]), solve_angles(table, *support(row)))
            return out
        if support is not None and 0 < len(failed) <= _MOST_GROWN and not self._drawn:
            for row in failed.tolist():
                self._grow(row, m, support, out)
        self._judge_rest(out, m)
        return out

    def _climb(
        self, m: Array, start: Array, rung: IntArray, out: DualSolution, most: float
    ) -> None:
        """Newton on rule after rule, each row from its first ``rung`` on, until verified.

        A step takes at most about ``most`` multiplications.
        """
        begin, pending = start.copy(), np.flatnonzero(rung < self._rungs)
        for step in range(int(rung.min(initial=self._rungs)), self._rungs):
            rows = pending[rung[pending] <= step]
            if not len(rows):
                continue
            if self._count(step) * self.q**2 > most:
                break
            part = self._solve_on(step, m[rows], begin[rows])
            part.quadrature[:] = self._difference(step, part, m[rows])
            part.steps[:] += out.steps[rows]
            out.put(rows, part)
            usable = part.quadrature <= USABLE_RULE  # those that creep go on from there, too
            begin[rows[usable]] = part.lam[usable]
            aim = self._allowed(VERIFIED_AIM)
            settled = part.quadrature <= np.maximum(aim, _rounding(part.lam))
            settled &= part.status == _CONVERGED
            leaving = settled | (part.steps > _MOST_IN_ALL) | (part.quadrature > RUN_OFF)
            pending = np.setdiff1d(pending, rows[leaving], assume_unique=True)
            if not len(pending):
                break

    def _grow(self, row: int, m: Array, support: Support, out: DualSolution) -> None:
        """The fit that grows from the data of a ``row``, on the first rule that the next bears out.

        It grows anew on every rule: what a coarse one has is often no start for the next.
        """
        x, weights = support(row)
        phi = np.asarray(self.hierarchy.features(x)[:, : self.q])
        among = points_among_nodes(self.hierarchy, x)
        for step in range(self._first, self._rungs):
            nodes = self._nodes(step)
            if nodes.phi.size * self.q > _MOST_GROWN_WORK:
                return
            lam = grown_fit(nodes, among, weights, phi)
            if lam is None:
                continue
            part = self._solve_on(step, m[row : row + 1], lam[None])
            part.quadrature[:] = self._difference(step, part, m[row : row + 1])
            if self._accepted(part)[0]:
                out.put(np.array([row]), part)
                return

    def _accepted(self, out: DualSolution) -> BoolArray:
        """Rows that have converged on a rule which the next one bears out."""
        allowed = self._allowed(VERIFIED_DIFFERENCE)
        fine = out.quadrature <= np.maximum(allowed, _rounding(out.lam))
        return np.asarray(fine & (out.status == _CONVERGED))

    def _first_rungs(self, start: Array) -> IntArray:
        """Where to begin: the first rule of each row that agrees with the next about the start."""
        first, last = self._first, self._rungs - 1
        if self._drawn:  # the set that all integrals are taken over
            return np.full(len(start), last)
        rung = np.full(len(start), first)
        rows, coarse = np.arange(len(start)), self._nodes(first).psi(start)
        for step in range(first + 1, last):
            if not start[rows].any():
                break
            fine = self._nodes(step).psi(start[rows])
            sharp = np.abs(fine - coarse) > USABLE_RULE
            rows, coarse = rows[sharp], fine[sharp]
            if not len(rows):
                break
            rung[rows] = step
        return rung

    def _solve_on(self, rung: int, m: Array, start: Array) -> DualSolution:
        nodes = self._nodes(rung)
        path = newton(lambda lam, _: nodes.root(lam), m, start, max_steps=_MOST_STEPS)
        out = judge(path, m, nodes.root(path.lam))
        out.nodes[:] = len(nodes)
        out.rungs[:] = rung
        return out

    def _difference(self, rung: int, found: DualSolution, m: Array) -> Array:
        """Nats by which the deficits differ on the next rule, or before the last one on it."""
        if self._rungs == 1:
            return np.full(len(m), np.inf)
        nodes = self._nodes(rung + 1 if rung + 1 < self._rungs else rung - 1)
        apart, squared = np.abs(nodes.psi(found.lam) - found.psi), np.zeros(len(m))
        close = np.flatnonzero(apart <= USABLE_RULE)
        if len(close):
            there = nodes.root(found.lam[close])
            gradient = m[close] - there.mean
            squared[close] = np.abs(np.einsum("bq,bq->b", gradient, there.newton(gradient)))
        error = integration_error(apart, squared, self._margin)
        error = np.maximum(error, nodes.doubt(found.lam))
        return np.where(np.isfinite(error), error, np.inf)

    @property
    def _margin(self) -> float:
        """Of what two rules differ by; of draws the spread is known, and is stated itself."""
        return 1.0 if self._drawn else RULE_MARGIN

    def _judge_rest(self, out: DualSolution, m: Array) -> None:
        """The status of rows that no pair of rules agreed about, and of those that ran off."""
        allowed = self._allowed(VERIFIED_DIFFERENCE)
        coarse = ~(out.quadrature <= np.maximum(allowed, _rounding(out.lam)))
        out.status[coarse] = Status.UNRESOLVED
        failed = np.flatnonzero(~self._accepted(out))
        if not len(failed) or self._drawn:  # draws do not reach the boundary
            return
        finest = self._nodes(self._rungs - 1)
        touching = finest.slack(np.nan_to_num(out.lam[failed]), m[failed]) < NODE_TOUCHING
        out.status[failed[touching]] = Status.TOUCHING

    # --- draws ----------------------------------------------------------------------------

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """Exact draws by rejection from the uniform law.

        The bound is the largest exponent at the nodes of the finest rule, and as much more as two
        rules differ.
        """
        fine, coarse = (self._nodes(rung) for rung in self._peak_rungs(lam))
        top, below = (float((nodes.phi @ lam).max()) for nodes in (fine, coarse))
        bound = top + 2.0 * abs(top - below) + CLEARANCE
        psi = float(fine.psi(lam[None])[0])
        share = float(np.exp(psi - bound))
        if share < LEAST_KEPT:
            cause = f"is too sharp to draw from: of uniform proposals {share:.0e} would be kept"
            raise ResolutionError(self.level, cause, "draw from a lower level")
        return FamilyLaw(self, lam, psi).drawn_below(bound, self.hierarchy.space, n, rng)

    def _peak_rungs(self, lam: Array) -> tuple[int, int]:
        """Two rules, the finer first, that show how high an exponent rises."""
        return self._rungs - 1, self._rungs - min(2, self._rungs)


def _rounding(lam: Array) -> Array:
    """Difference of ψ between two rules that is rounding, (B,)."""
    return RULE_ROUNDING * np.abs(lam).sum(axis=1)


@dataclass(frozen=True, slots=True)
class AgainstFamily(NodeFamily):
    """p ∝ p₀ exp(λ·φ) with the features of levels 1..level of ``hierarchy``.

    Everything is that of `NodeFamily`, whose rules integrate against p₀. Where p₀ has edges that
    its rules do not know, they differ by more than rounding: the finest one serves then, what its
    independent parts differ by is stated, and a sample so large that this is felt is refused.
    """

    @property
    def noise_share(self) -> float:
        parts = len(rough_parts(self.hierarchy.space))
        return _NOISE_SHARE * (_STANDARD_ERRORS if parts else 1.0)  # of one standard error

    @property
    def noise_remedy(self) -> str:
        return "give its edges, by sr.Mask, or a smoother reference"

    def _allowed(self, difference: float) -> float:
        return max(difference, ROUGH_REFERENCE) if self._rough else difference

    @property
    def _margin(self) -> float:
        return ROUGH_MARGIN if self._rough else RULE_MARGIN

    def _first_rungs(self, start: Array) -> IntArray:
        if self._rough:
            return np.full(len(start), self._rungs - 1)
        return NodeFamily._first_rungs(self, start)

    def _difference(self, rung: int, found: DualSolution, m: Array) -> Array:
        """Nats that rules differ by; five standard errors of one that has independent parts.

        Of parts b that carry A_b of the law and B_b of the reference, ψ has the error of the mean
        of A_b - B_b. The fit itself moves with the means that parts have of its features, which
        costs half the square of that, in units of the covariance.
        """
        starts = rough_parts(self.hierarchy.space)
        apart = NodeFamily._difference(self, rung, found, m)
        if not len(starts):
            return apart
        nodes = self._nodes(rung)
        starts = starts[starts < len(nodes)]
        for row in np.flatnonzero(np.isfinite(found.lam).all(axis=1)):
            root = nodes.root(found.lam[row : row + 1])
            mass = nodes.masses(found.lam[row : row + 1])[1][0]
            away = np.add.reduceat(mass - nodes.weights, starts)
            means = np.add.reduceat(mass[:, None] * (nodes.phi - root.mean[0]), starts, axis=0)
            steps = root.newton(means)
            squared = len(starts) * np.einsum("bq,bq->b", means, steps).sum()
            apart[row] = _STANDARD_ERRORS * np.sqrt(len(starts)) * away.std(ddof=1)
            apart[row] += 0.5 * _STANDARD_ERRORS**2 * squared / (len(starts) - 1)
        return apart

    def _peak_rungs(self, lam: Array) -> tuple[int, int]:
        """The rule that resolves the law, and the one before: finer ones may have many nodes."""
        fine = self._resolving(lam[None])
        return fine, max(fine - 1, 0)

    @property
    def _rough(self) -> bool:
        return is_rough(self.hierarchy.space)
