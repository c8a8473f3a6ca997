"""Dense programmes of few unknowns and many linear conditions, by an interior-point method.

``min g·c + ½ cᵀH c`` subject to ``A c >= b`` with A (N, k), N >> k and H mostly zero: every
step costs one k × k system and one pass over A, and a dozen or two steps are enough. Simplex
methods take one step per condition that changes sides, and semi-infinite programmes ask the
same question again and again with a few conditions more.

Mehrotra's predictor and corrector (S. Mehrotra, SIAM J. Optim. 2, 1992), from any start.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from steradian.numerics.arrays import Array
from steradian.numerics.threads import one_thread
from steradian.numerics.tolerances import PROGRAMME_RIDGE

STEPS = 60  # at most; twenty are usual
_SHORT_OF_THE_WALL = 0.9995
_PATIENCE = 12  # steps without progress before the best so far is taken
_CENTRAL = 1e-3  # slack, relative to the largest, from which a start is inside enough


@dataclass(frozen=True, slots=True)
class Optimum:
    """Where the method ended.

    Attributes
    ----------
    point : array, (k,)
        c.
    multipliers : array, (N,)
        y > 0, whatever the accuracy. For H = 0 and every feasible c this bounds the optimum
        from below: ``g·c >= y·b + (g - Aᵀy)·c``.
    """

    point: Array
    multipliers: Array


@one_thread()
def minimise(
    cost: Array,
    rows: Array,
    floor: Array,
    *,
    start: Array,
    accuracy: float,
    bend: Array | None = None,
) -> Optimum:
    """The least ``cost·c + ½ cᵀ bend c`` subject to ``rows @ c >= floor``.

    Parameters
    ----------
    cost : array, (k,)
        What a unit of each unknown costs.
    rows : array, (N, k)
        One condition each.
    floor : array, (N,)
        What they may not fall below.
    start : array, (k,)
        Need not meet the conditions; a point well inside them is best.
    accuracy : float
        Of the duality gap and of both residuals at which to stop.
    bend : array, (k, k), optional
        Positive semidefinite; zero by default.
    """
    state = _State.at(cost, rows, floor, start, bend)
    best, error, idle = state, state.error, 0
    for _ in range(STEPS):
        if error <= accuracy or idle > _PATIENCE:
            break
        following = state.following()
        if following is None:
            break
        state, idle = following, idle + 1
        if state.error < error:
            best, error, idle = state, state.error, 0
    return Optimum(best.c, best.y)


@dataclass(frozen=True, slots=True)
class _State:
    """One iterate: c, slacks s > 0, multipliers y > 0."""

    cost: Array
    rows: Array
    floor: Array
    bend: Array | None
    c: Array
    s: Array
    y: Array

    @classmethod
    def at(cls, cost: Array, rows: Array, floor: Array, c: Array, bend: Array | None) -> _State:
        slack = rows @ c - floor
        size = float(np.abs(slack).max())
        s = slack if slack.min() > _CENTRAL * size else np.maximum(slack, 0.1 * size)
        mu = max(float(np.abs(cost).max()), 1e-6) * float(s.mean()) / len(s)
        return cls(cost, rows, floor, bend, c, s, mu / s)

    @property
    def dual(self) -> Array:
        """Residual of the multipliers."""
        left = self.cost - self.y @ self.rows
        return left if self.bend is None else left + self.bend @ self.c

    @property
    def primal(self) -> Array:
        """Residual of the slacks."""
        return np.asarray(self.rows @ self.c - self.floor - self.s)

    @property
    def error(self) -> float:
        """The largest of gap and residuals."""
        parts = self.s @ self.y, np.abs(self.dual).max(), np.abs(self.primal).max()
        return float(max(parts))

    def following(self) -> _State | None:
        """A step along the corrected direction; None where the system cannot be solved."""
        s, y = self.s, self.y
        scaled = self.rows * np.sqrt(y / s)[:, None]
        normal = scaled.T @ scaled
        if self.bend is not None:
            normal += self.bend
        normal.flat[:: len(self.c) + 1] *= 1.0 + PROGRAMME_RIDGE
        try:
            factor = cho_factor(normal, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        dual, primal = self.dual, self.primal

        def towards(product: Array) -> tuple[Array, Array, Array]:
            right = ((product - y * primal) / s) @ self.rows - dual
            dc = np.asarray(cho_solve(factor, right, check_finite=False))
            ds = self.rows @ dc + primal
            return dc, ds, (product - y * ds) / s

        mu = float(s @ y) / len(s)
        _, ds, dy = towards(-s * y)
        ahead = float((s + _reach(s, ds) * ds) @ (y + _reach(y, dy) * dy)) / len(s)
        dc, ds, dy = towards((ahead / mu) ** 3 * mu - s * y - ds * dy)
        a, b = (_SHORT_OF_THE_WALL * r for r in (_reach(s, ds), _reach(y, dy)))
        if self.bend is not None:
            a = b = min(a, b)  # c moves the residual of the multipliers too
        moved = self.c + a * dc, s + a * ds, y + b * dy
        if not all(np.isfinite(part).all() for part in moved):
            return None
        return replace(self, c=moved[0], s=moved[1], y=moved[2])


def _reach(v: Array, step: Array) -> float:
    """How far along ``step`` the positive ``v`` stays so, up to one."""
    with np.errstate(all="ignore"):
        most = float((-step / v).max())
    return min(1.0, 1.0 / most) if most > 0.0 else 1.0
