"""The information decomposition along a covariate: what depends on z, level by level.

With b_0 = 1 and b_1 … b_K functions of z (`fitting.covariate_basis`), the conditional fits are

    p(x | z) = exp{λ(z)·φ(x) - ψ(λ(z))},    λ(z) = Σ_a b_a(z) θ_a,

where W_l lets the features of levels 1..l depend on z and holds those above it the same for all z
(θ_a = 0 for a > 0). The fit maximises Σ_a θ_a·M_a - Σ w ψ(λ(z)), M_a = Σ w b_a φ. Its gaps

    C_l = D(W_l) - D(W_{l-1}) = E_z KL(p_l(· | z) ‖ p_{l-1}(· | z)) >= 0

add up to J, the information between direction and covariate that the model sees. Labels are the
basis of their indicators: then this is `fitting.label_levels`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steradian.errors import ConvergenceError, ResolutionError
from steradian.families.base import Family
from steradian.fitting.covariate_basis import CovariateRows, Rule
from steradian.fitting.grouped import integrals
from steradian.fitting.label_levels import forms_covariances, mean_frame
from steradian.fitting.nested import NestedFits
from steradian.fitting.newton import DenseCurvature, judge, newton
from steradian.fitting.solution import Status
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import DRAWN_DECREMENT, LAST_STEP, VERIFIED_DIFFERENCE

_MOST_STEPS = 80
_MOST_FREE = 600  # parameters of one fit, whose covariance is formed


@dataclass(frozen=True, slots=True, eq=False)
class CovariateProblem:
    """Which parameters are free, at which values of the covariate."""

    family: Family
    b: Array  # (T, K + 1)
    weights: Array  # (T,) of sum one
    free: BoolArray  # (K + 1, q)
    frame: Array | None = None  # (q, q) orthogonal: the basis that features are counted in

    def solve(self, m: Array, start: Array, last_step: float = LAST_STEP) -> CovariateFit:
        """Fit to moments ``m`` (S, K + 1, q) from parameters ``start`` (S, K + 1, q)."""
        targets, begin = self.packed(m), self.packed(start)
        path = newton(self._curvature, targets, begin, max_steps=_MOST_STEPS, last_step=last_step)
        theta = self._unpacked(path.lam)
        found = judge(path, targets, self._curvature(path.lam, np.arange(len(m))))
        return CovariateFit(theta, found.deficit, found.residual, found.status, self.free)

    def approached(self, m: Array, start: Array) -> CovariateFit:
        """The same to the digits that comparing samples asks for."""
        return self.solve(m, start, DRAWN_DECREMENT)

    def packed(self, values: Array) -> Array:
        """What is free of (S, K + 1, q), (S, p)."""
        turned = values if self.frame is None else values @ self.frame.T
        return turned[:, self.free]

    def _unpacked(self, free: Array) -> Array:
        theta = np.zeros((len(free), *self.free.shape))
        theta[:, self.free] = free
        return theta if self.frame is None else theta @ self.frame

    def laws(self, theta: Array) -> tuple[Array, Array, Array]:
        """ψ (S, T), means (S, T, q) and covariances (S, T, q, q), features in their frame."""
        psi, mean, covariance = integrals(self.family, self.b @ theta)
        if self.frame is not None:
            mean, covariance = mean @ self.frame.T, self.frame @ covariance @ self.frame.T
        return psi, mean, covariance

    def information(self, covariance: Array) -> Array:
        """Covariance (S, p, p) of the free features from those (S, T, q, q) of the laws."""
        count, nodes, q, _ = covariance.shape
        size = self.b.shape[1]
        pairs = self.weights[:, None, None] * self.b[:, :, None] * self.b[:, None, :]
        whole = pairs.reshape(nodes, -1).T @ covariance.reshape(count, nodes, -1)
        whole = whole.reshape(count, size, size, q, q).swapaxes(2, 3)
        free = self.free.ravel()
        return whole.reshape(count, size * q, size * q)[:, free][:, :, free]

    def _curvature(self, free: Array, _rows: IntArray) -> DenseCurvature:
        psi, mean, covariance = self.laws(self._unpacked(free))
        seen = np.einsum("t,ta,stq->saq", self.weights, self.b, mean, optimize=True)
        return DenseCurvature(psi @ self.weights, seen[:, self.free], self.information(covariance))


@dataclass(frozen=True, slots=True, eq=False)
class CovariateFit:
    """Fits of W to S samples."""

    theta: Array  # (S, K + 1, q)
    deficit: Array  # (S,): Σ θ·M - Σ w ψ, nats
    residual: Array  # (S,) largest moment mismatch
    status: IntArray  # (S,)
    free: BoolArray  # (K + 1, q), in the frame of the fit


@dataclass(frozen=True, eq=False)
class CovariateLevels:
    """Fits of W_0, …, W_L on one rule of the covariate."""

    hierarchy: Hierarchy
    rows: CovariateRows
    rule: Rule
    problem: CovariateProblem  # of W_0
    moments: Array  # (K + 1, q): M
    fits: tuple[CovariateFit, ...]  # W_0 … W_L
    error: float  # of the deficits, by the rule of the covariate, nats
    frame: Array | None  # features, that along the mean of all rows last of level 1

    @property
    def deficits(self) -> Array:
        """D(W_l), l = 0..L, nats."""
        return np.array([float(fit.deficit[0]) for fit in self.fits])

    @property
    def between(self) -> Array:
        """C_l, (L,), nats. Never clipped."""
        return np.diff(self.deficits)

    @cached_property
    def split(self) -> CovariateFit | None:
        """What depends on z across the mean of all rows alone; None without a mean."""
        if self.frame is None:
            return None
        across = self.hierarchy.q(1) - 1
        problem = self.at(across, self.frame)
        return _checked(problem.solve(self.moments[None], self.fits[0].theta), 1)

    @property
    def level1(self) -> Array | None:
        """C_1 in two parts: of the direction, and of the concentration; None without them."""
        if self.split is None:
            return None
        return np.diff([self.deficits[0], float(self.split.deficit[0]), self.deficits[1]])

    def at(self, own: int, frame: Array | None = None) -> CovariateProblem:
        """The problem in which the first ``own`` features depend on z."""
        return replace(self.problem, free=free_of(self.problem.free.shape, own), frame=frame)


def free_of(shape: tuple[int, ...], own: int) -> BoolArray:
    """All of θ_0, and of θ_1 … θ_K the first ``own`` features."""
    free = np.zeros(shape, dtype=np.bool_)
    free[0] = True
    free[:, :own] = True
    return free


def covariate_levels(
    hierarchy: Hierarchy, whole: NestedFits, moments: Array, rows: CovariateRows, ess: float
) -> CovariateLevels:
    """Fit W_0, …, W_L to ``moments`` (K + 1, q) from the fit of the ``whole``, a stack of one.

    Twice, with values of the covariate that get finer until both agree.
    """
    count, q = moments.shape
    if count * q > _MOST_FREE or not forms_covariances(hierarchy):
        raise ResolutionError(
            hierarchy.levels,
            f"has {q} features, too many with {count - 1} functions of the covariate",
            "ask for fewer levels or a smaller basis",
        )
    top = hierarchy.family(hierarchy.levels)
    solved = whole.solutions[-1]
    start = np.zeros((1, count, q))
    start[0, 0] = solved.lam[0]
    frame = mean_frame(hierarchy, moments[0], ess)
    before: tuple[CovariateFit, ...] | None = None
    for rule in rows.rules():
        problem = CovariateProblem(top, rule.b, rule.weights, free_of((count, q), 0))
        problem, fits = _on_rule(hierarchy, problem, moments, start, int(solved.rungs[0]), before)
        if before is not None:
            error = max(abs(f.deficit[0] - g.deficit[0]) for f, g in zip(fits, before, strict=True))
        else:
            error = np.inf
        if rule.exact or error <= VERIFIED_DIFFERENCE:
            error = 0.0 if rule.exact else float(error)
            return CovariateLevels(hierarchy, rows, rule, problem, moments, fits, error, frame)
        before = fits
    raise AssertionError("the last rule is exact")


def _on_rule(
    hierarchy: Hierarchy,
    problem: CovariateProblem,
    moments: Array,
    start: Array,
    rung: int,
    before: tuple[CovariateFit, ...] | None,
) -> tuple[CovariateProblem, tuple[CovariateFit, ...]]:
    """All levels, by the integrals that served the whole where they resolve the laws."""
    top = hierarchy.family(hierarchy.levels)
    for family in (top.resolved_by(rung), top):
        part = replace(problem, family=family)
        try:
            fits = _climbed(hierarchy, part, moments, start, before)
            lam = part.b @ fits[-1].theta[0]
            if family is top or family.resolves(lam, part.laws(fits[-1].theta)[0][0]):
                return part, fits
        except (ConvergenceError, ResolutionError):
            if family is top:
                raise
    raise AssertionError("the family itself resolves its laws or says that it does not")


def _climbed(
    hierarchy: Hierarchy,
    problem: CovariateProblem,
    moments: Array,
    start: Array,
    before: tuple[CovariateFit, ...] | None,
) -> tuple[CovariateFit, ...]:
    fits: list[CovariateFit] = []
    for level in range(hierarchy.levels + 1):
        own = hierarchy.q(level) if level else 0
        part = replace(problem, free=free_of(moments.shape, own))
        begin = start if before is None else before[level].theta
        if fits and before is None:
            begin = fits[-1].theta
        fits.append(_checked(part.solve(moments[None], begin), level))
    return tuple(fits)


def _checked(found: CovariateFit, level: int) -> CovariateFit:
    """The fit, or why it could not be computed."""
    if found.status[0] == Status.CONVERGED and np.isfinite(found.theta).all():
        return found
    raise ConvergenceError(
        level,
        "did not converge with features that depend on the covariate: the covariate may separate "
        "the directions, so that no fit exists",
        "use a smaller basis or fewer levels",
    )
