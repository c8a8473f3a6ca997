"""What a run of the tests leaves behind is seen."""

from __future__ import annotations

import subprocess
from pathlib import Path

from work_tree import unknown_files


def test_new_files_are_seen_and_ignored_ones_are_not(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_text("cache/\n")
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "kept").touch()
    before = unknown_files(tmp_path)
    (tmp_path / "x").touch()
    assert unknown_files(tmp_path) - before == {"x"}


def test_without_a_repository_there_are_none(tmp_path: Path) -> None:
    (tmp_path / "x").touch()
    assert unknown_files(tmp_path) == set()
