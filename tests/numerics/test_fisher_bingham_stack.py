"""Stacks of Fisher-Bingham laws against laws one at a time."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.fisher_bingham.fit import Curvature, fit_fisher_bingham
from steradian.numerics.fisher_bingham.integral import fisher_bingham
from steradian.numerics.fisher_bingham.stack import fit_stack
from steradian.numerics.fisher_bingham.white_steps import Digits, WhiteCurvature, newton_steps


def moments(d: int, length: float, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of this length and covariances with eigenvalues of this spread, some rows of them."""
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal((12, d))
    mean *= length / np.linalg.norm(mean, axis=1, keepdims=True)
    values = np.exp(spread * rng.uniform(-1.0, 1.0, (12, d)))
    values *= (1.0 - length**2) / values.sum(axis=1, keepdims=True)
    axes = np.linalg.qr(rng.standard_normal((12, d, d)))[0]
    return mean, (axes * values[:, None, :]) @ axes.swapaxes(1, 2)


@pytest.mark.parametrize("d", [3, 7, 8, 24])
@pytest.mark.parametrize(
    ("length", "spread"), [(0.0, 0.0), (1e-3, 0.5), (0.3, 0.0), (0.4, 1.0), (0.7, 0.3)]
)
def test_rows_are_those_of_single_fits(d: int, length: float, spread: float) -> None:
    """Equal eigenvalues and means of no length too."""
    mean, scatter = moments(d, length, spread, d)
    fit = fit_stack(mean, *np.linalg.eigh(scatter))
    assert fit.settled.any()
    for row in np.flatnonzero(fit.settled):
        one = fit_fisher_bingham(mean[row], scatter[row])
        scale = 1.0 + np.abs(one.quadratic).max() + np.abs(one.eta).max()
        assert abs(fit.deficit[row] - one.deficit) <= 1e-11 * (1.0 + one.deficit)
        assert abs(fit.deficit[row] - one.deficit) <= fit.error[row] + 1e-13 * scale
        np.testing.assert_allclose(fit.quadratic[row], one.quadratic, atol=1e-5 * scale)
        np.testing.assert_allclose(fit.eta[row], one.eta, atol=1e-5 * scale)


def law(d: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return -rng.gamma(2.0, 0.5 * d, (1, d)), rng.standard_normal((1, d)) * np.sqrt(d)


@pytest.mark.parametrize("d", [3, 10, 31])
def test_white_products_are_those_of_the_curvature(d: int) -> None:
    terms = fisher_bingham(*law(d, d))
    plain, white = Curvature.at(terms), WhiteCurvature.of(terms, Digits(1, 0.0))
    rng = np.random.default_rng(d)
    g, q = rng.standard_normal((1, d)), rng.standard_normal((1, d, d))
    step = g, q + q.swapaxes(1, 2)
    linear, quadratic = white.step(step)
    change, second = plain.product((linear[0], quadratic[0]))
    found = white.project(white.product(step))
    expected = white.white((change[None], second[None]))
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12 * np.abs(expected[0]).max())
    np.testing.assert_allclose(found[1], expected[1], atol=1e-12 * np.abs(expected[1]).max())


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_steps_solve_for_the_gradient(kind: type) -> None:
    d = 12
    terms = fisher_bingham(*law(d, 5))
    curvature = WhiteCurvature.of(terms, Digits(1, 0.0, kind))
    rng = np.random.default_rng(1)
    second = 1e-3 * rng.standard_normal((1, d, d))
    wanted = curvature.project((1e-3 * rng.standard_normal((1, d)).astype(kind),
                                (second + second.swapaxes(1, 2)).astype(kind)))  # fmt: skip
    given = wanted[0].copy(), wanted[1].copy()
    step, size = newton_steps(curvature, given, 0.0)
    reached = curvature.project(curvature.product(step))
    left = np.sqrt(sum(((a - b) ** 2).sum() for a, b in zip(wanted, reached, strict=True)))
    assert left <= 2e-3 * size[0]
    np.testing.assert_allclose(given[1], wanted[1] - reached[1], atol=2e-6 * size[0])
