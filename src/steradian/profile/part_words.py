"""The parts of level 1 of a comparison, without a claim beyond what was tested.

Nats are split across and along the pooled mean. Of groups that point nearly the same way these are
what differs in direction and in concentration; of groups that point far apart the part along the
pooled mean is geometry too, and concentration is told by their own mean resultant lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.diagnostics import Diagnostic
from steradian.inference.group_tests import own_lengths
from steradian.wording import digits

if TYPE_CHECKING:
    from steradian.inference.group_tests import ComparisonTests
    from steradian.profile.comparison import Comparison

_GEOMETRY = "across the pooled mean", "along the pooled mean"


def part_rows(c: Comparison, tests: ComparisonTests | None) -> list[tuple[str, str, float]]:
    """Name, nats and corrected p-value of each row of a table; NaN where nothing was tested."""
    names, nats = list(c.level1), [digits(value) for value in c.level1.values()]
    if not names:
        return []
    found = {} if tests is None else tests.parts_holm
    known = [found.get(name, np.nan) for name in names]
    if tests is not None and tests.far_apart:
        known, last = [known[0], np.nan], [(names[1], "", known[1])]
        return [*zip(_GEOMETRY, nats, known, strict=True), *last]
    return list(zip(names if found else _GEOMETRY, nats, known, strict=True))


def part_size(c: Comparison, tests: ComparisonTests, part: str) -> Diagnostic:
    """How large a part is."""
    data: dict[str, Any] = {"nats": float(c.level1[part])}
    if not tests.far_apart:
        return Diagnostic("size_of_part", data=data)
    if part == next(iter(c.level1)):
        return Diagnostic("size_across", data=data)
    own = own_lengths(c.sample)
    assert own is not None  # it was tested
    least, most = float(own.resultants.min()), float(own.resultants.max())
    return Diagnostic("size_in_lengths", data={"least": least, "most": most})


def part_notes(tests: ComparisonTests) -> list[Diagnostic]:
    """What was tested in place of a part, where groups point far apart."""
    if not tests.far_apart:
        return []
    return [Diagnostic("lengths_compared", 1, {"part": list(tests.parts)[1]})]


def shared_note(c: Comparison) -> list[Diagnostic]:
    """Why there is no noise level, where units have rows of several groups."""
    if len(c.names) < 2 or not c.sample.has_shared_units or np.isfinite(c.noise).all():
        return []
    return [Diagnostic("noise_of_shared_units")]
