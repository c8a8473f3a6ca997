"""The verdict on moments or on a support: is there a fit, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from steradian.existence.certificate import Certificate


class Verdict(IntEnum):
    """Where moments lie relative to the moment body."""

    OUTSIDE = -1  # on the boundary (or beyond it): no finite fit
    UNSURE = 0  # closer to the boundary than rounding of the moments can tell
    INSIDE = 1


@dataclass(frozen=True, slots=True)
class Placement:
    """The exact verdict on a support; when there is no fit, why in words and as a function."""

    verdict: Verdict
    words: str = ""
    certificate: Certificate | None = None
