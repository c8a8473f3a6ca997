"""How much a Fisher-Bingham law adds to the von Mises-Fisher law of the same mean.

A gap far below the deficits it is the difference of has lost its digits to subtraction. Along
the straight path from the von Mises-Fisher parameters to those of the law, with f the
difference of the two exponents,

    KL(p₂ ‖ p₁) = ∫₀¹ t Var_t(f) dt,

in which nothing cancels; Gauss-Legendre nodes take the integral.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.fit import FisherBinghamFit
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.stack import StackFit
from steradian.numerics.heights.bessel import VonMisesFisher, concentration
from steradian.numerics.tolerances import DUAL_ROUNDING, MOMENT_ROUNDING, TINY_MEAN

_PATH_NODES = 20
_SMALL_GAP = 1e-2  # below it the gap is integrated rather than subtracted


def deficit_and_gap(terms: FisherBinghamTerms) -> tuple[float, float]:
    """D₁ and I₂ = D₂ - D₁ of one law, with relative accuracy; ``terms`` is a stack of one."""
    mean, covariance = terms.mean[0], terms.covariance()[0]
    below, start = _von_mises_fisher(mean, float(np.trace(covariance)))
    beta = terms.beta[0] - terms.beta[0].mean()

    def integrated() -> float:
        return _divergence(beta, terms.b[0], start)[0]

    deficit = terms.dual(mean, np.diagonal(covariance))
    return float(below.deficit), _better(deficit, float(below.deficit), integrated)


def fitted_deficit_and_gap(fit: FisherBinghamFit, m: Array, scatter: Array) -> tuple[float, float]:
    """The same for a fit to the mean ``m`` (d,) and the covariance ``scatter`` (d, d)."""
    below, eta = _von_mises_fisher(m, float(np.trace(scatter)))

    def integrated() -> float:
        return gap_over_von_mises_fisher((fit.axes, fit.beta, fit.b), eta, m, scatter)

    return float(below.deficit), _better(fit.deficit, float(below.deficit), integrated)


def stack_deficits_and_gaps(fit: StackFit, m: Array, scatter: Array) -> tuple[Array, Array]:
    """The same for fits to means ``m`` (R, d) and covariances (R, d, d): (R,) each."""
    length = np.maximum(np.linalg.norm(m, axis=1), TINY_MEAN)
    terms = concentration(m.shape[1], length, np.einsum("rii->r", scatter))
    below = np.asarray(terms.deficit)
    gap = fit.deficit - below
    for row in np.flatnonzero(np.abs(gap) <= _SMALL_GAP):
        beta, axes = np.linalg.eigh(fit.quadratic[row])
        law = axes, beta, axes.T @ fit.eta[row]
        eta = np.asarray(terms.kappa)[row] * (m[row] / length[row])
        integrated = partial(gap_over_von_mises_fisher, law, eta, m[row], scatter[row])
        gap[row] = _better(float(fit.deficit[row]), float(below[row]), integrated)
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


def _von_mises_fisher(mean: Array, spread: float) -> tuple[VonMisesFisher, Array]:
    """The von Mises-Fisher law of this mean, and its linear parameter."""
    length = float(np.linalg.norm(mean))
    terms = concentration(len(mean), length, spread)
    return terms, float(terms.kappa) * (mean / length if length else mean)


def _better(deficit: float, below: float, integrated: Callable[[], float]) -> float:
    """The difference, or its integral where that keeps more digits.

    A second mode that appears along the path is beyond its nodes: then subtraction is better.
    """
    gap = deficit - below
    if abs(gap) > _SMALL_GAP:
        return gap
    value = integrated()
    return value if abs(value - gap) <= DUAL_ROUNDING * (1.0 + abs(deficit)) else gap


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
