"""From moments to natural parameters: damped Newton on the concave dual, for a stack.

A level's fit maximises ``lam · m - psi(lam)``. Its gradient is ``m - E_lam[phi]`` and its
Hessian ``-Cov_lam[phi]``, so a Newton step solves ``Cov step = m - mean``; the squared
*decrement* ``(m - mean) · step`` is twice the distance to the optimum, to second order.
The solver knows arrays and the `Curvature` an exponential family hands it, nothing else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Protocol

import numpy as np

from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray

DECREMENT_TOLERANCE = 1e-9  # below it one more step is rounding: deficit good to 1e-18
RESIDUAL_TOLERANCE = 1e-12
ACCEPTED_RESIDUAL = 1e-10  # what a converged fit may still show
ACCEPTED_DECREMENT = 1e-5  # deficit then good to 5e-11
MAX_STEPS = 200
_ARMIJO = 1e-4
_SHORTEST = 2.0**-30
_IDLE_STEPS = 3


class Status(IntEnum):
    """How a fit ended; `sentence` says it in words."""

    CONVERGED = 0
    BOUNDARY = 1
    UNRESOLVED = 2
    ROUNDING = 3
    STALLED = 4

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_SENTENCES = {
    Status.CONVERGED: "converged",
    Status.BOUNDARY: "does not exist: the moments lie on the boundary of the moment body",
    Status.UNRESOLVED: "cannot be resolved within the node budget",
    Status.ROUNDING: "is not determined by moments in double precision",
    Status.STALLED: "did not converge",
}


@dataclass(frozen=True, slots=True)
class DualSolution:
    """Fits of one level to a stack of B moment vectors; every array has B rows."""

    lam: Array  # (B, q) natural parameters
    psi: Array  # (B,) log-partitions
    deficit: Array  # (B,) lam · m - psi, nats
    residual: Array  # (B,) largest moment mismatch
    decrement: Array  # (B,) Newton decrement at the end
    condition: Array  # (B,) estimate of the condition of the covariance
    quadrature: Array  # (B,) estimated quadrature error of psi, nats
    nodes: IntArray  # (B,) quadrature nodes, 0 for a closed form
    steps: IntArray  # (B,) Newton steps
    status: IntArray  # (B,) Status codes

    @classmethod
    def empty(cls, rows: int, q: int, status: Status = Status.BOUNDARY) -> DualSolution:
        """A stack to be filled row by row; unfilled rows are NaN with ``status``."""
        psi, deficit, residual, decrement, condition, quadrature = np.full((6, rows), np.nan)
        nodes, steps = np.zeros((2, rows), dtype=np.int64)
        return cls(
            lam=np.full((rows, q), np.nan),
            psi=psi,
            deficit=deficit,
            residual=residual,
            decrement=decrement,
            condition=condition,
            quadrature=quadrature,
            nodes=nodes,
            steps=steps,
            status=np.full(rows, int(status), dtype=np.int64),
        )

    def put(self, rows: IntArray, part: DualSolution) -> None:
        """Write the rows of ``part`` into this stack."""
        for field in fields(self):
            getattr(self, field.name)[rows] = getattr(part, field.name)

    def take(self, rows: IntArray) -> DualSolution:
        """The part of the stack in ``rows``."""
        return DualSolution(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})

    @property
    def moment_rounding(self) -> Array:
        """Deficit error from the rounding of the moments themselves, 2^-53 ||lam||_1."""
        return ROUNDOFF * np.abs(self.lam).sum(axis=1)


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


@dataclass(slots=True)
class _Iterate:
    """The working state of the rows still in play."""

    rows: IntArray  # where they stand in the stack
    m: Array
    lam: Array
    dual: Array
    residual: Array
    step: Array
    decrement: Array  # squared
    length: Array
    idle: IntArray  # accepted steps in a row that improved nothing

    def keep(self, mask: BoolArray) -> None:
        for field in fields(self):
            setattr(self, field.name, getattr(self, field.name)[mask])


def newton(
    evaluate: Callable[[Array], Curvature], m: Array, start: Array, *, max_steps: int = MAX_STEPS
) -> DualSolution:
    """Maximise ``lam · m - psi(lam)`` for each row of ``m`` (B, q) from ``start`` (B, q).

    Full Newton steps, halved until the dual rises (Armijo). A row ends as CONVERGED when
    decrement and moment residual are at their tolerance, or when neither can be improved
    and both are acceptable; as STALLED otherwise. The condition, quadrature and node
    fields are the family's to fill.
    """
    rows = np.arange(len(m))
    out = DualSolution.empty(len(m), m.shape[1], Status.STALLED)
    blank = np.full(len(m), np.inf)
    at = _Iterate(
        rows=rows,
        m=m,
        lam=start,
        dual=-blank,
        residual=blank,
        step=np.zeros_like(start),
        decrement=np.zeros(len(m)),
        length=np.ones(len(m)),
        idle=np.zeros(len(m), dtype=np.int64),
    )
    for count in range(max_steps):
        trial = at.lam + at.length[:, None] * at.step
        _advance(out, at, trial, evaluate(trial))
        out.steps[at.rows] = count
        done = _finished(out, at)
        if done.any():
            at.keep(~done)
            if not len(at.rows):
                break
    return out


def _advance(out: DualSolution, at: _Iterate, trial: Array, there: Curvature) -> None:
    """Accept the trials that raise the dual and aim the next step; halve the others."""
    dual = np.einsum("bq,bq->b", trial, at.m) - there.psi
    slack = 8.0 * ROUNDOFF * (np.abs(there.psi) + np.abs(trial * at.m).sum(axis=1))
    accepted = dual - at.dual + slack >= _ARMIJO * at.length * at.decrement
    gradient = at.m - there.mean
    residual = np.abs(gradient).max(axis=1)
    improved = (dual - at.dual > slack) | (residual < 0.5 * at.residual)
    at.idle = np.where(accepted & ~improved, at.idle + 1, np.where(accepted, 0, at.idle))
    step = there.newton(gradient)
    decrement = np.einsum("bq,bq->b", gradient, step)
    at.lam = np.where(accepted[:, None], trial, at.lam)
    at.dual = np.where(accepted, dual, at.dual)
    at.residual = np.where(accepted, residual, at.residual)
    at.step = np.where(accepted[:, None], step, at.step)
    at.decrement = np.where(accepted, decrement, at.decrement)
    at.length = np.where(accepted, np.minimum(1.0, 4.0 * at.length), 0.5 * at.length)
    rows = at.rows[accepted]
    out.lam[rows] = trial[accepted]
    out.psi[rows] = there.psi[accepted]
    out.deficit[rows] = dual[accepted]
    out.residual[rows] = residual[accepted]
    out.decrement[rows] = np.sqrt(np.maximum(decrement[accepted], 0.0))


def _finished(out: DualSolution, at: _Iterate) -> BoolArray:
    """Rows to take out of play; sets their status."""
    decrement = np.sqrt(np.maximum(at.decrement, 0.0))
    sharp = (at.residual <= RESIDUAL_TOLERANCE) & (decrement <= DECREMENT_TOLERANCE)
    matched = at.residual <= 4.0 * ROUNDOFF * (1.0 + np.abs(at.m).max(axis=1))
    stuck = (at.length < _SHORTEST) | (at.idle >= _IDLE_STEPS) | ~(at.decrement > 0.0)
    fair = (at.residual <= ACCEPTED_RESIDUAL) & (decrement <= ACCEPTED_DECREMENT)
    good = sharp | matched | (stuck & fair & np.isfinite(at.dual))
    out.status[at.rows[good]] = Status.CONVERGED
    return good | stuck
