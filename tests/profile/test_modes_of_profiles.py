"""`Profile.modes`: the right number of modes in mixtures, their rows, and what chance makes."""

from __future__ import annotations

import json

import numpy as np
import pytest

import steradian as sr
from steradian.numerics.arrays import Array

SPHERE = [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [-1.0, -1.0, -1.0]]
CIRCLE = [[1.0, 0.0], [-0.8, 0.6], [-0.5, -0.87]]


def mixture(centres: list[list[float]], sizes: list[int], kappa: float, seed: int) -> Array:
    rng = np.random.default_rng(seed)
    parts = []
    for centre, size in zip(centres, sizes, strict=True):
        c = np.array(centre) / np.linalg.norm(centre)
        parts.append(sr.FisherBingham(kappa * c, np.zeros((len(c), len(c)))).sample(size, rng))
    return np.concatenate(parts)


@pytest.mark.parametrize(
    ("centres", "sizes", "kappa"),
    [
        (SPHERE[:1], [80], 8.0),
        (SPHERE[:2], [78, 52], 20.0),
        (SPHERE[:2], [170, 30], 20.0),
        (SPHERE[:3], [120, 90, 90], 30.0),
        (SPHERE, [150, 150, 100, 100], 30.0),
        (CIRCLE[:1], [60], 3.0),
        (CIRCLE[:2], [50, 50], 8.0),
    ],
)
def test_mixtures_have_their_modes_and_rows(
    centres: list[list[float]], sizes: list[int], kappa: float
) -> None:
    x = mixture(centres, sizes, kappa, 1)
    found = sr.profile(x, levels=4).modes(draws=9)
    assert len(found) == len(sizes)
    assert sum(one.mass for one in found) == pytest.approx(1.0, abs=0.01)
    assert found.assigned is not None
    truth = np.repeat(np.arange(len(sizes)), sizes)
    for one, k in zip(found, (np.argmax(np.array(centres) @ m.point) for m in found), strict=True):
        own = found.assigned == list(found).index(one)
        assert one.rows == own.sum()
        assert np.mean(truth[own] == k) > 0.9  # groups overlap little at these concentrations
    places = np.array([one.point for one in found])
    heights = sr.profile(x, levels=4).fits[found.level].pdf(places)
    np.testing.assert_allclose([one.density for one in found], heights, rtol=1e-8)


def test_masses_are_those_of_a_fine_grid() -> None:
    """On the circle a basin is an arc between two minima of the density."""
    x = mixture(CIRCLE[:2], [70, 30], 6.0, 3)
    p = sr.profile(x, levels=3)
    found = p.modes(2, draws=0)
    theta = (np.arange(40_000) + 0.5) * 2.0 * np.pi / 40_000
    density = p.fits[2].pdf(np.column_stack([np.cos(theta), np.sin(theta)]))
    low = np.flatnonzero((density < np.roll(density, 1)) & (density <= np.roll(density, -1)))
    arcs = np.add.reduceat(np.roll(density, -low[0]), low - low[0]) / density.sum()
    # one node more or less at either end of an arc, where the density is below a tenth
    node = 0.1 / len(p.fits[2].rule[1])
    np.testing.assert_allclose(
        [one.mass for one in found], np.sort(arcs)[::-1], atol=2.0 * node + 0.01
    )


def test_chance_has_no_modes_beyond_the_level_of_a_test() -> None:
    rng = np.random.default_rng(5)
    some = sum(len(sr.profile(sr.Sphere().uniform(60, rng)).modes(draws=0)) > 0 for _ in range(30))
    assert some <= 5  # of 30 at 5 %: six or more have probability .003


def test_a_number_of_modes_that_chance_makes_is_not_sure() -> None:
    x = mixture(SPHERE[:2], [30, 20], 8.0, 2)
    found = sr.profile(x, levels=6).modes(6, draws=19)
    assert not found.sure
    assert 0.0 <= found.same < 0.8
    assert found.level == 6


def test_two_opposite_groups_in_words_and_as_data() -> None:
    p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    found = p.modes(draws=5)
    assert [one.rows for one in found] == [80, 53]
    assert set(found[0].coordinates) == {"declination", "inclination"}
    assert "2 modes" in str(found)
    back = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    assert [one["rows"] for one in back["modes"]] == [80, 53]
    frame = found.to_frame()
    assert frame["rows"].tolist() == [80, 53]
    assert p.modes(draws=5) is found


def test_axes_are_one_mode_with_both_ends() -> None:
    x = mixture([[0.0, 0.0, 1.0]], [80], 20.0, 7) * np.where(np.arange(80) % 2, 1.0, -1.0)[:, None]
    p = sr.profile(sr.Directions(x, space=sr.Axes(3)), hierarchy=sr.Axial(3, 1))
    found = p.modes(1, draws=3)
    assert len(found) == 1
    assert found[0].rows == 80
    assert abs(found[0].point[2]) > 0.95


def test_what_cannot_be_answered_says_so() -> None:
    x = mixture(SPHERE[:1], [30], 5.0, 1)
    with pytest.raises(sr.InvalidArgument, match="level=2"):
        sr.profile(x, weights=np.arange(1.0, 31.0)).modes()
    p = sr.profile(x, levels=2)
    with pytest.raises(sr.InvalidArgument, match="level is 3; this profile has levels 1 to 2"):
        p.modes(3)
    with pytest.raises(sr.InvalidArgument, match="draws"):
        p.modes(draws=-1)
    with pytest.raises(sr.InvalidArgument, match="modes are found on"):
        sr.profile(sr.Hypersphere(5).uniform(40, np.random.default_rng(0))).modes(1)
    assert "no level is significant" in str(sr.profile(sr.examples.load("laths")).modes())
