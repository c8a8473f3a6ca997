"""Supports too poor for a level: the right level is refused, in words, and the rest is kept."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array
from steradian.errors import LevelError


@dataclass(frozen=True)
class Support:
    """Points, the first level without a fit, and how the message describes them."""

    points: Array
    level: int
    words: str  # regular expression
    deficits: tuple[float, ...] = ()  # of the levels below for equal weights, where known


def circle_at(height: float, n: int = 17) -> Array:
    """A parallel of the sphere with uneven longitudes, the date line among them."""
    angle = np.pi + np.cumsum(np.linspace(0.0, 0.7, n))
    radius = np.sqrt(1.0 - height**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, height)], axis=1)


def polygon(k: int) -> Array:
    angle = 2.0 * np.pi * np.arange(k) / k
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3)
OCTAHEDRON = np.vstack([np.eye(3), -np.eye(3)])
SOUTH = np.array([[0.0, 0.0, -1.0]])

SUPPORTS = {
    "one point on the circle": Support(polygon(1), 1, "one point"),
    "one point on the sphere": Support(SOUTH, 1, "one point"),
    "one point in R^5": Support(np.eye(5)[:1], 1, "one point"),
    "two poles": Support(np.vstack([SOUTH, -SOUTH]), 2, "two points.*antipodal", (0.0,)),
    "great circle": Support(circle_at(0.0), 2, "great circle with pole"),
    "great circle through the poles": Support(circle_at(0.0)[:, [2, 0, 1]], 2, "great circle"),
    "small circle": Support(circle_at(0.6), 2, r"small circle of radius 53\.13° about"),
    "tiny circle": Support(circle_at(0.999), 2, r"small circle of radius 2\.56.° about"),
    "three points": Support(np.eye(3), 2, r"small circle of radius 54\.74°"),
    "circle and a point": Support(np.vstack([circle_at(0.6), SOUTH]), 3, "single point.*circle"),
    "tetrahedron": Support(TETRAHEDRON, 3, "single point.*circle", (0.0, 0.0)),
    "octahedron": Support(OCTAHEDRON, 4, "only 6 distinct points", (0.0, 0.0, 0.0)),
} | {
    f"{k}-gon": Support(polygon(k), k, f"{k} distinct points.*{k + 1}", (0.0,) * (k - 1))
    for k in range(2, 8)
}
CASES = pytest.mark.parametrize("support", SUPPORTS.values(), ids=SUPPORTS.keys())


def refused(x: Array, support: Support, weights: Array | None = None) -> sr.BoundaryError:
    """The error of asking for one level too many and of asking for more still."""
    for extra in (1, 0):
        levels = 1 if x.shape[1] > 3 else support.level + extra
        with pytest.raises(sr.BoundaryError, match=support.words) as caught:
            sr.profile(x, weights=weights, levels=levels)
        assert caught.value.level == support.level
        assert_told(caught.value)
    return caught.value


def assert_told(error: LevelError) -> None:
    """What, where and the remedy."""
    text = str(error)
    assert text.startswith(f"level {error.level} does not exist: no density has these moments")
    sound = f"ask for fewer levels (levels={error.level - 1} is sound)"
    assert (sound if error.level > 1 else "give at least two different directions") in text
    mixed = "or mix in a little of the uniform law (shrinkage=0.01)"
    assert text.endswith(mixed + ", which nothing tests against noise")
    assert error.cause in text
    assert error.remedy in text


def assert_kept(error: LevelError, x: Array, weights: Array | None = None) -> None:
    """The profile below the refused level is there, and is that of the oracle."""
    below = error.level - 1
    if below == 0:
        assert error.profile is None
        return
    assert error.profile is not None
    assert error.profile.levels.tolist() == list(range(1, error.level))
    assert len(error.profile.fits) == error.level
    rule = oracles.circle_rule() if x.shape[1] == 2 else oracles.sphere_rule(96)
    expected = oracles.deficits(rule, oracles.sample_moments(x, below, weights), below)
    np.testing.assert_allclose(error.profile.deficits, expected, atol=1e-10)


@CASES
def test_refused_at_exactly_that_level(support: Support) -> None:
    error = refused(support.points, support)
    if support.deficits:
        assert error.profile is not None
        np.testing.assert_allclose(error.profile.deficits, support.deficits, atol=1e-13)
    if support.points.shape[1] <= 3:
        assert_kept(error, support.points)


@CASES
@pytest.mark.parametrize("seed", range(3))
def test_refused_when_rotated(support: Support, seed: int) -> None:
    turn = oracles.rotation(support.points.shape[1], np.random.default_rng(seed))
    error = refused(support.points @ turn.T, support)
    if support.deficits:
        assert error.profile is not None
        np.testing.assert_allclose(error.profile.deficits, support.deficits, atol=1e-13)


@CASES
@pytest.mark.parametrize("seed", range(3))
def test_refused_when_weighted_and_repeated(support: Support, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d = support.points.shape
    turned = support.points @ oracles.rotation(d, rng).T
    rows = rng.permutation(np.repeat(np.arange(n), rng.integers(1, 4, n)))
    x, w = turned[rows], rng.uniform(0.2, 3.0, len(rows))
    error = refused(x, support, w)
    if d <= 3 and support.level <= 4:
        assert_kept(error, x, w)


@CASES
def test_rows_without_weight_do_not_help(support: Support) -> None:
    n, d = support.points.shape
    other = oracles.rotation(d, np.random.default_rng(9))
    x = np.vstack([support.points, other, -other])
    refused(x, support, np.concatenate([np.ones(n), np.zeros(2 * d)]))


@CASES
def test_by_default_the_levels_below_come_back(support: Support) -> None:
    x = support.points
    if support.level == 1:
        with pytest.raises(sr.BoundaryError, match="level 1 does not exist"):
            sr.profile(x)
        return
    found = sr.profile(x)
    if support.level > 4:
        assert (len(found.levels), found.stopped) == (4, None)
        return
    assert found.levels[-1] == support.level - 1
    assert found.stopped is not None
    assert found.stopped.level == support.level
    assert found.stopped.data["error"] == "BoundaryError"
    asked = sr.profile(x, levels=support.level - 1)
    assert asked.stopped is None
    np.testing.assert_allclose(found.deficits, asked.deficits, atol=1e-12)


STOPPED = {name: one for name, one in SUPPORTS.items() if 1 < one.level <= 4}
LONG = "tiny circle", "circle and a point"  # whose residuals are bootstrapped for the print


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n in LONG else []) for n in STOPPED]
)
def test_print_says_where_it_stopped(name: str) -> None:
    assert "Stopped: level" in str(sr.profile(STOPPED[name].points))


@CASES
def test_a_hierarchy_is_as_explicit_as_levels(support: Support) -> None:
    d = support.points.shape[1]
    hierarchy = sr.Harmonics(d, support.level if d <= 3 else 1)
    with pytest.raises(sr.BoundaryError, match=support.words) as caught:
        sr.profile(support.points, hierarchy=hierarchy)
    assert caught.value.level == support.level


@pytest.mark.slow
@CASES
def test_moments_alone_are_refused_too(support: Support) -> None:
    """Without the points the reason is less precise, but nothing is made up."""
    d = support.points.shape[1]
    if support.level == 3:
        pytest.skip("odd levels need the points: their moments miss this boundary")
    hierarchy = sr.Harmonics(d, support.level if d <= 3 else 1)
    moments = sr.Moments.from_directions(sr.Directions(support.points), hierarchy)
    with pytest.raises((sr.BoundaryError, sr.ResolutionError)) as caught:
        sr.profile(moments, levels=hierarchy.levels)
    assert caught.value.level == support.level


@pytest.mark.parametrize("name", ["great circle", "tetrahedron", "5-gon", "octahedron"])
def test_one_more_point_lifts_it(name: str) -> None:
    support = SUPPORTS[name]
    d = support.points.shape[1]
    extra = np.random.default_rng(4).standard_normal((6, d))
    x = np.vstack([support.points, extra / np.linalg.norm(extra, axis=1, keepdims=True)])
    found = sr.profile(x, levels=support.level)
    rule = oracles.circle_rule() if d == 2 else oracles.sphere_rule(96)
    expected = oracles.deficits(rule, oracles.sample_moments(x, support.level), support.level)
    np.testing.assert_allclose(found.deficits, expected, atol=1e-10)


def test_points_in_single_precision_are_still_a_polygon() -> None:
    support = SUPPORTS["5-gon"]
    refused(support.points.astype(np.float32), support)


def test_five_points_have_no_level_three() -> None:
    """No square shows this one; a function found by linear programming does."""
    rng = np.random.default_rng(5)
    x = rng.standard_normal((5, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    with pytest.raises(sr.BoundaryError, match=r"level 3.*nowhere negative") as caught:
        sr.profile(x, levels=3)
    assert_told(caught.value)
    assert_kept(caught.value, x)


RNG = np.random.default_rng(8)
TORUS = sr.Directions.from_dihedrals(RNG.vonmises(0.0, 2.0, 60), RNG.vonmises(1.0, 1.0, 60))
AXES = sr.Directions(RNG.normal(size=(40, 3)), normalize=True, axial=True)
TURNS = sr.Directions.from_quaternions(RNG.normal(size=(60, 4)), normalize=True)


@pytest.mark.parametrize(("data", "hierarchy"), [
    (TORUS, sr.Interactions(2, 1)),
    (TORUS, sr.TorusHarmonics(2, 2)),
    (AXES, sr.Axial(3, 2)),
    (TURNS, sr.Axial.on(sr.Rotations(), 2)),
    (AXES, sr.Custom(sr.Axes(3), [lambda x: x[:, :2] ** 2, lambda x: x[:, :2] ** 4])),
])  # fmt: skip
def test_boundary_of_any_hierarchy(data: sr.Directions, hierarchy: Any) -> None:
    inside = sr.boundary(data, hierarchy=hierarchy)
    assert inside.inside.all()
    assert all(entry.decided and "no margins" in entry.words for entry in inside.entries)
    printed = str(inside)
    assert printed.count("no margins") == 1
    which = "levels 1 and 2 have" if len(inside.entries) == 2 else "level 1 has"
    assert printed.endswith(f"\nHow far inside is not known: {which} no margins.")
    assert "Margin: " not in printed  # nothing to explain
    one = sr.boundary(data.take(np.arange(1)), hierarchy=hierarchy)
    assert not any(entry.inside and entry.decided for entry in one.entries)
    assert all(entry.words for entry in one.entries)
    moments = sr.Moments.from_directions(data, hierarchy)
    assert sr.boundary(moments).inside.all()


def test_margins_are_explained_where_there_are_some() -> None:
    printed = str(sr.boundary(sr.Directions(RNG.normal(size=(40, 3)), normalize=True), 2))
    assert printed.endswith(
        "\nMargin: the largest share of the uniform law that the moments contain."
    )
    assert "no margins" not in printed


def test_what_level_one_lacks_in_the_words_of_its_space() -> None:
    one = np.arange(1)
    cases: list[tuple[Any, Any, str]] = [
        (np.eye(3)[:1], sr.Harmonics(3, 1), "give at least two different directions, or"),
        (AXES.take(one), sr.Axial(3, 1), "give axes that span all 3 dimensions, or"),
        (TURNS.take(one), sr.Axial.on(sr.Rotations(), 1), "give quaternions that span all 4"),
        (TORUS.take(one), sr.Interactions(2, 1), "one point or several alike are not enough for "
         "level 1 (angles alone), or"),
    ]  # fmt: skip
    for data, hierarchy, words in cases:
        with pytest.raises(sr.BoundaryError) as caught:
            sr.profile(data, hierarchy=hierarchy)
        assert words in str(caught.value)
