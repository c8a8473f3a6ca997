"""Maximum entropy on the circle in 60-digit arithmetic, for clusters as tight as one likes.

Everything in the coordinate ``w = tan(θ/2) / scale`` about the mean: trigonometric polynomials of
degree L are the polynomials of degree 2L in w over ``(1 + scale² w²)^L``, and the uniform law is
``scale / (π (1 + scale² w²)) dw``. Integrals by the double-exponential rule on the whole line.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import mpmath
import numpy as np

import oracles
from steradian.numerics.arrays import Array

DIGITS = 60
_STEP, _REACH = 1 / 128, 5.2
_MOST_STEPS = 20
Logpdf = Callable[[Array], Array]
"""Angles (n,) → log-density against the uniform law (n,)."""


@dataclass(frozen=True)
class TightOptimum:
    """The deficit, and the last squared Newton decrement."""

    deficit: Any
    decrement: Any


def tight_deficit(angles: Array, level: int, scale: float, logpdf: Logpdf) -> TightOptimum:
    """D of ``level`` for ``angles`` (n,) of equal weight.

    The dual is concave, so where Newton's method starts does not matter for where it ends; it
    starts from a law known by its log-density at ``angles``, because from elsewhere it creeps.
    """
    with mpmath.workdps(DIGITS):
        s = mpmath.mpf(scale)
        data = [mpmath.tan(mpmath.mpf(float(a)) / 2) / s for a in angles]
        wanted = _mean([_features(w, s, level) for w in data], [mpmath.mpf(1)] * len(data))
        start = _interpolated(level, scale, logpdf)
        nodes, logs = _line(s)
        rows = [[f - m for f, m in zip(_features(w, s, level), wanted, strict=True)] for w in nodes]
        return _maximised(rows, logs, start)


def _interpolated(level: int, scale: float, logpdf: Logpdf) -> Any:
    """Coefficients of the features from 2L + 1 values of a log-density."""
    count = 2 * level + 1
    spots = 2.5 * np.cos(np.pi * (np.arange(count) + 0.5) / count)
    values = logpdf(2.0 * np.arctan(scale * spots))
    s = mpmath.mpf(scale)
    system = mpmath.matrix(count, count)
    for i, w in enumerate(spots):
        row = [mpmath.mpf(1), *_features(mpmath.mpf(float(w)), s, level)]
        for j, entry in enumerate(row):
            system[i, j] = entry
    return mpmath.lu_solve(system, mpmath.matrix([float(v) for v in values]))[1:]


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


def _maximised(rows: list[list[Any]], logs: list[Any], start: Any) -> TightOptimum:
    """Damped Newton on the dual."""
    q = len(start)
    theta = mpmath.matrix(list(start))
    psi, mass = _law(rows, logs, theta)
    for _ in range(_MOST_STEPS):
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


def tight_deficit_on_sphere(x: Array, level: int, scale: float, logpdf: Logpdf) -> float:
    """D of ``level`` for unit vectors ``x`` (n, 3), in extended precision.

    In the plane w of stereographic projection about the mean, over ``scale``, functions of degree L
    are the polynomials of degree L in w and in w̄ over ``(1 + scale² |w|²)^L``. Nodes are a
    double-exponential rule in log |w| times equispaced angles. ``logpdf`` takes unit vectors.
    """
    s, long = np.longdouble(scale), oracles.long
    centre = long(x.sum(axis=0))
    centre /= np.sqrt((centre**2).sum())
    across = oracles.long(np.linalg.svd(centre[None].astype(float))[2][1:])
    across -= (across @ centre)[:, None] * centre
    across[0] /= np.sqrt((across[0] ** 2).sum())
    across[1] -= (across[1] @ across[0]) * across[0]
    across[1] /= np.sqrt((across[1] ** 2).sum())
    height = long(x) @ centre
    data = (long(x) @ across.T) / (1 + height)[:, None] / s
    t = np.arange(-420, 421).astype(np.longdouble) / 105
    radius = np.exp(2 * np.sinh(t))
    slope = radius * 2 * np.cosh(t) / 105
    turns = 2 * np.arccos(np.longdouble(-1)) * np.arange(96) / 96
    u = (radius[:, None] * np.cos(turns)).ravel()
    v = (radius[:, None] * np.sin(turns)).ravel()
    weight = slope * radius * s**2 / (1 + (s * radius) ** 2) ** 2 * 2 / 96
    weights = np.repeat(weight, 96)
    kept = weights > 1e-40
    u, v, weights = u[kept], v[kept], weights[kept]
    phi, wanted = (
        _plane_functions(u, v, s, level),
        _plane_functions(data[:, 0], data[:, 1], s, level).mean(axis=0),
    )
    bottom = 1 + (s * s) * (u * u + v * v)
    nodes = (2 * s * (u[:, None] * across[0] + v[:, None] * across[1])) / bottom[:, None]
    nodes += ((2 - bottom) / bottom)[:, None] * centre
    start = oracles.long(logpdf(nodes.astype(float)) - logpdf(x).mean())
    return float(oracles.maximum_entropy(weights / weights.sum(), phi, wanted, start).deficit)


def _plane_functions(u: Any, v: Any, s: Any, level: int) -> Any:
    """Real and imaginary parts of w^a w̄^b over (1 + s² |w|²)^L, a <= b <= L, constant left out."""
    w = u + 1j * v
    bottom = (1 + s * s * np.abs(w) ** 2) ** level
    out = []
    for a in range(level + 1):
        for b in range(a, level + 1):
            if b == 0:
                continue
            value = np.conj(w) ** a * w**b / bottom
            out.append(value.real)
            if b > a:
                out.append(value.imag)
    return np.stack(out, axis=1)
