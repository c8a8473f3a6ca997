"""The fits of all levels to a stack of samples: deficits and gaps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import BoundaryError, ConvergenceError, LevelError, ResolutionError
from steradian.existence.body import examine_face
from steradian.existence.certificate import Certificate
from steradian.existence.placement import Placement, Verdict
from steradian.families.base import Family
from steradian.fitting.newton import ROUNDED_RESIDUAL
from steradian.fitting.shrinkage import Shrinkage
from steradian.fitting.solution import DualSolution, Status
from steradian.hierarchies import Harmonics
from steradian.numerics.arrays import Array, IntArray
from steradian.spaces import Sphere

ROUNDING_TOLERANCE = 2e-7  # nats of deficit that rounding of the moments may move

_INSIDE = int(Verdict.INSIDE)
_OURS = "a limit of this software, not of the data"
_FEWER = "ask for fewer levels"
_MIX = ", or mix in a little of the uniform law (shrinkage=0.01)"
_ERRORS: dict[Status, tuple[type[LevelError], str]] = {
    Status.BOUNDARY: (BoundaryError, _FEWER),
    Status.UNRESOLVED: (ResolutionError, _FEWER),
    Status.ROUNDING: (ResolutionError, _FEWER),
    Status.STALLED: (ConvergenceError, _FEWER),
}


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a row has no fit from some level on."""

    level: int
    status: Status
    words: str = ""
    certificate: Certificate | None = None

    def error(self) -> LevelError:
        """The exception that says so."""
        kind, remedy = _ERRORS[self.status]
        cause = self.status.sentence + (f" ({self.words})" if self.words else "")
        if self.level > 1:
            remedy += f" (levels={self.level - 1} is sound)"
        elif self.status is Status.BOUNDARY:
            remedy = "give at least two different directions"
        if self.status is Status.BOUNDARY:
            found = BoundaryError(self.level, cause, remedy + _MIX)
            found.certificate = self.certificate
            return found
        return kind(self.level, cause, remedy)


@dataclass(frozen=True, slots=True)
class _Judge:
    """Says from the support whether rows have a fit."""

    hierarchy: Harmonics
    support: Support

    def examine(self, row: int, level: int) -> Placement:
        """Before any iteration: what is exact and quick."""
        return self.hierarchy.family(level).examine(*self.support(row))

    def examine_failed(self, row: int, level: int) -> Placement:
        """After the solver has failed: by every means there is."""
        if level < 3 or not isinstance(self.hierarchy.space, Sphere):
            return Placement(Verdict.INSIDE)  # the first look was exact
        x, _ = self.support(row)
        return examine_face(x, level)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NestedFits:
    """Fits of levels 1..L to B rows; a failed row is NaN from its failing level on."""

    hierarchy: Harmonics
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

    def __repr__(self) -> str:
        rows, levels = self.deficits.shape
        return f"NestedFits({rows} rows, {levels} levels, {len(self.failures)} stopped)"

    def up_to(self, hierarchy: Harmonics) -> NestedFits:
        """The fits of the first levels only, all of them sound."""
        return NestedFits(hierarchy, self.solutions[: hierarchy.levels], {})


def fit_levels(
    hierarchy: Harmonics,
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
            moments = moments.toward_uniform(shrinkage.epsilon)
    rows = np.arange(len(moments))
    failures: dict[int, Failure] = {}
    solutions: list[DualSolution] = []
    lam = np.zeros((len(moments), 0))
    judge = _Judge(hierarchy, support) if support is not None else None
    for level in range(1, hierarchy.levels + 1):
        family = hierarchy.family(level)
        doubtful = _place(family, level, moments, rows, judge, failures)
        if failures:
            keep = np.array([r not in failures for r in rows.tolist()], dtype=bool)
            rows, lam = rows[keep], lam[keep]
        if not len(rows):
            solutions.append(DualSolution.empty(len(moments), family.q))
            continue
        start = np.zeros((len(rows), family.q))
        start[:, : lam.shape[1]] = lam
        solved = family.solve(
            moments.take(rows) if failures else moments, start, _of_rows(support, rows)
        )
        _settle(level, solved, rows, doubtful, judge, failures)
        if failures:
            good = np.flatnonzero(solved.status == Status.CONVERGED)
            rows, solved = rows[good], solved.take(good)
            out = DualSolution.empty(len(moments), family.q)
            out.put(rows, solved)
            solutions.append(out)
        else:
            solutions.append(solved)
        lam = solved.lam
        below = shrinkage is not None and shrinkage.toward == "below"
        if below and len(rows) and level < hierarchy.levels:
            law = hierarchy.moments_of(lam, moments.mean[rows])
            mixed = moments.take(rows).toward(law, shrinkage.epsilon)  # type: ignore[union-attr]
            moments = moments.with_rows(rows, mixed)
    return NestedFits(hierarchy, tuple(solutions), failures)


def _of_rows(support: Support | None, rows: IntArray) -> Support | None:
    """The support of the rows still in play, by their place among them."""
    return None if support is None else lambda place: support(int(rows[place]))


def _place(
    family: Family,
    level: int,
    moments: MomentStack,
    rows: IntArray,
    judge: _Judge | None,
    failures: dict[int, Failure],
) -> set[int]:
    """Record the rows outside the moment body; return those nobody could decide."""
    if not len(rows):
        return set()
    verdicts = family.contains(moments if len(rows) == len(moments) else moments.take(rows))
    if judge is None:
        for row in rows[verdicts == Verdict.OUTSIDE].tolist():
            failures[row] = Failure(level, Status.BOUNDARY)
        return set(rows[verdicts == Verdict.UNSURE].tolist())
    if verdicts.min() == _INSIDE and not family.needs_support:
        return set()
    for row in rows[(verdicts != Verdict.INSIDE) | family.needs_support].tolist():
        _record(judge.examine(row, level), row, level, failures)
    return set()


def _record(placement: Placement, row: int, level: int, failures: dict[int, Failure]) -> bool:
    """Note a row that lies on the boundary; tell whether it does."""
    if placement.verdict is not Verdict.OUTSIDE:
        return False
    failures[row] = Failure(level, Status.BOUNDARY, placement.words, placement.certificate)
    return True


def _settle(
    level: int,
    solved: DualSolution,
    rows: IntArray,
    doubtful: set[int],
    judge: _Judge | None,
    failures: dict[int, Failure],
) -> None:
    """Turn what the solver could not do into reasons; the boundary outranks the others."""
    rounding = solved.moment_rounding
    if not solved.status.any() and rounding.max() <= ROUNDING_TOLERANCE:
        return  # all converged
    coarse = (solved.status == Status.CONVERGED) & ~(rounding <= ROUNDING_TOLERANCE)
    solved.status[coarse] = Status.ROUNDING
    for k in np.flatnonzero(solved.status != Status.CONVERGED):
        row = int(rows[k])
        placement = judge.examine_failed(row, level) if judge else Placement(Verdict.INSIDE)
        if _record(placement, row, level, failures):
            continue
        status = Status(int(solved.status[k]))
        if row in doubtful:
            found = status is Status.ROUNDING and solved.residual[k] <= ROUNDED_RESIDUAL
            status = status if found else Status.BOUNDARY
            words = "to the rounding of the moments"
        else:
            words = _words(solved, int(k), by_rows=judge is not None)
        words = "; ".join(part for part in (words, placement.words) if part)
        failures[row] = Failure(level, status, words)


def _words(solved: DualSolution, k: int, *, by_rows: bool) -> str:
    """What stopped the solver in row ``k`` of a stack."""
    status, rounding = Status(int(solved.status[k])), float(solved.moment_rounding[k])
    if status is Status.ROUNDING:
        found = f"the features are collinear under the fit, condition {solved.condition[k]:.0e}"
        if rounding > ROUNDING_TOLERANCE:
            found = f"their rounding moves the deficit by {rounding:.1e} nats"
        return found if by_rows else f"{found}; the directions themselves may determine it"
    if status is Status.UNRESOLVED:
        return f"error {solved.quadrature[k]:.1e} with {solved.nodes[k]} nodes, {_OURS}"
    return "" if status is Status.BOUNDARY else _OURS
