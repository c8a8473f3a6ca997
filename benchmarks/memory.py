"""Peak memory of a profile of ten million points, against the array itself.

Measured in a fresh process: the peak of the resident memory above what the interpreter and
the imports hold, the input array included.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import steradian as sr
from timing import Result, one_thread, quantity, show

POINTS = 10_000_000
BLOCK = 1 << 16
TARGET = 1.5
_STATUS = Path("/proc/self/status")


def resident() -> tuple[int, int]:
    """Resident memory of this process now and at its peak, in bytes.

    Linux keeps ``ru_maxrss`` of the parent across ``exec``, so the peak comes from the
    status file where there is one; elsewhere ``ru_maxrss`` stands for both.
    """
    if _STATUS.exists():
        lines = (line.split() for line in _STATUS.read_text().splitlines())
        sizes = {words[0]: int(words[1]) for words in lines if words and words[0][:2] == "Vm"}
        return 1024 * sizes["VmRSS:"], 1024 * sizes["VmHWM:"]
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak *= 1 if sys.platform == "darwin" else 1024
    return peak, peak


def points(count: int) -> NDArray[np.float64]:
    """Normals with an offset, brought to the sphere; made in place, a block at a time."""
    rng = np.random.default_rng(11)
    x = np.empty((count, 3))
    for first in range(0, count, BLOCK):
        block = x[first : first + BLOCK]
        rng.standard_normal(out=block)
        block += [0.3, -0.2, 0.6]
        block /= np.linalg.norm(block, axis=1, keepdims=True)
    return x


def measure() -> dict[str, float]:
    """What the fresh process does."""
    before, _ = resident()
    x = points(POINTS)
    _, held = resident()
    began = time.perf_counter()
    profile = sr.profile(x)
    seconds = time.perf_counter() - began
    _, peak = resident()
    return {
        "input": x.nbytes,
        "imports": before,
        "made": held - before,
        "peak": peak - before,
        "seconds": seconds,
        "levels": len(profile.levels),
    }


def run() -> list[Result]:
    """Start the process, report what it saw."""
    done = subprocess.run(
        [sys.executable, __file__, "--measure"], check=True, capture_output=True, text=True
    )
    seen = json.loads(done.stdout)
    print(f"{POINTS} points, {seen['levels']} levels, {seen['seconds']:.2f} s")
    for name, key in (
        ("interpreter and imports", "imports"),
        ("input array", "input"),
        ("peak once it is made, above the imports", "made"),
        ("peak after the profile, above the imports", "peak"),
    ):
        print(f"  {name}: {quantity(seen[key], 'B')}")
    return [
        Result(
            "peak memory, 10⁷ points, S², vs the array", seen["peak"], seen["input"], TARGET, "B"
        )
    ]


if __name__ == "__main__":
    if "--measure" in sys.argv:
        print(json.dumps(measure()))
    else:
        one_thread()
        show(run())
