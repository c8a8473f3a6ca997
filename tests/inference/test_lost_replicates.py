"""Replicates whose fit takes a search of its own: not looked for, and never in favour of a gap."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import steradian as sr
from coded import coded
from steradian.diagnostics import Diagnostic
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import Status
from steradian.inference.concerns import lost_replicates
from steradian.inference.monte_carlo import monte_carlo_test
from steradian.inference.null_samples import FitsBelow, fits_of_samples

SHARP = 3  # level at which tight clusters on the two-sphere have fits that no grid resolves
N = 20


def cluster(seed: int) -> np.ndarray:
    x = np.array([0.0, 0.0, 1.0]) + np.random.default_rng(seed).normal(size=(N, 3)) / 25.0
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@pytest.fixture(scope="module")
def replicates() -> tuple[np.ndarray, np.ndarray]:
    x = np.array([cluster(seed) for seed in range(4)])
    return x, np.full(x.shape[:2], 1.0 / N)


def test_replicates_are_not_searched_for(replicates: tuple[np.ndarray, np.ndarray]) -> None:
    x, weights = replicates
    fits = fits_of_samples(sr.Harmonics(3, SHARP), x, weights)
    gone = fits.lost_rows
    assert len(gone)
    assert all(fits.failures[int(row)].status is not Status.BOUNDARY for row in gone)
    assert all(fits.failures[int(row)].level == SHARP for row in gone)


def test_a_sample_of_its_own_is_searched_for(replicates: tuple[np.ndarray, np.ndarray]) -> None:
    x, weights = replicates
    hierarchy = sr.Harmonics(3, SHARP)
    row = int(fits_of_samples(hierarchy, x, weights).lost_rows[0])
    stack = hierarchy.stack(x, weights)
    one = np.array([row])
    assert not stack.unsought().take(one).sought
    rows = sr.Directions(x[row])
    found = fit_levels(hierarchy, stack.take(one), lambda _row: rows.support())
    assert not found.failures


def test_lost_ones_count_as_beyond(replicates: tuple[np.ndarray, np.ndarray]) -> None:
    x, weights = replicates
    hierarchy = sr.Harmonics(3, SHARP + 1)
    stack = hierarchy.stack(x, weights)
    below = FitsBelow.of(hierarchy, SHARP + 1, stack, (x, weights))
    squares = below.squares(stack)
    assert np.isinf(squares).sum() == len(below.gone) > 0
    found = monte_carlo_test(1e9, [squares])
    assert found.not_fitted == len(below.gone) / len(squares)
    assert found.pvalue == (1 + len(below.gone)) / (1 + len(squares))


def test_no_more_are_drawn_when_most_are_lost() -> None:
    def pieces() -> Iterator[np.ndarray]:
        yield np.array([np.inf, 0.0, np.inf])
        pytest.fail("the others were asked for")

    found = monte_carlo_test(1.0, pieces(), 10)
    assert (found.pvalue, found.not_fitted) == (3 / 4, 2 / 3)


def test_most_of_them_lost_is_no_verdict() -> None:
    p = sr.profile(cluster(3), levels=SHARP)
    found = p.tests(null="model", statistic="gap", method="bootstrap", replicates=19)
    assert np.isnan(found.pvalue[SHARP - 1])
    assert coded(found, "most_draws_lost", SHARP).data["share"] == 1.0


def test_a_share_of_them_is_said() -> None:
    assert lost_replicates(3, 0.0) == []
    assert lost_replicates(3, 0.2) == [Diagnostic("some_draws_lost", 3, {"share": 0.2})]
