"""A family of one's own: four members, and everything that follows from them."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from conformance.independent_angles import IndependentAngles
from steradian.conformance import check_hierarchy


def rows(k: int, n: int = 400) -> sr.Directions:
    rng = np.random.default_rng(k)
    angles = rng.vonmises(np.arange(k), 1.0 + np.arange(k), (n, k))
    return sr.Directions.from_dihedrals(angles)


@pytest.mark.parametrize("k", [2, 6])
def test_it_keeps_the_contract(k: int) -> None:
    """With rules of nodes beside it, and with more angles than there are rules for."""
    assert len(check_hierarchy(IndependentAngles(k)).kept) > 20


def test_its_fits_are_those_of_nodes() -> None:
    ours = sr.profile(rows(2), hierarchy=IndependentAngles(2))
    theirs = sr.profile(rows(2), hierarchy=sr.Interactions(2, 1, 1))
    assert ours.deficits[0] == pytest.approx(theirs.deficits[0], abs=1e-9)
    assert ours.tests().pvalue == pytest.approx(theirs.tests().pvalue, rel=1e-6)
    at = rows(2, 30)
    assert ours.fits[1].logpdf(at) == pytest.approx(theirs.fits[1].logpdf(at), abs=1e-7)


def test_draws_by_rejection_have_the_moments_of_the_fit() -> None:
    fit = sr.profile(rows(2), hierarchy=IndependentAngles(2)).fits[1]
    drawn = fit.sample(4000, 0)
    spread = np.sqrt(2.0 / len(drawn))  # of a feature, at most √2
    assert np.abs(np.sqrt(2.0) * drawn.mean(axis=0) - fit.moments).max() < 5.0 * spread


def test_an_angle_that_is_the_same_in_all_rows_has_no_fit() -> None:
    angles = np.column_stack([np.full(50, 0.3), np.random.default_rng(0).uniform(0.0, 6.0, 50)])
    with pytest.raises(sr.BoundaryError):
        sr.profile(sr.Directions.from_dihedrals(angles), hierarchy=IndependentAngles(2))
