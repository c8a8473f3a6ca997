"""Profiles of embeddings: two levels, dead directions, spans, single precision, memory."""

from __future__ import annotations

import tracemalloc

import mpmath
import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array
from steradian.numerics.heights.bessel import concentration


def embeddings(n: int, d: int, seed: int = 0) -> Array:
    """Uneven variances about a mean, turned."""
    rng = np.random.default_rng([n, d, seed])
    x = rng.standard_normal((n, d)) * np.linspace(0.5, 1.5, d) + 1.5 * np.eye(d)[0]
    x = x @ oracles.rotation(d, rng)
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def with_dead(x: Array, dead: int, seed: int = 1) -> Array:
    """The same directions in a larger space that they do not fill, no coordinate zero."""
    d = x.shape[1] + dead
    turn = oracles.rotation(d, np.random.default_rng(seed))
    return np.asarray(np.hstack([x, np.zeros((len(x), dead))]) @ turn)


def assert_same_profile(
    one: sr.results.Profile, other: sr.results.Profile, tolerance: float = 1e-9
) -> None:
    np.testing.assert_allclose(one.deficits, other.deficits, rtol=tolerance)
    np.testing.assert_allclose(one.gaps, other.gaps, rtol=tolerance)


# --- levels -------------------------------------------------------------------------------


@pytest.mark.parametrize("d", [4, 5, 60])
def test_two_levels_are_the_default(d: int) -> None:
    found = sr.profile(embeddings(5 * d, d))
    assert found.levels.tolist() == [1, 2]
    assert found.dims.tolist() == [d, d * (d + 1) // 2 - 1]
    assert not found.stopped
    assert isinstance(found.fits[2], sr.FisherBingham)
    assert_same_profile(found, sr.profile(embeddings(5 * d, d), levels=2), 1e-14)


@pytest.mark.parametrize(("d", "levels"), [(4, 6), (60, 3), (20, 4)])
def test_too_many_levels_are_refused_in_words(d: int, levels: int) -> None:
    with pytest.raises(ValueError, match=f"{levels} levels in dimension {d}.*pass "):
        sr.profile(embeddings(5 * d, d), levels=levels)


@pytest.mark.parametrize("n", [2, 30, 40])
def test_no_more_points_than_dimensions_have_no_second_level(n: int) -> None:
    x = embeddings(n, 40)
    words = f"{n} distinct directions cannot fill 40 dimensions: more than 40 are needed"
    with pytest.raises(sr.BoundaryError, match=words) as caught:
        sr.profile(x, levels=2)
    assert caught.value.level == 2
    assert caught.value.profile is not None
    assert caught.value.profile.levels.tolist() == [1]
    found = sr.profile(x)
    assert found.levels.tolist() == [1]
    assert words in str(found.stopped)


def test_one_more_point_than_dimensions_is_enough() -> None:
    found = sr.profile(embeddings(41, 40), levels=2)
    assert found.fits[2].residual < 1e-8
    assert found.gaps[1] > 0


def test_repeated_points_do_not_count() -> None:
    x = np.repeat(embeddings(10, 12), 5, axis=0)
    with pytest.raises(sr.BoundaryError, match="10 distinct directions cannot fill 12"):
        sr.profile(x, levels=2)


# --- spans --------------------------------------------------------------------------------


def test_dead_directions_are_described() -> None:
    x = with_dead(embeddings(900, 381), 3)
    with pytest.raises(sr.BoundaryError, match="these directions span 381 of 384 dimensions"):
        sr.profile(x, levels=2)
    found = sr.profile(x)
    assert found.levels.tolist() == [1]
    assert "span 381 of 384" in str(found.stopped).replace("\n", " ")


def test_a_smaller_sphere_off_the_origin_is_described() -> None:
    x = embeddings(60, 7)
    lifted = np.column_stack([0.8 * x, np.full(60, 0.6)]) @ oracles.rotation(
        8, np.random.default_rng(0)
    )
    with pytest.raises(
        sr.BoundaryError, match=r"smaller sphere, on a plane off the origin of R\^8"
    ):
        sr.profile(lifted, levels=2)


def test_a_smaller_sphere_within_a_span_is_described() -> None:
    x = np.column_stack([0.8 * embeddings(60, 7), np.full(60, 0.6)])
    with pytest.raises(sr.BoundaryError, match="span 8 of 10 dimensions"):
        sr.profile(with_dead(x, 2), levels=2)


@pytest.mark.parametrize(("d", "dead"), [(2, 1), (3, 4), (20, 2), (100, 28)])
def test_the_profile_within_the_span_is_that_without_the_dead(d: int, dead: int) -> None:
    x = embeddings(6 * d, d)
    inside = sr.Directions(with_dead(x, dead)).within_span()
    assert (inside.n, inside.d, inside.ambient) == (6 * d, d, d + dead)
    np.testing.assert_allclose(np.linalg.norm(inside.x, axis=1), 1.0, atol=1e-14)
    np.testing.assert_allclose(inside.x @ inside.x.T, x @ x.T, atol=1e-12)
    assert_same_profile(sr.profile(inside, levels=2), sr.profile(x, levels=2))


def test_the_span_is_told() -> None:
    inside = sr.Directions(with_dead(embeddings(50, 20), 4)).within_span()
    label = "Directions(n=50, d=20, equal weights, within the 20 of 24 dimensions they span)"
    assert repr(inside) == label
    assert sr.profile(inside).ambient == 24
    assert inside.within_span() is inside


def test_full_data_are_left_alone() -> None:
    data = sr.Directions(embeddings(30, 6))
    assert data.within_span() is data
    assert "span" not in repr(data)
    assert data.ambient == 6


def test_weights_are_kept_within_the_span() -> None:
    x = embeddings(50, 8)
    weights = np.random.default_rng(0).random(50)
    weights[3] = 0.0
    inside = sr.Directions(with_dead(x, 3), weights).within_span()
    assert inside.weighted
    np.testing.assert_allclose(inside.weights, weights / weights.sum(), rtol=1e-14)
    assert_same_profile(sr.profile(inside), sr.profile(x, weights=weights))
    assert "weighted, ESS" in repr(inside)
    assert "within the 8 of 11 dimensions" in repr(inside)


def test_points_of_no_weight_do_not_make_a_span() -> None:
    x = np.vstack([with_dead(embeddings(30, 4), 1), np.eye(5)])
    weights = np.append(np.ones(30), np.zeros(5))
    assert sr.Directions(x, weights).within_span().d == 4


@pytest.mark.parametrize(("tol", "kept"), [(1e-10, 6), (1e-5, 6), (1e-3, 5), (0.9, 2)])
def test_the_tolerance_says_what_is_dead(tol: float, kept: int) -> None:
    """Five coordinates of size one (two of them the largest) and one of about 1e-4."""
    rng = np.random.default_rng(0)
    scales = np.array([1.0, 1.0, 0.5, 0.5, 0.5, 1e-4])
    signs = rng.choice([-1.0, 1.0], size=(200, 6))
    data = sr.Directions(signs * scales, normalize=True)
    assert data.within_span(tol).d == kept


def test_one_dimension_has_no_sphere() -> None:
    with pytest.raises(sr.InvalidDirections, match="span one dimension"):
        sr.Directions(np.repeat([[0.6, 0.8, 0.0]], 4, axis=0)).within_span()


# --- precision and memory -----------------------------------------------------------------


def test_single_precision_is_good_to_its_rounding() -> None:
    x = embeddings(400, 64)
    double, single = sr.profile(x), sr.profile(x.astype(np.float32))
    np.testing.assert_allclose(single.deficits, double.deficits, rtol=1e-4)
    assert single.fits[2].residual < 1e-8
    rounded = x.astype(np.float32).astype(np.float64)
    rounded /= np.linalg.norm(rounded, axis=1, keepdims=True)
    assert_same_profile(single, sr.profile(rounded), 1e-12)


def test_a_span_in_single_precision() -> None:
    flat = with_dead(embeddings(300, 30), 2).astype(np.float32)
    inside = sr.Directions(flat).within_span(1e-5)
    assert inside.d == 30
    np.testing.assert_allclose(
        sr.profile(inside).deficits, sr.profile(embeddings(300, 30)).deficits, rtol=1e-4
    )


def test_moments_of_many_dimensions_add() -> None:
    x = embeddings(500, 64)
    hierarchy = sr.Harmonics(64, 2)
    parts = [sr.Moments.from_directions(sr.Directions(p), hierarchy) for p in np.split(x, [7, 300])]
    pooled = parts[2] + parts[0] + parts[1]
    whole = sr.Moments.from_directions(sr.Directions(x), hierarchy)
    assert pooled.n == 500
    np.testing.assert_allclose(pooled.mean, whole.mean, atol=1e-15)
    np.testing.assert_allclose(pooled.scatter, whole.scatter, rtol=0, atol=1e-12)
    assert_same_profile(sr.profile(pooled), sr.profile(x), 1e-11)
    again = sr.Moments.from_dict(pooled.to_dict())
    assert_same_profile(sr.profile(again), sr.profile(pooled), 1e-15)


def test_a_large_sample_needs_little_memory() -> None:
    x = np.random.default_rng(0).standard_normal((100_000, 100), dtype=np.float32) + 0.1
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    tracemalloc.start()
    try:
        found = sr.profile(x)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.levels.tolist() == [1, 2]
    assert peak < 200e6, peak


def test_weights_and_repeated_rows_are_the_same() -> None:
    x = embeddings(80, 20)
    times = np.random.default_rng(0).integers(1, 4, 80)
    assert_same_profile(
        sr.profile(x, weights=times), sr.profile(np.repeat(x, times, axis=0)), 1e-11
    )


def test_profiles_do_not_depend_on_the_axes() -> None:
    x = embeddings(150, 25)
    turn = oracles.rotation(25, np.random.default_rng(3))
    assert_same_profile(sr.profile(x @ turn), sr.profile(x), 1e-11)


@pytest.mark.parametrize(
    ("d", "kappa"), [(30, 1e6), (100, 1e6), (1024, 1e6), (1024, 3e6), (4, 1e7)]
)
def test_one_concentrated_sample_is_inverted_as_well_as_a_stack(d: int, kappa: float) -> None:
    expected = oracles.von_mises_fisher(d, kappa)
    with mpmath.workdps(oracles.DIGITS):
        length, spread = float(expected.ratio), float(1 - expected.ratio**2)
    found = concentration(d, length, spread)
    assert float(found.kappa) == pytest.approx(kappa, rel=1e-12)
    assert float(found.deficit) == pytest.approx(float(expected.deficit), rel=1e-12)
