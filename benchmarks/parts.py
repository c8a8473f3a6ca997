"""Which part of a stack of fits takes how much: shares of the processor time of one call.

The profiler sees one thread, so blocks of weightings are fitted one after the other here. It
charges every Python call some time of its own, which makes the rest look larger than it is.
"""

from __future__ import annotations

import cProfile
import pstats
import sys
import time
from collections.abc import Callable

PARTS: dict[str, tuple[tuple[str, str], ...]] = {
    "moments": (("weightings.py", "_block"), ("stacks.py", "moments")),
    "existence": (("decision.py", "first_look"),),
    "closed forms": (("bessel.py", "concentration"),),
    "integration": (
        ("laws.py", "peaked"),
        ("sphere.py", "analyze"),
        ("circle.py", "analyze"),
        ("integral.py", "fisher_bingham"),
    ),
    "Hessian": (
        ("products.py", "stack"),
        ("curvature.py", "of"),
        ("integral.py", "covariance"),
    ),
    "linear algebra": (
        ("linalg.py", "solve_each"),
        ("linalg.py", "in_place"),
        ("linalg.py", "columns"),
        ("linalg.py", "conditions"),
        ("_linalg.py", "eigh"),
        ("newton_steps.py", "truncated_steps"),
    ),
    "verification": (
        ("sphere.py", "unresolved"),
        ("circle.py", "unresolved"),
    ),
    "row by row": (("solver.py", "_solve_rows"),),
    "results": (("batches.py", "_write"), ("batches.py", "_collect")),
}
"""Functions of which none calls another, by file and name."""


def shares(work: Callable[[], object]) -> dict[str, float]:
    """Share of each part in one call of ``work``; what is left are steps and Python itself."""
    work()
    blocks = sys.modules["steradian.batches"]
    workers, profiler = blocks._MOST_WORKERS, cProfile.Profile(time.process_time)
    blocks._MOST_WORKERS = 1  # type: ignore[attr-defined]
    try:
        profiler.runcall(work)
    finally:
        blocks._MOST_WORKERS = workers  # type: ignore[attr-defined]
    stats = pstats.Stats(profiler)
    spent = {(path.rsplit("/", 1)[-1], name): numbers[3]
             for (path, _, name), numbers in stats.stats.items()}  # type: ignore[attr-defined]  # fmt: skip
    total = stats.total_tt  # type: ignore[attr-defined]
    out = {
        part: sum(spent.get(each, 0.0) for each in functions) / total
        for part, functions in PARTS.items()
    }
    return {**out, "steps and Python": 1.0 - sum(out.values())}


def show_shares(name: str, work: Callable[[], object]) -> None:
    """Print them, the largest first."""
    found = sorted(shares(work).items(), key=lambda each: -each[1])
    print(
        f"  {name}: " + ", ".join(f"{part} {share:.0%}" for part, share in found if share > 0.005)
    )
