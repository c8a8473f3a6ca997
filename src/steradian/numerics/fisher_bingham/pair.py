"""Two independent draws of one Fisher-Bingham law: the mean of ``exp(κ x·y)``, exactly.

In the eigenbasis each coordinate of (x, y) is a bivariate Gaussian given the two Laplace
variables s and t, with ``p = s + θ``, ``q = t + θ``, ``Δ = pq - κ²/4``, so that

    E e^{κ x·y} = e^{2 β_max - 2ψ} Γ(ν)² (1/2πi)² ∬ e^{φ(s, t)} ds dt,
    φ(s, t) = s + t - ½ Σ log Δ_i + Σ b_i² (p_i + q_i + κ) / (4 Δ_i),

the double of the integral of `fisher_bingham`. It is taken along the same kind of hyperbola in
both variables, through the saddle s = t of the integrand.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.contour import ASPECT, Complex
from steradian.numerics.tolerances import CONTOUR_AGREEMENT

_NODES = 32, 48, 72, 108, 162  # on one side of the saddle, until two agree
_FALLEN = 45.0  # e-folds that the integrand falls along the contour
_REACHES = np.geomspace(0.25, 20.0, 24)  # of the contour's parameter, in steps of a fifth
_NUDGE = 1e-3  # of the distance to the singularity, for derivatives


def mean_exponential(
    beta: Array, b: Array, kappa: float, psi: float, counts: Array | None = None
) -> tuple[float, float]:
    """``log E exp(κ x·y)`` and its error: how far the last two grids disagree, and rounding.

    ``beta``, ``b`` (d,) and ``psi`` are eigenvalues of B, η in the eigenbasis, log-partition.
    ``counts`` (d,) are the coordinates that each column stands for, one unless given; those of
    several have no part of η.

    Examples
    --------
    >>> import numpy as np
    >>> value, error = mean_exponential(np.zeros(3), np.zeros(3), 2.0, 0.0)
    >>> bool(np.isclose(value, np.log(np.sinh(2.0) / 2.0))), error < 1e-10
    (True, True)
    """
    each = np.ones(len(b)) if counts is None else counts
    pair = _Pair(beta.max() - beta, b * b, kappa, each)
    constant = 2.0 * (float(beta.max()) + math.lgamma(0.5 * float(each.sum())) - psi)
    value, apart = pair.log_integral(_NODES[0]), math.inf
    for nodes in _NODES[1:]:
        finer = pair.log_integral(nodes)
        value, apart = finer, abs(finer - value)
        if apart <= CONTOUR_AGREEMENT:
            break
    rounding = 4.0 * ROUNDOFF * (abs(constant) + abs(pair.peak))
    return constant + value, apart + rounding


class _Pair:
    """The integrand about its saddle."""

    def __init__(self, theta: Array, squares: Array, kappa: float, counts: Array) -> None:
        self._squares, self._kappa, self._counts = squares, kappa, counts
        half = 0.5 * kappa
        singular = half - float(theta.min())

        def slope(s: float) -> float:
            near, far = s + theta - half, s + theta + half
            pull = (counts * (0.5 / near + 0.5 / far) + 0.5 * squares / near**2).sum()
            return float(2.0 - pull)

        highest = singular + float(counts.sum()) + math.sqrt(float(squares.sum())) + 1.0
        from scipy.optimize import brentq  # its module is slow to import

        self.saddle = brentq(slope, singular + 1e-12 * (1.0 + abs(singular)), highest)
        self._p = self.saddle + theta
        self._near, self._far = self._p - half, self._p + half
        log = counts * (np.log(self._near) + np.log(self._far))
        self.peak = float(2.0 * self.saddle + (0.5 * squares / self._near - 0.5 * log).sum())
        self._width = self._contour_width(self.saddle - singular)

    def _increment(self, z: Complex | Array, w: Complex | Array) -> Complex:
        """φ(ŝ + z, ŝ + w) - φ(ŝ, ŝ), in which nothing of the size of φ cancels.

        With c = κ²/4, q = p + w, and Δ = (p + z)q - c, the logarithm of Δ/Δ₀ is the sum of those
        of q/p and of ((p + z) - c/q) / (p - c/p), on the branch that is real at the saddle.
        """
        z, w = z[..., None], w[..., None]
        p, near, far = self._p, self._near, self._far
        quarter = 0.25 * self._kappa**2
        start, q = near * far, p + w
        log = np.log1p((z * p + quarter * w / q) / start) + np.log1p(w / p)
        both = (z + w) * far + 2.0 * z * w
        lift = 0.25 * self._squares * both / (near * (start + p * (z + w) + z * w))
        return np.asarray(z[..., 0] + w[..., 0] - 0.5 * (log @ self._counts) - lift.sum(axis=-1))

    def _contour_width(self, room: float) -> float:
        """From the second and third derivative along one variable, as for one draw."""
        step = _NUDGE * room
        still = np.array(0.0)
        values = [self._increment(np.array(k * step), still).real for k in (-2, -1, 0, 1, 2)]
        second = (values[3] - 2.0 * values[2] + values[1]) / step**2
        third = (values[0] - 2.0 * values[1] + 2.0 * values[3] - values[4]) / (2.0 * step**3)
        return float(3.0 * ASPECT * second / third) if third else math.nan

    def _contour(self, u: Array) -> Complex:
        return self._width * (ASPECT * (1.0 - np.cosh(u)) + 1j * np.sinh(u))

    @cached_property
    def _reach(self) -> float:
        """Where the integrand has fallen, with the other variable at the saddle or as far out."""
        for u in _REACHES:
            z = self._contour(np.array([u]))
            others = np.array([0.0 * z[0], z[0], z[0].conj()])
            if self._increment(np.broadcast_to(z, 3), others).real.max() < -_FALLEN:
                return float(u)
        return math.nan

    def log_integral(self, nodes: int) -> float:
        """Log of the double integral over (2πi)²; NaN where the contour does not serve."""
        if not 0.0 < self._width < math.inf or math.isnan(self._reach):
            return math.nan  # so sharp that differences about the saddle vanish
        u = np.linspace(-self._reach, self._reach, 2 * nodes + 1)
        z = self._contour(u)
        slope = 1j * self._width * np.cosh(u) - ASPECT * self._width * np.sinh(u)
        weight = slope * (u[1] - u[0])
        upper = z[nodes:, None]  # the lower half is the conjugate
        shape = nodes + 1, len(z)
        terms = np.exp(
            self._increment(np.broadcast_to(upper, shape), np.broadcast_to(z[None, :], shape))
        )
        sums = (terms @ weight) * weight[nodes:]
        total = -(2.0 * sums[1:].sum() + sums[0]).real / (4.0 * math.pi**2)
        return self.peak + math.log(total) if total > 0.0 else math.nan
