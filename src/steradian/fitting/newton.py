"""From moments to natural parameters: damped Newton on the concave dual, for a stack.

A level's fit maximises ``lam · m - psi(lam)``. Its gradient is ``m - E_lam[phi]`` and its
Hessian ``-Cov_lam[phi]``, so a Newton step solves ``Cov step = m - mean``; the squared
*decrement* ``(m - mean) · step`` is twice the distance to the optimum, to second order.
The solver knows arrays and the `Curvature` an exponential family hands it, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Protocol

import numpy as np

from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.linalg import conditions, solve_positive
from steradian.numerics.tolerances import (
    ACCEPTED_DECREMENT,
    ACCEPTED_RESIDUAL,
    CLEAR_RISE,
    EXPONENT_ROUNDING,
    LAST_STEP,
    MOMENT_ROUNDING,
    ROUNDED_RESIDUAL,
    SHORTEST_STEP,
)

MAX_STEPS = 300
ARMIJO = 1e-4  # share of the promised rise that a step must bring (Armijo 1966)
_LONGEST = 4.0  # step, in Newton's, along a path where each is hardly shorter than the last
_LONG_RISE = 0.5  # share of what Newton's promises that a longer one must bring
_CREEPING = 0.01  # decrement above which steps are made longer
_IDLE_STEPS = 3  # without a rise, after which none is expected


class Curvature(Protocol):
    """Value, mean and covariance of a stack of laws, ready for a Newton step."""

    @property
    def psi(self) -> Array:
        """Log-partitions, (B,)."""
        ...

    @property
    def mean(self) -> Array:
        """Feature means, (B, q)."""
        ...

    def newton(self, gradient: Array) -> Array:
        """Solve ``Cov step = gradient`` row by row, (B, q)."""
        ...

    def condition(self) -> Array:
        """Estimated condition of the covariance, (B,)."""
        ...


@dataclass(frozen=True, slots=True)
class DenseCurvature:
    """A curvature whose covariances (B, q, q) are at hand and well conditioned."""

    psi: Array
    mean: Array
    covariance: Array

    def newton(self, gradient: Array) -> Array:
        return solve_positive(self.covariance, gradient)

    def condition(self) -> Array:
        return conditions(self.covariance)


@dataclass(frozen=True, slots=True)
class NewtonPath:
    """Where Newton's method ended for each row of a stack."""

    lam: Array  # (B, q)
    steps: IntArray  # (B,)
    dual: Array  # (B,) lam · m - psi there, of a last step as far as it is known before it is taken
    begun: Array  # (B,) the same at the start
    arrived: BoolArray  # (B,) whether it ended there, rather than giving up


@dataclass(slots=True)
class _Iterate:
    """The working state of the rows still in play."""

    rows: IntArray  # where they stand in the stack
    m: Array
    lam: Array
    dual: Array
    step: Array
    decrement: Array  # squared
    residual: Array
    rounding: Array  # mismatch that is only rounding
    length: Array
    idle: IntArray  # accepted steps in a row that improved nothing

    def keep(self, mask: BoolArray) -> None:
        for name in _ITERATE_FIELDS:
            setattr(self, name, getattr(self, name)[mask])


_ITERATE_FIELDS = tuple(f.name for f in fields(_Iterate))


Evaluate = Callable[[Array, IntArray], Curvature]
"""Parameters (b, q) and the rows of the stack they belong to (b,) → their curvature."""


def newton(
    evaluate: Evaluate,
    m: Array,
    start: Array,
    *,
    max_steps: int = MAX_STEPS,
    last_step: float = LAST_STEP,
) -> NewtonPath:
    """Maximise ``lam · m - psi(lam)`` for each row of ``m`` (B, q) from ``start`` (B, q).

    Full Newton steps, halved until the dual rises (Armijo). A row ends with the step taken
    at a decrement below ``last_step``, after which quadratic convergence leaves rounding, or
    where nothing improves any more. Whether that is a fit is for `judge` to say, which
    looks at the end point afresh.
    """
    at = _begin(m, start, evaluate(start, np.arange(len(m))))
    steps, arrived = np.zeros(len(m), dtype=np.int64), np.zeros(len(m), dtype=bool)
    out = NewtonPath(start.copy(), steps, at.dual.copy(), at.dual, arrived)
    for count in range(1, max_steps):
        last = at.decrement <= last_step**2
        stuck = (at.length < SHORTEST_STEP) | (at.idle >= _IDLE_STEPS) | ~(at.decrement > 0.0)
        matched = at.residual <= at.rounding  # nothing left to gain but noise
        stuck |= matched
        done = last | stuck
        if done.any():
            stepped = last & ~stuck
            ends = np.where(stepped[:, None], at.lam + at.step, at.lam)
            out.lam[at.rows[done]] = ends[done]
            risen = np.where(stepped, at.dual + 0.5 * at.decrement, at.dual)
            out.dual[at.rows[done]] = risen[done]
            out.arrived[at.rows[done]] = (stepped | matched)[done]
            out.steps[at.rows[done]] = count
            if done.all():
                return out
            at.keep(~done)
        trial = at.lam + at.length[:, None] * at.step
        _advance(at, trial, evaluate(trial, at.rows))
    out.lam[at.rows], out.dual[at.rows] = at.lam, at.dual
    out.steps[at.rows] = max_steps
    return out


def _begin(m: Array, start: Array, here: Curvature) -> _Iterate:
    gradient = m - here.mean
    step = here.newton(gradient)
    return _Iterate(
        rows=np.arange(len(m)),
        m=m,
        lam=start,
        dual=_dot(start, m) - here.psi,
        step=step,
        decrement=_dot(gradient, step),
        residual=np.abs(gradient).max(axis=1),
        rounding=matched_to_rounding(m),
        length=np.ones(len(m)),
        idle=np.zeros(len(m), dtype=np.int64),
    )


def _advance(at: _Iterate, trial: Array, there: Curvature) -> None:
    """Accept the trials that raise the dual and aim the next step; halve the others."""
    dual = _dot(trial, at.m) - there.psi
    rise = dual - at.dual
    gradient = at.m - there.mean
    step = there.newton(gradient)
    decrement = _dot(gradient, step)
    residual = np.abs(gradient).max(axis=1)
    needed = np.where(at.length > 1.0, _LONG_RISE, ARMIJO * at.length) * at.decrement
    nearer = decrement <= 0.5 * at.decrement
    if ((rise > np.maximum(needed, CLEAR_RISE)) & nearer).all():  # the common case, kept short
        at.lam, at.dual, at.step, at.decrement = trial, dual, step, decrement
        at.residual, at.length = residual, np.minimum(1.0, 4.0 * at.length)
        at.idle[:] = 0
        return
    creeps = ~nearer & (decrement > _CREEPING**2)
    longer = np.minimum(np.where(creeps, 2.0, 4.0) * at.length, np.where(creeps, _LONGEST, 1.0))
    slack = 8.0 * ROUNDOFF * (np.abs(there.psi) + _dot(np.abs(trial), np.abs(at.m)))
    accepted = rise + slack >= needed
    improved = (rise > slack) | (decrement < 0.25 * at.decrement)
    at.idle = np.where(accepted, np.where(improved, 0, at.idle + 1), at.idle)
    at.lam = np.where(accepted[:, None], trial, at.lam)
    at.dual = np.where(accepted, dual, at.dual)
    at.step = np.where(accepted[:, None], step, at.step)
    at.decrement = np.where(accepted, decrement, at.decrement)
    at.residual = np.where(accepted, residual, at.residual)
    at.length = np.where(accepted, longer, 0.5 * at.length)


def judge(path: NewtonPath, m: Array, end: Curvature) -> DualSolution:
    """What Newton's end points are worth, from an evaluation ``end`` made there.

    CONVERGED when moment residual and decrement are acceptable, or when the moments are
    matched to rounding, where no decrement can be measured; ROUNDING when the rounding of
    the exponent leaves a larger mismatch. The quadrature and node fields are
    the family's to fill.
    """
    gradient = m - end.mean
    residual = np.abs(gradient).max(axis=1)
    decrement = np.sqrt(np.maximum(_dot(gradient, end.newton(gradient)), 0.0))
    size = np.abs(path.lam).sum(axis=1)
    status = np.zeros(len(m), dtype=np.int64)
    if not ((residual <= ACCEPTED_RESIDUAL) & (decrement <= ACCEPTED_DECREMENT)).all():
        floor = 4.0 * EXPONENT_ROUNDING * size
        matched = residual <= matched_to_rounding(m)
        allowed = np.maximum(ACCEPTED_RESIDUAL, np.minimum(floor, ROUNDED_RESIDUAL))
        fair = (residual <= allowed) & (decrement <= ACCEPTED_DECREMENT)
        status[~(matched | fair)] = Status.STALLED
        status[~(matched | fair) & (residual <= floor)] = Status.ROUNDING
    return DualSolution(
        lam=path.lam,
        psi=end.psi,
        deficit=_dot(path.lam, m) - end.psi,
        gap=np.full(len(m), np.nan),
        residual=residual,
        decrement=decrement,
        condition=end.condition(),
        quadrature=np.zeros(len(m)),
        moment_rounding=MOMENT_ROUNDING * size,
        nodes=np.zeros(len(m), dtype=np.int64),
        steps=path.steps,
        status=status,
    )


def matched_to_rounding(m: Array) -> Array:
    """Moment mismatch that is only rounding, (…), of moments (…, q)."""
    return np.asarray(512.0 * ROUNDOFF * (1.0 + np.maximum.reduce(np.abs(m), axis=-1)))


def _dot(a: Array, b: Array) -> Array:
    return np.einsum("bq,bq->b", a, b)
