"""P-values of units that brought their weights are no smaller than among resampled units."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.numerics.arrays import Array


def on_circle(angles: Array) -> Array:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def ratios(angles: Array, kappa: float) -> Array:
    """Of von Mises to uniform."""
    return np.asarray(np.exp(kappa * (np.cos(angles) - 1.0)))


def test_a_wide_proposal_does_not_reject_a_true_null_at_level_3() -> None:
    """Von Mises(20) by ratios from the uniform law, worth 77 of 600 rows: 27 % at 5 % before.

    Of 50 samples at most 9 may fall below .05: four standard errors above two and a half.
    """
    angles = np.random.default_rng(5).uniform(-np.pi, np.pi, (50, 600))
    x, w = on_circle(angles), ratios(angles, 20.0)
    plain = sr.sample_tests(x, weights=w, levels=3, design="importance").pvalue[:, 2]
    found = sr.sample_tests(x, weights=w, levels=3, design="importance", replicates=39)
    assert (plain <= 0.05).sum() > 9, "the sample shows what is to be mended"
    assert (found.pvalue[:, 2] <= 0.05).sum() <= 9
    assert (found.pvalue[:, 2] >= plain).all()


@pytest.mark.parametrize("clusters", [False, True])
def test_stacks_and_single_samples_agree(clusters: bool) -> None:
    angles = np.random.default_rng(6).uniform(-np.pi, np.pi, (4, 150))
    x, w = on_circle(angles), ratios(angles, 8.0)
    design = sr.designs.Clusters(np.arange(150) // 2) if clusters else sr.designs.Importance()
    stack = sr.sample_tests(x, weights=w, levels=2, design=design, replicates=39)
    for k in range(4):
        one = sr.profile(x[k], weights=w[k], levels=2, design=design).tests(replicates=39, seed=k)
        np.testing.assert_allclose(stack.pvalue[k], one.pvalue, rtol=1e-8)


def test_what_is_clear_stays_clear_and_says_how_it_was_found() -> None:
    angles = np.random.default_rng(7).vonmises(0.0, 1.0, 300)
    w = np.exp(np.cos(angles) + 0.9 * np.cos(2.0 * angles))
    found = sr.profile(on_circle(angles), weights=w, levels=2, design="importance").tests()
    assert found.pvalue[1] <= 0.002
    assert "calibrated on resampled units" in found.methods[1]
    assert "resampled" not in found.methods[0], "nothing is fitted below level 1"


def test_many_rows_need_no_second_look() -> None:
    angles = np.random.default_rng(8).vonmises(0.0, 1.0, 3000)
    w = np.exp(np.cos(angles) + 0.9 * np.cos(2.0 * angles))
    found = sr.profile(on_circle(angles), weights=w, levels=2, design="importance").tests()
    assert "resampled" not in found.methods[1]
    assert found.pvalue[1] < 1e-6


def test_strata_are_calibrated_as_one() -> None:
    """Ratios of von Mises(8) to uniform in four strata: 9 % at 5 %, 17 % at 10 % before.

    Of 60 samples at most 12 may fall below .1: 2.6 standard errors above six.
    """
    angles = np.random.default_rng(9).uniform(-np.pi, np.pi, (60, 600))
    x, w = on_circle(angles), ratios(angles, 8.0)
    design = sr.designs.Survey(psu=np.arange(600), strata=np.arange(600) % 4)
    plain = sr.sample_tests(x, weights=w, levels=3, design=design).pvalue[:, 2]
    found = sr.sample_tests(x, weights=w, levels=3, design=design, replicates=99).pvalue[:, 2]
    assert (found >= plain).all()
    assert (found > plain).any()
    assert (found <= 0.1).sum() <= 12


def test_few_ratio_weighted_clusters_do_not_judge_level_3() -> None:
    """Two hundred clusters of one row worth 40: .034 at 1 % where rows are not judged."""
    angles = np.random.default_rng(10).uniform(-np.pi, np.pi, 200)
    rows = sr.Directions(on_circle(angles), ratios(angles, 8.0))
    design = sr.designs.Clusters(np.arange(200))
    found = sr.profile(rows, levels=3, design=design).tests(replicates=19)
    assert any("level 3: cannot be judged: the weights are worth" in w for w in found.warnings)
    assert not any("level 2: cannot be judged" in w for w in found.warnings)
