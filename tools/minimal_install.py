"""Build the wheel, install it with its core dependencies only, and use it: ``make minimal``.

In a fresh environment under a temporary folder the package must import, profile and test, and
say in one sentence which extra is missing for everything else.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
QUIET = ["--quiet", "--disable-pip-version-check"]

USE = """
import importlib.util, pathlib, subprocess, sys
import numpy as np
import steradian as sr

for extra in ("matplotlib", "narwhals", "pandas", "pyarrow", "typer", "rich", "sklearn"):
    assert importlib.util.find_spec(extra) is None, f"{extra} is a core dependency now"
assert "site-packages" in sr.__file__, sr.__file__
assert (pathlib.Path(sr.__file__).parent / "py.typed").exists()

rng = np.random.default_rng(0)
profile = sr.profile(sr.examples.load("mcmurdo"), levels=3)
assert profile.gaps.round(3)[:2].tolist() == [0.067, 1.633], profile.gaps
assert profile.tests().pvalue.shape == (3,)
assert "nats" in profile.summary()
high = sr.Directions(rng.standard_normal((60, 8)), normalize=True)
assert sr.profile(high).deficits.shape == (2,)

def refused(call, extra):
    try:
        call()
    except sr.MissingExtra as error:
        assert f"steradian[{extra}]" in str(error), error
        print(f"  {extra}: {error}")
    else:
        raise SystemExit(f"nothing said that the extra {extra} is missing")

from steradian.paper.digits import load_digits
pathlib.Path("rows.parquet").write_bytes(b"")
refused(profile.plot, "plots")
refused(profile.to_frame, "tables")
refused(lambda: sr.read_directions("rows.parquet"), "tables")
refused(load_digits, "digits")

for command in (["-m", "steradian", "demo"], ["-c", "from steradian.cli import main; main()"]):
    done = subprocess.run([sys.executable, *command], capture_output=True, text=True)
    assert done.returncode == 2, done
    assert "steradian[cli]" in done.stderr and "Traceback" not in done.stderr, done.stderr
print("  cli:", done.stderr.strip())
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        pip = [sys.executable, "-m", "pip"]
        _run([*pip, "wheel", *QUIET, "--no-deps", "--wheel-dir", folder, str(ROOT)], place)
        (wheel,) = place.glob("*.whl")
        venv.create(place / "env", with_pip=True)
        python = str(place / "env" / ("Scripts" if os.name == "nt" else "bin") / "python")
        _run([python, "-m", "pip", "install", *QUIET, str(wheel)], place)
        print(f"{wheel.name} with core dependencies only:", flush=True)
        _run([python, "-c", USE], place)


def _run(command: list[str], place: Path) -> None:
    done = subprocess.run(command, cwd=place, check=False)
    if done.returncode:
        sys.exit(f"failed with {done.returncode}: {' '.join(command[:4])} …")


if __name__ == "__main__":
    main()
