"""Fits of levels that a hierarchy finds together, kept until their turn comes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.data.stacks import MomentStack, Support, support_of_rows
from steradian.families.base import Family
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import USABLE_DEFICIT

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

Sample = tuple[MomentStack, Array, Support | None]
"""Moments of B rows, parameters (B, q_below) of their fits of the level below, their support."""


class FitsAhead:
    """What is known of the levels above the one in hand, row by row of a stack.

    A level that is not known is asked from the hierarchy, together with those above it, where that
    offers it (`hierarchies.base.FitsTogether`), and else from its family.
    """

    def __init__(self, hierarchy: Hierarchy, *, together: bool = True) -> None:
        self._hierarchy: Any = hierarchy
        self._apart: int = hierarchy.levels
        if together:  # every profile asks, so quickly
            self._apart = getattr(hierarchy, "levels_apart", self._apart)
        self._known: dict[int, list[DualSolution]] = {}  # row → fits, the lowest level last

    def known(self, rows: IntArray) -> bool:
        """Whether there is a fit of the next level for all of these rows."""
        return bool(self._known) and all(self._known.get(row) for row in rows.tolist())

    def sound(self, row: int) -> bool:
        """Whether there is one for this row, with digits enough to be used."""
        known = self._known.get(row, ())
        return len(known) > 0 and bool(known[-1].moment_rounding[0] <= USABLE_DEFICIT)

    def taken(self, row: int) -> DualSolution:
        """The fit of the next level, which is known."""
        return self._known[row].pop()

    def solve(self, level: int, family: Family, rows: IntArray, sample: Sample) -> DualSolution:
        """Fits of one level to ``rows`` of a stack, of which ``sample`` tells."""
        if level <= self._apart:
            return _solved(family, sample)
        moments, lam, _ = sample
        found: list[DualSolution | None] = []
        for k, row in enumerate(rows.tolist()):
            if not self._known.get(row):
                above = self._hierarchy.fits_from(level, moments.features[k], lam[k])
                self._known[row] = above[::-1]
            found.append(self._known[row].pop() if self._known[row] else None)
        if len(found) == 1 and found[0] is not None:
            return found[0]
        return _filled(family, sample, found)


def _solved(family: Family, sample: Sample) -> DualSolution:
    """By the family, from the level below padded with zeros."""
    moments, lam, support = sample
    start = np.zeros((len(lam), family.q))
    start[:, : lam.shape[1]] = lam
    return family.solve(moments, start, support)


def _filled(family: Family, sample: Sample, found: list[DualSolution | None]) -> DualSolution:
    """A stack of what is found, and of what the family makes of the other rows."""
    lost = np.array([k for k, one in enumerate(found) if one is None], dtype=np.int64)
    if len(lost) == len(found):
        return _solved(family, sample)
    out = DualSolution.empty(len(found), family.q, Status.STALLED)
    for k, one in enumerate(found):
        if one is not None:
            out.put(np.array([k]), one)
    if len(lost):
        moments, lam, support = sample
        rest = moments.take(lost), lam[lost], support_of_rows(support, lost)
        out.put(lost, _solved(family, rest))
    return out
