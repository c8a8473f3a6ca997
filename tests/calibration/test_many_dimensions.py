"""The off-diagonal score holds its size, outside the family below too, and finds what is there."""

from __future__ import annotations

import numpy as np
import pytest

import calibration_study as study
from off_diagonal_study import ALPHAS, LAWS, Cell

SAMPLES = 400


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("design", ["equal", "lognormal", "clusters", "strata"])
@pytest.mark.parametrize(("n", "d"), [(200, 20), (100, 128)])
def test_true_nulls_are_not_rejected_too_often(n: int, d: int, law: str, design: str) -> None:
    found = Cell(n, d, law, design, SAMPLES, seed=1).rates()
    assert (found <= study.allowed(np.array(ALPHAS), SAMPLES, study.WIDER)).all(), found


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS)
def test_a_chain_is_not_rejected_too_often(law: str) -> None:
    found = Cell(2000, 12, law, "chain", 150, seed=1).rates()
    assert (found <= study.allowed(np.array(ALPHAS), 150, study.WIDER)).all(), found


@pytest.mark.slow
@pytest.mark.parametrize("law", LAWS[:2])
def test_ratios_that_depend_on_the_direction_are_not_rejected_too_often(law: str) -> None:
    found = Cell(300, 20, law, "importance", SAMPLES, seed=1).rates()
    assert (found <= study.allowed(np.array(ALPHAS), SAMPLES, study.WIDER)).all(), found


@pytest.mark.slow
def test_unequal_axes_are_found() -> None:
    assert Cell(300, 20, "shaped", samples=200, seed=1).rates()[0] > 0.9
