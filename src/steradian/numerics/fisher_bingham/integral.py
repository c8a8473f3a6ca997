"""The Fisher-Bingham normaliser and moments in any dimension, exactly.

The density ``exp(ηᵀx + xᵀBx)`` on the unit sphere of R^d has, in the eigenbasis
``B = U diag(β) Uᵀ``, ``b = Uᵀη``, with ``θ_i = β_max - β_i`` and ``ν = d/2``, the
log-partition (against the uniform law)

    e^ψ = e^{β_max} Γ(ν) (1/2πi) ∫ e^{φ(s)} ds,
    φ(s) = s - ½ Σ log(s + θ_i) + Σ b_i² / (4 (s + θ_i)),

a one-dimensional inverse Laplace integral, because the sphere is the level set |x|² = 1 of
a Gaussian (Kume and Wood 2005 expand the same integral at its saddle; here it is taken
exactly by `contour`). Given s, x is Gaussian with variances v = 1/(2(s + θ)) and mean b v,
so every moment is a mean over the nodes.

Coordinates with the same θ and without η may be held in one column that ``counts`` them: it stands
for the length of their part of x, and v for the variance of each.

References
----------
Kume and Wood (2005), Biometrika 92, 465-476.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.contour import ASPECT, EXACT, Complex, Effort, integrate
from steradian.numerics.heights.bessel import stirling_error
from steradian.numerics.linalg import on_diagonal, real_product
from steradian.numerics.tolerances import SADDLE_STEP

_SADDLE_STEPS = 100
_SHARING = 3  # times that two factors become one before logarithms are taken
_FEW_FACTORS = 1024  # whose logarithms take no longer than finding out which can be shared


@dataclass(frozen=True, slots=True)
class FisherBinghamTerms:
    """R laws in their eigenbases: everything a density, a moment or a gradient needs."""

    beta: Array  # (R, d) eigenvalues of B
    b: Array  # (R, d) η in the eigenbasis
    p: Array  # (R, d) ŝ + θ
    psi: Array  # (R,) log-partition
    log_j: Array  # (R,) log of the integral over its large-d saddle value
    v: Complex  # (R, n, d) Gaussian variances at the nodes
    weights: Complex  # (R, n)
    v_mean: Array  # (R, d) mean of v
    error: Array  # (R,) estimated relative error of e^ψ
    counts: Array  # (R, d) coordinates that a column stands for

    @property
    def mean(self) -> Array:
        """E x in the eigenbasis, (R, d)."""
        return self.b * self.v_mean

    def take(self, rows: IntArray) -> FisherBinghamTerms:
        """Some of the laws."""
        return FisherBinghamTerms(*(getattr(self, each.name)[rows] for each in fields(self)))

    def columns(self, k: int) -> FisherBinghamTerms:
        """What the first ``k`` columns tell of the laws, but for sums over all of them."""
        names = "beta", "b", "p", "v", "v_mean", "counts"
        return replace(self, **{name: getattr(self, name)[..., :k] for name in names})

    def dual(self, m: Array, variances: Array) -> float:
        """η·m + Σ β (variances + m²) - ψ of the first law without cancelling terms.

        With the law's own mean and variances this is its deficit. The variance of a column is the
        sum of those that it stands for.
        """
        return float(self.duals(m, variances)[0])

    def duals(self, m: Array, variances: Array) -> Array:
        """The same of every law, (R,), with its own mean and variances (R, d)."""
        nu = 0.5 * self.counts.sum(axis=1)
        misfit = (self.p * (variances + (m - 0.5 * self.b / self.p) ** 2)).sum(axis=1) - nu
        volume = 0.5 * (self.counts * np.log(self.p / nu[:, None])).sum(axis=1)
        return np.asarray(volume - self.log_j - misfit)

    def log_density(self, y: Array) -> Array:
        """Log-density of the first law at ``y`` (n, d) in its eigenbasis: (n,).

        With c = b/2p the exponent is ``-Σ p (y - c)²`` but for constants, since |y| = 1; about
        c, which is near the mean of a sharp law, terms far larger than the result never meet.
        """
        p, b, counts = self.p[0], self.b[0], self.counts[0]
        nu = 0.5 * counts.sum()
        away = y - 0.5 * b / p
        peak = nu + 0.5 * (counts * np.log(p / nu)).sum() - self.log_j[0]
        return np.asarray(peak - (away * away) @ p, dtype=np.float64)

    def covariance(self, kind: type[Any] = np.float64) -> AnyArray:
        """Cov x in the eigenbasis, (R, d, d), in numbers of a ``kind``."""
        numbers = np.result_type(kind, np.complex64)
        away = (self.v - self.v_mean[:, None, :]).astype(numbers)
        away *= self.b[:, None, :].astype(kind)
        result = real_product(self.weights[:, :, None].astype(numbers) * away, away)
        on_diagonal(result)[...] += self.v_mean
        return result


def fisher_bingham(
    beta: Array, b: Array, effort: Effort = EXACT, counts: Array | None = None
) -> FisherBinghamTerms:
    """Terms of the laws with eigenvalues ``beta`` (R, d) and rotated ``η`` ``b`` (R, d).

    Where ``effort`` allows too few nodes, ``error`` says what they leave. ``counts`` (d,) are the
    coordinates that each column stands for, one unless given.

    Examples
    --------
    >>> import numpy as np
    >>> terms = fisher_bingham(np.zeros((1, 3)), np.array([[0.0, 0.0, 2.0]]))
    >>> bool(np.allclose(terms.psi, np.log(np.sinh(2) / 2)))
    True
    """
    each = np.ones(b.shape[1]) if counts is None else counts
    nu = 0.5 * float(each.sum())
    top = beta.max(axis=1)
    theta = top[:, None] - beta
    squares = b * b
    saddle = _saddle(theta, squares, each)
    p = saddle[:, None] + theta
    inverse = 1.0 / p
    second = (inverse**2 * (0.5 * each + 0.5 * squares * inverse)).sum(axis=1)
    third = (inverse**3 * (each + 1.5 * squares * inverse)).sum(axis=1)
    width = 1.5 * ASPECT * 3.0 * second / third
    quarter = 0.25 * squares * inverse

    def increment(z: Complex, rows: IntArray) -> Complex:
        zeta = z[:, :, None] * inverse[rows, None, :]
        if counts is None:
            lag = zeta.sum(axis=2) - _sum_of_logs(zeta)
        else:
            lag = (zeta - _log1p(zeta)) @ counts
        zeta *= zeta / (1.0 + zeta)
        return 0.5 * lag + _products(zeta, quarter[rows])

    spread = np.sqrt(-2.0 * effort.negligible / second) / width
    contour = integrate(increment, width, spread, effort)
    v = 0.5 / (p[:, None, :] + contour.z[:, :, None])
    v_mean = (contour.weights[:, None, :] @ v)[:, 0, :].real.copy()
    log_j = contour.log_integral - 0.5 * np.log(nu / (2.0 * np.pi)) + stirling_error(nu)
    psi = top + (saddle - nu) - 0.5 * (each * np.log(p / nu)).sum(axis=1)
    psi = psi + quarter.sum(axis=1) + log_j
    numbers = np.broadcast_to(each, b.shape)
    return FisherBinghamTerms(
        beta, b, p, psi, log_j, v, contour.weights, v_mean, contour.error, numbers
    )


def _log1p(zeta: Complex) -> Complex:
    """log(1 + ζ) with full relative accuracy for small ζ."""
    x, y = zeta.real, zeta.imag
    return np.asarray(0.5 * np.log1p(x * (2.0 + x) + y * y) + 1j * np.arctan2(y, 1.0 + x))


def _products(nodes: Complex, numbers: Array) -> Complex:
    """Σ_d nodes · numbers, (R, n), of (R, n, d) and (R, d)."""
    return np.asarray((nodes @ numbers[:, :, None].astype(complex))[:, :, 0])


def _sum_of_logs(zeta: Complex) -> Complex:
    """Σ log(1 + ζ) over the last axis, for ζ above the real line or on it, where 1 + ζ > 0.

    Logarithms take most of the time, so that factors share one. The angle of each is known to half
    a turn, [kπ, (k+1)π): at first k is zero, and that of two lies within a whole turn from
    (k + k')π on, of which the sign of the imaginary part of their product tells the half.
    """
    if zeta.size <= _FEW_FACTORS:
        return np.asarray(_log1p(zeta).sum(axis=-1))
    shared: Complex = zeta
    halves: AnyArray = np.zeros(zeta.shape, dtype=np.int8)
    total: Complex = np.zeros(zeta.shape[:-1], dtype=np.complex128)
    for _ in range(_SHARING):
        half = shared.shape[-1] // 2
        if not half:
            break
        one, other = slice(half), slice(half, 2 * half)
        if shared.shape[-1] % 2:
            total += _logs(shared[..., -1:], halves[..., -1:])
        product = shared[..., one] * shared[..., other]
        product += shared[..., one]
        product += shared[..., other]
        halves = halves[..., one] + halves[..., other]
        halves += (halves & 1) ^ (product.imag < 0.0)
        shared = product
    return np.asarray(total + _logs(shared, halves))


def _logs(zeta: Complex, halves: AnyArray) -> Complex:
    """Σ log(1 + ζ) over the last axis, of angles that lie so many half turns on."""
    around = (halves + (halves & 1)).sum(axis=-1)
    return np.asarray(_log1p(zeta).sum(axis=-1) + 1j * np.pi * around)


def _saddle(theta: Array, squares: Array, counts: Array) -> Array:
    """Root ŝ > 0 of Σ [count/(2p) + b²/(4p²)] = 1, p = ŝ + θ, by Newton on the reciprocal."""
    d, half, quarter = float(counts.sum()), 0.5 * counts, 0.25 * squares
    lower = np.maximum((0.25 * (1.0 + np.sqrt(1.0 + 4.0 * squares)) - theta).max(axis=1), 0.0)
    upper = 0.25 * (d + np.sqrt(d * d + 4.0 * squares.sum(axis=1)))
    s = lower.copy()
    for _ in range(_SADDLE_STEPS):
        inverse = 1.0 / (s[:, None] + theta)
        once, twice = half * inverse, quarter * (inverse * inverse)
        value = np.add.reduce(once + twice, axis=1)
        fall = np.add.reduce(inverse * (once + 2.0 * twice), axis=1)
        lower = np.where(value > 1.0, s, lower)
        upper = np.where(value < 1.0, s, upper)
        trial = s + value * (value - 1.0) / fall  # Newton for 1/value = 1
        inside = (trial >= lower) & (trial <= upper)
        trial = np.where(inside, trial, 0.5 * (lower + upper))
        if (np.abs(trial - s) <= SADDLE_STEP * np.abs(trial)).all():
            return trial
        s = trial
    return s
