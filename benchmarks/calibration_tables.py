"""Print the tables of docs/calibration.md: sizes, variants, Table 3, coverage, power.

    python benchmarks/calibration_tables.py [size] [hostile] [further] [beyond] [tilts]
                                            [variants] [table_3] [coverage] [power]
                                            [stated] [heaps] [uniformity] [within] [modes]

The laws and what is measured are those of the slow tests, with the same seeds.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
import calibration_laws as laws
import calibration_study as study
import coverage_study as coverages
from steradian.paper import calibration as paper

TABLE_3_SAMPLES = 4000


def row(*cells: object) -> None:
    """One line of a Markdown table."""
    print("| " + " | ".join(str(c) for c in cells) + " |", flush=True)


def head(*cells: object) -> None:
    """The first two lines."""
    row(*cells)
    row(*["---"] * len(cells))


def short(values: Iterable[float], digits: int = 3) -> str:
    """Numbers without their leading zero, separated by slashes."""
    return " / ".join(f"{v:.{digits}f}".replace("0.", ".", 1) for v in values)


def _sizes(cells: Iterable[laws.Cell]) -> None:
    head("cell", "design", "level", "plain tilt", "default", "not judged", "")
    for cell in cells:
        for found in study.size_rows(cell):
            limit = study.allowed(np.array(study.ALPHAS), cell.samples, study.WIDER)
            notes = ["above 1.3 times nominal"] * bool((found.found > limit).any())
            if found.refused:
                notes.append(f"{found.refused:.1%} refused")
            row(
                cell.label,
                cell.kind,
                found.level,
                "–" if cell.kind == "survey" else short(study.rates(found.plain)),
                short(found.as_printed),
                f"{found.unjudged:.0%}" if found.unjudged else "",
                ", ".join(notes),
            )


def size() -> None:
    """Rejection rates of the default test on the cells of the first table."""
    _sizes(laws.REGULAR)


def hostile() -> None:
    """The cells on which the plain tilt failed."""
    _sizes(laws.HOSTILE)


def further() -> None:
    """Cells that played no part in the choice of the method."""
    _sizes(laws.FURTHER)


def beyond() -> None:
    """What no check on the sample can mend."""
    _sizes(laws.BEYOND)


def tilts() -> None:
    """Power of the default and of the plain tilt at 5 %."""
    head("alternative", "design", "level", "plain tilt", "default")
    for cell in laws.ALTERNATIVES:
        for found in study.size_rows(cell):
            shares = (study.rates(p)[1] for p in (found.plain, found.pvalue))
            row(cell.label, cell.kind, found.level, *(short([v]) for v in shares))


def variants() -> None:
    """Rejection rates of every form, and the share of wrong rejections that carry a warning."""
    names = [v.name for v in study.VARIANTS]
    head("cell", "level", *names)
    warned = []
    for cell in laws.ROW_CELLS:
        found = {(r.level, r.variant.name): r for r in study.variant_rows(cell)}
        for level in cell.levels:
            known = [found.get((level, name)) for name in names]
            row(
                cell.label,
                level,
                *("–" if r is None else short((r.rates[1], r.rates[0])) for r in known),
            )
        warned += [r for r in found.values() if r.worst]
    print()
    head("cell", "level", "form", "1 % / 5 %", "looked at those below", "warned")
    for r in warned:
        rates = short(r.rates[:2])
        row(r.cell.label, r.level, r.variant.name, rates, f"{r.worst:.0%}", f"{r.warned:.0%}")


def table_3() -> None:
    """The paper's Table 3, printed and measured with other samples, and the fitted gap."""
    found = study.table_3(TABLE_3_SAMPLES)
    ess = found.ess.mean()
    print(f"{TABLE_3_SAMPLES} samples per row; mean Kish ESS of the weighted ones {ess:.1f}\n")
    head("row", "", *paper.COLUMNS)
    for name, pvalues in found.surrogate.items():
        expected, off = study.deviations(name, pvalues)
        count = paper.EQUAL_SAMPLES if name == paper.EQUAL else paper.WEIGHTED_SAMPLES
        row(name, f"paper, {count} replicates", *(short([v]) for v in study.printed(name)))
        row("", f"expected of {count}", *(short([v]) for v in expected))
        row("", "paper less expected, in sd", *(f"{v:+.1f}" for v in off))
        for what, p in (("surrogate", pvalues), ("fitted gap", found.fitted[name])):
            row("", f"{what}, all", *(short([v]) for v in paper.figures(p)))


def coverage() -> None:
    """Coverage of 95 % intervals of the second gap."""
    head("law", "n", "gap", "default", "√", "Wald", "default lies below", "mean width")
    for cell in study.COVERAGE:
        found = study.coverage(cell)
        shares = (short([found[k]]) for k in ("noncentral", "sqrt", "wald", "below"))
        row(cell.name, cell.n, f"{found['gap']:.4f}", *shares, f"{found['width']:.4f}")


def power() -> None:
    """Size and power at 5 %, grouped by null."""
    cells = study.POWER
    found = [study.power(cell) for cell in cells]
    head("null", "test", *(f"{c.name}, n={c.n}" for c in cells))
    groups = {
        "model": ("score, χ²", "gap, χ²", "parametric bootstrap"),
        "moment": (
            "default",
            "score, null",
            "score, empirical",
            "gap, null",
            "gap, empirical",
            "multiplier bootstrap",
        ),
    }
    for null, names in groups.items():
        for name in names:
            row(null, name, *(short(one[name]) if name in one else "–" for one in found))


def stated() -> None:
    """Weights that a design states: sizes, and how many strong signals are judged."""
    _sizes(laws.STATED)
    print()
    head("cell", "design", "p < .001", "of them judged")
    for cell in laws.SIGNALS:
        row(cell.label, cell.kind, *(short([v]) for v in study.judged_share(cell)))


def heaps() -> None:
    """Two opposite heaps at level 3."""
    _sizes(laws.HEAPS)


def uniformity() -> None:
    """Rejection rates of `Profile.uniformity` with few rows per feature."""
    head("law", "n", "through level", "rejected")
    on_circle, on_sphere = laws.UNIFORM_CIRCLE, laws.uniform_sphere
    cells = ((20, 4, laws.circular(on_circle)), (35, 3, on_sphere), (60, 4, on_sphere),
             (30, 5, laws.circular(on_circle)), (25, 2, on_sphere))  # fmt: skip
    for n, level, law in cells:
        cell = laws.Cell(f"uniform through {level}", n, (level,), laws.iid(law))
        d = cell.draw(1)[0].shape[2]
        row(
            f"S{'¹' if d == 2 else '²'}",
            n,
            level,
            short(study.uniformity_rates(cell, level, COUNT)),
        )


def within() -> None:
    """Groups that share units."""
    found = [study.within_units(cell, COUNT) for cell in study.WITHIN[:1]]
    head("units", *found[0])
    for k, cell in enumerate(study.WITHIN):
        shares = found[0] if not k else study.within_units(cell, COUNT)
        row(cell.name, *(short([v]) for v in shares.values()))


def modes() -> None:
    """Coverage of I_1, which is D_1, of two modes."""
    head("law and n", "design", "I", "covered", "ends below", "width", "lost")
    for cell in coverages.mode_cells():
        found = coverages.coverage(cell, COUNT)
        shares = short([found.held[0]]), short([found.below[0]]), f"{found.width[0]:.3f}"
        row(cell.label, cell.design, f"{cell.truth[0]:.4f}", *shares, found.lost)


COUNT = study.REPLICATES
ALL = (
    size, hostile, further, beyond, tilts, variants, table_3, coverage, power,
    stated, heaps, uniformity, within, modes,
)  # fmt: skip
TABLES = {f.__name__: f for f in ALL}


def main() -> None:
    """Print the tables asked for, all by default."""
    for name in sys.argv[1:] or TABLES:
        began = time.perf_counter()
        print(f"## {name}\n", flush=True)
        TABLES[name]()
        print(f"\n{time.perf_counter() - began:.0f} s\n", flush=True)


if __name__ == "__main__":
    main()
