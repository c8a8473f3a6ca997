"""The tables of docs/coverage.md: ``python benchmarks/coverage_tables.py [words of a cell]``."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

import coverage_study as study


def main(words: str) -> None:
    """Print a row per cell, those whose label holds ``words``."""
    print("| law and n | levels | coverage of I | coverage of D | ends below I / D | widths of D |")
    print("|---|---|---|---|---|---|")
    for cell in study.cells():
        if words in cell.label:
            print(row(study.coverage(cell)), flush=True)


def row(found: study.Coverage) -> str:
    """One cell as a line of a table."""
    levels = found.cell.levels
    parts = [
        _label(found.cell),
        str(levels),
        _listed(found.held[:levels]),
        _listed(found.held[levels:]),
        f"{_listed(found.below[:levels])} / {_listed(found.below[levels:])}",
        ", ".join(f"{w:.2f}" for w in found.width[levels:]),
    ]
    return "| " + " | ".join(parts) + " |"


def _label(cell: study.Cell) -> str:
    design = f", {cell.design}" if cell.design != "iid" else ""
    fewer = f" ({cell.samples_wanted} samples)" if cell.samples_wanted < study.REPLICATES else ""
    return cell.label + design + fewer


def _listed(shares: study.Array) -> str:
    return ", ".join(f"{share:.3f}".lstrip("0") if share < 1 else "1" for share in shares)


if __name__ == "__main__":
    main(" ".join(sys.argv[1:]))
