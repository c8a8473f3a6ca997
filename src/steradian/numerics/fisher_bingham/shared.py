"""Fisher-Bingham laws of several groups with their own η and one B, in any dimension.

Maximises ``Σ π_g {η_g · m_g + tr B (S_g + m_g m_gᵀ) - ψ(η_g, B)}``: each group has its own mean,
and all together have the second moments of the pooled sample. All groups are held in the
eigenbasis of B. In coordinates centred at each group's own mean, ``f = c_g · y + yᵀ δB y`` with
``y = x - m_g``, the Gaussian of the saddle sees no correlation between c_g and δB, so that the
Gaussian preconditioner is diagonal although the groups share δB; the step back is
δη_g = c_g - 2 δB m_g. The start is linear discriminant analysis: one Gaussian covariance and a
mean for each group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.conjugate_gradients import inner, truncated_step
from steradian.numerics.fisher_bingham.fit import Curvature, Step
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.linalg import on_diagonal
from steradian.numerics.tolerances import DUAL_ROUNDING, RESTING_DECREMENT, SHARP_DECREMENT

_FIRST_RADIUS, _LARGEST_RADIUS = 0.4, 0.6
_MOST_STEPS = 150


@dataclass(frozen=True, slots=True, eq=False)
class SharedFit:
    """Laws exp(η_g·x + xᵀBx - ψ_g) with the means of G groups and their pooled second moment."""

    eta: Array  # (G, d)
    quadratic: Array  # (d, d), of trace zero
    psi: Array  # (G,)
    deficit: float  # Σ π_g D(p_g), nats
    residual: float  # largest mismatch of a mean or of the pooled covariance within groups
    decrement: float
    steps: int


@dataclass(frozen=True, slots=True, eq=False)
class SharedCurvature:
    """Hessian products for (c_g, δB), and the Gaussian preconditioner.

    Of one sample or of a stack (…): steps are (…, G, d), (…, d, d).
    """

    each: Curvature  # a stack of (…, G) laws
    shares: Array  # (G,)

    @property
    def pairs(self) -> Array:
        """Σ π_g v_g v_gᵀ of the Gaussian variances, (…, d, d)."""
        v = self.each.guess
        return np.asarray((self.shares[:, None] * v).swapaxes(-1, -2) @ v)

    def _pooled(self, matrices: Array) -> Array:
        return np.asarray(np.tensordot(matrices, self.shares, axes=(-3, 0)))

    def gradient(self, m: Array, scatter: Array) -> Step:
        miss, second = self.each.gradient(m, scatter)
        return self.shares[:, None] * miss, self._pooled(second)

    def precondition(self, r: Step) -> Step:
        return r[0] / (self.shares[:, None] * self.each.guess), 0.5 * r[1] / self.pairs

    def project(self, r: Step) -> Step:
        """Make a residual blind to (2 m_g, I), along which |x|² = 1 makes f constant."""
        mean = self.each.mean
        scaled = self.shares[:, None] * self.each.guess * mean
        trace = on_diagonal(self.pairs)
        scale = 4.0 * (scaled * mean).sum(axis=(-2, -1)) + 2.0 * trace.sum(axis=-1)
        along = 2.0 * (mean * r[0]).sum(axis=(-2, -1)) + on_diagonal(r[1]).sum(axis=-1)
        share = np.asarray(2.0 * along / scale)[..., None]
        quadratic = r[1].copy()
        on_diagonal(quadratic)[...] -= share * trace
        return r[0] - share[..., None] * scaled, quadratic

    def product(self, step: Step) -> Step:
        q = np.broadcast_to(step[1][..., None, :, :], (*step[0].shape, step[0].shape[-1]))
        change, second = self.each.product((step[0], q))
        return self.shares[:, None] * change, self._pooled(second)

    def projected_product(self, step: Step) -> Step:
        return self.project(self.product(step))


@dataclass(frozen=True, slots=True, eq=False)
class _State:
    """One iterate and the target moments, in the eigenbasis of B."""

    axes: Array  # (d, d)
    beta: Array  # (d,)
    mean: Array  # (G, d) targets
    scatter: Array  # (G, d, d)
    shares: Array
    terms: FisherBinghamTerms

    @classmethod
    def at(
        cls, axes: Array, law: tuple[Array, Array], targets: tuple[Array, Array], shares: Array
    ) -> _State:
        beta, b = law
        terms = fisher_bingham(np.broadcast_to(beta, b.shape).copy(), b)
        return cls(axes, beta, *targets, shares, terms)

    @property
    def dual(self) -> float:
        variances = np.diagonal(self.scatter, axis1=1, axis2=2)
        return float(self.shares @ self.terms.duals(self.mean, variances))

    @property
    def curvature(self) -> SharedCurvature:
        t, whole = self.terms, Partition.whole(len(self.beta))
        return SharedCurvature(
            Curvature.on_nodes(t.b, t.v_mean, 0.5 / t.p, (t.v, t.weights), whole), self.shares
        )

    def moved(self, at: SharedCurvature, step: Step) -> _State:
        """After ``step``, in its own eigenbasis."""
        linear, q = step
        matrix = q + np.diag(self.beta)
        eta = self.terms.b + linear - 2.0 * at.each.mean @ q
        beta, turn = np.linalg.eigh(0.5 * (matrix + matrix.T))
        targets = self.mean @ turn, turn.T @ self.scatter @ turn
        return self.at(self.axes @ turn, (beta - beta.max(), eta @ turn), targets, self.shares)


def fit_shared(m: Array, scatter: Array, shares: Array) -> SharedFit:
    """The laws with means ``m`` (G, d) and the pooled second moment, from covariances (G, d, d).

    ``shares`` (G,) are of sum one; covariances are centred, of trace 1 - |m_g|², and their mean
    over the groups is positive definite.
    """
    within = np.tensordot(shares, scatter, axes=1)
    values, axes = np.linalg.eigh(within)
    rotated = m @ axes
    law = -0.5 / values, rotated / values
    state = _State.at(axes, law, (rotated, axes.T @ scatter @ axes), shares)
    return _climb(state)


def _climb(state: _State) -> SharedFit:
    """Trust-region Newton; see `numerics.fisher_bingham.fit`."""
    radius, steps, decrement, floor = _FIRST_RADIUS, 0, np.inf, np.inf
    curvature = state.curvature
    gradient = curvature.gradient(state.mean, state.scatter)
    while steps < _MOST_STEPS:
        found = truncated_step(curvature, gradient, radius, decrement)
        step, decrement = found.step, found.decrement
        if decrement <= SHARP_DECREMENT or 0.5 * floor <= decrement < RESTING_DECREMENT:
            break
        floor, steps = min(floor, decrement), steps + 1
        trial = state.moved(curvature, step)
        predicted = 0.5 * (inner(gradient, step) + inner(found.residual, step))
        felt = DUAL_ROUNDING * (1.0 + abs(state.dual))
        rise = trial.dual - state.dual
        ratio = rise / predicted if predicted > felt else float(rise >= -felt)
        if ratio > 0.75 and found.at_edge:
            radius = min(1.5 * radius, _LARGEST_RADIUS)
        elif ratio < 0.25:
            radius *= 0.5
        if ratio > 1e-3:
            state, curvature = trial, trial.curvature
            gradient = curvature.gradient(state.mean, state.scatter)
        elif radius < 1e-10:
            break
    residual = float(max(np.abs(part).max() for part in gradient))
    return _result(state, residual, decrement, steps)


def _result(state: _State, residual: float, decrement: float, steps: int) -> SharedFit:
    centre = float(state.beta.mean())
    return SharedFit(
        eta=state.terms.b @ state.axes.T,
        quadratic=(state.axes * (state.beta - centre)) @ state.axes.T,
        psi=state.terms.psi - centre,
        deficit=state.dual,
        residual=residual,
        decrement=decrement,
        steps=steps,
    )
