"""Table 3 of the paper: the quadratic surrogate on S², n = 500, and the fitted gap beside it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import calibration_study as study
from steradian.paper import calibration as paper

pytestmark = pytest.mark.slow
SAMPLES = 4000
FARTHEST = 3.5  # standard deviations, fifteen figures at once


@cache
def table() -> paper.Calibration:
    return study.table_3(SAMPLES)


@pytest.mark.parametrize("row", paper.PRINTED)
def test_printed_figures_are_within_monte_carlo_error(row: str) -> None:
    _, off = study.deviations(row, table().surrogate[row])
    assert (np.abs(off) < FARTHEST).all(), dict(zip(paper.COLUMNS, off, strict=True))


def test_kish_ess() -> None:
    assert table().ess.mean() == pytest.approx(317.0, abs=1.0)


def test_simulated_tails_are_those_of_the_exact_law() -> None:
    apart = table().surrogate[paper.QUADRATIC] - table().exact_tail
    p = table().exact_tail
    assert np.abs(apart.mean()) < 4.0 * np.sqrt((p * (1.0 - p)).mean() / paper.DRAWS / SAMPLES)
    assert (np.abs(apart) < 5.0 * np.sqrt(p * (1.0 - p) / paper.DRAWS) + 1e-3).all()


@pytest.mark.parametrize("row", [paper.EQUAL, paper.QUADRATIC])
@pytest.mark.parametrize("kind", ["surrogate", "fitted"])
def test_size_of_the_calibrated_rows(row: str, kind: str) -> None:
    pvalues = getattr(table(), kind)[row]
    assert (study.rates(pvalues) <= study.allowed(np.array(study.ALPHAS), SAMPLES)).all()


@pytest.mark.parametrize("kind", ["surrogate", "fitted"])
def test_the_naive_law_rejects_too_often(kind: str) -> None:
    assert study.rates(getattr(table(), kind)[paper.NAIVE])[1] > 0.15
