"""Levels above the second in many dimensions: quasi-random nodes about the law of level 2.

The truth is a law that depends on one coordinate alone: its fit among all harmonics does so too, by
symmetry, and is a one-dimensional integral.
"""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.families.relative import nodes as relative_nodes
from steradian.families.relative.family import RelativeFamily, RuledFamily
from steradian.numerics.arrays import Array
from steradian.numerics.quasi_random import quasi_normal


def about_an_axis(d: int, lam: Array, axis: Array, n: int) -> tuple[sr.Moments, Array]:
    """Moments of a law of the height, seen through all harmonics, and its exact deficits."""
    levels = len(lam)
    hierarchy = sr.Harmonics(d, levels)
    heights = sr.Zonal(axis, levels)
    _, mean, _ = heights.family(levels).log_partition(lam[None])
    at_axis = hierarchy.features(heights.direction[None])[0]
    share = np.repeat(mean[0] / np.sqrt(hierarchy.dims), hierarchy.dims)  # p_l(1)² = dims
    truth = sr.profile(sr.Moments.from_expectations(heights, mean[0])).deficits
    return sr.Moments.from_expectations(hierarchy, share * at_axis, n=n), truth


def with_scrambling(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    monkeypatch.setattr(relative_nodes, "_SEED", seed)
    relative_nodes._relative_nodes.cache_clear()


def test_scramblings_are_independent_normal_numbers() -> None:
    z = quasi_normal(3, 8, 4, seed=1).reshape(4, 256, 3)
    assert np.abs(z.mean(axis=1)).max() < 0.01  # of independent draws: 1/16 each
    assert np.abs((z**2).mean(axis=1) - 1.0).max() < 0.05
    assert np.abs(z[0] - z[1]).max() > 0.5
    np.testing.assert_array_equal(quasi_normal(3, 8, 4, seed=1).reshape(4, 256, 3), z)


@pytest.mark.parametrize("third", [0.0, 1e-3, 0.1])
def test_errors_shrink_with_the_gap(third: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """A gap of nothing has no error; others a small share of themselves."""
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    with_scrambling(monkeypatch, 1)
    moments, truth = about_an_axis(6, np.array([0.8, 0.3, third]), np.arange(1.0, 7.0), 100)
    found = sr.profile(moments)
    np.testing.assert_allclose(found.deficits[:2], truth[:2], atol=1e-2 * third + 1e-9)
    error = abs(found.gaps[2] - (truth[2] - found.deficits[1]))
    stated = found.numerics.quadrature[2]
    assert error < stated + 1e-11
    assert stated < 0.2 * (truth[2] - found.deficits[1]) + 1e-9
    relative_nodes._relative_nodes.cache_clear()


def test_both_ways_agree_where_there_are_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    """In four dimensions the product rule is good to 1e-11."""
    monkeypatch.setattr(relative_nodes, "_MOST", 14)
    with_scrambling(monkeypatch, 4)
    z = np.random.default_rng(2).standard_normal((400, 4))
    z[:, 0] += 0.3 * z[:, 1] ** 2
    rows = sr.Directions(z, normalize=True)
    hierarchy = sr.Harmonics(4, 3)
    seen = sr.Moments.from_directions(rows, hierarchy).stack()
    start = np.zeros((1, hierarchy.q(3)))
    exact = RuledFamily(hierarchy, 3).solve(seen, start)
    rough = RelativeFamily(hierarchy, 3).solve(seen, start)
    assert exact.quadrature[0] < 1e-10 < rough.quadrature[0] < 1e-3
    assert abs(exact.deficit[0] - rough.deficit[0]) < rough.quadrature[0]
    np.testing.assert_allclose(rough.lam, exact.lam, atol=0.02)
    relative_nodes._relative_nodes.cache_clear()
    for value, other in zip(
        RelativeFamily(hierarchy, 3).log_partition(exact.lam),
        RuledFamily(hierarchy, 3).log_partition(exact.lam),
        strict=True,
    ):
        np.testing.assert_allclose(value, other, atol=0.02)


def test_draws_have_the_moments(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    with_scrambling(monkeypatch, 2)
    lam = np.zeros(76)
    lam[:40] = 0.1 * np.random.default_rng(0).standard_normal(40)
    family = sr.Harmonics(6, 3).family(3)
    x = family.sample(lam, 4000, np.random.default_rng(1))
    _, mean, covariance = family.log_partition(lam[None])
    away = sr.Harmonics(6, 3).features(x).mean(axis=0) - mean[0]
    chi2 = 4000.0 * away @ np.linalg.solve(covariance[0], away)
    assert 76.0 - 6.0 * 12.4 < chi2 < 76.0 + 6.0 * 12.4 + 4000.0 * 76.0 / 8192.0
    relative_nodes._relative_nodes.cache_clear()


def test_derivatives_are_those_of_what_is_computed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes stand still while parameters move a little, so that differences are no noise."""
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    with_scrambling(monkeypatch, 5)
    family = sr.Sketch(6, 3, 3, seed=1).family(3)
    rng = np.random.default_rng(3)
    lam, along = 0.1 * rng.standard_normal((2, family.q))
    up, down = (family.log_partition((lam + 1e-4 * s * along)[None]) for s in (1.0, -1.0))
    _, mean, covariance = family.log_partition(lam[None])
    np.testing.assert_allclose((up[0] - down[0]) / 2e-4, mean @ along, atol=1e-7)
    np.testing.assert_allclose((up[1] - down[1])[0] / 2e-4, covariance[0] @ along, atol=1e-6)
    relative_nodes._relative_nodes.cache_clear()


def test_the_uniform_law_needs_no_nodes() -> None:
    family = sr.Harmonics(6, 3).family(3)
    psi, mean, covariance = family.log_partition(np.zeros((1, family.q)))
    assert psi[0] == 0.0
    assert not mean.any()
    np.testing.assert_array_equal(covariance[0], np.eye(family.q))


def test_a_fit_has_the_moments_on_its_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    with_scrambling(monkeypatch, 6)
    z = np.random.default_rng(4).standard_normal((400, 6))
    z[:, 0] += 0.3 * z[:, 1] ** 2
    hierarchy = sr.Sketch(6, 3, 3, seed=1)
    seen = sr.Moments.from_directions(sr.Directions(z, normalize=True), hierarchy).stack()
    family = hierarchy.family(3)
    found = family.solve(seen, np.zeros((1, family.q)))
    psi, mean, _ = family.log_partition(found.lam)
    m = hierarchy.expectations(seen, 3)
    assert np.abs(mean - m).max() < 1e-6
    of_psi, (stated,) = family.stated_errors(found.lam)
    assert abs((found.lam @ m[0] - psi - found.deficit)[0]) < found.quadrature[0] + of_psi[0]
    truth = family.sample(found.lam[0], 100_000, np.random.default_rng(5))
    phi = hierarchy.features(truth)
    off = np.abs(phi.mean(axis=0) - m[0])
    assert (off < 2.0 * stated + 5.0 * phi.std(axis=0) / np.sqrt(1e5)).all()
    assert 0.0 < stated.max() < 0.05
    relative_nodes._relative_nodes.cache_clear()


def test_what_noise_would_hide_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    with_scrambling(monkeypatch, 3)
    moments, _ = about_an_axis(6, np.array([1.0, 0.3, 0.2]), np.ones(6), 10**6)
    with pytest.raises(sr.ResolutionError, match=r"above the .* that noise gives with 1000000"):
        sr.profile(moments, levels=3)
    stopped = sr.profile(moments)
    assert len(stopped.levels) == 2
    assert "integration error" in str(stopped.stopped)
    relative_nodes._relative_nodes.cache_clear()


@pytest.mark.slow
def test_stated_errors_cover_the_truth_in_ten_dimensions(monkeypatch: pytest.MonkeyPatch) -> None:
    """At least nine in ten of fifty laws, each with its own scrambling, as of 10⁵ rows."""
    covered, ratios = 0, []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        with_scrambling(monkeypatch, 1000 + seed)
        lam = np.array([rng.uniform(0.0, 1.5), rng.uniform(-0.4, 0.4), rng.uniform(-0.12, 0.12)])
        moments, truth = about_an_axis(10, lam, rng.standard_normal(10), 10**5)
        found = sr.profile(moments)
        error = abs(found.deficits[2] - truth[2])
        covered += bool(error <= found.numerics.quadrature[2])
        ratios.append(error / found.numerics.quadrature[2])
        print(seed, lam.round(3), f"{found.gaps[2]:.2e} {error:.1e}", round(ratios[-1], 2))
    relative_nodes._relative_nodes.cache_clear()
    print(covered, "of 50; median error over stated", np.median(ratios))
    assert covered >= 45
