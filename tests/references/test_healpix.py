"""Maps: faces against ducc0's own pixels, integrals against the sphere's rules, draws by counts."""

from __future__ import annotations

import ducc0
import numpy as np
import pytest

import steradian as sr
from oracles_cut_rules import ROUNDING, smooth
from steradian.numerics.spheres.healpix_faces import face_points

SPHERE = sr.Sphere()


@pytest.mark.parametrize("nside", [1, 2, 3, 8])
def test_faces_are_those_of_ducc(nside: int) -> None:
    pixels = ducc0.healpix.Healpix_Base(nside, "RING")
    every = np.arange(12 * nside * nside)
    x, y, face = pixels.pix2xyf(every).T
    here = face_points(face, (x + 0.5) / nside, (y + 0.5) / nside)
    np.testing.assert_allclose(here, pixels.pix2vec(every), rtol=0.0, atol=1e-15 * 20)


@pytest.mark.parametrize(("values", "order"), [
    (np.ones(12), "ring"),
    (np.full(12 * 9, 3.0), "ring"),  # nside 3 is no power of two
    (np.ones(12 * 64 * 64), "nested"),
])  # fmt: skip
def test_a_map_of_ones_is_the_uniform_law(values: np.ndarray, order: str) -> None:
    rule, whole = sr.HealpixMap(values, order).on(SPHERE).rule(4), SPHERE.rule(6)
    found = rule.weights @ smooth(rule.points)
    assert found == pytest.approx(whole.weights @ smooth(whole.points), abs=ROUNDING)


def test_ring_and_nested_are_one_map() -> None:
    values = np.random.default_rng(0).random(12 * 16)
    pixels = ducc0.healpix.Healpix_Base(4, "NEST")
    nested = values[pixels.nest2ring(np.arange(len(values)))]
    one, two = sr.HealpixMap(values, "ring"), sr.HealpixMap(nested, "nested")
    x = SPHERE.uniform(200, np.random.default_rng(1))
    np.testing.assert_array_equal(one.at(x), two.at(x))
    rules = [each.on(SPHERE).rule(2) for each in (one, two)]
    first, second = (rule.weights @ smooth(rule.points) for rule in rules)
    assert first == pytest.approx(second, abs=ROUNDING)


def test_pixels_against_brute_force() -> None:
    """A rough map integrated pixel by pixel, against its values at many subpixels.

    Of subpixels of side h the midpoint rule misses h² / 24 of second derivatives of order ten.
    """
    values = np.random.default_rng(2).random(12 * 16)
    sky = sr.HealpixMap(values, "nested")
    fine = ducc0.healpix.Healpix_Base(128, "NEST")
    x = fine.pix2vec(np.arange(12 * 128 * 128))
    brute = (sky.at(x) @ smooth(x)) / sky.at(x).sum()
    rule = sky.on(SPHERE).rule(5)
    assert rule.weights @ smooth(rule.points) == pytest.approx(brute, abs=10.0 / 24.0 / 128**2 * 4)


def test_pixels_that_are_equal_are_joined() -> None:
    values = np.ones(12 * 64 * 64)
    values[: 64 * 64] = 0.0  # one face
    region = sr.HealpixMap(values, "nested").on(SPHERE)
    assert len(region.rule(0).weights) < 5_000  # and not some 50,000
    assert np.isneginf(region.logpdf(np.array([[1.0, 1.0, 1.0]]) / np.sqrt(3.0))[0])


def test_draws_fall_into_pixels_by_their_values() -> None:
    values = np.random.default_rng(3).random(48)
    sky, n = sr.HealpixMap(values, "ring"), 100_000
    x = sky.on(SPHERE).sample(n, np.random.default_rng(4))
    seen = np.bincount(ducc0.healpix.Healpix_Base(2, "RING").vec2pix(x), minlength=48)
    expected = n * values / values.sum()
    chi2 = ((seen - expected) ** 2 / expected).sum()
    assert 47 - 5 * np.sqrt(94) < chi2 < 47 + 5 * np.sqrt(94)


def test_unseen_pixels_are_zero_and_others_are_refused() -> None:
    values = np.ones(12)
    values[3] = -1.6375e30
    assert sr.HealpixMap(values, "ring").values[3] == 0.0
    for bad, words in ((-1.0, "pixel 3 of the map is -1"), (np.nan, "pixel 3 of the map is nan")):
        values[3] = bad
        with pytest.raises(sr.InvalidArgument, match=words):
            sr.HealpixMap(values, "ring")
    with pytest.raises(sr.InvalidArgument, match=r"12 nside² pixels"):
        sr.HealpixMap(np.ones(13), "ring")
    with pytest.raises(sr.InvalidArgument, match="choose 'ring' or 'nested'"):
        sr.HealpixMap(np.ones(12), "spiral")
    with pytest.raises(sr.InvalidArgument, match="all pixels of the map are zero"):
        sr.HealpixMap(np.zeros(12), "ring")
    with pytest.raises(sr.InvalidArgument, match="power of two"):
        sr.HealpixMap(np.ones(108), "nested")
    with pytest.raises(sr.InvalidArgument, match="the data are on the circle"):
        sr.HealpixMap(np.ones(12), "ring").on(sr.Circle())
