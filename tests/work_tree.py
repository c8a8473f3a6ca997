"""Files that a run of the tests leaves in the repository: none may, apart from what git ignores."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def unknown_files(folder: Path = ROOT) -> set[str]:
    """Files that git neither tracks nor ignores; none where there is no repository."""
    asked = ["git", "ls-files", "--others", "--exclude-standard"]
    try:
        told = subprocess.run(asked, cwd=folder, capture_output=True, text=True, check=False)
    except FileNotFoundError:  # no git, as where an archive of the sources is tested
        return set()
    return set(told.stdout.splitlines()) if told.returncode == 0 else set()
