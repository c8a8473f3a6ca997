"""Margins and certificates: functions that are nowhere negative and see nothing of the data.

Everything is checked from outside: values come from the harmonics of `oracles` in extended
precision, non-negativity on grids of other make, and margins from linear programmes that
bound them from below.
"""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import eigvalsh, toeplitz
from scipy.optimize import linprog

import oracles
import steradian as sr
from oracles import Array
from steradian.existence import margin as margins
from steradian.existence.margin import Evidence, margin_bound
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.spaces.boost import boost_onto

Make = Callable[[np.random.Generator], Array]


def generic(k: int, d: int = 3) -> Make:
    def make(rng: np.random.Generator) -> Array:
        x = rng.standard_normal((k, d))
        return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))

    return make


def ring(height: float, rng: np.random.Generator, n: int = 23) -> Array:
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    radius = np.sqrt(1.0 - height**2)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), np.full(n, height)], axis=1)


def rings(*heights: float, others: int = 0) -> Make:
    """Parallel circles, and some points that lie nowhere special."""

    def make(rng: np.random.Generator) -> Array:
        parts = [ring(height, rng) for height in heights]
        return np.vstack([*parts, generic(others)(rng)] if others else parts)

    return make


def quadric(rng: np.random.Generator) -> Array:
    """Points where a random polynomial of degree two changes its sign along great circles."""
    form, linear, constant = rng.standard_normal((3, 3)), rng.standard_normal(3), 0.0

    def g(x: Array) -> Array:
        return np.asarray(constant + x @ linear + np.einsum("ni,ij,nj->n", x, form, x))

    a, b = generic(60)(rng), generic(60)(rng)
    b -= np.einsum("ni,ni->n", a, b)[:, None] * a
    b /= np.linalg.norm(b, axis=1, keepdims=True)
    constant = -float(np.einsum("ni,ij,nj->n", a, form, a)[0] + a[0] @ linear)
    low, high = np.zeros(60), np.full(60, np.pi)
    start = np.sign(g(a))
    crossed = np.sign(g(-a)) != start
    for _ in range(60):
        middle = 0.5 * (low + high)
        at = np.cos(middle)[:, None] * a + np.sin(middle)[:, None] * b
        same = np.sign(g(at)) == start
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    x = np.cos(low)[:, None] * a + np.sin(low)[:, None] * b
    return np.vstack([a[:1], x[crossed]])


def pairs(k: int) -> Make:
    def make(rng: np.random.Generator) -> Array:
        x = generic(k)(rng)
        return np.vstack([x, -x])

    return make


def flat(d: int, dead: int, n: int) -> Make:
    def make(rng: np.random.Generator) -> Array:
        return np.pad(generic(n, d - dead)(rng), ((0, 0), (0, dead)))

    return make


CONFIGURATIONS: dict[str, tuple[int, Make]] = {
    "one point": (1, generic(1)),
    "one point in R^20": (1, generic(1, 20)),
    "two points": (2, generic(2)),
    "two poles": (2, pairs(1)),
    "three points": (2, generic(3)),
    "great circle": (2, rings(0.0)),
    "small circle": (2, rings(0.61)),
    "tiny circle": (2, rings(0.998)),
    "four points": (3, generic(4)),
    "five points": (3, generic(5)),
    "circle and point": (3, rings(-0.3, others=1)),
    "two pairs and a point": (3, lambda rng: np.vstack([pairs(2)(rng), generic(1)(rng)])),
    "seven points": (4, generic(7)),
    "eight points": (4, generic(8)),
    "two parallel circles": (4, rings(0.2, -0.75)),
    "circle and two points": (4, rings(0.5, others=2)),
    "circle and three points": (4, rings(0.5, others=3)),
    "quadric": (4, quadric),
    "five pairs": (4, pairs(5)),
    "nine points": (5, generic(9)),
    "ten points": (5, generic(10)),
    "eleven points": (5, generic(11)),
    "circle and five points": (5, rings(0.3, others=5)),
    "two circles and a point": (5, rings(0.3, -0.4, others=1)),
    "three parallel circles": (6, rings(0.1, 0.7, -0.6)),
    "fourteen points": (6, generic(14)),
    "fifteen points": (6, generic(15)),
    "circle and eight points": (6, rings(0.1, others=8)),
    "hyperplane of R^5": (2, flat(5, 1, 40)),
    "three of five dimensions": (2, flat(5, 2, 40)),
    "five of 20 dimensions": (2, flat(20, 15, 60)),
    "fewer points than dimensions": (2, generic(12, 20)),
} | {f"{k} points of the circle": (k, generic(k, 2)) for k in range(1, 9)}
SIMPLE = [name for name, (level, _) in CONFIGURATIONS.items() if level <= 3]


def sample(name: str, seed: int) -> tuple[Array, Array, int]:
    """Turned, weighted points of this kind and their first level without a fit."""
    level, make = CONFIGURATIONS[name]
    rng = np.random.default_rng([seed, len(name)])
    x = make(rng)
    x = x @ oracles.rotation(x.shape[1], rng).T
    return x, rng.uniform(0.2, 3.0, len(x)), level


def values(lam: Array, x: Array, level: int) -> Array:
    """1 + lam · φ by an independent evaluation where there is one."""
    if x.shape[1] > 3:
        return 1.0 + sr.Harmonics(x.shape[1], level).features(x) @ lam
    return np.asarray(1.0 + oracles.harmonics(x, level) @ lam, dtype=np.float64)


def grid(d: int, x: Array) -> Array:
    """The sphere, and more closely the neighbourhood of the points ``x``."""
    rng = np.random.default_rng(77)
    if d <= 3:
        base = np.asarray(oracles.rule_for(d, 60).points, dtype=np.float64)
    else:
        base = generic(3000, d)(rng)
    scale = 10.0 ** rng.uniform(-4, -0.5, (5000, 1))
    near = x[rng.integers(len(x), size=5000)] + scale * rng.standard_normal((5000, d))
    return np.vstack([base, near / np.linalg.norm(near, axis=1, keepdims=True)])


def assert_certifies(f: sr.results.Certificate, x: Array, level: int) -> None:
    assert f.level == level
    assert values(f.lam, grid(x.shape[1], x), level).min() > -1e-8
    assert np.abs(values(f.lam, x, level)).max() < 1e-8
    np.testing.assert_allclose(f(x), values(f.lam, x, level), atol=1e-12)


def assert_on_boundary(name: str, seed: int) -> None:
    x, w, level = sample(name, seed)
    found = sr.boundary(sr.Directions(x, w, normalize=True), levels=level)
    assert found.exact
    assert found.inside.tolist() == [True] * (level - 1) + [False]
    assert found.margins[-1] == 0.0
    assert (found.margins[:-1] > 0.0).all()
    assert found.entries[-1].words
    assert_certifies(found.entries[-1].certificate, x, level)


# --- on the boundary ----------------------------------------------------------------------


@pytest.mark.parametrize("name", SIMPLE)
def test_the_certificate_is_nowhere_negative_and_vanishes_on_the_support(name: str) -> None:
    assert_on_boundary(name, 0)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("name", CONFIGURATIONS)
def test_certificates_of_two_hundred_configurations(name: str, seed: int) -> None:
    assert_on_boundary(name, 10 + seed)


FEW = ["five points", "eight points"]
MORE = [pytest.param(name, marks=pytest.mark.slow) for name in ("ten points", "eleven points")]


@pytest.mark.parametrize("name", [*FEW, *MORE])
def test_few_points_are_refused_with_their_certificate(name: str) -> None:
    """They used to end as unresolved fits, after seconds."""
    x, w, level = sample(name, 2)
    with pytest.raises(sr.BoundaryError, match=f"level {level} does not exist") as caught:
        sr.profile(x, weights=w, levels=level)
    assert caught.value.certificate is not None
    assert_certifies(caught.value.certificate, x, level)
    again = pickle.loads(pickle.dumps(caught.value))
    np.testing.assert_array_equal(again.certificate.lam, caught.value.certificate.lam)
    assert str(again) == str(caught.value)


def test_by_default_five_points_stop_at_level_two_and_say_why() -> None:
    x, _, _ = sample("five points", 1)
    found = sr.profile(x)
    assert found.levels.tolist() == [1, 2]
    assert "a cubic function that is nowhere negative vanishes on all 5 points" in str(
        found.stopped
    )


@pytest.mark.slow
def test_the_boundary_outranks_a_fit_that_cannot_be_resolved() -> None:
    """More points than features, on no square's zero set: found after the solver failed."""
    rng = np.random.default_rng(8)
    x = np.vstack([ring(0.3, rng, 60), generic(5)(rng)])
    with pytest.raises(sr.BoundaryError, match=r"quintic.*all 65 points") as caught:
        sr.profile(x, levels=5)
    assert caught.value.certificate is not None
    assert_certifies(caught.value.certificate, x, 5)


def test_every_row_of_a_batch_is_judged_by_its_own_points() -> None:
    x = generic(7)(np.random.default_rng(2))
    w = np.ones((3, 7))
    w[1, 5:] = 0.0
    found = sr.profiles(x, weights=w, levels=3)
    error = found.failures[1]
    assert isinstance(error, sr.BoundaryError)
    assert error.level == 3
    assert error.certificate is not None
    assert_certifies(error.certificate, x[:5], 3)
    assert np.isfinite(found.gaps[[0, 2], 1]).all()


def test_rows_of_weight_zero_are_no_support() -> None:
    x, w, level = sample("small circle", 5)
    more = np.vstack([x, generic(30)(np.random.default_rng(1))])
    found = sr.boundary(more, level, weights=np.concatenate([w, np.zeros(30)]))
    assert not found.inside[-1]
    assert_certifies(found.entries[-1].certificate, x, level)


def test_levels_above_share_the_certificate() -> None:
    x, w, _ = sample("circle and point", 2)
    found = sr.boundary(x, 5, weights=w)
    assert found.inside.tolist() == [True, True, False, False, False]
    assert found.entries[4].words.startswith("as at level 3: away from the single point")
    assert_certifies(found.entries[4].certificate, x, 5)


WORDS = {
    "one point": "one point",
    "two poles": "two points, antipodal",
    "great circle": "all points lie on the great circle with pole",
    "small circle": r"all points lie on the small circle of radius 52\.41° about",
    "five points": "a cubic function that is nowhere negative vanishes on all 5 points",
    "circle and point": r"away from the single point .* small circle of radius 72\.54°",
    "two parallel circles": r"two parallel circles, of radius 41\.41° and 101\.5° about",
    "quadric": "zero set of a polynomial of degree 2",
    "seven points": "only 7 distinct points, and level 4 needs 9",
    "ten points": "a quintic function that is nowhere negative vanishes on all 10 points",
    "three of five dimensions": "span 3 of 5 dimensions",
    "4 points of the circle": "only 4 distinct points, and level 4 needs at least 5",
}


@pytest.mark.parametrize("name", WORDS)
def test_the_words(name: str) -> None:
    x, w, level = sample(name, 4)
    found = sr.boundary(x, level, weights=w)
    assert re.search(WORDS[name], found.entries[-1].words)


# --- nearly -------------------------------------------------------------------------------


@pytest.mark.parametrize("height", [0.0, 0.4])
def test_single_precision_on_a_circle_is_nearly_on_the_boundary(height: float) -> None:
    rng = np.random.default_rng(6)
    x = ring(height, rng) @ oracles.rotation(3, rng).T
    found = sr.boundary(x.astype(np.float32), levels=2)
    entry = found.entries[1]
    assert entry.inside
    assert 0.0 < entry.margin < 1e-13
    kind = "great circle with pole" if height == 0.0 else "small circle of radius 66.42° about"
    assert entry.words.startswith("nearly on the boundary: all points lie within ")
    assert kind in entry.words


@pytest.mark.parametrize("away", [1e-3, 1e-5, 1e-7])
def test_tiny_margins_keep_their_digits(away: float) -> None:
    """A circle whose points alternate between two heights: the square of z has this mean."""
    angle = np.arange(40) * (np.pi / 20)
    z = np.where(np.arange(40) % 2, away, -away)
    x = np.stack([np.cos(angle), np.sin(angle), z], axis=1)
    found = sr.boundary(sr.Directions(x, normalize=True), levels=2)
    assert found.inside.all()
    assert found.margins[1] == pytest.approx(3.0 * away**2 / (1.0 + away**2), rel=1e-6)


def test_concentrated_data_keep_the_digits_of_level_one() -> None:
    x = np.array([[1e-9, 0.0, 1.0], [-1e-9, 0.0, 1.0]])
    assert sr.boundary(x, levels=1).margins[0] == pytest.approx(0.5e-18, rel=1e-6)


@pytest.mark.slow
@pytest.mark.parametrize("spread", [0.02, 1e-3, 1e-4])
@pytest.mark.parametrize(("k", "level"), [(5, 3), (8, 4)])
def test_concentration_changes_nothing_about_how_many_points_are_needed(
    k: int, level: int, spread: float
) -> None:
    """Enlarging a small part of the sphere keeps signs and zeros of functions of a level."""
    rng = np.random.default_rng(31)
    x = np.array([0.6, 0.0, -0.8]) + spread * rng.standard_normal((k + 4, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    few = sr.boundary(x[:k], level)
    assert few.inside.tolist() == [True] * (level - 1) + [False]
    assert_certifies(few.entries[-1].certificate, x[:k], level)
    more = sr.boundary(x, level)
    assert more.inside.all()
    assert (more.margins >= 0.0).all()
    assert more.entries[-1].words.startswith("nearly on the boundary: ")


def test_the_enlarged_function_has_the_same_signs_and_zeros() -> None:
    rng = np.random.default_rng(13)
    near = np.array([0.0, 0.6, 0.8]) + 0.05 * rng.standard_normal((6, 3))
    near /= np.linalg.norm(near, axis=1, keepdims=True)
    zoom = boost_onto(sr.Sphere(), near)
    f = rng.standard_normal(16)
    pulled = zoom.pulled_back(f, 3)
    x = np.vstack([near, generic(200)(rng)])
    y, factor = zoom.up(x)
    before = sphere_harmonics(y, 3) @ f
    after = sphere_harmonics(x, 3) @ pulled
    assert 0.01 < zoom.scale < 0.3
    assert np.linalg.norm(zoom.up(near)[0].mean(axis=0)) < 0.5
    np.testing.assert_allclose(after, before * (zoom.scale**2 * factor) ** 3, atol=1e-13)


# --- inside -------------------------------------------------------------------------------


def clustered(seed: int, n: int = 40, d: int = 3) -> Array:
    rng = np.random.default_rng(seed)
    return np.asarray(
        sr.Directions(rng.standard_normal((n, d)) + 0.7 * rng.standard_normal(d), normalize=True).x
    )


@pytest.mark.parametrize("d", [2, 3, 5, 20])
def test_level_one_is_one_minus_the_resultant_length(d: int) -> None:
    x = clustered(1, 50, d)
    resultant = np.linalg.norm(x.mean(axis=0))
    assert sr.boundary(x, levels=1).margins[0] == pytest.approx(1.0 - resultant, rel=1e-12)


def test_the_circle_is_the_least_eigenvalue_of_its_toeplitz_matrix() -> None:
    x = clustered(2, 30, 2)
    angle = np.arctan2(x[:, 1], x[:, 0])
    moments = np.exp(1j * np.arange(8)[:, None] * angle).mean(axis=1)
    expected = [eigvalsh(toeplitz(moments[: level + 1]))[0] for level in range(1, 8)]
    np.testing.assert_allclose(sr.boundary(x, levels=7).margins, expected, atol=1e-14)
    sums = sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(2, 7))
    np.testing.assert_allclose(sr.boundary(sums).margins, expected, atol=1e-13)


def lower_bound(x: Array, f: sr.results.Certificate) -> float:
    """The least mean over functions asked to be non-negative on finitely many points only."""
    rng = np.random.default_rng(5)
    points = np.asarray(oracles.rule_for(x.shape[1], 40).points, dtype=np.float64)
    low = points[np.argsort(values(f.lam, points, f.level))[: len(points) // 10]]
    for scale in (0.05, 0.02, 0.01, 0.004, 0.0015):
        near = np.repeat(low, 12, axis=0)
        near = near + scale * rng.standard_normal(near.shape)
        near /= np.linalg.norm(near, axis=1, keepdims=True)
        keep = np.argsort(values(f.lam, near, f.level))[:1500]
        low = near[keep]
        points = np.vstack([points, low])
    phi = np.asarray(oracles.harmonics(points, f.level), dtype=np.float64)
    m = np.asarray(oracles.harmonics(x, f.level), dtype=np.float64).mean(axis=0)
    found = linprog(m, -phi, np.ones(len(phi)), bounds=(None, None))
    return float(1.0 + found.fun)


@pytest.mark.parametrize(
    ("d", "level"),
    [(2, 3), (3, 2), (3, 3), (3, 4), pytest.param(3, 5, marks=pytest.mark.slow)],
)
def test_the_margin_lies_between_its_bounds(d: int, level: int) -> None:
    """From above: f is non-negative and has this mean. From below: a finite programme."""
    x = clustered(level, 30, d)
    entry = sr.boundary(x, levels=level).entries[-1]
    f = entry.certificate
    assert entry.inside
    assert values(f.lam, grid(d, x), level).min() > -1e-12
    assert values(f.lam, x, level).mean() == pytest.approx(entry.margin, abs=1e-12)
    least = lower_bound(x, f)
    assert least <= entry.margin + 1e-9
    assert entry.margin - least < 2e-6


@pytest.mark.parametrize("n", [60, pytest.param(40, marks=pytest.mark.slow)])
def test_margins_to_level_nine_come_with_their_error(n: int) -> None:
    """Sixty rows at level nine took 38 s. From below the finite programme, from above f itself."""
    x = generic(n)(np.random.default_rng(n))
    found = sr.boundary(x, levels=9)
    assert found.inside.all()
    assert (np.diff(found.margins) < 0.0).all()
    for entry in found.entries:
        assert entry.decided
        assert 0.0 <= entry.slack < 1e-5
        assert "smaller by" not in entry.words
    entry = found.entries[-1]
    assert values(entry.certificate.lam, grid(3, x), 9).min() > -1e-12
    assert values(entry.certificate.lam, x, 9).mean() == pytest.approx(entry.margin, abs=1e-12)
    points = np.asarray(oracles.rule_for(3, 30).points, dtype=np.float64)
    phi, m = (np.asarray(oracles.harmonics(p, 9), dtype=np.float64) for p in (points, x))
    finite = linprog(m.mean(axis=0), -phi, np.ones(len(phi)), bounds=(None, None))
    assert 1.0 + finite.fun <= entry.margin + 1e-9


def test_a_programme_cut_short_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    x = clustered(3)
    exact = sr.boundary(x, levels=5).entries[-1]
    monkeypatch.setattr(margins, "WORK", 2e7)
    found = sr.boundary(x, levels=5)
    entry = found.entries[-1]
    assert entry.slack > 1e-5
    assert entry.margin - entry.slack <= exact.margin + 1e-9 <= entry.margin + 2e-9
    assert values(entry.certificate.lam, grid(3, x), 5).min() > -1e-12
    assert f"the margin may be smaller by {entry.slack:.0e}" in entry.words
    assert entry.words.endswith("its programme was cut short, a limit of ours")
    assert found.to_dict()["slack"][-1] == entry.slack


def test_what_is_not_decided_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Four tight clusters at level nine: rounding hides whether there is a fit."""
    monkeypatch.setattr(margins, "WORK", 0.0)
    rng = np.random.default_rng(0)
    centres = generic(4)(rng)
    x = np.repeat(centres, 14, axis=0) + 1e-3 * rng.standard_normal((56, 3))
    found = sr.boundary(sr.Directions(x, normalize=True), levels=9)
    entry = found.entries[-1]
    assert entry.inside
    assert not entry.decided
    assert "whether level 9 exists is not decided: rounding hides" in entry.words
    assert not found.to_dict()["decided"][-1]


def test_level_two_in_dimension_five_between_its_bounds() -> None:
    x = clustered(9, 30, 5)
    entry = sr.boundary(x, levels=2).entries[-1]
    assert values(entry.certificate.lam, grid(5, x), 2).min() > -1e-12
    assert values(entry.certificate.lam, x, 2).mean() == pytest.approx(entry.margin, abs=1e-12)
    rows = np.column_stack([np.ones(len(x)), x])
    gram = rows.T @ rows / len(x)
    expected = eigvalsh(gram, np.diag([1.0, 0.2, 0.2, 0.2, 0.2, 0.2]))[0]
    assert entry.margin == pytest.approx(expected, rel=1e-12)


def test_designs_have_margin_one() -> None:
    """The octahedron has the moments of the uniform law through degree 3, the cross through 3."""
    octahedron = np.vstack([np.eye(3), -np.eye(3)])
    np.testing.assert_allclose(sr.boundary(octahedron, levels=3).margins, 1.0, atol=1e-8)
    angle = 2.0 * np.pi * np.arange(7) / 7
    heptagon = sr.boundary(sr.Directions.from_angles(angle), levels=7)
    np.testing.assert_allclose(heptagon.margins, [1.0] * 6 + [0.0], atol=1e-13)


@pytest.mark.slow
def test_the_icosahedron_has_margin_one_through_level_five_and_then_none() -> None:
    golden = 0.5 * (1.0 + np.sqrt(5.0))
    some = [[0, a, b * golden] for a in (1, -1) for b in (1, -1)]
    x = np.vstack([np.roll(some, k, axis=1) for k in range(3)])
    found = sr.boundary(sr.Directions(x, normalize=True), levels=6)
    np.testing.assert_allclose(found.margins, [1.0] * 5 + [0.0], atol=1e-8)


def test_margins_turn_with_the_data_and_fall_with_the_level() -> None:
    x = clustered(4)
    turned = x @ oracles.rotation(3, np.random.default_rng(3)).T
    margins = sr.boundary(x).margins
    np.testing.assert_allclose(sr.boundary(turned).margins, margins, atol=1e-8)
    assert (np.diff(margins) < 0.0).all()
    np.testing.assert_allclose(sr.boundary(np.vstack([x, x, x])).margins, margins, atol=1e-8)


@pytest.mark.parametrize("epsilon", [0.01, 0.3])
def test_a_share_of_the_uniform_law_adds_to_the_margin(epsilon: float) -> None:
    """margin((1 - ε) P + ε ν) = (1 - ε) margin(P) + ε: on the boundary exactly ε."""
    hierarchy = sr.Harmonics(3, 4)
    for x in (clustered(5), sample("five points", 0)[0]):
        features = sr.Moments.from_directions(sr.Directions(x), hierarchy).features
        mixed = sr.Moments.from_expectations(hierarchy, (1.0 - epsilon) * features)
        expected = (1.0 - epsilon) * sr.boundary(x, 4).margins + epsilon
        np.testing.assert_allclose(sr.boundary(mixed).margins, expected, atol=5e-9)


# --- moments and the printed report -------------------------------------------------------


def test_moments_alone_see_the_boundary_to_their_rounding() -> None:
    x, w, _ = sample("five points", 6)
    moments = sr.Moments.from_directions(sr.Directions(x, w), sr.Harmonics(3, 4))
    found = sr.boundary(moments, 3)
    assert not found.exact
    assert found.inside.tolist() == [True, True, False]
    assert found.entries[2].words == "on the boundary to the rounding of the moments"
    f = found.entries[2].certificate
    assert values(f.lam, x, 3) @ w / w.sum() < 1e-8
    assert values(f.lam, grid(3, x), 3).min() > -1e-8
    assert "From moments alone" in str(found)


def test_the_report_fits_a_screen_and_is_ready_for_json() -> None:
    x, w, _ = sample("circle and point", 1)
    found = sr.boundary(x, weights=w)
    lines = str(found).splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[0] == "Where the data lie in the moment body of each level (n = 24, d = 3)"
    assert "inside" in lines[2]
    assert "boundary" in str(found)
    assert repr(found) == "Boundary(n=24, d=3, inside through level 2)"
    data = json.loads(json.dumps(found.to_dict()))
    assert data["inside"] == [True, True, False, False]
    assert [len(lam) for lam in data["lam"]] == [3, 8, 15, 24]
    assert data["levels"] == [1, 2, 3, 4]


def test_frames_and_weights_enter_as_in_a_profile() -> None:
    x = clustered(7, 20)
    w = np.linspace(0.0, 1.0, 20)
    frame = pd.DataFrame(np.column_stack([x, w]), columns=["x", "y", "z", "w"])
    expected = sr.boundary(sr.Directions(x, w), 2).margins
    np.testing.assert_allclose(sr.boundary(frame, 2, weights="w").margins, expected, rtol=1e-12)
    with pytest.raises(sr.InvalidDirections, match="carry their own weights"):
        sr.boundary(sr.Directions(x, w), weights=w)


def test_the_peak_of_the_function_is_where_the_data_are_thin() -> None:
    rng = np.random.default_rng(12)
    x = rng.standard_normal((400, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x = x[x[:, 2] > -0.6]  # nothing about the south pole
    entry = sr.boundary(x, levels=3).entries[2]
    assert entry.words.startswith("thinnest about (")
    south, north = entry.certificate([[0, 0, -1], [0, 0, 1]])
    assert south > 10.0 * north


def test_a_certificate_knows_its_dimension() -> None:
    f = sr.boundary(np.eye(3), levels=2).entries[1].certificate
    with pytest.raises(sr.InvalidDirections, match="x has dimension 2; this function has 3"):
        f([[1.0, 0.0]])
    assert repr(f) == "Certificate(level 2 in R^3)"


@pytest.mark.parametrize("level", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
@pytest.mark.parametrize("kappa", [3.0, 200.0, 1e4])
def test_the_quick_bound_is_close_to_the_margin(level: int, kappa: float) -> None:
    rng = np.random.default_rng(level)
    centres = rng.normal(size=(4, 1, 3))
    centres /= np.linalg.norm(centres, axis=2, keepdims=True)
    x = (centres + rng.normal(size=(4, 50, 3)) / np.sqrt(kappa)).reshape(-1, 3)
    rows = sr.Directions(x, normalize=True)
    moments = sr.Moments.from_directions(rows, sr.Harmonics(3, level))
    bound = margin_bound(Evidence.of(moments.stack(), None), level)
    margin = sr.boundary(rows, levels=level).margins[-1]
    assert margin - 1e-9 <= bound <= 2.0 * margin + 1e-9


def test_many_points_cost_no_square_matrix() -> None:
    """Neither a narrow arc nor a great circle and its pole ask for n × n numbers."""
    narrow = sr.Directions.from_angles(1e-3 * np.random.default_rng(0).normal(size=40_000))
    assert np.isfinite(sr.profile(narrow, levels=3).deficits).all()
    angle = np.linspace(0.0, 6.2, 50_000)
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    with pytest.raises(sr.BoundaryError, match="away from the single point"):
        sr.profile(np.vstack([ring, np.eye(3)[2:]]), levels=3)
