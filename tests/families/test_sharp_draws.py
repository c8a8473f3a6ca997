"""Draws from laws of any sharpness: they end, they are kept often enough, and they are right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

import oracles
import steradian as sr
from oracles import Array
from steradian.families.grids.polynomial_sample import PolynomialLaw
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.spaces import Circle, Sphere

DRAWS = 20_000


def diagonal(kind: str, d: int) -> tuple[Array, Array]:
    """η and the eigenvalues of B in the eigenbasis."""
    first, even = np.eye(d)[0], np.ones(d) / np.sqrt(d)
    tight = 1e-3
    laws = {
        "uniform": (0.0 * first, 0.0 * first),
        "von Mises-Fisher": (1e5 * even, 0.0 * first),
        "nearly a point": (1e12 * even, 0.0 * first),
        "girdle": (0.0 * first, -1e9 * first),
        "thin small circle": (1e9 * first, -1e9 * first),
        "two poles": (0.0 * first, 1e9 * first),
        "uneven poles": (0.5 * first, 1e9 * first),
        "tiny ring": ((2.0 - tight**2 * d) / tight**4 * first, -first / tight**4),
        "blunt peak": ((2.0 + tight**2 * d) / tight**4 * first, -first / tight**4),
    }
    if kind == "needle":  # stiff in one direction, less in another, soft in the rest
        p = np.array([1e12, 1e6, *[100.0] * (d - 2)])
        return 2.0 * p * even, -p
    return laws[kind]


KINDS = (
    *("uniform", "von Mises-Fisher", "nearly a point", "girdle", "thin small circle", "two poles"),
    *("uneven poles", "tiny ring", "blunt peak", "needle"),
)


def law_of(kind: str, d: int) -> FisherBinghamLaw:
    b, beta = diagonal(kind, d)
    return FisherBinghamLaw.of(b, np.diag(beta))


@pytest.mark.parametrize("d", [2, 3, 4, 10])
@pytest.mark.parametrize("kind", KINDS)
def test_draws_of_sharp_laws_have_their_moments(kind: str, d: int) -> None:
    law = law_of(kind, d)
    x, rate = law.draws(DRAWS, np.random.default_rng(5))
    assert x.shape == (DRAWS, d)
    assert rate > (0.6 if d <= 3 else 0.2)  # measured: 0.70 to 0.85, and 0.26 to 0.98
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-14)
    mean, covariance = law.mean(), np.diagonal(law.covariance())
    y = x - mean
    rounding = 4e-16  # of the coordinates themselves
    z = np.abs(y.mean(axis=0)) / (np.sqrt(covariance / DRAWS) + rounding)
    assert z.max() < 5.0
    squares = y * y
    allowed = 5.0 * squares.std(axis=0) / np.sqrt(DRAWS) + rounding * np.sqrt(covariance)
    assert (np.abs(squares.mean(axis=0) - covariance) < allowed + rounding**2).all()


@pytest.mark.parametrize("kappa", [10.0, 1e5, 1e9, 1e12])
@pytest.mark.parametrize("turned", [False, True])
def test_depths_about_the_mean_are_exponential_on_the_sphere(kappa: float, turned: bool) -> None:
    """κ (1 - μ·x) is exponential, truncated at 2κ."""
    axis = oracles.rotation(3, np.random.default_rng(1))[0] if turned else np.eye(3)[2]
    for law in (
        sr.FisherBingham(kappa * axis, np.zeros((3, 3))),
        sr.profile(nearly(axis, kappa), levels=1).fits[1],
    ):
        x = law.sample(DRAWS, 3)
        mode = law.mean() / np.linalg.norm(law.mean())
        depth = 0.5 * law.kappa * ((x - mode) ** 2).sum(axis=1)
        assert stats.kstest(depth, stats.expon.cdf).pvalue > 1e-4


def nearly(axis: Array, kappa: float) -> Array:
    rng = np.random.default_rng(2)
    x = axis + rng.standard_normal((500, 3)) / np.sqrt(kappa)
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def test_twenty_draws_of_a_fit_of_concentration_a_hundred_thousand() -> None:
    rng = np.random.default_rng(0)
    x = np.eye(3)[0] + rng.standard_normal((829, 3)) / np.sqrt(1e5)
    fit = sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True), levels=2).fits[2]
    assert fit.sample(20, 0).shape == (20, 3)


def test_a_very_thin_girdle() -> None:
    x = sr.FisherBingham([0, 0, 0], np.diag([-1e9, 0, 0])).sample(DRAWS, 0)
    assert stats.kstest(np.sqrt(2e9) * x[:, 0], stats.norm.cdf).pvalue > 1e-4
    turn = np.arctan2(x[:, 2], x[:, 1]) / (2.0 * np.pi) + 0.5
    assert stats.kstest(turn, stats.uniform.cdf).pvalue > 1e-4


def test_what_cannot_be_drawn_is_refused_in_words() -> None:
    """A hundred scales between stiff and soft, the mode at an angle to all of them."""
    d = 100
    p = np.geomspace(1e12, 10.0, d)
    law = sr.FisherBingham(2.0 * p / np.sqrt(d), np.diag(-p))
    with pytest.raises(sr.ResolutionError, match="keeps too few of the proposals of its sampler"):
        law.sample(1000, 0)


# --- levels above 2 -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("d", "level", "spread"), [(2, 3, 0.1), (2, 3, 0.03), (2, 4, 0.1), (3, 3, 0.1), (3, 4, 0.1)]
)
def test_draws_of_concentrated_fits_have_their_features(d: int, level: int, spread: float) -> None:
    rng = np.random.default_rng([d, level])
    x = np.eye(d)[-1] + spread * rng.standard_normal((800, d))
    fit = sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True), levels=level).fits[level]
    drawn = fit.sample(DRAWS, 11)
    features = oracles.harmonics(drawn, level).astype(np.float64)
    apart = features.mean(axis=0) - fit.moments
    assert (np.abs(apart) < 5.0 * features.std(axis=0) / np.sqrt(DRAWS) + 1e-12).all()
    # and where the data are: distances from their centre, by the law's own rule
    height = 0.5 * ((drawn - np.eye(d)[-1]) ** 2).sum(axis=1)
    seen = 0.5 * ((x / np.linalg.norm(x, axis=1, keepdims=True) - np.eye(d)[-1]) ** 2).sum(axis=1)
    pooled = np.sqrt(height.var() / DRAWS)
    assert abs(height.mean() - seen.mean()) < 5.0 * pooled


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("level", [3, 4, 7])
@pytest.mark.parametrize("space", [Circle(), Sphere()])
def test_any_polynomial_ends(space: Circle | Sphere, level: int, size: float) -> None:
    """Random coefficients of any size: draws lie where the density is largest."""
    rng = np.random.default_rng(level)
    lam = size * rng.standard_normal(space.size(level) - 1)
    law = PolynomialLaw(space, level, lam, 0.0)
    x = law.sample(2000, np.random.default_rng(0))
    grid = space.exact_grid(400).points
    # a maximum between the nodes is higher by at most half the largest curvature times distance²
    missed = 0.5 * level**2 * float(np.ptp(law.logpdf(grid))) * (2.0 * np.pi / 400.0) ** 2
    lack = law.logpdf(grid).max() - law.logpdf(x)
    assert lack.min() > -missed - 1e-9 * size
    if size > 1.0:  # a sharp peak: the exponent lacks half a chi-square of d - 1 degrees
        assert lack.mean() < 0.5 * (space.d - 1) + 0.5
        assert len(np.unique(x[:, 0])) > 1900


def test_a_polynomial_beyond_the_boxes_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steradian.families.grids.polynomial_sample._MOST_BOXES", 1200)
    lam = 1e9 * np.random.default_rng(0).standard_normal(15)
    with pytest.raises(sr.ResolutionError, match=r"level 3 is too sharp to draw from: 1200 boxes"):
        PolynomialLaw(Sphere(), 3, lam, 0.0).sample(3, np.random.default_rng(0))


# --- counts and seeds ---------------------------------------------------------------------


@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_what_is_no_count_or_seed(level: int) -> None:
    fit = sr.profile(sr.examples.load("mcmurdo"), levels=3).fits[level]
    for n, words in (
        (2.5, "n is 2.5; give a whole number"),
        (True, "n is True; give a whole number"),
        ("a", "n is 'a'; give a whole number"),
        (-1, "n is -1; give 0 or more"),
        (10**15, "1000000000000000 draws of 3 coordinates are 3e+15 numbers, more than"),
    ):
        with pytest.raises(sr.InvalidArgument) as caught:
            fit.sample(n, 0)  # type: ignore[arg-type]
        assert str(caught.value).startswith(words)
    for rng in ("a", None, -1, 0.5, [1]):
        with pytest.raises(sr.InvalidArgument, match="give a numpy Generator or a seed like 0"):
            fit.sample(1, rng)  # type: ignore[arg-type]
