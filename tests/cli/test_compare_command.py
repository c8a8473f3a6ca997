"""`steradian compare` as a new user calls it."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from comparison_groups import Array, frame_to, vmf
from steradian.cli.app import run


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two sites that differ in direction alone."""
    rng = np.random.default_rng(20)
    path = Path(tmp_path_factory.mktemp("compare")) / "sites.csv"
    means = {"A": [1.0, 0.3, 0.5], "B": [1.0, 0.7, 0.5]}
    write_rows(path, {name: vmf(150, np.array(mu), 8.0, rng) for name, mu in means.items()})
    return str(path)


def write_rows(path: Path, groups: dict[str, Array]) -> None:
    """A table of longitudes and latitudes with a column of labels."""
    lines = ["site,lon,lat"]
    for name, rows in groups.items():
        for x in rows:
            lon, lat = np.degrees([np.arctan2(x[1], x[0]), np.arcsin(x[2])])
            lines.append(f"{name},{lon:.4f},{lat:.4f}")
    path.write_text("\n".join(lines) + "\n")


def test_words_and_records(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", table, "--by", "site"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("read 300 rows of sites.csv")
    assert "The groups differ clearly in direction" in text
    assert run(["compare", table, "--by", "site", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["names"] == ["A", "B"]
    assert record["tests"]["parts"]["direction"] < 1e-4


NORTH, ASIDE = np.array([0.3, 0.2, 1.0]), np.array([0.7, 0.2, 1.0])


def stretched(n: int, stretch: float, rng: np.random.Generator) -> Array:
    """About one mean vector whatever the stretch: the azimuths of an oval, heights of a cluster."""
    height = vmf(n, np.array([0.0, 0.0, 1.0]), 2.0, rng)[:, 2]
    away = rng.normal(size=(n, 2)) * [stretch, 1.0 / stretch]
    away *= np.sqrt(1.0 - height**2)[:, None] / np.linalg.norm(away, axis=1, keepdims=True)
    return np.column_stack([away, height]) @ frame_to(NORTH)


# what the second group is, and what differs
SCENARIOS: dict[str, tuple[Callable[[np.random.Generator], Array], set[str]]] = {
    "mean": (lambda rng: vmf(400, ASIDE, 2.0, rng), {"direction"}),
    "concentration": (lambda rng: vmf(400, NORTH, 4.0, rng), {"concentration"}),
    "shape": (lambda rng: stretched(400, 1.6, rng), {"shape"}),
    "nothing": (lambda rng: vmf(400, NORTH, 2.0, rng), set()),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_a_table_of_known_truth_is_read_right(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make, differs = SCENARIOS[name]
    rng = np.random.default_rng(31)
    path = tmp_path / "rows.csv"
    write_rows(path, {"one": vmf(500, NORTH, 2.0, rng), "two": make(rng)})
    assert run(["compare", str(path), "--by", "site"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert run(["compare", str(path), "--by", "site", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    found = {one["name"] for one in record["differences"] if one["sure"] in {"clear", "likely"}}
    names = {"shape": "axis or girdle"}
    assert found == {names.get(what, what) for what in differs}, said
    codes = [one["code"] for one in record["verdict"]]
    assert ("groups_do_not_differ" in codes) == (not differs), said
    assert ("one_distribution_not_significant" in codes) == (not differs), said
    for what in differs:
        assert f"ly in {what}" in said


def test_of_three_groups_it_says_which_differ_and_where_each_points(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(32)
    path = tmp_path / "rows.csv"
    means = {"lower": NORTH, "middle": NORTH, "upper": ASIDE}
    write_rows(path, {name: vmf(120, mu, 12.0, rng) for name, mu in means.items()})
    assert run(["compare", str(path), "--by", "site"]) == 0
    text = capsys.readouterr().out
    said = " ".join(text.split())
    differ = "hese pairs differ: lower and upper (p = 0.0015); middle and upper (p = 0.0015)."
    assert differ in said
    assert text.count("longitude") == 4  # how it was read, and where each group points


def test_opposite_modes_along_other_axes_are_clear_and_their_axes_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(33)
    path = tmp_path / "rows.csv"

    def modes(n: int, mu: Array) -> Array:
        return vmf(n, mu, 8.0, rng) * rng.choice([-1.0, 1.0], size=n)[:, None]

    write_rows(path, {"east": modes(60, NORTH), "west": modes(80, np.array([1.0, 0.0, 0.1]))})
    assert run(["compare", str(path), "--by", "site"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "differ clearly in shape (axis or girdle)" in text  # not "likely", as 999 samples say
    assert text.count("axis longitude") == 2
    assert text.count(" and longitude") == 2  # both ends


def animals(path: Path, spread: float = 6.0) -> None:
    """Two groups that keep to an axis each, and have no mean."""
    rng = np.random.default_rng(7)
    lines = ["site,bearing"]
    for name, axis in (("wood", 20.0), ("shore", 80.0)):
        angle = np.degrees(rng.vonmises(np.radians(axis), spread, 60)) + 180.0 * rng.integers(
            2, size=60
        )
        lines += [f"{name},{one:.1f}" for one in np.mod(angle, 360.0)]
    path.write_text("\n".join(lines) + "\n")


def test_bimodal_animals_have_their_axes_and_no_direction(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "animals.csv"
    animals(path)
    assert run(["compare", str(path), "--by", "site"]) == 0
    text = capsys.readouterr().out
    assert "axis azimuth 85.1° and azimuth 265.1°" in text
    said = " ".join(text.split())
    assert "not in mean direction" not in said
    assert re.search(
        r"Directions do not differ significantly \(p = [0-9.]+\), but the mean of shore and wood "
        r"is itself not significant. The groups do not share one distribution \(clear, p = 1e-4\)",
        said,
    )


def test_a_group_that_points_nowhere_is_blank_and_it_says_why(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(7)
    path = tmp_path / "rows.csv"
    round_ = rng.normal(size=(100, 3))
    round_ /= np.linalg.norm(round_, axis=1, keepdims=True)
    write_rows(path, {"tight": vmf(100, NORTH, 20.0, rng), "even": round_})
    assert run(["compare", str(path), "--by", "site"]) == 0
    text = capsys.readouterr().out
    said = " ".join(text.split())
    assert "points to" in said
    assert "oints to: blank where neither mean nor axis of a group is significant." in said
    assert "not in direction" not in said
    told = re.search(r"not differ significantly \(p = ([0-9.]+)\), but the mean of even", said)
    assert told is not None
    assert re.search(rf"^ +direction .* {told.group(1)}$", text, re.MULTILINE)  # as in the table


def test_where_groups_with_long_names_point_is_told_below_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(8)
    path = tmp_path / "rows.csv"
    write_rows(path, {f"a long name of site {k}": vmf(80, NORTH, 20.0, rng) for k in (1, 2)})
    assert run(["compare", str(path), "--by", "site"]) == 0
    text = capsys.readouterr().out
    assert "\nWhere they point to:\n  a long name of site 1: longitude" in text
    assert max(map(len, text.splitlines())) <= 80


def test_a_reference_and_a_report(
    table: str, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("steradian.report.render._plotly", lambda: "/* plotly.js */")
    page, everybody = tmp_path / "out.html", tmp_path / "everybody.csv"
    rng = np.random.default_rng(3)
    write_rows(everybody, {"all": vmf(400, np.array([1.0, 0.5, 0.5]), 3.0, rng)})
    asked = ["compare", table, "--by", "site", "--reference", str(everybody)]
    assert run([*asked, "--report", str(page)]) == 0
    seen = capsys.readouterr()
    assert "on the sphere relative to a sample of 400 directions" in " ".join(seen.out.split())
    assert f"wrote {page}" in seen.err
    assert "relative to a sample of 400 directions" in page.read_text("utf-8")
    assert run(["compare", table, "--by", "site", "--report", "out.txt"]) == 2
    assert "like out.html" in capsys.readouterr().err


def test_refusals_are_one_line(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", table]) == 2
    assert "--by is missing" in capsys.readouterr().err
    assert run(["compare", table, "--by", "colour"]) == 2
    assert "no column 'colour'" in capsys.readouterr().err
