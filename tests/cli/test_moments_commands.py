"""Making, pooling and profiling sums from the command line."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from cli_calls import complaint, printed
from steradian.cli import options
from steradian.cli.app import run
from steradian.text.audience import Audience, speaking_to
from streamed import FRAME, LABELS, N, W, X, assert_same

Capture = pytest.CaptureFixture[str]
H4 = sr.Harmonics(3, 4)


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory with the sample in two files."""
    monkeypatch.chdir(tmp_path)
    FRAME[:1000].to_parquet("a.parquet")
    FRAME[1000:].to_parquet("b.parquet")
    return tmp_path


def of(rows: slice) -> sr.Moments:
    return sr.Moments.from_directions(sr.Directions(X[rows], W[rows]), H4)


def test_sites_pool_without_sharing_rows(here: Path, capsys: Capture) -> None:
    for name in "ab":
        said = printed(
            capsys, "moments", f"{name}.parquet", "--weights", "w", "-o", f"{name}.moments"
        )
        assert said.startswith(f"wrote {name}.moments: Moments(n=")
    assert_same(sr.Moments.load("a.moments"), of(slice(1000)))
    printed(capsys, "merge", "a.moments", "b.moments", "--out", "all.moments")
    assert_same(sr.Moments.load("all.moments"), of(slice(N)))
    table = printed(capsys, "merge", "a.moments", "b.moments")
    assert table.replace(" of steradian profile", "") == printed(capsys, "profile", "all.moments")
    with speaking_to(Audience.COMMAND_LINE, options={"--levels"}):
        summary = sr.profile(sr.Moments.load("all.moments")).summary()
    assert table == summary + "\n"


def test_fewer_levels_and_json(here: Path, capsys: Capture) -> None:
    printed(capsys, "moments", "*.parquet", "-o", "all.moments")
    wanted = sr.profile(X, levels=2).gaps
    for command in ("merge", "profile"):
        record = json.loads(printed(capsys, command, "all.moments", "--levels", "2", "--json"))
        assert record["gaps"] == pytest.approx(wanted, abs=1e-10)
    record = json.loads(printed(capsys, "moments", "*.parquet", "--levels", "2", "--json"))
    assert record["gaps"] == pytest.approx(wanted, abs=1e-10)


def test_inference_from_sums(here: Path, capsys: Capture) -> None:
    printed(capsys, "moments", "*.parquet", "-o", "all.moments")
    assert "Tests of zero gaps" in printed(capsys, "profile", "all.moments", "--design", "iid")
    words = complaint(capsys, "profile", "all.moments", "--design", "chain")
    assert "needs the rows, and these are moments" in words


def test_by_label(here: Path, capsys: Capture) -> None:
    printed(capsys, "moments", "*.parquet", "--by", "site", "-o", "site-{}.moments")
    names = sorted(name for name in os.listdir() if name.endswith(".moments"))
    assert names == ["site-north.moments", "site-south.moments", "site-é_t.moments"]
    found = sr.Moments.load("site-south.moments")
    assert found.n == int((LABELS == "south").sum())
    table = printed(capsys, "moments", "*.parquet", "--by", "site", "--levels", "1")
    assert table.startswith("north\n=====\n")
    record = json.loads(
        printed(capsys, "moments", "*.parquet", "--by", "site", "--levels", "1", "--json")
    )
    assert set(record) == set(LABELS.tolist())


def test_axes_and_coordinates(here: Path, capsys: Capture) -> None:
    printed(capsys, "moments", "a.parquet", "--axial", "-o", "axes.moments")
    assert sr.Moments.load("axes.moments").hierarchy == sr.Axial(3, 2)
    lon, lat = np.random.default_rng(0).uniform(-80, 80, (2, 50))
    pd.DataFrame({"p": lon, "q": lat}).to_csv("c.csv", index=False)
    printed(capsys, "moments", "c.csv", "--columns", "p,q", "--coords", "lonlat", "-o", "c.moments")
    want = sr.Moments.from_directions(sr.Directions.from_lonlat(lon, lat), H4)
    assert_same(sr.Moments.load("c.moments"), want)


def test_large_tables_are_summed_as_they_are_read(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = json.loads(printed(capsys, "profile", "a.parquet", "--json"))
    monkeypatch.setattr(options, "_LARGE", {"rows": 500, "bytes": 500})
    monkeypatch.setattr(options, "_FIRST_LOOK", 0)

    def refuse(*_: object, **__: object) -> None:
        raise AssertionError("the rows were read at once")

    with monkeypatch.context() as patch:
        patch.setattr("steradian.io.tables.read_request", refuse)
        streamed = json.loads(printed(capsys, "profile", "a.parquet", "--json"))
    np.testing.assert_allclose(streamed["gaps"], plain["gaps"], atol=1e-11)
    assert streamed["n"] == plain["n"]
    assert "Tests" in printed(capsys, "profile", "a.parquet", "--design", "iid")  # from the rows


def test_large_tables_with_every_option(
    here: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(3)
    frame = pd.DataFrame({"ra": rng.uniform(0, 23.9, 900), "dec": rng.uniform(-80, 80, 900)})
    frame["g"] = np.where(frame.dec > 0, "up", "down")
    frame.loc[7, "dec"] = np.nan
    frame.to_csv("sky.csv", index=False)
    said = ("profile", "sky.csv", "--hours", "--on-bad", "skip", "--levels", "2")
    calls = {
        form: [*said, *rest]
        for form, rest in {
            "text": (), "json": ("--json",), "csv": ("--format", "csv", "-q"),
            "markdown": ("--format", "markdown"), "by": ("--by", "g"),
            "by as json": ("--by", "g", "--json"),
        }.items()
    }  # fmt: skip
    plain = {form: printed(capsys, *call) for form, call in calls.items()}
    monkeypatch.setattr(options, "_LARGE", {"rows": 5, "bytes": 5})
    monkeypatch.setattr(options, "_FIRST_LOOK", 0)
    monkeypatch.setattr("steradian.io.tables.read_request", None)
    streamed = {form: printed(capsys, *call) for form, call in calls.items()}
    read = "read 899 rows of sky.csv: right ascension `ra`, declination `dec`, hours and degrees"
    for form in ("text", "markdown"):
        assert " ".join(streamed[form].split()).startswith(read)
    told = [[line.split("|")[:7] for line in t["markdown"].splitlines()] for t in (streamed, plain)]
    assert told[0] == told[1]  # p-values of sums are not those of rows, to the last digit
    record = json.loads(streamed["json"])
    assert record["read"] == json.loads(plain["json"])["read"]
    assert "1 bad row left out" in record["read"]
    groups, wanted = (json.loads(text["by as json"])["groups"] for text in (streamed, plain))
    for one in groups:
        same = next(each for each in wanted if each["group"] == one["group"])
        assert one["gaps"] == pytest.approx(same["gaps"], abs=1e-10)
        assert (one["n"], one["mean"]) == (same["n"], same["mean"])
    words = complaint(capsys, "profile", "sky.csv", "--on-bad", "skip")
    assert "these look like hours, and degrees are assumed; pass --hours" in words
    words = complaint(capsys, "profile", "sky.csv", "--hours")
    assert "line 9 of sky.csv (`dec` is missing)" in words
    assert "--on-bad skip" in words


def test_files_of_moments_have_no_rows(here: Path, capsys: Capture) -> None:
    printed(capsys, "moments", "a.parquet", "--weights", "w", "-o", "a.moments")
    text = printed(capsys, "profile", "a.moments")
    assert text.startswith("read 1000 rows of a.parquet: Cartesian `x`, `y`, `z`; weights `w`")
    printed(capsys, "moments", "b.parquet", "--weights", "w", "-o", "b.moments")
    text = printed(capsys, "merge", "a.moments", "b.moments")
    assert text.startswith(f"read {N} rows of several sources: Cartesian `x`, `y`, `z`")
    for rest in (["--within-span"], ["--design", "clusters:site"]):
        assert "need rows" in complaint(capsys, "profile", "a.moments", *rest)
    assert "--by needs rows" in complaint(capsys, "profile", "a.moments", "--by", "site")


def test_levels_that_are_sound_are_printed(here: Path, capsys: Capture) -> None:
    sr.moments(np.eye(3), sr.Harmonics(3, 4)).save("three.moments")
    assert run(["merge", "three.moments"]) in (0, 1)
    captured = capsys.readouterr()
    assert "level" in captured.out


def test_refusals(here: Path, capsys: Capture) -> None:
    sr.moments(X, sr.Harmonics(3, 2)).save("two.moments")
    sr.moments(X, sr.Harmonics(3, 3)).save("three.moments")
    Path("text.moments").write_text("x")
    for arguments, words in {
        ("merge", "two.moments", "three.moments"): "three.moments: cannot pool moments of",
        ("merge", "two.moments", "text.moments"): "text.moments is no file of moments",
        ("merge", "none.moments"): "no file 'none.moments'",
        ("merge", "two.moments", "--levels", "3"): "these moments hold 2 levels, not 3",
        ("merge", "two.moments", "-o", "no/where.moments"): "make it first",
        ("profile", "two.moments", "--columns", "x,y,z"): "takes no column options",
        ("profile", "two.moments", "--normalize"): "takes no column options",
        ("moments", "none.parquet"): "no file 'none.parquet'",
        ("moments", "a.parquet", "--coords", "polar"): "--coords is 'polar'",
        ("moments", "a.parquet", "--levels", "-1"): "--levels is -1",
        ("moments", "a.parquet", "-o", "{}.moments"): "with --by give a name",
        ("moments", "a.parquet", "--by", "site", "-o", "a.moments"): "with --by give a name",
        ("moments", "a.parquet", "--by", "nothing"): "no column 'nothing'",
        ("moments", "a.parquet", "--cluster", "local:none"): "like local:2",
        ("moments", "two.moments"): "holds moments already",
    }.items():
        assert words in complaint(capsys, *arguments)
    assert sorted(os.listdir()) == [
        "a.parquet", "b.parquet", "text.moments", "three.moments", "two.moments"
    ]  # fmt: skip


@pytest.mark.slow
def test_on_a_cluster(here: Path, capsys: Capture) -> None:
    printed(
        capsys, "moments", "*.parquet", "--weights", "w", "--cluster", "local:1", "-o", "a.moments"
    )
    assert_same(sr.Moments.load("a.moments"), of(slice(N)))
