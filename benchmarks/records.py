"""Results as JSON, and what has become slower since an earlier one.

Seconds of two machines do not compare; ratios to a peer that was measured in the same run do. A
line is told as worse when its ratio has fallen by more than a tenth and by more than four times
what the rounds of both runs let it vary.
"""

from __future__ import annotations

import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

import numpy as np
import scipy

import steradian as sr
from timing import Result

WORSE = 1.1  # times, below which nothing is told
NOISES = 4.0  # standard errors of the two ratios, likewise


def save(results: list[Result], path: Path) -> None:
    """Write every line, and where it was measured."""
    where = {
        "steradian": sr.__version__,
        "python": platform.python_version(),
        "numpy": np.__version__,
        "scipy": scipy.__version__,
        "processor": platform.processor() or platform.machine(),
        "cores": os.cpu_count(),
        "coretype": os.environ.get("OPENBLAS_CORETYPE", ""),
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    record = {"measured_with": where, "results": [one.to_dict() for one in results]}
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def load(path: Path) -> list[dict[str, Any]]:
    """The lines of an earlier run."""
    return list(json.loads(path.read_text(encoding="utf-8"))["results"])


def regressions(now: list[dict[str, Any]], before: list[dict[str, Any]]) -> list[str]:
    """Lines that are worse than before beyond noise, in words."""
    known = {one["name"]: one for one in before}
    out = []
    for one in now:
        old = known.get(one["name"])
        if old is None:
            continue
        factor = one["ratio"] / old["ratio"] if one["is_cost"] else old["ratio"] / one["ratio"]
        allowed = max(WORSE, 1.0 + NOISES * float(np.hypot(one["noise"], old["noise"])))
        if factor > allowed:
            out.append(
                f"{one['name']}: {factor:.2f} times worse (ratio {one['ratio']:.3g}, before "
                f"{old['ratio']:.3g}; noise allows {allowed:.2f})"
            )
        if old["agrees"] and not one["agrees"]:
            out.append(f"{one['name']}: its answer differs from the peer's, and did not before")
    return out


def compare(now: list[dict[str, Any]], earlier: Path) -> int:
    """Print what is worse than in an earlier file; how many lines."""
    before = load(earlier)
    worse = regressions(now, before)
    shared = len({one["name"] for one in now} & {one["name"] for one in before})
    print(f"\nAgainst {earlier.name}: {shared} lines in both, {len(worse)} worse beyond noise")
    for line in worse:
        print(f"  {line}")
    return len(worse)


if __name__ == "__main__":
    one, other = (Path(given) for given in sys.argv[1:3])
    sys.exit(int(compare(load(one), other) > 0))
