"""MaxEntFit against quadrature and special functions of the tests' own."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import integrate, special

import steradian as sr
from steradian.fitting.solution import Status
from steradian.numerics.arrays import Array

CASES = [("turtles", k) for k in range(4)] + [("mcmurdo", k) for k in range(4)]
D = {"turtles": 2, "mcmurdo": 3}


@cache
def profile_of(name: str) -> sr.results.Profile:
    return sr.profile(sr.examples.load(name), levels=3)


@cache
def four_dimensional() -> sr.results.Profile:
    return sr.profile(four_dimensional_sample(), levels=2)


def four_dimensional_sample() -> Array:
    x = np.random.default_rng(0).standard_normal((60, 4)) + np.array([1.0, 0.5, 0.0, -1.0])
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@cache
def own_rule(d: int) -> tuple[Array, Array]:
    """Points and weights of the uniform law: midpoints, and Gauss-Legendre along the x axis."""
    around = (np.arange(401) + 0.25) * (2 * np.pi / 401)
    if d == 2:
        return np.stack([np.cos(around), np.sin(around)], axis=1), np.full(401, 1 / 401)
    t, w = np.polynomial.legendre.leggauss(110)
    s = np.sqrt(1 - t * t)
    along = np.repeat(t[:, None], 401, axis=1)
    x = np.stack([along, np.outer(s, np.sin(around)), np.outer(s, np.cos(around))], axis=2)
    x = x.reshape(-1, 3)
    return x / np.linalg.norm(x, axis=1, keepdims=True), np.repeat(w / 2, 401) / 401


def fit_of(name: str, level: int) -> sr.results.MaxEntFit:
    return profile_of(name).fits[level]


# --- density ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_density_integrates_to_one(name: str, level: int) -> None:
    x, w = own_rule(D[name])
    fit = fit_of(name, level)
    assert w @ fit.pdf(x) == pytest.approx(1.0, abs=1e-12)
    area = 2 * math.pi if D[name] == 2 else 4 * math.pi
    assert area * (w @ fit.pdf(x, measure="surface")) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("name", "level"), CASES)
def test_logpdf_is_the_log_of_pdf(name: str, level: int) -> None:
    x, _ = own_rule(D[name])
    fit = fit_of(name, level)
    for options in ({}, {"measure": "surface"}):
        log, p = fit.logpdf(x, **options), fit.pdf(x, **options)  # type: ignore[arg-type]
        assert log.shape == p.shape == (len(x),)
        np.testing.assert_allclose(np.exp(log), p, rtol=1e-15)


@pytest.mark.parametrize(
    ("name", "area"), [("turtles", 2 * math.pi), ("mcmurdo", 4 * math.pi), ("R4", 2 * math.pi**2)]
)
@pytest.mark.parametrize("level", [0, 1, 2])
def test_surface_measure_only_shifts(name: str, area: float, level: int) -> None:
    fit = (four_dimensional() if name == "R4" else profile_of(name)).fits[level]
    x = np.vstack([np.eye(fit.space.d), -np.eye(fit.space.d)])
    shift = fit.logpdf(x) - fit.logpdf(x, measure="surface")
    np.testing.assert_allclose(shift, math.log(area), rtol=1e-14)
    raised = fit.entropy(measure="surface") - fit.entropy()
    assert raised == pytest.approx(math.log(area), rel=1e-14)


@pytest.mark.parametrize(("name", "level"), CASES)
def test_the_density_is_the_exponential_family(name: str, level: int) -> None:
    x, _ = own_rule(D[name])
    fit = fit_of(name, level)
    phi = sr.Harmonics(D[name], max(level, 1)).features(x)[:, : len(fit.lam)]
    np.testing.assert_allclose(fit.logpdf(x), phi @ fit.lam - fit.psi, atol=1e-12)


def test_points_may_be_directions_lists_or_single_precision() -> None:
    fit = fit_of("mcmurdo", 2)
    x = own_rule(3)[0][::5000]
    assert np.array_equal(fit.logpdf(sr.Directions(x)), fit.logpdf(x))
    assert np.array_equal(fit.logpdf(x.tolist()), fit.logpdf(x))
    np.testing.assert_allclose(fit.logpdf(x.astype(np.float32)), fit.logpdf(x), atol=1e-4)


def test_the_log_density_of_a_narrow_law_stays_finite() -> None:
    angles = 1.0 + 1e-3 * np.arange(-3.0, 4.0)
    fit = sr.profile(sr.Directions.from_angles(angles), levels=1).fits[1]
    away = sr.Directions.from_angles([1.0 + np.pi])
    kappa = 1 / (4e-6)  # one over the variance of the angles, to first order
    assert fit.logpdf(away)[0] == pytest.approx(-2 * kappa, rel=1e-3)
    assert fit.pdf(away)[0] == 0.0


# --- entropy and mean ---------------------------------------------------------------------


@pytest.mark.parametrize(("name", "level"), CASES)
def test_entropy_is_minus_the_deficit_and_the_integral(name: str, level: int) -> None:
    x, w = own_rule(D[name])
    fit = fit_of(name, level)
    p = fit.pdf(x)
    assert fit.entropy() == -fit.deficit
    assert fit.entropy() == pytest.approx(-(w * p) @ np.log(p), abs=1e-11)


@pytest.mark.parametrize(("name", "level"), [c for c in CASES if c[1]])
def test_the_fit_has_the_mean_of_the_data(name: str, level: int) -> None:
    fit = fit_of(name, level)
    data = sr.examples.load(name).x.mean(axis=0)
    np.testing.assert_allclose(fit.mean(), data, atol=1e-14)
    x, w = own_rule(D[name])
    np.testing.assert_allclose((w * fit.pdf(x)) @ x, data, atol=1e-11)


@pytest.mark.parametrize(("name", "level"), [c for c in CASES if c[1]])
def test_the_fit_matches_every_moment(name: str, level: int) -> None:
    fit = fit_of(name, level)
    features = sr.Harmonics(D[name], level).features
    x, w = own_rule(D[name])
    sample = features(sr.examples.load(name).x).mean(axis=0)
    np.testing.assert_allclose(fit.moments, sample, atol=1e-14)
    np.testing.assert_allclose((w * fit.pdf(x)) @ features(x), sample, atol=1e-11)
    assert fit.residual < 1e-10
    assert fit.status is Status.CONVERGED


@pytest.mark.parametrize(("name", "level"), [c for c in CASES if c[1]])
def test_the_deficit_is_the_mean_log_density_of_the_data(name: str, level: int) -> None:
    fit = fit_of(name, level)
    assert fit.logpdf(sr.examples.load(name)).mean() == pytest.approx(fit.deficit, abs=1e-11)


@pytest.mark.parametrize("name", D)
def test_a_gap_is_the_divergence_between_neighbours(name: str) -> None:
    x, w = own_rule(D[name])
    profile = profile_of(name)
    for level in (1, 2, 3):
        p, log = profile.fits[level].pdf(x), profile.fits[level].logpdf(x)
        gap = (w * p) @ (log - profile.fits[level - 1].logpdf(x))
        assert profile.gaps[level - 1] == pytest.approx(gap, abs=1e-11)


def test_four_dimensions_by_one_dimensional_integrals() -> None:
    profile = four_dimensional()
    fit = profile.fits[1]
    axis = fit.mean() / np.linalg.norm(fit.mean())
    side = np.linalg.svd(axis[None])[2][-1]  # a unit vector across the axis

    def density(t: float) -> float:
        return float(fit.pdf([t * axis + math.sqrt(1 - t * t) * side])[0])

    def integral(f: Any) -> float:  # of a function of t = cos(angle to the axis) on S³
        value, _ = integrate.quad(lambda t: f(t) * math.sqrt(1 - t * t), -1, 1, epsabs=1e-12)
        return float(value) * 2 / math.pi

    assert integral(density) == pytest.approx(1.0, abs=1e-9)
    mean = integral(lambda t: t * density(t))
    assert mean == pytest.approx(profile.resultant, abs=1e-9)
    entropy = integral(lambda t: -density(t) * math.log(density(t)))
    assert fit.entropy() == pytest.approx(entropy, abs=1e-9)


def test_four_dimensions_at_level_two() -> None:
    sample, profile = four_dimensional_sample(), four_dimensional()
    t, along = np.polynomial.legendre.leggauss(24)
    a = (np.arange(40) + 0.5) * (2 * np.pi / 40)
    # on S³ the squared length of two coordinates is uniform, and so are the two angles
    u, p, q = (v.ravel() for v in np.meshgrid((t + 1) / 2, a, a, indexing="ij"))
    r, s = np.sqrt(u), np.sqrt(1 - u)
    x = np.stack([r * np.cos(p), r * np.sin(p), s * np.cos(q), s * np.sin(q)], axis=1)
    w = np.repeat(along / 2, 1600) / 1600
    fit = profile.fits[2]
    mass = w * fit.pdf(x)
    assert mass.sum() == pytest.approx(1.0, abs=1e-12)
    np.testing.assert_allclose(mass @ x, sample.mean(axis=0), atol=1e-11)
    np.testing.assert_allclose(fit.mean(), sample.mean(axis=0), atol=1e-14)
    np.testing.assert_allclose((x.T * mass) @ x, sample.T @ sample / 60, atol=1e-11)
    assert fit.entropy() == pytest.approx(-mass @ fit.logpdf(x), abs=1e-10)
    gap = mass @ (fit.logpdf(x) - profile.fits[1].logpdf(x))
    assert profile.gaps[1] == pytest.approx(gap, abs=1e-11)
    assert fit.logpdf(sample).mean() == pytest.approx(fit.deficit, abs=1e-12)
    assert len(fit.lam) == 13


# --- concentration ------------------------------------------------------------------------


@pytest.mark.parametrize("name", [*D, "R4"])
def test_kappa_of_level_one_solves_the_bessel_ratio(name: str) -> None:
    profile = four_dimensional() if name == "R4" else profile_of(name)
    order = profile.d / 2
    ratio = special.ive(order, profile.kappa) / special.ive(order - 1, profile.kappa)
    assert ratio == pytest.approx(profile.resultant, rel=1e-13)
    assert profile.kappa == profile.fits[1].kappa


@pytest.mark.parametrize("name", D)
@pytest.mark.parametrize("level", [1, 2])
def test_kappa_is_the_slope_of_the_odd_part(name: str, level: int) -> None:
    fit, axes = fit_of(name, level), np.eye(D[name])
    slope = 0.5 * (fit.logpdf(axes) - fit.logpdf(-axes))  # degree two is even
    assert fit.kappa == pytest.approx(np.linalg.norm(slope), rel=1e-13)


# --- the uniform law and refusals ---------------------------------------------------------


@pytest.mark.parametrize("name", [*D, "R4"])
def test_level_zero_is_uniform(name: str) -> None:
    fit = (four_dimensional() if name == "R4" else profile_of(name)).fits[0]
    x = np.eye(fit.space.d)
    assert fit.level == 0
    assert fit.lam.shape == fit.moments.shape == (0,)
    assert np.array_equal(fit.pdf(x), np.ones(len(x)))
    assert np.array_equal(fit.logpdf(x), np.zeros(len(x)))
    assert np.array_equal(fit.mean(), np.zeros(len(x)))
    assert (fit.kappa, fit.psi, fit.deficit, fit.entropy()) == (0.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize("level", [0, 1, 2])
@pytest.mark.parametrize("d", [2, 4])
def test_points_of_another_dimension(level: int, d: int) -> None:
    fit = fit_of("mcmurdo", level)
    for function in (fit.pdf, fit.logpdf):
        with pytest.raises(sr.InvalidDirections) as caught:
            function(np.eye(d))
        assert str(caught.value) == f"x has dimension {d}; this fit has 3"


def test_points_off_the_sphere() -> None:
    with pytest.raises(sr.InvalidDirections, match=r"row 1 has norm 2; pass normalize=True or fix"):
        fit_of("mcmurdo", 1).pdf([[1, 0, 0], [0, 2, 0]])
    with pytest.raises(sr.InvalidDirections, match=r"x has shape \(3,\); give \(n, d\)"):
        fit_of("mcmurdo", 1).pdf([1, 0, 0])


@pytest.mark.parametrize("level", [0, 1])
def test_an_unknown_measure(level: int) -> None:
    fit: Any = fit_of("turtles", level)
    words = "^measure is 'area'; choose 'uniform', 'surface' or 'reference'$"
    for function in (fit.pdf, fit.logpdf):
        with pytest.raises(ValueError, match=words):
            function(np.eye(2), measure="area")
    with pytest.raises(ValueError, match=words):
        fit.entropy(measure="area")
