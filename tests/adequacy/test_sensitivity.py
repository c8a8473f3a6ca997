"""What `sensitivity` says of grids, where levels are fitted on them and where they are not."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr

RNG = np.random.default_rng(0)


def rows(d: int, *, axial: bool = False) -> sr.Directions:
    x = RNG.normal(size=(120, d)) + np.eye(d)[0]
    return sr.Directions(x, normalize=True, axial=axial)


AXES = rows(3, axial=True)
TURNS = sr.Directions.from_quaternions(rows(4).x)


@pytest.mark.parametrize("data", [AXES, TURNS], ids=["axes", "rotations"])
def test_levels_by_contours_stay_and_those_on_rules_are_told(data: sr.Directions) -> None:
    p = sr.profile(data, levels=2)
    found = p.sensitivity(epsilons=(0.0,), rotations=1)
    assert found.quadrature_change < 1e-9
    np.testing.assert_array_equal(found.quadrature[:, 0], p.gaps[0])
    assert np.isfinite(found.quadrature[-1]).all()
    assert "  grid    2 times as fine: " in str(found)
    assert "grids: left out" not in str(found)


@pytest.mark.parametrize(
    "p",
    [sr.profile(AXES, levels=1), sr.profile(TURNS, levels=1), sr.profile(rows(5), levels=2)],
    ids=["axes", "rotations", "sphere in R^5"],
)
def test_without_a_grid_it_is_said_why(p: sr.results.Profile) -> None:
    found = p.sensitivity(epsilons=(0.0,), rotations=1)
    assert np.isnan(found.quadrature_change)
    assert "  grids: left out, since no level was fitted on a ladder of them\n" in str(found)
