"""The verdict on moments or on a support: is there a fit, and if not, why."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from steradian.existence.certificate import Certificate


class Verdict(IntEnum):
    """Where moments lie relative to the moment body, as far as is proven.

    OUTSIDE asks for a proof: a function of the level that is nowhere negative on the whole space,
    whatever lies between the nodes that were looked at, and zero on all rows to within the rounding
    of their coordinates. Without one a sample that looks the same is TOUCHING: it is not fitted
    either, but nobody says that it has no fit.
    """

    OUTSIDE = -2  # on the boundary (or beyond it): no finite fit
    TOUCHING = -1  # on the boundary as far as nodes, or the rounding of the moments, tell
    UNSURE = 0  # not decided: the solver's to find
    INSIDE = 1

    @property
    def refuses(self) -> bool:
        """Whether there is nothing to look for."""
        return self < Verdict.UNSURE


@dataclass(frozen=True, slots=True)
class Placement:
    """The verdict on a support; when there is no fit, why in words and as a function."""

    verdict: Verdict
    words: str = ""
    certificate: Certificate | None = None
