"""Nothing above a seam asks what is below it: what differs is asked from the object itself."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import steradian

SOURCE = Path(steradian.__file__).parent
BELOW = {"spaces", "families", "hierarchies", "existence"}  # these know what they are
CONCRETE = (
    "Circle|Sphere|Hypersphere|Torus|Axes|Rotations|Harmonics|TorusHarmonics|Axial|Interactions|Custom"
    "|Sketch|Zonal|BoundedZonal|LowRank|Quadratics|Diagonal|Blocks|Stacked|Against|Shifted|ReferenceSpace"
)
DESIGNS = "IID|FixedWeights|Importance|Clusters|Chain|Survey|Known|Descriptive"


def lines(pattern: str, *, but: set[str]) -> list[str]:
    """Lines of code with a pattern in folders other than these, examples in docstrings apart."""
    found = []
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE)
        if name.parts[0] in but:
            continue
        text = path.read_text(encoding="utf-8").splitlines()
        found += [
            f"{name}:{k}: {line.strip()}"
            for k, line in enumerate(text, start=1)
            if re.search(pattern, line) and ">>>" not in line
        ]
    return found


@pytest.mark.parametrize(("pattern", "but"), [
    (r"\bHarmonics\(", {"hierarchies", "paper"}),
    (rf"isinstance\([^)]*\b({CONCRETE})\b", BELOW),
    (rf"isinstance\([^)]*\b({DESIGNS})\b", {"designs"}),
    (r"\.name\s*(==|!=|in\b)", {"spaces"}),
    (r"\b(\w+\.)?d\s*(==|<=|<|>|>=)\s*[34]\b", {*BELOW, "numerics", "plots", "paper"}),
])  # fmt: skip
def test_no_leak(pattern: str, but: set[str]) -> None:
    assert lines(pattern, but=but) == []


def test_a_leak_would_be_seen() -> None:
    assert lines(r"\bHarmonics\(", but={"paper"})
    assert lines(rf"isinstance\([^)]*\b({CONCRETE})\b", but=set())
