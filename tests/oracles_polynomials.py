"""Deficits of polynomial levels by another rule, another basis and another solver.

Nested polar angles, Gauss-Gegenbauer in each and equispaced in the last, instead of the product of
two circles; monomials, made orthonormal by a QR on the nodes, instead of harmonics; Newton on
their covariance by `numpy.linalg.solve`.
"""

from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
from scipy.special import roots_gegenbauer

from steradian.numerics.arrays import Array


def polar_rule(d: int, nodes: int) -> tuple[Array, Array]:
    """Points (N, d) and weights (N,) of sum one: ``nodes`` heights per polar angle."""
    turn = np.arange(2 * nodes) * (np.pi / nodes) + 0.1
    points = np.stack([np.cos(turn), np.sin(turn)], axis=1)
    weights = np.full(2 * nodes, 0.5 / nodes)
    for k in range(3, d + 1):
        t, share = roots_gegenbauer(nodes, 0.5 * k - 1.0)
        across = np.sqrt(1.0 - t * t)[:, None, None] * points
        height = np.broadcast_to(t[:, None, None], (nodes, len(points), 1))
        points = np.concatenate([height, across], axis=2).reshape(-1, k)
        weights = np.outer(share / share.sum(), weights).ravel()
    return points, weights


def monomials(x: Array, degree: int) -> Array:
    """Products of 1..degree coordinates, (n, k)."""
    d = x.shape[1]
    columns = [
        np.prod(x[:, list(which)], axis=1)
        for order in range(1, degree + 1)
        for which in combinations_with_replacement(range(d), order)
    ]
    return np.stack(columns, axis=1)


def deficit_by_monomials(x: Array, degree: int, nodes: int) -> float:
    """D of all polynomials of this degree for rows ``x`` (n, d) of equal weight."""
    points, weights = polar_rule(x.shape[1], nodes)
    root = np.sqrt(weights)[:, None]
    values = monomials(points, degree)
    centre = weights @ values
    basis, singular, change = np.linalg.svd(root * (values - centre), full_matrices=False)
    kept = singular > 1e-9 * singular[0]
    phi = basis[:, kept] / root
    m = (monomials(x, degree).mean(axis=0) - centre) @ change[kept].T / singular[kept]
    return _newton(phi, weights, m)


def _newton(phi: Array, weights: Array, m: Array) -> float:
    lam, best = np.zeros(len(m)), 0.0
    for _ in range(60):
        exponent = phi @ lam
        top = exponent.max()
        mass = weights * np.exp(exponent - top)
        total = mass.sum()
        mass /= total
        best = float(lam @ m - top - np.log(total))
        mean = mass @ phi
        away = phi - mean
        step = np.linalg.solve(away.T @ (mass[:, None] * away), m - mean)
        if float((m - mean) @ step) < 1e-22:
            break
        length = 1.0
        while length > 1e-6:
            trial = phi @ (lam + length * step)
            peak = trial.max()
            value = (lam + length * step) @ m - peak - np.log(weights @ np.exp(trial - peak))
            if value > best:
                break
            length *= 0.5
        lam = lam + length * step
    return best
