"""Tails of weighted chi-square sums, P(Σ ω_j χ²_1 > t), with relative accuracy.

The moment generating function is ``Π (1 - 2 ω_j θ)^{-1/2}`` for θ < 1 / (2 ω_max), so the tail is

    (1 / 2πi) ∫ exp{s t} Π (1 + 2 ω_j s)^{-1/2} (-s)^{-1} ds

over a line with -1 / (2 ω_max) < Re s < 0. The line is bent into a hyperbola that crosses the
axis at the saddle ``s = -u`` and encloses the branch cuts, with the pole at zero left outside.
The saddle carries the size of the tail, so that 1e-100 is as accurate as 0.1.

When the scale of the sum is itself estimated, with ν degrees of freedom, the tail wanted is
P(Σ ω_j χ²_1 > t χ²_ν / ν): ``exp{s t}`` becomes ``(1 - 2 s t / ν)^{-ν/2}``, whose branch point
lies on the far side of the pole, and the same contour serves.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtrc, fdtrc

from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.contour import ASPECT, Complex, integrate
from steradian.numerics.tolerances import EQUAL_COEFFICIENTS, NEGLIGIBLE_COEFFICIENT

_BISECTIONS = 16  # of a logit: the saddle need not be exact, only close
_SPREAD = 3.0  # along the contour, before which no integrand is negligible
_TOGETHER = 4  # factors multiplied before a logarithm: far from overflow
_MANY = 64  # coefficients from which it is worth looking for equal ones
_ROWS = 256  # tails taken together


def chi_square_sf(t: ArrayLike, dof: ArrayLike) -> Array:
    """P(χ²_dof > t), one below zero; of `scipy.special`, as `scipy.stats` is slow to import."""
    return np.asarray(chdtrc(dof, np.maximum(t, 0.0)))


def mixture_sf(t: ArrayLike, coefficients: ArrayLike, dof: float = np.inf) -> Array:
    """P(Σ_j coefficients_j χ²_1 > t) for ``t`` (R,) and ``coefficients`` (R, q): (R,).

    Coefficients are not negative; a row of zeros has no tail above zero. With a finite
    ``dof`` the level is t χ²_dof / dof instead, as when the scale was estimated.

    Examples
    --------
    >>> import numpy as np
    >>> mixture_sf([5.991464547107979], np.ones((1, 2))).round(12).tolist()
    [0.05]
    """
    level, weights = np.atleast_1d(_numbers(t, "t")), _numbers(coefficients, "coefficients")
    weights, freedom = np.atleast_2d(weights), _numbers(dof, "dof")
    if level.ndim != 1 or weights.ndim != 2 or len(weights) not in (1, len(level)):
        raise ValueError(
            f"t has shape {level.shape}, coefficients {weights.shape}; give (R,) and (R, q)"
        )
    if freedom.ndim or not freedom > 0.0:
        raise ValueError(f"dof is {dof}; give a positive number")
    dof = float(freedom)
    if weights.shape[0] != len(level):
        weights = np.broadcast_to(weights, (len(level), weights.shape[1]))
    if not len(level) and weights.shape[1]:
        return np.zeros(0)
    if not weights.size or weights.min() < 0.0 or not np.isfinite(weights).all():
        raise ValueError(
            f"coefficients are {weights.tolist()!r:.60}; give numbers that are finite, not "
            "negative, and at least one"
        )
    out = np.where(np.isnan(level), np.nan, 1.0)
    largest = weights.max(axis=1)
    above = level > 0.0
    out[above & (largest == 0.0)] = 0.0
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
        level = level / largest
    rows = np.flatnonzero(above & (largest > 0.0) & np.isfinite(level))
    out[np.isposinf(level)] = 0.0
    scaled = weights[rows] / largest[rows, None]
    equal = scaled.min(axis=1) > 1.0 - EQUAL_COEFFICIENTS
    same, q = rows[equal], weights.shape[1]
    ratio = level[same]
    out[same] = (
        chi_square_sf(ratio, q) if np.isinf(dof) else fdtrc(q, dof, np.maximum(ratio, 0.0) / q)
    )
    rows, scaled = rows[~equal], scaled[~equal]
    for first in range(0, len(rows), _ROWS):
        some = rows[first : first + _ROWS]
        out[some] = _tails(level[some], scaled[first : first + _ROWS], dof)
    return out


def _numbers(values: Any, name: str) -> Array:
    """An array of real numbers."""
    try:
        array = np.asarray(values)
        if array.dtype.kind == "O":
            array = array.astype(np.float64)
    except Exception as error:  # whatever a foreign object does, the sentence is ours
        raise ValueError(f"{name}: not an array of numbers; give one") from error
    if array.dtype.kind not in "fiub" or np.ma.is_masked(values):
        raise ValueError(f"{name} of type {array.dtype}; give real numbers, none masked")
    return array.astype(np.float64)


def _tails(t: Array, omega: Array, dof: float) -> Array:
    """Tails at ``t`` (R,) > 0 for coefficients (R, q) of largest value one."""
    omega = omega[:, (omega > NEGLIGIBLE_COEFFICIENT).any(axis=0)]
    gap = _saddles(t, omega, dof)  # 1 - 2u
    u = 0.5 * (1.0 - gap)
    slack = (1.0 - omega) + omega * gap[:, None]  # 1 - 2 ω u
    log_saddle = -0.5 * np.log(slack).sum(axis=1) - np.log(u)
    rate = 2.0 * omega / slack
    pull = 2.0 * t / dof  # of the estimated scale
    log_saddle -= u * t if np.isinf(dof) else 0.5 * dof * np.log1p(pull * u)
    lag = pull / (1.0 + pull * u)
    scaled = -0.5 * dof

    def increment(z: Complex, rows: IntArray) -> Complex:
        fall = z * t[rows, None] if np.isinf(dof) else scaled * np.log1p(-z * lag[rows, None])
        out: Complex = fall.astype(complex)
        out -= np.log1p(-z / u[rows, None])
        out -= 0.5 * _log_product(z, rate[rows])
        return out

    width = 0.5 * gap / ASPECT
    with np.errstate(invalid="ignore"):
        contour = integrate(increment, width, np.full(len(t), _SPREAD))
    log_tail = np.minimum(log_saddle + contour.log_integral, 0.0)  # far left: one
    lost = np.isnan(log_tail) & (t < omega.sum(axis=1))  # so far left that the terms cancel
    return np.where(lost, 1.0, np.exp(log_tail))


def _log_product(z: Complex, rate: Array) -> Complex:
    """Σ_j log(1 + rate_j z), each on its main branch, for z (R, n) and rates (R, q).

    Moduli are multiplied before their logarithm is taken, a few at a time; the phases add.
    """
    x, y = z.real, z.imag
    if rate.shape[1] > _MANY:  # many coefficients in high dimension are few different ones
        different, times = np.unique(rate, axis=1, return_counts=True)
        if len(times) <= _MANY:
            parts = (n * _log_product(z, different[:, [k]]) for k, n in enumerate(times))
            return np.asarray(sum(parts, np.zeros_like(z)))
    log_modulus, phase = np.zeros_like(x), np.zeros_like(x)
    for first in range(0, rate.shape[1], _TOGETHER):
        square = np.ones_like(x)
        for factor in rate[:, first : first + _TOGETHER].T:
            along, across = 1.0 + factor[:, None] * x, factor[:, None] * y
            square *= along * along + across * across
            phase += np.arctan2(across, along)
        log_modulus += 0.5 * np.log(square)
    return np.asarray(log_modulus + 1j * phase)


def _saddles(t: Array, omega: Array, dof: float) -> Array:
    """1 - 2u with Σ ω / (1 - 2 ω u) - 1 / u = t / (1 + 2 u t / dof), by bisection of its logit.

    Any crossing between the cut and the pole is valid; the saddle only makes it quick.
    """
    low, high = np.full(len(t), -80.0), np.full(len(t), 36.0)
    rest = 1.0 - omega
    for _ in range(_BISECTIONS):
        logit = 0.5 * (low + high)
        gap = 1.0 / (1.0 + np.exp(-logit))
        twice = 1.0 / (1.0 + np.exp(logit))  # 1 - gap = 2u
        slope = (omega / (rest + omega * gap[:, None])).sum(axis=1) - 2.0 / twice
        beyond = slope > t / (1.0 + twice * t / dof)  # u too large
        low, high = np.where(beyond, logit, low), np.where(beyond, high, logit)
    return np.asarray(1.0 / (1.0 + np.exp(-0.5 * (low + high))))
