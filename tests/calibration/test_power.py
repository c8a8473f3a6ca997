"""What the robust null costs in power: next to nothing."""

from __future__ import annotations

import numpy as np
import pytest

import calibration_study as study


@pytest.mark.slow
@pytest.mark.parametrize("cell", study.POWER, ids=lambda c: f"{c.name}, n={c.n}")
def test_default_has_size_and_power(cell: study.PowerCell) -> None:
    found = study.power(cell)
    size, power = found["default"]
    assert size <= study.allowed(0.05, study.REPLICATES)
    if cell.name == "S¹ β = 0.6" and cell.n == 200:
        assert power >= 0.85
    for other in ("score, null", "score, empirical", "gap, null", "gap, empirical"):
        assert power >= found[other][1] - 0.03, (other, found)
    assert power >= found["score, χ²"][1] - 0.03, found  # the model null knows more
    for name, count in (
        ("multiplier bootstrap", study.REPLICATES),
        ("parametric bootstrap", study.PARAMETRIC),
    ):
        if name in found:
            assert found[name][0] <= study.allowed(0.05, count), found
    assert np.isfinite(list(found.values())).all()
