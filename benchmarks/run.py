"""All benchmarks, each against a named peer measured in the same run, and a closing table."""

from __future__ import annotations

import os
import platform
import sys
import time

import numpy as np
import scipy

import batch
import concentrated
import fisher_bingham
import memory
import moments
import null_calibration
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
}


def main() -> int:
    """Run everything; 1 when an answer differs from the peer's, else 0, targets met or not."""
    began = time.perf_counter()
    print(
        f"steradian {sr.__version__}, Python {platform.python_version()}, "
        f"NumPy {np.__version__}, SciPy {scipy.__version__}, {os.cpu_count()} cores"
    )
    results: list[Result] = []
    for heading, run in BENCHMARKS.items():
        print(f"\n{heading}\n{'=' * len(heading)}")
        results += run()
    print()
    show(results)
    print(f"\n{time.perf_counter() - began:.0f} s in all")
    return int(not all(result.agrees for result in results))


if __name__ == "__main__":
    one_thread()
    sys.exit(main())
