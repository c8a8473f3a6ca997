"""What lies beyond the data: against brute force, on every kind of rows, and in words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.distance import cdist

import steradian as sr
from steradian.adequacy.beyond import Reach, spreads_reached
from steradian.numerics.arrays import Array
from steradian.numerics.neighbours import nearest


def cluster(mean: list[float], kappa: float, n: int, rng: np.random.Generator) -> Array:
    return sr.FisherBingham(kappa * np.array(mean), np.zeros((3, 3))).sample(n, rng)


def two_clusters(seed: int = 0) -> sr.Directions:
    """At a right angle, of concentration 300: level 3 puts a far mode between nowhere and them."""
    rng = np.random.default_rng(seed)
    x = np.vstack([cluster([0, 0, 1], 300.0, 800, rng), cluster([1, 0, 0], 300.0, 200, rng)])
    return sr.Directions(x, normalize=True)


def heights(d: int, mean: float, seed: int = 0) -> sr.Directions:
    """Skew heights along the first axis, uniform about it."""
    rng = np.random.default_rng(seed)
    y = rng.normal(size=(500, d))
    y[:, 0] = 0.0
    t = mean + (1.0 - mean) * (rng.beta(2.0, 6.0, 500) - 0.25)
    x = np.sqrt(1.0 - t * t)[:, None] * y / np.linalg.norm(y, axis=1)[:, None]
    x[:, 0] = t
    return sr.Directions(x, normalize=True)


# --- reach --------------------------------------------------------------------------------


@pytest.mark.parametrize("k", [2, 8, 9, 40])
def test_neighbours_by_tree_and_by_products(k: int) -> None:
    rng = np.random.default_rng(k)
    points, x = 5.0 + rng.normal(size=(60, k)), 5.0 + rng.normal(size=(30, k))
    distance, which = nearest(points, x, 7)
    every = cdist(x, points)
    np.testing.assert_allclose(distance, np.sort(every, axis=1)[:, :7], rtol=1e-12)
    np.testing.assert_allclose(np.take_along_axis(every, which, 1), distance, rtol=1e-12)


@pytest.mark.parametrize(("n", "k"), [(4, 1), (16, 2), (100, 5), (101, 6)])
def test_the_local_spread_is_the_distance_to_a_neighbour(n: int, k: int) -> None:
    x = sr.Harmonics(3, 1).space.uniform(n, np.random.default_rng(n))
    reach = Reach.of(sr.Directions(x), sr.Harmonics(3, 2))
    spread = np.sort(cdist(reach.points, reach.points), axis=1)[:, k]
    plain = np.minimum(spread, 2.0 * np.sort(spread)[::-1][k - 1 if k < n else 0])
    close = np.isclose(reach.radius, 6.0 * plain) | (reach.radius < 6.0 * spread)
    assert spreads_reached(2) == reach.spreads == 6.0
    assert close.all()
    assert np.median(reach.radius / spread) == pytest.approx(6.0)


def test_repeated_rows_are_one_with_their_weights_together() -> None:
    x = sr.Harmonics(3, 1).space.uniform(40, np.random.default_rng(0))
    times = np.arange(40) % 4 + 1
    repeated = Reach.of(sr.Directions(np.repeat(x, times, axis=0)), sr.Harmonics(3, 2))
    weighted = Reach.of(sr.Directions(x, times * 3.0), sr.Harmonics(3, 2))
    np.testing.assert_allclose(repeated.points, weighted.points)
    np.testing.assert_allclose(repeated.radius, weighted.radius)
    assert (repeated.radius > 0.0).all()


def test_one_far_row_does_not_reach_everywhere() -> None:
    x = np.vstack([cluster([0, 0, 1], 1e4, 400, np.random.default_rng(0)), [[1.0, 0.0, 0.0]]])
    reach = Reach.of(sr.Directions(x, normalize=True), sr.Harmonics(3, 2))
    at = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.6, 0.0, 0.8]])
    assert reach.contains(at).tolist() == [True, True, False, False]


def test_reach_has_no_scale_and_no_orientation() -> None:
    rng = np.random.default_rng(2)
    plane = rng.normal(size=(200, 2))
    turn = sr.Harmonics(3, 1).space.symmetry(rng)

    def reach(scale: float) -> Reach:
        x = np.column_stack([scale * plane, np.ones(200)])
        return Reach.of(sr.Directions(x @ turn.T, normalize=True), sr.Harmonics(3, 2))

    small, smaller = reach(1e-3), reach(1e-5)
    np.testing.assert_allclose(np.sort(small.radius), 100 * np.sort(smaller.radius), rtol=1e-4)


def test_axes_have_no_sign() -> None:
    rng = np.random.default_rng(3)
    x = cluster([0, 0, 1], 200.0, 100, rng)
    sign = rng.choice([-1.0, 1.0], 100)[:, None]
    hierarchy = sr.Axial(3, 2)
    one, other = (sr.profile(y, hierarchy=hierarchy).beyond() for y in (x, sign * x))
    np.testing.assert_allclose(one.mass, other.mass, rtol=1e-6)
    assert one.reach.contains(np.array([[0.0, 0.0, -1.0], [1.0, 0.0, 0.0]])).tolist() == [
        True,
        False,
    ]


def test_very_many_rows_are_sampled() -> None:
    x = sr.Harmonics(3, 1).space.uniform(5000, np.random.default_rng(0))
    assert len(Reach.of(sr.Directions(x), sr.Harmonics(3, 2)).points) == 2000
    y = sr.Harmonics(100, 1).space.uniform(5000, np.random.default_rng(0))
    assert len(Reach.of(sr.Directions(y), sr.Harmonics(100, 2)).points) <= 2000


# --- mass and share -----------------------------------------------------------------------


def test_against_brute_force_quadrature() -> None:
    """Mass and gain on a plain grid, the reach by all distances: cells of a degree."""
    p = sr.profile(two_clusters(), levels=3)
    found = p.beyond()
    z = (np.arange(360) + 0.5) / 180.0 - 1.0
    turn = (np.arange(360) + 0.5) * np.pi / 180.0
    flat, angle = (a.ravel() for a in np.meshgrid(z, turn, indexing="ij"))
    across = np.sqrt(1.0 - flat**2)
    grid = np.stack([across * np.cos(angle), across * np.sin(angle), flat], axis=1)
    logs = [p.fits[level].logpdf(grid) for level in (1, 2, 3)]
    felt = np.flatnonzero(np.maximum(logs[1], logs[2]) > -30.0)  # what carries mass
    apart = cdist(grid[felt], found.reach.points)
    near = np.argmin(apart, axis=1)
    far = felt[apart[np.arange(len(felt)), near] > found.reach.radius[near]]
    upper, lower = np.exp(logs[2][far]), np.exp(logs[1][far])
    mass = upper.sum() / len(grid)
    assert found.mass[2] == pytest.approx(mass, rel=0.05)
    gain = np.where(upper > lower, upper * (logs[2][far] - logs[1][far]) - upper + lower, 0.0)
    share = gain.sum() / len(grid) / p.gaps[2]
    assert found.share_of_gap[2] == pytest.approx(share, rel=0.05)
    assert 1e-5 < mass < 1e-4
    assert share > 0.5


def test_draws_and_rule_agree() -> None:
    """The same law as level 2 of harmonics, by a family that has no rule."""
    x = cluster([0, 0, 1], 30.0, 60, np.random.default_rng(5))
    x[:20] = -x[:20]
    by_rule = sr.profile(x, levels=1).beyond()
    every = sr.Quadratics(3, [(0, 0, 0)]).up_to(1)
    by_draws = sr.profile(x, hierarchy=every).beyond(draws=4000)
    p = by_rule.mass[0]
    assert 0.05 < p < 0.95
    assert (by_rule.draws[0], by_draws.draws[0]) == (0, 4000)
    assert by_draws.mass[0] == pytest.approx(p, abs=5.0 * np.sqrt(p * (1 - p) / 4000) + 0.01)
    assert by_draws.share_of_gap[0] == pytest.approx(by_rule.share_of_gap[0], rel=0.2)


def test_a_structured_family_in_high_dimension() -> None:
    rows = heights(128, 0.9)
    p = sr.profile(rows, hierarchy=sr.Zonal(np.eye(128)[0], 3))
    found = p.beyond()
    assert found.mass[1] < 1e-3
    assert found.share_of_gap[1] > 0.5
    known = {one.data["of_level"]: one.data["share"] for one in found.diagnostics}
    share = known[2]
    assert share == found.share_of_gap[1]
    assert f"{share:.0%} of the information of level 2" in " ".join(p.summary().split())
    assert json.loads(json.dumps(found.to_dict()))["mass"] == found.mass.tolist()


def test_nothing_is_said_where_nothing_is() -> None:
    p = sr.profile(sr.examples.load("mcmurdo"), levels=4)
    assert p.beyond().diagnostics == ()
    assert "no data" not in p.summary()


@pytest.mark.parametrize("n", [2, 3, 4])
def test_few_rows(n: int) -> None:
    x = np.vstack([np.eye(3), -np.eye(3)])[:n]
    found = sr.profile(x, levels=1).beyond()
    assert found.mass[0] == 0.0  # neighbours are so far apart that everything is within reach


def test_without_rule_the_resolution_is_stated() -> None:
    x = np.abs(np.random.default_rng(0).normal(size=(200, 6)))
    found = sr.profile(sr.Directions(x, normalize=True), levels=2).beyond(draws=300)
    assert found.draws.tolist() == [300, 300]
    assert found.resolution.tolist() == [0.01, 0.01]
    assert "< 1e-02" in str(found)


def test_asked_once_and_by_its_arguments() -> None:
    p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    assert p.beyond() is p.beyond()
    assert p.beyond(seed=1) is not p.beyond()
    with pytest.raises(sr.InvalidArgument, match="draws"):
        p.beyond(draws=0)


def test_moments_do_not_tell_where_data_are() -> None:
    moments = sr.profile(sr.examples.load("mcmurdo"), levels=2).moments
    with pytest.raises(sr.DesignError, match="do not tell where the data are"):
        sr.profile(moments).beyond()
    assert "Are there enough data?" in str(sr.profile(moments))


def test_shrunk_data_too() -> None:
    mixed = sr.profile(two_clusters(), levels=2, shrinkage=0.05).beyond()
    assert mixed.mass[1] > 0.01  # the uniform law that was mixed in lies mostly there
