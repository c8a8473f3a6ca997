"""Moments: sums that pool, restrict, travel through JSON and agree by every path."""

from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steradian as sr
from steradian.data.validation import BLOCK
from steradian.numerics.arrays import Array
from steradian.spaces import unit_sphere

FIELDS = ("n", "weight", "weight_sq", "total", "total_sq", "mean", "scatter")
SPACES = [(2, 1), (2, 4), (3, 1), (3, 4), (7, 1), (5, 2)]


def points(n: int, d: int, seed: int = 0) -> Array:
    """Points over the whole sphere, with poles, antipodes, the date line and ties."""
    x = np.random.default_rng(seed).standard_normal((n, d))
    x += 0.7 * np.eye(d)[0]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    if n > 8:
        x[:2], x[2:4], x[4] = np.eye(d)[:2], -np.eye(d)[:2], np.eye(d)[-1]
        x[5], x[6] = -np.eye(d)[-1], x[7]
    return x


def sums(x: Array, w: Array | None, d: int, levels: int) -> sr.Moments:
    return sr.Moments.from_directions(sr.Directions(x, w), sr.Harmonics(d, levels))


def assert_same(a: sr.Moments, b: sr.Moments, tolerance: float = 1e-13) -> None:
    """Equal to rounding of sums over the sample, each relative to its total weight."""
    assert (a.hierarchy, a.n) == (b.hierarchy, b.n)
    scale = {"total_sq": b.weight_sq, "weight_sq": b.weight_sq, "mean": 1.0}
    for name in FIELDS[1:]:
        atol = tolerance * scale.get(name, b.weight)
        got, want = getattr(a, name), getattr(b, name)
        assert np.shape(got) == np.shape(want)
        np.testing.assert_allclose(got, want, rtol=0, atol=atol, err_msg=name)


# --- sums ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "levels"), SPACES)
@pytest.mark.parametrize("weighted", [False, True])
def test_the_sums_are_what_they_say(d: int, levels: int, weighted: bool) -> None:
    x = points(60, d)
    w = np.random.default_rng(1).gamma(0.5, size=60) if weighted else np.ones(60)
    got = sums(x, w if weighted else None, d, levels)
    phi = unit_sphere(d).harmonics(x, got.hierarchy.held_levels)[:, 1:]
    mean = w @ x / w.sum()
    want = sr.Moments(
        hierarchy=sr.Harmonics(d, levels),
        n=60,
        weight=float(w.sum()),
        weight_sq=float((w * w).sum()),
        total=np.einsum("i,ij->j", w, phi),
        total_sq=np.einsum("i,ij->j", w * w, phi),
        mean=mean,
        scatter=np.einsum("i,ij,ik->jk", w, x - mean, x - mean),
    )
    assert_same(got, want, 1e-14)
    np.testing.assert_allclose(got.features, got.total / w.sum(), rtol=1e-15)
    assert got.ess == pytest.approx(w.sum() ** 2 / (w @ w), rel=1e-14)


def test_linear_features_are_the_mean() -> None:
    x = points(50, 3)
    got = sums(x, None, 3, 2)
    np.testing.assert_allclose(got.mean, x.mean(axis=0), atol=1e-16)
    np.testing.assert_allclose(got.features[:3], np.sqrt(3) * got.mean[[2, 0, 1]], atol=2e-16)


def test_the_scatter_of_a_narrow_sample_keeps_its_digits() -> None:
    angles = 1.0 + 1e-7 * np.arange(-3.0, 4.0)
    spread = np.trace(
        sr.Moments.from_directions(sr.Directions.from_angles(angles), sr.Harmonics(2, 1)).scatter
    )
    assert spread == pytest.approx(28e-14, rel=1e-7)


@pytest.mark.parametrize(("d", "levels"), [(2, 1), (2, 6), (3, 1), (3, 4)])
@pytest.mark.parametrize("weighted", [False, True])
def test_many_rows_through_a_transform(d: int, levels: int, weighted: bool) -> None:
    n = 5000
    x = points(n, d, seed=3)
    w = np.random.default_rng(4).gamma(0.5, size=n) if weighted else np.ones(n)
    got = sums(x, w if weighted else None, d, levels)
    phi = unit_sphere(d).harmonics(x, 2 * levels)[:, 1:]
    np.testing.assert_allclose(got.total / w.sum(), w @ phi / w.sum(), rtol=0, atol=1e-13)
    squared = w * w
    np.testing.assert_allclose(
        got.total_sq / squared.sum(), squared @ phi / squared.sum(), rtol=0, atol=1e-13
    )


@pytest.mark.parametrize("n", [2000, 2001])
def test_both_sides_of_the_switch_to_the_transform(n: int) -> None:
    x = points(n, 3, seed=5)
    parts = sums(x[:1000], None, 3, 3) + sums(x[1000:], None, 3, 3)
    assert_same(sums(x, None, 3, 3), parts)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_more_rows_than_a_block(d: int) -> None:
    n = BLOCK + 1000
    x, w = points(n, d, seed=6), np.random.default_rng(7).uniform(size=n)
    got = sums(x, w, d, 1)
    phi = unit_sphere(d).harmonics(x, got.hierarchy.held_levels)[:, 1:]
    mean = w @ x / w.sum()
    centred = x - mean
    np.testing.assert_allclose(got.features, w @ phi / w.sum(), rtol=0, atol=1e-13)
    np.testing.assert_allclose(got.mean, mean, rtol=0, atol=1e-13)
    covariance = (w[:, None] * centred).T @ centred / w.sum()
    np.testing.assert_allclose(got.scatter / got.weight, covariance, rtol=0, atol=1e-13)
    assert got.n == n
    assert got.weight_sq == pytest.approx(w @ w, rel=1e-13)


def test_directions_of_another_dimension() -> None:
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.Moments.from_directions(sr.Directions(np.eye(2)), sr.Harmonics(3, 1))
    assert str(caught.value) == (
        "directions of dimension 2 with a hierarchy of dimension 3; make the hierarchy for the data"
    )


# --- pooling ------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(
    st.sampled_from(SPACES),
    st.lists(st.integers(1, 12), min_size=1, max_size=5),
    st.randoms(use_true_random=False),
)
def test_pooled_parts_equal_the_whole(space: tuple[int, int], sizes: list[int], rnd: Any) -> None:
    d, levels = space
    n = sum(sizes)
    x = points(n, d, seed=rnd.randrange(1000))
    w = np.array([rnd.choice([0.25, 1.0, 3.0]) for _ in range(n)])
    edges = np.cumsum([0, *sizes])
    parts = [sums(x[a:b], w[a:b], d, levels) for a, b in itertools.pairwise(edges)]
    rnd.shuffle(parts)
    pooled = parts[0]
    for part in parts[1:]:
        pooled = pooled + part
    assert_same(pooled, sums(x, w, d, levels), 1e-13)
    assert_same(sum(parts, start=0), pooled, 0.0)  # type: ignore[arg-type]


def test_the_profile_of_pooled_moments_is_the_profile_of_all_rows() -> None:
    x = points(90, 3)
    pooled = sums(x[:13], None, 3, 3) + sums(x[13:], None, 3, 3)
    whole = sr.profile(x, levels=3)
    by_moments = sr.profile(pooled)
    np.testing.assert_allclose(by_moments.deficits, whole.deficits, rtol=1e-11)
    assert (by_moments.n, by_moments.ess) == (90, 90.0)


@pytest.mark.parametrize("other", [(3, 1), (2, 2)])
def test_different_hierarchies_do_not_pool(other: tuple[int, int]) -> None:
    a = sums(np.eye(3), None, 3, 2)
    b = sums(np.eye(other[0]), None, *other)
    with pytest.raises(ValueError, match="cannot pool") as caught:
        a + b
    assert str(caught.value) == (
        "cannot pool moments of Harmonics(d=3, levels=2) (24 sums) "
        f"with Harmonics(d={other[0]}, levels={other[1]}) (8 sums)"
    )


def test_different_numbers_of_sums_do_not_pool() -> None:
    longer = sr.Moments.from_expectations(sr.Harmonics(2, 1), np.zeros(6))
    with pytest.raises(ValueError, match=r"\(6 sums\) with Harmonics.* \(4 sums\)$"):
        longer + sums(np.eye(2), None, 2, 1)


def test_moments_do_not_add_to_numbers() -> None:
    moments: Any = sums(np.eye(3), None, 3, 1)
    for number in (1, 0.5, None):
        with pytest.raises(TypeError, match="unsupported operand"):
            moments + number
        with pytest.raises(TypeError, match="unsupported operand"):
            number + moments


# --- fewer levels -------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_up_to_is_what_fewer_levels_would_have_summed(d: int, levels: int) -> None:
    x, w = points(40, d), np.linspace(0.1, 2.0, 40)
    assert_same(sums(x, w, d, 3).up_to(levels), sums(x, w, d, levels), 5e-15)


def test_up_to_more_levels_than_there_are() -> None:
    with pytest.raises(ValueError, match="these moments hold") as caught:
        sums(np.eye(3), None, 3, 2).up_to(3)
    assert str(caught.value) == (
        "these moments hold 2 levels, not 3; accumulate them again with more"
    )


def test_up_to_no_level() -> None:
    with pytest.raises(ValueError, match="levels is 0; a hierarchy has at least one level"):
        sums(np.eye(3), None, 3, 2).up_to(0)


# --- a law known by its expectations ------------------------------------------------------


def own_rule(d: int) -> tuple[Array, Array]:
    """Points and weights for the uniform law: midpoints around, Fejér's rule along y."""
    around = (np.arange(96) + 0.5) * (2 * np.pi / 96)
    if d == 2:
        return np.stack([np.cos(around), np.sin(around)], axis=1), np.full(96, 1 / 96)
    theta = np.arange(1, 64) * np.pi / 64
    odd = np.arange(1, 64, 2)
    ring = np.sin(theta) * (np.sin(np.outer(theta, odd)) / odd).sum(axis=1) / 16
    y, s = np.cos(theta), np.sin(theta)
    x = np.stack(
        [np.outer(s, np.cos(around)), np.outer(y, np.ones(96)), np.outer(s, np.sin(around))], axis=2
    )
    weights = np.repeat(ring / 2, 96) / 96  # y is uniform on [-1, 1]
    return x.reshape(-1, 3), weights


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("levels", [1, 2, 3])
def test_expectations_of_a_von_mises_fisher_law(d: int, levels: int) -> None:
    x, weights = own_rule(d)
    eta = np.array([1.1, -0.4, 0.8])[:d]
    p = weights * np.exp(x @ eta)
    p /= p.sum()
    hierarchy = sr.Harmonics(d, levels)
    phi = hierarchy.space.harmonics(x, max(2, levels))[:, 1:]
    got = sr.Moments.from_expectations(hierarchy, p @ phi, n=50)
    mean = p @ x
    np.testing.assert_allclose(got.mean, mean, atol=1e-14)
    covariance = (p[:, None] * (x - mean)).T @ (x - mean)
    np.testing.assert_allclose(got.scatter / got.weight, covariance, atol=1e-14)
    assert (got.n, got.weight, got.ess) == (50, 50.0, 50.0)
    profile = sr.profile(got)
    assert profile.kappa == pytest.approx(np.linalg.norm(eta), rel=1e-12)
    np.testing.assert_allclose(profile.gaps[1:], 0.0, atol=1e-13)
    assert profile.gaps[0] == pytest.approx(p @ np.log(p / weights), rel=1e-12)


def test_expectations_of_a_sample_are_its_moments() -> None:
    for d in (2, 3):
        sample = sums(points(30, d), None, d, 2)
        kept = sample.hierarchy.q(2)
        got = sr.Moments.from_expectations(sample.hierarchy, sample.features[:kept], n=30)
        np.testing.assert_allclose(got.mean, sample.mean, atol=1e-15)
        np.testing.assert_allclose(got.scatter, sample.scatter, atol=1e-13)


@pytest.mark.parametrize(("d", "levels", "needed"), [(2, 1, 4), (2, 3, 6), (3, 1, 8), (3, 3, 15)])
def test_too_few_expectations(d: int, levels: int, needed: int) -> None:
    hierarchy = sr.Harmonics(d, levels)
    for features in (np.zeros(needed - 1), np.zeros((needed, 1))):
        with pytest.raises(ValueError, match="features have shape") as caught:
            sr.Moments.from_expectations(hierarchy, features)
        assert str(caught.value) == (
            f"features have shape {features.shape}; give at least {needed} numbers"
        )


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_expectations_that_are_not_finite(bad: float) -> None:
    for place in range(4):
        features = np.zeros(4)
        features[place] = bad
        with pytest.raises(ValueError, match=r"^features must be finite$"):
            sr.Moments.from_expectations(sr.Harmonics(2, 1), features)


@pytest.mark.parametrize("n", [0, -3])
def test_expectations_of_no_sample(n: int) -> None:
    with pytest.raises(sr.InvalidArgument, match=f"^n is {n}; give 1 or more$"):
        sr.Moments.from_expectations(sr.Harmonics(2, 1), np.zeros(4), n=n)


def test_expectations_above_the_two_sphere() -> None:
    with pytest.raises(ValueError, match="from_expectations is for the circle and the two-sphere"):
        sr.Moments.from_expectations(sr.Harmonics(4, 1), np.zeros(14))


# --- JSON ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "levels"), SPACES)
def test_json_there_and_back_is_exact(d: int, levels: int) -> None:
    moments = sums(points(25, d), np.linspace(0.1, 3.0, 25), d, levels)
    text = json.dumps(moments.to_dict(), allow_nan=False)
    back = sr.Moments.from_dict(json.loads(text))
    assert back.hierarchy == moments.hierarchy
    for name in FIELDS:
        assert np.array_equal(getattr(back, name), getattr(moments, name)), name
        assert type(getattr(back, name)) is type(getattr(moments, name))
    assert_same(back + back, moments + moments, 0.0)


@pytest.mark.parametrize("name", ["hierarchy", *FIELDS])
def test_json_of_something_else(name: str) -> None:
    data = sums(np.eye(3), None, 3, 1).to_dict()
    del data[name]
    with pytest.raises(ValueError, match=f"^not a dictionary of moments: '{name}' is missing$"):
        sr.Moments.from_dict(data)


def test_json_of_an_unknown_hierarchy() -> None:
    data = sums(np.eye(3), None, 3, 1).to_dict()
    data["hierarchy"] = {**data["hierarchy"], "kind": "Wavelets"}
    with pytest.raises(
        ValueError, match="moments of a 'Wavelets' hierarchy cannot be read; known: Harmonics"
    ):
        sr.Moments.from_dict(data)


def test_json_of_sums_that_do_not_belong_together() -> None:
    data = sums(np.eye(3), None, 3, 1).to_dict()
    data["total_sq"] = [*data["total_sq"], 0.0]
    with pytest.raises(sr.InvalidArgument, match="total and total_sq differ in size"):
        sr.Moments.from_dict(data)
