"""One conformance suite for every space, grid, hierarchy and family."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from typing import cast

import mpmath
import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array, Rule
from steradian.data.stacks import MomentStack
from steradian.existence.placement import Verdict
from steradian.fitting.solution import Status
from steradian.spaces import Circle, Hypersphere, Sphere, unit_sphere

SPACES = {2: 8, 3: 8, 4: 2, 7: 2}  # dimension → highest degree looked at
GRIDDED = [Circle(), Sphere()]
FAMILIES = [(2, 1), (2, 2), (2, 5), (3, 1), (3, 2), (3, 4), (5, 1), (5, 2)]
EACH_SPACE = pytest.mark.parametrize("d", SPACES)
EACH_GRIDDED = pytest.mark.parametrize("space", GRIDDED, ids=["circle", "sphere"])
EACH_FAMILY = pytest.mark.parametrize(("d", "level"), FAMILIES)


def points(d: int, n: int = 40, seed: int = 1) -> Array:
    """Random directions after both ends of every axis: poles, antipodes, the date line."""
    x = np.random.default_rng(seed).standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[: 2 * d] = np.vstack([np.eye(d), -np.eye(d)])
    return x


def exact_rule(d: int) -> Rule:
    """Exact for degree 16 on the circle and the sphere; above, Stroud's rule of degree 5."""
    if d <= 3:
        return oracles.circle_rule(32) if d == 2 else oracles.sphere_rule(12)
    corners = np.array(list(itertools.product([-1.0, 1.0], repeat=d))) / np.sqrt(d)
    axes = np.vstack([np.eye(d), -np.eye(d)])
    weights = np.repeat([d / (2**d * (d + 2)), 1 / (d * (d + 2))], [2**d, 2 * d])
    return Rule(oracles.long(np.vstack([corners, axes])), oracles.long(weights))


# Spaces


@EACH_SPACE
def test_space_of_a_dimension(d: int) -> None:
    space = unit_sphere(d)
    assert space.d == d
    assert space == unit_sphere(d)
    assert space.name == {2: "circle", 3: "sphere"}.get(d, f"sphere in R^{d}")
    with mpmath.workdps(30):
        half = mpmath.mpf(d) / 2
        area = mpmath.log(2 * mpmath.pi**half / mpmath.gamma(half))
    assert space.log_area == pytest.approx(float(area), rel=1e-14)


@EACH_SPACE
def test_harmonics_are_orthonormal(d: int) -> None:
    space, rule = unit_sphere(d), exact_rule(d)
    for degree in range(SPACES[d] + 1):
        phi = space.harmonics(rule.points, degree)
        assert phi.shape == (len(rule.weights), space.size(degree))
        gram = (rule.weights[:, None] * phi).T @ phi
        np.testing.assert_allclose(gram.astype(float), np.eye(phi.shape[1]), atol=1e-14)


@EACH_SPACE
def test_degrees_are_nested_and_start_with_the_constant(d: int) -> None:
    space, x = unit_sphere(d), points(d)
    largest = space.harmonics(x, SPACES[d])
    np.testing.assert_array_equal(largest[:, 0], 1.0)
    for degree in range(SPACES[d]):
        np.testing.assert_allclose(
            space.harmonics(x, degree), largest[:, : space.size(degree)], atol=1e-14
        )


@EACH_SPACE
def test_each_degree_is_rotation_invariant(d: int) -> None:
    space, x = unit_sphere(d), points(d)
    turned = x @ oracles.rotation(d, np.random.default_rng(2)).T
    for degree in range(1, SPACES[d] + 1):
        block = slice(space.size(degree - 1), space.size(degree))
        here, there = (space.harmonics(z, degree)[:, block] for z in (x, turned))
        np.testing.assert_allclose(here @ here.T, there @ there.T, atol=1e-12)


@EACH_SPACE
def test_uniform_draws_are_uniform(d: int) -> None:
    space = unit_sphere(d)
    x = space.uniform(20_000, np.random.default_rng(5))
    assert x.shape == (20_000, d)
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-14)
    means = space.harmonics(x, min(2, SPACES[d])).mean(axis=0)[1:]  # variance 1/n each
    assert np.abs(means).max() < 5.0 / np.sqrt(20_000)
    again = space.uniform(20_000, np.random.default_rng(5))
    np.testing.assert_array_equal(x, again)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: sr.Sphere(6),
            "sr.Sphere() is that of R^3, and d is 6; leave it out, or use sr.Hyp",
        ),
        (
            lambda: sr.Circle(5),
            "sr.Circle() is that of R^2, and d is 5; leave it out, or use sr.Hyp",
        ),
        (lambda: sr.Sphere(cast("int", "a")), "d is 'a'; give a whole number from 2 on"),
        (lambda: sr.Hypersphere(3), "d is 3; use sr.Sphere(), which has rules of its own"),
        (lambda: sr.Hypersphere(1), "d is 1; give 2 or more"),
    ],
)
def test_no_space_takes_a_dimension_that_its_rules_are_not_made_for(
    make: Callable[[], sr.Space], words: str
) -> None:
    """Rules of R³ once gave gaps of 0.22 nats in R⁶ where 0.44 are right."""
    with pytest.raises(sr.SteradianError, match=f"^{re.escape(words)}"):
        make()


def test_what_a_space_cannot_do_it_says() -> None:
    with pytest.raises(NotImplementedError, match="rule 0 on the sphere in R\\^6: there is none"):
        Hypersphere(6).rule(0)


# Grids


@EACH_GRIDDED
@pytest.mark.parametrize("rung", [0, 1, 4])
def test_grid_is_an_exact_rule(space: Circle | Sphere, rung: int) -> None:
    grid = space.grid(rung)
    assert grid.points.shape == (grid.nodes, space.d)
    assert grid.weights.shape == (grid.nodes,)
    assert grid.weights.min() > 0
    assert grid.weights.sum() == pytest.approx(1.0, abs=1e-14)
    np.testing.assert_allclose(np.linalg.norm(grid.points, axis=1), 1.0, rtol=1e-14)
    means = grid.weights @ oracles.harmonics(grid.points, 20)
    assert np.abs(means).max() < 1e-13


@EACH_GRIDDED
@pytest.mark.parametrize("rung", [0, 3])
@pytest.mark.parametrize("degree", [1, 2, 5])
def test_transforms_are_sums_over_nodes(space: Circle | Sphere, rung: int, degree: int) -> None:
    grid, rng = space.grid(rung), np.random.default_rng(degree)
    phi = oracles.harmonics(grid.points, degree).astype(float)
    lam, values = rng.standard_normal((3, phi.shape[1])), rng.standard_normal((3, grid.nodes))
    np.testing.assert_allclose(grid.synthesize(lam), lam @ phi.T, atol=1e-12)
    full = np.hstack([np.ones((grid.nodes, 1)), phi])
    np.testing.assert_allclose(
        grid.analyze(values, degree), (values * grid.weights) @ full, atol=1e-13
    )
    back = grid.analyze(grid.synthesize(lam), degree)
    np.testing.assert_allclose(back[:, 1:], lam, atol=1e-13)
    np.testing.assert_allclose(back[:, 0], 0.0, atol=1e-13)


@EACH_GRIDDED
def test_ladder_climbs(space: Circle | Sphere) -> None:
    nodes = [space.grid(rung).nodes for rung in range(space.rungs())]
    assert nodes == sorted(set(nodes))
    assert space.rungs() <= space.fine_rungs()


@EACH_GRIDDED
def test_grid_tells_smooth_from_spiky(space: Circle | Sphere) -> None:
    grid = space.grid(2)
    height = grid.points[:, -1]
    spike = np.zeros(grid.nodes)
    spike[3] = 1.0 / grid.weights[3]
    density = np.stack([np.ones(grid.nodes), np.exp(0.1 * height), np.exp(400 * height), spike])
    density /= (density @ grid.weights)[:, None]
    flat, smooth, sharp, worst = grid.unresolved(density, 1)
    assert max(flat, smooth) < 1e-14
    assert min(sharp, worst) > 1e-6


@EACH_GRIDDED
@pytest.mark.parametrize("width", [1, 2, 4])
def test_one_law_is_judged_as_in_a_stack(space: Circle | Sphere, width: int) -> None:
    for rung in (1, 4, 8):  # by products, and by a transform
        grid = space.grid(rung)
        density = np.exp(np.outer([2.0, 9.0, 50.0, 400.0], grid.points @ np.ones(space.d) - 1.0))
        together = grid.unresolved(density, width)
        alone = [float(grid.unresolved(one[None], width)[0]) for one in density]
        np.testing.assert_allclose(alone, together, rtol=1e-6, atol=1e-13)  # 400 roundings


# Hierarchies


@pytest.mark.parametrize(("d", "levels"), [(2, 5), (3, 4), (6, 1), (6, 2)])
def test_hierarchy_of_harmonics(d: int, levels: int) -> None:
    hierarchy, x = sr.Harmonics(d, levels), points(d)
    assert hierarchy.space == unit_sphere(d)
    assert len(hierarchy.dims) == levels
    assert hierarchy.features(x).shape == (len(x), sum(hierarchy.dims))
    np.testing.assert_array_equal(hierarchy.features(x), unit_sphere(d).harmonics(x, levels)[:, 1:])
    for level in range(1, levels + 1):
        assert hierarchy.family(level).q == sum(hierarchy.dims[:level])
    assert hierarchy == sr.Harmonics(d, levels)
    assert hash(hierarchy) == hash(sr.Harmonics(d, levels))
    assert hierarchy != sr.Harmonics(d, 3 - min(levels, 2))


@pytest.mark.parametrize(("d", "levels"), [(2, 1), (2, 2), (2, 5), (3, 1), (3, 2), (3, 4)])
@pytest.mark.parametrize("n", [7, 900, 4000])
def test_sums_hold_twice_the_degree(d: int, levels: int, n: int) -> None:
    x, w = points(d, n), np.random.default_rng(0).exponential(size=n)
    features = oracles.harmonics(x, 2 * levels)
    for weights, used in ((w, w), (None, np.ones(n))):
        found = sr.Harmonics(d, levels).sums(x, weights)
        expected = oracles.long(used) @ features
        assert found.shape == expected.shape
        assert np.abs(found - expected).max() <= 1e-13 * used.sum()


@pytest.mark.parametrize(
    ("d", "levels", "message"),
    [
        (1, 1, "d is 1; directions need at least two dimensions"),
        (3, 0, "levels is 0; a hierarchy has at least one level"),
        (5, 6, "6 levels in dimension 5: above dimension 3"),
    ],
)
def test_impossible_hierarchies_are_named(d: int, levels: int, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        sr.Harmonics(d, levels)


@pytest.mark.parametrize("level", [0, 4, -1])
def test_a_level_that_is_not_there_is_named(level: int) -> None:
    with pytest.raises(ValueError, match=rf"level {level} is not among 1\.\.3"):
        sr.Harmonics(3, 3).family(level)


# Families


def laws(d: int, level: int, rows: int = 3) -> Array:
    q = sr.Harmonics(d, level).family(level).q
    spread = np.array([0.3, 1.0, 2.5])[:rows, None] / np.sqrt(level * q)
    return np.asarray(spread * d * np.random.default_rng(7).standard_normal((rows, q)))


@EACH_FAMILY
def test_zero_parameters_are_the_uniform_law(d: int, level: int) -> None:
    family = sr.Harmonics(d, level).family(level)
    psi, mean, covariance = family.log_partition(np.zeros((2, family.q)))
    np.testing.assert_allclose(psi, 0.0, atol=1e-14)
    np.testing.assert_allclose(mean, 0.0, atol=1e-13)
    np.testing.assert_allclose(covariance, np.tile(np.eye(family.q), (2, 1, 1)), atol=1e-12)


@EACH_FAMILY
def test_mean_and_covariance_are_the_slopes_of_the_log_partition(d: int, level: int) -> None:
    family = sr.Harmonics(d, level).family(level)
    step, toward = 1e-3, np.random.default_rng(8).standard_normal((4, family.q))
    toward /= np.linalg.norm(toward, axis=1, keepdims=True)
    for lam in laws(d, level):
        _, mean, covariance = family.log_partition(lam[None])
        at = {k: family.log_partition(lam + k * step * toward) for k in (1, -1, 2, -2)}
        slopes = [
            (8 * (at[1][k] - at[-1][k]) - (at[2][k] - at[-2][k])) / (12 * step) for k in (0, 1)
        ]
        np.testing.assert_allclose(toward @ mean[0], slopes[0], atol=1e-9)
        np.testing.assert_allclose(toward @ covariance[0], slopes[1], atol=1e-9)


@pytest.mark.parametrize(("d", "level"), [f for f in FAMILIES if f[0] <= 3])
def test_log_partition_is_the_integral(d: int, level: int) -> None:
    rule = oracles.rule_for(d, 64)
    lam = laws(d, level)
    psi, mean, _ = sr.Harmonics(d, level).family(level).log_partition(lam)
    for row in range(len(lam)):
        value = rule.harmonics(level) @ oracles.long(lam[row])
        mass, minus_psi = oracles.normalised(rule.weights, value)
        assert psi[row] == pytest.approx(float(-minus_psi), abs=1e-12)
        expected = (mass @ rule.harmonics(level)).astype(float)
        np.testing.assert_allclose(mean[row], expected, atol=1e-12)


@pytest.mark.parametrize(("d", "level"), [f for f in FAMILIES if f[0] <= 3])
def test_solve_finds_the_parameters_again(d: int, level: int) -> None:
    hierarchy = sr.Harmonics(d, level)
    family, rule, lam = hierarchy.family(level), oracles.rule_for(d, 64), laws(d, level)
    stacks, degree = [], max(2, level)
    for row in lam:
        value = rule.harmonics(degree)[:, : family.q] @ oracles.long(row)
        mass, _ = oracles.normalised(rule.weights, value)
        expected = (mass @ rule.harmonics(degree)).astype(float)
        stacks.append(sr.Moments.from_expectations(hierarchy, expected).stack())
    moments = MomentStack.concatenated(stacks)
    assert (family.contains(moments) == Verdict.INSIDE).all()
    found = family.solve(moments, np.zeros_like(lam))
    assert (found.status == Status.CONVERGED).all()
    np.testing.assert_allclose(found.lam, lam, atol=1e-9)
    assert found.residual.max() < 1e-10
    dual = np.einsum("bq,bq->b", found.lam, moments.features[:, : family.q]) - found.psi
    np.testing.assert_allclose(found.deficit, dual, atol=1e-12)


@EACH_FAMILY
def test_support_is_judged_exactly(d: int, level: int) -> None:
    family = sr.Harmonics(d, level).family(level)
    rich = points(d, 80)
    assert family.examine(rich, np.full(80, 1 / 80)).verdict is Verdict.INSIDE
    placement = family.examine(np.eye(d)[:1], np.ones(1))
    assert placement.verdict is Verdict.OUTSIDE
    assert re.search("point|distinct directions", placement.words)


@pytest.mark.parametrize(("d", "level"), [(2, 2), (2, 5), (3, 2), (3, 4)])
def test_moments_beyond_the_body_have_no_fit(d: int, level: int) -> None:
    hierarchy = sr.Harmonics(d, level)
    corner = oracles.harmonics(points(d)[-1:], level)[0].astype(float)
    inside = sr.Moments.from_expectations(hierarchy, 0.5 * corner)
    assert hierarchy.family(level).contains(inside.stack()).tolist() == [Verdict.INSIDE]
    beyond = 1.2 * corner  # second moments of negative variance across a sound mean
    beyond[: oracles.size(d, 1)] *= 0.75
    moments = sr.Moments.from_expectations(hierarchy, beyond)
    assert hierarchy.family(level).contains(moments.stack()).tolist() != [Verdict.INSIDE]
    with pytest.raises(sr.BoundaryError, match="level 2 does not exist"):
        sr.profile(moments, levels=level)
