"""How many values rows take: what is binned is found, and what is not is left alone."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import ArrayLike

import steradian as sr
from steradian.data.resolution import Resolution

DAYS = np.array([31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31])
MIDDLES = (np.cumsum(DAYS) - DAYS / 2) * (360.0 / 365.0)


def resolution(degrees: ArrayLike, *, times: int = 5, axial: bool = False) -> Resolution:
    angles = np.repeat(np.asarray(degrees, dtype=float), times)
    rows = sr.Directions.from_angles(angles, degrees=True, axial=axial)
    return Resolution.of(rows, rows.space)


@pytest.mark.parametrize(
    ("degrees", "values"),
    [
        (45.0 * np.arange(8), 8),
        (22.5 + 45.0 * np.arange(8), 8),
        (-180.0 + 45.0 * np.arange(9), 8),  # both ends of a turn are one value
        ([0.0, 45.0, 180.0], 8),  # most are empty
        ([0.0, 180.0], 4),
        (360.0 / 7.0 * np.arange(7).round(2), 7),
        (np.round(22.5 * np.arange(16)), 16),  # points of the compass in whole degrees
        (MIDDLES, 12),
        ([0.0, 10.0, 20.0], 36),
        (np.arange(20.0, 31.0), 360),
    ],
)
def test_values_at_equal_steps_are_counted_with_the_empty_ones(
    degrees: ArrayLike, values: int
) -> None:
    found = resolution(degrees)
    assert found.values == values
    assert found.step == pytest.approx(360.0 / values)


def test_axes_repeat_after_half_a_turn() -> None:
    found = resolution(10.0 * np.arange(18), axial=True)
    assert (found.values, found.step) == (18, 10.0)
    headings = sr.Directions.from_angles(np.repeat(45.0 * np.arange(8), 5), degrees=True)
    assert Resolution.of(headings, sr.Axes(2)).values == 4


@pytest.mark.parametrize("kappa", [0.0, 2.0, 1e6])
def test_continuous_angles_have_no_steps(kappa: float) -> None:
    rng = np.random.default_rng(3)
    angles = rng.vonmises(1.0, kappa, 500)
    rows = sr.Directions.from_angles(angles)
    assert Resolution.of(rows, rows.space) == Resolution()
    again = sr.Directions.from_angles(np.repeat(angles[:20], 5))  # repeated, and not evenly spaced
    assert Resolution.of(again, again.space) == Resolution()


def test_values_that_hardly_repeat_are_not_called_binned() -> None:
    assert resolution(45.0 * np.arange(8), times=1) == Resolution()


def test_points_of_a_sphere_are_not_looked_at() -> None:
    rows = sr.Directions(np.repeat(np.vstack([np.eye(3), -np.eye(3)]), 9, axis=0))
    assert Resolution.of(rows, rows.space) == Resolution()
