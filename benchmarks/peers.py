"""The peers: what a competent person would write without the library.

`fibonacci_bfgs` is the recipe of the paper: 30,000 Fibonacci nodes and scipy's BFGS.
`plain_newton` is a damped Newton with the exact Hessian on one fixed grid. Both take one
sample at a time, warm-start each level from the one below, and give the gaps in nats. Their
features at the nodes are computed once, by the first call, which is never timed.

Features are orthonormal under the uniform law, which is the kindest scaling for BFGS. On the
sphere they are x, y, z and the five traceless quadratics; on the circle cos kθ and sin kθ.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

Array = NDArray[np.float64]

FIBONACCI_NODES = 30_000
BFGS_TOLERANCE = 1e-6
RINGS, LONGITUDES = 24, 48
CIRCLE_NODES = 512
NEWTON_TOLERANCE = 1e-10
ARMIJO = 1e-4
ROUNDING = 1e-14
SHORTEST = 1e-10
MAX_STEPS = 100

ROOT2, ROOT3, ROOT15 = np.sqrt([2.0, 3.0, 15.0])


def sphere_moments(x: Array, weights: Array | None = None) -> Array:
    """Means (8,) of the features of a sample (n, 3): one small product holds them all."""
    weighted = x / len(x) if weights is None else x * (weights / weights.sum())[:, None]
    (xx, xy, xz), (_, yy, yz), (_, _, zz) = (weighted.T @ x).tolist()
    first = weighted.sum(axis=0).tolist()
    half, axial = (xx - yy) / 2.0, (2.0 * zz - xx - yy) / (2.0 * ROOT3)
    return np.array([*(ROOT3 * c for c in first), *(ROOT15 * c for c in (xy, xz, yz, half, axial))])


def sphere_features(x: Array) -> Array:
    """The same eight features at each row, (n, 8)."""
    a, b, c = x.T
    half, axial = (a * a - b * b) / 2.0, (2.0 * c * c - a * a - b * b) / (2.0 * ROOT3)
    linear = [ROOT3 * f for f in (a, b, c)]
    return np.stack([*linear, *(ROOT15 * f for f in (a * b, a * c, b * c, half, axial))], axis=1)


def circle_moments(x: Array, weights: Array | None, levels: int) -> Array:
    """Means (2 levels,) of √2 cos kθ and √2 sin kθ of a sample (n, 2), by powers of x + iy."""
    z = x.view(np.complex128)[:, 0] if x.flags.c_contiguous else x[:, 0] + 1j * x[:, 1]
    w = np.full(len(x), 1.0 / len(x)) if weights is None else weights / weights.sum()
    modes = np.empty(levels, dtype=np.complex128)
    power = w * z
    modes[0] = power.sum()
    for k in range(1, levels):
        power *= z
        modes[k] = power.sum()
    return ROOT2 * modes.view(np.float64)


def circle_features(x: Array, levels: int) -> Array:
    """The same features at each row, (n, 2 levels)."""
    angle = np.arctan2(x[:, 1], x[:, 0])
    waves = [f(k * angle) for k in range(1, levels + 1) for f in (np.cos, np.sin)]
    return ROOT2 * np.stack(waves, axis=1)


def fibonacci_nodes(count: int = FIBONACCI_NODES) -> Array:
    """The deterministic Fibonacci rule: equal weights on a golden spiral, (count, 3)."""
    index = np.arange(count)
    z = 1.0 - (2.0 * index + 1.0) / count
    angle = index * (np.pi * (3.0 - np.sqrt(5.0)))
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


@cache
def fibonacci_tables() -> tuple[Array, ...]:
    """Features of levels 1 and 2 at the Fibonacci nodes, (q, nodes) each."""
    features = sphere_features(fibonacci_nodes()).T
    return tuple(np.ascontiguousarray(features[:q]) for q in (3, 8))


def fibonacci_bfgs(x: Array, weights: Array | None = None) -> Array:
    """I_1 and I_2 of one sample (n, 3)."""
    moments = sphere_moments(x, weights)
    lam, deficits = np.zeros(0), [0.0]
    for table in fibonacci_tables():
        q = len(table)
        fit = minimize(
            _negative_dual,
            np.concatenate([lam, np.zeros(q - len(lam))]),
            args=(table, moments[:q]),
            jac=True,
            method="BFGS",
            options={"gtol": BFGS_TOLERANCE},
        )
        lam = fit.x
        deficits.append(-float(fit.fun))
    return np.diff(deficits)


def _negative_dual(lam: Array, table: Array, moments: Array) -> tuple[float, Array]:
    """ψ(λ) - λ·m and its gradient, on equal weights."""
    values = lam @ table
    peak = values.max()
    values -= peak
    np.exp(values, out=values)
    total = values.sum()
    psi = peak + np.log(total / len(values))
    return float(psi - lam @ moments), table @ values / total - moments


@cache
def circle_tables(levels: int) -> tuple[tuple[Array, ...], Array]:
    """Features of each level at equispaced nodes, (q, nodes) each, and the weights (nodes,)."""
    angle = np.arange(CIRCLE_NODES) * (2.0 * np.pi / CIRCLE_NODES)
    features = circle_features(np.stack([np.cos(angle), np.sin(angle)], axis=1), levels).T
    tables = tuple(np.ascontiguousarray(features[: 2 * k]) for k in range(1, levels + 1))
    return tables, np.full(CIRCLE_NODES, 1.0 / CIRCLE_NODES)


@cache
def sphere_tables(levels: int) -> tuple[tuple[Array, ...], Array]:
    """The same on Gauss-Legendre latitudes times equispaced longitudes; up to two levels."""
    heights, weights = np.polynomial.legendre.leggauss(RINGS)
    z = np.repeat(heights, LONGITUDES)
    angle = np.tile(np.arange(LONGITUDES) * (2.0 * np.pi / LONGITUDES), RINGS)
    radius = np.sqrt(1.0 - z * z)
    nodes = np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
    features = sphere_features(nodes).T
    tables = tuple(np.ascontiguousarray(features[:q]) for q in (3, 8)[:levels])
    return tables, np.repeat(weights / (2 * LONGITUDES), LONGITUDES)


def plain_newton(x: Array, weights: Array | None = None, *, levels: int) -> Array:
    """I_1 … I_L of one sample (n, 2) or, up to two levels, (n, 3)."""
    if x.shape[1] == 2:
        moments = circle_moments(x, weights, levels)
        tables, masses = circle_tables(levels)
    else:
        moments = sphere_moments(x, weights)
        tables, masses = sphere_tables(levels)
    lam, deficits = np.zeros(0), [0.0]
    for table in tables:
        q = len(table)
        start = np.concatenate([lam, np.zeros(q - len(lam))])
        lam, deficit = _newton(table, masses, moments[:q], start)
        deficits.append(deficit)
    return np.diff(deficits)


def _newton(table: Array, weights: Array, moments: Array, lam: Array) -> tuple[Array, float]:
    """Maximise λ·m - ψ(λ) from ``lam``; the parameters and the deficit."""
    dual, law = _dual(lam, table, weights, moments)
    for _ in range(MAX_STEPS):
        mean = table @ law
        gradient = moments - mean
        if np.abs(gradient).max() <= NEWTON_TOLERANCE:
            break
        hessian = (table * law) @ table.T - mean[:, None] * mean
        step = np.linalg.solve(hessian, gradient)
        rise, length = float(gradient @ step), 1.0
        floor = dual - ROUNDING * (1.0 + abs(dual))  # near the end the rise is below rounding
        while True:
            trial = lam + length * step
            value, there = _dual(trial, table, weights, moments)
            if value >= floor + ARMIJO * length * rise or length < SHORTEST:
                break
            length /= 2.0
        lam, dual, law = trial, value, there
    return lam, dual


def _dual(lam: Array, table: Array, weights: Array, moments: Array) -> tuple[float, Array]:
    """λ·m - ψ(λ) and the probabilities of the nodes, the maximum removed."""
    values = lam @ table
    peak = values.max()
    values -= peak
    np.exp(values, out=values)
    values *= weights
    total = values.sum()
    values /= total
    return float(lam @ moments - peak - np.log(total)), values
