"""The command line: exit codes, one line per failure, and the numbers of the API."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from cli_calls import complaint, printed
from steradian.cli import main
from steradian.cli.app import run
from steradian.cli.options import Source
from steradian.examples import CATALOGUE
from steradian.text.numbers import digits, pvalue_number

Capture = pytest.CaptureFixture[str]
LON, LAT = [10.0, 179.5, -120.0, 300.0, 77.0, 150.0], [-35.0, 0.0, 90.0, 60.0, -80.0, 20.0]
XYZ = sr.Directions.from_lonlat(LON, LAT).x
WEIGHTS = [1.0, 0.5, 2.0, 4.0, 1.0, 1.0]
NUMBERS = (
    "kish_ess",
    "resultant_length",
    "vmf_kappa",
    "deficits",
    "gaps",
    "uncertainty",
    "psi",
    "mean_direction",
)


@pytest.fixture
def table(tmp_path: Path) -> str:
    columns = {"lon": LON, "lat": LAT, "a": XYZ[:, 0], "b": XYZ[:, 1], "c": XYZ[:, 2]}
    path = tmp_path / "data.csv"
    pd.DataFrame({**columns, "w": WEIGHTS, "site": list("pqrstu")}).to_csv(path, index=False)
    return str(path)


def assert_json(text: str, expected: sr.results.Profile) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    record: dict[str, Any] = json.loads(text, parse_constant=refuse)
    wanted = json.loads(json.dumps(expected.to_dict()))
    assert record.keys() >= wanted.keys()
    for name in NUMBERS:
        known = None if wanted[name] is None else pytest.approx(wanted[name], rel=1e-12)
        assert record[name] == known, name  # axes have no mean
    for name in ("n", "d", "space", "levels", "dims", "stopped", "unit", "hierarchy"):
        assert record[name] == wanted[name]
    for mine, theirs in zip(record["lam"], wanted["lam"], strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-9)
    assert record["numerics"].keys() == wanted["numerics"].keys()


# --- numbers ------------------------------------------------------------------------------


def test_json_has_the_numbers_of_the_api(capsys: Capture) -> None:
    for name in CATALOGUE:
        expected = sr.profile(sr.examples.load(name))
        assert_json(printed(capsys, "profile", name, "--json"), expected)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "parquet", "npy"])
def test_every_file_type(capsys: Capture, tmp_path: Path, suffix: str) -> None:
    path, frame = tmp_path / f"data.{suffix}", pd.DataFrame(XYZ, columns=["x", "y", "z"])
    if suffix == "npy":
        np.save(path, XYZ)
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="," if suffix == "csv" else "\t")
    text = printed(capsys, "profile", str(path), "--levels", "1", "--json")
    assert_json(text, sr.profile(XYZ, levels=1))


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        ((), XYZ),
        (("--coords", "lonlat"), XYZ),
        (("--columns", "a,b,c"), XYZ),
        (("--columns", " c , a, b "), XYZ[:, [2, 0, 1]]),
        (("--columns", "a,b,c", "--coords", "xyz"), XYZ),
        (("--columns", "lon,lat", "--coords", "lonlat"), XYZ),
        (("--columns", "lon", "--coords", "angle"), sr.Directions.from_angles(LON, degrees=True).x),
    ],
)
def test_columns_and_coords(
    capsys: Capture, table: str, options: tuple[str, ...], expected: Any
) -> None:
    text = printed(capsys, "profile", table, "--levels", "1", "--json", *options)
    assert_json(text, sr.profile(expected, levels=1))


def test_weights(capsys: Capture, table: str) -> None:
    text = printed(capsys, "profile", table, "--weights", "w", "--levels", "1", "--json")
    assert_json(text, sr.profile(XYZ, weights=WEIGHTS, levels=1))


def test_normalize(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "long.csv"
    pd.DataFrame(3.0 * XYZ, columns=["x", "y", "z"]).to_csv(path, index=False)
    words = "line 2 has norm 3; pass --normalize or fix it"
    assert complaint(capsys, "profile", str(path)) == words
    text = printed(capsys, "profile", str(path), "--normalize", "--levels", "1", "--json")
    assert_json(text, sr.profile(XYZ, levels=1))


@pytest.mark.parametrize("levels", [1, 2, 3])
def test_levels(capsys: Capture, levels: int) -> None:
    text = printed(capsys, "profile", "turtles", "--levels", str(levels), "--json")
    assert json.loads(text)["levels"] == list(range(1, levels + 1))


def clustered(tmp_path: Path, rows: int = 200, site: str = "") -> str:
    """A table of ``rows`` directions in 40 sites; ``site`` replaces the last one."""
    x = np.random.default_rng(3).normal([0.0, 0.0, 1.0], 1.0, (rows, 3))
    sites = [f"s{k % 40}" for k in range(rows)]
    frame = pd.DataFrame(x / np.linalg.norm(x, axis=1)[:, None], columns=["x", "y", "z"])
    path = tmp_path / "clustered.csv"
    frame.assign(site=[*sites[:-1], site or sites[-1]]).to_csv(path, index=False)
    return str(path)


def test_a_dominating_cluster_is_named(capsys: Capture, tmp_path: Path) -> None:
    """21 types of which one holds 75 % of the rows."""
    rng = np.random.default_rng(5)
    kinds = np.repeat(["star", *(f"k{n}" for n in range(20))], [300, *[5] * 20])
    angle = np.repeat(rng.uniform(0.0, 360.0, 21), [300, *[5] * 20]) + rng.normal(0.0, 30.0, 400)
    file = tmp_path / "types.csv"
    pd.DataFrame({"angle": angle, "type": kinds}).to_csv(file, index=False)
    text = printed(capsys, "profile", str(file), "--design", "clusters:type", "--levels", "1")
    assert "exact tail, damped; not testable" in text
    assert "! level 1: cluster star carries" in text
    record = printed(capsys, "profile", str(file), "--design", "clusters:type", "--levels", "1",
                     "--json")  # fmt: skip
    tests = json.loads(record)["tests"]
    assert tests["judged"] == [False]
    assert tests["pvalue"][0] > 0.01
    assert tests["diagnostics"][0]["code"] == "outweighed_by_evidence"
    assert tests["diagnostics"][0]["data"]["unit"]["name"] == "star"


def test_a_design_adds_tests_and_intervals(capsys: Capture, tmp_path: Path) -> None:
    file = clustered(tmp_path)
    text = printed(capsys, "profile", file, "--design", "clusters:site", "--levels", "2")
    ids = [f"s{k % 40}" for k in range(200)]
    p = sr.profile(pd.read_csv(file), levels=2, design=sr.designs.Clusters(ids))
    assert str(p.tests()) in text
    assert str(p.intervals()).replace("see tests()", "see --design") in text


def test_refused_levels_are_null_in_json(capsys: Capture, tmp_path: Path) -> None:
    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    file = clustered(tmp_path)
    text = printed(capsys, "profile", file, "--design", "clusters:site", "--json")
    record = json.loads(text, parse_constant=refuse)
    assert record["tests"]["pvalue"][3] is None
    assert record["tests"]["methods"][3]["code"] == "refused"
    assert record["intervals"]["low"][0] > 0.0


@pytest.mark.parametrize(
    ("design", "words"),
    [
        ("clusters", "--design clusters needs columns, like clusters:site"),
        ("clusters:nope", "no column 'nope'; the table has x, y, z, site"),
        (
            "known",
            "design 'known' needs data: a covariance is given in Python only; choose iid, "
            "fixed, importance, chain, clusters:COLUMN or survey:psu=COLUMN",
        ),
        ("importance", "design 'importance' needs weights: the ratios target / proposal"),
    ],
)
def test_designs_that_cannot_be(capsys: Capture, tmp_path: Path, design: str, words: str) -> None:
    assert complaint(capsys, "profile", clustered(tmp_path), "--design", design) == words


def test_an_empty_id_is_missing(capsys: Capture, tmp_path: Path) -> None:
    file = clustered(tmp_path, site=" ")
    words = complaint(capsys, "profile", file, "--design", "clusters:site")
    assert words == "row 199 has no cluster id; give every row one (rows are counted from 0)"


def test_an_example_has_no_columns(capsys: Capture) -> None:
    words = complaint(capsys, "profile", "mcmurdo", "--design", "clusters:site")
    assert words == "mcmurdo is no table with columns; --design clusters:COLUMN needs one"


def test_without_json_it_prints_the_summary(capsys: Capture) -> None:
    expected = sr.profile(sr.examples.load("turtles"), levels=2)
    out = printed(capsys, "profile", "turtles", "--levels", "2")
    shared = [line[:60] for line in expected.summary().splitlines()]  # certificates may differ
    assert [line[:60] for line in out.splitlines()] == shared


def test_a_stopped_profile_is_no_failure(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "three.csv"
    path.write_text("angle\n0\n90\n200\n", encoding="utf-8")
    out = " ".join(printed(capsys, "profile", str(path)).split())
    assert "Stopped: level 3 does not exist" in out
    assert "(--levels 2 is sound)" in " ".join(out.split())


# --- examples, demo, version, help --------------------------------------------------------


def test_examples_lists_every_data_set(capsys: Capture) -> None:
    out = printed(capsys, "examples")
    assert max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    for name, example in CATALOGUE.items():
        assert f"{name}: {example.title}\n" in out
        assert example.story in words
        assert f"Source: {example.source}." in words
        assert f"Try: steradian profile {name}\n" in out


def test_demo_tells_the_numbers_of_the_profile(capsys: Capture) -> None:
    out = printed(capsys, "demo")
    assert max(map(len, out.splitlines())) <= 80
    words = " ".join(out.split())
    profile = sr.profile(sr.examples.load("mcmurdo"))
    for gap, p in zip(profile.gaps, profile.tests().pvalue_holm, strict=True):
        assert f" {digits(gap)} " in out
        assert f" {pvalue_number(p)} " in out
    shares = profile.gaps / profile.deficits[-1]
    assert f"R = {profile.resultant:.2f}" in words
    assert f"holds {shares[0]:.1%} of the information" in words
    assert f"holds {shares[1]:.1%}, {profile.gaps[1] / profile.gaps[0]:.0f} times as much" in words
    assert "The axis through both groups (declination 187.2°, inclination 81.0°)" in words
    assert "moment body" not in words
    assert CATALOGUE["mcmurdo"].story in words


def test_version(capsys: Capture) -> None:
    assert printed(capsys, "--version") == f"steradian {sr.__version__}\n"


@pytest.mark.parametrize("arguments", [(), ("--help",)])
def test_help_names_the_commands(capsys: Capture, arguments: tuple[str, ...]) -> None:
    out = printed(capsys, *arguments)
    assert all(command in out for command in ("profile", "examples", "demo", "--version"))


def test_help_names_the_options(capsys: Capture) -> None:
    out = printed(capsys, "profile", "--help")
    options = ("--columns", "--coords", "--weights", "--levels", "--normalize", "--json")
    assert all(option in out for option in options)


# --- bad input: exit 2, one line ----------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--coords", "polar"), "--coords is 'polar'; choose xyz, lonlat, radec, "),
        (("--columns", "a,q"), "no column 'q'; the table has lon, lat, a, b, c, w, site"),
        (("--columns", ","), "no column ''; the table has lon, lat, a, b, c, w, site"),
        (("--columns", "a"), "Cartesian coordinates need at least two columns"),
        (("--columns", "site,a"), "column 'site' holds entries that are not numbers: "),
        (("--columns", "a", "--coords", "lonlat"), "--coords 'lonlat' takes 2 column(s), not 1"),
        (("--coords", "angle"), "cannot tell which of the columns lon, lat, a, b, c, w, site are"),
        (("--weights", "q"), "no weights column 'q'; the table has lon, lat, a, b, c, w, site"),
        (("--weights", "lon"), "cannot tell which of the columns lat, a, b, c, w, site are the"),
        (("--weights", "lon", "--columns", "a,b,c"), "weight in line 4 is -120; weights must not"),
        (("--columns", "a,b"), "columns a, b do not say their convention and are"),
        (("--levels", "-1"), "--levels is -1; give 1 or more"),
        (("--levels", "0"), "--levels is 0; give 1 or more"),
        (("--levels", "1.5"), "--levels is '1.5'; give a whole number from 1 on, or auto"),
        (("--levels", "+-5"), "--levels is '+-5'; give a whole number from 1 on, or auto"),
        (("--levels", "many"), "--levels is 'many'; give a whole number from 1 on, or auto"),
        (("--levels",), "Option '--levels' requires an argument"),
        (("--nope",), "No such option"),  # the rest is Click's own wording
        (("another.csv",), "no file 'another.csv'; check the path"),
    ],
)
def test_bad_options(capsys: Capture, table: str, arguments: tuple[str, ...], words: str) -> None:
    assert complaint(capsys, "profile", table, *arguments).startswith(words)


def test_as_many_levels_as_the_data_carry(
    capsys: Capture, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = json.loads(printed(capsys, "profile", "turtles", "--levels", "auto", "--json"))
    carried = sr.profile(sr.examples.load("turtles"), levels="auto")
    assert record["levels"] == carried.levels.tolist()
    table = tmp_path / "t.csv"
    table.write_text("x,y\n" + "1,0\n0,1\n0.6,-0.8\n-1,0\n" * 5)
    sums = str(tmp_path / "t.moments")
    printed(capsys, "moments", str(table), "--levels", "2", "-o", sums)
    for command, file in (("boundary", str(table)), ("moments", str(table)), ("merge", sums)):
        assert "integer" in complaint(capsys, command, file, "--levels", "auto")
        said = complaint(capsys, command, file, "--levels", "0")
        assert said == "--levels is 0; give 1 or more"
    monkeypatch.setattr(Source, "is_large", True)
    assert "is summed in blocks; give a number" in complaint(
        capsys, "profile", str(table), "--levels", "auto"
    )


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("profile",), "Missing argument"),
        (("nope",), "No such command 'nope'"),
        (("--nope",), "No such option"),  # the rest is Click's own wording
        (("profile", "nowhere.csv"), "no file 'nowhere.csv'; check the path"),
        (("profile", "Turtles"), "no file 'Turtles'; check the path"),
        (("profile", "turtles", "--coords", "angle"), "turtles is a bundled example and takes no"),
        (("profile", "turtles", "--weights", "w"), "turtles is a bundled example and takes no"),
    ],
)
def test_bad_commands(capsys: Capture, arguments: tuple[str, ...], words: str) -> None:
    assert complaint(capsys, *arguments).startswith(words)


@pytest.mark.parametrize("suffix", ["csv", "tsv", "txt", "parquet", "npy", "xyz", ""])
@pytest.mark.parametrize(
    "content", [b"", b"\n", b"\0" * 99, b"\xff\xfe\x00" * 99, b"x\n", b"x,y\tz\n1\n", b"\x93NUMPY"]
)
def test_bad_files(capsys: Capture, tmp_path: Path, suffix: str, content: bytes) -> None:
    path = tmp_path / f"bad.{suffix}".rstrip(".")
    path.write_bytes(content)
    assert path.name in complaint(capsys, "profile", str(path))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (
            "x,y,z\n1,0,0\n0,,0\n",
            "1 of 2 rows cannot be read: line 3 (`y` is missing); repair them, or leave",
        ),
        (
            "x,y,z\n1,0,0\n0,0,0\n",
            "1 of 2 rows cannot be read: line 3 (it is the zero vector); repair them",
        ),
        ("lon,lat\n0,95\n", "line 2 has latitude 95, beyond ±90; check the column order and"),
        ("1,0\n0,1\n", "cannot tell which of the columns 1, 2 are the coordinates; name them"),
        (
            "x,y,x\n1,0,0\n",
            "data.csv: column 'x' is there twice; rename one, or give the columns by "
            "number (--columns)",
        ),
        ("u,v,name\n1,0,a\n", "cannot tell which of the columns u, v, name are the coordinates; "),
    ],
)
def test_bad_contents(capsys: Capture, tmp_path: Path, content: str, words: str) -> None:
    path = tmp_path / "data.csv"
    path.write_text(content, encoding="utf-8")
    assert complaint(capsys, "profile", str(path), "--levels", "2").startswith(words)


def test_a_folder(capsys: Capture, tmp_path: Path) -> None:
    words = f"{str(tmp_path)!r} is a folder; give a file, or '{tmp_path}/*.csv'"
    assert complaint(capsys, "profile", str(tmp_path)) == words


def test_a_message_of_several_lines_becomes_one(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text('"north\nsouth",b\n1,0\n', encoding="utf-8")
    words = "no column 'q'; the table has north south, b"
    assert complaint(capsys, "profile", str(path), "--columns", "q") == words


# --- no fit: exit 1 -----------------------------------------------------------------------


@pytest.mark.parametrize("flags", [(), ("--json",)])
def test_a_level_that_does_not_exist_loses_none_that_do(
    capsys: Capture, tmp_path: Path, flags: tuple[str, ...]
) -> None:
    path = tmp_path / "three.csv"
    path.write_text("angle\n0\n90\n200\n", encoding="utf-8")
    assert run(["profile", str(path), "--levels", "4", *flags]) == 1
    out, err = capsys.readouterr()
    sound = printed(capsys, "profile", str(path), "--levels", "2", *flags)
    if flags:
        assert json.loads(out)["gaps"] == pytest.approx(json.loads(sound)["gaps"], abs=1e-12)
    else:
        tables = [text.split("Stopped:")[0].split("Are the")[0] for text in (out, sound)]
        without_rounding = [[line[:54] for line in t.rstrip().splitlines()] for t in tables]
        assert without_rounding[0] == without_rounding[1]
        assert "Stopped: level 3 does not exist" in out
    assert err == (
        "steradian: level 3 does not exist: no density has these moments "
        "(the support is only 3 distinct points, and level 3 needs at least 4); "
        "ask for fewer levels (--levels 2 is sound)"
        ", or mix in a little of the uniform law (--shrinkage 0.01)"
        ", which nothing tests against noise\n"
    )


def test_a_single_point_has_no_level_at_all(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("x,y,z\n1,0,0\n1,0,0\n", encoding="utf-8")
    words = complaint(capsys, "profile", str(path), code=1)
    assert words.startswith("level 1 does not exist: ")
    assert "all the weight sits on one point" in words
    assert "; give at least two different directions, or mix" in words


def test_points_close_together_are_good_input(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "close.csv"
    path.write_text("angle\n1\n2\n100\n200\n", encoding="utf-8")
    assert run(["profile", str(path)]) == 0
    assert "level" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "levels"), [("mcmurdo", "9999999"), ("turtles", "99999999999")])
def test_more_levels_than_memory(capsys: Capture, name: str, levels: str) -> None:
    assert complaint(capsys, "profile", name, "--levels", levels) == (
        f"--levels is {levels}; at most {'100' if name == 'mcmurdo' else '1000'} are possible in "
        f"dimension {3 if name == 'mcmurdo' else 2}: the moments of more do not fit in memory"
    )


def test_levels_above_the_two_sphere(capsys: Capture, tmp_path: Path) -> None:
    x = np.vstack([np.eye(4), np.random.default_rng(0).standard_normal((50, 4))])
    path = tmp_path / "data.npy"
    np.save(path, x / np.linalg.norm(x, axis=1, keepdims=True))
    text = printed(capsys, "profile", str(path), "--levels", "2", "--json")
    assert_json(text, sr.profile(np.load(path), levels=2))
    assert complaint(capsys, "profile", str(path), "--levels", "6") == (
        "6 levels in dimension 4: above dimension 3 at most 5 levels are integrated; pass fewer"
    )


# --- as a program -------------------------------------------------------------------------


def program(*arguments: str) -> subprocess.CompletedProcess[str]:
    script = shutil.which("steradian", path=str(Path(sys.executable).parent))
    command = [script] if script else [sys.executable, "-c", "import steradian.cli as c; c.main()"]
    return subprocess.run([*command, *arguments], capture_output=True, text=True, check=False)


def test_the_program_prints_and_returns_zero() -> None:
    done = program("profile", "turtles", "--json")
    assert (done.returncode, done.stderr) == (0, "")
    assert_json(done.stdout, sr.profile(sr.examples.load("turtles")))


def test_the_package_runs_as_a_module() -> None:
    command = [sys.executable, "-m", "steradian"]
    done = subprocess.run([*command, "--version"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, f"steradian {sr.__version__}\n", "")
    done = subprocess.run([*command, "nope"], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


@pytest.mark.parametrize(
    ("arguments", "code"),
    [(("profile", "nowhere.csv"), 2), (("nope",), 2), (("profile", "turtles", "--levels", "x"), 2)],
)
def test_the_program_fails_in_one_line(arguments: tuple[str, ...], code: int) -> None:
    done = program(*arguments)
    assert (done.returncode, done.stdout) == (code, "")
    assert done.stderr.startswith("steradian: ")
    assert done.stderr.count("\n") == 1


def test_the_program_returns_one_without_a_fit(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("x,y\n1,0\n1,0\n", encoding="utf-8")
    done = program("profile", str(path))
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (1, "", 1)
    assert done.stderr.startswith("steradian: level 1 does not exist: ")


def test_axes(capsys: Capture, table: str) -> None:
    axes = sr.profile(sr.Directions.from_lonlat(LON, LAT, axial=True), levels=1)
    text = printed(
        capsys, "profile", table, "--axial", "--levels", "1", "--coords", "lonlat", "--json"
    )
    record = json.loads(text)
    assert record["gaps"] == axes.gaps.tolist()
    assert record["space"] == "axes of R^3"
    assert record["mean_direction"] is None
    shown = printed(capsys, "profile", "turtles", "--axial")
    assert "axes of R^2" in shown
    assert " ".join(shown.split()).startswith("read 76 rows")
    assert "axes without a sign" in " ".join(shown.split())


@pytest.mark.parametrize(("said", "expected"), [(None, "1"), ("2", "2")])
def test_linear_algebra_has_one_thread_unless_the_environment_says_otherwise(
    said: str | None, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    name, seen = "OPENBLAS_NUM_THREADS", list[str | None]()
    for each in (name, "MKL_NUM_THREADS"):
        monkeypatch.setenv(each, said or "")  # set, so that it is as before after the test
    if said is None:
        monkeypatch.delenv(name)
    monkeypatch.setattr("sys.argv", ["steradian", "examples"])

    def run_nothing(_: list[str]) -> int:
        seen.append(os.environ.get(name))
        return 0

    monkeypatch.setattr("steradian.cli.app.run", run_nothing)
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 0
    assert seen == [expected]
