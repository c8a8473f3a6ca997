"""von Mises-Fisher terms against mpmath, and their inverse, in every dimension."""

from __future__ import annotations

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracles
import steradian as sr
from steradian.numerics.heights.bessel import concentration, von_mises_fisher

DIMENSIONS = (2, 3, 4, 5, 10, 33, 34, 35, 300, 1024)
KAPPAS = tuple(float(k) for k in 10.0 ** np.arange(-8, 9))
TERMS = ("ratio", "defect", "psi", "deficit")
FIXED = settings(derandomize=True, deadline=None, max_examples=150, database=None)


def relative_error(value: float, reference: mpmath.mpf) -> float:
    with mpmath.workdps(oracles.DIGITS):
        return float(abs(mpmath.mpf(float(value)) - reference) / abs(reference))


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("term", TERMS)
def test_terms_agree_with_mpmath(d: int, term: str) -> None:
    found = getattr(von_mises_fisher(d, np.array(KAPPAS)), term)
    for value, kappa in zip(found, KAPPAS, strict=True):
        reference = getattr(oracles.von_mises_fisher(d, kappa), term)
        assert relative_error(value, reference) < 1e-12, kappa


@pytest.mark.parametrize("d", [2, 3])
def test_stacks_without_a_concentrated_law_agree_with_mpmath(d: int) -> None:
    """Which have a way of their own in the plane and in space: 2 kappa roundings may be lost."""
    kappas = np.array([0.0, 1e-8, 1e-3, 0.3, 1.0 - 1e-9, 1.0 + 1e-9, 3.0, 19.9])
    found = von_mises_fisher(d, kappas)
    mixed = von_mises_fisher(d, np.append(kappas, 30.0))
    for term in TERMS:
        assert getattr(found, term)[0] == 0.0
        np.testing.assert_allclose(getattr(found, term), getattr(mixed, term)[:-1], rtol=4e-14)
        for value, kappa in zip(getattr(found, term)[1:], kappas[1:], strict=True):
            reference = getattr(oracles.von_mises_fisher(d, float(kappa)), term)
            assert relative_error(value, reference) < 4e-14, (term, kappa)


@FIXED
@given(st.integers(2, 1024), st.floats(-8.0, 8.0))
def test_terms_agree_with_mpmath_anywhere(d: int, log_kappa: float) -> None:
    kappa = 10.0**log_kappa
    found, reference = von_mises_fisher(d, np.array([kappa])), oracles.von_mises_fisher(d, kappa)
    for term in TERMS:
        assert relative_error(getattr(found, term)[0], getattr(reference, term)) < 1e-12, term


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("side", [1 - 1e-9, 1 + 1e-9])
def test_no_step_where_the_small_argument_series_takes_over(d: int, side: float) -> None:
    kappa = float(np.sqrt(0.5 * d)) * side
    found, reference = von_mises_fisher(d, np.array([kappa])), oracles.von_mises_fisher(d, kappa)
    # What `von_mises_fisher` promises; on either side, so that a step would show.
    assert relative_error(found.psi[0], reference.psi) < 1e-12
    assert relative_error(found.deficit[0], reference.deficit) < 1e-12


@pytest.mark.parametrize("d", DIMENSIONS)
def test_zero_concentration_is_the_uniform_law(d: int) -> None:
    found = von_mises_fisher(d, np.array([0.0]))
    assert [float(getattr(found, term)[0]) for term in TERMS] == [0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("d", DIMENSIONS)
def test_no_length_has_no_concentration(d: int) -> None:
    """In a stack with a length of nothing no number overflows, which would be an error here."""
    found = concentration(d, np.array([0.0, 0.5]), np.array([1.0, 0.75]))
    assert np.asarray(found.kappa)[0] < 1e-100
    assert found.deficit[0] == 0.0
    assert found.ratio[1] == pytest.approx(0.5, rel=1e-12)


@pytest.mark.parametrize("d", DIMENSIONS)
def test_concentration_inverts_the_ratio(d: int) -> None:
    lengths, spreads = [], []
    for kappa in KAPPAS:
        ratio = oracles.von_mises_fisher(d, kappa).ratio
        with mpmath.workdps(oracles.DIGITS):
            lengths.append(float(ratio))
            spreads.append(float(1 - ratio**2))
    found = concentration(d, np.array(lengths), np.array(spreads))
    alone = [concentration(d, *pair) for pair in zip(lengths, spreads, strict=True)]
    deficits = [float(oracles.von_mises_fisher(d, kappa).deficit) for kappa in KAPPAS]
    for kappas, bits in (
        (np.asarray(found.kappa), np.asarray(found.deficit)),
        (np.array([one.kappa for one in alone]), np.array([one.deficit for one in alone])),
    ):
        np.testing.assert_allclose(kappas, np.array(KAPPAS), rtol=1e-12)
        np.testing.assert_allclose(bits, deficits, rtol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 5])
def test_concentration_of_one_number_is_that_of_a_stack(d: int) -> None:
    length = np.array([1e-5, 0.02, 0.1, 0.49, 0.51, 0.9, 0.97, 0.975, 0.999])
    stack = concentration(d, length, 1 - length**2)
    rounding = 1e-14 if d == 5 else 1e-13  # forms that lose 2 κ roundings, to κ = 20
    for k, r in enumerate(length.tolist()):
        alone = concentration(d, r, 1 - r * r)
        np.testing.assert_allclose(alone.kappa, np.atleast_1d(stack.kappa)[k], rtol=rounding)
        np.testing.assert_allclose(alone.deficit, np.atleast_1d(stack.deficit)[k], rtol=rounding)


def cone(d: int, opening: float) -> oracles.Array:
    """2 (d - 1) unit vectors at one angle from the last axis: R = cos(opening) exactly."""
    across = np.sin(opening) * np.vstack([np.eye(d - 1), -np.eye(d - 1)])
    return np.column_stack([across, np.full(len(across), np.cos(opening))])


def level_one(d: int, opening: float) -> oracles.VonMisesFisher:
    """Fit to a cone: A_d(kappa) = cos(opening), solved by bisection."""
    with mpmath.workdps(oracles.DIGITS):
        target = mpmath.cos(mpmath.mpf(opening))
        low, high = mpmath.mpf("1e-9"), mpmath.mpf("1e14")
        for _ in range(150):
            middle = mpmath.sqrt(low * high)
            below = oracles.von_mises_fisher(d, middle).ratio < target
            low, high = (middle, high) if below else (low, middle)
        return oracles.von_mises_fisher(d, low)


@pytest.mark.parametrize("d", [2, 3, 4, 17, 384, 1024])
@pytest.mark.parametrize("kappa", [1e-3, 1.0, 1e2, 1e5, 1e8])
def test_level_one_of_a_cone(d: int, kappa: float) -> None:
    opening = float(mpmath.acos(oracles.von_mises_fisher(d, kappa).ratio))
    found = sr.profile(cone(d, opening), levels=1)
    reference = level_one(d, opening)
    assert relative_error(found.kappa, reference.kappa) < 1e-11
    assert abs(found.deficits[0] - float(reference.deficit)) < 1e-10
    assert relative_error(found.deficits[0], reference.deficit) < 1e-8
    np.testing.assert_allclose(found.fits[1].mean()[-1], np.cos(opening), rtol=1e-12)


@pytest.mark.parametrize("d", [2, 3, 9])
def test_level_one_of_balanced_points_is_uniform(d: int) -> None:
    found = sr.profile(np.vstack([np.eye(d), -np.eye(d)]), levels=1)
    assert found.deficits[0] == pytest.approx(0.0, abs=1e-15)
    assert found.kappa == pytest.approx(0.0, abs=1e-14)
