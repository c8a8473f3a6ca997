"""Units that have rows of several groups: the paired test, and what partial overlap adds to it."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray

import steradian as sr
from steradian.diagnostics import REFUSED, MethodCode, PvalueMethod
from steradian.inference.permutation import PooledScore, permutation_test, shuffled_together

Array = NDArray[np.float64]
IntArray = NDArray[np.int64]
Rng = np.random.Generator


def on_circle(t: Array) -> Array:
    return np.stack([np.cos(t), np.sin(t)], axis=1)


def units_of_both(
    count: int, rng: Rng, *, shift: float = 0.0, overlap: float = 1.0, own: float = 1.0
) -> tuple[Array, IntArray, IntArray]:
    """Rows, groups and units; five rows of each group, both with probability ``overlap``."""
    rows, groups, ids = [], [], []
    for unit in range(count):
        about = own * rng.normal()
        for group in (0, 1) if rng.random() < overlap else (int(rng.integers(2)),):
            rows.append(about + shift * group + rng.vonmises(0.0, 8.0, 5))
            groups += [group] * 5
            ids += [unit] * 5
    return on_circle(np.concatenate(rows)), np.array(groups), np.array(ids)


def compared(x: Array, by: IntArray, ids: IntArray, levels: int = 1) -> sr.results.Comparison:
    return sr.compare(x, by=by, levels=levels, design=sr.designs.Clusters(ids))


def test_of_pairs_it_is_hotellings_paired_test() -> None:
    """(Σ d)ᵀ (Σ d dᵀ)⁻¹ (Σ d) of the differences of means, under all signs of few units."""
    x, by, ids = units_of_both(9, np.random.default_rng(3), shift=0.2)
    found = compared(x, by, ids).tests()
    d = np.array(
        [x[(ids == u) & (by == 0)].mean(axis=0) - x[(ids == u) & (by == 1)].mean(axis=0)
         for u in range(9)]
    )  # fmt: skip
    inverse = np.linalg.inv(d.T @ d)
    every = np.array(list(product([1.0, -1.0], repeat=9))) @ d
    values = np.einsum("bi,ij,bj->b", every, inverse, every)
    assert 2.0 * found.statistic[0] == pytest.approx(values[0], rel=1e-9)
    exact = float((values >= values[0] * (1.0 - 1e-9)).mean())
    assert found.pvalue[0] == pytest.approx(exact, abs=4.0 * np.sqrt(exact * (1.0 - exact) / 9999))


def test_labels_are_shuffled_within_units() -> None:
    """Of two parts of a unit that is a sign of their difference; two units are alone."""
    rng = np.random.default_rng(4)
    unit, groups = np.repeat(np.arange(9), [2] * 7 + [1, 1]), np.array([0, 1] * 7 + [0, 1])
    strata, alone = shuffled_together(unit, None)
    assert alone.tolist() == [False] * 14 + [True, True]
    assert strata[14] == strata[15]
    assert len(np.unique(strata)) == 8
    weights = np.full(16, 1.0 / 16.0)
    scores = rng.normal(size=(16, 2)) + 3.0 * rng.normal(size=(9, 2))[unit]
    statistic = PooledScore.within([scores], weights, strata, alone)
    found = permutation_test(statistic, groups, strata, 9999, 0)
    away = scores - np.array([scores[strata == s].mean(axis=0) for s in strata])
    scale = [1.0 / np.square(away[kind]).sum() * kind.sum() for kind in (alone, ~alone)]
    away *= np.where(alone, *scale)[:, None]
    differences = away[0::2] - away[1::2]  # groups weigh the same however labels are shuffled
    every = np.square(np.array(list(product([1.0, -1.0], repeat=8))) @ differences).sum(axis=1)
    exact = float((every >= every[0] * (1.0 - 1e-9)).mean())
    assert found.pvalue == pytest.approx(exact, abs=4.0 * np.sqrt(exact * (1.0 - exact) / 9999))
    lonely = shuffled_together(np.array([0, 0, 1, 2, 3]), np.array([0, 0, 1, 1]))[0]
    assert lonely[2] != lonely[3] == lonely[4]


def test_what_a_unit_has_of_its_own_does_not_count() -> None:
    """A turn of .4 where units point .8 apart: clear within them."""
    x, by, ids = units_of_both(18, np.random.default_rng(5), shift=0.4, own=0.8)
    found = compared(x, by, ids).tests()
    assert found.any_pvalue < 0.01
    assert found.pvalue[0] < 0.01
    assert found.methods == (PvalueMethod(MethodCode.SIGNS_WITHIN),)


def test_units_of_one_group_add_what_they_know() -> None:
    """Without anything of their own, units in one group say as much per row as the others."""
    x, by, ids = units_of_both(60, np.random.default_rng(6), shift=0.5, overlap=0.1, own=0.0)
    both = np.isin(ids, [u for u in range(60) if len(set(by[ids == u])) == 2])
    assert 2 <= len(set(ids[both])) <= 12
    found = compared(x, by, ids).tests()
    assert found.pvalue[0] == pytest.approx(1e-4)
    assert found.any_pvalue == pytest.approx(1e-4)


def test_too_few_units_are_said() -> None:
    x, by, ids = units_of_both(3, np.random.default_rng(7))
    found = compared(x, by, ids).tests()
    assert np.isnan(found.pvalue[0])
    assert found.methods == (REFUSED,)
    assert np.isfinite(found.any_pvalue)


@pytest.mark.parametrize("overlap", [1.0, 0.4])
def test_size_within_units(overlap: float) -> None:
    """No more of 150 samples below 5 % than four binomial standard errors above it."""
    rng, below = np.random.default_rng(8), np.zeros(3)
    for _ in range(150):
        x, by, ids = units_of_both(20, rng, overlap=overlap)
        found = compared(x, by, ids, levels=2).tests(permutations=99, replicates=19)
        below += np.array([found.any_pvalue, *found.pvalue]) <= 0.05
    assert below.max() <= 0.05 * 150 + 4.0 * np.sqrt(0.05 * 0.95 * 150)


def test_a_difference_of_means_is_no_difference_of_shapes() -> None:
    """Level 2, and concentration, of 30 units in both groups that turn by .5: 120 samples."""
    rng, below, count = np.random.default_rng(9), np.zeros(2), 120
    for _ in range(count):
        x, by, ids = units_of_both(30, rng, shift=0.5, own=0.4)
        found = compared(x, by, ids, levels=2).tests(permutations=99, replicates=19)
        below += np.array([found.pvalue[1], found.parts["concentration"]]) <= 0.05
    assert below.max() <= 0.05 * count + 4.0 * np.sqrt(0.05 * 0.95 * count)
