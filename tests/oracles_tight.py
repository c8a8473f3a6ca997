"""Maximum entropy on the circle in 60-digit arithmetic, for clusters as tight as one likes.

Everything in the coordinate ``w = tan(θ/2) / scale`` about the mean: trigonometric polynomials of
degree L are the polynomials of degree 2L in w over ``(1 + scale² w²)^L``, and the uniform law is
``scale / (π (1 + scale² w²)) dw``. Integrals by the double-exponential rule on the whole line.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

from steradian.numerics.arrays import Array

DIGITS = 60
_STEP, _REACH = 1 / 64, 5.2


@dataclass(frozen=True)
class TightOptimum:
    """The deficit, and the last squared Newton decrement."""

    deficit: Any
    decrement: Any


def tight_deficit(angles: Array, level: int, scale: float, steps: int = 200) -> TightOptimum:
    """D of ``level`` for ``angles`` (n,) of equal weight; the law is found from scratch."""
    with mpmath.workdps(DIGITS):
        s = mpmath.mpf(scale)
        data = [mpmath.tan(mpmath.mpf(float(a)) / 2) / s for a in angles]
        wanted = _mean([_features(w, s, level) for w in data], [mpmath.mpf(1)] * len(data))
        nodes, logs = _line(s)
        rows = [[f - m for f, m in zip(_features(w, s, level), wanted, strict=True)] for w in nodes]
        return _maximised(rows, logs, 2 * level, steps)


def _features(w: Any, s: Any, level: int) -> list[Any]:
    bottom = (1 + (s * w) ** 2) ** level
    return [w**k / bottom for k in range(1, 2 * level + 1)]


def _line(s: Any) -> tuple[list[Any], list[Any]]:
    """Nodes w = sinh(π/2 sinh t), and the logs of their weights under the uniform law."""
    nodes, logs = [], []
    count = int(_REACH / _STEP)
    for k in range(-count, count + 1):
        t = mpmath.mpf(k) * _STEP
        inner = mpmath.pi / 2 * mpmath.sinh(t)
        w = mpmath.sinh(inner)
        slope = mpmath.cosh(inner) * mpmath.pi / 2 * mpmath.cosh(t)
        nodes.append(w)
        logs.append(mpmath.log(_STEP * slope * s / (mpmath.pi * (1 + (s * w) ** 2))))
    return nodes, logs


def _mean(rows: list[list[Any]], weights: list[Any]) -> list[Any]:
    total = mpmath.fsum(weights)
    return [
        mpmath.fsum(w * row[k] for w, row in zip(weights, rows, strict=True)) / total
        for k in range(len(rows[0]))
    ]


def _maximised(rows: list[list[Any]], logs: list[Any], q: int, steps: int) -> TightOptimum:
    """Damped Newton on the dual, from a law that is one on the data: θ = -w² / 2 alone."""
    theta = mpmath.zeros(q, 1)
    theta[1] = mpmath.mpf(-1) / 2
    psi, mass = _law(rows, logs, theta)
    for _ in range(steps):
        mean = _mean(rows, mass)
        felt = [(m, row) for m, row in zip(mass, rows, strict=True) if m > mpmath.mpf(10) ** -50]
        cov = mpmath.matrix(q, q)
        for i in range(q):
            for j in range(i, q):
                cov[i, j] = mpmath.fsum(m * (r[i] - mean[i]) * (r[j] - mean[j]) for m, r in felt)
                cov[j, i] = cov[i, j]
        step = mpmath.lu_solve(cov, -mpmath.matrix(mean))
        decrement = -mpmath.fsum(mean[k] * step[k] for k in range(q))
        if decrement < mpmath.mpf(10) ** -24:
            return TightOptimum(-psi, decrement)
        length = mpmath.mpf(1)
        while True:
            trial = theta + length * step
            new_psi, new_mass = _law(rows, logs, trial)
            if psi - new_psi >= decrement * length / 10**4:
                break
            length /= 2
        theta, psi, mass = trial, new_psi, new_mass
    return TightOptimum(-psi, decrement)


def _law(rows: list[list[Any]], logs: list[Any], theta: Any) -> tuple[Any, list[Any]]:
    q = len(rows[0])
    exponent = [
        log + mpmath.fsum(theta[k] * row[k] for k in range(q))
        for log, row in zip(logs, rows, strict=True)
    ]
    peak = max(exponent)
    mass = [mpmath.exp(e - peak) for e in exponent]
    total = mpmath.fsum(mass)
    return peak + mpmath.log(total), [m / total for m in mass]


def angles_of(x: Array) -> Array:
    """Angles of directions about their mean direction."""
    mean = x.mean(axis=0)
    return np.arctan2(mean[0] * x[:, 1] - mean[1] * x[:, 0], x @ mean)
