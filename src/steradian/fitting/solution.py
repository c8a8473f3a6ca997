"""The fits of one level to a stack of moments, and how each ended."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from enum import IntEnum

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray

NO_RUNG = -1  # of a closed form, a contour, or pieces of its own


class Status(IntEnum):
    """How a fit ended; `sentence` says it in words."""

    CONVERGED = 0
    BOUNDARY = 1
    UNRESOLVED = 2
    ROUNDING = 3
    STALLED = 4
    UNSEEN = 5
    TOUCHING = 6

    @property
    def sentence(self) -> str:
        return _SENTENCES[self]


_CONVERGED = int(Status.CONVERGED)
_SENTENCES = {
    Status.CONVERGED: "converged",
    Status.BOUNDARY: "does not exist: no density has these moments",
    Status.UNRESOLVED: "cannot be resolved within the node budget",
    Status.ROUNDING: "is not determined by moments in double precision",
    Status.STALLED: "did not converge",
    Status.TOUCHING: "could not be computed: the data are on its boundary or too close to tell",
    Status.UNSEEN: "has a mode where there are no data, which its nodes do not see",
}


def _no_laws() -> AnyArray:
    return np.empty(0, dtype=object)


def _no_rungs() -> IntArray:
    return np.empty(0, dtype=np.int64)


@dataclass(slots=True)  # to be filled row by row
class DualSolution:
    """Fits of one level to a stack of B moment vectors; every array has B rows.

    The rule that served a row travels with it as its rung, so that nothing that asks about the law
    later climbs the ladder again: see `Family.resolved_by`.
    """

    lam: Array  # (B, q) natural parameters
    psi: Array  # (B,) log-partitions
    deficit: Array  # (B,) lam · m - psi, nats
    gap: Array  # (B,) information over the level below where known better than by subtraction
    residual: Array  # (B,) largest moment mismatch
    decrement: Array  # (B,) Newton decrement at the end
    condition: Array  # (B,) estimate of the condition of the covariance
    quadrature: Array  # (B,) estimated quadrature error of psi, nats
    moment_rounding: Array  # (B,) deficit error from the rounding of the moments, nats
    nodes: IntArray  # (B,) quadrature nodes, 0 for a closed form
    steps: IntArray  # (B,) Newton steps
    status: IntArray  # (B,) Status codes
    laws: AnyArray = field(default_factory=_no_laws)  # (B,): the law itself where lam loses digits
    rungs: IntArray = field(
        default_factory=_no_rungs
    )  # (B,) of the ladder of rules, NO_RUNG without

    def __post_init__(self) -> None:
        if not len(self.laws):
            self.laws = np.full(len(self.psi), None)
        if not len(self.rungs):
            self.rungs = np.full(len(self.psi), NO_RUNG)

    @classmethod
    def empty(cls, rows: int, q: int, status: Status = Status.BOUNDARY) -> DualSolution:
        """A stack to be filled row by row; unfilled rows are NaN with ``status``."""
        numbers = np.full((8, rows), np.nan)
        counts = np.zeros((3, rows), dtype=np.int64)
        counts[2] = status
        return cls(np.full((rows, q), np.nan), *numbers, *counts)

    @classmethod
    def of_one(
        cls,
        lam: Array,
        numbers: tuple[float, ...] | Array,
        *,
        nodes: int = 0,
        steps: int = 0,
        rung: int = NO_RUNG,
    ) -> DualSolution:
        """A converged stack of one. ``numbers`` are the fields of floats, psi to rounding."""
        known = np.array(numbers).reshape(-1, 1)
        *counts, rungs = np.array((nodes, steps, _CONVERGED, rung)).reshape(-1, 1)
        parts: list[AnyArray] = [lam[None], *known, *counts, np.array([None]), rungs]
        return cls(*parts)

    def put(self, rows: IntArray, part: DualSolution) -> None:
        """Write the rows of ``part`` into this stack."""
        for each in fields(self):
            getattr(self, each.name)[rows] = getattr(part, each.name)

    def take(self, rows: IntArray) -> DualSolution:
        """The part of the stack in ``rows``."""
        return DualSolution(**{f.name: getattr(self, f.name)[rows] for f in fields(self)})
