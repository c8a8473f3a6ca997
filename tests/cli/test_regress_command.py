"""`steradian regress` as a new user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from steradian.cli.app import run


@pytest.fixture(scope="module")
def winds(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A breeze that turns with the hour; and two rows that lack it in a column of their own."""
    rng = np.random.default_rng(38)
    hour = np.arange(240) % 24
    bearing = np.degrees(rng.vonmises(0.9 * np.sin(2.0 * np.pi * hour / 24.0), 4.0)) % 360.0
    path = Path(tmp_path_factory.mktemp("regress")) / "winds.csv"
    lines = ["azimuth,hour,gap,shore"]
    for k, (angle, h) in enumerate(zip(bearing, hour, strict=True)):
        lines.append(f"{angle:.1f},{h},{'' if k in {3, 8} else h},{'east' if k % 2 else 'west'}")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def test_from_a_file_to_whether_and_how(winds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["regress", winds, "--on", "hour", "--period", "24"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("read 240 rows of winds.csv: azimuth")
    flat = " ".join(text.split())
    assert "on hour (fourier:2, period 24)" in flat
    assert "The distribution depends on hour clearly in direction" in flat
    assert run(["regress", winds, "--on", "hour", "--period", "24", "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["on"] == "hour"
    assert record["tests"]["parts"]["direction"] < 1e-4
    assert run(["regress", winds, "--on", "hour", "--format", "csv"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("level,name,features")
    assert len(rows) == 6


def test_labels_and_refusals(winds: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["regress", winds, "--on", "shore"]) == 0
    assert "(labels)" in capsys.readouterr().out
    assert run(["regress", winds, "--on", "gap"]) == 2
    assert "in 2 of 240 rows" in capsys.readouterr().err
    assert run(["regress", winds]) == 2
    assert "--on is missing" in capsys.readouterr().err
    assert run(["regress", winds, "--on", "hour", "--basis", "cubic"]) == 2
    assert "ranks:2" in capsys.readouterr().err
