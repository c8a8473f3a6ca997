"""What a run of the fuzz found, in a screen of text."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import numpy as np

from fuzz.cases import Record

SHOWN = 5  # examples of each kind of violation


@dataclass
class Summary:
    """Counts, times and examples of many cases."""

    cases: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    violations: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    flips: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    near: dict[str, list[tuple[float, str]]] = field(default_factory=lambda: defaultdict(list))
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    slowest: tuple[float, str] = (0.0, "")

    def add(self, record: Record) -> None:
        self.cases += 1
        if record.refused:
            self.refused[record.refused] += 1
        for violation in record.violations:
            kind = violation.kind
            self.violations[kind].append(f"case {record.case}  {record.words}  {violation}")
        for flip in record.flips:
            self.flips[flip.split(":")[0]].append(f"case {record.case}  {record.words}  {flip}")
        for check in record.near:
            words = f"case {record.case}  {record.words}  {check}"
            self.near[check.kind] = sorted([*self.near[check.kind], (check.share, words)])[-SHOWN:]
        for name, seconds in record.seconds.items():
            self.seconds[name].append(seconds)
            self.slowest = max(self.slowest, (seconds, f"case {record.case} {name}"))

    @property
    def count(self) -> int:
        """Violations in all."""
        return sum(len(found) for found in self.violations.values())

    @property
    def progress(self) -> str:
        """How far a run has come, in a line."""
        taken = sum(sum(seconds) for seconds in self.seconds.values())
        each = taken / max(self.cases, 1)
        return f"{self.cases} cases, {self.count} violations, {each:.2g} s of the processor a case"

    def __str__(self) -> str:
        parts = [f"{self.cases} cases, {self.count} violations"]
        parts.append(_lines("violations", self.violations))
        parts.append(
            _lines("levels that one way of saying a sample has and another has not", self.flips)
        )
        parts.append(self._near())
        refusals = [f"  {many:6d}  {kind}" for kind, many in sorted(self.refused.items())]
        parts.append("\n".join([f"refusals ({self.refused.total()} cases)", *refusals]))
        parts.append(self._times())
        return "\n\n".join(part for part in parts if part)

    def _near(self) -> str:
        lines = [
            f"  {share:.2f}  {words}"
            for kind in sorted(self.near)
            for share, words in reversed(self.near[kind])
        ]
        return "\n".join(["share of a stated error that was used", *lines]) if lines else ""

    def _times(self) -> str:
        lines = ["processor seconds           50 %      90 %      99 %       max     steps"]
        everything = [second for taken in self.seconds.values() for second in taken]
        for name, taken in [*sorted(self.seconds.items()), ("all", everything)]:
            marks = np.quantile(taken, [0.5, 0.9, 0.99, 1.0]) if taken else np.zeros(4)
            numbers = "".join(f"{mark:10.3g}" for mark in marks)
            lines.append(f"  {name:20s}{numbers}{len(taken):10d}")
        return "\n".join([*lines, f"slowest: {self.slowest[1]}, {self.slowest[0]:.1f} s"])


def _lines(title: str, found: dict[str, list[str]]) -> str:
    lines = []
    for kind, examples in sorted(found.items(), key=lambda item: -len(item[1])):
        lines.append(f"  {len(examples)} × {kind}")
        lines += [f"      {example}" for example in examples[:SHOWN]]
    return "\n".join([title, *lines]) if lines else ""
