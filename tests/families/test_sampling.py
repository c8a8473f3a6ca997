"""Draws from the fits of every level on circle and sphere reproduce what was fitted."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array

DRAWS = 40_000
D = {"turtles": 2, "mcmurdo": 3}


def clusters(d: int, noise: float, seed: int) -> Array:
    """Three clusters of uneven size."""
    rng = np.random.default_rng(seed)
    centres = np.repeat(oracles.rotation(d, rng)[:, :2].T, [50, 90], axis=0)
    centres = np.vstack([centres, np.repeat(-centres[-1:], 60, axis=0)])
    x = centres + noise * rng.standard_normal(centres.shape)
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@cache
def fit_of(name: str, level: int) -> sr.results.MaxEntFit:
    if name in D:
        return sr.profile(sr.examples.load(name), levels=4).fits[level]
    d, noise = {"wide": (3, 0.5), "narrow": (3, 0.15), "arcs": (2, 0.3)}[name]
    return sr.profile(clusters(d, noise, 5), levels=4).fits[level]


NAMES = ("turtles", "mcmurdo", "wide", "narrow", "arcs")


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_draws_reproduce_the_feature_moments(name: str, level: int) -> None:
    fit = fit_of(name, level)
    d = fit.space.d
    x = fit.sample(DRAWS, 99)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-14)
    features = oracles.harmonics(x, max(level, 2)).astype(np.float64)
    q = oracles.size(d, level) if level else features.shape[1]
    expected = fit.moments if level else np.zeros(q)
    features = features[:, :q]
    apart = features.mean(axis=0) - expected
    assert (np.abs(apart) < 5.0 * features.std(axis=0) / np.sqrt(DRAWS)).all()
    covariance = np.cov(features.T)
    statistic = DRAWS * apart @ np.linalg.solve(covariance, apart)
    assert abs(statistic - q) < 5.0 * np.sqrt(2.0 * q)


@pytest.mark.parametrize("level", [3, 4])
@pytest.mark.parametrize("name", NAMES)
def test_draws_follow_the_density_cell_by_cell(name: str, level: int) -> None:
    """Counts around the first axis against the density integrated by a rule of our own."""
    fit = fit_of(name, level)
    rule = oracles.rule_for(fit.space.d, 128)
    points = np.asarray(rule.points, dtype=np.float64)
    mass = np.asarray(rule.weights, dtype=np.float64) * fit.pdf(points / _norm(points))
    assert mass.sum() == pytest.approx(1.0, abs=1e-10)
    x = fit.sample(DRAWS, 5)
    # smooth bumps all around the sphere instead of cells, which the rule would cut
    centres = clusters(fit.space.d, 5.0, 1)[:40]
    for centre in centres:
        expected = mass @ np.exp(10.0 * (points @ centre - 1.0))
        values = np.exp(10.0 * (x @ centre - 1.0))
        assert abs(values.mean() - expected) < 5.0 * values.std() / np.sqrt(DRAWS)


def _norm(x: Array) -> Array:
    return np.asarray(np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("name", ["turtles", "mcmurdo"])
def test_seeds_reproduce(name: str, level: int) -> None:
    fit = fit_of(name, level)
    first = fit.sample(30, 4)
    np.testing.assert_array_equal(first, fit.sample(30, 4))
    np.testing.assert_array_equal(first, fit.sample(30, np.random.default_rng(4)))
    assert not np.array_equal(first, fit.sample(30, 5))


@pytest.mark.parametrize("level", [0, 1, 2, 3, 4])
@pytest.mark.parametrize("name", ["turtles", "mcmurdo"])
def test_no_draws_are_an_empty_sample(name: str, level: int) -> None:
    assert fit_of(name, level).sample(0, 1).shape == (0, D[name])


@pytest.mark.parametrize("name", ["wide", "arcs"])
def test_refitting_the_draws_finds_the_law_again(name: str) -> None:
    """KL between the law and its refit is about q / 2n."""
    fit = fit_of(name, 4)
    x = fit.sample(DRAWS, 17)
    again = sr.profile(x, levels=4).fits[4]
    gain = float(np.mean(again.logpdf(x) - fit.logpdf(x)))
    q = oracles.size(fit.space.d, 4)
    assert 0.0 <= 2 * DRAWS * gain < q + 5.0 * np.sqrt(2.0 * q)


@pytest.mark.parametrize("d", [4, 30])
def test_level_one_draws_in_high_dimension(d: int) -> None:
    rng = np.random.default_rng(d)
    x = rng.standard_normal((300, d)) + 0.3
    fit = sr.profile(x / _norm(x), levels=1).fits[1]
    drawn = fit.sample(DRAWS, 6)
    apart = drawn.mean(axis=0) - fit.mean()
    assert (np.abs(apart) < 5.0 * drawn.std(axis=0) / np.sqrt(DRAWS)).all()
