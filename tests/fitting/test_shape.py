"""The word for a law, against the tops that a search of its density finds."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.numerics.arrays import Array


def random_law(d: int, seed: int) -> sr.FisherBingham:
    rng = np.random.default_rng(seed)
    square = rng.normal(size=(d, d))
    size, pull = 10.0 ** rng.uniform(-1.0, 1.5, 2)
    return sr.FisherBingham(pull * rng.normal(size=d), size * (square + square.T))


@pytest.mark.parametrize("d", [2, 3])
def test_two_poles_are_two_tops_above_uniform(d: int) -> None:
    words = []
    for seed in range(40):
        law = random_law(d, seed)
        tops = [mode for mode in law.modes() if mode.log_density > 0.0]
        words.append(law.shape)
        if law.shape != "girdle":
            assert law.shape == ("bipolar" if len(tops) > 1 else "unimodal"), seed
    assert {"unimodal", "bipolar"} <= set(words)
    assert ("girdle" in words) == (d == 3)


def test_no_girdle_on_the_circle() -> None:
    both = np.deg2rad([10.0, 12.0, 15.0, 190.0, 193.0, 196.0, 70.0, 250.0])
    assert sr.profile(sr.Directions.from_angles(both), levels=2).fits[2].shape == "bipolar"


def test_a_pole_below_uniform_is_none() -> None:
    """The other end of the axis has a top, at less than half the uniform density."""
    axis = np.array([2.0, -1.0, 2.0]) / 3.0
    along = 2.0 * np.outer(axis, axis)
    law = sr.FisherBingham(1.75 * axis, along)
    high, low = (mode.density for mode in law.modes())
    assert high > 5.0
    assert low < 0.5
    assert law.shape == "unimodal"
    assert sr.FisherBingham(0.5 * axis, along).shape == "bipolar"


@pytest.mark.parametrize("d", [4, 64])
def test_higher_dimensions(d: int) -> None:
    axis, pole = np.zeros((2, d))
    axis[0], pole[-1] = 1.0, 1.0
    along, across = np.diag(3.0 * d * axis), np.diag(-3.0 * d * pole)
    assert sr.FisherBingham(np.zeros(d), along).shape == "bipolar"
    assert sr.FisherBingham(4.0 * d * axis, along).shape == "unimodal"
    assert sr.FisherBingham(np.zeros(d), across).shape == "girdle"
    assert sr.FisherBingham(np.zeros(d), np.zeros((d, d))).shape == "uniform"


@pytest.mark.parametrize(
    ("scales", "word"), [((4.0, 1.0, 1.0), "bipolar"), ((4.0, 4.0, 1.0), "girdle")]
)
def test_axes_have_a_shape_at_level_one(scales: Array, word: str) -> None:
    x = np.random.default_rng(2).normal(size=(300, 3)) * scales
    p = sr.profile(sr.Directions(x, normalize=True, axial=True))
    assert (p.fits[0].shape, p.fits[1].shape) == ("uniform", word)
    with pytest.raises(sr.InvalidArgument, match=r"shape of level 2 on the axes of R\^3; ask a"):
        _ = p.fits[2].shape


def test_level_one_and_what_no_word_tells() -> None:
    x = sr.examples.load("mcmurdo")
    p = sr.profile(x, levels=3)
    assert (p.fits[1].shape, p.fits[2].shape) == ("unimodal", "bipolar")
    with pytest.raises(sr.InvalidArgument, match="no one word tells the shape of level 3"):
        _ = p.fits[3].shape
    other = sr.profile(x, levels=1, reference=sr.FisherBingham([0, 0, 1], np.zeros((3, 3))))
    with pytest.raises(sr.InvalidArgument, match="no one word tells the shape of level 1"):
        _ = other.fits[1].shape
