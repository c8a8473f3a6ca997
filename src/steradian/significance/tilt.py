"""Exponential tilting of a sample until its features have mean zero.

Among laws on the observed units the tilted one, ``t_u ∝ b_u exp(τ·h_u)`` with ``Σ t_u h_u = 0``,
is the closest to the base b that obeys the null. It exists unless all h_u lie on one side of a
hyperplane. The tilt is itself the fit of an exponential family, to the moments zero. Any τ bounds
its divergence from b from below, -log Σ b_u exp(τ·h_u) <= KL(t ‖ b) <= max_u log(1 / b_u), so that
where the left side exceeds the right one there is no tilt, and nobody need go on.
"""

from __future__ import annotations

import numpy as np

from steradian.fitting.newton import DenseCurvature, newton
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import TILT_LAST_STEP, TILT_MISMATCH

_MOST_STEPS = 60
_NO_OVERFLOW = 300.0


def tilt(h: Array, base: Array) -> tuple[Array, BoolArray]:
    """Tilted weights (B, U) of sum one for ``h`` (B, U, p) and ``base`` (B, U), and which exist.

    Where no tilt exists the weights are the base.
    """
    units = _Units(h, base)
    start = np.zeros((len(h), h.shape[2]))
    with np.errstate(all="ignore"):
        path = newton(units.tilted, start, start, max_steps=_MOST_STEPS, last_step=TILT_LAST_STEP)
        t, _ = units.weights(path.lam, np.arange(len(h)))
        total = t.sum(axis=1)
        mean = (t[:, None, :] @ h)[:, 0, :] / total[:, None]
        found = np.isfinite(total) & (np.abs(mean).max(axis=1) <= TILT_MISMATCH)
        t /= total[:, None]
    return (t, found) if found.all() else (np.where(found[:, None], t, base), found)


class _Units:
    """The units of a stack, of which the solver asks for fewer and fewer samples."""

    def __init__(self, h: Array, base: Array) -> None:
        self._all = np.ascontiguousarray(np.swapaxes(h, 1, 2)), base  # (B, p, U) and (B, U)
        self._largest = np.sqrt(h.shape[2]) * np.abs(h).max(initial=0.0)  # |h_u| is never larger
        self._some = self._all
        self._rows = np.arange(len(h))
        least = np.where(base > 0.0, base, np.inf).min(axis=1, initial=1.0)
        self._farthest = -np.log(least) + TILT_MISMATCH  # what no divergence of a tilt exceeds

    def _of(self, rows: IntArray) -> tuple[Array, Array]:
        if len(rows) != len(self._rows) or not np.array_equal(rows, self._rows):
            self._some = self._all[0][rows], self._all[1][rows]
            self._rows = rows
        return self._some

    def weights(self, tau: Array, rows: IntArray) -> tuple[Array, Array]:
        """Tilted weights (b, U) up to a factor, and the logs of these factors (b,)."""
        h, base = self._of(rows)
        if not tau.any():
            return base.copy(), np.zeros(len(base))
        t = (tau[:, None, :] @ h)[:, 0, :]
        peak = np.zeros(len(t))
        if not np.sqrt((tau * tau).sum(axis=1).max()) * self._largest < _NO_OVERFLOW:
            peak = t.max(axis=1)
            t -= peak[:, None]
        np.exp(t, out=t)
        t *= base
        return t, peak

    def tilted(self, tau: Array, rows: IntArray) -> DenseCurvature:
        """What the solver needs."""
        h, _ = self._of(rows)
        t, peak = self.weights(tau, rows)
        total = t.sum(axis=1)
        mean = (h @ t[:, :, None])[:, :, 0] / total[:, None]
        second = ((t[:, None, :] * h) @ np.swapaxes(h, 1, 2)) / total[:, None, None]
        covariance = second - mean[:, :, None] * mean[:, None, :]
        psi = np.log(total) + peak
        vain = -psi > self._farthest[rows]
        if vain.any():  # no tilt exists: say that it is found, which ends the search
            mean[vain], covariance[vain] = 0.0, np.eye(h.shape[1])
        return DenseCurvature(psi, mean, covariance)
