"""Exact draws from Fisher-Bingham laws: moments, recovery of the parameters, acceptance."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw

DRAWS = 100_000


def law_of(d: int, kind: str) -> sr.FisherBingham:
    """Laws of moderate and of high concentration, with one mode, two, or a girdle."""
    rng = np.random.default_rng([d, len(kind)])
    axes = oracles.rotation(d, rng)
    b, lam = np.zeros(d), rng.standard_normal(d)
    b[0] = 1.0
    if kind == "moderate":
        b, lam = 0.7 * np.sqrt(d) * rng.standard_normal(d), 0.3 * d * lam
    elif kind == "concentrated":
        b, lam = 40.0 * d * b, 5.0 * d * lam
    elif kind == "bipolar":
        b, lam = 0.0 * b, 4.0 * d * np.eye(d)[1]
    elif kind == "girdle":
        b, lam = 0.5 * b, -10.0 * d * np.eye(d)[1]
    else:
        b, lam = np.sqrt(d) * b, -0.5 * d * np.arange(1.0, d + 1) ** 0.5
    matrix = (axes * lam) @ axes.T
    return sr.FisherBingham(axes @ b, 0.5 * (matrix + matrix.T))


KINDS = ("moderate", "concentrated", "bipolar", "girdle", "power law")


@cache
def sample_of(d: int, kind: str) -> tuple[sr.FisherBingham, Array]:
    law = law_of(d, kind)
    return law, law.sample(DRAWS, 12345)


QUICK = [(3, "moderate"), (3, "girdle"), (10, "moderate"), (10, "bipolar"), (100, "moderate")]
SLOW = [
    pytest.param(d, kind, marks=pytest.mark.slow)
    for d in (3, 10, 100)
    for kind in KINDS
    if (d, kind) not in QUICK
]
CASES = pytest.mark.parametrize(("d", "kind"), [*QUICK, *SLOW])


@CASES
def test_draws_have_unit_norm_and_the_moments_of_the_law(d: int, kind: str) -> None:
    law, x = sample_of(d, kind)
    assert x.shape == (DRAWS, d)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-14)
    mean, covariance = law.mean(), law.covariance()
    z = (x.mean(axis=0) - mean) / np.sqrt(np.diagonal(covariance) / DRAWS)
    assert np.abs(z).max() < 5.0
    y = x - mean
    spread = np.sqrt(((y * y).T @ (y * y) / DRAWS - covariance**2) / DRAWS)
    z = (y.T @ y / DRAWS - covariance) / spread
    assert np.abs(z).max() < 5.0


@CASES
def test_draws_have_the_mean_of_the_law_taken_together(d: int, kind: str) -> None:
    """n (x̄ - m)ᵀ S⁻¹ (x̄ - m) is chi-square with d degrees of freedom."""
    law, x = sample_of(d, kind)
    apart = x.mean(axis=0) - law.mean()
    statistic = DRAWS * apart @ np.linalg.solve(law.covariance(), apart)
    assert abs(statistic - d) < 5.0 * np.sqrt(2.0 * d)


@CASES
def test_a_profile_of_the_draws_recovers_the_parameters(d: int, kind: str) -> None:
    """n Δᵀ H Δ with H the Fisher information is chi-square, one degree per parameter."""
    law, x = sample_of(d, kind)
    fit = sr.profile(x, levels=2).fits[2]
    assert isinstance(fit, sr.FisherBingham)
    eta, B = fit.eta - law.eta, fit.B - law.B
    change = law.hessian_product(eta, 0.5 * (B + B.T))
    statistic = DRAWS * (eta @ change[0] + np.vdot(B, change[1]))
    q = d + d * (d + 1) // 2 - 1
    assert abs(statistic - q) < 5.0 * np.sqrt(2.0 * q) + 3.0 * q**2 / DRAWS


def test_two_modes_are_visited_in_proportion() -> None:
    """exp(2 x₁ + 8 x₁²) in R³: the share of x₁ > 0 from one integral of our own."""
    law = sr.FisherBingham([2.0, 0.0, 0.0], np.diag([8.0, 0.0, 0.0]))
    z, w = np.polynomial.legendre.leggauss(200)
    density = w * np.exp(2 * z + 8 * z * z)
    share = density[z > 0].sum() / density.sum()
    found = (law.sample(DRAWS, 3)[:, 0] > 0).mean()
    assert abs(found - share) < 5.0 * np.sqrt(share * (1 - share) / DRAWS)


@pytest.mark.parametrize("d", [2, 3, 20])
def test_the_sampled_heights_have_the_right_distribution(d: int) -> None:
    """Watson: P(|x₁| <= h) by integrating exp(κh²)(1-h²)^{(d-3)/2}, Kolmogorov-Smirnov."""
    kappa, n = 5.0, 20_000
    law = sr.FisherBingham(np.zeros(d), np.diag([kappa] + [0.0] * (d - 1)))
    angle = (np.arange(20_000) + 0.5) * (np.pi / 40_000)  # h = cos(angle)
    density = np.exp(kappa * np.cos(angle) ** 2) * np.sin(angle) ** (d - 2)
    below = np.cumsum(density[::-1]) / density.sum()
    heights = np.sort(np.abs(law.sample(n, 8)[:, 0]))
    expected = np.interp(heights, np.cos(angle[::-1]), below)
    distance = np.abs(expected - (np.arange(n) + 0.5) / n).max()
    assert distance < 1.95 / np.sqrt(n)  # exceeded once in a thousand


ORDINARY = [
    *[(d, kind) for d in (2, 3, 10, 100) for kind in KINDS],
    *[pytest.param(d, kind, marks=pytest.mark.slow) for d in (384, 1024) for kind in KINDS],
]


@pytest.mark.parametrize(("d", "kind"), ORDINARY)
def test_a_fair_share_of_proposals_is_kept(d: int, kind: str) -> None:
    """Measured for d = 2, 10, 100, 1024: moderate 0.90, 0.86, 0.59, 0.26; concentrated above
    0.97; girdle 0.64, 0.94, 1, 1; power law 0.88, 0.70, 0.27, 0.13; two poles 0.71, 0.32, 0.10
    and 0.03, falling as 1/√d: the envelope must cover the belt between them.
    """
    law = law_of(d, kind)
    _, rate = FisherBinghamLaw.of(law.eta, law.B).draws(2000, np.random.default_rng(0))
    assert rate > (0.5 / np.sqrt(d) if kind == "bipolar" else 0.05), rate


def test_seeds_reproduce_and_differ() -> None:
    law = law_of(10, "moderate")
    np.testing.assert_array_equal(law.sample(50, 7), law.sample(50, 7))
    np.testing.assert_array_equal(law.sample(50, 7), law.sample(50, np.random.default_rng(7)))
    assert not np.array_equal(law.sample(50, 7), law.sample(50, 8))


@pytest.mark.parametrize("n", [0, 1])
def test_few_draws(n: int) -> None:
    assert law_of(4, "moderate").sample(n, 0).shape == (n, 4)
