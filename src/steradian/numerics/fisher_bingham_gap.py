"""How much a Fisher-Bingham law adds to the von Mises-Fisher law of the same mean."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham_fit import FisherBinghamFit

_PATH_NODES = 20


def gap_over_von_mises_fisher(fit: FisherBinghamFit, eta: Array, m: Array, scatter: Array) -> float:
    """I₂ with relative accuracy also when it is far below the deficits it is the difference of.

    Along the straight path from the von Mises-Fisher parameters (``eta``, 0) to those of the
    fit, with f the difference of the two exponents,

        KL(p₂ ‖ p₁) = ∫₀¹ t Var_t(f) dt,

    by Gauss-Legendre nodes; what is left of the moment mismatch, times f, corrects it to the
    difference of the duals. ``m`` and ``scatter`` are the moments that were fitted.
    """
    start = fit.axes.T @ eta
    t, weight = np.polynomial.legendre.leggauss(_PATH_NODES)
    t, weight = 0.5 * (t + 1.0), 0.5 * weight
    path = np.append(t, 1.0)
    terms = fisher_bingham(path[:, None] * fit.beta, start + path[:, None] * (fit.b - start))
    variance = _variance(terms, fit.b - start, fit.beta)[:-1]
    mean = terms.mean[-1]
    covariance = np.diagonal(terms.covariance()[-1])
    target = fit.axes.T @ m
    diagonal = np.einsum("ij,ij->j", fit.axes, scatter @ fit.axes)
    miss = (fit.b - start) @ (target - mean)
    miss += fit.beta @ (diagonal - covariance + (target - mean) * (target + mean))
    return float((weight * t * variance).sum() + miss)


def _variance(terms: FisherBinghamTerms, linear: Array, quadratic: Array) -> Array:
    """Var(linear·x + Σ quadratic x²) under each law, (R,)."""
    away = terms.v - terms.v_mean[:, None, :]
    a = terms.b[:, None, :] * away
    g = linear + 2.0 * quadratic * terms.mean
    f = (g[:, None, :] * a + quadratic * (a * a + away)).sum(axis=2)
    w = terms.weights
    f = f - (w * f).sum(axis=1).real[:, None]
    pull = g[:, None, :] + 2.0 * quadratic * a
    within = (terms.v * pull * pull + 2.0 * quadratic**2 * terms.v**2).sum(axis=2)
    return np.asarray((w * (f * f + within)).sum(axis=1).real)
