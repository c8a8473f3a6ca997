"""Tails of weighted chi-square sums, against closed forms and forty digits."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import chi2
from scipy.stats import f as f_law

from oracles_mixture import contour_tail, paired_level, paired_tail
from steradian.numerics.arrays import Array
from steradian.numerics.chi_square_mixture import mixture_sf

CLOSE = 1e-10
TARGETS = [1.0 - 1e-6, 0.9, 0.3, 1e-3, 1e-12, 1e-40, 1e-100]


def tail(t: float, coefficients: Array | list[float], dof: float = np.inf) -> float:
    return float(mixture_sf([t], np.asarray(coefficients, dtype=np.float64)[None], dof)[0])


def two_tail(t: float, first: float, second: float, dof: float = np.inf) -> float:
    """Two coefficients in polar coordinates: an average over the angle of the pair."""
    angle = np.pi * (np.arange(4000) + 0.5) / 4000
    width = first * np.cos(angle) ** 2 + second * np.sin(angle) ** 2
    if np.isinf(dof):
        return float(np.exp(-t / (2.0 * width)).mean())
    return float(((1.0 + t / (dof * width)) ** (-0.5 * dof)).mean())


# --- the oracles --------------------------------------------------------------------------


@pytest.mark.parametrize("t", [0.3, 3.0, 60.0])
def test_the_two_references_agree(t: float) -> None:
    pairs = [1.0, 0.4, 0.01]
    both = contour_tail(t, np.repeat(pairs, 2).tolist())
    assert float(abs(both / paired_tail(t, pairs) - 1)) < 1e-14
    both = contour_tail(t, np.repeat(pairs, 2).tolist(), dof=60.0)
    assert float(abs(both / paired_tail(t, pairs, 60.0) - 1)) < 1e-14


# --- against them -------------------------------------------------------------------------


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize(
    "pairs",
    [
        [1.0, 0.5],
        [3.0, 2.9, 1e-3],
        [1.0, 1e-3, 1e-6],
        np.geomspace(1.0, 1e-6, 7).tolist(),
        np.linspace(1.0, 1.2, 5).tolist(),
    ],
)
def test_pairs_of_coefficients(pairs: list[float], target: float) -> None:
    t = paired_level(target, pairs)
    want = float(paired_tail(t, pairs))
    assert want == pytest.approx(target, rel=1e-6)
    assert tail(t, np.repeat(pairs, 2)) == pytest.approx(want, rel=CLOSE)


@pytest.mark.parametrize("ratio", [3.0, 1e3, 1e6])
@pytest.mark.parametrize("t", [0.02, 1.0, 8.0, 30.0, 500.0])
def test_forty_pairs(ratio: float, t: float) -> None:
    pairs = np.geomspace(1.0, 1.0 / ratio, 40)
    level = t if ratio > 10.0 else 4.0 * t
    assert tail(level, np.repeat(pairs, 2)) == pytest.approx(
        float(paired_tail(level, pairs.tolist())), rel=CLOSE
    )


ODD = [
    [2.0, 0.3],
    [1.0, 1e-6],
    [0.7, 0.3, 0.1],
    [1.0, 1.0, 1.0, 1e-4],
    [5.0, 4.0, 4.0, 0.2, 1e-5],
    np.geomspace(1.0, 1e-6, 13).tolist(),
]


@pytest.mark.parametrize("coefficients", ODD)
@pytest.mark.parametrize("times", [0.3, 1.0, 6.0, 60.0])
def test_coefficients_of_any_multiplicity(coefficients: list[float], times: float) -> None:
    t = times * float(np.sum(coefficients))
    want = float(contour_tail(t, coefficients, 12))
    assert tail(t, coefficients) == pytest.approx(want, rel=CLOSE)


@pytest.mark.parametrize("small", [1e-8, 1e-10])
def test_small_coefficients_count_at_small_levels(small: float) -> None:
    """1 - p is about t / 2 - ω there: left out, it would show in the tenth digit or before."""
    pairs, t = [1.0, small], 10.0 * small
    exact = paired_tail(t, pairs)
    assert float(1 - exact) == pytest.approx(t / 2.0 - small, rel=0.01)
    assert tail(t, np.repeat(pairs, 2)) == pytest.approx(float(exact), rel=1e-12)


@pytest.mark.parametrize("dof", [np.inf, 3.0, 40.0])
@pytest.mark.parametrize("t", [1e-4, 0.5, 3.0, 40.0, 400.0])
@pytest.mark.parametrize("second", [0.9, 0.2, 0.03])
def test_two_coefficients_by_their_angle(second: float, t: float, dof: float) -> None:
    want = two_tail(t, 1.0, second, dof)
    assert tail(t, [1.0, second], dof) == pytest.approx(want, rel=CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("q", [1, 2, 3, 8, 21, 80])
@pytest.mark.parametrize("ratio", [1.5, 1e2, 1e4, 1e6])
@pytest.mark.parametrize("seed", range(3))
def test_a_grid_of_mixtures(q: int, ratio: float, seed: int) -> None:
    rng = np.random.default_rng([q, int(ratio), seed])
    coefficients = ratio ** -rng.uniform(size=q)
    for share in (0.5, 1.0, 2.0, 7.0):
        t = share * float(coefficients.sum())
        want = float(contour_tail(t, coefficients.tolist(), 12))
        assert tail(t, coefficients) == pytest.approx(want, rel=CLOSE)
    far = 455.0 * float(coefficients.max())
    want = float(contour_tail(far, coefficients.tolist(), 12))
    assert want < 1e-60
    assert tail(far, coefficients) == pytest.approx(want, rel=CLOSE)


@pytest.mark.slow
@pytest.mark.parametrize("pairs", [2, 5, 20, 40])
@pytest.mark.parametrize("dof", [np.inf, 2.0, 15.0, 900.0])
@pytest.mark.parametrize("seed", range(4))
def test_a_grid_of_pairs(pairs: int, dof: float, seed: int) -> None:
    rng = np.random.default_rng([pairs, seed])
    coefficients = 10.0 ** -rng.uniform(0.0, 6.0, pairs)
    for t in 10.0 ** rng.uniform(-3.0, 2.6, 8):
        want = float(paired_tail(float(t), coefficients.tolist(), dof))
        assert tail(float(t), np.repeat(coefficients, 2), dof) == pytest.approx(want, rel=CLOSE)


# --- equal coefficients -------------------------------------------------------------------


@pytest.mark.parametrize("q", [1, 2, 7, 80])
@pytest.mark.parametrize("spread", [0.0, 1e-15, 1e-12, 1e-10])
def test_equal_and_very_nearly_equal_coefficients(q: int, spread: float) -> None:
    """A relative spread of 1e-12 moves no tail above 1e-30 by more than a few 1e-11."""
    coefficients = 0.5 * (1.0 + spread * np.linspace(-1.0, 1.0, q))
    levels = np.array([1e-3 * q, 0.5 * q, q, 2.0 * q, 30.0 + q])
    got = mixture_sf(0.5 * levels, np.broadcast_to(coefficients, (5, q)))
    np.testing.assert_allclose(got, chi2.sf(levels, q), rtol=CLOSE + 60.0 * spread)


@pytest.mark.parametrize("q", [1, 2, 9])
def test_equal_coefficients_far_out(q: int) -> None:
    """Equal up to 1e-12, so the contour is taken; tails down to 1e-100."""
    levels = np.array([60.0, 200.0, 460.0])
    coefficients = np.full((3, q), 2.0)
    coefficients[:, 0] *= 1.0 - 1e-12
    np.testing.assert_allclose(
        mixture_sf(2.0 * levels, coefficients), chi2.sf(levels, q), rtol=6e-10
    )


@pytest.mark.parametrize("q", [1, 3, 12])
@pytest.mark.parametrize("dof", [1.0, 6.5, 200.0])
def test_an_estimated_scale_gives_the_f_law(q: int, dof: float) -> None:
    levels = np.array([0.01, 0.8, 3.0, 20.0])
    want = f_law.sf(levels, q, dof)
    np.testing.assert_allclose(mixture_sf(q * levels, np.ones((4, q)), dof), want, rtol=CLOSE)
    nearly = np.ones((4, q))
    nearly[:, 0] -= 1e-12
    np.testing.assert_allclose(mixture_sf(q * levels, nearly, dof), want, rtol=CLOSE)


@pytest.mark.parametrize("dof", [2.0, 11.0, 300.0])
@pytest.mark.parametrize("t", [0.05, 2.0, 30.0, 1000.0])
def test_an_estimated_scale_with_unequal_pairs(dof: float, t: float) -> None:
    pairs = [1.0, 0.35, 0.02, 1e-5]
    want = float(paired_tail(t, pairs, dof))
    assert tail(t, np.repeat(pairs, 2), dof) == pytest.approx(want, rel=CLOSE)


def test_many_degrees_of_freedom_are_a_known_scale() -> None:
    coefficients = [1.0, 0.6, 0.1]
    assert tail(4.0, coefficients, 1e9) == pytest.approx(tail(4.0, coefficients), rel=1e-7)
    assert tail(4.0, coefficients, 5.0) > 1.2 * tail(4.0, coefficients)


# --- properties ---------------------------------------------------------------------------


@pytest.mark.parametrize("scale", [1e-12, 3.7, 1e15])
@pytest.mark.parametrize("dof", [np.inf, 8.0])
def test_scaling_both_changes_nothing(scale: float, dof: float) -> None:
    coefficients = np.array([1.0, 0.5, 1e-3])
    want = two_tail(4.0, 1.0, 0.5, dof)  # the third is small: within its share
    plain, scaled = tail(4.0, coefficients, dof), tail(4.0 * scale, coefficients * scale, dof)
    assert scaled == pytest.approx(plain, rel=1e-12)
    assert plain == pytest.approx(want, rel=3e-3)


def test_falls_from_one_to_zero() -> None:
    levels = np.concatenate([[0.0], np.geomspace(1e-8, 1400.0, 400)])
    coefficients = np.broadcast_to([1.0, 0.4, 0.4, 1e-5], (401, 4))
    got = mixture_sf(levels, coefficients)
    assert got[0] == 1.0
    assert (np.diff(got) <= 1e-14).all()
    assert (np.diff(got[got < 0.999]) < 0.0).all()
    assert 0.0 < got[-1] < 1e-300


def test_the_order_of_coefficients_does_not_matter() -> None:
    coefficients = np.array([0.2, 1.0, 1e-4, 0.7])
    want = tail(3.0, np.sort(coefficients))
    assert tail(3.0, coefficients) == pytest.approx(want, rel=1e-13)


@pytest.mark.parametrize("dof", [np.inf, 5.0])
def test_levels_at_the_ends(dof: float) -> None:
    levels = [-np.inf, -3.0, 0.0, np.inf, np.nan]
    got = mixture_sf(levels, np.broadcast_to([1.0, 0.5], (5, 2)), dof)
    assert got[:4].tolist() == [1.0, 1.0, 1.0, 0.0]
    assert np.isnan(got[4])


def test_coefficients_of_zero() -> None:
    assert tail(3.0, [1.0, 1.0, 0.0]) == pytest.approx(float(chi2.sf(3.0, 2)), rel=CLOSE)
    assert tail(3.0, [0.7, 0.3, 0.0, 0.0]) == pytest.approx(two_tail(3.0, 0.7, 0.3), rel=CLOSE)
    zeros = mixture_sf([-1.0, 0.0, 1e-300, 5.0], np.zeros((4, 3)))
    assert zeros.tolist() == [1.0, 1.0, 0.0, 0.0]


def test_rows_are_independent_and_one_row_serves_all() -> None:
    """More rows than are taken together, each as if alone."""
    rng = np.random.default_rng(3)
    levels, second = rng.uniform(0.1, 9.0, 600), rng.uniform(0.02, 0.98, 600)
    got = mixture_sf(levels, np.stack([np.ones(600), second], axis=1))
    some = [0, 255, 256, 511, 512, 599]
    want = [two_tail(levels[k], 1.0, second[k]) for k in some]
    np.testing.assert_allclose(got[some], want, rtol=CLOSE)
    shared = mixture_sf(levels, np.array([[1.0, 0.3]]))
    np.testing.assert_allclose(
        shared[some], [two_tail(levels[k], 1.0, 0.3) for k in some], rtol=CLOSE
    )


@pytest.mark.parametrize("bad", [[1.0, -1e-9], [np.nan, 1.0], [np.inf, 1.0], []])
def test_impossible_coefficients(bad: list[float]) -> None:
    with pytest.raises(ValueError, match="finite, not negative, and at least one"):
        mixture_sf([1.0], np.array([bad]))


@pytest.mark.parametrize("share", [0.01, 0.2, 0.5, 0.9, 1.0, 1.05])
def test_one_large_coefficient_beside_thousands_of_tiny_ones(share: float) -> None:
    """Below what the tiny ones add up to, nearly for sure, the tail is one and its terms cancel."""
    coefficients = np.r_[8.7e-6, np.full(4752, 2.1e-16), np.full(97, 1.6e-24)]
    level = share * 4752 * 2.1e-16 * 0.6
    assert mixture_sf([level], coefficients[None])[0] == pytest.approx(1.0, abs=1e-6)


@pytest.mark.parametrize("dof", [np.inf, 5.0])
def test_no_levels_have_no_tails(dof: float) -> None:
    assert mixture_sf(np.zeros(0), np.ones((0, 3)), dof).shape == (0,)
