"""Files as four fields write them: read right, or refused with words that read them right."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import steradian as sr
from cli_calls import Capture, complaint, printed

RNG = np.random.default_rng(14)
N = 40
STRIKE, DIP = RNG.integers(0, 360, N), RNG.integers(20, 80, N)
RA, DEC = RNG.uniform(0.0, 360.0, N).round(4), RNG.uniform(-80.0, 80.0, N).round(4)
E = RNG.standard_normal((N, 6))
U = E / np.linalg.norm(E, axis=1, keepdims=True)
COUNTS = RNG.integers(1, 20, 12)
EDGES = np.arange(0, 361, 30)


def written(path: Path, lines: list[str]) -> Path:
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def words(made: sr.Directions) -> str:
    assert made.reading is not None
    return made.reading.words


def refusal(source: Any, **options: Any) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.read_directions(source, **options)
    return str(caught.value)


# --- structural geology -------------------------------------------------------------------


def test_quadrants_beside_strikes_are_not_passed_over() -> None:
    """A strike of 30 that dips to the north-west is no strike of the right-hand rule."""
    frame = pd.DataFrame({"strike": STRIKE % 180, "dip": DIP, "side": ["NW", "SE"] * (N // 2)})
    said = refusal(frame)
    assert said.startswith("column `side` holds compass letters like NW, and strikes are read by")
    assert "say columns=['strike', 'dip'], coords='strike_dip'" in said
    made = sr.read_directions(frame, columns=["strike", "dip"], coords="strike_dip")
    assert "`side` holds compass letters like NW, not used" in words(made)


def test_strikes_of_half_a_circle_are_doubted() -> None:
    doubt = "no strike is above 180: do some dip to the left?"
    assert doubt in words(sr.read_directions(pd.DataFrame({"strike": STRIKE % 180, "dip": DIP})))
    assert doubt not in words(sr.read_directions(pd.DataFrame({"strike": STRIKE, "dip": DIP})))


@pytest.mark.parametrize("names", ["Dip Direction,Dip Angle", "DipAzimuth,Dip", "dip_dir,dip"])
def test_names_of_the_direction_of_dip(tmp_path: Path, names: str) -> None:
    rows = [f"{s},{d}" for s, d in zip(STRIKE, DIP, strict=True)]
    made = sr.read_directions(written(tmp_path / "a.csv", [names, *rows]))
    np.testing.assert_array_equal(made.x, sr.Directions.from_dip_direction(STRIKE, DIP).x)


@pytest.mark.parametrize("header", [["dipdir/dip"], []])
def test_pairs_with_a_slash(tmp_path: Path, header: list[str]) -> None:
    rows = [f"{s:03d}/{d}" for s, d in zip(STRIKE, DIP, strict=True)]
    made = sr.read_directions(written(tmp_path / "a.txt", header + rows), coords="dip_direction")
    np.testing.assert_array_equal(made.x, sr.Directions.from_dip_direction(STRIKE, DIP).x)


def test_names_of_stations_without_a_header_lose_no_row(tmp_path: Path) -> None:
    rows = [f"st{k} {s} {d}" for k, (s, d) in enumerate(zip(STRIKE, DIP, strict=True))]
    made = sr.read_directions(written(tmp_path / "a.dat", rows), coords="strike_dip")
    np.testing.assert_array_equal(made.x, sr.Directions.from_strike_dip(STRIKE, DIP).x)
    assert "not used: `1`" in words(made)


def test_lines_that_may_have_no_sign_are_said() -> None:
    lines = sr.read_directions(pd.DataFrame({"trend": STRIKE * 1.0, "plunge": DIP * 1.0}))
    assert "no line points upwards (axial=True if lines" in words(lines)
    halves = {"azimuth": np.linspace(1.0, 179.0, N)}
    assert "no azimuth leaves half a turn" in words(sr.read_directions(pd.DataFrame(halves)))
    axes = sr.read_directions(pd.DataFrame(halves), axial=True)
    assert "half a turn" not in words(axes)
    round_it = {"azimuth": np.linspace(1.0, 355.0, N)}
    assert "half a turn" not in words(sr.read_directions(pd.DataFrame(round_it)))


# --- palaeomagnetism ----------------------------------------------------------------------


def test_a_direction_that_is_half_read_is_refused() -> None:
    """The samples of MagIC have an azimuth and a dip of their drill, under one prefix."""
    frame = pd.DataFrame({"sample_azimuth": STRIKE, "sample_dip": DIP})
    assert "there is 'sample_dip' beside it" in refusal(frame)
    assert "there is 'zenith' beside" in refusal(pd.DataFrame({"zenith": DIP, "azimuth": STRIKE}))


def test_corrections_for_tilt_that_are_pooled_are_said() -> None:
    frame = pd.DataFrame({"dec": STRIKE, "inc": DIP, "dir_tilt_correction": [0, 100] * (N // 2)})
    assert "`dir_tilt_correction` is 0 and 100: rows of different corrections are pooled" in words(
        sr.read_directions(frame)
    )
    frame["dir_tilt_correction"] = 100
    assert "tilt" not in words(sr.read_directions(frame))


def contribution(path: Path) -> Path:
    sites = [f"s{k}\t{s}\t{d}" for k, (s, d) in enumerate(zip(STRIKE, DIP, strict=True))]
    return written(path, [
        "tab delimited\tlocations", "location\tlat\tlon", "there\t1\t2", ">>>>>>>>>>",
        "tab delimited\tsites", "site\tdir_dec\tdir_inc", *sites, ">>>>>>>>>>",
        "tab delimited\tages", "site\tage", "s0\t3",
    ])  # fmt: skip


def test_one_of_several_magic_tables(tmp_path: Path, capsys: Capture) -> None:
    path = contribution(tmp_path / "all.txt")
    right = sr.Directions.from_declination_inclination(STRIKE, DIP)
    line = complaint(capsys, "profile", str(path))
    assert line == "all.txt holds the MagIC tables locations, sites, ages; say which to read: " \
                   "--table sites"  # fmt: skip
    out = printed(capsys, "profile", str(path), "--table", "sites", "--levels", "1")
    assert out.startswith("read 40 rows of all.txt: declination `dir_dec`, inclination `dir_inc`")
    np.testing.assert_array_equal(sr.read_directions(path, table="sites").x, right.x)
    streamed = sr.moments(path, sr.Harmonics(3, 1), table="sites")
    assert streamed.n == N
    assert refusal(path, table="orders") == (
        "all.txt holds no MagIC table 'orders', but locations, sites, ages"
    )
    broken = path.read_text(encoding="utf-8").replace(f"s1\t{STRIKE[1]}", "s1\tx")
    path.write_text(broken, encoding="utf-8")
    assert "line 8 (`dir_dec` is 'x')" in refusal(path, table="sites")
    assert "leave out table=" in refusal(written(tmp_path / "a.csv", ["a,b", "1,2"]), table="a")


# --- astronomy ----------------------------------------------------------------------------


def test_units_and_rules_below_a_header(tmp_path: Path) -> None:
    """As VizieR writes tables: a line of units, a line of dashes."""
    rows = [f"{a};{d};3.1" for a, d in zip(RA, DEC, strict=True)]
    head = ["#", "#Column", "_RAJ2000;_DEJ2000;Vmag", "deg;deg;mag", "-----;-----;----"]
    made = sr.read_directions(written(tmp_path / "viz.tsv", head + rows))
    np.testing.assert_array_equal(made.x, sr.Directions.from_radec(RA, DEC).x)
    np.testing.assert_array_equal(
        made.x, sr.read_directions(written(tmp_path / "b.tsv", head[2:3] + head[4:] + rows)).x
    )


def test_errors_of_coordinates_are_no_coordinates() -> None:
    frame = pd.DataFrame({"ra": RA, "ra_error": 0.1, "dec": DEC, "dec_error": 0.2, "pm_ra": 1.0})
    assert "right ascension `ra`, declination `dec`" in words(sr.read_directions(frame))
    frame[["l", "b"]] = frame[["ra", "dec"]]
    assert refusal(frame).startswith("2 sets of columns could be the directions")


def test_radians_beside_degrees_are_said() -> None:
    frame = pd.DataFrame({"ra": RA, "dec": np.deg2rad(DEC)})
    assert "taken as degrees, not radians" in words(sr.read_directions(frame))
    assert "taken as" not in words(sr.read_directions(frame, degrees=True))


@pytest.mark.parametrize(("begin", "what"), [
    (b"\x89HDF\r\n", "HDF5"), (b"MATLAB 5.0 MAT-file, Platform", "of MATLAB"),
    (b"X\n\0\0\0\x03", "an object of R"), (b"BZh9", "compressed by bzip2"),
    (b"\x80\x04\x95", "a pickle, which is never opened"), (b"SQLite format 3\0", "a database"),
])  # fmt: skip
def test_formats_of_others_are_named(tmp_path: Path, begin: bytes, what: str) -> None:
    path = tmp_path / "data.bin"
    path.write_bytes(begin.ljust(2880))
    assert refusal(path).startswith(f"the file is {what}")


# --- embeddings ---------------------------------------------------------------------------


def vectors(path: Path, kind: str) -> Any:
    """The same vectors with labels beside them, as people store them."""
    labels = np.arange(N) % 3
    if kind == "npz":
        np.savez(path / "a.npz", embeddings=U, labels=labels)
        return path / "a.npz"
    if kind == "jsonl":
        rows = zip(labels.tolist(), U.tolist(), strict=True)
        return written(path / "a.jsonl", [json.dumps({"labels": k, "v": u}) for k, u in rows])
    if kind == "parquet":
        pq.write_table(pa.table({"labels": labels, "v": pa.array(list(U))}), path / "a.parquet")
        return path / "a.parquet"
    if kind == "fixed":
        fixed = pa.FixedSizeListArray.from_arrays(pa.array(U.ravel()), 6)
        pq.write_table(pa.table({"labels": labels, "v": fixed}), path / "a.parquet")
        return path / "a.parquet"
    if kind == "polars":
        return pl.DataFrame({"labels": labels, "v": U.tolist()})
    frame = pd.DataFrame(U)
    if kind == "index":
        frame.to_csv(path / "a.csv")
    elif kind == "counted":
        frame.to_csv(path / "a.csv", index=False)
    elif kind == "named":
        frame.add_prefix("dim_").assign(labels=labels).to_csv(path / "a.csv", index=False)
    else:
        frame.insert(0, "word", [f"w{k}" for k in range(N)])
        frame.to_csv(path / "a.csv", index=False, header=False, sep=" ")
    return path / "a.csv"


@pytest.mark.parametrize("kind", ["npz", "jsonl", "parquet", "fixed", "polars", "index",
                                  "counted", "named", "words"])  # fmt: skip
def test_vectors_with_something_beside_them(tmp_path: Path, kind: str) -> None:
    """What stands beside a vector is no coordinate of it, scaled or not, whole or in pieces."""
    source = vectors(tmp_path, kind)
    np.testing.assert_allclose(sr.read_directions(source).x, U, rtol=1e-15)
    scaled = sr.read_directions(source, coords="xyz", normalize=True)
    np.testing.assert_allclose(scaled.x, U, rtol=1e-14)
    streamed = sr.moments(source, sr.Harmonics(6, 1))
    whole = sr.Moments.from_directions(sr.Directions(U), sr.Harmonics(6, 1))
    np.testing.assert_allclose(streamed.total, whole.total, rtol=1e-13)


def test_columns_by_range_and_vectors_by_name(tmp_path: Path) -> None:
    path = vectors(tmp_path, "words")
    np.testing.assert_allclose(sr.read_directions(path, columns=["2-7"]).x, U, rtol=1e-15)
    np.testing.assert_allclose(sr.read_directions(path, columns=["2-"]).x, U, rtol=1e-15)
    path = vectors(tmp_path, "npz")
    made = sr.read_directions(path, columns=["embeddings"], weights="labels")
    np.testing.assert_allclose(made.x, U, rtol=1e-15)
    assert made.weighted


def test_arrays_of_an_archive_by_name(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "a.npz"
    np.savez(path, train=U, test=U[:9])
    line = complaint(capsys, "profile", str(path))
    assert line.endswith("which are no columns of one table; say which to read: --table train")
    assert "read 9 rows" in printed(
        capsys, "profile", str(path), "--table", "test", "--levels", "1"
    )
    assert "holds no array 'valid', but train (40, 6), test (9, 6)" in refusal(path, table="valid")
    np.savez(path, vectors=U, theta=np.linspace(0.0, 300.0, N))
    assert refusal(path).startswith("column 'theta' or vectors.0, …, vectors.5 could be")


@pytest.mark.parametrize("names", ["w,x,y,z", "x,y,z,w", "q0,q1,q2,q3"])
def test_quaternions_without_an_order_are_no_vectors(names: str) -> None:
    q = RNG.standard_normal((N, 4))
    q /= np.linalg.norm(q, axis=1, keepdims=True)
    frame = pd.DataFrame(q, columns=names.split(","))
    assert "coords='quaternions'" in refusal(frame)
    order = list("xyzw") if "x" in names else ["q1", "q2", "q3", "q0"]
    made = sr.read_directions(frame, columns=order, coords="quaternions")
    assert made.space == sr.Rotations()


# --- bins and commas ----------------------------------------------------------------------


def middles() -> sr.Directions:
    return sr.Directions.from_azimuth(EDGES[:-1] + 15.0, counts=COUNTS)


@pytest.mark.parametrize("names", [("from", "to"), ("bin_start", "bin_end"), ("lower", "upper")])
def test_bins_are_read_at_their_middles(
    tmp_path: Path, capsys: Capture, names: tuple[str, str]
) -> None:
    frame = pd.DataFrame({names[0]: EDGES[:-1], names[1]: EDGES[1:], "n": COUNTS})
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False)
    line = complaint(capsys, "profile", str(path))
    remedy = f"--bins {names[0]},{names[1]} --coords azimuth --counts n"
    assert line == f"columns {names[0]}, {names[1]} look like the edges of bins; say {remedy} " \
                   "(or 'angle', or 'time')"  # fmt: skip
    out = " ".join(printed(capsys, "profile", str(path), *remedy.split()).split())
    assert "bins of 30°, each counted at its middle, which shorten moments of degree 1 by" in out
    made = sr.read_directions(frame, bins=names, coords="azimuth", counts="n")
    np.testing.assert_allclose(made.x, middles().x, atol=1e-15)
    streamed = sr.moments(path, sr.Harmonics(2, 2), bins=names, coords="azimuth", counts="n")
    assert streamed.n == COUNTS.sum()


def test_bins_across_north_and_of_other_widths() -> None:
    frame = pd.DataFrame(
        {"azimuth_min": [350, 10, 45], "azimuth_max": [10, 45, 350], "n": [3, 2, 1]}
    )
    made = sr.read_directions(frame, counts="n")
    np.testing.assert_allclose(made.coordinates()[0], [0, 0, 0, 27.5, 27.5, 197.5], atol=1e-12)
    assert "bins of up to 305°" in words(made)
    hours = pd.DataFrame({"from": [22.0, 2.0], "to": [2.0, 22.0], "n": [2, 1]})
    made = sr.read_directions(hours, bins=["from", "to"], coords="time", counts="n")
    np.testing.assert_allclose(made.coordinates()[0], [0, 0, 12], atol=1e-12)
    hours["to"] = hours["from"]
    assert "is a bin from 22 to 22" in refusal(
        hours, bins=["from", "to"], coords="time", counts="n"
    )
    assert "need a convention of the circle" in refusal(hours, bins=["from", "to"])
    assert refusal(hours, bins=["from"]).startswith("bins= takes two columns")


@pytest.mark.parametrize("gap", [" ", "\t", ";"])
def test_decimal_commas_without_a_header(tmp_path: Path, gap: str) -> None:
    rows = [f"{a:.4f}{gap}{d:.4f}".replace(".", ",") for a, d in zip(RA, DEC, strict=True)]
    made = sr.read_directions(written(tmp_path / "a.txt", rows), coords="radec")
    np.testing.assert_array_equal(made.x, sr.Directions.from_radec(RA, DEC).x)


def test_one_column_of_short_decimal_commas_is_not_two(tmp_path: Path) -> None:
    path = written(tmp_path / "a.txt", [f"{a:.1f}".replace(".", ",") for a in RA])
    assert "may be one number with a decimal comma, or two; add a header line" in refusal(
        path, columns=["1", "2"], coords="lonlat"
    )
    rows = path.read_text(encoding="utf-8").splitlines()
    made = sr.read_directions(written(path, ["azimuth", *rows]))
    np.testing.assert_array_equal(made.x, sr.Directions.from_azimuth(RA.round(1)).x)


# --- what only names tell -----------------------------------------------------------------


@pytest.mark.parametrize(("name", "period"), [
    ("month", "12"), ("day_of_week", "7"), ("doy", "365.25"), ("minutes", "60"),
])  # fmt: skip
def test_times_named_otherwise_are_no_hours(name: str, period: str) -> None:
    frame = pd.DataFrame({name: np.arange(1, 8), "n": 3})
    said = refusal(frame, columns=[name], coords="time", counts="n")
    assert f"pass period={period}, or period=24 if they are hours" in said
    made = sr.read_directions(
        frame, columns=[name], coords="time", counts="n", period=float(period)
    )
    assert made.n == 21


def test_two_sets_of_vectors_are_chosen_by_their_name(capsys: Capture, tmp_path: Path) -> None:
    frame = pd.concat(
        [pd.DataFrame(U).add_prefix("key_"), pd.DataFrame(E).add_prefix("q_")], axis=1
    )
    path = tmp_path / "a.csv"
    frame.to_csv(path, index=False)
    line = complaint(capsys, "profile", str(path))
    assert line.endswith("say which: --columns key_ or --columns q_")
    np.testing.assert_allclose(sr.read_directions(path, columns=["key_"]).x, U, rtol=1e-15)


def test_euler_angles_are_no_vectors() -> None:
    frame = pd.DataFrame(E[:, :3], columns=["roll", "pitch", "yaw"])
    for options in ({}, {"coords": "xyz", "normalize": True}):
        assert refusal(frame, **options).startswith("Euler angles have too many conventions")


def test_gradians_and_the_right_hand_rule_are_said() -> None:
    frame = pd.DataFrame({"azimuth": np.linspace(0.0, 399.0, N)})
    assert "as gradians would" in words(sr.read_directions(frame))
    planes = sr.read_directions(pd.DataFrame({"strike": STRIKE, "dip": DIP}))
    assert "a plane dips to the right of its strike" in words(planes)


def test_what_spreadsheets_write_above_a_table(tmp_path: Path) -> None:
    rows = [f"{a};{d}".replace(".", ",") for a, d in zip(RA, DEC, strict=True)]
    made = sr.read_directions(written(tmp_path / "a.csv", ["sep=;", "ra;dec", *rows]))
    np.testing.assert_array_equal(made.x, sr.Directions.from_radec(RA, DEC).x)
    title = written(tmp_path / "b.csv", ["My survey,", "ra,dec", "30,40", "50,60"])
    assert "if the first line is a title rather than names, put # before it" in refusal(title)
