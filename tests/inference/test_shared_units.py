"""Units that have rows of several groups count once, with what they add to all of them."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr

Rng = np.random.Generator


def seasons(animals: int, rows: int, shift: float, rng: Rng) -> sr.results.Comparison:
    """Animals with directions of their own, each of them seen in both seasons."""
    own = rng.vonmises(0.0, 1.0, animals)
    angles = np.array([rng.vonmises(own + k * shift, 5.0, (rows, animals)) for k in range(2)])
    names = np.broadcast_to(np.array(["summer", "winter"])[:, None, None], angles.shape).ravel()
    ids = np.broadcast_to(np.arange(animals), angles.shape).ravel()
    x = sr.Directions.from_angles(angles.ravel())
    return sr.compare(x, by=names, design=sr.designs.Clusters(ids), levels=1)


def test_noise_is_what_animals_of_both_seasons_give_where_seasons_do_not_differ() -> None:
    rng = np.random.default_rng(90)
    found = [seasons(40, 10, 0.0, rng) for _ in range(40)]
    seen = np.mean([c.between[0] for c in found])
    noise = np.mean([c.noise[0] for c in found])
    assert 0.6 < seen / noise < 1.6  # 1 / 58 when seasons were taken for independent
    high = np.array([c.intervals().high[0] for c in found])
    assert np.mean(high == 0.0) < 0.2


def test_a_shift_of_all_animals_is_within_the_interval() -> None:
    rng = np.random.default_rng(91)
    truth = seasons(4_000, 10, 0.5, rng).between[0]
    found = [seasons(40, 10, 0.5, rng).intervals() for _ in range(20)]
    held = [one.low[0] <= truth <= one.high[0] for one in found]
    assert np.mean(held) >= 0.8


def test_the_joint_variance_is_that_of_the_sum_over_units() -> None:
    rng = np.random.default_rng(92)
    sample = seasons(30, 4, 0.3, rng).sample
    assert sample.has_shared_units
    q = sample.levels.means.shape[1]
    pooled = np.broadcast_to(np.eye(q), (2, q, q))
    rows, units = sample.known_rows, sample.units
    assert units.labels is not None
    phi = sample.hierarchy.features(rows.directions.x)
    each = np.zeros((units.count, q))
    for i, unit in enumerate(units.labels):
        each[unit] += units.weights[i] * (phi[i] - sample.levels.means[rows.labels[i]])
    expected = sum(c * np.outer(g, g) for c, g in zip(units.factors, each, strict=True))
    assert sample.variance_of_sum(pooled) == pytest.approx(expected, abs=1e-15)


def test_noise_that_nobody_knows_says_why() -> None:
    rng = np.random.default_rng(93)
    x = sr.Directions(rng.normal(size=(200, 30)), normalize=True)
    ids = np.arange(200) // 4
    design = sr.designs.Clusters(ids)
    c = sr.compare(x, by=np.tile(["a", "a", "b", "b"], 50), design=design, levels=2)
    assert not c.sample.forms
    assert np.isnan(c.noise).all()
    assert "noise level not known: units have rows of several groups" in " ".join(str(c).split())


def test_the_sum_reaches_as_high_as_each_of_its_parts() -> None:
    rng = np.random.default_rng(1)
    for _ in range(25):
        angles = rng.vonmises(0.0, 1.0, 40)
        c = sr.compare(sr.Directions.from_angles(angles), by=["a", "b"] * 20)
        found = c.intervals()
        assert found.total_high >= found.high.max()
