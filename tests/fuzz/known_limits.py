"""What the fuzz is known to find, each under a name; a line goes when its cause is mended.

The quick suite looks away from these, `make fuzz` does not.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fuzz.invariants import Violation
from fuzz.samples import Sample


@dataclass(frozen=True)
class Limit:
    """A kind of violation that is known, and the samples on which it is."""

    name: str
    covers: Callable[[Sample, Violation], bool]


LIMITS = (
    Limit(
        "the log-density of a sharp law loses the digits of its log-partition",
        lambda _, violation: violation.kind.startswith("mean log-density"),
    ),
    Limit(
        "fits take long from level 3 on, and on thin small circles from level 2",
        lambda _, violation: violation.kind.endswith(": time"),
    ),
    Limit(
        "one row with nearly all the weight: D₂ of the fit and of its law are half a nat apart",
        lambda sample, violation: (
            sample.words.endswith(" one") and violation.kind == "contour against fit"
        ),
    ),
    Limit(
        "thin small circles: D₂ is known to some 1e-11, and less is stated",
        lambda sample, violation: "small-circle" in sample.words and violation.level == 2,
    ),
    Limit(
        "two points 1e-10 apart: Bessel recurrences overflow beyond concentration 1e17",
        lambda _, violation: "RuntimeWarning: bessel.py" in str(violation),
    ),
    Limit(
        "tight samples of the circle from level 3 on",
        lambda sample, violation: sample.d == 2 and violation.level >= 3,
    ),
)


def unknown(sample: Sample, violations: list[Violation]) -> list[Violation]:
    """The violations that no known limit covers."""
    return [
        violation
        for violation in violations
        if not any(limit.covers(sample, violation) for limit in LIMITS)
    ]
