"""What was once profiled wrongly without a word: now refused, with a remedy that works."""

from __future__ import annotations

import gzip
import io
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.feather
import pytest

import steradian as sr
from steradian.cli.app import run

Capture = pytest.CaptureFixture[str]
RNG = np.random.default_rng(4)
N = 40
DEC, INC = RNG.normal(340.0, 12.0, N) % 360.0, RNG.normal(-70.0, 6.0, N)
LON, LAT = RNG.normal(166.0, 1.0, N), RNG.normal(-77.5, 0.4, N)
RIGHT = sr.Directions.from_declination_inclination(DEC, INC).x


def magic(folder: Path, title: str = "tab delimited\tsites") -> Path:
    """A MagIC sites table like those of the data base, with its locations and poles."""
    columns = {
        "site": [f"mc{k:02d}" for k in range(N)], "location": ["McMurdo"] * N,
        "lat": LAT, "lon": LON,
        "dir_dec": DEC, "dir_inc": INC, "dir_k": RNG.uniform(50, 900, N), "dir_n_samples": [6] * N,
        "vgp_lat": LAT, "vgp_lon": LON, "citations": ["This study"] * N,
    }  # fmt: skip
    path = folder / "sites.txt"
    text = pd.DataFrame(columns).to_csv(sep="\t", index=False)
    path.write_text(f"{title}\n{text}", encoding="utf-8")
    return path


def outcome(capsys: Capture, *arguments: str) -> tuple[int, str, str]:
    code = run([*arguments])
    out, err = capsys.readouterr()
    return code, out, err


def gaps(capsys: Capture, *arguments: str) -> Any:
    code, out, err = outcome(capsys, "profile", *arguments, "--levels", "2", "--json")
    assert (code, err) == (0, "")
    return json.loads(out)["gaps"]


def wanted(x: Any) -> Any:
    return pytest.approx(sr.profile(x, levels=2).gaps.tolist(), abs=1e-9)


@pytest.mark.parametrize("title", ["tab delimited\tsites", "tab\tsites"])
def test_a_magic_table_is_not_profiled_by_its_site_locations(
    capsys: Capture, tmp_path: Path, title: str
) -> None:
    path = str(magic(tmp_path, title))
    code, out, err = outcome(capsys, "profile", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "3 sets of columns could be the directions; say which:" in err
    remedies = re.findall(r"--columns \S+ --coords \w+", err)
    assert remedies == [
        "--columns lon,lat --coords lonlat",
        "--columns vgp_lon,vgp_lat --coords lonlat",
        "--columns dir_dec,dir_inc --coords declination_inclination",
    ]
    assert gaps(capsys, path, *shlex.split(remedies[2])) == wanted(RIGHT)
    assert gaps(capsys, path, "--coords", "dec-inc") == wanted(RIGHT)
    code, out, _ = outcome(capsys, "profile", path, *shlex.split(remedies[2]), "--levels", "1")
    assert " ".join(out.splitlines()[:2]) == (
        "read 40 rows of sites.txt: declination `dir_dec`, inclination `dir_inc`, degrees "
        "(assumed); weights none"
    )
    with pytest.raises(sr.InvalidDirections, match=r"columns=\['dir_dec', 'dir_inc'\]"):
        sr.read_directions(path)


def test_a_frame_is_not_profiled_by_its_site_locations(tmp_path: Path) -> None:
    frame = pd.read_csv(magic(tmp_path), sep="\t", skiprows=1)
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.profile(frame)
    assert str(caught.value).endswith("profile sr.read_directions(table, …)")
    told = "columns=['dir_dec', 'dir_inc'], coords='declination_inclination'"
    assert told in str(caught.value)
    made = eval(f"sr.read_directions(frame, {told})")
    np.testing.assert_allclose(made.x, RIGHT, atol=1e-14)


def test_right_ascension_and_declination_are_angles(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "stars.csv"
    ra, dec = RNG.uniform(0, 360, N), np.degrees(np.arcsin(RNG.uniform(-1, 1, N)))
    pd.DataFrame({"ra": ra, "dec": dec}).to_csv(path, index=False)
    right = wanted(sr.Directions.from_radec(ra, dec))
    assert gaps(capsys, str(path)) == right
    assert gaps(capsys, str(path), "--columns", "ra,dec") == right
    code, out, err = outcome(
        capsys, "profile", str(path), "--columns", "ra,dec", "--coords", "xyz", "--normalize"
    )
    assert (code, out) == (2, "")
    assert "no unit vectors" in err
    pd.DataFrame({"p": ra, "q": dec}).to_csv(path, index=False)
    for flags in ((), ("--normalize",)):
        code, out, err = outcome(capsys, "profile", str(path), "--columns", "p,q", *flags)
        assert (code, out) == (2, "")
        assert "say it, like --coords lonlat for angles, or --coords xyz with --normalize" in err
    assert gaps(capsys, str(path), "--columns", "p,q", "--coords", "lonlat") == right


@pytest.mark.parametrize(
    ("columns", "option", "right"),
    [
        ({"lon": np.deg2rad(DEC), "lat": np.deg2rad(INC)}, "--radians", RIGHT),
        ({"ra": DEC / 15.0, "dec": INC}, "--hours", RIGHT),
        ({"theta": np.deg2rad(DEC)}, "--radians", sr.Directions.from_azimuth(DEC).x),
    ],
)
def test_the_wrong_unit(
    capsys: Capture, tmp_path: Path, columns: dict[str, Any], option: str, right: Any
) -> None:
    path = str(tmp_path / "data.csv")
    pd.DataFrame(columns).to_csv(path, index=False)
    code, out, err = outcome(capsys, "profile", path)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert f"pass {option}, or --degrees if they are degrees" in err
    assert gaps(capsys, path, option) == wanted(right)
    assert outcome(capsys, "profile", path, "--degrees", "--levels", "1")[0] == 0


@pytest.mark.parametrize("name", ["{}_rad", "{} [rad]", "{}(radians)", "site_{}_rad"])
def test_names_say_the_unit(name: str) -> None:
    first, second = name.format("lon"), name.format("lat")
    frame = pd.DataFrame({first: np.deg2rad(DEC), second: np.deg2rad(INC)})
    made = sr.read_directions(frame)
    np.testing.assert_allclose(made.x, RIGHT, atol=1e-12)
    assert made.reading is not None
    assert ", radians; weights none" in made.reading.words


def test_a_bearing_beside_a_position_is_ambiguous() -> None:
    frame = pd.DataFrame({"lon": LON, "lat": LAT, "heading": DEC})
    with pytest.raises(sr.InvalidDirections, match="2 sets of columns"):
        sr.profile(frame)
    frame = pd.DataFrame({"azimuth": DEC, "dip": np.abs(INC)})
    with pytest.raises(sr.InvalidDirections, match="there is 'dip' beside it"):
        sr.profile(frame)


@pytest.mark.parametrize(
    ("columns", "maker"),
    [
        ("strike dip", sr.Directions.from_strike_dip),
        ("dip_direction dip", sr.Directions.from_dip_direction),
        ("DipDir Dip", sr.Directions.from_dip_direction),
        ("trend plunge", sr.Directions.from_trend_plunge),
        ("Dec Inc", sr.Directions.from_declination_inclination),
        ("site_dec site_inc", sr.Directions.from_declination_inclination),
        ("RAJ2000 DEJ2000", sr.Directions.from_radec),
        ("glon glat", sr.Directions.from_lonlat),
        ("azimuth altitude", sr.Directions.from_azimuth_altitude),
    ],
)
def test_columns_of_four_fields(columns: str, maker: Any) -> None:
    first, second = columns.split()
    made = sr.read_directions(pd.DataFrame({"id": range(N), second: -INC, first: DEC}))
    expected = maker(DEC, -INC)
    assert np.array_equal(made.x, expected.x)
    assert made.space == expected.space


def test_positions_in_two_columns_of_an_array_are_not_scaled(tmp_path: Path) -> None:
    path = tmp_path / "lonlat.npy"
    np.save(path, np.column_stack([DEC, INC]))
    with pytest.raises(sr.InvalidDirections, match=r"from_lonlat or its like, or pass normalize"):
        sr.read_directions(path)
    with pytest.raises(sr.InvalidDirections, match=r"which may be angles; say coords='lonlat'"):
        sr.read_directions(path, normalize=True)
    assert np.array_equal(sr.read_directions(path, coords="lonlat").x, RIGHT)
    assert sr.read_directions(path, coords="xyz", normalize=True).d == 2


# --- counts, times, sexagesimal -----------------------------------------------------------


def test_binned_counts_are_observations_and_say_what_bins_do(tmp_path: Path) -> None:
    path = tmp_path / "hours.csv"
    counts = RNG.integers(0, 9, 24)
    pd.DataFrame({"hour": np.arange(24), "births": counts}).to_csv(path, index=False)
    made = sr.read_directions(path, coords="time", counts="births")
    assert made.n == counts.sum()
    assert not made.weighted
    assert made.reading is not None
    lost = 1.0 - np.sinc(np.array([1.0, 4.0]) / 24.0)  # sin(πl/24) / (πl/24)
    assert made.reading.words == (
        f"read 24 rows of hours.csv: time `hour`, hours of the day (assumed); weights none; "
        f"counts `births`, {counts.sum()} observations; values taken as the middles of bins of "
        f"15°, which shorten moments of degree 1 by {lost[0]:.1%} and of degree 4 by {lost[1]:.1%}"
    )
    with pytest.raises(sr.DesignError, match="numbers of observations are no weights but counts="):
        sr.profile(sr.read_directions(path, coords="time", weights="births"), levels=1).tests()


def test_grouped_moments_shrink_as_said() -> None:
    """A von Mises law in 12 bins against its own moments."""
    theta = np.random.default_rng(1).vonmises(0.0, 2.0, 400_000)
    grouped = (np.floor(theta / (np.pi / 6)) + 0.5) * (np.pi / 6)
    ratio = np.cos(grouped).mean() / np.cos(theta).mean()
    assert ratio == pytest.approx(np.sinc(1 / 12), abs=4e-4)  # 3 standard errors of the ratio


def test_sexagesimal_positions(tmp_path: Path) -> None:
    """The Crab nebula, Messier 1, as SIMBAD writes it and in degrees."""
    path = tmp_path / "messier.csv"
    path.write_text('ra,dec\n05:34:31.94,+22:00:52.2\n"05 34 31.94",-00:00:36\n', encoding="utf-8")
    made = sr.read_directions(path)
    expected = sr.Directions.from_radec([83.63308333, 83.63308333], [22.0145, -0.01])
    np.testing.assert_allclose(made.x, expected.x, atol=1e-9)
    assert made.reading is not None
    assert "hours and degrees" in made.reading.words


# --- formats ------------------------------------------------------------------------------

TABLE = pd.DataFrame({"dec": DEC, "inc": INC, "site": [f"s{k % 3}" for k in range(N)]})


def written(folder: Path, kind: str) -> Path:
    path = folder / f"data.{kind}"
    csv = TABLE.to_csv(index=False)
    if kind == "jsonl":
        TABLE.to_json(path, orient="records", lines=True)
    elif kind == "json":
        TABLE.to_json(path, orient="records")
    elif kind == "columns.json":
        path.write_text(json.dumps(TABLE.to_dict(orient="list")), encoding="utf-8")
    elif kind == "feather":
        pyarrow.feather.write_feather(pa.Table.from_pandas(TABLE), path)
    elif kind == "npz":
        np.savez(path, dec=DEC, inc=INC)
    elif kind == "csv.gz":
        path.write_bytes(gzip.compress(csv.encode()))
    elif kind == "utf16.csv":
        path.write_bytes(csv.encode("utf-16"))
    elif kind == "semicolons.csv":
        path.write_text(csv.replace(",", ";").replace(".", ","), encoding="utf-8")
    elif kind == "comment.dat":
        numbers = "\n".join(f"{d!r} {i!r}" for d, i in zip(DEC.tolist(), INC.tolist(), strict=True))
        path.write_text(f"# made by somebody\n# dec inc\n{numbers}\n", encoding="utf-8")
    return path


@pytest.mark.parametrize(
    "kind",
    ["jsonl", "json", "columns.json", "feather", "npz", "csv.gz", "utf16.csv", "semicolons.csv",
     "comment.dat"],
)  # fmt: skip
def test_every_format(tmp_path: Path, kind: str) -> None:
    made = sr.read_directions(written(tmp_path, kind))
    np.testing.assert_allclose(made.x, RIGHT, atol=1e-9 if "json" in kind else 1e-14)


def test_standard_input(monkeypatch: pytest.MonkeyPatch, capsys: Capture) -> None:
    class Stream:
        buffer = io.BytesIO(TABLE.to_csv(index=False).encode())

    monkeypatch.setattr(sys, "stdin", Stream())
    code, out, err = outcome(capsys, "profile", "-", "--levels", "1")
    assert (code, err) == (0, "")
    assert out.startswith("read 40 rows of standard input: declination `dec`")


@pytest.mark.parametrize("library", ["pandas", "polars", "pyarrow"])
def test_frames_of_any_library(library: str) -> None:
    polars = pytest.importorskip("polars")
    frame = {
        "pandas": lambda: TABLE,
        "polars": lambda: polars.from_pandas(TABLE),
        "pyarrow": lambda: pa.Table.from_pandas(TABLE),
    }[library]()
    assert np.array_equal(sr.read_directions(frame).x, RIGHT)
    assert sr.profile(frame, levels=1, design=sr.designs.Clusters("site")).n == N


def test_several_files_are_one_sample(tmp_path: Path, capsys: Capture) -> None:
    for k in range(3):
        TABLE.iloc[k::3].to_csv(tmp_path / f"part{k}.csv", index=False)
    pattern = str(tmp_path / "part*.csv")
    made = sr.read_directions(pattern)
    assert made.reading is not None
    assert made.reading.words.startswith("read 40 rows of 3 files: declination `dec`")
    assert gaps(capsys, pattern) == wanted(RIGHT)
    files = [str(tmp_path / f"part{k}.csv") for k in range(3)]
    code, out, _ = outcome(
        capsys, "profile", *files, "--by", "file", "--format", "csv", "--levels", "1"
    )
    assert code == 0
    table = pd.read_csv(io.StringIO(out))
    assert table["group"].tolist() == [f"part{k}.csv" for k in range(3)]
    single = sr.profile(sr.read_directions(files[1]), levels=1)
    assert table["I1"][1] == pytest.approx(float(single.gaps[0]), rel=1e-6)
    (tmp_path / "part1.csv").write_text("dec,inc\n1,2\nx,3\n", encoding="utf-8")
    with pytest.raises(sr.InvalidDirections, match=r"line 3 of part1\.csv \(`dec` is 'x'\)"):
        sr.read_directions(pattern)


def test_bad_rows_are_counted_named_and_left_out(tmp_path: Path, capsys: Capture) -> None:
    lines = TABLE.to_csv(index=False).splitlines()
    lines[3], lines[7], lines[9] = ",5,s1", "1,2", "1,999,s0"
    path = tmp_path / "data.csv"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(sr.InvalidDirections) as caught:
        sr.read_directions(path)
    assert str(caught.value) == (
        "3 of 40 rows cannot be read: line 8 (2 cells, not 3), line 4 (`dec` is missing), line 10 "
        "(`inc` is 999, beyond -90 to 90); repair them, or leave them out with on_bad='skip'"
    )
    made = sr.read_directions(path, on_bad="skip")
    assert np.array_equal(made.x, np.delete(RIGHT, [2, 6, 8], axis=0))
    code, out, _ = outcome(
        capsys, "profile", str(path), "--on-bad", "skip", "--by", "site", "--levels", "1"
    )
    assert code == 0
    assert "3 bad rows left out" in out
    kept = np.delete(np.arange(N) % 3, [2, 6, 8])
    table = out.splitlines()[out.splitlines().index("") + 2 :][:3]
    sizes = {line.split()[0]: int(line.split()[1]) for line in table}
    assert sizes == {f"s{k}": int((kept == k).sum()) for k in range(3)}


def test_what_means_nothing_is_refused() -> None:
    frame = pd.DataFrame({"lon": LON, "lat": LAT})
    with pytest.raises(sr.InvalidDirections, match=r"^period is of times, and coords is 'lonlat'"):
        sr.read_directions(frame, period=24)
    with pytest.raises(sr.InvalidDirections, match=r"^hours=True is of right ascensions"):
        sr.read_directions(frame, hours=True)
    with pytest.raises(sr.InvalidDirections, match=r"^on_bad is 'drop'; choose 'error' or 'skip'"):
        sr.read_directions(frame, on_bad="drop")  # type: ignore[arg-type]
    with pytest.raises(sr.InvalidDirections, match=r"^degrees is 'yes'; give True or False"):
        sr.read_directions(frame, degrees="yes")  # type: ignore[arg-type]


def test_ngc_objects_of_pyongc(tmp_path: Path) -> None:
    """Real positions, hours and degrees as text, against the radians of the catalogue."""
    ongc = pytest.importorskip("pyongc.ongc")
    objects = [ongc.get(f"NGC{k}") for k in range(1, 40)]
    text = [(o.ra, o.dec) for o in objects]
    path = tmp_path / "ngc.csv"
    pd.DataFrame(text, columns=["ra", "dec"]).to_csv(path, index=False)
    made = sr.read_directions(path)
    radians = np.array([o.rad_coords for o in objects])
    expected = sr.Directions.from_radec(*radians.T, degrees=False)
    np.testing.assert_allclose(made.x, expected.x, atol=1e-12)
