"""Which column is the direction, where another one speaks of a direction too."""

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
RNG = np.random.default_rng(12)
N = 30
ANGLES = RNG.normal(120.0, 15.0, N)
OTHERS = RNG.uniform(0.0, 90.0, N)


def refusal(table: dict[str, Any], **options: Any) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.read_directions(pd.DataFrame(table), **options)
    return str(caught.value)


def columns_read(names: str) -> tuple[str, ...]:
    """The columns that are read of a table with these names, separated by spaces."""
    values = [ANGLES, OTHERS, np.arange(N), np.arange(N) % 7]
    table = dict(zip(names.split(), values, strict=False))
    made = sr.read_directions(pd.DataFrame(table))
    assert made.reading is not None
    return made.reading.columns


@pytest.mark.parametrize(
    "names",
    [
        "Strike_RHR Dip_angle", "strike_true dip", "Strike_deg Dip", "strike (deg) dip_angle",
        "mag_strike dip_deg", "Strike_RHR_deg Dip",
    ],
)  # fmt: skip
def test_decorated_names_of_a_plane(names: str) -> None:
    first, second = re.split(r" (?=\w+$)", names)
    made = sr.read_directions(pd.DataFrame({first: ANGLES, second: OTHERS}))
    np.testing.assert_array_equal(made.x, sr.Directions.from_strike_dip(ANGLES, OTHERS).x)


def test_two_decorated_names_of_one_angle_are_two_answers() -> None:
    words = refusal({"strike_true": ANGLES, "strike_mag": ANGLES + 3.0, "dip": OTHERS})
    for name in ("strike_true", "strike_mag"):
        assert f"columns=['{name}', 'dip'], coords='strike_dip'" in words


@pytest.mark.parametrize(
    ("header", "remedies"),
    [
        ("id,goal_dir,age,wind_dir", ["goal_dir azimuth", "wind_dir azimuth"]),
        ("id,dir,age,sun_azimuth", ["dir azimuth", "sun_azimuth azimuth"]),
        ("id,orientation,age,angle_of_sun", ["orientation azimuth", "angle_of_sun angle"]),
        ("id,goalDir,age,wind_dir", ["goalDir azimuth", "wind_dir azimuth"]),
        ("id,homing_direction,age,heading", ["homing_direction azimuth", "heading azimuth"]),
    ],
)
def test_a_known_name_does_not_win_over_another_direction(
    capsys: Capture, tmp_path: Path, header: str, remedies: list[str]
) -> None:
    rows = [
        f"{k},{a:.1f},{k % 7},{b:.1f}" for k, (a, b) in enumerate(zip(ANGLES, OTHERS, strict=True))
    ]
    path = tmp_path / "data.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    assert run(["profile", str(path), "--levels", "1"]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    said = re.findall(r"--columns \S+ --coords \w+", err)
    assert said == [f"--columns {c} --coords {k}" for c, k in map(str.split, remedies)]
    for remedy in said:
        assert run(["profile", str(path), "--levels", "1", *shlex.split(remedy)]) == 0
        assert f"`{shlex.split(remedy)[1]}`" in capsys.readouterr().out


def test_a_direction_beside_the_places_of_observation() -> None:
    words = refusal({"lon": ANGLES, "lat": OTHERS, "flow_direction": ANGLES})
    assert "columns=['lon', 'lat'], coords='lonlat' or columns=['flow_direction']" in words


def test_three_that_could_be_the_direction_are_all_named() -> None:
    words = refusal({"goal_dir": ANGLES, "wind_dir": OTHERS, "sun_azimuth": OTHERS})
    assert "3 sets of columns" in words
    assert "'goal_dir'" in words


@pytest.mark.parametrize(
    ("names", "read"),
    [
        ("azimuth n", "azimuth"),
        ("heading age id", "heading"),
        ("heading heading_sd direction_id", "heading"),
        ("dir_dec dir_inc dir_k dir_tilt_correction", "dir_dec dir_inc"),
        ("sun_azimuth age", "sun_azimuth"),
    ],
)
def test_ordinary_tables_are_read_as_before(names: str, read: str) -> None:
    assert columns_read(names) == tuple(read.split())


def test_words_and_empty_columns_are_no_rivals() -> None:
    table = {"heading": ANGLES, "direction": ["home"] * N, "orientation": [np.nan] * N}
    made = sr.read_directions(pd.DataFrame(table))
    assert made.reading is not None
    assert made.reading.columns == ("heading",)


# --- angles in parts ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "names",
    ["RA_h RA_m RA_s Dec_d Dec_m Dec_s", "RAh RAm RAs DE- DEd DEm DEs", "ra_deg ra_min dec_deg"],
)
def test_parts_of_one_angle_are_not_read_as_angles(names: str) -> None:
    words = refusal({name: np.arange(N) % 24 for name in names.split()})
    assert "are the parts of " in words
    assert "join them in one column for each, as text like " in words
    assert "columns=" not in words


def test_parts_that_are_joined_as_told_are_read() -> None:
    table = {"RA_h": [5], "RA_m": [34], "RA_s": [31.94], "Dec_d": [-0], "Dec_m": [0], "Dec_s": [36]}
    words = refusal(table)
    ra, dec = re.findall(r"like (\S+) in 'ra' and (\S+) in 'dec'", words)[0]
    made = sr.read_directions(pd.DataFrame({"ra": [ra], "dec": [dec]}))
    expected = sr.Directions.from_radec([15.0 * (5 + 34 / 60 + 31.9 / 3600)], [-0.01])
    np.testing.assert_allclose(made.x, expected.x, atol=1e-12)


def test_parts_beside_the_whole_are_left_alone() -> None:
    table = {"ra": ANGLES, "dec": OTHERS, "RA_h": 1, "RA_m": 2, "Dec_d": 3, "Dec_m": 4}
    made = sr.read_directions(pd.DataFrame(table))
    np.testing.assert_array_equal(made.x, sr.Directions.from_radec(ANGLES, OTHERS).x)


def test_hours_and_degrees_by_their_letters() -> None:
    made = sr.read_directions(pd.DataFrame({"RA_h": ANGLES / 15.0, "Dec_d": OTHERS}))
    np.testing.assert_allclose(made.x, sr.Directions.from_radec(ANGLES, OTHERS).x, atol=1e-12)
    assert made.reading is not None
    assert "hours and degrees" in made.reading.words
