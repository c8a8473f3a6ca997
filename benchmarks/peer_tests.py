"""The peer for null tests: the same test of the same sample, written plainly, one at a time.

Fits of two levels by the damped Newton of `peers`, the covariance of the features under the
reduced fit on its grid, the score, the tilt by Newton in plain arrays, and the tail of the
weighted χ² sum by Ruben's series, the quickest of the usual ways for a handful of terms (Imhof's
integral with an adaptive rule takes a hundred times as long).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.stats import chi2

from peers import (
    _newton,
    circle_features,
    circle_moments,
    circle_tables,
    sphere_features,
    sphere_moments,
    sphere_tables,
)

Array = NDArray[np.float64]

LEVELS = 2
TILT_STEPS = 60
TILT_TOLERANCE = 1e-9
RUBEN_REST = 1e-13  # as exact as what it is compared with
MOST_TERMS = 2000


def plain_tests(x: Array, weights: Array | None = None) -> Array:
    """Rows (gap, score statistic, p-value) of levels 1 and 2 of one sample (n, d)."""
    n, d = x.shape
    if d == 2:
        moments, phi = circle_moments(x, weights, LEVELS), circle_features(x, LEVELS)
        tables, masses = circle_tables(LEVELS)
    else:
        moments, phi = sphere_moments(x, weights), sphere_features(x)
        tables, masses = sphere_tables(LEVELS)
    w = np.full(n, 1.0 / n) if weights is None else weights / weights.sum()
    rate2 = 1.0 / float(w @ w)
    lam, deficit, out = np.zeros(0), 0.0, []
    for table in tables:
        q, below = len(table), len(lam)
        start = np.concatenate([lam, np.zeros(q - below)])
        score, pvalue = _score_test(phi[:, :q], w, rate2, (start, table, masses, below))
        lam, higher = _newton(table, masses, moments[:q], start)
        out.append([higher - deficit, score, pvalue])
        deficit = higher
    return np.array(out)


def _score_test(
    phi: Array, w: Array, rate2: float, reduced: tuple[Array, Array, Array, int]
) -> tuple[float, float]:
    start, table, masses, below = reduced
    law = masses * np.exp(start @ table)
    law /= law.sum()
    mean = table @ law
    root = np.linalg.cholesky((table * law) @ table.T - np.outer(mean, mean))
    zeta = np.linalg.solve(root, (phi - mean).T).T
    r = w @ zeta[:, below:]
    score = 0.5 * rate2 * float(r @ r)
    t = w * _tilted(zeta, w)
    added = zeta[:, below:]
    omega = np.linalg.eigvalsh(0.5 * (added * t[:, None]).T @ added / t.sum())
    return score, ruben(score, omega)


def _tilted(zeta: Array, w: Array) -> Array:
    """Weights proportional to w exp(τ·ζ) of mean zero, by Newton with halving."""
    tau = np.zeros(zeta.shape[1])
    value, t = _log_sum(tau, zeta, w)
    for _ in range(TILT_STEPS):
        mean = t @ zeta
        if np.abs(mean).max() < TILT_TOLERANCE:
            return t
        try:
            step = np.linalg.solve((zeta * t[:, None]).T @ zeta - np.outer(mean, mean), -mean)
        except np.linalg.LinAlgError:
            return w  # all directions on one side: no tilt
        length = 1.0
        while True:
            lower, there = _log_sum(tau + length * step, zeta, w)
            if lower <= value + 1e-4 * length * float(mean @ step) + 1e-14 or length < 1e-10:
                break
            length /= 2.0
        tau, value, t = tau + length * step, lower, there
    return w


def _log_sum(tau: Array, zeta: Array, w: Array) -> tuple[float, Array]:
    exponent = zeta @ tau
    peak = exponent.max()
    t = w * np.exp(exponent - peak)
    total = t.sum()
    return float(np.log(total) + peak), t / total


def ruben(value: float, omega: Array) -> float:
    """P(Σ ω χ²_1 > value) as a mixture of χ² tails, Ruben (Ann. Math. Stat. 33, 1962)."""
    least = omega.min()
    share = 1.0 - least / omega
    first = float(np.sqrt(np.prod(least / omega)))
    mixing, powers, current = [first], np.empty(0), np.ones_like(omega)
    left = 1.0 - first
    while left > RUBEN_REST and len(mixing) < MOST_TERMS:
        current = current * share
        powers = np.append(powers, current.sum())
        following = float(powers[::-1] @ np.array(mixing)) / (2.0 * len(mixing))
        mixing.append(following)
        left -= following
    dof = len(omega) + 2.0 * np.arange(len(mixing))
    return float(np.array(mixing) @ chi2.sf(value / least, dof) + left)


@cache
def warm() -> None:
    """Fill the tables, which no timed run should."""
    circle_tables(LEVELS)
    sphere_tables(LEVELS)
