"""Directions: what is accepted, what is refused and in which words."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import steradian as sr
from named_rows import without_count
from steradian.data.validation import BLOCK
from steradian.numerics.arrays import AnyArray, Array

EYE = np.eye(3)


ZERO = "row 2 is the zero vector, which has no direction; drop it (of a file: on_bad='skip')"


def sphere_points(n: int, d: int = 3, seed: int = 0) -> Array:
    """Points of the whole sphere: both poles and the date line first, then random ones."""
    x = np.random.default_rng(seed).standard_normal((n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[0], x[1], x[2] = np.eye(d)[-1], -np.eye(d)[-1], -np.eye(d)[0]
    return x


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        make()
    return without_count(str(caught.value))


# --- rows ---------------------------------------------------------------------------------


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize(
    ("row", "words"),
    [
        ([np.nan, 1.0, 0.0], "row 2 holds nan; drop or repair that row"),
        ([0.0, np.inf, 0.0], "row 2 holds inf; drop or repair that row"),
        ([0.0, 0.0, -np.inf], "row 2 holds -inf; drop or repair that row"),
        (
            [0.0, 0.0, 0.0],
            ZERO,
        ),
        (
            [-0.0, 0.0, -0.0],
            ZERO,
        ),
    ],
)
def test_a_row_without_direction_is_named(row: list[float], words: str, normalize: bool) -> None:
    rows = [*EYE[:2].tolist(), row, [np.nan] * 3]
    assert refusal(lambda: sr.Directions(rows, normalize=normalize)) == words


@pytest.mark.parametrize("norm", [0.93, 1.07, 2.0, 1.0 + 1e-5, 1e-9, 1e200])
def test_a_row_off_the_sphere_names_row_norm_and_remedy(norm: float) -> None:
    rows = np.eye(4)
    rows[1] *= norm
    words = f"row 1 has norm {norm:.6g}; pass normalize=True or fix it"
    assert refusal(lambda: sr.Directions(rows)) == words
    assert np.array_equal(sr.Directions(rows, normalize=True).x, np.eye(4))


def test_the_row_number_counts_over_blocks() -> None:
    rows = np.tile([1.0, 0.0], (BLOCK + 3, 1))
    rows[BLOCK + 1, 0] = 0.5
    words = f"row {BLOCK + 1} has norm 0.5; pass normalize=True or fix it"
    assert refusal(lambda: sr.Directions(rows)) == words


@pytest.mark.parametrize(
    ("x", "words"),
    [
        ([], "x is empty; give at least one direction"),
        (np.zeros((0, 3)), "x is empty; give at least one direction"),
        (np.zeros((3, 0)), "x is empty; give at least one direction"),
        ([1.0, 0.0], r"x has shape \(2,\); give \(n, d\) .*from_angles"),
        ([[1.0], [1.0]], r"x has shape \(2, 1\); give \(n, d\) .*d >= 2"),
        (np.ones((2, 2, 2)), r"x has shape \(2, 2, 2\); give \(n, d\)"),
        (1.0, r"x has shape \(\); give \(n, d\)"),
        ([[1, 0], [1]], "x is ragged: every row needs the same number of entries"),
        ([["a", "b"]], "x has type <U1; give real numbers"),
        ([["1", "0"]], "x has type <U1; give real numbers"),
        ([[1j, 0]], "x has type complex128; give real numbers"),
        (np.array([["2021", "2022"]], "datetime64[Y]"), r"x has type datetime64\[Y\]; give real"),
        (np.array([[1j, 0]], object), "x holds entries that are not numbers: .*'complex'"),
        (np.array([["up", 0]], object), "x holds entries that are not numbers: .*'up'"),
        (np.array([[10**400, 0]], object), "x holds entries that are not numbers: .*too large"),
        (np.ma.masked_equal(EYE, 0), "x has masked entries; drop those rows$"),
        ({"x": 1}, "x holds entries that are not numbers: .*'dict'"),
    ],
)
@pytest.mark.parametrize("normalize", [False, True])
def test_what_is_not_a_table_of_numbers(x: Any, words: str, normalize: bool) -> None:
    assert re.match(words, refusal(lambda: sr.Directions(x, normalize=normalize)))


@pytest.mark.parametrize("scale", [5e-324, 1e-310, 1e-200, 1e-20, 1e20, 1e200, 1.7e308])
def test_tiny_and_huge_rows_are_normalised(scale: float) -> None:
    rows = scale * np.array([[1.0, 1.0, 0.0], [0.0, -1.0, 1.0], [-1.0, -1.0, -1.0]])
    expected = np.sign(rows) / np.sqrt([[2.0], [2.0], [3.0]])
    np.testing.assert_allclose(sr.Directions(rows, normalize=True).x, expected, rtol=3e-16)


def test_rows_of_very_different_entries_are_normalised() -> None:
    rows = [[1e308, 1e-308], [0, -1e-320]]
    assert np.array_equal(sr.Directions(rows, normalize=True).x, [[1, 0], [0, -1]])


# --- kinds of input -----------------------------------------------------------------------


@pytest.mark.parametrize(
    "form",
    [
        np.ndarray.tolist,
        lambda x: [tuple(row) for row in x],
        np.asfortranarray,
        lambda x: np.ascontiguousarray(x[::-1])[::-1],
        lambda x: np.ascontiguousarray(x[:, ::-1])[:, ::-1],
        lambda x: np.repeat(x, 2, axis=0)[::2],
        lambda x: np.repeat(x, 3, axis=1)[:, 1::3],
        lambda x: x.astype(">f8"),
        lambda x: x.astype(object),
        lambda x: x.astype(np.longdouble),
        pd.DataFrame,
        pl.DataFrame,
        np.ma.masked_array,
    ],
)
def test_every_form_of_the_same_numbers(form: Callable[[Array], Any]) -> None:
    x = sphere_points(20)
    directions = sr.Directions(form(x))
    assert directions.x.dtype == np.float64
    assert np.array_equal(directions.x, sr.Directions(x).x)
    assert (directions.n, directions.d, len(directions)) == (20, 3, 20)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rows_of_any_precision_become_unit_in_double(dtype: type) -> None:
    rows: AnyArray = sphere_points(500).astype(dtype)
    x = sr.Directions(rows).x
    assert x.dtype == np.float64
    np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, rtol=1e-15)
    exact = rows.astype(np.float64)
    exact /= np.linalg.norm(exact, axis=1, keepdims=True)
    np.testing.assert_allclose(x, exact, rtol=0, atol=3e-16)


@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.uint8, np.bool_])
def test_integers(dtype: type) -> None:
    assert np.array_equal(sr.Directions(EYE.astype(dtype)).x, EYE)


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"x": [1.0, None], "y": [0.0, 1.0]}),
        pl.DataFrame({"x": [1.0, None], "y": [0.0, 1.0]}),
    ],
)
def test_a_missing_value_of_a_frame_names_its_row(frame: Any) -> None:
    assert refusal(lambda: sr.Directions(frame)) == "row 1 holds nan; drop or repair that row"


def test_callers_arrays_stay_as_they_were() -> None:
    x, w, c = 3.0 * sphere_points(30), np.arange(30.0), np.arange(30)
    copies = x.copy(), w.copy(), c.copy()
    directions = sr.Directions(x, w, counts=c, normalize=True)
    directions.support()
    sr.profile(directions)
    for mine, before in zip((x, w, c), copies, strict=True):
        assert np.array_equal(mine, before)
        assert mine.flags.writeable


def test_weights_are_a_copy() -> None:
    w = np.array([1.0, 2.0, 1.0])
    directions = sr.Directions(EYE, w)
    w[:] = 0.0
    assert directions.weights.tolist() == [0.25, 0.5, 0.25]


def test_the_object_cannot_be_changed() -> None:
    directions = sr.Directions(sphere_points(5), np.ones(5))
    with pytest.raises(ValueError, match="read-only"):
        directions.x[0, 0] = 5.0
    for x, w in directions.blocks():
        with pytest.raises(ValueError, match="read-only"):
            w[0] = 5.0
        with pytest.raises(ValueError, match="read-only"):
            x[0] = 5.0
    for name in ("_x", "_weights"):
        with pytest.raises(dataclasses.FrozenInstanceError, match=name):
            setattr(directions, name, None)


# --- weights and counts -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("weights", "words"),
    [
        ([1, -2, -3], "weight in row 1 is -2; weights must not be negative"),
        ([1, np.nan, 1], "weight in row 1 is nan; drop or repair that row"),
        ([1, 1, np.inf], "weight in row 2 is inf; drop or repair that row"),
        ([-np.inf, 1, 1], "weight in row 0 is -inf; drop or repair that row"),
        ([0, 0, 0], "all weights are zero; give at least one positive weight"),
        ([1, 2], "weights have shape (2,) for 3 rows; give one per row"),
        (np.ones((3, 1)), "weights have shape (3, 1) for 3 rows; give one per row"),
        (1.0, "weights have shape () for 3 rows; give one per row"),
        ([1j, 1, 1], "weights has type complex128; give real numbers"),
        (np.ma.masked_equal([1, 2, 1], 2), "weights has masked entries; drop those rows"),
        ("w", "weights has type <U1; give real numbers"),
        ([1, [2], 3], "weights is ragged: every row needs the same number of entries"),
    ],
)
def test_bad_weights(weights: Any, words: str) -> None:
    assert refusal(lambda: sr.Directions(EYE, weights)) == words


@settings(deadline=None)
@given(st.integers(-300, 300), st.lists(st.integers(1, 1000), min_size=3, max_size=3))
def test_weights_have_no_scale(exponent: int, whole: list[int]) -> None:
    plain = sr.Directions(EYE, whole)
    scaled = sr.Directions(EYE, np.array(whole) * 10.0**exponent)
    np.testing.assert_allclose(scaled.weights, plain.weights, rtol=1e-14)
    np.testing.assert_allclose(scaled.ess, plain.ess, rtol=1e-13)
    np.testing.assert_allclose(scaled.support()[1], plain.support()[1], rtol=1e-14)


@pytest.mark.parametrize("scale", [1e-300, 1e-150, 1e-12, 1e12, 1e150, 1e300])
def test_a_profile_does_not_see_the_scale_of_the_weights(scale: float) -> None:
    x, w = sphere_points(40), np.random.default_rng(1).uniform(0.1, 1.0, 40)
    plain, scaled = (sr.profile(x, weights=v, levels=2) for v in (w, scale * w))
    np.testing.assert_allclose(scaled.deficits, plain.deficits, rtol=1e-12)
    np.testing.assert_allclose(scaled.ess, plain.ess, rtol=1e-13)
    np.testing.assert_allclose(scaled.ess, w.sum() ** 2 / (w @ w), rtol=1e-13)


def test_equal_weights_and_ess() -> None:
    equal, weighted = sr.Directions(EYE), sr.Directions(EYE, [1, 1, 2])
    assert not equal.weighted
    assert weighted.weighted
    assert equal.weights.tolist() == [1 / 3] * 3
    assert equal.ess == 3.0
    assert weighted.ess == pytest.approx(16 / 6, rel=1e-15)
    assert repr(equal) == "Directions(n=3, d=3, equal weights)"
    assert repr(weighted) == "Directions(n=3, d=3, weighted, ESS 2.7)"


def test_counts_are_rows() -> None:
    counted = sr.Directions(EYE, counts=[2, 0, 3])
    rows = sr.Directions(EYE[[0, 0, 2, 2, 2]])
    assert np.array_equal(counted.x, rows.x)
    assert (counted.n, counted.ess, counted.weighted) == (5, 5.0, False)
    both = sr.Directions(EYE, [1, 5, 2], counts=[2, 0, 3])
    assert both.weights.tolist() == [0.125, 0.125, 0.25, 0.25, 0.25]


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ([1, 2.5, 1], "count in row 1 is 2.5; counts are whole numbers"),
        ([0, 0, 0], "all counts are zero; give at least one observation"),
        ([1, -2, 1], "^count in row 1 is -2; counts must not be negative$"),
        ([1, np.nan, 1], "^count in row 1 is nan; drop or repair that row$"),
        ([1, 2], r"^counts have shape \(2,\) for 3 rows; give one per row$"),
    ],
)
def test_bad_counts(counts: list[float], words: str) -> None:
    assert re.search(words, refusal(lambda: sr.Directions(EYE, counts=counts)))


def test_counts_that_leave_no_weight() -> None:
    words = "all weights are zero; give at least one positive weight"
    assert refusal(lambda: sr.Directions(EYE, [1, 0, 0], counts=[0, 1, 1])) == words


# --- angles, longitudes, latitudes --------------------------------------------------------


def test_angles_are_exact_at_quarter_turns() -> None:
    degrees = 90.0 * np.arange(-9, 10)
    x = sr.Directions.from_angles(degrees, degrees=True).x
    quarters = np.array([[1, 0], [0, 1], [-1, 0], [0, -1]], dtype=float)
    assert np.array_equal(x, quarters[np.arange(-9, 10) % 4])


def test_angles_in_degrees_and_radians_agree() -> None:
    degrees = np.linspace(-700.0, 700.0, 57)
    x = sr.Directions.from_angles(degrees, degrees=True).x
    turns = np.exp(1j * np.pi * degrees / 180.0)
    np.testing.assert_allclose(x, np.stack([turns.real, turns.imag], axis=1), atol=3e-15)
    radians = sr.Directions.from_angles(np.deg2rad(degrees)).x
    np.testing.assert_allclose(radians, x, atol=3e-15)


def test_lonlat_is_exact_on_the_axes_the_poles_and_the_date_line() -> None:
    lon = [0, 90, 180, -180, 270, -90, 360, 540, 0, 123, 7]
    lat = [0, 0, 0, 0, 0, 0, 0, 0, 90, 90, -90]
    x, y, z = EYE
    expected = [x, y, -x, -x, -y, -y, x, -x, z, z, -z]
    assert np.array_equal(sr.Directions.from_lonlat(lon, lat).x, np.array(expected))


def test_the_date_line_has_two_sides_of_one_place() -> None:
    x = sr.Directions.from_lonlat([179.5, -180.5, 539.5], [30, 30, 30]).x
    np.testing.assert_allclose(x, np.tile(x[0], (3, 1)), atol=2e-16)
    assert x[0, 0] < 0 < x[0, 1]


def test_lonlat_in_radians() -> None:
    lon, lat = np.array([10.0, 200.0, -75.0]), np.array([-60.0, 5.0, 89.0])
    radians = sr.Directions.from_lonlat(np.deg2rad(lon), np.deg2rad(lat), degrees=False).x
    np.testing.assert_allclose(radians, sr.Directions.from_lonlat(lon, lat).x, atol=4e-16)
    np.testing.assert_allclose(radians[:, 2], np.sin(np.deg2rad(lat)), rtol=1e-15)


@pytest.mark.parametrize("sign", [1, -1])
def test_a_latitude_beyond_the_pole(sign: int) -> None:
    assert refusal(lambda: sr.Directions.from_lonlat([0, 0], [0, 91 * sign])) == (
        f"row 1 has latitude {91 * sign}, beyond ±90; "
        "check the column order and the unit (degrees=True or False)"
    )
    words = refusal(lambda: sr.Directions.from_lonlat([0, 0], [0, 2 * sign], degrees=False))
    assert words.startswith(f"row 1 has latitude {2 * sign}, beyond ±1.5708; check")


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sr.Directions.from_angles([]), "angle is empty; give at least one"),
        (
            lambda: sr.Directions.from_angles([[0.0]]),
            "angle has shape (1, 1); give one number per row",
        ),
        (lambda: sr.Directions.from_angles(1.0), "angle has shape (); give one number per row"),
        (
            lambda: sr.Directions.from_angles([0, np.nan]),
            "angle in row 1 is nan; drop or repair that row",
        ),
        (lambda: sr.Directions.from_angles(["a"]), "angle has type <U1; give real numbers"),
        (
            lambda: sr.Directions.from_lonlat([0, np.inf], [0, 0]),
            "longitude in row 1 is inf; drop or repair that row",
        ),
        (
            lambda: sr.Directions.from_lonlat([0, 0], [np.nan, 0]),
            "latitude in row 0 is nan; drop or repair that row",
        ),
        (
            lambda: sr.Directions.from_lonlat([0, 0], [0]),
            "2 longitudes but 1 latitudes; give one of each per row",
        ),
        (
            lambda: sr.Directions.from_angles([0, 1], weights=[1, -1]),
            "weight in row 1 is -1; weights must not be negative",
        ),
        (
            lambda: sr.Directions.from_lonlat([0, 1], [0, 0], weights=[1]),
            "weights have shape (1,) for 2 rows; give one per row",
        ),
    ],
)
def test_bad_angles(make: Callable[[], object], words: str) -> None:
    assert refusal(make) == words


# --- blocks and support -------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 3, 7, 10, 11, BLOCK])
def test_blocks_cover_every_row_once(size: int) -> None:
    directions = sr.Directions(sphere_points(10).astype(np.float32), np.arange(10.0))
    parts = list(directions.blocks(size))
    assert max(len(x) for x, _ in parts) == min(size, 10)
    assert np.array_equal(np.concatenate([x for x, _ in parts]), directions.x)
    assert np.array_equal(np.concatenate([w for _, w in parts]), np.arange(10.0))


def test_support_merges_ties_and_drops_zero_weights() -> None:
    x, y, z = EYE
    rows = np.array([z, x, z, -y, x, z, -x])
    points, weights = sr.Directions(rows, [1, 2, 3, 0, 4, 6, 4]).support()
    order = np.argsort(weights)
    assert np.array_equal(points[order], [-x, x, z])
    np.testing.assert_allclose(weights[order], [0.2, 0.3, 0.5], rtol=1e-15)


def test_signed_zeros_are_one_point() -> None:
    points, weights = sr.Directions([[0.0, 1.0], [-0.0, 1.0]]).support()
    assert np.array_equal(points, [[0.0, 1.0]])
    assert weights.tolist() == [1.0]
