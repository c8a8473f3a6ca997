"""Rules that end at edges: against areas in closed form, quadrature by brute force and draws."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.spatial.transform import Rotation

import steradian as sr
from oracles_cut_rules import ROUNDING, smooth
from steradian.references.cut_rules import LADDER

SPHERE = sr.Sphere()
DART = [(0, 0), (60, 0), (60, 50), (30, 10), (0, 50)]  # a polygon that is not convex


@pytest.mark.parametrize(("mask", "area"), [
    (sr.Mask(bands=[(-20, 20)]), 1.0 - np.sin(np.radians(20))),
    (sr.Mask(bands=[(-90, -30)], pole=(40, -10)), 0.75),
    (sr.Mask(caps=[(77, -33, 60)]), 0.75),
    (sr.Mask(caps=[(77, -33, 60)], keep=True), 0.25),
    (sr.Mask(caps=[(0, 0, 50), (180, 0, 50)], keep=True), 1.0 - np.cos(np.radians(50))),
    (sr.Mask(polygons=[[(0, 0), (90, 0), (0, 90)]], keep=True), 0.125),
    (sr.Mask(polygons=[[(0, 90), (90, 0), (0, 0)]], keep=True), 0.125),  # the other way round
    (sr.Mask(polygons=[[(10, 0), (100, 0), (50, 90)]], bands=[(-90, 0)]), 0.375),
    (sr.Mask(caps=[(0, 0, 30), (0, 0, 40)]), 0.5 + 0.5 * np.cos(np.radians(40))),
])  # fmt: skip
def test_areas(mask: sr.Mask, area: float) -> None:
    assert mask.on(SPHERE).area == pytest.approx(area, abs=ROUNDING)


def test_overlapping_caps_against_one_dimensional_quadrature() -> None:
    """Of two caps about (0, 0) and (60°, 0), both of 50°: the area of what both hold."""
    radius, apart = np.radians(50), np.radians(60)

    def share(theta: float) -> float:
        """Of the ring at an angle from the first centre that lies in the second cap."""
        cosine = (np.cos(radius) - np.cos(theta) * np.cos(apart)) / (np.sin(theta) * np.sin(apart))
        return float(np.arccos(np.clip(cosine, -1.0, 1.0)) / np.pi)

    both, _ = quad(lambda t: 0.5 * np.sin(t) * share(t), apart - radius, radius, epsabs=1e-13)
    union = 1.0 - np.cos(radius) - both
    mask = sr.Mask(caps=[(0, 0, 50), (60, 0, 50)])
    assert mask.on(SPHERE).area == pytest.approx(1.0 - union, abs=1e-10)  # as quad's square roots


@pytest.mark.parametrize("mask", [
    sr.Mask(bands=[(-20, 20)]),
    sr.Mask(bands=[(-20, 20)], caps=[(30, 20, 25), (10, 10, 40)]),
    sr.Mask(polygons=[DART]),
    sr.Mask(polygons=[DART], bands=[(-5, 5)], keep=True),
])  # fmt: skip
def test_rules_of_parts_add_up_to_that_of_the_sphere(mask: sr.Mask) -> None:
    """What is looked at and what is not are integrated apart; the sphere's own rule knows both."""
    rung = LADDER.index(96)
    other = sr.Mask.__new__(sr.Mask)
    for name in ("shapes", "density"):
        object.__setattr__(other, name, getattr(mask, name))
    object.__setattr__(other, "keep", not mask.keep)
    whole, parts = SPHERE.rule(6), [each.on(SPHERE) for each in (mask, other)]
    found = sum(p.area * (p.rule(rung).weights @ smooth(p.rule(rung).points)) for p in parts)
    assert found == pytest.approx(whole.weights @ smooth(whole.points), abs=ROUNDING)


def test_geometric_convergence_wherever_the_edges_lie() -> None:
    region = sr.Mask(bands=[(-20, 20)], caps=[(30, 20, 25), (10, 10, 40)]).on(SPHERE)
    rules = [region.rule(LADDER.index(size)) for size in (24, 48, 96)]
    rough, fine, exact = (rule.weights @ smooth(rule.points) for rule in rules)
    assert abs(fine - exact) < 1e-3 * abs(rough - exact)
    assert abs(fine - exact) < 1e-9


def test_nodes_lie_where_it_was_looked() -> None:
    mask = sr.Mask(bands=[(-20, 20)], caps=[(30, 20, 25)], polygons=[DART])
    assert mask.sees(mask.on(SPHERE).rule(5).points).all()


def test_polygon_holds_its_inside_and_not_the_antipodes() -> None:
    mask = sr.Mask(polygons=[DART], keep=True)
    x = sr.Directions.from_lonlat([30, 5, 30, 210, 210], [5, 30, 20, -5, -20]).x
    assert mask.sees(x).tolist() == [True, True, False, False, False]


def test_polygon_area_by_draws() -> None:
    mask = sr.Mask(polygons=[DART], keep=True)
    seen = mask.sees(SPHERE.uniform(200_000, np.random.default_rng(0))).mean()
    area = mask.on(SPHERE).area
    assert abs(seen - area) < 5.0 * np.sqrt(area * (1.0 - area) / 200_000)


def test_tilting_the_region_with_the_function_changes_nothing() -> None:
    turn = Rotation.from_euler("zyx", [50, 40, 30], degrees=True).as_matrix()
    pole = turn @ np.array([0.0, 0.0, 1.0])
    lonlat = np.degrees([np.arctan2(pole[1], pole[0]), np.arcsin(pole[2])])
    straight = sr.Mask(bands=[(-15, 25)]).on(SPHERE).rule(5)
    tilted = sr.Mask(bands=[(-15, 25)], pole=lonlat).on(SPHERE).rule(5)
    one = straight.weights @ smooth(straight.points)
    assert tilted.weights @ smooth(tilted.points @ turn) == pytest.approx(one, abs=ROUNDING)


def test_arcs_of_the_circle() -> None:
    region = sr.Mask(caps=[(350, 30), (100, 20)]).on(sr.Circle())
    assert region.area == pytest.approx(1.0 - 100.0 / 360.0, abs=ROUNDING)
    rule = region.rule(4)
    kept = [(20, 80), (120, 320)]
    exact = sum(np.sin(np.radians(b)) - np.sin(np.radians(a)) for a, b in kept)
    assert rule.weights @ rule.points[:, 0] == pytest.approx(
        exact / (2.0 * np.pi * region.area), abs=ROUNDING
    )


@pytest.mark.parametrize(("say", "words"), [
    ({}, "without bands, caps or polygons; give at least one"),
    ({"bands": [(20, -20)]}, "give latitudes (low, high) from pole to pole, low first"),
    ({"bands": [(-20, 120)]}, "from pole to pole"),
    ({"bands": [(-20, "a")]}, "give 2 finite numbers"),
    ({"bands": 3}, "bands is 3; give a list"),
    ({"caps": [(10, 20, 0)]}, "between 0 and half a turn"),
    ({"caps": [(10, 95, 5)]}, "beyond the poles"),
    ({"caps": [(10, 5)], "bands": [(-5, 5)]}, "are of the circle"),
    ({"polygons": [[(0, 0), (10, 0)]]}, "at least three corners"),
    ({"polygons": [[0, 0, 10]]}, "give longitude and latitude of m corners"),
    ({"bands": [(-5, 5)], "density": 3.0}, "density is 3.0; give a function"),
])  # fmt: skip
def test_refusals(say: dict[str, Any], words: str) -> None:
    with pytest.raises(sr.InvalidArgument) as error:
        sr.Mask(**say)
    assert words in str(error.value)


def test_refused_on_other_spaces_and_where_nothing_is_left() -> None:
    with pytest.raises(sr.InvalidArgument, match="of the sphere, and the data are on the circle"):
        sr.Mask(bands=[(-5, 5)]).on(sr.Circle())
    with pytest.raises(sr.InvalidArgument, match="nothing is left of the sphere"):
        sr.Mask(bands=[(-90, 90)]).on(SPHERE)


def test_words() -> None:
    assert repr(sr.Mask(bands=[(-10, 10)], pole=(192.85948, 27.12825))) == (
        "Mask(without latitudes -10° to 10° about the pole (192.859°, 27.1283°))"
    )
    assert repr(sr.Mask(caps=[(0, 10, 5)] * 5, keep=True)).endswith("and 2 more)")
