"""How much a Fisher-Bingham law adds to the von Mises-Fisher law of the same mean.

A gap far below the deficits it is the difference of has lost its digits to subtraction. Along
the straight path from the von Mises-Fisher parameters to those of the law, with f the
difference of the two exponents,

    KL(p₂ ‖ p₁) = ∫₀¹ t Var_t(f) dt,

in which nothing cancels; Gauss-Legendre nodes take the integral.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.fit import FisherBinghamFits
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.heights.bessel import concentration
from steradian.numerics.tolerances import DUAL_ROUNDING, MOMENT_ROUNDING

_PATH_NODES = 20
_SMALL_GAP = 1e-2  # below it the gap is integrated rather than subtracted


def deficit_and_gap(terms: FisherBinghamTerms) -> tuple[float, float]:
    """D₁ and I₂ = D₂ - D₁ of one law, with relative accuracy; ``terms`` is a stack of one."""
    mean, covariance = terms.mean, terms.covariance()
    below, start = _von_mises_fisher(mean, np.trace(covariance[0])[None])
    beta = terms.beta[0] - terms.beta[0].mean()
    deficit = terms.dual(mean[0], np.diagonal(covariance[0]))
    gap = deficit - float(below[0])
    if abs(gap) <= _SMALL_GAP:
        gap = _better(gap, _divergence(beta, terms.b[0], start[0])[0], deficit)
    return float(below[0]), gap


def deficits_and_gaps(fits: FisherBinghamFits, m: Array, scatter: Array) -> tuple[Array, Array]:
    """The same for fits to means ``m`` (S, d) and covariances (S, d, d), of one group."""
    below, eta = _von_mises_fisher(m, np.einsum("sii->s", scatter))
    gap = fits.deficit - below
    for row in np.flatnonzero(np.abs(gap) <= _SMALL_GAP):
        law = fits.axes[row], fits.beta[row], fits.b[row, 0]
        integrated = gap_over_von_mises_fisher(law, eta[row], m[row], scatter[row])
        gap[row] = _better(float(gap[row]), integrated, float(fits.deficit[row]))
    return below, gap


def gap_over_von_mises_fisher(
    law: tuple[Array, Array, Array], eta: Array, m: Array, scatter: Array
) -> float:
    """I₂ with relative accuracy also when it is far below the deficits it is the difference of.

    ``law`` are the eigenvectors of B, its eigenvalues, and η in the eigenbasis; ``eta`` (d,) the
    von Mises-Fisher parameter; ``m`` and ``scatter`` the moments that were fitted: what is left
    of the moment mismatch, times f, corrects the divergence to the difference of the duals, unless
    it is rounding that would make less than zero of no gap.
    """
    axes, beta, b = law
    start = axes.T @ eta
    divergence, terms = _divergence(beta, b, start)
    mean = terms.mean[-1]
    covariance = np.diagonal(terms.covariance()[-1])
    target = axes.T @ m
    diagonal = np.einsum("ij,ij->j", axes, scatter @ axes)
    miss = (b - start) @ (target - mean)
    miss += beta @ (diagonal - covariance + (target - mean) * (target + mean))
    rounding = MOMENT_ROUNDING * (np.abs(b - start) @ np.abs(mean) + np.abs(beta) @ covariance)
    return float(divergence if -rounding <= miss < -divergence else divergence + miss)


def _von_mises_fisher(mean: Array, spread: Array) -> tuple[Array, Array]:
    """Deficits (S,) of von Mises-Fisher laws of these means, and their linear parameters (S, d)."""
    length = np.linalg.norm(mean, axis=1)
    known = concentration(mean.shape[1], length, spread)
    scale = np.asarray(known.kappa) / np.where(length > 0.0, length, 1.0)
    return np.asarray(known.deficit), scale[:, None] * mean


def _better(gap: float, integrated: float, deficit: float) -> float:
    """The difference, or its integral, which keeps more digits where it is small.

    A second mode that appears along the path is beyond its nodes: then subtraction is better.
    """
    agree = abs(integrated - gap) <= DUAL_ROUNDING * (1.0 + abs(deficit))
    return integrated if agree else gap


def _divergence(beta: Array, b: Array, start: Array) -> tuple[float, FisherBinghamTerms]:
    """KL from exp(start·x) to the law of (``beta``, ``b``), and the laws on the path to it."""
    t, weight = np.polynomial.legendre.leggauss(_PATH_NODES)
    t, weight = 0.5 * (t + 1.0), 0.5 * weight
    path = np.append(t, 1.0)
    terms = fisher_bingham(path[:, None] * beta, start + path[:, None] * (b - start))
    variance = _variance(terms, b - start, beta)[:-1]
    return float((weight * t * variance).sum()), terms


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
