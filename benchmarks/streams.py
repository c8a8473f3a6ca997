"""Ten million rows of Parquet from the command line, against pyarrow's reading of the same columns.

Both are fresh processes, in turn: one makes the profile (four levels), the other calls
``pyarrow.parquet.read_table``. Memory is the peak of the resident memory of the whole process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import steradian as sr
from timing import Result, agree, one_thread, quantity, show

ROWS = 10_000_000
GROUP = 1 << 17
REPEATS = 3
MOST_SECONDS = 2.5  # of ours, in units of the reading
MOST_BYTES = 500e6

_OURS = "import sys; sys.argv[0] = 'steradian'; from steradian.cli import main; main()"
_READ = "import sys, pyarrow.parquet as pq; pq.read_table(sys.argv[1], columns=['x', 'y', 'z'])"


def write(path: Path, rows: int, seed: int = 17) -> sr.Moments:
    """Normals with an offset, brought to the sphere, a row group at a time; and their moments."""
    rng, h = np.random.default_rng(seed), sr.Harmonics(3, 4)
    schema = pa.schema([(name, pa.float64()) for name in "xyz"])
    total: sr.Moments | None = None
    with pq.ParquetWriter(path, schema) as writer:
        for first in range(0, rows, GROUP):
            x = rng.standard_normal((min(GROUP, rows - first), 3))
            x += [0.3, -0.2, 0.6]
            x /= np.linalg.norm(x, axis=1, keepdims=True)
            writer.write_table(pa.table(list(x.T), schema=schema))
            part = sr.Moments.from_directions(sr.Directions(x), h)
            total = part if total is None else total + part
    assert total is not None
    return total


def measured(code: str, *arguments: str) -> tuple[float, float, float, str]:
    """Seconds by the clock and of the processor, peak memory in bytes, and what was printed."""
    began = time.perf_counter()
    child = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE)
    assert child.stdout is not None
    printed = child.stdout.read().decode()
    _, status, usage = os.wait4(child.pid, 0)
    assert status == 0
    unit = 1 if sys.platform == "darwin" else 1024
    spent = usage.ru_utime + usage.ru_stime
    return time.perf_counter() - began, spent, unit * float(usage.ru_maxrss), printed


def run(rows: int = ROWS) -> list[Result]:
    """The two in turn; medians."""
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "rows.parquet"
        expected = sr.profile(write(path, rows))
        ours, peer = [], []
        for _ in range(REPEATS):
            ours.append(measured(_OURS, "profile", str(path), "--levels", "4", "--json"))
            peer.append(measured(_READ, str(path)))
    off = np.abs(json.loads(ours[0][3])["gaps"] - expected.gaps).max()
    good = agree("moments of the rows as they were made, gaps", off, 1e-11)
    clock, spent, peak = np.median([each[:3] for each in ours], axis=0)
    clock_read, spent_read, peak_read = np.median([each[:3] for each in peer], axis=0)
    print(f"{rows} rows; pyarrow alone: peak {quantity(peak_read, 'B')}")
    return [
        Result(name, mine, theirs, MOST_SECONDS, agrees=good, in_units_of_peer=True)
        for name, mine, theirs in (
            (f"profile of {rows:.0e} rows of Parquet, vs reading", clock, clock_read),
            ("the same, seconds of the processor", spent, spent_read),
        )
    ] + [Result("peak memory of that process, vs 500 MB", peak, MOST_BYTES, 1.0, "B", good)]


if __name__ == "__main__":
    one_thread()
    show(run(int(sys.argv[1]) if len(sys.argv) > 1 else ROWS))
