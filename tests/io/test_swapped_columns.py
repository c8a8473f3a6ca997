"""Columns in the wrong order are said to be so, in every unit, and never left out row by row."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from steradian.errors import InvalidDirections

RNG = np.random.default_rng(11)
LONGITUDE = RNG.uniform(0.0, 360.0, 200)
LATITUDE = np.degrees(np.arcsin(RNG.uniform(-0.9, 0.9, 200)))


def table(tmp_path: Path, names: str, first: np.ndarray, second: np.ndarray) -> Path:
    path = tmp_path / "data.csv"
    rows = [f"{a:.6f},{b:.6f}" for a, b in zip(first, second, strict=True)]
    path.write_text("\n".join([names, *rows]))
    return path


@pytest.mark.parametrize("on_bad", ["error", "skip"])
@pytest.mark.parametrize(
    ("names", "unit", "options"),
    [
        ("dec,ra", 1.0, {}),
        ("dec,ra", np.pi / 180.0, {"degrees": False}),
        ("inc,dec", np.pi / 180.0, {"degrees": False}),
        ("theta,phi", 1.0, {}),
        ("theta,phi", np.pi / 180.0, {"degrees": False}),
    ],
)
def test_swapped_angles(
    tmp_path: Path, names: str, unit: float, options: dict[str, bool], on_bad: str
) -> None:
    second = 90.0 - LATITUDE if "theta" in names else LATITUDE
    near = np.where(np.arange(200) < 150, LONGITUDE / 4.0, LONGITUDE)  # most are in the range
    path = table(tmp_path, names, near * unit, second * unit)
    with pytest.raises(InvalidDirections, match="check the column order and the unit"):
        sr.read_directions(path, on_bad=on_bad, **options)  # type: ignore[arg-type]


@pytest.mark.parametrize("on_bad", ["error", "skip"])
def test_swapped_hours(tmp_path: Path, on_bad: str) -> None:
    path = table(tmp_path, "ra,dec", LATITUDE / 2.0, LONGITUDE / 15.0)
    with pytest.raises(InvalidDirections, match=r"check the column order, or pass degrees=True"):
        sr.read_directions(path, hours=True, on_bad=on_bad)  # type: ignore[arg-type]


def test_marks_and_slips_are_still_left_out(tmp_path: Path) -> None:
    marked = np.where(np.arange(200) % 5 == 0, 99.99, LATITUDE)
    path = table(tmp_path, "lon,lat", LONGITUDE, marked)
    assert sr.read_directions(path, on_bad="skip").n == 160
    slips = LATITUDE.copy()
    slips[:3] = 91.0, 102.0, 245.0
    path = table(tmp_path, "lon,lat", LONGITUDE, slips)
    with pytest.raises(InvalidDirections, match=r"3 of 200 rows cannot be read.*on_bad='skip'"):
        sr.read_directions(path)
