"""Frames with named columns, the same for pandas, polars and a plain table."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import steradian as sr
from named_rows import without_count
from steradian.arguments import is_frame
from steradian.io.frames import Table
from steradian.io.reading import directions_from_frame

Columns = dict[str, list[Any]]
Maker = Callable[[Columns], Any]

LON, LAT = [10.0, 179.5, -120.0, 300.0], [-35.0, 0.0, 90.0, 60.0]
XYZ = sr.Directions.from_lonlat(LON, LAT).x
SITES = ["a", "b", "c", "d"]
WEIGHTS = [1.0, 0.0, 2.0, 5.0]
REPAIR = "repair them, or leave them out with on_bad='skip'"
TOO_FEW = (
    "Cartesian coordinates need at least two columns; name them, or give the convention "
    "of the one there is (coords='angle')"
)


def plain_table(columns: Columns) -> Table:
    return Table({name: np.asarray(values) for name, values in columns.items()})


@pytest.fixture(params=[pd.DataFrame, pl.DataFrame, plain_table], ids=["pandas", "polars", "plain"])
def frame(request: pytest.FixtureRequest) -> Maker:
    maker: Maker = request.param
    return maker


def cartesian(names: Sequence[str]) -> Columns:
    return {name: XYZ[:, k].tolist() for k, name in enumerate(names)}


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        make()
    return without_count(str(caught.value))


# --- by name ------------------------------------------------------------------------------


@pytest.mark.parametrize("names", ["xyz", "XYZ", "Xyz"])
def test_cartesian_columns_by_name(frame: Maker, names: str) -> None:
    table = frame({"site": SITES, **cartesian(names), "k": [1, 2, 3, 4]})
    assert np.array_equal(directions_from_frame(table).x, XYZ)


def test_the_names_decide_the_order_of_the_columns(frame: Maker) -> None:
    x, y, z = XYZ.T.tolist()
    table = frame({"z": z, "note": SITES, "y": y, "x": x})
    assert np.array_equal(directions_from_frame(table).x, XYZ)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("lon", "lat"),
        ("LON", "LAT"),
        ("Lon", "Lat"),
        ("longitude", "latitude"),
        ("Longitude", "Latitude"),
        ("declination", "inclination"),
        ("Declination", "INCLINATION"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_longitude_and_latitude_by_name(
    frame: Maker, first: str, second: str, turned: bool
) -> None:
    columns: Columns = {first: LON, second: LAT}
    if turned:
        columns = dict(reversed(columns.items()))
    assert np.array_equal(directions_from_frame(frame({"site": SITES, **columns})).x, XYZ)


@pytest.mark.parametrize("name", ["angle", "Angle", "ANGLE", "theta", "Theta"])
def test_an_angle_by_name_is_in_degrees(frame: Maker, name: str) -> None:
    got = directions_from_frame(frame({"site": SITES, name: LON}))
    assert np.array_equal(got.x, sr.Directions.from_angles(LON, degrees=True).x)


def test_latitude_before_longitude_is_refused(frame: Maker) -> None:
    table = frame({"lat": LAT, "lon": LON})
    words = refusal(lambda: directions_from_frame(table, columns=["lat", "lon"]))
    assert words == "columns lat, lon are in the wrong order; give lon, lat"


def test_two_cartesian_columns_by_name(frame: Maker) -> None:
    circle = sr.Directions.from_angles(LON, degrees=True).x
    table = frame({"y": circle[:, 1].tolist(), "site": SITES, "x": circle[:, 0].tolist()})
    assert np.array_equal(directions_from_frame(table).x, circle)


def test_a_table_of_numbers_only_is_cartesian_as_it_stands(frame: Maker) -> None:
    assert np.array_equal(directions_from_frame(frame(cartesian("uvw"))).x, XYZ)


def test_a_profile_reads_frames(frame: Maker) -> None:
    by_frame = sr.profile(frame({"lon": LON, "lat": LAT, "w": WEIGHTS}), weights="w", levels=1)
    by_array = sr.profile(XYZ, weights=WEIGHTS, levels=1)
    assert by_frame.deficits.tolist() == by_array.deficits.tolist()
    assert by_frame.ess == by_array.ess == 64 / 30


# --- named by the caller ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "coords", "expected"),
    [
        (["lo", "la"], "lonlat", XYZ),
        (["lo"], "angle", sr.Directions.from_angles(LON, degrees=True).x),
        (["p", "q", "r"], "xyz", XYZ),
        (["p", "q", "r"], None, XYZ),
        (["r", "p", "q"], None, XYZ[:, [2, 0, 1]]),
    ],
)
def test_columns_named_by_the_caller(
    frame: Maker, columns: list[str], coords: str | None, expected: Any
) -> None:
    table = frame({"site": SITES, "lo": LON, "la": LAT, **cartesian("pqr")})
    got = directions_from_frame(table, columns=columns, coords=coords)
    assert np.array_equal(got.x, expected)


def test_coords_choose_between_what_a_table_offers(frame: Maker) -> None:
    table = frame({**cartesian("xyz"), "lon": [0.0] * 4, "lat": [0.0] * 4, "theta": [90.0] * 4})
    assert refusal(lambda: directions_from_frame(table)) == (
        "3 sets of columns could be the directions; say which: columns=['x', 'y', 'z'], "
        "coords='xyz' or columns=['lon', 'lat'], coords='lonlat' or columns=['theta'], "
        "coords='angle'"
    )
    assert np.array_equal(directions_from_frame(table, coords="xyz").x, XYZ)
    along = directions_from_frame(table, coords="lonlat").x
    assert np.array_equal(along, np.tile([1.0, 0.0, 0.0], (4, 1)))
    around = directions_from_frame(table, coords="angle").x
    assert np.array_equal(around, np.tile([0.0, 1.0], (4, 1)))


def test_normalize(frame: Maker) -> None:
    table = frame({"x": [2.0, 0.0], "y": [0.0, -3.0]})
    assert refusal(lambda: directions_from_frame(table)).startswith("row 0 has norm 2; pass")
    got = directions_from_frame(table, normalize=True)
    assert np.array_equal(got.x, [[1.0, 0.0], [0.0, -1.0]])


def test_the_names_decide_the_convention_of_given_columns_too(frame: Maker) -> None:
    table = frame({"Lon": LON, "lat": LAT, "theta": LON})
    assert np.array_equal(directions_from_frame(table, columns=["Lon", "lat"]).x, XYZ)
    circle = sr.Directions.from_angles(LON, degrees=True).x
    assert np.array_equal(directions_from_frame(table, columns=["theta"]).x, circle)


# --- weights ------------------------------------------------------------------------------


def test_weights_by_name_or_as_an_array(frame: Maker) -> None:
    table = frame({**cartesian("xyz"), "mass": WEIGHTS})
    named = directions_from_frame(table, weights="mass")
    given = directions_from_frame(table, weights=WEIGHTS)
    assert named.weights.tolist() == given.weights.tolist() == [0.125, 0.0, 0.25, 0.625]


def test_a_weight_that_is_missing_names_its_row(frame: Maker) -> None:
    table = frame({**cartesian("xyz"), "mass": [1.0, 2.0, float("nan"), 1.0]})
    words = f"1 of 4 rows cannot be read: row 2 (`mass` is missing); {REPAIR}"
    assert refusal(lambda: directions_from_frame(table, weights="mass")) == words


@pytest.mark.parametrize("normalize", [False, True])
@pytest.mark.parametrize("name", ["mass", "angle", "theta"])
def test_the_weights_column_is_no_coordinate(frame: Maker, name: str, normalize: bool) -> None:
    table = frame({name: WEIGHTS, **cartesian("uvw")})
    got = directions_from_frame(table, weights=name, normalize=normalize)
    np.testing.assert_allclose(got.x, XYZ, atol=2e-16)
    assert got.weights.tolist() == [0.125, 0.0, 0.25, 0.625]


def test_a_column_is_not_both_weight_and_coordinate(frame: Maker) -> None:
    table = frame({**cartesian("xyz"), "mass": WEIGHTS})
    words = refusal(lambda: directions_from_frame(table, columns=["x", "mass"], weights="mass"))
    assert "'mass'" in words


def test_weights_by_name_need_a_frame() -> None:
    words = "weights names a column, but data is not a frame; pass an array"
    assert refusal(lambda: sr.profile(XYZ, weights="mass")) == words


@pytest.mark.parametrize("kind", ["Directions", "Moments"])
def test_data_that_carry_weights_take_no_others(kind: str) -> None:
    directions = sr.Directions(XYZ)
    data = {
        "Directions": directions,
        "Moments": sr.Moments.from_directions(directions, sr.Harmonics(3, 1)),
    }[kind]
    words = f"{kind} carry their own weights; leave out weights="
    assert refusal(lambda: sr.profile(data, weights=WEIGHTS)) == words


# --- what cannot be read ------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"columns": ["x", "q"]}, "no column 'q'; the table has site, x, y, z"),
        ({"columns": ["X", "y", "z"]}, "no column 'X'; the table has site, x, y, z"),
        ({"weights": "mass"}, "no weights column 'mass'; the table has site, x, y, z"),
        ({"columns": ["x"]}, TOO_FEW),
        (
            {"columns": ["x"], "coords": "lonlat"},
            "coords 'lonlat' takes 2 column(s), not 1",
        ),
        (
            {"columns": ["x", "y"], "coords": "angle"},
            "coords 'angle' takes 1 column(s), not 2",
        ),
    ],
)
def test_wrong_columns(frame: Maker, options: dict[str, Any], words: str) -> None:
    table = frame({"site": SITES, **cartesian("xyz")})
    assert refusal(lambda: directions_from_frame(table, **options)) == words


def test_a_column_of_text_is_no_coordinate(frame: Maker) -> None:
    table = frame({"site": SITES, **cartesian("xyz")})
    words = (
        r"column 'site' (holds entries that are not numbers: .*'a'|has type .*give real numbers)"
    )
    assert re.match(words, refusal(lambda: directions_from_frame(table, columns=["site", "x"])))


@pytest.mark.parametrize(
    ("columns", "coords"),
    [
        ({"site": SITES, "u": LON, "v": LAT}, None),
        ({"site": SITES}, None),
        ({"site": SITES, "lon": LON}, None),
        ({"angle": LON}, "lonlat"),
        ({"lon": LON, "lat": LAT}, "xyz"),
        ({"u": LON, "v": LAT}, "angle"),
    ],
)
def test_an_ambiguous_table_is_refused(frame: Maker, columns: Columns, coords: str | None) -> None:
    assert refusal(lambda: directions_from_frame(frame(columns), coords=coords)) == (
        f"cannot tell which of the columns {', '.join(columns)} are the coordinates; "
        "name them (columns=) with their convention (coords=)"
    )


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"x": [], "y": []}, "x is empty; give at least one direction"),
        ({"angle": []}, "angle is empty; give at least one"),
        ({"lon": [], "lat": []}, "longitude is empty; give at least one"),
    ],
)
def test_a_frame_with_nothing_in_it(columns: Columns, words: str) -> None:
    assert refusal(lambda: directions_from_frame(plain_table(columns))) == words


def test_a_missing_coordinate_names_its_row(frame: Maker) -> None:
    table = frame({"lon": [1.0, float("nan")], "lat": [0.0, 0.0]})
    words = f"1 of 2 rows cannot be read: row 1 (`lon` is missing); {REPAIR}"
    assert refusal(lambda: directions_from_frame(table)) == words


@pytest.mark.parametrize("missing", [None, pd.NA])
def test_missing_values_of_pandas_extension_types(missing: Any) -> None:
    table = pd.DataFrame({"x": pd.array([1.0, missing], dtype="Float64"), "y": [0.0, 1.0]})
    words = f"1 of 2 rows cannot be read: row 1 (`x` is missing); {REPAIR}"
    assert refusal(lambda: directions_from_frame(table)) == words
    assert directions_from_frame(table, on_bad="skip").x.tolist() == [[1.0, 0.0]]


def test_a_pandas_frame_made_from_an_array() -> None:
    assert sr.profile(pd.DataFrame(XYZ), levels=1).n == 4
    table = pd.DataFrame({0: XYZ[:, 0], 10: XYZ[:, 1], 2: XYZ[:, 2], 3: WEIGHTS})
    got = directions_from_frame(table, weights="3")
    assert np.array_equal(got.x, XYZ)
    assert got.weights.tolist() == [0.125, 0.0, 0.25, 0.625]
    turned = directions_from_frame(table, columns=["2", "0", "10"])
    assert np.array_equal(turned.x, XYZ[:, [2, 0, 1]])


@pytest.mark.parametrize(
    "options", [{}, {"columns": ["y", "x"]}, {"columns": "yz", "weights": "x"}]
)
def test_a_column_that_is_there_twice(options: dict[str, Any]) -> None:
    table = pd.DataFrame(XYZ, columns=["x", "y", "x"])
    words = "column 'x' is there more than once; rename one"
    assert refusal(lambda: directions_from_frame(table, **options)) == words


def test_what_is_a_frame() -> None:
    assert is_frame(pd.DataFrame({"x": [1]}))
    assert is_frame(pl.DataFrame({"x": [1]}))
    for other in (XYZ, XYZ.tolist(), {"columns": 1}, "columns", None):
        assert not is_frame(other)


# --- results out --------------------------------------------------------------------------


def test_a_profile_as_a_frame() -> None:
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    table = profile.to_frame()
    assert list(table["level"]) == [1, 2]
    assert table["features"].tolist() == [3, 5]
    for name in ("deficit", "gap", "uncertainty"):
        values = {"deficit": profile.deficits, "gap": profile.gaps}.get(name, profile.uncertainty)
        assert table[name].tolist() == values.tolist()
    assert table["residual"].tolist() == profile.numerics.residual.tolist()
    assert "elapsed" not in table


@pytest.mark.parametrize("columns", [{"u": [1.0]}, {"direction": [1.0], "speed": [0.0]}])
def test_one_or_two_unknown_columns_are_not_guessed(columns: Columns) -> None:
    words = refusal(lambda: directions_from_frame(plain_table(columns), normalize=True))
    assert words.startswith("cannot tell which of the columns ")
    assert "(coords=)" in words


def test_short_palaeomagnetic_names() -> None:
    found = directions_from_frame(plain_table({"dec": [0.0, 90.0], "inc": [90.0, 0.0]}))
    np.testing.assert_allclose(found.x, [[0, 0, 1], [0, 1, 0]], atol=1e-15)
