"""Levels 1 and 2 of a few coordinates of unit vectors, exactly: laws exp(η·y + yᵀBy) in any R^d.

The contour integral gives everything. Fits run in white coordinates w = L⁻¹(y - m) of the data, LLᵀ
their covariance: a law with one mode has a Hessian of order one there, however sharp it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.ball import examine_in_ball, moments_in_ball
from steradian.existence.placement import Placement
from steradian.families.base import Family
from steradian.families.projections.low_rank import LowRankFamily, embedded
from steradian.fitting.newton import DenseCurvature, judge, matched_to_rounding, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array, IntArray
from steradian.numerics.fisher_bingham.subspace import Quadratics, SubspaceLaws
from steradian.numerics.heights.bessel import concentration, deficit_rounding
from steradian.numerics.tolerances import MOMENT_ROUNDING, NEARLY_DECREMENT, POINT, TINY_MEAN

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy
    from steradian.hierarchies.low_rank import LowRank

_STEPS = 60
_ALONE = 2.5e3  # work of fitting one drawn sample by itself
_LOWERED = 0.0, 4.0, 16.0, 64.0  # roundings
# Nats of the deficit over the square of what a fit misses in white coordinates, where covariances
# of their squares are of order one. Beyond rounding this is mass far away, below that of the
# moments, which a fit to their last digits would have.
_LEFT = 2.0


@dataclass(frozen=True, slots=True)
class LowRankQuadratics(Family):
    """p ∝ exp(λ·φ(y)), φ the polynomials of degree one, or one and two, of k coordinates y."""

    hierarchy: LowRank
    level: int  # 1 or 2

    @property
    def q(self) -> int:
        return self.hierarchy.q(self.level)

    def features(self, x: AnyArray) -> AnyArray:
        return self.hierarchy.up_to(self.level).features(x)

    def draw_work(self, rows: int) -> float:
        return _ALONE

    # --- integrals ------------------------------------------------------------------------

    @property
    def quadratics(self) -> tuple[Array, Quadratics]:
        """The features as quadratics of y, their constants apart."""
        constants, functions = self.hierarchy.quadratic_features
        return constants[: self.q], functions.first(self.q)

    def laws(self, lam: Array) -> SubspaceLaws:
        """The laws of parameters ``lam`` (B, q)."""
        return SubspaceLaws.of(*self.quadratics[1].natural(lam), self.hierarchy.d)

    def law(self, lam: Array, psi: float = np.nan) -> LowRankLaw:
        """The law of parameters ``lam`` (q,)."""
        return LowRankLaw(self, lam, self.laws(lam[None]))

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        laws, (constants, functions) = self.laws(lam), self.quadratics
        mean, covariance = laws.moments(functions)
        return laws.psi + lam @ constants, mean + constants, covariance

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """Given a node of the contour y is Gaussian, and has a rule exact for polynomials."""
        points, weights = self.laws(lam).nodes(wide.levels)
        features = wide.of_coordinates  # type: ignore[attr-defined]
        rows = [(share @ features(each)).real for each, share in zip(points, weights, strict=True)]
        return np.array(rows).reshape(-1, wide.q(wide.levels))

    def covariance(self, lam: Array) -> tuple[Array, float]:
        """Of y under one law ``lam`` (q,), and the variance of each coordinate across."""
        laws = self.laws(lam[None])
        return laws.covariance[0], float(laws.across[0])

    @property
    def has_rule(self) -> bool:
        """At level 1: of two far modes nodes would take long, and the contour needs none."""
        return self.level == 1

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes for functions of y and no others."""
        if not self.has_rule:
            raise NotImplementedError(f"a rule for level {self.level} of a subspace: there is none")
        return self._on_nodes.rule(lam, degree)

    @property
    def _on_nodes(self) -> LowRankFamily:
        return LowRankFamily(self.hierarchy, self.level)

    # --- existence ------------------------------------------------------------------------

    def contains(self, moments: MomentStack) -> IntArray:
        m = self.hierarchy.expectations(moments, self.level)
        both = [self.hierarchy.second_of(row) for row in m]
        return np.array([moments_in_ball(mean, second) for mean, second in both], dtype=np.int64)

    def examine(self, x: Array, weights: Array) -> Placement:
        return examine_in_ball(self.hierarchy.within(x), self.level)

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """Level 2 from the Gaussian with the same moments; no start is needed.

        Where variances are rounded up, only faint mass far away would explain the excess: they are
        then tried a few roundings lower, which is as near to the data.
        """
        m = self.hierarchy.expectations(moments, self.level)
        if self.level == 1:
            return linear_fits(self.hierarchy.d, m)
        out = DualSolution.empty(len(m), self.q, Status.ROUNDING)
        for lowered in _LOWERED:
            left = np.flatnonzero(out.status != Status.CONVERGED)
            problem = _WhiteProblem.of(self, m[left], lowered * ROUNDOFF)
            if len(problem.rows):
                out.put(left[problem.rows], problem.solved())
        return out


@dataclass(frozen=True, slots=True, eq=False)
class LowRankLaw:
    """One of them, evaluated about its centre, where nothing of the size of λ cancels."""

    family: LowRankQuadratics
    lam: Array  # (q,)
    laws: SubspaceLaws  # a stack of one

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d): (n,)."""
        axes = self.family.hierarchy.axes
        y = x @ axes
        return self.laws.logpdf(y, np.linalg.norm(x - y @ axes.T, axis=1))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws (n, d), of boxes on the ball where Gaussians propose too badly."""
        y, z = self.laws.sample(n, rng)
        if len(y) < n:
            return self.family._on_nodes.sample(self.lam, n, rng)
        return embedded(self.family.hierarchy.axes, y, z, rng)


@dataclass(frozen=True, eq=False)
class _WhiteProblem:
    """Level 2 for rows of a stack, in white coordinates of each."""

    family: LowRankQuadratics
    rows: IntArray  # those whose covariance is positive definite
    m: Array  # (R, q): E φ
    mean: Array  # (R, k): of y
    scatter: Array  # (R, k, k)
    root: Array  # (R, k, k): L
    lowered: float  # by which variances are smaller than in the data

    @classmethod
    def of(cls, family: LowRankQuadratics, m: Array, lowered: float) -> _WhiteProblem:
        """From E φ (B, q), variances ``lowered`` by so much."""
        hierarchy, k = family.hierarchy, family.hierarchy.k
        mean, scatter = np.empty((len(m), k)), np.empty((len(m), k, k))
        for row, each in enumerate(m):
            mean[row], scatter[row] = hierarchy.second_of(each)
        scatter -= lowered * np.eye(k)
        rest = 1.0 - (mean * mean).sum(axis=1) - np.trace(scatter, axis1=1, axis2=2)
        sound = np.linalg.eigvalsh(scatter)[:, 0] > ROUNDOFF
        rows = np.flatnonzero(sound & (rest > ROUNDOFF))
        root = np.asarray(np.linalg.cholesky(scatter[rows]), dtype=np.float64)
        return cls(family, rows, m[rows], mean[rows], scatter[rows], root, lowered)

    @cached_property
    def functions(self) -> Quadratics:
        """W, and the products w_i w_j less their means in the data."""
        k = self.root.shape[1]
        inverse = np.linalg.inv(self.root)
        i, j = np.triu_indices(k)
        outer = inverse[:, i, :, None] * inverse[:, j, None, :]
        forms = np.concatenate([np.zeros((len(outer), k, k, k)), outer], axis=1)
        linear = np.concatenate([inverse, np.zeros((len(outer), len(i), k))], axis=1)
        return Quadratics(linear, 0.5 * (forms + forms.swapaxes(2, 3)), self.mean)

    def white(self, eta: Array, quadratic: Array) -> Array:
        """The parameters of the same exponent in w, (R, q)."""
        turned = self.root.swapaxes(1, 2)
        linear = (turned @ (eta[:, :, None] + 2.0 * quadratic @ self.mean[:, :, None]))[:, :, 0]
        i, j = np.triu_indices(self.root.shape[1])
        form = (turned @ quadratic @ self.root)[:, i, j] * np.where(i == j, 1.0, 2.0)
        return np.hstack([linear, form])

    def gaussian(self) -> Array:
        """The start: the Gaussian of R^d with these moments, of equal variances across."""
        d, k = self.family.hierarchy.d, self.root.shape[1]
        rest = 1.0 - (self.mean**2).sum(axis=1) - np.trace(self.scatter, axis1=1, axis2=2)
        precision = np.linalg.inv(self.scatter)
        across = ((d - k) / rest)[:, None, None] * np.eye(k)
        eta = (precision @ self.mean[:, :, None])[:, :, 0]
        return self.white(eta, 0.5 * (across - precision))

    def solved(self) -> DualSolution:
        """By Newton's method from the Gaussian."""
        start = self.gaussian()
        scaled = self.scaled(start)
        path = newton(
            scaled.evaluate, scaled.target, scaled.start, max_steps=_STEPS,
            last_step=NEARLY_DECREMENT,
        )  # fmt: skip
        out = judge(path, scaled.target, scaled.evaluate(path.lam, np.arange(len(start))))
        return self.reported(out, *scaled.functions.natural(path.lam))

    def scaled(self, start: Array) -> _Scaled:
        """The functions mixed so that their covariance at ``start`` is the identity."""
        k = self.root.shape[1]
        functions = self.functions
        laws = SubspaceLaws.of(*functions.natural(start), self.family.hierarchy.d)
        roots = np.array([_root(each) for each in laws.moments(functions)[1]])
        data = np.append(np.zeros(k), np.eye(k)[np.triu_indices(k)])
        mix = np.linalg.inv(roots)
        started = (start[:, None, :] @ roots)[:, 0, :]
        return _Scaled(self, functions.mixed(mix), mix @ data, started)

    def reported(self, out: DualSolution, eta: Array, quadratic: Array) -> DualSolution:
        """Of a fit found in other coordinates what it is in those of the features."""
        laws = SubspaceLaws.of(eta, quadratic, self.family.hierarchy.d)
        constants, features = self.family.quadratics
        lam = self.family.hierarchy.quadratic_parameters(eta, quadratic)
        scatter = self.scatter + self.lowered * np.eye(self.family.hierarchy.k)
        white = out.residual.copy()
        out.lam[:], out.psi[:] = lam, laws.psi + lam @ constants
        out.deficit[:] = laws.duals(self.mean, scatter)
        out.residual[:] = np.abs(laws.means(features) + constants - self.m).max(axis=1)
        out.status[out.residual <= matched_to_rounding(self.m)] = Status.CONVERGED
        out.quadrature[:] = laws.error + _LEFT * white**2
        out.moment_rounding[:] = MOMENT_ROUNDING * np.abs(lam).sum(axis=1)
        return out


@dataclass(frozen=True, slots=True, eq=False)
class _Scaled:
    """The same with other functions, of means ``data`` (R, q) in the data."""

    problem: _WhiteProblem
    functions: Quadratics
    data: Array
    start: Array

    @property
    def target(self) -> Array:
        """Means are taken less those of the data, so nothing."""
        return np.zeros_like(self.start)

    def evaluate(self, lam: Array, rows: IntArray) -> DenseCurvature:
        """ψ less λ times the means of the data is the dual with its sign turned."""
        problem, functions = self.problem, self.functions.take(rows)
        laws = SubspaceLaws.of(*functions.natural(lam), problem.family.hierarchy.d)
        mean, covariance = laws.moments(functions)
        dual = laws.duals(problem.mean[rows], problem.scatter[rows])
        return DenseCurvature(-dual, mean - self.data[rows], covariance)


def _root(covariance: Array) -> Array:
    """Its Cholesky factor; the identity where rounding leaves none."""
    try:
        return np.asarray(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        return np.eye(len(covariance))


def linear_fits(d: int, m: Array) -> DualSolution:
    """Level 1 in closed form: von Mises-Fisher laws of means ``m`` (B, k) of √d y."""
    length = np.maximum(np.linalg.norm(m, axis=1) / np.sqrt(d), TINY_MEAN)
    spread = np.maximum(1.0 - length * length, POINT)
    kappa, ratio, _, psi, deficit = concentration(d, length, spread)
    zeros, none = np.zeros(len(m)), np.zeros(len(m), dtype=np.int64)
    scale = np.asarray(kappa) / (d * length)
    return DualSolution(
        lam=scale[:, None] * m,
        psi=psi,
        deficit=deficit,
        gap=deficit,
        residual=np.sqrt(d) * np.abs(length - ratio),
        decrement=zeros,
        condition=zeros + 1.0,
        quadrature=zeros,
        moment_rounding=d * ROUNDOFF / spread + deficit_rounding(d, kappa, deficit, spread),
        nodes=none,
        steps=none,
        status=none + int(Status.CONVERGED),
    )
