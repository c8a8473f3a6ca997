"""The one loop of drawn p-values, against counts made by hand."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from steradian.errors import DesignError
from steradian.inference.monte_carlo import MonteCarlo, monte_carlo_test
from steradian.numerics.arrays import Array


def by_hand(observed: float, draws: Array, enough: int) -> float:
    """Draw by draw: NaN is no draw."""
    seen = extreme = 0
    for draw in draws:
        if np.isnan(draw):
            continue
        seen, extreme = seen + 1, extreme + (draw >= observed)
        if extreme == enough:
            return enough / seen
    return (1 + extreme) / (1 + seen)


@pytest.mark.parametrize("seed", range(20))
def test_pieces_of_any_size_give_what_single_draws_give(seed: int) -> None:
    rng = np.random.default_rng(seed)
    draws = rng.integers(0, 9, 400).astype(float)
    draws[rng.random(400) < 0.1] = np.nan
    ends = np.sort(rng.integers(1, 400, 5))
    for observed in (3.0, 8.0, 9.0):
        found = monte_carlo_test(observed, np.split(draws, ends), 20)
        assert found.pvalue == by_hand(observed, draws, 20)


def test_several_statistics_are_settled_each_by_itself() -> None:
    rng = np.random.default_rng(0)
    observed, draws = np.array([0.2, 0.9, 2.0]), rng.random((3, 60))
    found = MonteCarlo(observed, 10)
    for piece in np.split(draws, 6, axis=1):
        rows = found.unsettled
        found.add(piece[rows], rows)
    expected = [by_hand(one, row, 10) for one, row in zip(observed, draws, strict=True)]
    assert found.pvalues.tolist() == expected


def test_no_draw_has_no_pvalue() -> None:
    def pieces() -> Iterator[Array]:
        yield np.full(8, np.nan)
        pytest.fail("more were asked for")

    found = monte_carlo_test(1.0, pieces(), 10)
    assert np.isnan(found.pvalues).all()
    assert found.without_fit == 1.0
    with pytest.raises(DesignError, match="no replicate has a fit"):
        _ = found.pvalue


def test_pvalues_of_the_null_are_uniform_at_any_size() -> None:
    """P(p <= α) is at most α for both rules, and near it at what draws resolve."""
    rng = np.random.default_rng(1)
    observed, draws = rng.random(4000), rng.random((4000, 99))
    found = MonteCarlo(observed, 10)
    found.add(draws)
    for size in (0.05, 0.1, 0.5):
        rejected = float(np.mean(found.pvalues <= size))
        spread = np.sqrt(size * (1.0 - size) / 4000)
        assert -0.03 - 4.0 * spread <= rejected - size <= 4.0 * spread
