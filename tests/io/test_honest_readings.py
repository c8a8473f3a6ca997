"""What a file says against an option or an assumption is refused, counted as bad, or said."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import steradian as sr

Capture = pytest.CaptureFixture[str]
RNG = np.random.default_rng(8)
N = 30
RA, DEC = RNG.uniform(30.0, 359.0, N), RNG.normal(-10.0, 12.0, N)


def parts(values: Any, marks: str = "::") -> list[str]:
    """Sexagesimal text, with a mark after hours or degrees and one after minutes."""
    found = []
    for value in values:
        seconds = round(abs(value) * 3600.0, 2)
        whole, minutes = int(seconds // 3600), int(seconds % 3600 // 60)
        sign = "-" if value < 0 else ""
        found.append(f"{sign}{whole:02d}{marks[0]}{minutes:02d}{marks[1]}{seconds % 60:05.2f}")
    return found


def refusal(table: dict[str, Any], **options: Any) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.read_directions(pd.DataFrame(table), **options)
    return str(caught.value)


def read(table: dict[str, Any], **options: Any) -> sr.Directions:
    return sr.read_directions(pd.DataFrame(table), **options)


def said(made: sr.Directions) -> str:
    assert made.reading is not None
    return made.reading.words


# --- units --------------------------------------------------------------------------------


def test_degrees_are_no_hours() -> None:
    words = refusal({"ra": RA, "dec": DEC}, hours=True)
    assert "beyond 24 hours: these look like degrees" in words
    assert "pass degrees=True in place of hours=True" in words


def test_one_right_ascension_beyond_a_day_is_a_bad_row() -> None:
    ra = RA / 15.0
    ra[7] = 99.0
    words = refusal({"ra": ra, "dec": DEC}, hours=True)
    assert "1 of 30 rows cannot be read: row 7 (`ra` is 99, beyond 24 hours)" in words
    assert read({"ra": ra, "dec": DEC}, hours=True, on_bad="skip").n == N - 1


RIGHT = sr.Directions.from_radec(RA, DEC).x


@pytest.mark.parametrize(
    ("columns", "options"),
    [
        ({"ra": parts(RA), "dec": parts(DEC)}, {"degrees": True}),
        ({"ra_deg": parts(RA), "dec_deg": DEC}, {}),
        ({"ra": parts(RA, "dm"), "dec": parts(DEC, "dm")}, {}),
        ({"ra": parts(RA / 15.0, "hm"), "dec": parts(DEC, "dm")}, {}),
        ({"ra": parts(RA / 15.0), "dec": DEC}, {}),
        ({"ra": parts(RA / 15.0), "dec": DEC}, {"hours": True}),
        ({"lon": parts(RA / 15.0, "hm"), "lat": parts(DEC, "dm")}, {}),
    ],
)
def test_sexagesimal_columns_have_the_unit_that_is_written(
    columns: dict[str, Any], options: dict[str, Any]
) -> None:
    made = read(columns, **options)
    np.testing.assert_allclose(made.x, RIGHT, atol=1e-6)  # hundredths of a second of time
    assert "sexagesimal" in said(made)


@pytest.mark.parametrize(
    ("columns", "options", "words"),
    [
        ({"ra": parts(RA), "dec": DEC}, {}, "beyond 24 hours; pass degrees=True"),
        ({"ra": parts(RA / 15, "hm"), "dec": DEC}, {"degrees": True}, "is written in hours, and"),
        ({"ra": parts(RA, "dm"), "dec": DEC}, {"hours": True}, "is written in degrees, and"),
        ({"ra": parts(RA), "dec": DEC}, {"degrees": False}, "which no radians are"),
        ({"lon": RA, "lat": parts(DEC, "hm")}, {}, "in hours (h), and a latitude is in degrees"),
        (
            {"ra": [*parts(RA[:20]), *map(str, RA[20:])], "dec": DEC},
            {},
            "has 20 sexagesimal cells like",
        ),
    ],
)
def test_units_that_contradict_each_other(
    columns: dict[str, Any], options: dict[str, Any], words: str
) -> None:
    assert words in refusal(columns, **options)


def test_times_of_the_day_are_no_degrees() -> None:
    times = ["21:41", "06:15", "12:30"]
    words = refusal({"time": times}, columns=["time"], coords="azimuth")
    assert "looks like times of the day" in words
    assert "coords='time'" in words
    bearing = read({"b": ["121d41m", "306d15m"]}, columns=["b"], coords="azimuth")
    assert bearing.coordinates()[0].tolist() == pytest.approx([121 + 41 / 60, 306.25])


# --- marks of missing values --------------------------------------------------------------


@pytest.mark.parametrize("mark", [-999.0, 999.0, 9999.0, -9999.0, -99.0])
def test_marks_of_missing_values_are_bad_rows(mark: float) -> None:
    bearing = RA.copy()
    bearing[4] = mark
    words = refusal({"bearing": bearing})
    assert f"1 of 30 rows cannot be read: row 4 (`bearing` is {mark:g}, which no angle" in words
    made = read({"bearing": bearing}, on_bad="skip")
    np.testing.assert_array_equal(made.x, sr.Directions.from_azimuth(np.delete(RA, 4)).x)


def test_angles_may_go_round_and_have_a_sign() -> None:
    given = np.array([370.0, -10.0, -99.0, 5.0, 719.0, 100.0])
    np.testing.assert_array_equal(read({"bearing": given}).x, sr.Directions.from_azimuth(given).x)


# --- times --------------------------------------------------------------------------------


def test_one_bad_time_is_a_bad_row() -> None:
    times = ["21:41", "noon", "06:15", "25:10", "07:00"]
    words = refusal({"time": times}, coords="time")
    assert "2 of 5 rows cannot be read: row 1 (`time` is 'noon', which is no time" in words
    assert "row 3 (`time` is '25:10'" in words
    made = read({"time": times}, coords="time", on_bad="skip")
    assert made.n == 3
    hours = np.array([5.0, -1.0, 7.0, 8.0])
    assert "`time` is -1, beyond the hours 0 to 24" in refusal({"time": hours}, coords="time")
    assert read({"time": hours}, coords="time", on_bad="skip").n == 3


# --- names and options --------------------------------------------------------------------


def test_names_that_say_another_convention() -> None:
    planes = {"strike": [10.0, 20.0, 30.0], "dip": [30.0, 40.0, 50.0]}
    made = read(planes, columns=["strike", "dip"], coords="dip_direction")
    assert "the names of the columns say strike_dip" in said(made)
    assert "names" not in said(read(planes, columns=["strike", "dip"], coords="strike_dip"))
    words = refusal(planes, columns=["strike", "dip"], coords="xyz", normalize=True)
    assert "say strike_dip; leave out coords='xyz', or rename the columns" in words


def test_a_column_of_counts_that_is_not_used_is_said() -> None:
    bins = {"bearing": [5.0, 15.0, 25.0], "count": [3, 4, 5]}
    assert "column `count` not used (counts='count' if rows are bins)" in said(read(bins))
    assert "not used" not in said(read(bins, counts="count"))


def test_counts_are_of_middles() -> None:
    bins = {"bearing": np.arange(5.0, 360.0, 10.0), "n": np.arange(36)}
    assert "values taken as the middles of bins of 10°" in said(read(bins, counts="n"))
