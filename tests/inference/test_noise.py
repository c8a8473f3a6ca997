"""What noise alone gives: against simulation, and said or left out as the design allows."""

from __future__ import annotations

import json

import numpy as np
import pytest

import steradian as sr
from steradian.families.quadratics.fisher_bingham import determinant_noise
from steradian.numerics.arrays import Array


def noise_rows(n: int, d: int, rng: np.random.Generator) -> sr.Directions:
    return sr.Directions(rng.normal(size=(n, d)), normalize=True)


def test_independent_rows_of_few_features() -> None:
    p = sr.profile(sr.examples.load("mcmurdo"), levels=3)
    np.testing.assert_allclose(p.noise, np.array([3, 5, 7]) / (2 * 133))
    np.testing.assert_allclose(p.debiased, p.gaps - p.noise)


def test_fixed_weights_count_as_their_effective_size() -> None:
    x, w = sr.examples.load("mcmurdo").x, np.linspace(1.0, 5.0, 133)
    p = sr.profile(x, weights=w, levels=2, design="fixed")
    np.testing.assert_allclose(p.noise, np.array([3, 5]) / (2 * p.ess))


@pytest.mark.parametrize("design", ["importance", sr.designs.Clusters(np.arange(133) // 4)])
def test_other_designs_have_the_bias_of_the_gap(design: sr.designs.Design | str) -> None:
    x, w = sr.examples.load("mcmurdo").x, np.linspace(1.0, 5.0, 133)
    p = sr.profile(x, weights=w, levels=2, design=design)
    np.testing.assert_allclose(p.debiased, p.intervals().debiased)
    assert "noise" in p.summary()


def test_the_fall_of_a_determinant_against_draws() -> None:
    """Of covariances of 4 and of 7 coordinates from 20 rows; five standard errors."""
    rng = np.random.default_rng(0)

    def fall(k: int) -> Array:
        y = rng.normal(size=(4000, 20, k))
        y -= y.mean(axis=1, keepdims=True)
        return -0.5 * np.linalg.slogdet(np.swapaxes(y, 1, 2) @ y / 20.0)[1]

    drawn = fall(4) + fall(7)
    error = 5.0 * drawn.std() / np.sqrt(len(drawn))
    assert determinant_noise(20.0, [4, 7]) == pytest.approx(drawn.mean(), abs=error)
    assert np.isnan(determinant_noise(7.0, [4, 7]))


def test_many_quadratics_run_ahead_of_their_number() -> None:
    """d = 40, n = 100: eight samples without structure; first order would give 4.1."""
    rng = np.random.default_rng(1)
    profiles = [sr.profile(noise_rows(100, 40, rng), levels=2) for _ in range(8)]
    gaps = np.array([p.gaps[1] for p in profiles])
    expected = profiles[0].noise[1]
    assert abs(gaps.mean() - expected) < 0.05 * expected
    assert expected > 1.15 * profiles[0].dims[1] / 200.0
    assert profiles[0].trust().data.reasons[0].data["noise"] == expected


def test_blocks_of_coordinates() -> None:
    """Six samples of 60 rows without structure in blocks of 10: within a tenth."""
    rng = np.random.default_rng(2)
    hierarchy = sr.Quadratics(20, [range(20), [0] * 10 + [1] * 10, [0] * 20])
    profiles = [sr.profile(noise_rows(60, 20, rng), hierarchy=hierarchy) for _ in range(6)]
    deficits = np.mean([p.deficits for p in profiles], axis=0)
    np.testing.assert_allclose(np.cumsum(profiles[0].noise)[1:], deficits[1:], rtol=0.1)


def test_descriptive_weights_have_none_and_say_why() -> None:
    p = sr.profile(sr.examples.load("mcmurdo").x, weights=np.arange(1.0, 134.0), levels=2)
    assert np.isnan(p.noise).all()
    table, rest = p.summary().split("\n\n")[1:3]
    assert "noise" not in table
    assert "noise and p-values need design=" in rest
    record = json.loads(json.dumps(p.to_dict()))
    assert record["noise"] == record["debiased"] == [None, None]
    assert p.to_frame()["noise"].isna().all()


def test_shrunk_data_have_none() -> None:
    p = sr.profile(sr.examples.load("mcmurdo"), levels=2, shrinkage=0.1)
    assert np.isnan(p.noise).all()
    assert "noise" not in p.summary().split("\n\n")[1]


def test_sums_alone_are_enough() -> None:
    p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    np.testing.assert_allclose(sr.profile(p.moments, design="iid").noise, p.noise)


@pytest.mark.slow
@pytest.mark.parametrize(("n", "d"), [(50, 5), (60, 20), (300, 100)])
def test_against_more_samples(n: int, d: int) -> None:
    rng = np.random.default_rng([n, d])
    gaps = np.array([sr.profile(noise_rows(n, d, rng), levels=2).gaps for _ in range(60)])
    expected = sr.profile(noise_rows(n, d, rng), levels=2).noise
    error = 4.0 * gaps.std(axis=0) / np.sqrt(60)
    assert (np.abs(gaps.mean(axis=0) - expected) < error + 0.05 * expected).all()
