"""Quick refits of replicates against the verified fits, and the draws of replicates."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import ive
from scipy.stats import chi2, kstest

import steradian as sr
from oracles import Array
from steradian.adequacy.leftover import GriddedLeftover, PolarLeftover, UniformLeftover
from steradian.data.stacks import MomentStack
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherLaw
from steradian.families.refits import Refits
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.heights.bessel import von_mises_fisher
from steradian.numerics.heights.von_mises_fisher_sample import von_mises_fisher_draws
from steradian.spaces.quadratic import low_moments


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def replicates(d: int, level: int, degree: int) -> tuple[sr.results.Profile, MomentStack]:
    """A fit and forty weightings of its rows about it."""
    rng = np.random.default_rng(d + level)
    x = unit(rng.normal(size=(80, d)) + np.eye(d)[0])
    p = sr.profile(x, levels=level)
    w = rng.dirichlet(np.full(80, 3.0), 40)
    features = w @ sr.Harmonics(d, degree).features(x)
    mean, second = low_moments(d, features)
    return p, MomentStack(features, mean, second - mean[:, :, None] * mean[:, None, :])


@pytest.mark.parametrize(("d", "level"), [(2, 1), (2, 3), (3, 1), (3, 2), (3, 3)])
def test_quick_refits_are_the_verified_ones(d: int, level: int) -> None:
    p, stack = replicates(d, level, level + 3)
    left = GriddedLeftover.of(
        sr.Harmonics(d, level + 3), level, p.fits[level].lam, np.ones(level + 3)
    )
    quick = left.squares_of(stack, 1.0)
    seen = stack.features[:, : len(left.mean)]
    verified = left._squares(seen - left._verified(stack))
    np.testing.assert_allclose(quick, verified, rtol=1e-3)
    space = p.moments.hierarchy.space
    _, sure = Refits(space, level, p.fits[level].lam).expectations(  # type: ignore[arg-type]
        stack.features[:, : left.below], level + 3
    )
    assert sure.mean() > 0.8


def test_a_law_between_the_nodes_is_left_to_verified_fits() -> None:
    x = unit(np.random.default_rng(0).normal(size=(60, 3)) * 1e-3 + np.eye(3)[2])
    fit = sr.profile(x, levels=1).fits[1]
    found, sure = Refits(sr.Harmonics(3, 1).space, 1, fit.lam).expectations(  # type: ignore[arg-type]
        fit.moments[None], 4
    )
    assert not sure.any()
    assert np.isnan(found).all()


@pytest.mark.parametrize("d", [4, 7])
def test_residuals_of_samples_in_closed_form(d: int) -> None:
    """|ĉ - c|² of features that are formed, against matrices alone."""
    rng = np.random.default_rng(d)
    x = unit(rng.normal(size=(50, d)) + 0.7 * np.eye(d)[1])
    p = sr.profile(x, levels=1)
    left = PolarLeftover.of(sr.Harmonics(d, 2), p.fits[1].lam, 0.6)
    stack = sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(d, 2))
    want = left.excess(stack.up_to_level(2))
    got = left.squares_of(stack.stack(), 1.0)
    assert got[0] == pytest.approx(float(want @ want), rel=1e-10)
    flat = UniformLeftover.of(sr.Harmonics(d, 2), np.array([2.0, 0.6]))
    away = flat.excess(stack.up_to_level(2))
    assert flat.squares_of(stack.stack(), 1.0)[0] == pytest.approx(float(away @ away), rel=1e-10)


def test_sizes_of_what_is_left_over() -> None:
    """The mean of |ξ|² under the fit is the trace of its covariance, in any dimension."""
    draws = von_mises_fisher_draws(6, 5.0, 40_000, np.random.default_rng(2))
    lam = 5.0 / np.sqrt(6.0) * np.eye(6)[0]
    left = PolarLeftover.of(sr.Harmonics(6, 2), lam, 1.0)
    squares = left.sizes(draws) ** 2
    error = float(squares.std() / np.sqrt(len(squares)))
    assert abs(squares.mean() - left.coefficients.sum()) < 5.0 * error


@pytest.mark.parametrize(("d", "kappa"), [(3, 0.0), (3, 4.0), (5, 0.5), (10, 50.0), (40, 1e4)])
def test_draws_of_a_von_mises_fisher_law(d: int, kappa: float) -> None:
    x = von_mises_fisher_draws(d, kappa, 20_000, np.random.default_rng(d))
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-14)
    order = d / 2.0 - 1.0
    mean = ive(order + 1.0, kappa) / ive(order, kappa) if kappa else 0.0
    variance = 1.0 - (d - 1.0) * mean / kappa - mean**2 if kappa else 1.0 / d
    assert abs(x[:, 0].mean() - mean) < 5.0 * np.sqrt(variance / 20_000)
    assert x[:, 0].var() == pytest.approx(variance, rel=0.06)
    side = x[:, 1] / np.sqrt(np.maximum(1.0 - x[:, 0] ** 2, 1e-300))
    if d == 3:  # a coordinate of a uniform point of the circle
        assert kstest(np.arcsin(np.clip(side, -1.0, 1.0)) / np.pi + 0.5, "uniform").pvalue > 1e-4


def test_many_equal_coefficients() -> None:
    """χ² where all but a few are one, against a sum of independent draws and against χ²."""
    omega = np.concatenate([np.full(3000, 1.0), np.full(2, 0.5)])
    few = np.concatenate([np.full(60, 1.0), np.full(2, 0.5)])
    rng = np.random.default_rng(3)
    draws = rng.chisquare(3000, 100_000) + 0.5 * rng.chisquare(2, 100_000)
    for level in np.quantile(draws, [0.1, 0.5, 0.9, 0.99]):
        tail = float(mixture_sf([level], omega[None])[0])
        assert tail == pytest.approx(float(np.mean(draws > level)), abs=5.0 * 0.5 / np.sqrt(1e5))
    together = float(mixture_sf([90.0], np.concatenate([few, few])[None])[0])
    one = float(mixture_sf([90.0], (np.concatenate([few, few]) * (1.0 + 1e-15))[None])[0])
    assert together == pytest.approx(one, rel=1e-10)
    nearly = np.append(np.ones(200), 1.0 - 1e-9)
    assert float(mixture_sf([230.0], nearly[None])[0]) == pytest.approx(
        chi2.sf(230.0, 201), rel=1e-6
    )


@pytest.mark.parametrize("kappa", [2.0, 1e9, 1e25])
@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_draws_about_any_axis_keep_their_distance_from_it(kappa: float, sign: float) -> None:
    """E |x - μ|² / 2 = 1 - A(κ), to Monte Carlo error, where 1 - x·μ has no digit left."""
    mode = np.array([sign * 0.6, 0.0, -0.8, 0.0, 0.0])
    law = VonMisesFisherLaw(kappa * mode)
    x = law.sample(4000, np.random.default_rng(5))
    depth = 0.5 * ((x - mode) ** 2).sum(axis=1)
    error = float(depth.std() / np.sqrt(len(depth)))
    assert abs(depth.mean() - float(von_mises_fisher(5, kappa).defect) / kappa) < 4.0 * error
