"""The report of a comparison: whole, alone, and hostile names are only names."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest

import steradian as sr
from comparison_groups import vmf
from steradian.cli.app import run
from steradian.report import Figure, html_of
from steradian.report.comparison_page import page_of_comparison

HOSTILE = "</script><script>alert(1)</script>"


@pytest.fixture(autouse=True)
def _no_plotly(monkeypatch: pytest.MonkeyPatch) -> None:
    """Five megabytes that no test looks at."""
    monkeypatch.setattr("steradian.report.render._plotly", lambda: "/* plotly.js */")


@pytest.fixture(scope="module")
def found() -> sr.results.Comparison:
    rng = np.random.default_rng(4)
    x = [vmf(n, np.array([0.0, t, 1.0]), 8.0, rng) for n, t in ((100, 0.0), (150, 0.6))]
    return sr.compare({"here": x[0], HOSTILE: x[1]})


def test_a_report_says_what_print_says(found: sr.results.Comparison, tmp_path: Path) -> None:
    path = found.report(tmp_path / "out.html", title="two sites", call="steradian compare")
    text = path.read_text("utf-8")
    assert "The groups differ clearly in direction" in text
    for title in ("Groups", "Tests", "Intervals", "Pairs", "Gaps", "Methods", "How to cite"):
        assert f"{title}</" in text
    assert HOSTILE not in text  # escaped, wherever it stands
    assert not re.search(r"(src|href)=[\"']?https?:", text)


def test_the_numbers_are_there_for_machines(found: sr.results.Comparison) -> None:
    page = page_of_comparison(found)
    assert page.record["between"] == found.between.tolist()
    assert json.dumps(page.record["names"])
    figures = [b for b in page.blocks if isinstance(b, Figure)]
    assert [f.key for f in figures] == ["between", "groups"]
    shown = figures[0].plot["data"][0]["y"]
    assert shown == pytest.approx(found.between.tolist(), rel=1e-3)
    assert page.title in html_of(page)


def test_without_a_design_it_says_why(found: sr.results.Comparison) -> None:
    rng = np.random.default_rng(1)
    rows = sr.Directions(vmf(80, np.array([0.0, 0.0, 1.0]), 3.0, rng), rng.random(80))
    weighted = sr.compare(rows, by=np.repeat(["a", "b"], 40))
    page = page_of_comparison(weighted)
    assert page.answers[0][1].startswith("Not tested")
    assert "Tests" not in [section.title for section in page.sections]
    with pytest.raises(sr.InvalidArgument, match=r"like out\.html"):
        weighted.report("out.txt")


def test_a_notebook_shows_what_print_shows(found: sr.results.Comparison) -> None:
    shown = found._repr_html_()
    assert "The groups differ" in shown
    assert HOSTILE not in shown


def test_a_page_says_what_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(2)
    rows = [
        f"{rng.uniform(0, 360):.0f},{rng.uniform(20, 80):.0f},{'pq'[k % 2]}" for k in range(140)
    ]
    (tmp_path / "planes.csv").write_text("\n".join(["strike,dip,domain", *rows, "x,30,p"]) + "\n")
    monkeypatch.chdir(tmp_path)
    asked = ["compare", "planes.csv", "--by", "domain", "--on-bad", "skip"]
    assert run([*asked, "--report", "out.html"]) == 0
    assert capsys.readouterr().out.count("read 140 rows") == 1
    text = Path("out.html").read_text("utf-8")
    assert "<title>Comparison of 2 groups of planes.csv" in text
    assert "read 140 rows of planes.csv: strike" in text
    assert "1 bad row left out" in text
    assert "140 axes in 2 groups" in text
    assert "2 groups of together 140 axes were compared" in text
    assert "nan" not in text.partition("<script")[0].split()


def test_print_says_what_was_read_of_a_frame() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(2)
    table = {"azimuth": rng.uniform(0.0, 360.0, 60), "domain": np.arange(60) % 2}
    frame = pandas.DataFrame(table)
    c = sr.compare(frame, by="domain")
    assert str(c).startswith("read 60 rows of a table: azimuth `azimuth`, degrees")
    halves = {str(k): frame[frame.domain == k] for k in (0, 1)}
    assert str(sr.compare(halves)).startswith("read 60 rows of a table: azimuth `azimuth`, degrees")


def test_differences_that_nobody_can_test_are_not_numbers() -> None:
    rng = np.random.default_rng(3)
    angles = {name: sr.Directions.from_angles(rng.uniform(0, 7, 50)) for name in "ab"}
    found = sr.compare(angles).gap_differences()
    assert found.near_zero.any()
    assert "nan" not in str(found)
