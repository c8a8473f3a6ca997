"""What an option reads is not called unused; what nothing reads is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from cli_calls import Capture, printed
from comparison_groups import vmf


@pytest.fixture
def vectors(tmp_path: Path) -> str:
    """Vectors beside labels, clusters and what nobody asks for."""
    rng = np.random.default_rng(5)
    groups = [vmf(40, np.array(mean), 4.0, rng) for mean in ([0, 0, 1.0], [0, 1.0, 0])]
    path = tmp_path / "vectors.npz"
    np.savez(
        path, emb=np.concatenate(groups), labels=np.repeat(["a", "b"], 40),
        core=np.arange(80) % 20, idle=np.zeros(80),
    )  # fmt: skip
    return str(path)


@pytest.mark.parametrize(
    ("options", "idle"),
    [
        (["profile"], "`labels`, `core`, `idle`"),
        (["profile", "--by", "labels", "--levels", "1"], "`core`, `idle`"),
        (["profile", "--design", "clusters:core", "--levels", "1"], "`labels`, `idle`"),
        (["profile", "--design", "survey:psu=core", "--levels", "1"], "`labels`, `idle`"),
        (["compare", "--by", "labels", "--levels", "1"], "`core`, `idle`"),
    ],
)
def test_columns_of_options_are_used(
    vectors: str, options: list[str], idle: str, capsys: Capture
) -> None:
    said = printed(capsys, options[0], vectors, "--normalize", *options[1:])
    assert f"not used: {idle};" in " ".join(said.split())


def test_corrections_that_are_kept_apart_are_not_pooled(tmp_path: Path, capsys: Capture) -> None:
    path = tmp_path / "sites.csv"
    rng = np.random.default_rng(6)
    rows = [f"{rng.normal(40, 9)},{rng.normal(60, 5)},{100 * (k % 2)}" for k in range(60)]
    path.write_text("\n".join(["dec,inc,tilt_correction", *rows]))
    pooled = "rows of different corrections are pooled"
    assert pooled in " ".join(printed(capsys, "profile", str(path), "--levels", "1").split())
    apart = printed(capsys, "profile", str(path), "--levels", "1", "--by", "tilt_correction")
    assert pooled not in " ".join(apart.split())
