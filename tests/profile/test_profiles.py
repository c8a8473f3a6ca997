"""Many weightings at once: the same numbers as one at a time, and failures row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import steradian as sr
from oracles import Array

CLOSE = 1e-10
LEVELS = {2: 5, 3: 4, 7: 1}


def points(d: int, n: int = 60, seed: int = 3) -> Array:
    """Random directions with poles, antipodes, the date line and a tie among them."""
    x = np.random.default_rng(seed).standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[: 2 * d] = np.vstack([np.eye(d), -np.eye(d)])
    x[2 * d] = x[0]
    return x


def weightings(n: int, rows: int = 12, seed: int = 4) -> Array:
    """From nearly equal to concentrated on a handful of points, on very different scales."""
    rng = np.random.default_rng(seed)
    logits = np.linspace(0.1, 2.5, rows)[:, None] * rng.standard_normal((rows, n))
    return np.exp(logits) * 10.0 ** rng.uniform(-8, 8, (rows, 1))


@pytest.mark.parametrize("d", LEVELS)
def test_agrees_with_one_at_a_time(d: int) -> None:
    x, w = points(d), weightings(60)
    many = sr.profiles(x, weights=w, levels=LEVELS[d])
    assert len(many) == len(w)
    assert not many.failures
    for row, weights in enumerate(w):
        one = sr.profile(x, weights=weights, levels=LEVELS[d])
        np.testing.assert_allclose(many.deficits[row], one.deficits, atol=CLOSE)
        np.testing.assert_allclose(many.gaps[row], one.gaps, atol=CLOSE)
        np.testing.assert_allclose(many.uncertainty[row], one.uncertainty, atol=CLOSE)
        assert many.ess[row] == pytest.approx(one.ess, rel=1e-12)
    assert np.nanmax(many.residual) <= 1e-10
    assert np.nanmax(many.quadrature) <= 1e-10


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("kappa", [30.0, 300.0, 3000.0])
def test_agrees_on_concentrated_weightings(d: int, kappa: float) -> None:
    """Attention that looks at a small cap: the shared points, very different centres."""
    x = points(d, 3000)
    w = np.exp(kappa * (x[:5] @ x.T - 1.0))
    many = sr.profiles(x, weights=w, levels=2)
    for row, weights in enumerate(w):
        one = sr.profile(x, weights=weights, levels=2)
        np.testing.assert_allclose(many.gaps[row], one.gaps, rtol=0.0, atol=CLOSE)


@pytest.mark.parametrize("d", [2, 3])
def test_row_does_not_depend_on_its_company(d: int) -> None:
    x, w = points(d), weightings(60)
    many = sr.profiles(x, weights=w, levels=3)
    backwards = sr.profiles(x, weights=w[::-1], levels=3)
    np.testing.assert_allclose(backwards.deficits[::-1], many.deficits, atol=1e-12)
    alone = sr.profiles(x, weights=w[5:6], levels=3)
    np.testing.assert_allclose(alone.deficits[0], many.deficits[5], atol=1e-12)


def one_hot(n: int, *rows: int) -> Array:
    w = np.zeros(n)
    w[list(rows)] = np.arange(1.0, len(rows) + 1.0)
    return w


@pytest.mark.parametrize("d", [2, 3])
def test_failing_rows_lose_no_other(d: int) -> None:
    x, w = points(d), weightings(60)
    sound = sr.profiles(x, weights=w, levels=3)
    w[2] = one_hot(60, 17)
    w[5] = one_hot(60, 9, 30)
    w[7] = one_hot(60, 0, 2 * d)  # two rows, one direction
    found = sr.profiles(x, weights=w, levels=3)
    assert set(found.failures) == {2, 5, 7}
    stopped = [found.failures[row] for row in (2, 5, 7)]
    assert [error.level for error in stopped if isinstance(error, sr.BoundaryError)] == [1, 2, 1]
    assert all(isinstance(error, sr.BoundaryError) for error in found.failures.values())
    assert "all the weight sits on one point" in str(found.failures[2])
    assert "level 2 does not exist" in str(found.failures[5])
    assert "levels=1 is sound" in str(found.failures[5])
    assert np.isnan(found.deficits[[2, 7]]).all()
    assert np.isnan(found.deficits[5, 1:]).all()
    alone = sr.profile(x, weights=w[5], levels=1)
    assert found.deficits[5, 0] == pytest.approx(alone.deficits[0], abs=1e-12)
    kept = [row for row in range(len(w)) if row not in found.failures]
    np.testing.assert_allclose(found.deficits[kept], sound.deficits[kept], atol=1e-12)


@pytest.mark.parametrize(
    ("rows", "level", "words"),
    [
        ((0, 3), 2, "two points.*antipodal"),
        ((0, 1), 2, "two points"),
        ((0, 1, 3, 4), 2, "great circle"),
        ((0, 1, 2), 2, "small circle"),
        ((0, 1, 2, 3, 4, 5), 4, "only 6 distinct points"),
    ],
)
def test_failures_say_what_the_support_lies_on(
    rows: tuple[int, ...], level: int, words: str
) -> None:
    x = points(3)
    found = sr.profiles(x, weights=np.stack([np.ones(60), one_hot(60, *rows)]), levels=4)
    assert list(found.failures) == [1]
    error = found.failures[1]
    assert isinstance(error, sr.BoundaryError)
    assert error.level == level
    with pytest.raises(sr.BoundaryError, match=words) as caught:
        sr.profile(x, weights=one_hot(60, *rows), levels=4)
    assert str(caught.value) == str(error)
    assert np.isfinite(found.deficits[1, : level - 1]).all()
    assert np.isnan(found.deficits[1, level - 1 :]).all()


def test_every_row_may_fail() -> None:
    found = sr.profiles(points(3), weights=np.eye(60)[:4], levels=2)
    assert sorted(found.failures) == [0, 1, 2, 3]
    assert np.isnan(found.deficits).all()
    assert found.ess.tolist() == [1.0, 1.0, 1.0, 1.0]
    assert "4 rows stop early; row 0: level 1 does not exist" in str(found)


def test_ess_is_that_of_kish() -> None:
    w = np.zeros((3, 60))
    w[0], w[1, :2], w[2, :10] = 5.0, (1.0, 3.0), 1e-300
    found = sr.profiles(points(3), weights=w, levels=1)
    np.testing.assert_allclose(found.ess, [60.0, 16.0 / 10.0, 10.0], rtol=1e-14)


def test_accepts_lists_directions_and_single_precision() -> None:
    x, w = points(3), weightings(60, 3)
    expected = sr.profiles(x, weights=w, levels=2).gaps
    for same in (x.tolist(), sr.Directions(x)):
        np.testing.assert_array_equal(sr.profiles(same, weights=w, levels=2).gaps, expected)
    rough = sr.profiles(x.astype(np.float32), weights=w, levels=2)
    np.testing.assert_allclose(rough.gaps, expected, atol=1e-5)
    listed = sr.profiles(x, weights=w.tolist(), levels=2)
    np.testing.assert_array_equal(listed.gaps, expected)
    assert "3 profiles of 2 levels, in nats" in str(listed)


def test_input_is_left_alone() -> None:
    x, w = points(3), weightings(60)
    kept_x, kept_w = x.copy(), w.copy()
    sr.profiles(x, weights=w, levels=2)
    np.testing.assert_array_equal(x, kept_x)
    np.testing.assert_array_equal(w, kept_w)


def bad(row: int, column: int, value: float) -> Array:
    w = np.ones((3, 60))
    w[row, column] = value
    return w


@pytest.mark.parametrize(
    ("weights", "row", "message"),
    [
        (
            bad(1, 7, -0.5),
            1,
            "weight of point 7 in weighting 1 is -0.5; weights are finite",
        ),
        (bad(2, 0, np.nan), 2, "weight of point 0 in weighting 2 is nan; weights are finite"),
        (bad(0, 59, np.inf), 0, "weight of point 59 in weighting 0 is inf; weights are finite"),
        (np.stack([np.ones(60), np.zeros(60)]), 1, "weighting 1 is zero everywhere; give it a pos"),
    ],
)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csc_matrix])
def test_rows_that_are_no_weightings_fail_alone(
    weights: Array, row: int, message: str, kind: Callable[[Array], Any]
) -> None:
    found = sr.profiles(points(3), weights=kind(weights), levels=2)
    assert list(found.failures) == [row]
    assert isinstance(found.failures[row], sr.InvalidDirections)
    assert str(found.failures[row]).startswith(message)
    assert np.isnan(found.gaps[row]).all()
    assert np.isnan(found.ess[row])
    sound = np.delete(found.gaps, row, axis=0)
    alone = sr.profile(points(3), levels=2).gaps
    np.testing.assert_allclose(sound, np.tile(alone, (len(sound), 1)), atol=1e-12)
    assert f"1 rows stop early; row {row}: weight" in str(found)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(60), r"weights have shape \(60,\); give \(B, 60\), one weighting"),
        (np.ones((2, 59)), r"weights have shape \(2, 59\); give \(B, 60\)"),
        (np.ones((0, 60)), r"weights have shape \(0, 60\); give \(B, 60\)"),
        ([[1.0, 2.0], [3.0]], "weights is ragged: every row needs the same number"),
        ([["a"] * 60], "weights has type .*; give real numbers"),
    ],
)
def test_bad_weights_are_named(weights: object, message: str) -> None:
    with pytest.raises(sr.InvalidDirections, match=message):
        sr.profiles(points(3), weights=weights, levels=2)


def test_weighted_directions_are_ambiguous() -> None:
    x = sr.Directions(points(3), np.ones(60))
    with pytest.raises(sr.InvalidDirections, match="carry weights; multiply them into weights="):
        sr.profiles(x, weights=np.ones((1, 60)))


def test_bad_points_are_named() -> None:
    x = points(3)
    x[4] *= 0.93
    with pytest.raises(
        sr.InvalidDirections,
        match=r"row 4 has norm 0\.93; pass sr\.Directions\(x, normalize=True\)",
    ):
        sr.profiles(x, weights=np.ones((1, 60)))


def test_impossible_levels_are_named() -> None:
    with pytest.raises(ValueError, match="levels is 0; a hierarchy has at least one level"):
        sr.profiles(points(3), weights=np.ones((1, 60)), levels=0)
