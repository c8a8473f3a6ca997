"""How heavy the tail of importance ratios is."""

from __future__ import annotations

import math

import numpy as np

from steradian.numerics.arrays import Array

HEAVY = 0.5  # above it the weights have no variance: standard errors and tests miss the tail
_FEWEST = 20  # largest ratios needed to say anything


def pareto_shape(weights: Array) -> float:
    """Shape k of a generalised Pareto law fitted to the largest weights; NaN when too few.

    The variance of the weights is finite for k < 1/2. Estimator of Zhang and Stephens
    (Technometrics 51, 2009) on the largest 3 √n, at most a fifth, of the weights, as in
    Pareto-smoothed importance sampling (Vehtari and others, 2024).
    """
    ordered = np.sort(weights)
    count = min(len(ordered) // 5, math.ceil(3.0 * math.sqrt(len(ordered))))
    if count < _FEWEST:
        return math.nan
    excess = ordered[-count:] - ordered[-count - 1]
    if not excess[0] > 0.0:
        excess = excess[excess > 0.0]
        if len(excess) < _FEWEST:
            return -math.inf if ordered[-1] == ordered[-count - 1] else math.nan
    return _shape(excess)


def _shape(x: Array) -> float:
    """Posterior-mean estimate of k from sorted excesses ``x`` > 0."""
    n = len(x)
    grid = 30 + math.isqrt(n)
    quartile = x[int(n / 4 + 0.5) - 1]
    steps = np.arange(1, grid + 1) - 0.5
    theta = 1.0 / x[-1] + (1.0 - np.sqrt(grid / steps)) / (3.0 * quartile)
    shapes = np.log1p(-theta[:, None] * x).mean(axis=1)
    fit = n * (np.log(-theta / shapes) - shapes - 1.0)
    weight = np.exp(fit - fit.max())
    best = float(weight @ theta / weight.sum())
    return float(np.log1p(-best * x).mean())
