"""Table 3 of the paper: the quadratic surrogate on S², n = 500, and the fitted gap beside it."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest

import calibration_study as study
from calibration_laws import Array

pytestmark = pytest.mark.slow
SAMPLES = 4000
FARTHEST = 3.5  # standard deviations, fifteen figures at once


@cache
def table() -> tuple[dict[str, Array], dict[str, Array], float]:
    return study.table_3(SAMPLES)


@pytest.mark.parametrize("row", study.PRINTED)
def test_printed_figures_are_within_monte_carlo_error(row: str) -> None:
    _, off = study.deviations(row, table()[0][row])
    assert (np.abs(off) < FARTHEST).all(), dict(zip(study.COLUMNS, off, strict=True))


def test_kish_ess() -> None:
    assert table()[2] == pytest.approx(317.0, abs=1.0)


@pytest.mark.parametrize("row", ["equal, χ²", "importance, quadratic form"])
@pytest.mark.parametrize("which", [0, 1], ids=["surrogate", "fitted gap"])
def test_size_of_the_calibrated_rows(row: str, which: int) -> None:
    pvalues = (table()[0], table()[1])[which][row]
    assert (study.rates(pvalues) <= study.allowed(np.array(study.ALPHAS), SAMPLES)).all()


def test_the_naive_law_rejects_too_often() -> None:
    for pvalues in (table()[0], table()[1]):
        assert study.rates(pvalues["importance, naive χ²"])[1] > 0.15
