"""The fits of all levels to a stack of samples: deficits and gaps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from steradian.families.base import Family
from steradian.fitting.shrinkage import Shrinkage
from steradian.fitting.solution import DualSolution, Status
from steradian.hierarchies.base import Hierarchy, uniform_features
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import USABLE_DEFICIT
from steradian.text.messages import Joined, Message, arguments, message

_OURS = "a limit of this software, not of the data"
_BY_MOMENTS = "to the rounding of the moments; the directions themselves may tell more"
_MIX = message(
    "mix in a little of the uniform law ({remedy}), which nothing tests against noise",
    remedy=arguments(shrinkage=0.01),
)
_ERRORS: dict[Status, type[LevelError]] = {
    Status.BOUNDARY: BoundaryError,
    Status.UNRESOLVED: ResolutionError,
    Status.ROUNDING: ResolutionError,
    Status.STALLED: ConvergenceError,
    Status.UNSEEN: ResolutionError,
    Status.TOUCHING: ResolutionError,
}


_BOUNDARIES = Status.BOUNDARY, Status.TOUCHING  # beyond doubt, and as far as can be told


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a row has no fit from some level on."""

    level: int
    status: Status
    words: str = ""
    certificate: Certificate | None = None
    enough: str = ""  # what level 1 needs, in words
    instead: str = ""  # what else may be asked for, in words

    def error(self, *, mixing: bool = True) -> LevelError:
        """The exception that says so; ``mixing`` where the uniform law may be mixed in."""
        kind, remedies = _ERRORS[self.status], self._remedies(mixing)
        cause = self.status.sentence + (f" ({self.words})" if self.words else "")
        found = kind(self.level, cause, Joined(remedies, ", or "))
        if isinstance(found, BoundaryError):
            found.certificate = self.certificate
        return found

    def _remedies(self, mixing: bool) -> tuple[Message | str, ...]:
        """What helps, each by itself."""
        boundary, instead = self.status in _BOUNDARIES, (self.instead,) * bool(self.instead)
        if self.level > 1:
            sound = arguments(levels=self.level - 1)
            first: Message | str = message("ask for fewer levels ({sound} is sound)", sound=sound)
        elif boundary:
            first = f"give {self.enough}"
        elif instead:
            return instead
        else:
            first = "ask for fewer levels"
        return (first, *((_MIX,) * mixing if boundary else instead))


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
        gaps, known = np.array([s.gap for s in self.solutions]), np.array(self._deficits)
        known[1:] -= known[:-1]
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
        """Rows away from the boundary whose fit was not found, or not looked for any further."""
        stopped = self.failures.items()
        lost = [row for row, why in stopped if why.status not in _BOUNDARIES]
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
    if shrinkage is not None:
        support = None
        if shrinkage.toward == "uniform":
            uniform = uniform_features(hierarchy)
            moments = moments.toward_uniform(shrinkage.epsilon, hierarchy.space, uniform)
    below = shrinkage is not None and shrinkage.toward == "below"  # each level changes the next
    climb = _Climb(hierarchy, moments, support)
    for level in range(1, hierarchy.levels + 1):
        climb.to(level)
        if below and level < hierarchy.levels:
            climb.mix_in_fit(shrinkage.epsilon)  # type: ignore[union-attr]
    return NestedFits(hierarchy, tuple(climb.solutions), climb.failures)


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
        if error > max(family.noise_share * floor, USABLE_DEFICIT):
            words = (
                f"an integration error of {error:.1e} nats, above the {floor:.1e} that noise "
                f"gives with {ess():.0f} rows; {family.noise_remedy}"
            )
            enough = fits.hierarchy.enough
            failure = Failure(level, Status.UNRESOLVED, words, enough=enough)
            return NestedFits(fits.hierarchy, fits.solutions, {0: failure})
    return fits


class _Climb:
    """The levels of a stack one after the other, and what stopped which of its rows.

    `existence.decision` decides about existence.
    """

    def __init__(self, hierarchy: Hierarchy, moments: MomentStack, support: Support | None) -> None:
        self.hierarchy, self.moments, self.support = hierarchy, moments, support
        self.solutions: list[DualSolution] = []
        self.failures: dict[int, Failure] = {}
        self._count = len(moments)
        self._rows = np.arange(self._count)  # those still fitted

    def to(self, level: int) -> None:
        """Fit the next level, from the one below padded with zeros."""
        family = self.hierarchy.family(level)
        doubtful = self._place(
            level, first_look(family, *self._seen()) if len(self._rows) else NOTHING_SEEN
        )
        if self.failures:
            kept = [row for row in self._rows.tolist() if row not in self.failures]
            self._rows = np.array(kept, dtype=np.int64)
        self.solutions.append(self._solved(level, family, doubtful))

    def _solved(self, level: int, family: Family, doubtful: set[int]) -> DualSolution:
        """The fits of the rows that have one; without any, or in all other rows, NaN."""
        if len(self._rows):
            part, seen = self._seen()
            start, below = np.zeros((len(part), family.q)), self._lam
            start[:, : below.shape[1]] = below
            found = family.solve(part, start, seen)
            self._settle(level, family, found, doubtful)
            if not self.failures:
                return found
        solved = DualSolution.empty(self._count, family.q)
        if len(self._rows):
            good = np.flatnonzero(found.status == Status.CONVERGED)
            self._rows = self._rows[good]
            solved.put(self._rows, found.take(good))
        return solved

    @property
    def _lam(self) -> Array:
        """Parameters (b, q) of the level below of the rows still fitted."""
        if not self.solutions:
            return np.zeros((len(self._rows), 0))
        lam = self.solutions[-1].lam
        return lam[self._rows] if self.failures else lam

    def mix_in_fit(self, epsilon: float) -> None:
        """Mix what is fitted next with the law of the level just fitted."""
        if len(self._rows):
            law = self.hierarchy.moments_of(self._lam, self.moments.mean[self._rows])
            mixed = self.moments.take(self._rows).toward(law, epsilon)
            self.moments = self.moments.with_rows(self._rows, mixed)

    def _seen(self) -> tuple[MomentStack, Support | None]:
        """The rows still fitted, with what their support is."""
        if len(self._rows) == self._count:
            return self.moments, self.support
        return self.moments.take(self._rows), support_of_rows(self.support, self._rows)

    def _place(self, level: int, look: FirstLook) -> set[int]:
        """Record rows outside the moment body; return those nobody could decide."""
        for place, placement in look.refused.items():
            self._refuse(int(self._rows[place]), level, placement)
        return {int(self._rows[place]) for place in look.doubtful}

    def _settle(self, level: int, family: Family, solved: DualSolution, doubtful: set[int]) -> None:
        """Turn what the solver could not do into reasons; the boundary outranks the others."""
        rounding = solved.moment_rounding
        if not solved.status.any() and rounding.max() <= USABLE_DEFICIT:
            return  # all converged
        coarse = (solved.status == Status.CONVERGED) & ~(rounding <= USABLE_DEFICIT)
        solved.status[coarse] = Status.ROUNDING
        for k in np.flatnonzero(solved.status != Status.CONVERGED):
            row, status = int(self._rows[k]), Status(int(solved.status[k]))
            placement = second_look(family, self.support, row)
            if placement.verdict is Verdict.OUTSIDE:
                self._refuse(row, level, placement)
                continue
            if row in doubtful:
                status = undecided_status(status, float(solved.residual[k]))
            else:
                status = borne_out(status, placement)
            words = _words(solved, int(k), status, by_rows=self.support is not None)
            words = "; ".join(part for part in (words, placement.words) if part)
            self.failures[row] = self._failure(level, status, words)

    def _refuse(self, row: int, level: int, placement: Placement) -> None:
        """Without a fit for certain, or as far as anybody can tell who does not look for one."""
        words, shown_by = placement.words, placement.certificate
        certain = placement.verdict is Verdict.OUTSIDE
        if self.support is None and not certain:
            words = _BY_MOMENTS
        status = Status.BOUNDARY if certain else Status.TOUCHING
        self.failures[row] = self._failure(level, status, words, shown_by)

    def _failure(
        self, level: int, status: Status, words: str, shown_by: Certificate | None = None
    ) -> Failure:
        hierarchy = self.hierarchy
        instead = hierarchy.instead if level > 1 else ""
        if status is Status.UNRESOLVED:
            instead = hierarchy.smoother or instead
        return Failure(level, status, words, shown_by, hierarchy.enough, instead)


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
    if status is Status.TOUCHING and not by_rows:
        return _BY_MOMENTS
    return "" if status in _BOUNDARIES else _OURS
