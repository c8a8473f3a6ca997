"""Shuffled labels: exactness, ties, and whole units."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from steradian.inference.permutation import (
    PooledScore,
    StudentisedMeans,
    none_can_move,
    permutation_test,
)


def test_james_statistic_by_hand() -> None:
    rng = np.random.default_rng(0)
    x, groups = rng.normal(size=(30, 2)), np.repeat([0, 1], [10, 20])
    found = permutation_test(StudentisedMeans(x / 30, np.full(30, 1 / 30)), groups, None, 19, 0)
    parts = [x[groups == g] for g in range(2)]
    means = [p.mean(axis=0) for p in parts]
    inverse = [np.linalg.inv(np.cov(p.T) / len(p)) for p in parts]
    centre = np.linalg.solve(sum(inverse), sum(v @ m for v, m in zip(inverse, means, strict=True)))
    expected = sum(
        float((m - centre) @ v @ (m - centre)) for v, m in zip(inverse, means, strict=True)
    )
    assert found.statistic == pytest.approx(expected, rel=1e-9)


def test_all_labels_of_few_units_by_enumeration() -> None:
    scores = np.array([[3.0], [2.0], [-1.0], [-1.5], [-2.5]])
    weights, groups = np.full(5, 0.2), np.array([0, 0, 1, 1, 1])
    statistic = PooledScore.of([scores], weights)
    every = {tuple(p) for p in permutations(groups.tolist())}
    values = [
        float(sum(scores[np.array(p) == g].sum() ** 2 / (0.2 * p.count(g)) for g in range(2)))
        for p in every
    ]
    exact = np.mean([v >= values[list(every).index((0, 0, 1, 1, 1))] - 1e-9 for v in values])
    found = permutation_test(statistic, groups, None, 9999, 1)
    # binomial error of 9,999 shuffles, four times
    assert found.pvalue == pytest.approx(exact, abs=4.0 * np.sqrt(exact * (1 - exact) / 9999))


@pytest.mark.parametrize("seed", range(8))
def test_shuffles_stay_within_strata(seed: int) -> None:
    """Labels are those of the strata: all shuffles are the same, but for the order of sums."""
    scores = np.random.default_rng(seed).normal(size=(21, 2))
    strata = groups = np.repeat([0, 1, 2], 7)
    assert none_can_move(groups, strata)
    assert not none_can_move(groups, np.repeat([0, 1], [10, 11]))
    found = permutation_test(PooledScore.of([scores], np.full(21, 1 / 21)), groups, strata, 99, 0)
    assert found.pvalue == 1.0


@pytest.mark.parametrize("turn", [0.0, 0.3, 1.0, 2.5])
def test_a_group_without_a_covariance_has_no_statistic(turn: float) -> None:
    """Two distinct values in the plane: an inverse is rounding, and depends on the frame."""
    angles = np.radians([90, 180, 90, 180, 180, 0, 45, 0, 45, 45.0]) + turn
    x = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    statistic = StudentisedMeans((x - x.mean(axis=0)) / 10, np.full(10, 0.1))
    assert np.isnan(permutation_test(statistic, np.repeat([0, 1], 5), None, 99, 0).pvalue)
