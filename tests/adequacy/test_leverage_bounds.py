"""That no few rows can decide is told without looking at all of them, and only where it is so."""

from __future__ import annotations

import numpy as np

import steradian as sr
from steradian.adequacy import calibration
from steradian.adequacy.leftover import GriddedLeftover, levels_through, sample_leftover

ROWS = 6_000


def leftover(profile: sr.results.Profile, level: int) -> GriddedLeftover:
    wide = levels_through(profile.moments.hierarchy, 6)
    assert wide is not None
    found = sample_leftover(profile.as_sample(), wide, level, np.ones(6)).by_rows
    assert found is not None
    return found


def cloud(seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal((0.0, 0.2, 1.0), (1.0, 1.4, 0.9), (ROWS, 3))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def test_no_leftover_is_longer_than_its_bound() -> None:
    x = cloud(1)
    profile = sr.profile(x, levels=2)
    anywhere = sr.Sphere().uniform(4000, np.random.default_rng(2))
    for level in (1, 2):
        left = leftover(profile, level)
        bound = left.longest
        assert left.sizes(np.concatenate([x, anywhere])).max() <= bound
        assert calibration._cannot_rest(profile.as_sample(), left)
        assert calibration.resting_on(profile.as_sample(), left) is None


def test_a_heavy_row_is_looked_at_and_named() -> None:
    weights = np.ones(ROWS)
    weights[123] = 400.0
    profile = sr.profile(cloud(3), weights=weights, levels=1, design="fixed")
    left = leftover(profile, 1)
    assert not calibration._cannot_rest(profile.as_sample(), left)
    found = calibration.resting_on(profile.as_sample(), left)
    assert found is not None
    assert [unit["name"] for unit in found.data["units"]] == [123]
