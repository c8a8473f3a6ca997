"""Heights along one axis: von Mises-Fisher in any dimension, quadrature, existence, draws."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import steradian as sr
from steradian.fitting.nested import Failure
from steradian.fitting.solution import Status
from steradian.hierarchies import hierarchy_from_dict
from steradian.numerics.arrays import Array
from steradian.numerics.heights.bessel import von_mises_fisher
from steradian.spaces import Sphere

AXIS = np.array([1.0, 2.0, -2.0]) / 3.0


def cluster(d: int, kappa: float, n: int, seed: int = 0) -> Array:
    eta = kappa * np.eye(d)[-1]
    return sr.FisherBingham(eta, np.zeros((d, d))).sample(n, seed)


@pytest.mark.parametrize("d", [2, 3, 5, 64, 768, 4096])
@pytest.mark.parametrize("kappa", [0.5, 10.0, 1000.0])
def test_level_one_is_von_mises_fisher(d: int, kappa: float) -> None:
    exact = von_mises_fisher(d, kappa)
    hierarchy = sr.Zonal(np.eye(d)[0], 1)
    moments = sr.Moments.from_expectations(hierarchy, [np.sqrt(d) * float(exact.ratio)])
    found = sr.profile(moments)
    assert abs(found.deficits[0] - float(exact.deficit)) < 1e-10
    assert abs(np.sqrt(d) * found.fits[1].lam[0] - kappa) < 1e-7 * kappa


@pytest.mark.parametrize("d", [3, 40, 400])
def test_about_the_mean_it_is_level_one_of_harmonics(d: int) -> None:
    x = cluster(d, 3.0 * d, 60)
    mean = x.mean(axis=0)
    along = sr.profile(x, hierarchy=sr.Zonal(mean, 3))
    assert abs(along.deficits[0] - sr.profile(x, levels=1).deficits[0]) < 1e-10
    assert (along.gaps > -1e-11).all()


@pytest.mark.parametrize("levels", [2, 5])
def test_against_rules_of_the_sphere(levels: int) -> None:
    """The same polynomials as functions on the sphere, integrated there."""
    x = cluster(3, 4.0, 90, 3)
    blocks = [lambda y, k=k: (y @ AXIS)[:, None] ** k for k in range(1, levels + 1)]
    theirs = sr.profile(x, hierarchy=sr.Custom(Sphere(), blocks))
    ours = sr.profile(x, hierarchy=sr.Zonal(AXIS, levels))
    np.testing.assert_allclose(ours.deficits, theirs.deficits, rtol=0.0, atol=1e-9)
    for fit, other in zip(ours.fits[1:], theirs.fits[1:], strict=True):
        np.testing.assert_allclose(fit.logpdf(x), other.logpdf(x), rtol=0.0, atol=1e-6)


def test_harmonics_hold_more() -> None:
    x = cluster(3, 2.0, 200, 5)
    ours, full = sr.profile(x, hierarchy=sr.Zonal(AXIS, 4)), sr.profile(x, levels=4)
    assert (ours.deficits < full.deficits).all()


@pytest.mark.parametrize("d", [2, 3, 6, 300])
def test_features_are_orthonormal(d: int) -> None:
    hierarchy = sr.Zonal(np.arange(1.0, d + 1.0), 8)
    nodes = hierarchy.nodes(4)
    phi = np.column_stack([np.ones(len(nodes)), nodes.phi])
    gram = phi.T @ (nodes.weights[:, None] * phi)
    np.testing.assert_allclose(gram, np.eye(9), rtol=0.0, atol=1e-11)


@pytest.mark.parametrize(("d", "kappa"), [(2, 3.0), (3, 50.0), (12, 40.0), (500, 800.0)])
def test_draws_have_the_moments_they_were_fitted_to(d: int, kappa: float) -> None:
    x = cluster(d, kappa, 500, d)
    fit = sr.profile(x, hierarchy=sr.Zonal(np.eye(d)[-1] + 0.1 * np.eye(d)[0], 3)).fits[3]
    drawn = fit.sample(20_000, 4)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0, rtol=0.0, atol=1e-12)
    phi = fit.hierarchy.features(drawn)
    apart = (phi.mean(axis=0) - fit.moments) / (phi.std(axis=0) / np.sqrt(20_000))
    assert (np.abs(apart) < 5.0).all()
    value = fit.logpdf(drawn)
    assert abs(value.mean() - fit.deficit) < 5.0 * value.std() / np.sqrt(20_000)


def test_only_rotations_about_the_axis_change_nothing() -> None:
    x, rng = cluster(4, 5.0, 100), np.random.default_rng(0)
    hierarchy = sr.Zonal([0.0, 0.0, 0.0, 3.0], 3)
    assert hierarchy == sr.Zonal([0.0, 0.0, 0.0, 1.0], 3)
    base = sr.profile(x, hierarchy=hierarchy).deficits
    turn = np.eye(4)
    turn[:3, :3] = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    about = sr.profile(x @ turn.T, hierarchy=hierarchy).deficits
    np.testing.assert_allclose(about, base, rtol=1e-11)
    both = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    moved = sr.Zonal(both @ hierarchy.direction, 3)
    np.testing.assert_allclose(sr.profile(x @ both.T, hierarchy=moved).deficits, base, rtol=1e-10)
    assert abs(sr.profile(x @ both.T, hierarchy=hierarchy).deficits[0] - base[0]) > 1e-3


def at_heights(*heights: float) -> Array:
    """Three rows of each height along the last axis of space."""
    angle = np.arange(3.0)
    rows = [[np.sqrt(1 - t * t) * np.cos(a), np.sqrt(1 - t * t) * np.sin(a), t]
            for t in heights for a in angle]  # fmt: skip
    return np.array(rows)


@pytest.mark.parametrize(
    ("heights", "highest"),
    [((0.2,), 1), ((0.2, 0.5), 3), ((1.0, 0.5), 2), ((1.0, -1.0), 1), ((-0.3, 0.1, 0.6), 5)],
)
def test_where_fits_exist(heights: tuple[float, ...], highest: int) -> None:
    """A level exists while no polynomial of its degree, nowhere negative, vanishes at all heights.

    Roots inside are double, those at the ends need not be.
    """
    x = at_heights(*heights)
    hierarchy = sr.Zonal([0.0, 0.0, 1.0], highest + 1)
    with pytest.raises(sr.BoundaryError, match="along the axis") as caught:
        sr.profile(x, hierarchy=hierarchy)
    assert caught.value.level == highest + 1
    if highest <= 2:  # higher ones are so sharp that they may be refused as ours
        assert sr.profile(x, hierarchy=hierarchy.up_to(highest)).gaps[0] >= 0


@pytest.mark.slow
def test_p_values_when_there_is_nothing() -> None:
    """Von Mises-Fisher about the axis: of 80 samples 1 to 11 may fall below 5 % at level 2."""
    rng, hierarchy = np.random.default_rng(7), sr.Zonal(np.eye(5)[-1], 2)
    law = sr.FisherBingham(4.0 * np.eye(5)[-1], np.zeros((5, 5)))
    found = [sr.profile(law.sample(80, rng), hierarchy=hierarchy).tests() for _ in range(80)]
    assert 1 <= sum(each.pvalue[1] < 0.05 for each in found) <= 11


def test_written_and_read_again() -> None:
    hierarchy = sr.Zonal(AXIS, 3)
    again = hierarchy_from_dict(hierarchy.to_dict())
    assert again == hierarchy
    assert hash(again) == hash(hierarchy)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sr.Zonal([0.0, 0.0, 0.0], 2), "axis must be finite and not zero"),
        (lambda: sr.Zonal([0.0, np.nan], 2), "axis"),
        (lambda: sr.Zonal(np.eye(3), 2), "give one vector"),
        (lambda: sr.Zonal([1.0], 2), "give one vector"),
        (lambda: sr.Zonal("up", 2), "axis"),
        (lambda: sr.Zonal([0.0, 1.0], 0), "levels is 0"),
        (lambda: sr.Zonal([0.0, 1.0], 25), "at most 24 are possible"),
    ],
)
def test_bad_axes(make: Callable[[], object], words: str) -> None:
    with pytest.raises(sr.SteradianError, match=words):
        make()


@pytest.mark.parametrize(
    ("d", "shift", "seed"),
    [(5, 40.0, 1), (100, 20.0, 1), (300, 52.0, 0)],  # Newton does not end, and fits grow from rows
)
def test_sharp_heights_are_fitted_or_refused_as_a_limit_of_the_software(
    d: int, shift: float, seed: int
) -> None:
    """Sixty rows of as many heights have a fit of level 4: no error may say that there is none.

    Whether the search ends is decided by rounding.
    """
    axis = np.eye(d)[-1]
    rows = np.random.default_rng(seed).standard_normal((60, d)) + shift * axis
    data = sr.Directions(rows, normalize=True)
    found, words = None, "all of it is sound"
    try:
        found = sr.profile(data, hierarchy=sr.Zonal(axis, 4))
    except (sr.ResolutionError, sr.ConvergenceError) as error:
        found, words = error.profile, str(error)
    assert "is sound" in words
    assert found is not None
    assert len(found.gaps) >= 2
    assert (found.gaps > -found.numerics.quadrature - found.numerics.moment_rounding).all()


@pytest.mark.parametrize("d", [2, 3, 5, 64, 768])
def test_an_axis_read_again_is_the_same_to_the_last_digit(d: int) -> None:
    given = np.random.default_rng(d).normal(size=(20, d)) + 0.2
    for axis in given:
        made = sr.Zonal(axis, 2)
        assert sr.Zonal(made.axis, 2) == made


def test_a_level_that_is_not_found_names_the_bounded_functions() -> None:
    """Clusters of Gaussian heights in 768 dimensions, whose polynomials end in far modes."""
    d, words = 768, list[str]()
    for seed in range(3):
        x = np.random.default_rng([d, seed]).normal(size=(400, d))
        x[:, 0] += np.sqrt(50.0 * d) / 3.0
        x = x / np.linalg.norm(x, axis=1, keepdims=True)
        try:
            sr.profile(x, hierarchy=sr.Zonal(np.eye(d)[0], 4))
        except (sr.ConvergenceError, sr.ResolutionError) as error:
            words.append(str(error))
        kappa = float(sr.profile(x, levels=1).kappa)
        bounded = sr.Zonal(np.eye(d)[0], 4, features="bounded", kappa=kappa)
        assert (sr.profile(x, hierarchy=bounded).gaps > -1e-9).all()
    said = "or take bounded functions of the height (features='bounded'"
    assert all(said in refusal for refusal in words)
    failure = Failure(4, Status.STALLED, instead=sr.Zonal(np.eye(d)[0], 4).instead)
    assert "features='bounded'" in str(failure.error())
    assert "features='bounded'" not in str(Failure(4, Status.STALLED).error())
