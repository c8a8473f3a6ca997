"""Rows that repeat earlier ones: told where rounding does not explain them, left out if asked."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from cli_calls import Capture, complaint, printed
from steradian.examples import CATALOGUE
from steradian.io.repeats import Repeats, first_of_each, repeats
from steradian.numerics.arrays import Array

SPREADS = (0.05, 0.2, 1.0, 10.0)  # from a tight cluster to nearly uniform
SIZES = (30, 133, 500, 2000)


def sphere(n: int, spread: float, rng: np.random.Generator) -> list[Array]:
    """Declinations and inclinations about a mean."""
    x = rng.standard_normal((n, 3)) * spread + [0.3, 0.5, 0.8]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    return [np.degrees(np.arctan2(x[:, 1], x[:, 0])) % 360.0, np.degrees(np.arcsin(x[:, 2]))]


def circle(n: int, spread: float, rng: np.random.Generator) -> list[Array]:
    return [np.degrees(rng.standard_normal(n) * spread) % 360.0]


def rounded(values: Array, step: float) -> Array:
    return np.round(values / step) * step


def heaped(values: Array, rng: np.random.Generator) -> Array:
    """Whole degrees, of which some are rounded to fives and some to tens."""
    how = rng.choice(3, len(values), p=[0.4, 0.4, 0.2])
    return np.choose(how, [rounded(values, step) for step in (1.0, 5.0, 10.0)])


TURNS = (360.0, 0.0)


@pytest.mark.parametrize("step", [0.1, 1.0, 5.0, 10.0, 22.5, "heaped", "half an hour"])
def test_rounding_is_no_repetition(step: float | str) -> None:
    """No false alarm on angles as people write them, whatever their spread."""
    rng = np.random.default_rng(5)
    for make, spread, n in ((m, s, n) for m in (circle, sphere) for s in SPREADS for n in SIZES):
        found = make(n, spread, rng)
        if step == "heaped":
            columns = [heaped(values, rng) for values in found]
        elif step == "half an hour":
            columns = [rounded(values, 0.5) / 15.0 for values in found]
        else:
            columns = [rounded(values, float(step)) for values in found]
        turns = (24.0, 0.0) if step == "half an hour" else TURNS
        assert repeats(columns, turns[: len(columns)]) is None, (make, spread, n)


@pytest.mark.parametrize("spread", SPREADS)
@pytest.mark.parametrize("digits", [1, 2, 15])
def test_rows_that_are_there_twice_are_told(spread: float, digits: int) -> None:
    columns = [np.round(each, digits) for each in sphere(133, spread, np.random.default_rng(3))]
    twice = [np.tile(each, 2) for each in columns]
    found = repeats(twice, TURNS)
    assert found is not None
    assert (found.rows, found.few_points) == (266, False)
    assert 133 <= found.repeated <= 140
    assert found.expected <= 0.3 * found.repeated
    label = np.repeat([0.0, 1.0], 133)
    assert repeats(twice, TURNS, [label]) is None
    assert first_of_each([*twice, label]).sum() > 250


def test_few_points_under_many_rows() -> None:
    rng = np.random.default_rng(1)
    places = [np.round(each, 3) for each in sphere(13, 1.0, rng)]
    which = rng.integers(0, 13, 906)
    found = repeats([each[which] for each in places], TURNS)
    assert found == Repeats(906, 893, 0)
    assert found.few_points


@pytest.mark.parametrize("d", [2, 3, 8])
def test_cartesian_rows(d: int) -> None:
    rng = np.random.default_rng(2)
    x = rng.standard_normal((400, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    assert repeats(list(x.T), ()) is None
    assert repeats(list(np.round(x, 2).T), ()) is None
    assert repeats(list(np.vstack([x, x[:100]]).T), ()) == Repeats(500, 100, 0)
    written = np.round(np.vstack([x, x[:100]]), 6)
    found = repeats(list(written.T), ())
    assert found == Repeats(500, 100, 0) if d > 2 else found is None or found.repeated == 100


@pytest.mark.parametrize("name", list(CATALOGUE))
def test_no_bundled_data_set_is_suspected(name: str) -> None:
    reading = sr.examples.load(name).reading
    assert reading is not None
    assert reading.diagnostics == ()


def test_times_of_the_day(tmp_path: Path) -> None:
    minutes = np.random.default_rng(0).integers(0, 1440, 800)
    path = tmp_path / "births.csv"
    path.write_text("time\n" + "\n".join(f"{m // 60:02d}:{m % 60:02d}" for m in minutes))
    reading = sr.read_directions(path, coords="time").reading
    assert reading is not None
    assert reading.diagnostics == ()


@pytest.fixture
def sites(tmp_path: Path) -> str:
    """A table with most sites twice, before and after a correction that changed nothing."""
    dec, inc = (np.round(each, 1) for each in sphere(133, 0.5, np.random.default_rng(0)))
    lines = [f"{d}\t{i}\t{tilt}" for tilt in (0, 100) for d, i in zip(dec, inc, strict=True)]
    path = tmp_path / "sites.txt"
    head = "tab \tsites\ndir_dec\tdir_inc\tdir_tilt_correction\n"
    path.write_text(head + "\n".join(lines) + "\n")
    return str(path)


def test_repeats_of_a_file_are_told_first_and_left_out_where_asked(
    sites: str, capsys: Capture
) -> None:
    whole = sr.read_directions(sites)
    assert whole.reading is not None
    (told,) = whole.reading.diagnostics
    assert (told.code, told.data["rows"]) == ("repeated_rows", 266)
    assert told.data["repeated"] in range(133, 137)
    assert "distinct=True keeps one of each" in str(told)
    once = sr.read_directions(sites, distinct=True)
    assert once.n == 266 - told.data["repeated"]
    assert once.rows.max() < 133
    assert once.reading is not None
    assert once.reading.diagnostics == ()
    assert once.reading.words.endswith(f"{told.data['repeated']} repeated rows left out")
    record = json.loads(printed(capsys, "profile", sites, "--json"))
    assert [each["code"] for each in record["read_diagnostics"]] == ["repeated_rows"]
    text = " ".join(printed(capsys, "profile", sites).split())
    assert "(--distinct keeps one of each)" in text[: text.index("Geometric")]
    record = json.loads(printed(capsys, "profile", sites, "--json", "--distinct"))
    assert (record["n"], "read_diagnostics" in record) == (once.n, False)
    by = ("profile", sites, "--by", "dir_tilt_correction", "--distinct", "--json")
    sizes = [each["n"] for each in json.loads(printed(capsys, *by))["groups"]]
    assert sizes == [once.n, once.n]  # rows of different labels are no repeats


def test_a_frame_of_places(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    places = [np.round(each, 3) for each in sphere(13, 1.0, rng)]
    which = rng.integers(0, 13, 906)
    path = tmp_path / "tracks.csv"
    rows = zip(places[0][which], places[1][which], strict=True)
    path.write_text("lon,lat\n" + "\n".join(f"{a},{b}" for a, b in rows))
    reading = sr.read_directions(path).reading
    assert reading is not None
    (told,) = reading.diagnostics
    assert (told.code, told.data["distinct"]) == ("few_distinct_rows", 13)
    assert "13 distinct values of `lon`, `lat`" in reading.words


def test_distinct_beside_counts_and_in_blocks_is_refused(sites: str, capsys: Capture) -> None:
    with pytest.raises(sr.InvalidDirections, match="distinct=True counts no repeated rows"):
        sr.read_directions(sites, distinct=True, counts="dir_inc")
    with pytest.raises(sr.InvalidArgument, match="distinct is 3; give True or False"):
        sr.read_directions(sites, distinct=3)  # type: ignore[arg-type]
    assert complaint(capsys, "moments", sites, "--distinct").startswith(
        "--distinct needs all rows at hand"
    )


def test_a_stored_reading_keeps_the_words(sites: str, tmp_path: Path) -> None:
    moments = sr.Moments.from_directions(sr.read_directions(sites), sr.Harmonics(3, 2))
    moments.save(tmp_path / "a.moments")
    assert sr.Moments.load(tmp_path / "a.moments").n == 266
