"""The parts of level 1 of a comparison, in words that claim no more than was tested.

Nats are split across and along the pooled mean. Of groups that point nearly the same way these are
what differs in direction and in concentration; of groups that point far apart the part along the
pooled mean is geometry too, and concentration is told by their own mean resultant lengths.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from steradian.significance.groups.own_lengths import own_lengths
from steradian.wording import digits

if TYPE_CHECKING:
    from steradian.profile.comparison import Comparison
    from steradian.significance.groups.comparison_tests import ComparisonTests

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


def part_size(c: Comparison, tests: ComparisonTests, part: str) -> str:
    """How large a part is, in a sentence."""
    nats = f"{digits(c.level1[part])} nats"
    if not tests.far_apart:
        return nats
    if part == next(iter(c.level1)):
        return f"{nats} across the pooled mean"
    own = own_lengths(c.sample)
    assert own is not None  # it was tested
    least, most = own.resultants.min(), own.resultants.max()
    return f"mean resultant lengths {digits(float(least))} to {digits(float(most))}"


def part_notes(tests: ComparisonTests) -> list[str]:
    """What was tested in place of a part, where groups point far apart."""
    if not tests.far_apart:
        return []
    return [
        f"{list(tests.parts)[1]}: the groups point far apart, so that their own mean resultant "
        "lengths are compared; nats along the pooled mean are of their directions too"
    ]


def shared_note(c: Comparison) -> list[str]:
    """Why there is no noise, where units have rows of several groups."""
    if len(c.names) < 2 or not c.sample.has_shared_units or np.isfinite(c.noise).all():
        return []
    return [
        "noise is not known: units have rows of several groups, and the features are too many, or "
        "the laws too sharp, for a covariance over them"
    ]
