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

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.contour import ASPECT, Complex
from steradian.numerics.tolerances import CONTOUR_AGREEMENT

_NODES = 32, 48, 72, 108, 162  # on one side of the saddle, until two agree
_FALLEN = 45.0  # e-folds that the integrand falls along the contour
_NUDGE = 1e-3  # of the distance to the singularity, for derivatives


def mean_exponential(beta: Array, b: Array, kappa: float, psi: float) -> tuple[float, float]:
    """``log E exp(κ x·y)`` and how far the last two grids of the contour disagree about it.

    ``beta``, ``b`` (d,) and ``psi`` are eigenvalues of B, η in the eigenbasis, log-partition.

    Examples
    --------
    >>> import numpy as np
    >>> value, error = mean_exponential(np.zeros(3), np.zeros(3), 2.0, 0.0)
    >>> bool(np.isclose(value, np.log(np.sinh(2.0) / 2.0))), error < 1e-10
    (True, True)
    """
    pair = _Pair(beta.max() - beta, b * b, kappa)
    constant = 2.0 * (float(beta.max()) + math.lgamma(0.5 * len(b)) - psi)
    value, apart = pair.log_integral(_NODES[0]), math.inf
    for nodes in _NODES[1:]:
        finer = pair.log_integral(nodes)
        value, apart = finer, abs(finer - value)
        if apart <= CONTOUR_AGREEMENT:
            break
    return constant + value, apart


class _Pair:
    """The integrand about its saddle."""

    def __init__(self, theta: Array, squares: Array, kappa: float) -> None:
        self._theta, self._squares, self._kappa = theta, squares, kappa
        half = 0.5 * kappa
        singular = half - float(theta.min())

        def slope(s: float) -> float:
            near, far = s + theta - half, s + theta + half
            pull = (0.5 / near + 0.5 / far + 0.5 * squares / near**2).sum()
            return float(2.0 - pull)

        highest = singular + len(theta) + math.sqrt(float(squares.sum())) + 1.0
        from scipy.optimize import brentq  # its module is slow to import

        self.saddle = brentq(slope, singular + 1e-12 * (1.0 + abs(singular)), highest)
        at = np.array(self.saddle)
        self._peak = float(self._exponent(at, at).real)
        self._width = self._contour_width(self.saddle - singular)

    def _exponent(self, s: Complex | Array, t: Complex | Array) -> Complex:
        p, q = s[..., None] + self._theta, t[..., None] + self._theta
        quarter = 0.25 * self._kappa**2
        log = np.log(p - quarter / q) + np.log(q)  # of Δ, on the branch that is real at the saddle
        lift = self._squares * (p + q + self._kappa) / (4.0 * (p * q - quarter))
        return np.asarray(s + t + (lift - 0.5 * log).sum(axis=-1))

    def _contour_width(self, room: float) -> float:
        """From the second and third derivative along one variable, as for one draw."""
        step = _NUDGE * room
        at = np.array(self.saddle)
        values = [self._exponent(at + k * step, at).real - self._peak for k in (-2, -1, 0, 1, 2)]
        second = (values[3] - 2.0 * values[2] + values[1]) / step**2
        third = (values[0] - 2.0 * values[1] + 2.0 * values[3] - values[4]) / (2.0 * step**3)
        return float(3.0 * ASPECT * second / third) if third else math.nan

    def log_integral(self, nodes: int) -> float:
        """Log of the double integral over (2πi)²; NaN where the contour does not serve."""
        if not 0.0 < self._width < math.inf:  # so sharp that differences about the saddle vanish
            return math.nan
        bend = ASPECT * self._width
        reach = math.acosh(1.0 + _FALLEN / bend)
        u = np.linspace(-reach, reach, 2 * nodes + 1)
        z = bend * (1.0 - np.cosh(u)) + 1j * self._width * np.sinh(u)
        weight = (1j * self._width * np.cosh(u) - bend * np.sinh(u)) * (u[1] - u[0])
        s = self.saddle + z
        upper = s[nodes:, None]  # the lower half is the conjugate
        shape = nodes + 1, len(s)
        terms = np.exp(
            self._exponent(np.broadcast_to(upper, shape), np.broadcast_to(s[None, :], shape))
            - self._peak
        )
        sums = (terms @ weight) * weight[nodes:]
        total = -(2.0 * sums[1:].sum() + sums[0]).real / (4.0 * math.pi**2)
        return self._peak + math.log(total) if total > 0.0 else math.nan
