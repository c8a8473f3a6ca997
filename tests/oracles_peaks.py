"""Exact deficits relative to references with a peak, by closed forms."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import minimize
from scipy.special import ive

from steradian.numerics.arrays import Array


def log_mean(a: Array) -> float:
    """Log of E exp(a·x) under the uniform law of the circle or the sphere."""
    size = float(np.linalg.norm(a))
    if len(a) == 2:
        return float(np.log(ive(0, size)) + size)
    return size + float(np.log(-np.expm1(-2.0 * size) / (2.0 * size))) if size > 1e-9 else 0.0


def log_mean_of_peak(kappa: float, centre: Array, a: Array) -> float:
    """The same under a von Mises-Fisher law, without the digits that |κc + a| - κ loses."""
    along = 2.0 * kappa * float(centre @ a) + float(a @ a)
    beyond = along / (float(np.linalg.norm(kappa * centre + a)) + kappa)
    if len(a) == 2:
        return beyond + float(np.log(ive(0, kappa + beyond) / ive(0, kappa)))
    tails = np.log(np.expm1(-2.0 * (kappa + beyond)) / np.expm1(-2.0 * kappa))
    return beyond - float(np.log1p(beyond / kappa)) + float(tails)


def half_peaked(kappa: float, centre: Array) -> Callable[[Array], Array]:
    """A density, half of which is uniform and half in a peak about ``centre``.

    By |x - c|² / 2 = 1 - c·x, whose rounding would be κ / 2⁵³ of the peak's height.
    """
    if len(centre) == 3:
        log_height = np.log(2.0 * kappa) - np.log1p(-np.exp(-2.0 * kappa))
    else:
        log_height = -np.log(ive(0, kappa))
    return lambda x: (
        0.5 + 0.5 * np.exp(log_height - 0.5 * kappa * np.square(x - centre).sum(axis=-1))
    )


def highest(dual: Callable[[Array], float], d: int) -> float:
    """Minus the least value of a smooth convex function near zero, to about 1e-12."""
    options = {"xatol": 1e-9, "fatol": 1e-15, "maxiter": 4000, "maxfev": 4000}
    return -float(minimize(dual, np.zeros(d), method="Nelder-Mead", options=options).fun)


def first_deficit(mean: Array, kappa: float, centre: Array) -> float:
    """D₁ of a mean relative to the law `half_peaked`, by closed form."""

    def dual(a: Array) -> float:
        parts = log_mean(a), log_mean_of_peak(kappa, centre, a)
        return float(np.logaddexp(*parts) - np.log(2.0) - a @ mean)

    return highest(dual, len(mean))
