"""Fits of groups that share parameters, against brute force."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import steradian as sr
from comparison_groups import gaussian
from steradian.fitting.grouped import Arrow, SharedProblem
from steradian.numerics.fisher_bingham.fit import fit_fisher_bingham


def test_the_arrow_is_the_inverse_of_the_whole_matrix() -> None:
    rng = np.random.default_rng(0)
    groups, q, own = 3, 5, 2
    roots = rng.normal(size=(groups, q, q))
    covariance = (roots @ np.swapaxes(roots, 1, 2) + np.eye(q))[None]
    shares = np.array([0.2, 0.3, 0.5])
    whole = np.zeros((groups * own + q - own,) * 2)
    for g in range(groups):
        lift = np.zeros((len(whole), q))
        lift[g * own : (g + 1) * own, :own] = np.eye(own)
        lift[groups * own :, own:] = np.eye(q - own)
        whole += shares[g] * lift @ covariance[0, g] @ lift.T
    right = rng.normal(size=len(whole))
    a, theta = Arrow.of(covariance, shares, own).solve(
        right[: groups * own].reshape(1, groups, own), right[None, groups * own :]
    )
    found = np.concatenate([a.ravel(), theta.ravel()])
    # condition of a few hundred times rounding
    assert found == pytest.approx(np.linalg.solve(whole, right), rel=1e-10, abs=1e-12)


def test_shared_fits_on_the_circle_by_a_general_minimiser() -> None:
    """D(W_1) of two groups on the circle by quadrature and a quasi-Newton method."""
    rng = np.random.default_rng(1)
    angles = [rng.vonmises(0.0, 2.0, 80), rng.vonmises(1.0, 1.0, 120)]
    h = sr.Harmonics(2, 2)
    means = np.array([h.features(np.c_[np.cos(a), np.sin(a)]).mean(axis=0) for a in angles])
    shares = np.array([0.4, 0.6])
    grid = 2.0 * np.pi * np.arange(256) / 256
    phi = h.features(np.c_[np.cos(grid), np.sin(grid)])

    def loss(free: np.ndarray) -> float:
        lam = np.array([[*free[:2], *free[4:]], [*free[2:4], *free[4:]]])
        psi = np.log(np.exp(phi @ lam.T).mean(axis=0))
        return float(shares @ (psi - (lam * means).sum(axis=1)))

    best = minimize(loss, np.zeros(6), method="BFGS", options={"gtol": 1e-9})
    found = SharedProblem(h.family(2), shares, 2).solve(means[None], np.zeros((1, 2, 4)))
    assert found.deficit[0] == pytest.approx(-best.fun, abs=1e-9)
    assert found.lam[0, 0, 2:] == pytest.approx(found.lam[0, 1, 2:])


@pytest.mark.parametrize("d", [3, 5])
def test_contour_and_arrow_agree(d: int) -> None:
    rng = np.random.default_rng(d)
    parts = [gaussian(n, 0.5 * k * np.eye(d)[0] + 0.3, np.linspace(1, 1.5, d), rng)
             for k, n in enumerate((80, 150))]  # fmt: skip
    shares = np.array([80, 150]) / 230
    mean = np.array([x.mean(axis=0) for x in parts])
    scatter = np.array([np.cov(x.T, bias=True) for x in parts])
    h = sr.Harmonics(d, 2)
    means = np.array([h.features(x).mean(axis=0) for x in parts])
    fit = fit_fisher_bingham(mean[None], scatter[None], shares)
    arrow = SharedProblem(h.family(2), shares, d).solve(means[None], np.zeros((1, 2, h.q(2))))
    assert fit.deficit[0] == pytest.approx(float(arrow.deficit[0]), abs=1e-10)
    assert np.trace(fit.quadratic[0]) == pytest.approx(0.0, abs=1e-10)
