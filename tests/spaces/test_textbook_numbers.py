"""Textbook numbers, against what they are meant to do and against other people's code."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import circstd

import steradian as sr
from steradian.spaces.base import classical_values
from steradian.spaces.classical import Classical, circular_spread, fisher, woodcock


def values(space: sr.Space, x: np.ndarray) -> dict[str, Classical]:
    found = classical_values(space, len(x), x.mean(axis=0), x.T @ x / len(x))
    return {one.name: one for one in found}


def test_circular_standard_deviation_is_that_of_scipy() -> None:
    theta = np.random.default_rng(0).vonmises(2.0, 1.5, 60)
    x = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    (found,) = circular_spread(x.mean(axis=0))
    assert found.value == pytest.approx(np.degrees(circstd(theta)), rel=1e-12)
    assert found.unit == "°"
    assert values(sr.Circle(), x)["circular standard deviation"] == found


@pytest.mark.parametrize("d", [2, 3, 6])
def test_rayleigh_and_bingham_are_the_score_tests_of_two_levels(d: int) -> None:
    """Those go through orthonormal harmonics, these through E x and E xxᵀ."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=(80, d)) + 0.3
    p = sr.profile(sr.Directions(x, normalize=True), levels=2)
    scores = p.uniformity()
    found = values(p.moments.hierarchy.space, p.directions.x if p.directions else x)
    for k, name in enumerate(("Rayleigh", "Bingham")):
        assert found[name].value == pytest.approx(scores.classical[k], rel=1e-10)
        assert found[name].pvalue == pytest.approx(scores.classical_pvalue[k], rel=1e-8)


def test_the_cone_holds_the_true_mean_nineteen_times_of_twenty() -> None:
    """κ = 30, n = 15; binomial error of 600 samples at 95 %: 0.009, four of them."""
    rng = np.random.default_rng(2)
    law = sr.FisherBingham([0.0, 0.0, 30.0], np.zeros((3, 3)))
    draws = law.sample(600 * 15, rng).reshape(600, 15, 3)
    inside, inverse = [], []
    for x in draws:
        khat, cone = fisher(15, x.mean(axis=0))
        mean = x.mean(axis=0)
        away = np.degrees(np.arccos(mean[2] / np.linalg.norm(mean)))
        inside.append(away < cone.value)
        inverse.append(1.0 / khat.value)
    assert np.mean(inside) == pytest.approx(0.95, abs=0.036)
    # 1/k̂ is unbiased for 1/κ where κ is large, with a spread of 1/√(n - 1) of it
    assert np.mean(inverse) * 30.0 == pytest.approx(1.0, abs=4.0 / np.sqrt(600 * 14) + 0.02)


def test_there_is_no_cone_about_no_mean() -> None:
    assert fisher(4, np.zeros(3)) == ()
    assert [one.name for one in fisher(4, np.array([0.0, 0.0, 0.1]))] == ["Fisher's k̂"]
    assert circular_spread(np.zeros(2)) == ()
    assert classical_values(sr.Sphere(), 3, np.full(3, np.nan), np.eye(3)) == ()


def test_fabrics_are_clusters_or_girdles() -> None:
    rng = np.random.default_rng(3)
    cluster = sr.Directions(rng.normal(size=(200, 3)) * [1, 1, 5.0], normalize=True, axial=True)
    girdle = sr.Directions(rng.normal(size=(200, 3)) * [5, 5, 1.0], normalize=True, axial=True)
    shapes = [values(sr.Axes(3), rows.x)["Woodcock's K"].value for rows in (cluster, girdle)]
    assert shapes[0] > 1.0 > shapes[1]
    assert sum(one.value for one in woodcock(np.diag([0.6, 0.3, 0.1]))[:3]) == pytest.approx(1.0)
    assert [one.name for one in woodcock(np.eye(3) / 3.0)] == ["S₁", "S₂", "S₃"]


def test_every_angle_of_a_torus_has_its_own() -> None:
    rng = np.random.default_rng(4)
    angles = rng.vonmises([0.0, 1.0], [2.0, 0.5], (100, 2))
    found = classical_values(sr.Torus(2), 100, sr.Torus(2).points(angles).mean(axis=0), np.eye(4))
    spreads = [one.value for one in found if one.unit]
    assert spreads == pytest.approx([np.degrees(circstd(angles[:, k])) for k in (0, 1)])


def test_a_space_without_textbooks_has_none() -> None:
    assert classical_values(sr.Rotations(), 5, np.zeros(4), np.eye(4) / 4.0) == ()
