"""Messages of the command line: in its own spelling, and with remedies that work."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import steradian as sr
from steradian.cli.app import run

Capture = pytest.CaptureFixture[str]
RNG = np.random.default_rng(3)
BEARINGS = "bearing\n" + "\n".join(f"{a:.1f}" for a in RNG.normal(180.0, 30.0, 25)) + "\n"


def table(folder: Path, text: str) -> str:
    path = folder / "data.csv"
    path.write_text(text, encoding="utf-8")
    return str(path)


def complaint(capsys: Capture, *arguments: str) -> str:
    assert run([*arguments]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    return err


def printed(capsys: Capture, *arguments: str) -> str:
    assert run([*arguments]) == 0
    return capsys.readouterr().out


def test_the_format_is_that_of_the_file(capsys: Capture, tmp_path: Path) -> None:
    path = table(tmp_path, BEARINGS)
    for name, begin in (("a.json", "{"), ("a.csv", "level,"), ("a.md", "read "), ("a.txt", "read")):
        out = tmp_path / name
        printed(capsys, "profile", path, "--levels", "1", "--out", str(out))
        assert out.read_text(encoding="utf-8").startswith(begin)
    printed(capsys, "profile", path, "--levels", "1", "--out", str(out), "--format", "json")
    assert json.loads(out.read_text(encoding="utf-8"))["n"] == 25
    out = tmp_path / "b.json"
    printed(capsys, "boundary", path, "--levels", "1", "--out", str(out))
    assert json.loads(out.read_text(encoding="utf-8"))


def test_numbers_that_are_no_hours(capsys: Capture, tmp_path: Path) -> None:
    path = table(tmp_path, "time\n77000\n300\n40000\n41000\n")
    err = complaint(capsys, "profile", path, "--coords", "time")
    assert "seconds of the day; give --period 86400" in err
    assert "period 86400" in printed(
        capsys, "profile", path, "--coords", "time", "--period", "86400", "--levels", "1"
    )


def test_dates_and_periods(capsys: Capture, tmp_path: Path) -> None:
    path = table(tmp_path, "date\n2024-01-03\n2024-03-05\n2023-11-30\n2022-12-24\n")
    assert "give --period year" in complaint(capsys, "profile", path, "--coords", "time")
    err = complaint(capsys, "profile", path, "--coords", "time", "--period", "365")
    assert "--period is 365.0 for calendar times; give --period day, --period week or" in err
    assert printed(capsys, "profile", path, "--coords", "time", "--period", "year", "--levels", "1")


def test_bad_times_are_named_by_their_line(capsys: Capture, tmp_path: Path) -> None:
    path = table(tmp_path, "time\n10:00\n11:30\nnoon\n13:00\n")
    err = complaint(capsys, "profile", path, "--coords", "time")
    assert "1 of 4 rows cannot be read: line 4 (`time` is 'noon'" in err
    assert "--on-bad skip" in err
    out = printed(capsys, "profile", path, "--coords", "time", "--on-bad", "skip", "--levels", "1")
    assert "1 bad row left out" in " ".join(out.split())


def test_usage_errors_name_the_command(capsys: Capture) -> None:
    assert "(see steradian profile --help)" in complaint(capsys, "profile", "x", "--nonsense")


def test_bad_rows_of_an_array_are_left_out(capsys: Capture, tmp_path: Path) -> None:
    x = RNG.normal(size=(30, 3))
    x[4, 1] = np.nan
    path = tmp_path / "x.npy"
    np.save(path, x)
    assert "row 4" in complaint(capsys, "profile", str(path), "--normalize")
    made = sr.read_directions(path, normalize=True, on_bad="skip")
    np.testing.assert_array_equal(made.x, sr.Directions(np.delete(x, 4, 0), normalize=True).x)
    assert made.reading is not None
    assert made.reading.skipped == 1


def test_an_empty_column_of_weights(capsys: Capture, tmp_path: Path) -> None:
    path = table(tmp_path, "bearing,age\n10,\n20,\n")
    err = complaint(capsys, "profile", path, "--weights", "age", "--on-bad", "skip")
    assert "none is left to read" in err
    assert "--on-bad" not in err


def test_packed_standard_input(capsys: Capture, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = SimpleNamespace(buffer=io.BytesIO(gzip.compress(BEARINGS.encode())))
    monkeypatch.setattr("sys.stdin", packed)
    assert "25 rows of standard input" in printed(capsys, "profile", "-", "--levels", "1")


def test_groups_of_axes_and_groups_without_a_name(capsys: Capture, tmp_path: Path) -> None:
    rows = [
        f"{s:.1f},{d:.1f},{'A' if k % 2 else ''}"
        for k, (s, d) in enumerate(zip(RNG.normal(40, 9, 40), RNG.normal(50, 6, 40), strict=True))
    ]
    path = table(tmp_path, "strike,dip,formation\n" + "\n".join(rows) + "\n")
    out = printed(capsys, "profile", path, "--by", "formation", "--levels", "1")
    assert "(empty)" in out
    assert out.count("axis strike ") == 2


def test_one_column_of_decimal_commas(tmp_path: Path) -> None:
    for text in ("bearing\n12,5\n100,25\n", "12,50\n100,05\n"):
        made = sr.read_directions(table(tmp_path, text), coords="azimuth")
        assert made.coordinates()[0].round(2).tolist()[0] == 12.5
        assert made.n == 2


def test_what_may_be_decimals_is_said(tmp_path: Path) -> None:
    made = sr.read_directions(table(tmp_path, "12,5\n100,25\n"), columns=["1"], coords="azimuth")
    assert made.reading is not None
    assert "column `2` not used (if it is the decimals" in made.reading.words


def test_one_column_without_a_header(tmp_path: Path) -> None:
    made = sr.read_directions(table(tmp_path, "12.5\n100.25\n"), coords="azimuth")
    assert made.coordinates()[0].tolist() == pytest.approx([12.5, 100.25], rel=1e-14)


def test_rows_that_are_no_unit_vectors_name_what_scales_them() -> None:
    x = 5.0 * RNG.normal(size=(9, 3))
    for attempt in (
        lambda: sr.profile(x),
        lambda: sr.profiles(x, weights=np.ones((2, 9))),
        lambda: sr.boundary(x),
    ):
        with pytest.raises(sr.InvalidDirections, match=r"pass sr\.Directions\(x, normalize=True\)"):
            attempt()


def test_what_has_no_noise_names_the_option(capsys: Capture, tmp_path: Path) -> None:
    rows = "\n".join(f"{a:.1f},{1 + k % 3}" for k, a in enumerate(RNG.normal(180.0, 30.0, 25)))
    path = table(tmp_path, f"bearing,w\n{rows}\n")
    out = printed(capsys, "profile", path, "--weights", "w", "--levels", "1")
    assert "noise and p-values need --design" in " ".join(out.split())


@pytest.mark.parametrize("options", [(), ("--json",)])
def test_tests_that_cannot_be_judged_are_no_bad_input(
    capsys: Capture, tmp_path: Path, options: tuple[str, ...]
) -> None:
    planes = zip(RNG.normal(40, 9, 60), RNG.normal(50, 6, 60), strict=True)
    rows = "\n".join(f"{s:.1f},{d:.1f},{k % 6}" for k, (s, d) in enumerate(planes))
    path = table(tmp_path, f"strike,dip,scanline\n{rows}\n")
    command = ["profile", path, "--levels", "2", "--design", "clusters:scanline", *options]
    assert run(command) == 0
    out, err = capsys.readouterr()
    assert err == (
        "steradian: no tests: level 1: 6 units for 5 features: too few for a covariance; more "
        "units are needed\n"
    )
    if options:
        assert set(json.loads(out)["inference"]["pvalue"]) == {None}
    else:
        assert "No: 6 units for 14 fitted parameters; 140 would" in " ".join(out.split())
    assert run([*command, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
