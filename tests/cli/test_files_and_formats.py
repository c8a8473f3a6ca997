"""The command line as a tool among others: formats, groups, files written whole, signals, pipes."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from steradian.cli.app import run

Capture = pytest.CaptureFixture[str]
PROGRAM = [sys.executable, "-m", "steradian"]


def printed(capsys: Capture, *arguments: str) -> str:
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def complaint(capsys: Capture, *arguments: str) -> str:
    assert run([*arguments]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    return err.removeprefix("steradian: ").rstrip("\n")


@pytest.fixture
def planes(tmp_path: Path) -> str:
    rng = np.random.default_rng(2)
    rows = [
        f"{rng.normal(centre, 15):.2f},{rng.uniform(20, 80):.2f},{name}"
        for name, centre in (("upper", 40.0), ("lower", 130.0))
        for _ in range(30)
    ]
    path = tmp_path / "planes.csv"
    path.write_text("strike,dip,unit\n" + "\n".join(rows) + "\n", encoding="utf-8")
    return str(path)


# --- formats ------------------------------------------------------------------------------


def test_csv_has_a_row_for_each_level(capsys: Capture) -> None:
    p = sr.profile(sr.examples.load("turtles"), levels=3)
    assert run(["profile", "turtles", "--levels", "3", "--format", "csv", "--design", "iid"]) == 0
    out, err = capsys.readouterr()
    assert err == "steradian: read 76 rows of turtles.csv: angle `angle`, degrees; weights none\n"
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [int(row["level"]) for row in rows] == [1, 2, 3]
    np.testing.assert_allclose([float(row["gap"]) for row in rows], p.gaps, rtol=1e-12)
    np.testing.assert_allclose([float(row["pvalue"]) for row in rows], p.tests().pvalue, rtol=1e-9)
    assert run(["profile", "turtles", "--format", "csv", "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_markdown_is_a_table(capsys: Capture) -> None:
    lines = printed(capsys, "profile", "turtles", "--levels", "2", "--format", "markdown")
    head, _, *table = lines.splitlines()
    assert head.startswith("read 76 rows of turtles.csv")
    assert table[0].startswith(
        "| level | features | deficit | gap | noise | uncertainty | pvalue |"
    )
    assert len(table) == 4


def test_json_says_what_was_read(capsys: Capture) -> None:
    record = json.loads(printed(capsys, "profile", "turtles", "--format", "json"))
    assert record["read"] == "read 76 rows of turtles.csv: angle `angle`, degrees; weights none"


def test_formats_that_are_none(capsys: Capture) -> None:
    words = complaint(capsys, "profile", "turtles", "--format", "yaml")
    assert words == "--format is 'yaml'; choose text, json, csv, markdown"
    assert "two formats" in complaint(capsys, "profile", "turtles", "--json", "--format", "csv")


# --- groups -------------------------------------------------------------------------------


def test_groups_are_one_line_each(capsys: Capture, planes: str) -> None:
    out = printed(capsys, "profile", planes, "--by", "unit", "--levels", "2")
    lines = out.splitlines()
    assert lines[0].startswith("read 60 rows of planes.csv: strike `strike`, dip `dip`, degrees")
    table = lines[lines.index("") + 1 :]
    assert table[0].split() == ["group", "n", "R", "D", "I1", "I2", "mean"]
    assert [line.split()[:2] for line in table[1:3]] == [["upper", "30"], ["lower", "30"]]
    record = json.loads(printed(capsys, "profile", planes, "--by", "unit", "--json"))
    whole = sr.read_directions(planes)
    alone = sr.profile(whole.take(np.arange(30)))
    assert record["groups"][0]["gaps"] == pytest.approx(alone.gaps.tolist(), rel=1e-9)


def test_a_group_without_a_fit_is_named(capsys: Capture, tmp_path: Path) -> None:
    path = tmp_path / "few.csv"
    path.write_text("angle,g\n1,a\n100,a\n200,a\n7,b\n", encoding="utf-8")
    out = printed(capsys, "profile", str(path), "--by", "g")
    assert "b: level 1 does not exist" in out
    path.write_text("angle,g\n1,a\n7,b\n", encoding="utf-8")
    assert run(["profile", str(path), "--by", "g"]) == 1


def test_groups_that_are_none(capsys: Capture, planes: str) -> None:
    words = complaint(capsys, "profile", planes, "--by", "rock")
    assert words == "no column 'rock'; the table has strike, dip, unit"
    assert "leave one out" in complaint(
        capsys, "profile", planes, "--by", "unit", "--design", "iid"
    )


# --- files written whole ------------------------------------------------------------------


def test_a_file_is_written_whole(capsys: Capture, tmp_path: Path) -> None:
    out = tmp_path / "profile.json"
    out.write_text("before", encoding="utf-8")
    assert printed(capsys, "profile", "turtles", "--json", "--out", str(out)) == ""
    assert json.loads(out.read_text(encoding="utf-8"))["n"] == 76
    assert list(tmp_path.iterdir()) == [out]


def test_a_file_that_cannot_be_written(capsys: Capture, tmp_path: Path) -> None:
    assert "folder" in complaint(capsys, "profile", "turtles", "--out", str(tmp_path))
    words = complaint(capsys, "profile", "turtles", "--out", str(tmp_path / "no" / "x.txt"))
    assert "cannot be written" in words


def test_a_failed_profile_leaves_the_old_file(capsys: Capture, tmp_path: Path) -> None:
    out, bad = tmp_path / "profile.txt", tmp_path / "bad.csv"
    out.write_text("before", encoding="utf-8")
    bad.write_text("lon,lat\n1,2\n3\n", encoding="utf-8")
    complaint(capsys, "profile", str(bad), "--out", str(out))
    assert out.read_text(encoding="utf-8") == "before"


# --- other commands -----------------------------------------------------------------------


def test_boundary(capsys: Capture, planes: str) -> None:
    out = printed(capsys, "boundary", planes, "--levels", "1")
    assert out.startswith("read 60 rows of planes.csv: strike `strike`, dip `dip`")
    expected = sr.boundary(sr.read_directions(planes), levels=1)
    assert str(expected) in out
    record = json.loads(printed(capsys, "boundary", planes, "--levels", "1", "--json"))
    assert record["n"] == 60


def test_doctor(capsys: Capture) -> None:
    out = printed(capsys, "doctor")
    assert f"steradian {sr.__version__}" in out
    assert "extra tables: narwhals " in out
    assert "I2 of mcmurdo is 1.63296, as it should be" in out


def test_completion_is_offered(capsys: Capture) -> None:
    assert "--install-completion" in printed(capsys, "--help")


@pytest.mark.parametrize("command", ["profile", "boundary", "examples", "demo", "doctor"])
def test_every_command_has_help(capsys: Capture, command: str) -> None:
    out = printed(capsys, command, "--help")
    assert "Usage: steradian" in out
    if command == "profile":
        assert "steradian profile stars.csv --columns ra,dec --hours" in out


# --- among other programs -----------------------------------------------------------------


def test_a_closed_pipe_is_silent() -> None:
    first = subprocess.Popen([*PROGRAM, "examples"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert first.stdout is not None
    assert first.stderr is not None
    first.stdout.close()
    assert first.stderr.read() == b""
    first.stderr.close()
    assert first.wait() == 0


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize("wait", [0.1, 2.5])  # while it imports, and while it reads its input
def test_an_interrupt_is_said_and_leaves_nothing(tmp_path: Path, wait: float) -> None:
    out = tmp_path / "profile.txt"
    code = (  # a shell may have told its children to ignore the signal
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from steradian.cli import main\n"
        "print('ready', flush=True)\n"
        "main()"
    )
    child = subprocess.Popen(
        [sys.executable, "-c", code, "profile", "-", "--out", str(out)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert child.stdout is not None
    assert child.stdout.readline() == "ready\n"
    time.sleep(wait)
    child.send_signal(signal.SIGINT)
    _, err = child.communicate(timeout=30)
    assert (child.returncode, err) == (130, "steradian: interrupted\n")
    assert list(tmp_path.iterdir()) == []


def test_the_version_imports_nothing() -> None:
    code = (
        "import sys; sys.argv = ['steradian', '--version']\n"
        "from steradian.cli import main\n"
        "try: main()\n"
        "except SystemExit as end: print(end.code)\n"
        "slow = {'numpy', 'scipy', 'typer', 'ducc0', 'steradian.decomposition'}\n"
        "print(sorted(set(sys.modules) & slow))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"steradian {sr.__version__}\n0\n[]\n"


def test_the_library_leaves_slow_modules_for_later() -> None:
    """Also with a first profile of every kind of level, and its intervals."""
    slow = {"scipy.stats", "scipy.optimize", "scipy.spatial", "pandas", "narwhals", "matplotlib"}
    code = (
        "import sys, numpy as np, steradian as sr\n"
        "x = np.vstack([np.eye(3), -np.eye(3), np.full((1, 3), 1 / np.sqrt(3))])\n"
        "sr.profile(x, levels=2).intervals()\n"
        "sr.profile(sr.Directions.from_angles(np.arange(40.0) ** 2), levels=6)\n"
        f"print(sorted(set(sys.modules) & {slow!r}))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_names_are_there_before_they_are_imported() -> None:
    code = (
        "import sys, steradian as sr\n"
        "assert 'numpy' not in sys.modules\n"
        "assert set(sr.__all__) <= set(dir(sr))\n"
        "assert 'numpy' not in sys.modules\n"
        "from steradian.decomposition import Profile\n"
        "assert sr.results.Profile is Profile and callable(sr.profile)\n"
        "import steradian.text.summary\n"
        "assert sr.profile.__name__ == 'profile'\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_a_group_of_no_weight_is_named_and_the_others_are_told(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "g.csv"
    rows = ["10,10,0,b", "20,20,0,b", "100,10,1,c", "80,20,1,c", "70,10,1,c", "95,12,1,c"]
    path.write_text("\n".join(["lon,lat,w,site", *rows]) + "\n", encoding="utf-8")
    out = printed(capsys, "profile", str(path), "--weights", "w", "--by", "site", "--levels", "1")
    assert "b: all weights are zero" in out
    assert "longitude 86.3°, latitude 13.3°" in out


def test_the_mean_of_a_group_is_told_where_it_has_one(tmp_path: Path, capsys: Capture) -> None:
    """Two groups along axes of 20° and 80°: their means are noise."""
    rng = np.random.default_rng(3)
    lines = ["azimuth,treatment"]
    for name, axis in (("control", 20.0), ("magnetic", 80.0)):
        angles = axis + 180.0 * (np.arange(60) % 2) + rng.normal(0.0, 20.0, 60)
        lines += [f"{angle % 360.0:.1f},{name}" for angle in angles]
    path = tmp_path / "cage.csv"
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    groups = json.loads(printed(capsys, "profile", str(path), "--by", "treatment", "--json"))
    for record, axis in zip(groups["groups"], (20.0, 80.0), strict=True):
        assert record["mean"] == ""
        assert abs(float(record["axis"].split()[1].rstrip("°")) - axis) < 8.0


def test_moments_of_a_group_without_a_fit_do_not_hide_the_others(
    tmp_path: Path, capsys: Capture
) -> None:
    path = tmp_path / "m.csv"
    rows = ["10,10,b", "10,10,b", "100,10,c", "80,20,c", "70,10,c"]
    path.write_text("\n".join(["lon,lat,site", *rows]) + "\n", encoding="utf-8")
    out = printed(capsys, "moments", str(path), "--by", "site", "--levels", "1")
    assert "! level 1 does not exist" in out
    assert "mean direction: longitude" in out
    record = json.loads(
        printed(capsys, "moments", str(path), "--by", "site", "--levels", "1", "--json")
    )
    assert "does not exist" in record["b"]["error"]
    assert record["c"]["n"] == 3
