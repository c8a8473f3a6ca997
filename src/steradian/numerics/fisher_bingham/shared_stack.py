"""Deficits of many samples of groups with their own η and one B each, as bootstraps ask for.

The fits of `numerics.fisher_bingham.shared` side by side: Newton's steps by conjugate gradients
without a trust region that learns, for as long as the dual rises. A sample ends where a step is so
short that what it gains to second order is its whole gain; one that does not end soon is left to
the careful way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.fisher_bingham.fit import Curvature, Step
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.fisher_bingham.shared import SharedCurvature
from steradian.numerics.tolerances import DRAWN_DECREMENT

_RADIUS = 0.6  # longest step, in the metric of the preconditioner
_MOST_STEPS, _MOST_CG = 12, 40
_LEFT = 0.02  # of the gradient, by conjugate gradients


@dataclass(frozen=True, slots=True, eq=False)
class _States:
    """Iterates of S samples of G groups and their target moments, in the eigenbases of their B."""

    rows: IntArray  # (S,) of all samples
    mean: Array  # (S, G, d)
    scatter: Array  # (S, G, d, d)
    shares: Array  # (G,)
    beta: Array  # (S, d)
    b: Array  # (S, G, d)
    dual: Array  # (S,) before the last step

    @classmethod
    def discriminant(cls, m: Array, scatter: Array, shares: Array) -> _States:
        """Gaussians of one covariance: linear discriminant analysis."""
        values, axes = np.linalg.eigh(np.tensordot(scatter, shares, axes=(1, 0)))
        turned = m @ axes
        spread = axes.swapaxes(1, 2)[:, None] @ scatter @ axes[:, None]
        nothing = np.full(len(m), -np.inf)
        scaled = turned / values[:, None, :]
        return cls(np.arange(len(m)), turned, spread, shares, -0.5 / values, scaled, nothing)

    @property
    def terms(self) -> FisherBinghamTerms:
        """Of all laws, (S G, …)."""
        d = self.b.shape[2]
        beta = np.broadcast_to(self.beta[:, None, :], self.b.shape)
        return fisher_bingham(beta.reshape(-1, d), self.b.reshape(-1, d))

    def curvature(self, terms: FisherBinghamTerms) -> SharedCurvature:
        shape = self.b.shape
        each = (terms.b, terms.v_mean, 0.5 / terms.p)
        b, v, guess = (part.reshape(shape) for part in each)
        nodes = terms.v.reshape(*shape[:2], -1, shape[2]), terms.weights.reshape(*shape[:2], -1)
        whole = Partition.whole(shape[2])
        return SharedCurvature(Curvature.on_nodes(b, v, guess, nodes, whole), self.shares)

    def duals(self, terms: FisherBinghamTerms) -> Array:
        """Σ π_g {η_g · m_g + tr B S_g - ψ_g}, (S,)."""
        d = self.b.shape[2]
        variances = np.diagonal(self.scatter, axis1=2, axis2=3).reshape(-1, d)
        each = terms.duals(self.mean.reshape(-1, d), variances)
        return np.asarray(each.reshape(len(self.rows), -1) @ self.shares)

    def moved(self, law_mean: Array, step: Step, dual: Array) -> _States:
        """After steps from laws of means (S, G, d), in eigenbases of their own."""
        linear, q = step
        matrix = q + self.beta[:, :, None] * np.eye(q.shape[1])
        beta, turn = np.linalg.eigh(0.5 * (matrix + matrix.swapaxes(1, 2)))
        return replace(
            self,
            mean=self.mean @ turn,
            scatter=turn.swapaxes(1, 2)[:, None] @ self.scatter @ turn[:, None],
            beta=beta - beta.max(axis=1, keepdims=True),
            b=(self.b + linear - 2.0 * law_mean @ q) @ turn,
            dual=dual,
        )

    def take(self, some: IntArray) -> _States:
        """Some of the samples."""
        return _States(
            self.rows[some],
            self.mean[some],
            self.scatter[some],
            self.shares,
            self.beta[some],
            self.b[some],
            self.dual[some],
        )


def shared_deficits(m: Array, scatter: Array, shares: Array) -> Array:
    """Σ π_g D(p_g) of the fits to means (S, G, d) and covariances (S, G, d, d), nats, (S,).

    NaN where plain steps do not settle it.
    """
    states, out = _States.discriminant(m, scatter, shares), np.full(len(m), np.nan)
    for _ in range(_MOST_STEPS):
        terms = states.terms
        curvature, dual = states.curvature(terms), states.duals(terms)
        step, left, decrement = _newton(curvature, curvature.gradient(states.mean, states.scatter))
        gain = 0.5 * (_inner(left[1], step) + _inner(left[0], step))
        sound = np.isfinite(dual + gain) & (dual > states.dual - DRAWN_DECREMENT**2)
        done = sound & (decrement <= DRAWN_DECREMENT)
        out[states.rows[done]] = (dual + gain)[done]
        going = np.flatnonzero(sound & ~done)
        if not len(going):
            break
        mean, some = curvature.each.mean[going], (step[0][going], step[1][going])
        states = states.take(going).moved(mean, some, dual[going])
    return out


def _newton(curvature: SharedCurvature, gradient: Step) -> tuple[Step, tuple[Step, Step], Array]:
    """Steps, what is left of the gradient with what it was, and decrements (S,); of any length."""
    start = curvature.project(gradient)
    r, z = start, curvature.precondition(start)
    rz = _inner(r, z)
    decrement = np.sqrt(np.maximum(rz, 0.0))
    step, p = (np.zeros_like(r[0]), np.zeros_like(r[1])), z
    enough, live = (_LEFT * np.minimum(decrement, 1.0) * decrement) ** 2, rz > 0.0
    for _ in range(_MOST_CG):
        hp = curvature.projected_product(p)
        php = _inner(p, hp)
        live &= php > 0.0
        alpha = np.where(live, rz / np.where(live, php, 1.0), 0.0)
        step, r = _plus(step, p, alpha), _plus(r, hp, -alpha)
        z = curvature.precondition(r)
        following = _inner(r, z)
        live &= following > enough
        if not live.any():
            break
        share = np.where(live, following / np.where(live, rz, 1.0), 0.0)
        p, rz = _plus(z, p, share), following
    return _cut(curvature, step, (r, start), decrement)


def _cut(
    curvature: SharedCurvature, step: Step, left: tuple[Step, Step], decrement: Array
) -> tuple[Step, tuple[Step, Step], Array]:
    """Steps no longer than the radius."""
    guess = curvature.shares[:, None] * curvature.each.guess
    length = (guess * step[0] ** 2).sum(axis=(1, 2))
    length += 2.0 * (curvature.pairs * step[1] ** 2).sum(axis=(1, 2))
    kept = np.minimum(1.0, _RADIUS / np.sqrt(np.maximum(length, _RADIUS**2)))
    return (kept[:, None, None] * step[0], kept[:, None, None] * step[1]), left, decrement


def _inner(r: Step, s: Step) -> Array:
    return np.asarray(np.einsum("sgi,sgi->s", r[0], s[0]) + np.einsum("sij,sij->s", r[1], s[1]))


def _plus(r: Step, s: Step, scale: Array) -> Step:
    return r[0] + scale[:, None, None] * s[0], r[1] + scale[:, None, None] * s[1]
