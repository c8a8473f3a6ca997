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

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas, lapack

from steradian.numerics.arrays import Array, BoolArray, IntArray
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
_BLOCK = 1 << 16  # numbers at nodes that are worked on at once: they stay near the processor
_MOST_DUAL = 1e3  # nats between p and θ, more of which says no more
_UNSEEN_SHARE = 1e-2  # of what modes may differ by that nodes left out may bring together


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
    floor = _FLOOR - np.log1p(np.einsum("nq,nq->n", g, g))
    theta, log_mass, work = start.theta, start.log_mass, 0.0
    exponent = g @ theta[1:] + theta[0]
    factor = _Factor(None, 1.0)

    def stopped(step: int, *, converged: bool = False, lost: bool = False) -> PrimalDual:
        return PrimalDual(theta, log_mass, converged, lost, step, work)

    for step in range(most):
        felt = np.flatnonzero(log_mass > floor)
        mass = np.exp(log_mass[felt])
        dual = log_mass[felt] - log_weights[felt] - exponent[felt]
        rows = _Rows(g, felt, np.sqrt(mass))
        (primal, gradient), factor = rows.factorised(dual, factor)
        primal[0] -= 1.0
        work += factor.cost * rows.size * len(theta) + _PASSES * (g.size + len(g))
        if factor.root is None:
            return stopped(step, lost=True)
        change = _solved(factor.root, gradient - primal)
        white = lapack.dtrtrs(factor.root, primal, trans=1)[0]
        far = float(white @ white)
        if far > _OUTSIDE and step > _PATIENCE:  # no masses on these nodes have the moments
            return stopped(step, lost=True)
        misfit = float(mass @ np.minimum(np.abs(dual), _MOST_DUAL) ** 2)
        if max(far, misfit) < MESH_RESIDUAL**2:
            total = float(np.logaddexp.reduce(log_weights + exponent))
            if abs(total) < MESH_WHOLE and _modes_agree(rows, factor.root, dual):
                return stopped(step, converged=True)
        theta = theta + change
        if not abs(theta[0]) < RUN_OFF:
            return stopped(step, lost=True)
        before, exponent = exponent, g @ theta[1:] + theta[0]
        relative = exponent[felt] - before[felt] - dual
        moved = np.minimum(np.log1p(np.maximum(relative, _LEAST_CHANGE)), _RISE)
        entering = np.clip(log_weights + exponent, floor - 1.0, floor + _RISE)
        entering[felt] = np.maximum(log_mass[felt] + moved, floor[felt] - 1.0)
        log_mass = entering
    return stopped(most)


@dataclass(frozen=True, slots=True, eq=False)
class _Factor:
    """Upper triangular R with RᵀR = Σ p (1, g)(1, g)ᵀ, None where that is singular."""

    root: Array | None
    cost: float  # over that of a product of the rows


@dataclass(frozen=True, slots=True, eq=False)
class _Rows:
    """√p (1, g) at the nodes that are felt: n rows of q + 1 numbers, made some at a time."""

    g: Array  # (N, q)
    felt: IntArray  # (n,)
    roots: Array  # (n,): √p

    @property
    def size(self) -> int:
        return len(self.felt) * (self.g.shape[1] + 1)

    def __iter__(self) -> Iterator[tuple[slice, Array]]:
        """Which rows, and they themselves, until the next ones take their place."""
        columns = self.g.shape[1] + 1
        many = min(max(1, _BLOCK // columns), len(self.felt))
        held, room = np.empty((many, columns - 1)), np.empty((many, columns))
        for first in range(0, len(self.felt), max(many, 1)):
            some = slice(first, min(first + many, len(self.felt)))
            rows, block = held[: some.stop - first], room[: some.stop - first]
            np.take(self.g, self.felt[some], axis=0, out=rows, mode="clip")
            root = self.roots[some]
            block[:, 0] = root
            np.multiply(rows, root[:, None], out=block[:, 1:])
            yield some, block

    def where(self, which: BoolArray) -> _Rows:
        return _Rows(self.g, self.felt[which], self.roots[which])

    def factorised(self, dual: Array, last: _Factor) -> tuple[Array, _Factor]:
        """Σ p (1, g) and Σ p (1, g) ``dual``, (2, q + 1), and the factor of the rows.

        Squaring spoils rows of uneven size: then they are divided by the factor of the last step
        first, which leaves them nearly orthonormal.
        """
        near = last.root
        divisor = None if near is None or _is_even(near) else near
        sums, gram = self._products(dual, divisor)
        factor = _even_factor(gram)
        if (factor is None and len(self.felt) < len(gram)) or not np.isfinite(sums).all():
            return sums, _Factor(None, 1.0)
        if factor is None and divisor is None and near is not None:
            divisor = near
            factor = _even_factor(self._products(dual, divisor)[1])
        if factor is not None and divisor is not None:
            return sums, _Factor(factor @ divisor, _DIVIDED)
        if factor is not None:
            return sums, _Factor(factor, 1.0)
        whole = self._triangle()
        usable = np.abs(np.diag(whole)).min() > TINY_FACTOR
        return sums, _Factor(whole if usable else None, _ORTHOGONAL)

    def _products(self, dual: Array, divisor: Array | None) -> tuple[Array, Array]:
        """The sums of `factorised`, and rowsᵀ rows of rows divided by a triangular factor."""
        columns = self.g.shape[1] + 1
        sums, gram = np.zeros((2, columns)), np.zeros((columns, columns))
        inverse = None if divisor is None else lapack.dtrtri(divisor)[0]
        for some, block in self:
            root = self.roots[some]
            sums[0] += root @ block
            sums[1] += (root * dual[some]) @ block
            rows = block if inverse is None else block @ inverse
            gram += rows.T @ rows
        return sums, gram

    def _triangle(self) -> Array:
        """The factor without squares: that of each block below those before it."""
        whole = np.zeros((0, self.g.shape[1] + 1))
        for _, block in self:
            whole = np.asarray(np.linalg.qr(np.vstack([whole, block]), mode="r"))
        return whole


def _modes_agree(rows: _Rows, factor: Array, dual: Array) -> bool:
    """Whether p and θ say the same of every node that a moment rests on, however faint.

    Its leverage, the share of some combination of the moments that is its own, counts here and
    not its mass: Newton's method creeps while a mode has to change by much more than itself.
    Leverages sum to the number of moments, so that nodes where both nearly agree are left out.
    """
    allowed, left = MESH_MODES**2, np.minimum(np.abs(dual), _MOST_DUAL) ** 2
    seen = left > _UNSEEN_SHARE * allowed / len(factor)
    left, total = left[seen], 0.0
    for some, block in rows.where(seen):
        white = blas.dtrsm(1.0, factor, block.T, trans_a=1, overwrite_b=1)
        total += float(np.einsum("qn,qn->n", white, white) @ left[some])
        if not total < allowed:
            return False
    return True


def _even_factor(gram: Array) -> Array | None:
    """The factor by Cholesky's method where squaring did not spoil it."""
    factor, failed = lapack.dpotrf(gram, clean=1)
    if failed:
        return None
    return np.asarray(factor) if _is_even(factor) else None


def _is_even(factor: Array) -> bool:
    diagonal = np.abs(np.diag(factor))
    return bool(diagonal.max() < EVEN_FACTOR_ON_THE_WAY * diagonal.min())


def _solved(factor: Array, right: Array) -> Array:
    """The solution of RᵀR z = right."""
    white = lapack.dtrtrs(factor, right, trans=1)[0]
    return np.asarray(lapack.dtrtrs(factor, white)[0])
