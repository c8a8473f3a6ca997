"""How long comparisons take, as ratios to profiles in the same run.

    python benchmarks/comparison.py

CPU time, the quickest of interleaved runs.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import steradian as sr
from comparison_groups import unit, vmf
from steradian.inference.group_tests import same_law
from steradian.inference.monte_carlo import Replicates

NORTH = np.array([0.0, 0.0, 1.0])


def quickest(runs: int, *works: Callable[[], object]) -> list[float]:
    """Seconds of CPU of each, the quickest of interleaved runs."""
    best = [float("inf")] * len(works)
    for _ in range(runs):
        for k, work in enumerate(works):
            began = time.process_time()
            work()
            best[k] = min(best[k], time.process_time() - began)
    return best


def two_large_groups() -> str:
    rng = np.random.default_rng(0)
    tilted = unit(np.array([[0.1, 0.0, 1.0]]))[0]
    parts = [
        sr.Directions(vmf(50_000, mean, kappa, rng))
        for mean, kappa in ((NORTH, 3.0), (tilted, 4.0))
    ]
    whole = sr.Directions(np.concatenate([p.x for p in parts]))
    by = np.repeat(["a", "b"], 50_000)
    profiles, compared = quickest(
        5,
        lambda: [sr.profile(p, levels=4) for p in parts],
        lambda: sr.compare(whole, by=by, levels=4),
    )
    return f"two groups, n = 100,000, levels 4: {compared / profiles:.2f} × two profiles"


def many_groups() -> str:
    rng = np.random.default_rng(1)
    x, by = unit(rng.normal(size=(500_000, 3)) + 0.6), np.repeat(np.arange(1000), 500)
    whole = sr.Directions(x)
    loop, compared = quickest(
        5,
        lambda: [sr.profile(x[500 * g : 500 * (g + 1)], levels=2) for g in range(1000)],
        lambda: sr.compare(whole, by=by),
    )
    return f"1,000 groups of 500: {loop / compared:.1f} × quicker than a loop of profiles"


def permutations() -> str:
    rng = np.random.default_rng(2)
    whole = sr.Directions(vmf(500, NORTH, 3.0, rng))
    c = sr.compare(whole, by=np.repeat(["a", "b"], 250), levels=4)
    one, shuffled = quickest(
        3,
        lambda: [sr.profile(whole, levels=4) for _ in range(20)],
        lambda: same_law(c.sample, Replicates(9999)),
    )
    return f"9,999 permutations, n = 500: {shuffled / (one / 20):.0f} profiles of the pooled data"


if __name__ == "__main__":
    for line in (two_large_groups, many_groups, permutations):
        print(line(), flush=True)
