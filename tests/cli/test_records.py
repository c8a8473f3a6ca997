"""What machines read says no less than the text."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from cli_calls import Capture, printed
from comparison_groups import vmf
from steradian.cli.app import run


def rows_of(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def test_a_profile_has_its_tests_and_intervals(capsys: Capture) -> None:
    p = sr.profile(sr.examples.load("turtles"), levels=3)
    record = json.loads(printed(capsys, "profile", "turtles", "--levels", "3", "--json"))
    known = record["inference"]
    np.testing.assert_allclose(known["pvalue"], p.tests().pvalue)
    np.testing.assert_allclose(known["pvalue_holm"], p.tests().pvalue_holm)
    np.testing.assert_allclose(known["low"], p.intervals().low)
    assert known["verdict"] == [str(verdict) for verdict in p.tests().verdicts]
    assert record["tests"]["pvalue"] == known["pvalue"]
    assert record["intervals"]["high"] == known["high"]
    table = rows_of(printed(capsys, "profile", "turtles", "--levels", "3", "--format", "csv", "-q"))
    np.testing.assert_allclose([float(row["pvalue_holm"]) for row in table], known["pvalue_holm"])
    np.testing.assert_allclose([float(row["high"]) for row in table], known["high"])
    assert [row["name"] for row in table] == record["level_names"]


def test_what_is_not_judged_is_null_with_its_reason(capsys: Capture, tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    path = tmp_path / "winds.csv"
    path.write_text("azimuth\n" + "\n".join(str(45 * k) for k in rng.integers(0, 8, 100)))
    record = json.loads(printed(capsys, "profile", str(path), "--levels", "4", "--json"))
    known = record["inference"]
    assert known["pvalue"][3] is None
    assert known["pvalue_holm"][3] is None
    assert known["verdict"][3] == "not_testable"
    assert known["reason"][3]["code"] == "coarse_values"
    assert known["reason"][3]["data"]["step"] == 45.0
    assert known["reason"][0] is None
    row = rows_of(printed(capsys, "profile", str(path), "--levels", "4", "--format", "csv", "-q"))
    assert (row[3]["pvalue"], row[3]["verdict"]) == ("", "not_testable")
    assert (row[0]["reason"], row[3]["reason"]) == ("", "coarse_values")


def test_weights_without_a_design_say_why(capsys: Capture, tmp_path: Path) -> None:
    rng = np.random.default_rng(4)
    rows = [f"{a},{w}" for a, w in zip(rng.uniform(0, 360, 50), rng.uniform(1, 2, 50), strict=True)]
    path = tmp_path / "data.csv"
    path.write_text("\n".join(["azimuth,w", *rows]))
    record = json.loads(printed(capsys, "profile", str(path), "--weights", "w", "--json"))
    assert record["tests"] is None
    assert record["intervals"] is None
    assert set(record["inference"]["pvalue"]) == {None}
    assert record["inference"]["reason"][0]["code"] == "design_without_tests"
    text = printed(capsys, "profile", str(path), "--weights", "w", "--format", "markdown")
    assert "None" not in text


@pytest.fixture(scope="module")
def two(tmp_path_factory: pytest.TempPathFactory) -> str:
    rng = np.random.default_rng(20)
    path = Path(tmp_path_factory.mktemp("compare")) / "two.csv"
    lines = ["site,x,y,z"]
    for name, mean in {"A": [1.0, 0.3, 0.5], "B": [1.0, 0.7, 0.5]}.items():
        lines += [f"{name},{x},{y},{z}" for x, y, z in vmf(60, np.array(mean), 8.0, rng)]
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_a_comparison_has_its_parts_and_all_levels(two: str, capsys: Capture) -> None:
    said = ["compare", two, "--by", "site", "--levels", "2"]
    record = json.loads(printed(capsys, *said, "--json"))
    rows = rows_of(printed(capsys, *said, "--format", "csv", "--quiet"))
    assert [row["name"] for row in rows] == [
        *record["level_names"], "direction", "concentration", "all levels",
    ]  # fmt: skip
    assert [row["level"] for row in rows] == ["1", "2", "", "", ""]
    part, total = rows[2], rows[4]
    assert float(part["pvalue"]) == pytest.approx(record["tests"]["parts"]["direction"])
    assert float(part["pvalue_holm"]) == pytest.approx(record["tests"]["parts_holm"]["direction"])
    assert float(total["pvalue"]) == pytest.approx(record["tests"]["any_pvalue"])
    assert float(total["low"]) == pytest.approx(record["intervals"]["total_low"])
    assert float(total["between"]) == pytest.approx(record["total"])
    table = printed(capsys, *said, "--format", "markdown")
    assert "| direction |" in table
    assert "None" not in table


@pytest.mark.parametrize("name", ["out.json", "out.csv", "out.md", "out.txt"])
@pytest.mark.parametrize("command", ["profile", "compare", "by"])
def test_what_was_read_is_said_beside_a_file(
    two: str, tmp_path: Path, capsys: Capture, command: str, name: str
) -> None:
    by = [] if command == "profile" else ["--by", "site"]
    first = "compare" if command == "compare" else "profile"
    into = [first, two, *by, "--levels", "1", "--out", str(tmp_path / name)]
    assert run(into) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("steradian: read 120 rows of two.csv: Cartesian")
    assert run([*into, "--quiet"]) == 0
    assert capsys.readouterr().err == ""
