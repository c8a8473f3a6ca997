"""Fisher-Bingham parameters of many means and covariances at once.

The same Newton steps as in `fit`, taken by all rows together: stacked eigenbases, contours and
conjugate gradients. What a row needs beyond plain steps (a second start, shorter steps, a faint
mode, very many nodes) is not tried here: such rows are not ``settled``, and the caller fits them
alone. No row looks at another.

Two things make it quick besides. On the way contours need few digits, and curvatures never need
many: a trapezoidal rule doubles its digits when its step is halved, so that a quarter of the nodes
keeps a quarter of them, conjugate gradients run in single precision, and what a rough curvature
leaves over the next step repairs. And the last step is not looked at again: from a decrement δ it
leaves a decrement of c δ², and the dual after it is known to c δ³, which is added to the stated
error; c is what the step before has shown.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.contour import Effort
from steradian.numerics.fisher_bingham.fit import Curvature, Step
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.linalg import on_diagonal
from steradian.numerics.tolerances import (
    BINGHAM_RESIDUAL,
    CONTOUR_AGREEMENT,
    NEARLY_DECREMENT,
    ROUGH_CONTOUR,
    STACK_LAST_STEP,
    TINY,
)

_RADIUS = 0.6  # longest step, in the metric of the preconditioner
_ENTRIES = 1 << 17  # numbers of one array of nodes that stay near the processor
_NODES = 17, 49  # that most rows take on the way and at the end
_MOST_CG = 40
_SHARE_LEFT = 1e-3  # of the gradient, by conjugate gradients: a coarse curvature leaves as much


Law = tuple[Array, Array]
"""Means (R, d) of laws, and variances (R, d) of their saddles' Gaussians."""


@dataclass(frozen=True, slots=True)
class StackFit:
    """R laws exp(ηᵀx + xᵀBx - ψ); rows that are not ``settled`` mean nothing."""

    eta: Array  # (R, d)
    quadratic: Array  # (R, d, d): B, of trace zero
    psi: Array  # (R,)
    deficit: Array  # (R,)
    residual: Array  # (R,) largest mismatch of mean or covariance, after the last step
    decrement: Array  # (R,) after the last step
    error: Array  # (R,) of the deficit: of the contour, and of the last step
    nodes: IntArray  # (R,) of the contour
    steps: IntArray  # (R,)
    settled: BoolArray  # (R,)

    @classmethod
    def empty(cls, rows: int, d: int) -> StackFit:
        """To be filled."""
        numbers = [np.full(shape, np.nan) for shape in ((rows, d), (rows, d, d), *[(rows,)] * 5)]
        eta, quadratic, *rest = numbers
        psi, deficit, residual, decrement, error = rest
        return cls(
            eta, quadratic, psi, deficit, residual, decrement, error,
            nodes=np.zeros(rows, dtype=np.int64),
            steps=np.zeros(rows, dtype=np.int64),
            settled=np.zeros(rows, dtype=np.bool_),
        )  # fmt: skip

    def take(self, rows: BoolArray | IntArray) -> StackFit:
        """Some of them."""
        return StackFit(*(getattr(self, each.name)[rows] for each in fields(self)))


@dataclass(frozen=True, slots=True)
class _Plan:
    """How closely laws are looked at, and up to which decrement."""

    effort: Effort
    error: float  # of a contour that is good enough
    every: int  # node of which curvatures take one
    enough: float  # decrement at which the plan is fulfilled
    steps: int  # that may be taken


# rows that take more nodes than the others would make all of them take as many
_ROUGH = _Plan(Effort(16, 64, np.sqrt(ROUGH_CONTOUR), -18.0), ROUGH_CONTOUR, 2, 1e-2, 6)
_FINE = _Plan(Effort(48, 48), 2.0 * ROUNDOFF + CONTOUR_AGREEMENT**2, 4, STACK_LAST_STEP, 5)
_FINEST = _Plan(Effort(96, 384), 4.0 * ROUNDOFF, 4, STACK_LAST_STEP, 5)


@dataclass(frozen=True, slots=True)
class _States:
    """The iterates of the rows still in play, and their targets, each in its own eigenbasis."""

    rows: IntArray  # (R,) where they belong
    axes: Array  # (R, d, d)
    mean: Array  # (R, d)
    scatter: Array  # (R, d, d)
    beta: Array  # (R, d)
    b: Array  # (R, d)
    last: Array  # (R,) the decrement before the last step
    steps: IntArray  # (R,)

    @classmethod
    def gaussian(cls, m: Array, values: Array, axes: Array) -> _States:
        """The Gaussians with these moments, nearly the answer in high dimension."""
        count = len(m)
        rotated, scatter = _turned(axes, m), np.zeros_like(axes)
        on_diagonal(scatter)[...] = values
        law = -0.5 / values, rotated / values
        zeros = np.zeros(count, dtype=np.int64)
        return cls(np.arange(count), axes, rotated, scatter, *law, np.full(count, np.inf), zeros)

    def take(self, kept: IntArray) -> _States:
        """Some of them."""
        return _States(*(getattr(self, each.name)[kept] for each in fields(self)))

    @classmethod
    def together(cls, parts: list[_States]) -> _States:
        """All of them."""
        names = [each.name for each in fields(cls)]
        return cls(*(np.concatenate([getattr(p, name) for p in parts]) for name in names))

    def parameters(self, mean: Array, step: Step) -> tuple[Array, Array]:
        """η and B after a step in coordinates about the ``mean`` (R, d) of the laws."""
        matrix = 0.5 * (step[1] + step[1].swapaxes(1, 2))
        eta = self.b + step[0] - 2.0 * _turned(matrix, mean)
        on_diagonal(matrix)[...] += self.beta
        return eta, matrix

    def moved(self, law: Law, step: Step, decrement: Array) -> _States:
        """After a step, in the eigenbases there.

        Taken as a change of the saddle's Gaussian, of variances V and centre c = V b: to first
        order the same as a change of η and B, and beyond it nearer to the answer, since a Gaussian
        would have it there. No longer than `_RADIUS` it leaves V + 2 V q V positive definite.
        """
        mean, v = law
        g, q = step
        centre = v * self.b
        pull = g + 2.0 * _turned(q, centre - mean)
        matrix = (v[:, :, None] * (q + q.swapaxes(1, 2))) * v[:, None, :]
        on_diagonal(matrix)[...] += v
        values, turn = np.linalg.eigh(matrix)
        values = np.maximum(values, TINY)
        return _States(
            self.rows,
            self.axes @ turn,
            _turned(turn, self.mean),
            turn.swapaxes(1, 2) @ self.scatter @ turn,
            -0.5 / values,
            _turned(turn, centre + v * pull) / values,
            decrement,
            self.steps + 1,
        )


@dataclass(frozen=True, slots=True)
class _Steps:
    """Newton steps of a stack of iterates, and what their laws were before them."""

    terms: FisherBinghamTerms
    gradient: Step
    decrement: Array  # (R,) in the metric of the preconditioner
    step: Step
    usable: BoolArray  # (R,)

    @classmethod
    def at(cls, states: _States, plan: _Plan) -> _Steps:
        terms = fisher_bingham(states.beta, states.b, plan.effort)
        curvature = _coarse(terms, plan.every, np.float32)
        miss = states.mean - terms.mean
        second = states.scatter + miss[:, :, None] * miss[:, None, :] - terms.covariance()
        with np.errstate(over="ignore", invalid="ignore"):  # such rows are not usable
            step, decrement = _newton_step(curvature, (miss, second))
        usable = (terms.error <= plan.error) & np.isfinite(decrement + step[1].sum(axis=(1, 2)))
        return cls(terms, (miss, second), decrement, step, usable)

    def part(self, rows: IntArray) -> tuple[Law, Step, Array]:
        """Laws, steps and decrements of some rows, as `_States.moved` wants them."""
        law = self.terms.mean[rows], 0.5 / self.terms.p[rows]
        return law, (self.step[0][rows], self.step[1][rows]), self.decrement[rows]


def fit_stack(m: Array, values: Array, axes: Array) -> StackFit:
    """Laws of means ``m`` (R, d) and covariances of eigenvalues (R, d) and eigenbases (R, d, d)."""
    count, d = m.shape
    out = StackFit.empty(count, d)
    way, end = (max(8, _ENTRIES // (nodes * d)) for nodes in _NODES)
    for part in _even_parts(count, way):
        states = _States.gaussian(m[part], values[part], axes[part])
        near = _approached(replace(states, rows=part))
        if near is not None:
            for some in _even_parts(len(near.rows), end):
                _finish(near.take(some), (values, axes), out)
    return out


def _even_parts(count: int, most: int) -> list[IntArray]:
    """Numbers below ``count`` in parts of about one size, at most ``most``."""
    return np.array_split(np.arange(count), -(-count // most)) if count else []


def _approached(states: _States) -> _States | None:
    """The rows that plain steps bring near the end, from laws that are known roughly."""
    near: list[_States] = []
    for _ in range(_ROUGH.steps):
        taken = _Steps.at(states, _ROUGH)
        close = taken.usable & (taken.decrement <= _ROUGH.enough)
        some = np.flatnonzero(close)
        if len(some):
            near.append(states.take(some).moved(*taken.part(some)))
        going = np.flatnonzero(taken.usable & ~close)
        if not len(going):
            break
        states = states.take(going).moved(*taken.part(going))
    return _States.together(near) if near else None


def _finish(states: _States, given: tuple[Array, Array], out: StackFit) -> None:
    """Take the last steps, and write the rows that arrive."""
    for plan in (_FINE, _FINEST):
        left = _ended(states, plan, given, out)
        if not left:
            return
        states = _States.together(left)


def _ended(
    states: _States, plan: _Plan, given: tuple[Array, Array], out: StackFit
) -> list[_States]:
    """The same with so many nodes; rows that want more."""
    left: list[_States] = []
    for _ in range(plan.steps):
        taken = _Steps.at(states, plan)
        close = taken.usable & (taken.decrement <= plan.enough)
        some = np.flatnonzero(close)
        if len(some):
            close[some] = _write(states, taken, some, given, out)
        coarse = np.flatnonzero(~(taken.terms.error <= plan.error))
        if len(coarse):
            left.append(states.take(coarse))
        going = np.flatnonzero(taken.usable & ~close)
        if not len(going):
            break
        states = states.take(going).moved(*taken.part(going))
    return left


def _write(
    all_states: _States, taken: _Steps, some: IntArray, given: tuple[Array, Array], out: StackFit
) -> BoolArray:
    """The rows ``some`` of a stack after their last step; whether it was."""
    states, rows = all_states.take(some), all_states.rows[some]
    (mean, _), step, decrement = taken.part(some)
    gradient = taken.gradient[0][some], taken.gradient[1][some]
    exact = _coarse(taken.terms.take(some), 2)  # half the nodes agree with all of them
    change = exact.product(step)
    left = exact.project((gradient[0] - change[0], gradient[1] - change[1]))
    eta, matrix = states.parameters(mean, step)
    on_diagonal(matrix)[...] -= on_diagonal(matrix).mean(axis=1)[:, None]
    gain = _inner(gradient, step) - 0.5 * _inner(change, step)
    dual = taken.terms.duals(all_states.mean, on_diagonal(all_states.scatter))[some] + gain
    second = states.scatter + states.mean[:, :, None] * states.mean[:, None, :]
    growth = np.maximum(decrement / np.minimum(states.last, 1.0) ** 2, 1.0)
    after = growth * decrement  # what the step leaves of the gradient to second order
    relative = _in_units(states, left[1], given) + after * _in_units(states, gradient[1], given)
    out.eta[rows] = _turned(states.axes.swapaxes(1, 2), eta)
    out.quadratic[rows] = states.axes @ matrix @ states.axes.swapaxes(1, 2)
    out.psi[rows] = np.einsum("ri,ri->r", eta, states.mean)
    out.psi[rows] += np.einsum("rij,rij->r", matrix, second) - dual
    out.deficit[rows] = dual
    out.residual[rows] = _largest(left) + after * _largest(gradient)
    out.decrement[rows] = growth * decrement**2 + _size(exact, left)
    out.error[rows] = taken.terms.error[some] + 2.0 * growth * decrement**3
    out.nodes[rows] = taken.terms.weights.shape[1]
    out.steps[rows] = states.steps + 1
    d = eta.shape[1]
    last = np.sqrt(d * (d + 2.0)) * out.residual[rows] <= BINGHAM_RESIDUAL
    last &= relative <= NEARLY_DECREMENT  # else a faint mode may hide in it
    out.settled[rows] = last
    return last


def _in_units(states: _States, mismatch: Array, given: tuple[Array, Array]) -> Array:
    """Bound of the mismatch of covariances in units of those given by their eigenbases, (R,)."""
    values, axes = (part[states.rows] for part in given)
    turn = states.axes.swapaxes(1, 2) @ axes
    white = turn.swapaxes(1, 2) @ mismatch @ turn
    white /= np.sqrt(values[:, :, None] * values[:, None, :])
    return np.asarray(np.linalg.norm(white, axis=(1, 2)))


def _coarse(terms: FisherBinghamTerms, every: int, kind: type[Any] = np.float64) -> Curvature:
    """Curvatures by one in ``every`` node, in numbers of a ``kind``."""
    numbers = np.result_type(kind, np.complex64)
    weights = terms.weights[:, ::every]
    weights = (weights / weights.real.sum(axis=1, keepdims=True)).astype(numbers)
    nodes = terms.v[:, ::every].astype(numbers), weights
    b, v, guess = (each.astype(kind) for each in (terms.b, terms.v_mean, 0.5 / terms.p))
    return Curvature.on_nodes(b, v, guess, nodes, Partition.whole(terms.b.shape[1]))


def _newton_step(curvature: Curvature, gradient: Step) -> tuple[Step, Array]:
    """Conjugate gradients, cut to the radius, and decrements in the metric of the preconditioner.

    They end with a share of the gradient left as large as the step leaves anyhow, of which single
    precision has all digits.
    """
    kind = curvature.guess.dtype
    r = curvature.project((gradient[0].astype(kind), gradient[1].astype(kind)))
    z = curvature.precondition(r)
    rz = _inner(r, z)
    decrement = np.sqrt(np.maximum(rz, 0.0))
    tolerance = (np.clip(0.2 * decrement, _SHARE_LEFT, 0.1) * decrement) ** 2
    step, p = (np.zeros_like(r[0]), np.zeros_like(r[1])), z
    live = rz > 0.0
    for _ in range(_MOST_CG):
        hp = curvature.project(curvature.product(p))
        php = _inner(p, hp)
        live &= php > 0.0
        alpha = np.where(live, rz / np.where(live, php, 1.0), 0.0)
        step, r = _plus(step, p, alpha), _plus(r, hp, -alpha)
        z = curvature.precondition(r)
        following = _inner(r, z)
        live &= following > tolerance
        if not live.any():
            break
        share = np.where(live, following / np.where(live, rz, 1.0), 0.0)
        p, rz = _plus(z, p, share), following
    v = curvature.guess
    length = (v * step[0] ** 2).sum(axis=1)
    length += 2.0 * (_turned(step[1] ** 2, v) * v).sum(axis=1)
    kept = np.minimum(1.0, _RADIUS / np.sqrt(np.maximum(length, _RADIUS**2)))
    step = kept[:, None] * step[0], kept[:, None, None] * step[1]
    return (step[0].astype(np.float64), step[1].astype(np.float64)), decrement.astype(np.float64)


def _turned(axes: Array, vectors: Array) -> Array:
    """axesᵀ v, (R, d)."""
    return np.asarray((vectors[:, None, :] @ axes)[:, 0, :])


def _inner(r: Step, s: Step) -> Array:
    return np.asarray(np.einsum("ri,ri->r", r[0], s[0]) + np.einsum("rij,rij->r", r[1], s[1]))


def _size(curvature: Curvature, r: Step) -> Array:
    return np.sqrt(np.maximum(_inner(r, curvature.precondition(r)), 0.0))


def _plus(r: Step, s: Step, scale: Array) -> Step:
    return r[0] + scale[:, None] * s[0], r[1] + scale[:, None, None] * s[1]


def _largest(step: Step) -> Array:
    return np.maximum(np.abs(step[0]).max(axis=1), np.abs(step[1]).max(axis=(1, 2)))
