"""Where a named form of the test rejects far too often, it says so."""

from __future__ import annotations

import pytest

import calibration_laws as laws
import calibration_study as study
from calibration_laws import Cell

WARNED = 0.9  # share of wrongly rejecting samples that must carry a warning


@pytest.mark.slow
@pytest.mark.parametrize("cell", laws.ROW_CELLS, ids=lambda c: f"{c.label} {c.levels}")
def test_forms_that_reject_twice_too_often_warn(cell: Cell) -> None:
    rows = study.variant_rows(cell)
    for level in cell.levels:
        silent = {
            row.variant.name
            for row in rows
            if row.level == level and row.worst and row.warned < WARNED
        }
        assert not silent
