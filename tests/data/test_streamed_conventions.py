"""Streams are read as rows are: the same conventions, units, bad rows and words."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
import dask.dataframe as dd
import numpy as np
import pandas as pd
import pytest

import steradian as sr
from steradian.io import pieces, streams
from streamed import assert_same

H, AXES, CIRCLE = sr.Harmonics(3, 2), sr.Axial(3, 2), sr.Harmonics(2, 3)
N = 700
RNG = np.random.default_rng(8)
ROUND, UP, DIP = RNG.uniform(0, 360, N), RNG.uniform(-80, 80, N), RNG.uniform(0, 90, N)


@pytest.fixture(autouse=True)
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pieces, "_ROWS", 90)
    monkeypatch.setattr(streams, "_TEXT_ROWS", 90)


def clock(hours: Any) -> list[str]:
    return [f"{int(h):02d}:{int(60 * (h % 1)):02d}" for h in hours]


def parts(hours: Any) -> list[str]:
    return [f"{int(h):02d}:{int(60 * (h % 1)):02d}:{3600 * h % 60:05.2f}" for h in hours]


TABLES: dict[str, tuple[Any, dict[str, Any], dict[str, Any]]] = {
    "lonlat": (H, {"site_lon": ROUND, "site_lat": UP}, {}),
    "radians by name": (H, {"lon [rad]": np.deg2rad(ROUND), "lat [rad]": np.deg2rad(UP)}, {}),
    "radians": (H, {"lon": np.deg2rad(ROUND), "lat": np.deg2rad(UP)}, {"degrees": False}),
    "hours": (H, {"ra": ROUND / 15, "dec": UP}, {"hours": True}),
    "sexagesimal": (H, {"ra": parts(ROUND / 15), "dec": UP}, {}),
    "palaeomagnetism": (H, {"dir_dec": ROUND, "dir_inc": UP}, {}),
    "one of two": (
        H, {"lon": ROUND, "lat": UP, "dec": UP, "inc": UP},
        {"coords": "declination_inclination"},
    ),
    "planes": (AXES, {"strike": ROUND, "dip": DIP}, {}),
    "axes": (AXES, {"trend": ROUND, "plunge": UP}, {"axial": True}),
    "bearings with weights": (CIRCLE, {"bearing": ROUND, "v": DIP}, {"weights": "v"}),
    "times": (CIRCLE, {"at": clock(ROUND / 15)}, {"columns": ["at"], "coords": "time"}),
    "period": (
        CIRCLE, {"month": ROUND / 30}, {"columns": ["month"], "coords": "time", "period": 12}
    ),
    "counts": (
        CIRCLE, {"angle": np.arange(N) % 360.0, "k": np.arange(N) % 4 + 1}, {"counts": "k"}
    ),
    "counts and weights": (
        H, {"lon": ROUND, "lat": UP, "k": np.arange(N) % 3 + 1, "w": DIP},
        {"counts": "k", "weights": "w"},
    ),
    "dihedrals": (sr.TorusHarmonics(2, 2), {"phi": ROUND, "psi": 2 * UP}, {}),
    "by number": (H, {"a": ROUND, "b": UP}, {"columns": ["1", "2"], "coords": "lonlat"}),
}  # fmt: skip


def both(source: Any, hierarchy: Any, said: dict[str, Any]) -> tuple[sr.Moments, sr.Directions]:
    rows = sr.read_directions(source, **said)
    got = sr.moments(source, hierarchy, **said)
    want = sr.Moments.from_directions(rows, hierarchy)
    assert got.hierarchy == hierarchy
    np.testing.assert_allclose(got.features, want.features, rtol=0, atol=1e-12)
    assert (got.n, got.weight) == (want.n, pytest.approx(want.weight))
    return got, rows


@pytest.mark.parametrize("case", TABLES)
@pytest.mark.parametrize("form", ["frame", "csv", "parquet"])
def test_every_convention(case: str, form: str, tmp_path: Path) -> None:
    hierarchy, columns, said = TABLES[case]
    frame = pd.DataFrame(columns)
    source: Any = frame
    if form == "csv":
        source = tmp_path / "a.csv"
        frame.to_csv(source, index=False)
    elif form == "parquet":
        source = tmp_path / "a.parquet"
        frame.to_parquet(source)
    got, rows = both(source, hierarchy, said)
    assert got.reading is not None
    assert rows.reading is not None
    assert got.reading.words == rows.reading.words


def written(path: Path, text: str, packed: bool = False) -> Path:
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    return path


def cells(separator: str, header: str = "", comma: bool = False) -> str:
    lines = [separator.join(f"{v:.9f}" for v in row) for row in zip(ROUND, UP, strict=True)]
    body = "\n".join(line.replace(".", ",") if comma else line for line in lines)
    return header + body + "\n"


TEXT: dict[str, tuple[str, str, dict[str, Any]]] = {
    "tabs": ("a.txt", cells("\t", "lon\tlat\n"), {}),
    "semicolons and decimal commas": ("a.csv", cells(";", "lon;lat\n", comma=True), {}),
    "spaces without a header": (
        "a.dat", cells("  "), {"columns": ["1", "2"], "coords": "lonlat"}
    ),
    "a comment for a header": ("a.dat", cells(" ", "# sky\n# lon lat\n"), {}),
    "MagIC": (
        "sites.txt", cells("\t", "tab delimited\tsites\ndir_dec\tdir_inc\n"), {}
    ),
    "packed": ("a.csv.gz", cells(",", "lon,lat\n"), {}),
    "JSON lines": (
        "a.jsonl",
        pd.DataFrame({"lon": ROUND, "lat": UP}).to_json(orient="records", lines=True),
        {},
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", TEXT)
def test_every_text(case: str, tmp_path: Path) -> None:
    name, text, said = TEXT[case]
    path = written(tmp_path / name, text, packed=name.endswith(".gz"))
    got, rows = both(path, H, said)
    assert got.reading is not None
    assert rows.reading is not None
    assert got.reading.words == rows.reading.words


def test_arrays_in_files_by_number(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", np.stack([ROUND, UP, DIP], axis=1))
    both(tmp_path / "a.npy", H, {"columns": ["1", "2"], "coords": "lonlat", "weights": "3"})
    fields = np.zeros(N, dtype=[("lon", float), ("lat", float)])
    fields["lon"], fields["lat"] = ROUND, UP
    np.save(tmp_path / "b.npy", fields)
    both(tmp_path / "b.npy", H, {})
    x = sr.Directions.from_lonlat(ROUND, UP).x
    np.save(tmp_path / "c.npy", 3.0 * x)
    got, rows = both(tmp_path / "c.npy", H, {"normalize": True})
    assert got.reading is not None
    assert "read 700 rows of c.npy: Cartesian coordinates" in got.reading.words
    assert rows.n == N


# --- what is wrong is wrong alike ---------------------------------------------------------


WRONG: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "radians": ({"lon": np.deg2rad(ROUND), "lat": np.deg2rad(UP)}, {}),
    "hours": ({"ra": ROUND / 15, "dec": UP}, {}),
    "two pairs": ({"lon": ROUND, "lat": UP, "dir_dec": ROUND, "dir_inc": UP}, {}),
    "turned round": ({"lon": UP, "lat": ROUND}, {}),
    "names turned round": ({"lon": ROUND, "lat": UP}, {"columns": ["lat", "lon"]}),
    "no names": ({"a": ROUND, "b": UP, "c": UP}, {}),
    "no weights": ({"lon": ROUND, "lat": UP}, {"weights": "w"}),
    "no convention": ({"lon": ROUND, "lat": UP}, {"coords": "polar"}),
    "an idle period": ({"lon": ROUND, "lat": UP}, {"period": 12}),
    "on_bad": ({"lon": ROUND, "lat": UP}, {"on_bad": "drop"}),
    "negative weights": ({"lon": ROUND, "lat": UP, "w": -DIP}, {"weights": "w"}),
    "text": ({"lon": ["east"] * N, "lat": UP}, {}),
}


@pytest.mark.parametrize("case", WRONG)
def test_the_same_words(case: str) -> None:
    columns, said = WRONG[case]
    frame = pd.DataFrame(columns)
    with pytest.raises(sr.SteradianError) as of_rows:
        sr.read_directions(frame, **said)
    with pytest.raises(sr.SteradianError) as of_stream:
        sr.moments(frame, H, **said)
    numbers = str.maketrans("", "", "0123456789.")  # of a whole column, or of its first block
    assert str(of_stream.value).translate(numbers) == str(of_rows.value).translate(numbers)


def test_bad_rows_are_named_by_file_and_line(tmp_path: Path) -> None:
    frame = pd.DataFrame({"lon": ROUND, "lat": UP})
    frame.loc[500, "lat"] = np.nan
    frame.loc[501, "lat"] = 95.0
    frame.to_csv(tmp_path / "a.csv", index=False)
    frame.to_parquet(tmp_path / "a.parquet")
    for name, words in {
        "a.csv": "2 of 90 rows (line 452 of a.csv to line 541 of a.csv) cannot be read: line 502 "
        "of a.csv (`lat` is missing), line 503 of a.csv (`lat` is 95, beyond -90 to 90); repair",
        "a.parquet": "2 of 90 rows (row 450 of a.parquet to row 539 of a.parquet) cannot be read: "
        "row 500 of a.parquet (`lat` is missing), row 501 of a.parquet (`lat` is 95, beyond",
    }.items():
        with pytest.raises(sr.InvalidDirections) as caught:
            sr.moments(tmp_path / name, H)
        assert words in str(caught.value)


def test_bad_rows_that_are_left_out_are_counted_over_all_blocks(tmp_path: Path) -> None:
    text = pd.DataFrame({"lon": ROUND, "lat": UP, "g": ["a", "b"] * (N // 2)}).astype(object)
    text.loc[list(range(180, 270)), "lat"] = "NA"  # a block and more of it
    text.loc[[5, 600, N - 1], "lat"] = "east"
    text.loc[300, "lat"] = 95.0
    lines = text.to_csv(index=False).splitlines()
    lines.insert(400, "1,2")
    path = written(tmp_path / "a.csv", "\n".join(lines))
    got, rows = both(path, H, {"on_bad": "skip"})
    assert got.reading is not None
    assert rows.reading is not None
    assert got.reading.words == rows.reading.words
    assert got.reading.skipped == 95
    found = sr.moments(path, H, on_bad="skip", by="g")
    assert {k: v.reading.skipped for k, v in found.items()} == {"a": 47, "b": 47}
    assert sum(part.n for part in found.values()) == got.n
    with pytest.raises(sr.InvalidDirections, match="none of its 10 rows can be read"):
        sr.moments(pd.DataFrame({"lon": [0.0] * 10, "lat": [np.nan] * 10}), H, on_bad="skip")


def test_small_later_blocks_do_not_raise_doubts() -> None:
    """Nine degrees at the end of a table of degrees are degrees."""
    lon, lat = ROUND.copy(), UP.copy()
    lon[-9:], lat[-9:] = 0.123, 0.456

    def blocks() -> Iterator[pd.DataFrame]:
        yield pd.DataFrame({"lon": lon[:2], "lat": lat[:2]})
        yield pd.DataFrame({"lon": lon[2:-9], "lat": lat[2:-9]})
        for k in range(N - 9, N):
            yield pd.DataFrame({"lon": lon[k : k + 1], "lat": lat[k : k + 1]})

    want = sr.Moments.from_directions(sr.Directions.from_lonlat(lon, lat), H)
    assert_same(sr.moments(blocks(), H), want)
    small = (
        {"lon": np.deg2rad(ROUND[k : k + 1]), "lat": np.deg2rad(UP[k : k + 1])} for k in range(9)
    )
    with pytest.raises(sr.InvalidDirections, match="these look like radians"):
        sr.moments((pd.DataFrame(each) for each in small), H)


def test_files_that_lack_a_column(tmp_path: Path) -> None:
    pd.DataFrame({"lon": ROUND, "lat": UP}).to_csv(tmp_path / "a.csv", index=False)
    pd.DataFrame({"lon": ROUND, "latitude": UP}).to_csv(tmp_path / "b.csv", index=False)
    with pytest.raises(sr.InvalidDirections, match=r"^b\.csv: no column 'lat'"):
        sr.moments(tmp_path / "*.csv", H)


def test_files_as_labels(tmp_path: Path) -> None:
    for name, rows in (("a", slice(300)), ("b", slice(300, N))):
        frame = pd.DataFrame({"lon": ROUND[rows], "lat": UP[rows]})
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    found = sr.moments(tmp_path / "*.csv", H, by="file")
    assert {label: part.n for label, part in found.items()} == {"a.csv": 300, "b.csv": 400}


# --- what was read is told ----------------------------------------------------------------


def told(profile: sr.results.Profile) -> str:
    """What is printed above the table of levels."""
    head, _, _ = str(profile).partition("\nlevel ")
    return head


def test_a_profile_of_sums_says_what_was_read(tmp_path: Path) -> None:
    frame = pd.DataFrame({"dir_dec": 300 + ROUND / 9, "dir_inc": UP / 9 - 60})
    rows, got = sr.read_directions(frame), sr.moments(frame, H)
    assert told(sr.profile(got)) == told(sr.profile(rows, levels=2))
    assert "mean direction: declination 3" in told(sr.profile(got))
    got.save(tmp_path / "a.moments")
    again = sr.Moments.load(tmp_path / "a.moments")
    assert again.reading == got.reading
    assert sr.profile(again).to_dict()["read"] == sr.profile(rows).to_dict()["read"]
    both_halves = again + again
    assert both_halves.reading is not None
    assert "read 1400 rows of a table: declination `dir_dec`" in both_halves.reading.words
    other = sr.moments(pd.DataFrame({"lon": ROUND, "lat": UP}), H)
    assert (again + other).reading is None


def test_the_axis_of_planes_is_told_from_sums() -> None:
    frame = pd.DataFrame({"strike": ROUND / 9, "dip": DIP / 3})
    streamed = told(sr.profile(sr.moments(frame, AXES)))
    assert "principal axis: strike" in streamed
    assert streamed == told(sr.profile(sr.read_directions(frame), hierarchy=AXES))


def test_readings_of_damaged_files() -> None:
    record = sr.moments(pd.DataFrame({"lon": ROUND, "lat": UP}), H).to_dict()
    for change in (
        {"convention": "polar"}, {"unit": "grads"}, {"rows": "7"}, {"columns": [1]},
        {"clock": [0.0, "day"]}, {"clock": ["x", "day"]}, {"remarks": "none"}, {"axial": 1},
    ):  # fmt: skip
        with pytest.raises(sr.InvalidArgument, match="'reading' does not tell"):
            sr.Moments.from_dict(record | {"reading": record["reading"] | change})
    with pytest.raises(sr.InvalidArgument, match="'reading' does not tell"):
        sr.Moments.from_dict(record | {"reading": [1]})


def test_partitions_are_read_as_the_first_rows_say() -> None:
    frame = pd.DataFrame({"ra": parts(ROUND / 15), "dec": UP, "k": np.arange(N)})
    with dask.config.set(scheduler="synchronous"):
        spread = dd.from_pandas(frame, npartitions=11)
        got = sr.moments(spread[spread.k > 100], H, columns=["ra", "dec"])
    want = sr.moments(frame[101:], H, columns=["ra", "dec"])
    assert_same(got, want)
    assert got.reading == want.reading
