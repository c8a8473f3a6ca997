"""Weights of any scale, angles of any size, and requests that no machine could serve."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
import steradian as sr
from named_rows import without_count
from oracles import Array
from steradian.cli.app import run
from steradian.paper import ridge

SCALES = (1.0, 2.0**-1000, 2.0**1020, 1e-308, 1e308, 1e-320)


def points(d: int, n: int = 60) -> tuple[Array, Array]:
    rng = np.random.default_rng([d, n])
    x = rng.standard_normal((n, d)) + np.eye(d)[0]
    x = x @ oracles.rotation(d, rng)
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True)), rng.random(n)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("d", [2, 3, 5])
def test_the_scale_of_the_weights_does_not_matter(d: int, scale: float) -> None:
    x, w = points(d)
    scaled = scale * w
    same = scaled / scale if scale > 1e-310 else scaled / scaled.max()  # subnormals are coarse
    levels = 3 if d <= 3 else 2
    want = sr.profile(x, weights=same, levels=levels)
    found = sr.profile(x, weights=scaled, levels=levels)
    np.testing.assert_allclose(found.deficits, want.deficits, rtol=1e-10)
    assert found.ess == pytest.approx(want.ess, rel=1e-12)
    stacked = sr.profiles(x, weights=np.stack([scaled, same]), levels=levels)
    np.testing.assert_allclose(stacked.deficits[0], stacked.deficits[1], rtol=1e-10)
    assert stacked.ess[0] == pytest.approx(want.ess, rel=1e-12)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_one_weight_beyond_all_others(d: int) -> None:
    """The others are below rounding: all the weight sits on one point, at any scale."""
    x, w = points(d)
    w[7] = 1e300
    for scale in (1.0, 1e-300, 1e8):
        with pytest.raises(sr.BoundaryError, match="level 1"):
            sr.profile(x, weights=scale * w, levels=2)


@pytest.mark.parametrize("scale", SCALES)
def test_moments_pool_at_the_scale_that_was_given(scale: float) -> None:
    x, w = points(3)
    h = sr.Harmonics(3, 2)
    scaled = scale * w
    parts = [
        sr.Moments.from_directions(sr.Directions(x[rows], scaled[rows]), h)
        for rows in (slice(0, 20), slice(20, 60))
    ]
    whole = sr.Moments.from_directions(sr.Directions(x, scaled), h)
    for pooled in (parts[0] + parts[1], parts[1] + parts[0]):
        np.testing.assert_allclose(pooled.features, whole.features, atol=1e-14)
        assert pooled.ess == pytest.approx(whole.ess, rel=1e-12)


@pytest.mark.parametrize(("heavy", "light"), [(1e200, 1.0), (1.0, 1e-200), (1e150, 1e-150)])
def test_heavy_moments_drown_light_ones(heavy: float, light: float) -> None:
    """As the concatenated rows would: each scale is beyond what the other can move."""
    x, w = points(3)
    h = sr.Harmonics(3, 2)
    a = sr.Moments.from_directions(sr.Directions(x[:30], heavy * w[:30]), h)
    b = sr.Moments.from_directions(sr.Directions(x[30:], light * w[30:]), h)
    for pooled in (a + b, b + a):
        assert pooled.n == 60
        np.testing.assert_allclose(pooled.features, a.features, atol=1e-14)
        np.testing.assert_allclose(pooled.stack().scatter, a.stack().scatter, atol=1e-14)
    again = sr.Moments.from_dict(a.to_dict()) + b
    np.testing.assert_array_equal(again.features, (a + b).features)


def test_moments_say_their_scale() -> None:
    x, w = points(3)
    heavy = sr.Moments.from_directions(sr.Directions(x, 2.0**900 * w), sr.Harmonics(3, 1))
    assert f"2^{heavy.exponent}" in repr(heavy)
    assert heavy.weight * 2.0 ** (heavy.exponent - 900) == pytest.approx(w.sum(), rel=1e-12)
    assert sr.Moments.from_directions(sr.Directions(x, w), sr.Harmonics(3, 1)).exponent == 0


# --- angles -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("degrees", "largest", "full"), [(False, 4.5e6, "2π"), (True, 2.5e8, "360")]
)
def test_angles_without_a_digit_are_refused(degrees: bool, largest: float, full: str) -> None:
    assert sr.Directions.from_angles([largest, -largest], degrees=degrees).n == 2
    for bad in (1.1 * largest, -1e20, 1e300):
        with pytest.raises(sr.InvalidDirections) as caught:
            sr.Directions.from_angles([0.0, bad], degrees=degrees)
        assert without_count(str(caught.value)) == (
            f"angle in row 1 is {bad:g}, so large that rounding has moved it by more than "
            f"1e-09 radians; reduce it modulo {full} where it is still exact"
        )
    with pytest.raises(sr.InvalidDirections, match="longitude in row 0 is 1e"):
        sr.Directions.from_lonlat([1e20], [0.0], degrees=degrees)


# --- more than a machine holds ------------------------------------------------------------


def test_counts_that_no_memory_holds() -> None:
    for counts in ([10**15, 1, 1], [1e308] * 3, [10**9] * 3):
        with pytest.raises(sr.InvalidDirections, match=r"the counts add up to .* rows of 3 coord"):
            sr.Directions(np.eye(3), counts=counts)
    with pytest.raises(sr.InvalidDirections, match=r"counts have shape \(\) for 3 rows"):
        sr.Directions(np.eye(3), counts=10**15)


@pytest.mark.parametrize(
    ("d", "levels", "words"),
    [
        (2, 10**9, "levels is 1000000000; at most 1000 are possible in dimension 2"),
        (3, 10**9, "levels is 1000000000; at most 100 are possible in dimension 3"),
        (3, 40, "levels is 40; at most 32 can be fitted on the sphere"),
        (5, 10**9, "1000000000 levels in dimension 5: above dimension 3 at most 5 levels"),
        (3, 2.5, "levels is 2.5; give a whole number"),
        (3, "a", "levels is 'a'; give a whole number"),
        (3, 0, "levels is 0; a hierarchy has at least one level"),
        (3, 10**400, "levels is 1000000000"),
    ],
)
def test_levels_that_are_not_possible(d: int, levels: int, words: str) -> None:
    x, w = points(d)
    for call in (
        lambda: sr.profile(x, levels=levels),
        lambda: sr.profiles(x, weights=w[None], levels=levels),
        lambda: ridge(x, 0.1, levels=levels),
        lambda: sr.boundary(x, levels=levels),
    ):
        with pytest.raises(sr.InvalidArgument) as caught:
            call()
        assert str(caught.value).startswith(words)


def test_hierarchies_that_are_not_possible() -> None:
    for d, levels, words in (
        (3, 10**9, "the moments of more do not fit in memory"),
        (10**9, 2, "at most 16384 dimensions are possible, whose covariance is two gigabytes"),
        (1, 2, "directions need at least two dimensions"),
    ):
        with pytest.raises(sr.InvalidArgument, match=words):
            sr.Harmonics(d, levels)


@pytest.mark.parametrize("levels", ["40", "1000000000", "-1"])
def test_levels_on_the_command_line(levels: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["profile", "mcmurdo", "--levels", levels]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("steradian: ")
    assert f"levels is {levels}; " in captured.err
    assert captured.err.count("\n") == 1
