"""Rows that are chosen by comparisons of columns."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from cli_calls import Capture, complaint, printed
from steradian.io.selection import selection

FRAME = pd.DataFrame({
    "lon": [10.0, 20.0, 30.0, 40.0, 50.0],
    "lat": [1.0, -2.0, 3.0, -4.0, 5.0],
    "dip (deg)": [10.0, np.nan, 30.0, 40.0, 50.0],
    "formation": ["Ross", "Byrd", "Ross", "Ross and Byrd", None],
    "dir_tilt_correction": ["0", "100", "100", "", "100"],
})  # fmt: skip


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "sites.csv"
    FRAME.to_csv(path, index=False)
    return str(path)


@pytest.mark.parametrize(
    ("where", "rows"),
    [
        ("lon == 20", [1]),
        ("lon != 20", [0, 2, 3, 4]),
        ("lat<0", [1, 3]),
        ("lat<=1 and lat > -4", [0, 1]),
        ("lon >= 4e1", [3, 4]),
        ("dip (deg) > 10", [2, 3, 4]),
        ("`dip (deg)` != 30", [0, 3, 4]),  # the row without a value fulfils nothing
        ("formation == 'Ross'", [0, 2]),
        ('formation == "Ross and Byrd"', [3]),
        ("formation != 'Ross'", [1, 3]),
        ("dir_tilt_correction == 100", [1, 2, 4]),
        ("dir_tilt_correction == 100 AND formation == 'Ross'", [2]),
    ],
)
def test_rows_are_chosen(table: str, where: str, rows: list[int]) -> None:
    for source in (table, FRAME):
        chosen = sr.read_directions(source, where=where, columns=["lon", "lat"], coords="lonlat")
        np.testing.assert_allclose(
            chosen.x, sr.Directions.from_lonlat(FRAME.lon[rows], FRAME.lat[rows]).x, atol=1e-15
        )
        assert chosen.rows.tolist() == rows
        assert chosen.reading is not None
        assert f"only rows with {where} ({len(rows)} of 5)" in chosen.reading.words


@pytest.mark.parametrize(
    ("where", "words"),
    [
        ("tilt == 3", "where=: no column 'tilt'; the table has lon, lat, dip (deg), "),
        ("lon = 3", "where= is 'lon = 3': write == for equal"),
        ("lon", "write comparisons like \"dip > 30 and formation == 'Ross'\""),
        ("", "write comparisons like"),
        ("lon == 3 and", "write comparisons like"),
        ("lon == 3 or lat == 4", "write comparisons like"),
        ("lon === 3", "write comparisons like"),
        ("3 < lon < 4", "write comparisons like"),
        ("formation == Ross", "Ross is no number; put words in quotes, like formation == 'Ross'"),
        ("formation > 'R'", "words are compared by == or !="),
        ("formation == 3", "where=: column 'formation' holds no numbers but words like 'Ross'"),
        ("lon == '3'", "where=: column 'lon' holds numbers; leave out the quotes around 3"),
        ("lon > 60", "where=: no row has lon > 60; 'lon' goes from 10 to 50"),
        ("formation == 'Rss'", "'formation' holds 'Ross', 'Byrd', 'Ross and Byrd'"),
        ("__import__('os') == 1", "no column \"__import__( 'os' )\""),
    ],
)
def test_what_cannot_be_chosen_is_said(table: str, where: str, words: str) -> None:
    for source in (table, FRAME):
        with pytest.raises(sr.InvalidDirections) as error:
            sr.read_directions(source, where=where, columns=["lon", "lat"], coords="lonlat")
        assert words in str(error.value)


def test_a_comparison_is_text() -> None:
    with pytest.raises(sr.InvalidDirections, match="where is 3; give a comparison"):
        sr.read_directions(FRAME, where=3)  # type: ignore[arg-type]


def test_names_in_a_text() -> None:
    (one, other) = selection("'rock and roll' == 'and' and b_2>=-1.5").comparisons
    assert (one.column, one.operator, one.value) == ("rock and roll", "==", "and")
    assert (other.column, other.operator, other.value) == ("b_2", ">=", -1.5)


def test_bad_rows_are_counted_and_named_among_the_chosen(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("lon,lat,use\n1,2,yes\nx,3,no\n4,99,yes\n5,6,yes\n7,8,yes\n")
    with pytest.raises(sr.InvalidDirections, match=r"1 of 4 rows cannot be read: line 4 "):
        sr.read_directions(path, where="use == 'yes'")
    found = sr.read_directions(path, where="use == 'yes'", on_bad="skip")
    assert found.n == 3
    frame = pd.DataFrame({"lon": [1.0, 2.0, 3.0], "lat": [1.0, 2.0, np.nan], "k": [0, 1, 1]})
    with pytest.raises(sr.InvalidDirections, match="row 2 "):
        sr.read_directions(frame, where="k == 1")
    assert sr.read_directions(frame, where="k == 1", on_bad="skip").rows.tolist() == [1]


def test_several_files_and_one_of_them_without_a_row(tmp_path: Path) -> None:
    for name, flag in (("a", 0), ("b", 1)):
        (tmp_path / f"{name}.csv").write_text(f"lon,lat,k\n1,2,{flag}\n3,4,{flag}\n")
    found = sr.read_directions(str(tmp_path / "*.csv"), where="k == 1")
    assert found.rows.tolist() == [2, 3]
    assert found.reading is not None
    assert "(2 of 4)" in found.reading.words
    with pytest.raises(sr.InvalidDirections, match="no row has k == 2; 'k' holds 0, 1"):
        sr.read_directions(str(tmp_path / "*.csv"), where="k == 2")


@pytest.mark.parametrize("kind", ["csv", "parquet", "npy"])
def test_sums_of_chosen_rows(tmp_path: Path, kind: str) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"lon": rng.uniform(0, 360, 900), "lat": rng.uniform(-80, 80, 900)})
    frame["k"] = np.arange(900.0) % 3
    path, where = tmp_path / f"rows.{kind}", "k == 1"
    columns = ["lon", "lat"]
    if kind == "csv":
        frame.to_csv(path, index=False)
    elif kind == "parquet":
        frame.to_parquet(path)
    else:
        np.save(path, frame.to_numpy())
        where, columns = "3 == 1", ["1", "2"]
    hierarchy = sr.Harmonics(3, 2)
    got = sr.moments(path, hierarchy, where=where, columns=columns, coords="lonlat")
    rows = frame[frame.k == 1]
    want = sr.Moments.from_directions(sr.Directions.from_lonlat(rows.lon, rows.lat), hierarchy)
    assert got.n == 300
    np.testing.assert_allclose(got.mean, want.mean, atol=1e-13)
    assert f"only rows with {where}" in got.reading.words
    with pytest.raises(sr.InvalidDirections, match="where=: no column 'tilt'"):
        sr.moments(path, hierarchy, where="tilt == 1", columns=columns, coords="lonlat")
    nowhere = where[:-1] + "7"
    with pytest.raises(sr.InvalidDirections, match="no rows"):
        sr.moments(path, hierarchy, where=nowhere, columns=columns, coords="lonlat")


def test_an_array_has_no_columns_to_compare() -> None:
    with pytest.raises(sr.InvalidDirections, match="are for tables, and this is an array"):
        sr.moments(np.eye(3), sr.Harmonics(3, 2), where="k == 1")


def test_rows_of_a_design_and_of_groups_are_those_that_were_chosen(
    table: str, capsys: Capture
) -> None:
    said = ("profile", table, "--columns", "lon,lat", "--coords", "lonlat", "--levels", "1")
    text = printed(capsys, *said, "--by", "formation", "--where", "lon != 20")
    assert "Byrd" in text
    assert "\nRoss " in text
    text = printed(capsys, *said, "--where", "lon < 50", "--design", "clusters:formation", "-q")
    assert "(4 of 5)" in " ".join(text.split())
    assert complaint(capsys, *said, "--where", "lon = 3") == (
        "--where is 'lon = 3': write == for equal"
    )
    assert complaint(capsys, "profile", "turtles", "--where", "lon == 3").endswith(
        "takes no file options"
    )


def test_whole_numbers_are_labels_in_their_order(tmp_path: Path, capsys: Capture) -> None:
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"lon": rng.uniform(0, 360, 90), "lat": rng.uniform(-80, 80, 90)})
    frame["zone"] = np.tile([10, 9, 2], 30)
    path = tmp_path / "zones.csv"
    frame.to_csv(path, index=False)
    record = json.loads(printed(capsys, "profile", str(path), "--by", "zone", "--json"))
    assert [group["group"] for group in record["groups"]] == ["2", "9", "10"]
    record = json.loads(printed(capsys, "compare", str(path), "--by", "zone", "--json"))
    assert record["names"] == ["2", "9", "10"]
    sums = sr.moments(path, sr.Harmonics(3, 1), by="zone")
    assert [repr(label) for label in sums] == ["2", "9", "10"]
