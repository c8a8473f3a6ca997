"""Whether a fit exists: the one place that decides, for fits and for `boundary` alike.

A fit exists unless some non-zero ``f = c + lam · φ >= 0`` of the level vanishes on the whole
support. The *first look* comes before any iteration: what the moments show beyond doubt, and
where they do not settle it, what the support shows exactly and quickly. A fit that has been found
and verified exists, so that nobody looks any further then. The *second look*, by every means the
family has, comes after the solver has failed, or when nothing but the answer is asked for. Each
family brings its own means; what counts as zero stands in `tolerances`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.placement import Placement, Verdict
from steradian.fitting.solution import Status
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import ROUNDED_RESIDUAL

if TYPE_CHECKING:
    from steradian.families.base import Family

_INSIDE = int(Verdict.INSIDE)


@dataclass(frozen=True, slots=True)
class FirstLook:
    """What is known of the rows of a stack before any iteration."""

    refused: dict[int, Placement]  # row → why it has no fit, or none worth looking for
    doubtful: frozenset[int]  # rows that nobody could decide


NOTHING_SEEN = FirstLook({}, frozenset())


def first_look(family: Family, moments: MomentStack, support: Support | None) -> FirstLook:
    """By the moments; where they do not settle it and there is a ``support``, by that."""
    if support is not None and family.needs_support:  # rows tell more than their moments
        return _by_support(family, range(len(moments)), support)
    verdicts = family.contains(moments)
    if support is None:
        refused = {
            int(row): Placement(Verdict(int(verdicts[row])))
            for row in np.flatnonzero(verdicts < Verdict.UNSURE)
        }
        return FirstLook(refused, frozenset(np.flatnonzero(verdicts == Verdict.UNSURE).tolist()))
    if verdicts.min(initial=_INSIDE) == _INSIDE:
        return NOTHING_SEEN
    return _by_support(family, np.flatnonzero(verdicts != Verdict.INSIDE).tolist(), support)


def _by_support(family: Family, asked: Iterable[int], support: Support) -> FirstLook:
    """By the rows themselves of the samples that are asked about."""
    found = {row: family.examine(*support(row)) for row in asked}
    refused = {row: placement for row, placement in found.items() if placement.verdict.refuses}
    return FirstLook(refused, frozenset())


def second_look(family: Family, support: Support | None, row: int) -> Placement:
    """After the solver has failed on a row."""
    if support is None:
        return Placement(Verdict.UNSURE)
    return both_looks(family, *support(row))


def both_looks(family: Family, x: Array, weights: Array) -> Placement:
    """The answer for distinct points ``x`` (n, d), whatever it takes."""
    placement = family.examine(x, weights)
    return family.examine_failed(x) if placement.verdict is Verdict.UNSURE else placement


def borne_out(status: Status, placement: Placement) -> Status:
    """What a solver that failed means where the rows themselves were looked at.

    It takes moments beside the boundary for moments on it; rows that show a fit to exist know
    better. No solver shows that there is none.
    """
    if placement.verdict is Verdict.TOUCHING:
        return Status.TOUCHING
    if status not in (Status.BOUNDARY, Status.TOUCHING):
        return status
    return Status.STALLED if placement.verdict is Verdict.INSIDE else Status.TOUCHING


def undecided_status(status: Status, residual: float) -> Status:
    """What a solver that failed means for a doubtful row: the boundary, as far as rounding tells.

    Unless it did match the moments and only their rounding leaves the fit open.
    """
    matched = status is Status.ROUNDING and residual <= ROUNDED_RESIDUAL
    return status if matched else Status.TOUCHING
