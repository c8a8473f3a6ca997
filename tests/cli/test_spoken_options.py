"""What the command line prints speaks of its own options, and they lead somewhere."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from cli_calls import Capture, complaint, printed


@pytest.fixture
def weighted(tmp_path: Path) -> str:
    rng = np.random.default_rng(8)
    rows = [f"{a},{d},{w}" for a, d, w in rng.uniform([0, -60, 1], [360, 60, 2], (60, 3))]
    path = tmp_path / "sky.csv"
    path.write_text("\n".join(["ra,dec,flux", *rows]))
    return str(path)


def test_designs_by_their_options(weighted: str, capsys: Capture) -> None:
    said = ("profile", weighted, "--weights", "flux", "--levels", "1", "--design")
    assert "--design fixed, importance, clusters:COLUMN" in complaint(capsys, *said, "iid")
    assert "in Python only; choose iid, fixed" in complaint(capsys, *said, "known")


def test_a_profile_names_no_argument(weighted: str, capsys: Capture) -> None:
    text = printed(capsys, "profile", weighted, "--weights", "flux", "--levels", "1")
    for python in ("design=", "reference=", "tests()", "weights="):
        assert python not in text
    assert "need --design." in text
    assert max(map(len, text.splitlines())) <= 80


def test_counts_that_are_weights(weighted: str, capsys: Capture) -> None:
    words = complaint(capsys, "profile", weighted, "--counts", "flux", "--levels", "1")
    assert (
        words == f"count in line 2 is {first_flux(weighted):g}; counts are whole numbers, "
        "others are --weights"
    )


def first_flux(path: str) -> float:
    return float(Path(path).read_text().splitlines()[1].split(",")[2])


def test_vectors_by_name_take_normalize(tmp_path: Path, capsys: Capture) -> None:
    rng = np.random.default_rng(9)
    path = tmp_path / "texts.jsonl"
    lines = [json.dumps({"id": k, "embedding": rng.normal(size=8).tolist()}) for k in range(60)]
    path.write_text("\n".join(lines))
    said = ("profile", str(path), "--columns", "embedding", "--levels", "1")
    assert "pass --normalize if only the direction" in complaint(capsys, *said)
    assert "scaled to unit norm" in printed(capsys, *said, "--normalize")


def test_weights_beside_an_array_of_an_archive(tmp_path: Path, capsys: Capture) -> None:
    rng = np.random.default_rng(10)
    path = tmp_path / "head.npz"
    keys, weights = rng.normal(size=(50, 4)), rng.uniform(1, 2, 50)
    np.savez(path, keys=keys, weights=weights, queries=rng.normal(size=(7, 4)))
    said = ("profile", str(path), "--table", "keys", "--coords", "xyz",
            "--normalize", "--levels", "1")  # fmt: skip
    record = json.loads(printed(capsys, *said, "--weights", "weights", "--json"))
    assert record["kish_ess"] == pytest.approx(weights.sum() ** 2 / (weights**2).sum())
    assert "no weights column 'queries'" in complaint(capsys, *said, "--weights", "queries")
