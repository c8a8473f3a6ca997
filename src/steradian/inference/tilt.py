"""Exponential tilting of a sample until its features have mean zero.

Among laws on the observed units the tilted one, ``t_u ∝ b_u exp(τ·h_u)`` with ``Σ t_u h_u = 0``,
is the closest to the base b that obeys the null. It exists unless all h_u lie on one side of a
hyperplane. The tilt is itself the fit of an exponential family, to the moments zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.dual import newton
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.linalg import conditions, solve_positive

_MOST_STEPS = 60
_MISMATCH = 1e-7  # of the tilted mean, in standard deviations under the null


@dataclass(frozen=True, slots=True)
class _Tilted:
    """The tilted law of some rows of the stack."""

    psi: Array
    mean: Array
    covariance: Array

    def newton(self, gradient: Array) -> Array:
        return solve_positive(self.covariance, gradient)

    def condition(self) -> Array:
        return conditions(self.covariance)


def tilt(h: Array, base: Array) -> tuple[Array, BoolArray]:
    """Tilted weights (B, U) of sum one for ``h`` (B, U, p) and ``base`` (B, U), and which exist.

    Where no tilt exists the weights are the base.
    """

    def weights(tau: Array, rows: IntArray) -> tuple[Array, Array]:
        part = h if len(rows) == len(h) else h[rows]
        exponent = (part @ tau[:, :, None])[:, :, 0]
        peak = exponent.max(axis=1)
        t = base[rows] * np.exp(exponent - peak[:, None])
        total = t.sum(axis=1)
        return t / total[:, None], np.log(total) + peak

    def evaluate(tau: Array, rows: IntArray) -> _Tilted:
        part = h if len(rows) == len(h) else h[rows]
        t, psi = weights(tau, rows)
        mean = (t[:, None, :] @ part)[:, 0, :]
        second = np.swapaxes(part, 1, 2) @ (t[:, :, None] * part)
        return _Tilted(psi, mean, second - mean[:, :, None] * mean[:, None, :])

    start = np.zeros((len(h), h.shape[2]))
    with np.errstate(all="ignore"):
        path = newton(evaluate, start, start, max_steps=_MOST_STEPS)
        t, _ = weights(path.lam, np.arange(len(h)))
    mean = (t[:, None, :] @ h)[:, 0, :]
    found = np.isfinite(t).all(axis=1) & (np.abs(mean).max(axis=1) <= _MISMATCH)
    return np.where(found[:, None], t, base), found
