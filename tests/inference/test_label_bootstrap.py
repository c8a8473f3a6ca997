"""Where a p-value stands among drawn ones: when drawing stops, and when it goes on."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import cast

import numpy as np
import pytest

from steradian.inference.basis_whitening import BasisStep
from steradian.inference.monte_carlo import Replicates
from steradian.inference.null_samples import LabelledDraws, labelled_pvalue
from steradian.numerics.arrays import Array, IntArray


@dataclass
class Uniform:
    """Samples whose p-values are uniform numbers."""

    drawn_: list[int] = field(default_factory=list)
    labels: IntArray = field(default_factory=lambda: np.zeros(10, dtype=np.int64))
    lam: Array = field(default_factory=lambda: np.zeros((1, 3)))
    step: BasisStep = field(default_factory=lambda: BasisStep.labels(0, 3, np.ones(1)))

    def drawn(self, count: int, rng: np.random.Generator) -> Array:
        self.drawn_.append(count)
        return rng.random((count, 1))

    def pvalues(self, x: Array) -> Array:
        return x[:, 0]


def standing_of(observed: float, many: Replicates) -> tuple[float, int]:
    draws = Uniform()
    return labelled_pvalue(cast(LabelledDraws, draws), observed, many), sum(draws.drawn_)


def test_enough_as_extreme_settle_it() -> None:
    p, drawn = standing_of(0.5, Replicates(samples=999, enough=50))
    assert p == pytest.approx(0.5, abs=0.15)  # relative error 1 / √50
    assert drawn <= 300


def test_rare_samples_are_looked_for_longer() -> None:
    plain = Replicates(samples=999)
    assert standing_of(0.0, plain) == (1 / 1000, 999)
    assert standing_of(0.0, Replicates(samples=999, rare=2)) == (1 / 3997, 3996)
    # what is not so rare is left as it is
    assert standing_of(0.02, Replicates(samples=999, rare=2)) == standing_of(0.02, plain)


def test_going_on_rejects_no_more_often() -> None:
    """At 5 % of 99 samples, gone on with where at most two are as extreme."""
    rng = np.random.default_rng(0)
    seeds = range(4000)
    many = [Replicates(samples=99, enough=5, seed=seed, rare=2) for seed in seeds]
    rejected = [standing_of(float(rng.random()), one)[0] <= 0.05 for one in many]
    assert np.mean(rejected) <= 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / len(many))
    assert np.mean(rejected) >= 0.03
