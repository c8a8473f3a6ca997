"""What a point tells about its label is said beside what labels that mean nothing give."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from comparison_groups import unit, vmf


def uniform(n: int, d: int, seed: int) -> sr.results.Comparison:
    """Two groups of uniform rows."""
    rng = np.random.default_rng(seed)
    return sr.compare(unit(rng.normal(size=(n, d))), by=np.arange(n) % 2)


@pytest.mark.parametrize(
    ("n", "d"), [(80, 2), (60, 3), pytest.param(60, 12, marks=pytest.mark.slow)]
)
def test_labels_that_mean_nothing_give_what_noise_is(n: int, d: int) -> None:
    known = [uniform(n, d, seed).label_information for seed in range(6)]
    value, noise = (np.array([getattr(k, name) for k in known]) for name in ("value", "noise"))
    assert abs(value.mean() - noise.mean()) < 4.0 * value.std() / np.sqrt(5.0)
    assert (noise <= known[0].entropy).all()  # where the first order is far above it
    assert uniform(n, d, 0).label_information == known[0]  # seeded


def test_a_number_that_noise_gives_is_not_printed_bare() -> None:
    c = uniform(60, 3, 3)
    said = " ".join(str(c).split())
    assert "nats about the group, not significant (0.067 expected from random labels)" in said
    assert f"{c.label_information.share:.0%}" not in said
    assert c.to_dict()["label_information"]["noise"] == c.label_information.noise


def test_what_is_told_stands_beside_noise() -> None:
    rng = np.random.default_rng(1)
    two = {name: vmf(100, np.array([t, 0.0, 1.0]), 8.0, rng) for name, t in (("a", 0), ("b", 1))}
    said = " ".join(str(sr.compare(two)).split())
    assert "of its entropy; 0.020 expected from random labels)" in said


def test_clusters_are_shuffled_whole_or_not_at_all() -> None:
    rng = np.random.default_rng(2)
    centres, ids = unit(rng.normal(size=(24, 3))), np.repeat(np.arange(24), 5)
    x = unit(centres[ids] + 0.2 * rng.normal(size=(120, 3)))
    alike = sr.designs.Clusters(ids)
    whole = sr.compare(x, by=ids % 2, design=alike).label_information
    rows = sr.compare(x, by=ids % 2, design="iid").label_information
    assert whole.noise > 2.0 * rows.noise
    mixed = sr.compare(x, by=np.arange(120) % 2, design=alike).label_information
    assert np.isnan(mixed.noise)


def test_without_a_design_nothing_tells() -> None:
    rng = np.random.default_rng(4)
    rows = sr.Directions(unit(rng.normal(size=(80, 3))), rng.random(80))
    c = sr.compare(rows, by=np.arange(80) % 2)
    assert np.isnan(c.label_information.noise)
    assert "part of which random labels would give too" in " ".join(str(c).split())
