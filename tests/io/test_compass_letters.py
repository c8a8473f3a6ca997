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
    words = refusal({"strike": ["N27E", "N30W"], "dip": [55.0, 40.0]})
    assert "column 'strike' has letters of the compass, which do not say to which side" in words
    assert "write dips with letters too, like 41SE, or give strikes as azimuths" in words
    words = refusal({"dip_direction": [27.0, 330.0], "dip": ["55SE", "40NE"]})
    assert "'55SE'; give the dip alone, from 0 to 90; the dip direction tells" in words


@pytest.mark.parametrize("strikes", [["N42E", "N30W", "E", "N10E"], [42.0, 150.0, 90.0, 190.0]])
def test_dips_with_letters_turn_strikes(strikes: list[Any]) -> None:
    """A plane of N42E that dips to the north-west has a strike of 222 by the right-hand rule."""
    made = read({"strike": strikes, "dip": ["41NW", "60 SW", "25°N", "90"]})
    wanted = sr.Directions.from_strike_dip([222.0, 150.0, 270.0, 10.0], [41.0, 60.0, 25.0, 90.0])
    turned = np.einsum("ij,ij->i", made.x, wanted.x)
    np.testing.assert_allclose(turned[:3], 1.0, rtol=0.0, atol=1e-14)
    assert abs(turned[3]) == pytest.approx(1.0, abs=1e-14)  # the pole of an upright plane is level
    assert made.reading is not None
    assert "`dip` by letters of the compass" in made.reading.words


def test_letters_that_name_no_side_are_bad_rows() -> None:
    table = {"strike": ["N42E", "N40E", "N10W"], "dip": ["41SE", "30NE", "30"]}
    words = refusal(table)
    assert "2 of 3 rows cannot be read: row 1 (`dip` is '30NE'), row 2 (`dip` is '30')" in words
    assert read(table, on_bad="skip").n == 1


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
