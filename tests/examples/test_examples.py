"""The bundled data sets against what is published about them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

import steradian as sr
from steradian.examples import CATALOGUE, Example
from steradian.numerics.arrays import Array

SIZES = {"mcmurdo": (133, 3), "turtles": (76, 2), "laths": (60, 2)}


def test_the_catalogue() -> None:
    assert set(CATALOGUE) == set(SIZES)
    assert all(name == example.name for name, example in CATALOGUE.items())


@pytest.mark.parametrize("name", SIZES)
def test_size_space_and_weights(name: str) -> None:
    directions = sr.examples.load(name)
    assert (directions.n, directions.d) == SIZES[name]
    assert not directions.weighted
    np.testing.assert_allclose(np.linalg.norm(directions.x, axis=1), 1.0, rtol=4e-16)
    assert np.array_equal(CATALOGUE[name].directions().x, directions.x)


def test_the_mcmurdo_resultant() -> None:
    x = sr.examples.load("mcmurdo").x
    assert np.linalg.norm(x.mean(axis=0)) == pytest.approx(0.2097464, abs=5e-8)


def test_mcmurdo_is_in_north_east_down_coordinates() -> None:
    x = sr.examples.load("mcmurdo").x
    declination, inclination = np.deg2rad([258.6, 78.6])  # site mc01, reversed: down
    flat = np.cos(inclination)
    first = [flat * np.cos(declination), flat * np.sin(declination), np.sin(inclination)]
    np.testing.assert_allclose(x[0], first, atol=1e-15)
    assert [(x[:, 2] < 0).sum(), (x[:, 2] > 0).sum()] == [79, 54]  # normal is up here


@pytest.mark.parametrize(("multiple", "length"), [(1, 0.4970921011), (2, 0.4809705190)])
def test_the_turtles_resultants(multiple: int, length: float) -> None:
    x = sr.examples.load("turtles").x
    z = (x[:, 0] + 1j * x[:, 1]) ** multiple
    assert abs(z.mean()) == pytest.approx(length, abs=5e-11)


def test_the_turtles_are_whole_degrees() -> None:
    x = sr.examples.load("turtles").x
    degrees = np.rad2deg(np.arctan2(x[:, 1], x[:, 0]))
    np.testing.assert_allclose(degrees, np.round(degrees), atol=1e-12)


def lath_angles() -> Array:
    x = sr.examples.load("laths").x
    return np.asarray(np.rad2deg(np.arctan2(x[:, 1], x[:, 0])))


def test_the_laths_are_axes_of_whole_degrees() -> None:
    assert sr.examples.load("laths").space == sr.Axes(2)
    degrees = lath_angles()
    np.testing.assert_allclose(degrees, np.round(degrees), atol=1e-12)
    assert (degrees.min().round(), degrees.max().round(), degrees.sum().round()) == (1, 176, 4839)


def test_laths_raw_doubled_and_axial() -> None:
    """Doubled angles and axes are the same; the mean of raw angles is made by their range."""
    degrees = lath_angles()
    axial = sr.profile(sr.examples.load("laths"), levels=2)
    doubled = sr.profile(sr.Directions.from_angles(2 * degrees, degrees=True), levels=2)
    np.testing.assert_allclose(axial.gaps, doubled.gaps, atol=1e-12)
    np.testing.assert_allclose(axial.tests().pvalue, doubled.tests().pvalue, atol=1e-9)
    np.testing.assert_allclose(axial.gaps, [0.0570, 0.0124], atol=5e-5)
    rayleigh = np.exp(-60 * abs(np.exp(2j * np.deg2rad(degrees)).mean()) ** 2)
    assert axial.tests().pvalue[0] == pytest.approx(rayleigh, abs=2e-3)
    raw = sr.profile(sr.Directions.from_angles(degrees, degrees=True), levels=2)
    assert raw.tests().pvalue[0] < 1e-6
    signs = np.random.default_rng(0).choice([0.0, 180.0], 60)
    turned = sr.profile(sr.Directions.from_angles(degrees + signs, degrees=True), levels=2)
    assert turned.tests().pvalue[0] > 0.5


@pytest.mark.parametrize("name", SIZES)
def test_each_has_a_title_a_story_and_a_source(name: str) -> None:
    example = CATALOGUE[name]
    assert example.title.startswith(f"{SIZES[name][0]} ")
    assert "level 2" in example.story
    assert example.story.endswith(".")
    assert any(year in example.source for year in ("(2009)", "(1969)", "(1988)"))


def test_the_story_holds_for_both() -> None:
    poles = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    assert poles.gaps[1] > 10 * poles.gaps[0]
    groups = sr.profile(sr.examples.load("turtles"), levels=2)
    assert groups.gaps[1] > 0.5 * groups.gaps[0] > 0.1


@pytest.mark.parametrize("name", ["", "Turtles", "nope", "../data/turtles"])
def test_an_unknown_name_lists_the_known_ones(name: str) -> None:
    with pytest.raises(sr.InvalidArgument) as caught:
        sr.examples.load(name)
    assert caught.value.args == (f"no example {name!r}; there are mcmurdo, turtles, laths",)


def test_nobody_can_change_the_catalogue() -> None:
    with pytest.raises(TypeError, match="does not support item assignment"):
        CATALOGUE["mine"] = Example("mine", "", "", "")  # type: ignore[index]
    with pytest.raises(dataclasses.FrozenInstanceError, match="title"):
        CATALOGUE["turtles"].title = "none"  # type: ignore[misc]
