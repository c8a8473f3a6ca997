"""Print the tables of the off-diagonal test in docs/calibration.md: its size and power.

    python benchmarks/many_dimensions.py [equal] [large] [designs] [power] [samples]

The laws are those of the slow tests, with the same seeds. A number of samples replaces those that
the page was made with.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from off_diagonal_study import ALPHAS, DESIGNS, LAWS, Cell

SIZES = (300, 64), (200, 384), (1000, 128), (2000, 64)
SAMPLES = next((int(one) for one in sys.argv[1:] if one.isdigit()), 0)


def _sizes(cells: Iterable[Cell]) -> None:
    print("| n, d | law | design | 5 % / 1 % / .1 % | samples |\n|---|---|---|---|---|")
    for cell in cells:
        began, found = time.process_time(), cell.rates()
        wide = np.sqrt(np.array(ALPHAS) * (1.0 - np.array(ALPHAS)) / cell.samples)
        mark = (
            " †" if cell.law in LAWS and (found > 1.3 * np.array(ALPHAS) + 3.0 * wide).any() else ""
        )
        shown = " / ".join(f"{100 * rate:.2g}" for rate in found)
        print(
            f"| {cell.n}, {cell.d} | {cell.law} | {cell.design} | {shown}{mark} | {cell.samples} |",
            f"<!-- {time.process_time() - began:.0f} s -->",
            flush=True,
        )


def equal() -> Iterable[Cell]:
    """Equal weights."""
    return [Cell(n, d, law, samples=SAMPLES or 1000) for n, d in SIZES[:2] for law in LAWS]


def large() -> Iterable[Cell]:
    """Equal weights, more rows."""
    return [Cell(n, d, law, samples=SAMPLES or 200) for n, d in SIZES[2:] for law in LAWS]


def designs() -> Iterable[Cell]:
    """Weights, clusters, strata, chains."""
    few = [
        Cell(n, d, law, design, SAMPLES or 250)
        for design in DESIGNS[1:]
        for n, d in SIZES[:2]
        for law in LAWS
    ]
    ratios = [Cell(300, 64, law, "importance", SAMPLES or 250) for law in LAWS[:2]]
    return [*few, *ratios, *(Cell(3000, 16, law, "chain", SAMPLES or 100) for law in LAWS)]


def power() -> Iterable[Cell]:
    """Rejections where the scale of axes falls from 1.1 to 0.9."""
    return [Cell(n, d, "shaped", samples=SAMPLES or 500) for n, d in ((300, 5), (300, 64))]


def main() -> None:
    known = {one.__name__: one for one in (equal, large, designs, power)}
    for name in [one for one in sys.argv[1:] if one in known] or known:
        print(f"\n{known[name].__doc__}\n")
        _sizes(known[name]())


if __name__ == "__main__":
    main()
