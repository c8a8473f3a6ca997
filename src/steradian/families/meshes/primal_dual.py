"""Maximum entropy on nodes by a primal-dual Newton method.

Minimise ``Σ p_k log(p_k / ν_k)`` subject to ``Σ p_k = 1`` and ``Σ p_k g_k = 0``. At the optimum
``log p_k = log ν_k + θ_0 + θ·g_k``. Newton's method on θ alone (the dual) takes p for what θ says,
and creeps where a far node of huge features must change its mass by many orders: a step is good
only while no exponent moves by more than about one. Here p and θ are unknowns of their own. The
linearised system

    p⁺_k = p_k {1 + θ_0⁺ + θ⁺·g_k + log ν_k - log p_k},   Σ p⁺_k (1, g_k) = (1, 0)

is one weighted least-squares problem for θ⁺. Each p_k then follows as far as its own
linearisation can be trusted, down by any factor and up by e² at most, while θ takes the full
step. Masses far from the data start at nothing and come in only when the exponent asks for them,
so that the fit grows from the data. Tens of iterations suffice where the dual takes hundreds or
never ends. (Primal-dual interior methods for separable convex problems: Saunders and Tomlin,
Stanford SOL 96-2, 1996.)
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import (
    EVEN_FACTOR_ON_THE_WAY,
    MESH_MODES,
    MESH_RESIDUAL,
    MESH_WHOLE,
    RUN_OFF,
    TINY_FACTOR,
)

_RISE = 2.0  # nats that a mass may rise by in one step
_LEAST_CHANGE = 1e-4 - 1.0  # relative change of a mass that falls as far as it may
_FLOOR = -60.0  # log of a mass times its squared features that is not felt
_DIVIDED, _ORTHOGONAL = 3.0, 10.0  # cost of these factorisations over that of a product
_PASSES = 20.0  # cost of the other work of a step, per number at the nodes
_OUTSIDE, _PATIENCE = 1.0, 6  # squared mismatch that does not fall: nodes too few


@dataclass(frozen=True, slots=True, eq=False)
class PrimalDual:
    """Where the iteration stands."""

    theta: Array  # (q + 1,): θ_0 first
    log_mass: Array  # (N,): log p
    converged: bool
    lost: bool  # whether nothing can come of going on
    steps: int
    work: float  # multiplications, or what takes as long


def primal_dual(g: Array, log_weights: Array, start: PrimalDual, most: int) -> PrimalDual:
    """Up to ``most`` steps for nodes of features ``g`` (N, q) and log ν ``log_weights`` (N,)."""
    nodes = np.column_stack([np.ones(len(g)), g])
    floor = _FLOOR - np.log(np.einsum("nq,nq->n", nodes, nodes))
    theta, log_mass, work = start.theta, start.log_mass, 0.0
    exponent = nodes @ theta
    felt, here = np.empty(0, dtype=np.int64), nodes[:0]
    room, held, factor = np.empty_like(nodes), np.empty_like(nodes), None

    def stopped(step: int, *, converged: bool = False, lost: bool = False) -> PrimalDual:
        return PrimalDual(theta, log_mass, converged, lost, step, work)

    for step in range(most):
        before, felt = felt, np.flatnonzero(log_mass > floor)
        if not np.array_equal(before, felt):
            here = np.take(nodes, felt, axis=0, out=held[: len(felt)], mode="clip")
        mass = np.exp(log_mass[felt])
        dual = log_mass[felt] - log_weights[felt] - exponent[felt]
        primal, gradient = np.column_stack([mass, mass * dual]).T @ here
        primal[0] -= 1.0
        rows = np.multiply(here, np.sqrt(mass)[:, None], out=room[: len(felt)])
        factor, cost = _factor(rows, factor)
        work += cost * here.size * here.shape[1] + _PASSES * nodes.size
        if factor is None:
            return stopped(step, lost=True)
        change = _solved(factor, gradient - primal)
        white = lapack.dtrtrs(factor, primal, trans=1)[0]
        far = float(white @ white)
        if far > _OUTSIDE and step > _PATIENCE:  # no masses on these nodes have the moments
            return stopped(step, lost=True)
        misfit = float(mass @ np.minimum(np.abs(dual), 1e3) ** 2)
        if max(far, misfit) < MESH_RESIDUAL**2:
            total = float(np.logaddexp.reduce(log_weights + exponent))
            if abs(total) < MESH_WHOLE and _modes_agree(here, mass, factor, dual):
                return stopped(step, converged=True)
        theta = theta + change
        if not abs(theta[0]) < RUN_OFF:
            return stopped(step, lost=True)
        relative = here @ change - dual
        exponent = nodes @ theta
        moved = np.minimum(np.log1p(np.maximum(relative, _LEAST_CHANGE)), _RISE)
        entering = np.clip(log_weights + exponent, floor - 1.0, floor + _RISE)
        entering[felt] = np.maximum(log_mass[felt] + moved, floor[felt] - 1.0)
        log_mass = entering
    return stopped(most)


def _modes_agree(here: Array, mass: Array, factor: Array, dual: Array) -> bool:
    """Whether p and θ say the same of every node that a moment rests on, however faint.

    Its leverage, the share of some combination of the moments that is its own, counts here and
    not its mass: Newton's method creeps while a mode has to change by much more than itself.
    """
    white = blas.dtrsm(1.0, factor, (np.sqrt(mass)[:, None] * here).T, trans_a=1)
    leverage = np.einsum("qn,qn->n", white, white)
    return bool(leverage @ np.minimum(np.abs(dual), 1e3) ** 2 < MESH_MODES**2)


def _factor(rows: Array, near: Array | None) -> tuple[Array | None, float]:
    """Upper triangular R with RᵀR = rowsᵀ rows, None where it is singular; and what it cost.

    Squaring spoils rows of uneven size: then they are divided by the factor ``near`` of the last
    step first, which leaves them nearly orthonormal. ``rows`` are overwritten.
    """
    factor = _even_factor(rows)
    if factor is not None:
        return factor, 1.0
    if len(rows) < rows.shape[1] or not np.isfinite(rows).all():
        return None, 1.0
    if near is not None:
        divided = blas.dtrsm(1.0, near, rows.T, trans_a=1).T
        factor = _even_factor(divided)
        if factor is not None:
            return factor @ near, _DIVIDED
    whole = np.asarray(np.linalg.qr(rows, mode="r"))
    return (whole if np.abs(np.diag(whole)).min() > TINY_FACTOR else None), _ORTHOGONAL


def _even_factor(rows: Array) -> Array | None:
    """The factor by Cholesky's method where squaring does not spoil it."""
    factor, failed = lapack.dpotrf(rows.T @ rows, clean=1)
    if failed:
        return None
    diagonal = np.abs(np.diag(factor))
    return np.asarray(factor) if diagonal.max() < EVEN_FACTOR_ON_THE_WAY * diagonal.min() else None


def _solved(factor: Array, right: Array) -> Array:
    """The solution of RᵀR z = right."""
    white = lapack.dtrtrs(factor, right, trans=1)[0]
    return np.asarray(lapack.dtrtrs(factor, white)[0])
