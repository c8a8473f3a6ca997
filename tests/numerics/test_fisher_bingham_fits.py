"""Stacks of Fisher-Bingham fits: rows, masks and groups, products and steps."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.fisher_bingham.curvature import Curvature
from steradian.numerics.fisher_bingham.fit import FisherBinghamFits, fit_fisher_bingham
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.newton_steps import inner, truncated_steps
from steradian.numerics.fisher_bingham.partition import Partition

ONE = np.ones(1)


def moments(d: int, length: float, spread: float, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Means of this length and covariances with eigenvalues of this spread, some rows of them."""
    rng = np.random.default_rng(seed)
    mean = rng.standard_normal((12, d))
    mean *= length / np.linalg.norm(mean, axis=1, keepdims=True)
    values = np.exp(spread * rng.uniform(-1.0, 1.0, (12, d)))
    values *= (1.0 - length**2) / values.sum(axis=1, keepdims=True)
    axes = np.linalg.qr(rng.standard_normal((12, d, d)))[0]
    return mean, (axes * values[:, None, :]) @ axes.swapaxes(1, 2)


def assert_same(fits: FisherBinghamFits, row: int, one: FisherBinghamFits) -> None:
    assert fits.decrement[row] <= 1e-10
    assert one.decrement[0] <= 1e-10
    scale = 1.0 + np.abs(one.quadratic).max() + np.abs(one.eta).max()
    assert abs(fits.deficit[row] - one.deficit[0]) <= 1e-12 * (1.0 + one.deficit[0])
    np.testing.assert_allclose(fits.psi[row], one.psi[0], rtol=0, atol=1e-9 * scale)
    np.testing.assert_allclose(fits.quadratic[row], one.quadratic[0], atol=1e-7 * scale)
    np.testing.assert_allclose(fits.eta[row], one.eta[0], atol=1e-7 * scale)


@pytest.mark.parametrize("d", [2, 3, 7, 24])
@pytest.mark.parametrize(
    ("length", "spread"), [(0.0, 0.0), (1e-3, 0.5), (0.3, 0.0), (0.4, 1.0), (0.7, 0.3)]
)
def test_rows_are_those_of_single_fits(d: int, length: float, spread: float) -> None:
    """Equal eigenvalues and means of no length too."""
    mean, scatter = moments(d, length, spread, d)
    fits = fit_fisher_bingham(mean[:, None], scatter[:, None])
    for row in range(12):
        assert_same(fits, row, fit_fisher_bingham(mean[row, None, None], scatter[row, None, None]))


@pytest.mark.parametrize("labels", [(0, 1, 2, 3, 4, 5), (0, 1, 0, 2, 2, 1), (0, 0, 0, 0, 0, 1)])
def test_masked_fits_have_what_is_not_masked(labels: tuple[int, ...]) -> None:
    """And B is masked likewise; rows of a stack are those of single fits."""
    mean, scatter = moments(6, 0.4, 0.8, 1)
    partition = Partition.of(labels)
    fits = fit_fisher_bingham(mean[:, None], scatter[:, None], partition=partition)
    np.testing.assert_array_equal(fits.quadratic, partition.masked(fits.quadratic))
    for row in range(12):
        one = mean[row, None, None], scatter[row, None, None]
        assert_same(fits, row, fit_fisher_bingham(*one, partition=partition))
        law = fisher_bingham(fits.beta[row][None], fits.b[row])
        covariance = fits.axes[row] @ law.covariance()[0] @ fits.axes[row].T
        np.testing.assert_allclose(fits.axes[row] @ law.mean[0], mean[row], atol=1e-11)
        apart = partition.masked(covariance - scatter[row])
        np.testing.assert_allclose(apart, 0.0, atol=1e-11)


def laws(d: int, groups: int, seed: int) -> FisherBinghamTerms:
    rng = np.random.default_rng(seed)
    beta = np.repeat(-rng.gamma(2.0, 0.5 * d, (1, d)), groups, axis=0)
    return fisher_bingham(beta, rng.standard_normal((groups, d)) * np.sqrt(d))


@pytest.mark.parametrize("groups", [1, 3])
@pytest.mark.parametrize("d", [3, 10])
def test_products_are_differences_of_moments(d: int, groups: int) -> None:
    """Of means and covariances of laws whose parameters move, by central differences."""
    terms, rng = laws(d, groups, d), np.random.default_rng(d)
    shares = np.arange(1.0, groups + 1.0) / np.arange(1.0, groups + 1.0).sum()
    g, q = rng.standard_normal((1, groups, d)), rng.standard_normal((1, d, d))
    q = q + q.swapaxes(1, 2)
    change, second = Curvature.of(terms, shares, Partition.whole(d)).product((g, q))
    step, ends = 1e-5, []
    for sign in (1.0, -1.0):
        beta, turn = np.linalg.eigh(np.diag(terms.beta[0]) + sign * step * q[0])
        eta = terms.b + sign * step * (g[0] - 2.0 * terms.mean @ q[0])
        moved = fisher_bingham(np.repeat(beta[None], groups, axis=0), eta @ turn)
        miss = moved.mean @ turn.T - terms.mean
        about = turn @ moved.covariance() @ turn.T + miss[:, :, None] * miss[:, None, :]
        ends.append((shares[:, None] * miss, np.tensordot(shares, about, 1)))
    for found, up, down in zip((change[0], second[0]), *ends, strict=True):
        expected = (up - down) / (2.0 * step)
        np.testing.assert_allclose(found, expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_steps_solve_for_the_gradient(kind: type, groups: int) -> None:
    d, rng = 12, np.random.default_rng(1)
    shares = np.full(groups, 1.0 / groups)
    curvature = Curvature.of(laws(d, groups, 5), shares, Partition.whole(d), kind)
    second = 1e-3 * rng.standard_normal((1, d, d))
    gradient = 1e-3 * rng.standard_normal((1, groups, d)), second + second.swapaxes(1, 2)
    wanted = curvature.project((gradient[0].astype(kind), gradient[1].astype(kind)))
    found = truncated_steps(curvature, gradient, np.array([10.0]), np.array([1.0]))
    reached = curvature.project(curvature.product(found.step))
    left = wanted[0] - reached[0], wanted[1] - reached[1]
    size, rest = (np.sqrt(inner(r, curvature.precondition(r))) for r in (wanted, left))
    assert rest <= 0.11 * size
    np.testing.assert_allclose(found.left[1], left[1], atol=2e-6 * np.abs(wanted[1]).max())
    short = truncated_steps(curvature, gradient, 0.1 * size, np.array([1.0]))
    assert short.at_edge[0]
