"""95 % intervals of I and D hold the truth, from 50 rows on, in laws the library did not make."""

from __future__ import annotations

import pytest

import coverage_study as study

QUICK = 400  # samples in high dimension, where each takes a quarter of a second


@pytest.mark.slow
@pytest.mark.parametrize("cell", study.cells(), ids=lambda c: c.label)
def test_intervals_cover(cell: study.Cell) -> None:
    """A true coverage of .935 shows as much, to three binomial errors."""
    count = QUICK if cell.label.startswith("d = ") else cell.samples_wanted
    found = study.coverage(cell, count)
    assert found.lost <= 0.005 * count
    assert (found.held >= study.allowed(study.ASKED, count)).all(), found.held


def test_a_hundred_samples_of_each_kind() -> None:
    """The quick suite looks at one small cell, within three binomial errors."""
    cell = next(c for c in study.cells() if c.label == "S¹ β = 0.6, n=50")
    found = study.coverage(cell, 100)
    assert (found.held >= study.allowed(study.ASKED, 100)).all(), found.held
    assert found.lost == 0
