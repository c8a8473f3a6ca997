"""The fits of all levels to a stack of samples: deficits and gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from steradian.data.stacks import MomentStack, Support, support_of_rows
from steradian.errors import BoundaryError, ConvergenceError, LevelError, ResolutionError
from steradian.existence.certificate import Certificate
from steradian.existence.decision import (
    NOTHING_SEEN,
    FirstLook,
    borne_out,
    first_look,
    second_look,
    undecided_status,
)
from steradian.existence.placement import Placement, Verdict
from steradian.families.base import Family, HeldToNoise
from steradian.fitting.ahead import FitsAhead
from steradian.fitting.shrinkage import Shrinkage
from steradian.fitting.solution import DualSolution, Status
from steradian.hierarchies.base import (
    Hierarchy,
    OffersInstead,
    enough_for_level_one,
    uniform_features,
)
from steradian.hierarchies.contract import refuse_unproven
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import USABLE_DEFICIT

_OURS = "a limit of this software, not of the data"
_FEWER = "ask for fewer levels"
_MIX = ", or mix in a little of the uniform law (shrinkage=0.01)"
_ERRORS: dict[Status, tuple[type[LevelError], str]] = {
    Status.BOUNDARY: (BoundaryError, _FEWER),
    Status.UNRESOLVED: (ResolutionError, _FEWER),
    Status.ROUNDING: (ResolutionError, _FEWER),
    Status.STALLED: (ConvergenceError, _FEWER),
    Status.UNSEEN: (ResolutionError, _FEWER),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a row has no fit from some level on."""

    level: int
    status: Status
    words: str = ""
    certificate: Certificate | None = None
    enough: str = ""  # what level 1 needs, in words
    instead: str = ""  # what else may be asked for, in words

    def error(self) -> LevelError:
        """The exception that says so."""
        kind, remedy = _ERRORS[self.status]
        cause = self.status.sentence + (f" ({self.words})" if self.words else "")
        if self.level > 1:
            remedy += f" (levels={self.level - 1} is sound)"
        elif self.status is Status.BOUNDARY:
            remedy = f"give {self.enough}"
        if self.status is Status.BOUNDARY:
            found = BoundaryError(self.level, cause, remedy + _MIX)
            found.certificate = self.certificate
            return found
        more = f", or {self.instead}" if self.instead and self.level > 1 else ""
        return kind(self.level, cause, remedy + more)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NestedFits:
    """Fits of levels 1..L to B rows; a failed row is NaN from its failing level on."""

    hierarchy: Hierarchy
    solutions: tuple[DualSolution, ...]  # one per level
    failures: dict[int, Failure]  # row → what stopped it

    @property
    def deficits(self) -> Array:
        """D_L in nats, (B, L)."""
        return np.array(self._deficits).T

    @property
    def _deficits(self) -> list[Array]:
        return [s.deficit for s in self.solutions]

    @property
    def gaps(self) -> Array:
        """I_L = D_L - D_{L-1} in nats, (B, L). Never clipped."""
        gaps, deficits = np.array([[s.gap for s in self.solutions], self._deficits])
        known = deficits.copy()
        known[1:] -= deficits[:-1]
        return np.where(np.isnan(gaps), known, gaps).T

    @property
    def uncertainty(self) -> Array:
        """U_L = exp(-D_L), (B, L)."""
        return np.exp(-self.deficits)

    @property
    def sound_rows(self) -> IntArray:
        """Rows that have a fit of every level."""
        rows = range(len(self._deficits[0]))
        return np.array([row for row in rows if row not in self.failures], dtype=np.int64)

    @property
    def lost_rows(self) -> IntArray:
        """Rows that may have a fit which was not found, or not looked for any further."""
        stopped = self.failures.items()
        lost = [row for row, why in stopped if why.status is not Status.BOUNDARY]
        return np.array(lost, dtype=np.int64)

    def __repr__(self) -> str:
        rows, levels = self.deficits.shape
        return f"NestedFits({rows} rows, {levels} levels, {len(self.failures)} stopped)"

    def up_to(self, hierarchy: Hierarchy) -> NestedFits:
        """The fits of the first levels only, all of them sound."""
        return NestedFits(hierarchy, self.solutions[: hierarchy.levels], {})


def fit_levels(
    hierarchy: Hierarchy,
    moments: MomentStack,
    support: Support | None = None,
    shrinkage: Shrinkage | None = None,
) -> NestedFits:
    """Fit every level of ``hierarchy``, each from the one below padded with zeros.

    ``support`` lets rows too close to the boundary for their moments be judged exactly;
    without it the solver decides. Mixed moments need no such judge.
    """
    refuse_unproven(hierarchy)
    if shrinkage is not None:
        support = None
        if shrinkage.toward == "uniform":
            uniform = uniform_features(hierarchy)
            moments = moments.toward_uniform(shrinkage.epsilon, hierarchy.space, uniform)
    count = len(moments)
    rows = np.arange(count)
    record = _Record(hierarchy, support, {})
    failures = record.failures
    solutions: list[DualSolution] = []
    below = shrinkage is not None and shrinkage.toward == "below"  # each level changes the next
    ahead = FitsAhead(hierarchy, together=not below)
    lam = np.zeros((count, 0))
    for level, q in enumerate(accumulate(hierarchy.dims), 1):
        family = hierarchy.family(level)
        part, seen = (moments, support) if len(rows) == count else _of_rows(moments, support, rows)
        asked = len(rows) and not ahead.known(rows)
        look = first_look(family, part, seen) if asked else NOTHING_SEEN
        doubtful = record.place(level, look, rows)
        if failures:
            keep = np.array([r not in failures for r in rows.tolist()], dtype=bool)
            rows, lam = rows[keep], lam[keep]
            part, seen = _of_rows(moments, support, rows)
        if not len(rows):
            solutions.append(DualSolution.empty(count, q))
            continue
        solved = ahead.solve(level, family, rows, (part, lam, seen))
        record.settle(level, family, solved, rows, doubtful)
        if failures:
            good = np.flatnonzero(solved.status == Status.CONVERGED)
            rows, solved = rows[good], solved.take(good)
            out = DualSolution.empty(count, q)
            out.put(rows, solved)
            solutions.append(out)
        else:
            solutions.append(solved)
        lam = solved.lam
        if below and len(rows) and level < hierarchy.levels:
            law = hierarchy.moments_of(lam, moments.mean[rows])
            mixed = moments.take(rows).toward(law, shrinkage.epsilon)  # type: ignore[union-attr]
            moments = moments.with_rows(rows, mixed)
    return NestedFits(hierarchy, tuple(solutions), failures)


def within_noise(fits: NestedFits, ess: Callable[[], float]) -> NestedFits:
    """The fits, or from the first level on whose integration error is above the noise, none.

    With nothing to find a gap is still about features / 2n: a family that says what share of that
    its error may be is held to it, and nothing is asked where all are exact. Stacks of one.
    """
    errors = [float(solved.quadrature[0]) for solved in fits.solutions]
    if fits.failures or max(errors) <= USABLE_DEFICIT:
        return fits
    for level, (added, error) in enumerate(zip(fits.hierarchy.dims, errors, strict=True), 1):
        family, floor = fits.hierarchy.family(level), 0.5 * added / ess()
        if not isinstance(family, HeldToNoise):
            continue
        if error > max(family.noise_share * floor, USABLE_DEFICIT):
            words = (
                f"an integration error of {error:.1e} nats, above the {floor:.1e} that noise "
                f"gives with {ess():.0f} rows; {family.noise_remedy}"
            )
            enough = enough_for_level_one(fits.hierarchy)
            failure = Failure(level, Status.UNRESOLVED, words, enough=enough)
            return NestedFits(fits.hierarchy, fits.solutions, {0: failure})
    return fits


def _of_rows(
    moments: MomentStack, support: Support | None, rows: IntArray
) -> tuple[MomentStack, Support | None]:
    """Some rows of a stack, with what their support is."""
    return moments.take(rows), support_of_rows(support, rows)


@dataclass(frozen=True, slots=True)
class _Record:
    """What stopped which row, as the levels go up; `existence.decision` decides."""

    hierarchy: Hierarchy
    support: Support | None
    failures: dict[int, Failure]

    def place(self, level: int, look: FirstLook, rows: IntArray) -> set[int]:
        """Record the ``rows`` outside the moment body; return those nobody could decide."""
        for place, placement in look.outside.items():
            self._on_boundary(int(rows[place]), level, placement)
        return {int(rows[place]) for place in look.doubtful}

    def settle(
        self, level: int, family: Family, solved: DualSolution, rows: IntArray, doubtful: set[int]
    ) -> None:
        """Turn what the solver could not do into reasons; the boundary outranks the others."""
        rounding = solved.moment_rounding
        if not solved.status.any() and rounding.max() <= USABLE_DEFICIT:
            return  # all converged
        coarse = (solved.status == Status.CONVERGED) & ~(rounding <= USABLE_DEFICIT)
        solved.status[coarse] = Status.ROUNDING
        for k in np.flatnonzero(solved.status != Status.CONVERGED):
            row, status = int(rows[k]), Status(int(solved.status[k]))
            placement = second_look(family, self.support, row)
            if placement.verdict is Verdict.OUTSIDE:
                self._on_boundary(row, level, placement)
                continue
            if row in doubtful:
                status = undecided_status(status, float(solved.residual[k]))
                words = "to the rounding of the moments"
            else:
                status = borne_out(status, placement)
                words = _words(solved, int(k), status, by_rows=self.support is not None)
            words = "; ".join(part for part in (words, placement.words) if part)
            self.failures[row] = self._failure(level, status, words)

    def _on_boundary(self, row: int, level: int, placement: Placement) -> None:
        words, shown_by = placement.words, placement.certificate
        self.failures[row] = self._failure(level, Status.BOUNDARY, words, shown_by)

    def _failure(
        self, level: int, status: Status, words: str, shown_by: Certificate | None = None
    ) -> Failure:
        hierarchy = self.hierarchy
        instead = hierarchy.instead if isinstance(hierarchy, OffersInstead) else ""
        return Failure(level, status, words, shown_by, enough_for_level_one(hierarchy), instead)


def _words(solved: DualSolution, k: int, status: Status, *, by_rows: bool) -> str:
    """What stopped the solver in row ``k`` of a stack, with that ``status``."""
    rounding = float(solved.moment_rounding[k])
    if status is Status.ROUNDING:
        found = f"the features are collinear under the fit, condition {solved.condition[k]:.0e}"
        if rounding > USABLE_DEFICIT:
            found = f"their rounding moves the deficit by {rounding:.1e} nats"
        return found if by_rows else f"{found}; the directions themselves may determine it"
    if status is Status.UNRESOLVED:
        error = f"error {solved.quadrature[k]:.1e} with {solved.nodes[k]} nodes, {_OURS}"
        return error if np.isfinite(solved.quadrature[k]) else f"{solved.nodes[k]} nodes, {_OURS}"
    return "" if status is Status.BOUNDARY else _OURS
