"""`steradian compare` as a new user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from comparison_groups import vmf
from steradian.cli.app import run


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Two sites that differ in direction alone."""
    rng = np.random.default_rng(20)
    lines = ["site,lon,lat"]
    for name, mean in (("A", [1.0, 0.3, 0.5]), ("B", [1.0, 0.7, 0.5])):
        for x in vmf(150, np.array(mean), 8.0, rng):
            lon, lat = np.degrees([np.arctan2(x[1], x[0]), np.arcsin(x[2])])
            lines.append(f"{name},{lon:.4f},{lat:.4f}")
    path = Path(tmp_path_factory.mktemp("compare")) / "sites.csv"
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_words_and_records(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", table, "--by", "site"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("read 300 rows of sites.csv")
    assert "The groups differ clearly in direction" in text
    assert run(["compare", table, "--by", "site", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["names"] == ["A", "B"]
    assert record["tests"]["parts"]["direction"] < 1e-4


def test_refusals_are_one_line(table: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["compare", table]) == 2
    assert "--by is missing" in capsys.readouterr().err
    assert run(["compare", table, "--by", "colour"]) == 2
    assert "no column 'colour'" in capsys.readouterr().err
