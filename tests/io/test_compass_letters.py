"""Angles with letters of the compass are read where they are plain, else refused with a remedy."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from steradian.cli.app import run

Capture = pytest.CaptureFixture[str]


def read(table: dict[str, Any], **options: Any) -> sr.Directions:
    return sr.read_directions(pd.DataFrame(table), **options)


def refusal(table: dict[str, Any], **options: Any) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        read(table, **options)
    return str(caught.value)


def test_points_of_the_compass_and_quadrant_bearings() -> None:
    made = read({"bearing": ["N", "NNE", "e", "S15W", "N 10.5 W", "S30E", "NW"]})
    expected = [0.0, 22.5, 90.0, 195.0, 349.5, 150.0, 315.0]
    np.testing.assert_allclose(made.x, sr.Directions.from_azimuth(expected).x, atol=1e-15)
    assert made.reading is not None
    assert "azimuth `bearing`, degrees; " in made.reading.words
    assert made.reading.words.endswith("`bearing` by letters of the compass")


def test_trends_have_letters_and_plunges_none() -> None:
    made = read({"trend": ["N27E", "SW"], "plunge": [10.0, 20.0]})
    expected = sr.Directions.from_trend_plunge([27.0, 225.0], [10.0, 20.0])
    np.testing.assert_allclose(made.x, expected.x, atol=1e-15)


def test_hemispheres_of_places() -> None:
    made = read({"lon": ["149.17W", "12E", "10°30'E"], "lat": ["48.29S", "5 N", "0.5°N"]})
    expected = sr.Directions.from_lonlat([-149.17, 12.0, 10.5], [-48.29, 5.0, 0.5])
    np.testing.assert_allclose(made.x, expected.x, atol=1e-14)


def test_cells_that_are_no_bearing_are_bad_rows() -> None:
    table = {"heading": ["N", "NNE", "home", "N95E", "S"]}
    words = refusal(table)
    assert "2 of 5 rows cannot be read: row 2 (`heading` is 'home'), row 3" in words
    assert read(table, on_bad="skip").n == 3


def test_strikes_with_letters_say_what_to_do() -> None:
    words = refusal({"strike": ["N27E", "N30W"], "dip": ["55SE", "40NE"]})
    assert "holds entries that are not numbers: 'N27E'; letters do not say to which side" in words
    assert "give strikes as azimuths from 0 to 360" in words
    words = refusal({"strike": [27.0, 330.0], "dip": ["55SE", "40NE"]})
    assert "'55SE'; give the dip alone, from 0 to 90" in words


def test_text_without_a_remedy_of_its_own() -> None:
    assert "'home'; give numbers, or name other" in refusal({"heading": ["home", "sea"]})
    assert "compass bearings are coords='azimuth'" in refusal({"angle": ["NNE", "SW"]})
    words = refusal({"heading": ["NNE", "SW"]}, degrees=False)
    assert "letters of the compass, which no radians have; leave out degrees=False" in words


@pytest.mark.parametrize("cells", [["NNE", "SW", "S10E", "W"], ["10", "200.5", "33", "7"]])
def test_the_remedy_for_a_direction_of_unknown_name(
    capsys: Capture, tmp_path: Path, cells: list[str]
) -> None:
    path = tmp_path / "data.csv"
    rows = [f"{k},{cell},{k % 3},{20 + k}.5" for k, cell in enumerate(cells * 5)]
    path.write_text("\n".join(["id,direction,n,temp", *rows]) + "\n", encoding="utf-8")
    assert run(["profile", str(path)]) == 2
    remedy = re.findall(r"like (--columns \S+ --coords \w+)\n", capsys.readouterr().err)
    assert remedy == ["--columns direction --coords azimuth"]
    assert run(["profile", str(path), "--levels", "1", *shlex.split(remedy[0])]) == 0
    assert "azimuth `direction`" in capsys.readouterr().out


def test_blocks_of_a_stream_are_read_alike(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    cells = ["NNE", "SW", "S10E", "W"] * 10
    path.write_text("\n".join(["heading", *cells]) + "\n", encoding="utf-8")
    hierarchy = sr.Harmonics(2, 2)
    whole = sr.Moments.from_directions(sr.read_directions(path), hierarchy)
    np.testing.assert_allclose(sr.moments(path, hierarchy).total, whole.total, atol=1e-12)
