"""All benchmarks, each against a named peer measured in the same run, and a closing table.

``python benchmarks/run.py [--json PATH] [--against EARLIER.json] [heading …]`` also writes every
number as JSON, and tells which lines are worse than in an earlier file, beyond noise. Headings,
or beginnings of them, choose some of the benchmarks.
"""

from __future__ import annotations

import argparse
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np
import scipy

import around
import batch
import concentrated
import fisher_bingham
import memory
import moments
import null_calibration
import records
import single
import steradian as sr
import streams
from timing import Result, one_thread, show

BENCHMARKS = {
    "Memory of ten million points": memory.run,
    "Ten million rows of a file": streams.run,
    "One profile": single.run,
    "A thousand weightings": batch.run,
    "Moments of a million points": moments.run,
    "Concentrated laws": concentrated.run,
    "Fisher-Bingham": fisher_bingham.run,
    "Null calibration": null_calibration.run,
    "Around the fit": around.run,
}
LATEST = Path(__file__).parent / "results" / "latest.json"


def arguments() -> argparse.Namespace:
    known = argparse.ArgumentParser(description="speed and memory, as ratios")
    known.add_argument("headings", nargs="*", help="beginnings of headings; all by default")
    known.add_argument("--json", type=Path, default=LATEST, help="where the numbers are written")
    known.add_argument("--against", type=Path, help="an earlier file of numbers")
    return known.parse_args()


def main(asked: argparse.Namespace) -> int:
    """1 when an answer differs from the peer's or a line is worse than before, else 0."""
    began = time.perf_counter()
    print(
        f"steradian {sr.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, {os.cpu_count()} cores"
    )
    results: list[Result] = []
    for heading, run in BENCHMARKS.items():
        if asked.headings and not any(heading.startswith(each) for each in asked.headings):
            continue
        print(f"\n{heading}\n{'=' * len(heading)}")
        results += run()
        records.save(results, asked.json)  # so that what is interrupted is not lost
    print()
    show(results)
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    print(f"every number: {asked.json}")
    worse = (
        records.compare([one.to_dict() for one in results], asked.against) if asked.against else 0
    )
    return int(bool(worse) or not all(result.agrees for result in results))


if __name__ == "__main__":
    one_thread()
    sys.exit(main(arguments()))
