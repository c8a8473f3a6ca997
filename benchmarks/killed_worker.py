"""A hundred million rows through two local workers, of which one is killed in the middle.

The rows are written as they are drawn, some files of Parquet, and summed by one process for
comparison. Gaps must agree to 1e-12; memory is the most that the operating system saw each worker
hold. Takes minutes and 2.4 GB of disk:

    python benchmarks/killed_worker.py [ROWS]
"""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np

import steradian as sr
import streams
from timing import one_thread

ROWS = 100_000_000
FILES = 50
LEVELS = 4
ALLOWED = 1e-12  # nats, between gaps


def write(folder: Path, rows: int) -> None:
    """The rows of `streams`, in files of equal size, each with a seed of its own."""
    for k in range(FILES):
        streams.write(folder / f"part{k:02}.parquet", rows // FILES, seed=k)


def peak_memory() -> int:
    """The most bytes that the process it runs in has held."""
    import resource

    held = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return held if sys.platform == "darwin" else 1024 * held


def kill_in_the_middle(client: Any, victim: int, files: int) -> None:
    """End a worker without a word once a third of the files must have been read."""
    while not any(client.processing().values()):
        time.sleep(0.01)
    began = time.monotonic()
    while len(client.has_what()) and _done(client) < files // 3 and time.monotonic() - began < 600:
        time.sleep(0.05)
    os.kill(victim, signal.SIGKILL)
    print(f"worker {victim} killed after {time.monotonic() - began:.1f} s", flush=True)


def _done(client: Any) -> int:
    """Results that the workers hold."""
    return sum(len(keys) for keys in client.has_what().values())


def spread(folder: Path, hierarchy: sr.Harmonics) -> tuple[sr.Moments, dict[str, int]]:
    """The sums of two workers, one of which dies, and the peak memory of those that end."""
    import distributed

    with (
        distributed.LocalCluster(
            n_workers=2, threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        victim = next(iter(client.run(os.getpid).values()))
        killer = threading.Thread(target=kill_in_the_middle, args=(client, victim, FILES))
        killer.start()
        found = sr.moments(folder, hierarchy, cluster=client)
        killer.join()
        return found, client.run(peak_memory)


def main() -> int:
    rows = int(float(sys.argv[1])) if len(sys.argv) > 1 else ROWS
    hierarchy = sr.Harmonics(3, LEVELS)
    with tempfile.TemporaryDirectory() as directory:
        folder = Path(directory)
        write(folder, rows)
        began = time.perf_counter()
        alone = sr.moments(folder, hierarchy)
        single = time.perf_counter() - began
        pooled, memory = spread(folder, hierarchy)
        whole = time.perf_counter() - began - single
    off = np.abs(sr.profile(pooled).gaps - sr.profile(alone).gaps).max()
    print(f"{alone.n} rows here, {pooled.n} by the workers; gaps {off:.1e} nats apart")
    print(f"one process {single:.1f} s; two workers, one killed, {whole:.1f} s by the clock")
    for address, held in memory.items():
        print(f"  worker {address}: at most {held / 1e6:.0f} MB")
    return 0 if pooled.n == alone.n and off <= ALLOWED else 1


if __name__ == "__main__":
    one_thread()
    raise SystemExit(main())
