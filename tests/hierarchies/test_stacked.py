"""Stacked hierarchies: nested, exact below, and the same numbers as one hierarchy of all."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.families.quadratics.skewed import SkewedQuadraticFamily
from steradian.numerics.arrays import Array
from steradian.spaces import Sphere

AXIS = [0.0, 1.0, 2.0]
CHAIN = sr.Stacked([sr.Quadratics(3, [(0, 1, 2), (0, 0, 1), (0, 0, 0)]), sr.Zonal(AXIS, 3)])


def rows(n: int = 300) -> sr.Directions:
    x = np.random.default_rng(0).normal([0.0, 0.3, 1.0], 1.0, size=(n, 3))
    return sr.Directions(x * [1.0, 0.5, 1.0], normalize=True)


def test_levels_that_add_nothing_are_left_out() -> None:
    assert CHAIN.dims == (3, 2, 1, 2, 1)
    assert CHAIN.level_names == (
        "mean direction",
        "squares of the coordinates",
        "axes within blocks",
        "axis or girdle",
        "degree 3 about the axis",
    )
    assert CHAIN.up_to(4) == sr.Quadratics(3, [(0, 1, 2), (0, 0, 1), (0, 0, 0)])
    assert CHAIN.wider(6) == sr.Stacked([CHAIN.first, sr.Zonal(AXIS, 4)])


def test_lower_levels_are_those_of_the_first_part() -> None:
    whole, first = sr.profile(rows(), hierarchy=CHAIN), sr.profile(rows(), hierarchy=CHAIN.first)
    np.testing.assert_allclose(whole.gaps[:4], first.gaps, atol=1e-12)
    assert whole.numerics.nodes[0] == 0  # in closed form


def test_the_last_level_against_functions_of_ones_own() -> None:
    """The same space of features, given as plain monomials: two other ways to the same deficit."""

    def quadratic(x: Array) -> Array:
        return np.column_stack([x[:, i] * x[:, j] for i in range(3) for j in range(i, 3)])

    def cube(x: Array) -> Array:
        return (x @ np.array(AXIS)) ** 3

    own = sr.Custom(Sphere(), [lambda x: x, quadratic, cube])
    expected = sr.profile(rows(), hierarchy=own).deficits[-1]
    assert sr.profile(rows(), hierarchy=CHAIN).deficits[-1] == pytest.approx(expected, abs=1e-9)


def test_gaps_lie_between_those_of_parts_and_of_everything() -> None:
    data = rows()
    found = sr.profile(data, hierarchy=CHAIN)
    everything = sr.profile(data, levels=3)
    assert everything.deficits[1] <= found.deficits[-1] <= everything.deficits[2]
    left = found.left_out(everything)
    assert left.within.tolist() == [1, 2, 2, 2, 3]
    assert left.common == 2


def test_other_spaces() -> None:
    torus = sr.Stacked([sr.Interactions(2, 1), sr.TorusHarmonics(2, 2)])
    assert torus.dims == (4, 4, 4)
    axes = sr.Stacked([sr.Axial(3, 1), sr.Custom(sr.Axes(3), [lambda x: x[:, :1] ** 4])])
    x = sr.Directions(rows().x, axial=True)
    assert sr.profile(x, hierarchy=axes).gaps[1] > 0.0


def test_stacks_flatten_and_are_written_down() -> None:
    twice = sr.Stacked([sr.Stacked([sr.Harmonics(3, 1), sr.Diagonal(3)]), sr.Zonal(AXIS, 3)])
    assert [type(part).__name__ for part in twice.parts] == ["Harmonics", "Diagonal", "Zonal"]
    assert twice.dims == (3, 2, 1, 1)
    moments = sr.profile(rows(), hierarchy=twice).moments
    assert sr.Moments.from_dict(moments.to_dict()).hierarchy == twice


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ([sr.Harmonics(3, 2)], "two hierarchies or more"),
        ([sr.Harmonics(3, 2), "zonal"], "is no hierarchy"),
        ([sr.Harmonics(3, 2), sr.Harmonics(2, 2)], "stack hierarchies of one space"),
        ([sr.Harmonics(3, 2), sr.Diagonal(3)], "adds nothing"),
        ([sr.Quadratics(5, [[0] * 5]), sr.Zonal(np.ones(5), 2)], "adds nothing"),
        ([sr.Diagonal(6), sr.Zonal(np.ones(6), 3)], "all coordinates in one group"),
        ([sr.Quadratics(130, [[0] * 130]), sr.Zonal(np.ones(130), 3)], "in more than 128"),
    ],
)
def test_refusals(parts: list[object], words: str) -> None:
    with pytest.raises(sr.InvalidArgument, match=words):
        sr.Stacked(parts)  # type: ignore[arg-type]


# --- in any dimension, by an integral over the height ---------------------------------------


def skew_rows(d: int, n: int, shift: float, seed: int = 0, skew: float = 0.3) -> sr.Directions:
    y = np.random.default_rng(seed).normal(size=(n, d))
    y[:, 0] += shift + skew * (y[:, 0] ** 2 - 1.0)
    return sr.Directions(y, normalize=True)


def everything(d: int, levels: int = 3) -> sr.Stacked:
    axis = np.eye(d)[0] + 0.2
    return sr.Stacked([sr.Quadratics(d, [range(d), [0] * d]), sr.Zonal(axis, levels)])


def test_the_integral_over_heights_against_nodes_of_the_sphere() -> None:
    """In R^3 the same family is fitted on the rules of the sphere: an independent integral."""
    by_nodes = sr.profile(rows(), hierarchy=CHAIN)
    family = SkewedQuadraticFamily(sr.Quadratics(3, [(0, 0, 0)]), sr.Zonal(AXIS, 3))
    other = sr.Stacked([family.first, family.zonal])
    stack = sr.Moments.from_directions(rows(), other).stack()
    found = family.solve(stack, np.zeros((1, 9)))
    assert found.deficit[0] == pytest.approx(by_nodes.deficits[-1], abs=1e-10)
    psi, mean, covariance = family.log_partition(found.lam)
    nodes = other.family(3).log_partition(found.lam)
    np.testing.assert_allclose(psi, nodes[0], atol=1e-11)
    np.testing.assert_allclose(mean, nodes[1], atol=1e-10)
    np.testing.assert_allclose(covariance, nodes[2], atol=1e-6)  # by differences of 1e-4


def test_the_law_in_four_dimensions_against_brute_force() -> None:
    """Mass and moments on a product rule of the three-sphere: Gauss in two angles, then a turn."""
    data = skew_rows(4, 300, 1.0)
    p = sr.profile(data, hierarchy=everything(4))
    z, w = np.polynomial.legendre.leggauss(48)
    polar, w_polar = 0.5 * np.pi * (z + 1.0), 0.5 * np.pi * w
    turn = np.arange(64) * 2.0 * np.pi / 64
    a, b, c = (v.ravel() for v in np.meshgrid(polar, z, turn, indexing="ij"))
    share = np.repeat(np.outer(w_polar * np.sin(polar) ** 2 * 2.0 / np.pi, 0.5 * w), 64) / 64.0
    flat = np.sqrt(1.0 - b * b)
    across = np.stack([b, flat * np.cos(c), flat * np.sin(c)], axis=1)
    points = np.column_stack([np.cos(a), np.sin(a)[:, None] * across])
    mass = share * p.fits[-1].pdf(sr.Directions(points, normalize=True))
    assert mass.sum() == pytest.approx(1.0, abs=1e-10)
    moments = mass @ np.asarray(everything(4).features(points))
    np.testing.assert_allclose(moments, p.moments.features, atol=1e-7)
    divergence = mass @ (p.fits[-1].logpdf(points) - p.fits[-2].logpdf(points))
    assert p.gaps[-1] == pytest.approx(divergence, abs=1e-7)


@pytest.mark.parametrize(("d", "n", "shift"), [(5, 300, 0.0), (8, 500, 3.0), (20, 600, 4.0)])
def test_fits_in_many_dimensions(d: int, n: int, shift: float) -> None:
    data = skew_rows(d, n, shift)
    p = sr.profile(data, hierarchy=everything(d))
    assert p.numerics.decrement[-1] < 1e-5
    assert p.numerics.quadrature[-1] < 1e-9
    assert p.fits[-1].logpdf(data).mean() == pytest.approx(p.deficits[-1], abs=1e-9)
    lower = sr.profile(data, hierarchy=everything(d).first)
    np.testing.assert_allclose(p.gaps[:-1], lower.gaps, atol=1e-12)
    height = sr.profile(data, hierarchy=sr.Zonal(np.eye(d)[0] + 0.2, 3))
    assert p.gaps[-1] > 0.5 * height.gaps[-1] > 0.0
    assert p.noise[-1] == pytest.approx(0.5 / n)


def test_draws_have_the_moments_of_the_law() -> None:
    p = sr.profile(skew_rows(6, 400, 2.0), hierarchy=everything(6))
    phi = np.asarray(everything(6).features(p.fits[-1].sample(250, 3)))
    off = (phi.mean(axis=0) - p.moments.features) / (phi.std(axis=0) / np.sqrt(250))
    assert np.abs(off).max() < 4.5  # of 28 features


def test_its_tests_see_skewness_and_nothing_else() -> None:
    skew = sr.profile(skew_rows(4, 400, 0.0), hierarchy=everything(4)).tests()
    assert skew.pvalue[-1] < 1e-4
    y = np.random.default_rng(1).normal(size=(400, 4))
    even = sr.profile(sr.Directions(y, normalize=True), hierarchy=everything(4)).tests()
    assert even.pvalue[-1] > 0.01


@pytest.mark.slow
@pytest.mark.parametrize("d", [4, 5])
def test_the_contract_in_more_dimensions(d: int) -> None:
    assert len(sr.conformance.check_hierarchy(everything(d)).kept) == 30


@pytest.mark.slow
def test_sixty_four_dimensions() -> None:
    p = sr.profile(skew_rows(64, 5000, 8.0, skew=1.0), hierarchy=everything(64))
    assert p.numerics.decrement[-1] < 1e-5
    assert p.gaps[-1] > 10.0 * p.noise[-1]
