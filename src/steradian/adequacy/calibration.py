"""Could a residual this large be sampling? Its p-value under the fit and the design.

``a² R²`` is, when p_L is the law and to first order, a weighted sum of χ²_1 variables. For rows
of one law (designs iid and fixed) the coefficients are the eigenvalues of the covariance of the
leftover under the fit itself; for other designs those of its covariance over the units. The
latter spread too widely when there are as many features as units, where random signs on the
units do not. Where the sample is small the signs move the moments of the fit and the fit is
made again: samples drawn from the fit would not do, since it is sharper than the law itself. Of
closed forms, whose rows are never formed, samples are drawn from a law that is as much less sharp
as the length of a mean is too long.

**Resting on few units.** A sum over units is close to normal only when none of them decides it.
Where two carry more than half of the variance of what a level leaves over, a fit that looks
adequate was bent by those very units, and the law the residual is held against is theirs. Then
nothing is known about the others, and the rows are named.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

from steradian.adequacy.leftover import GriddedLeftover, Leftover
from steradian.arguments import one_of, seed_number, whole_number
from steradian.data.stacks import MomentStack
from steradian.designs.base import Design
from steradian.diagnostics import (
    NOT_COMPUTED,
    REFUSED,
    Diagnostic,
    MethodCode,
    PvalueMethod,
    at_level,
    distinct,
)
from steradian.errors import DesignError, ResolutionError
from steradian.hierarchies.base import Hierarchy
from steradian.inference import concerns, effort
from steradian.inference.effort import Patience, TakesLong
from steradian.inference.level_tests import FEWEST_PER_FEATURE
from steradian.inference.monte_carlo import ENOUGH_OF_RESIDUALS, monte_carlo_test
from steradian.inference.sample import Sample
from steradian.inference.scores import row_blocks, scores_of, streamed_scores
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.tolerances import BEYOND_DOUBT, TINY
from steradian.progress import drawn_chunks

MOST_SHARE = 0.5  # of the variance of what is left over, by at most `_FEW` units
_FEW = 2
_COUNTS = 0.1  # of that share: less does not make a unit one of them
_ENTRIES = 20_000_000  # features looked at; of more rows only the farthest and some others
_LOOKED_AT = 20_000
_SOME = 2_000  # rows that show how much all carry at least


def resting_on(sample: Sample, left: Leftover) -> Diagnostic | None:
    """The one or two units that decide about a level; None when none do."""
    return sample.memo.once(("resting", left), lambda: _resting_on(sample, left))


def _resting_on(sample: Sample, left: Leftover) -> Diagnostic | None:
    if not sample.has_rows or sample.units.effective <= _FEW:
        return None
    held = sample.units.unit_weights
    heaviest = int(np.argmax(held))
    if held[heaviest] > MOST_SHARE:
        data = _deciding(sample, np.array([heaviest]), float(held[heaviest]))
        return Diagnostic("rests_by_weight", left.level, data)
    if _cannot_rest(sample, left):
        return None
    looked = _looked_at(sample, left)
    share = _shares(sample, left, looked)
    top = np.argsort(share)[::-1][:_FEW]
    carried = float(share[top].sum())
    if not carried > MOST_SHARE:
        return None
    top = top[share[top] > _COUNTS * carried]
    data = _deciding(sample, top if looked is None else looked[top], carried)
    return Diagnostic("rests_by_variance", left.level, data)


def _deciding(sample: Sample, units: IntArray, share: float) -> dict[str, Any]:
    """Units, in their order, and what they carry together."""
    named = [sample.units.identity(int(unit)) for unit in np.sort(units)]
    return {"units": named, "share": share}


def _cannot_rest(sample: Sample, left: Leftover) -> bool:
    """Whether no few rows can carry that much: some of the rows carry far more than these could.

    With ξ = √a {φ_v - μ_v - (φ_u - μ_u) slope}, no |ξ| is larger than what the lengths of φ_v and
    φ_u allow, and what some rows add up to is the least that all of them do.
    """
    units, rows, each = sample.units, sample.rows, left.by_rows
    if units.labels is not None or each is None or rows.n <= 2 * _SOME:
        return False
    longest = each.longest
    if longest is None:
        return False
    most = float(units.weights.max()) * longest
    some = np.linspace(0, rows.n - 1, _SOME).astype(np.int64)
    carried = float(((units.weights[some] * left.sizes(rows.x[some])) ** 2).sum())
    return _FEW * most**2 <= MOST_SHARE * carried


def _looked_at(sample: Sample, left: Leftover) -> IntArray | None:
    """All rows, or of very many the farthest from the mean and some that stand for the rest."""
    units, rows = sample.units, sample.rows
    if units.labels is not None or rows.n * left.width <= _ENTRIES:
        return None
    far = units.weights * np.linalg.norm(rows.x - units.weights @ rows.x, axis=1)
    half = _LOOKED_AT // 2
    farthest = np.argpartition(far, -half)[-half:]
    return np.union1d(farthest, np.linspace(0, rows.n - 1, half).astype(np.int64))


def _shares(sample: Sample, left: Leftover, looked: IntArray | None) -> Array:
    """Each unit's share of Σ|ξ|²."""
    units, rows = sample.units, sample.rows
    pick = np.arange(rows.n) if looked is None else looked
    if units.labels is None:
        phi = _features(sample, left)
        seen = left.sizes(rows.x[pick], None if phi is None else phi[pick])
        squares = (units.weights[pick] * seen) ** 2
    elif left.by_rows is not None:
        each = left.by_rows
        phi = _features(sample, left)
        zeta = each.rows(rows.x[None], None if phi is None else phi[None])[0]
        parts = units.weights[:, None] * zeta[:, each.below :]
        parts = units.within_strata(units.gather(parts))
        squares = units.factors * np.einsum("uq,uq->u", parts, parts)
    else:
        return np.zeros(units.count)
    return np.asarray(squares / max(float(squares.sum()), TINY))


def _features(sample: Sample, left: Leftover) -> Array | None:
    return None if left.by_rows is None else sample.features(left.hierarchy)


Method = Literal["exact", "bootstrap"]
METHODS: tuple[Method, ...] = ("exact", "bootstrap")
ROWS_PER_MATCHED = 20  # rows per matched feature from which the exact law of the model holds
_UNITS_PER_FEATURE = 50  # units per feature from which the covariance over units does
_LONGEST = 8e8  # work of a bootstrap that nobody asked for, more than a minute: else asymptotic
_OF_NODE = 0.03  # work of a feature at a node in a quick fit of a replicate
_FIRST = 32  # replicates of the first piece
_SOME_WITHOUT_FIT, _MOST_WITHOUT_FIT = (
    0.02,
    0.2,
)  # share of replicates without a fit to tell, and to refuse


def _unlimited() -> Patience:
    return Patience(call="residuals()")


@dataclass(frozen=True, slots=True)
class Calibration:
    """How residuals are turned into p-values, which no patience changes: see `effort`."""

    method: Method | None = None
    replicates: int = 999
    seed: int = 0
    patience: Patience = field(default_factory=_unlimited, compare=False)

    def __post_init__(self) -> None:
        if self.method is not None:
            one_of(self.method, "method", METHODS)
        whole_number(self.replicates, "replicates", least=19)
        seed_number(self.seed)


@dataclass(frozen=True, slots=True)
class Judged:
    """A p-value, how it was found, and what speaks against it."""

    pvalue: float
    method: PvalueMethod
    diagnostics: tuple[Diagnostic, ...] = ()
    rough: bool = False  # an asymptotic law where the sample is small for it
    resting: Diagnostic | None = None  # the one or two units that decide; then it is not testable


@dataclass(frozen=True, eq=False)
class Calibrated:
    """A distance between data and the fit of each level, with what it means under the design."""

    levels: IntArray
    judged: tuple[Judged, ...]
    of_design: Design

    @property
    def design(self) -> str:
        """Name of the design."""
        return self.of_design.name

    @property
    def pvalue(self) -> Array:
        """If the fit of the level were the law, (L,); NaN, with a diagnostic, where not known.

        Raises
        ------
        DesignError
            For a design that defines none.
        """
        if not self.of_design.defines_inference:
            raise self.of_design.refusal()
        return np.array([one.pvalue for one in self.judged])

    @property
    def methods(self) -> tuple[PvalueMethod, ...]:
        """How each p-value was found."""
        return tuple(one.method for one in self.judged)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What speaks against trusting a p-value."""
        return distinct(d for one in self.judged for d in one.diagnostics)

    def judgements(self) -> dict[str, Any]:
        """Levels, p-values, methods and diagnostics as plain lists."""
        return {
            "design": self.design,
            "levels": self.levels.tolist(),
            "pvalue": [one.pvalue for one in self.judged],
            "methods": [one.to_dict() for one in self.methods],
            "resting": [one.resting and one.resting.to_dict() for one in self.judged],
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }


def not_computed(error: TakesLong) -> Judged:
    """No p-value, since it is more work than may be begun."""
    return Judged(np.nan, NOT_COMPUTED, (error.diagnostic,))


def refused_or(sample: Sample, level: int, how: Calibration, judge: Callable[[], Judged]) -> Judged:
    """The p-value; where the design or the sums have none, the reason instead.

    Raises
    ------
    DesignError
        When the method was asked for; `TakesLong` when it is more work than may be begun.
    """
    if not sample.design.defines_inference:
        return Judged(np.nan, PvalueMethod(MethodCode.UNDEFINED))
    try:
        return judge()
    except TakesLong:
        raise
    except (DesignError, ResolutionError) as error:
        if how.method is not None:
            raise
        return Judged(np.nan, REFUSED, (at_level(level, error.diagnostic),))


def judged(sample: Sample, left: Leftover, squared: float, how: Calibration) -> Judged:
    """The p-value of a residual R² of one level."""
    untold = concerns.untold(left.level, sample, left.hierarchy.levels)
    if untold is not None:
        return Judged(np.nan, REFUSED, (untold,))
    if squared <= left.noise**2:
        lost = Diagnostic("residual_is_rounding", left.level, {"value": float(np.sqrt(squared))})
        return Judged(np.nan, PvalueMethod(MethodCode.NOTHING), (lost,))
    if not sample.has_rows:
        return _from_sums(sample, left, squared, how)
    resting = resting_on(sample, left)
    if resting is None:
        return _judged_by_rows(sample, left, squared, how)
    plain = how if how.method else replace(how, method="exact")  # no replicate tells more
    found = _judged_by_rows(sample, left, squared, plain)
    return replace(found, resting=resting, diagnostics=(*found.diagnostics, resting))


def _judged_by_rows(sample: Sample, left: Leftover, squared: float, how: Calibration) -> Judged:
    of_rows = sample.units.rows_of_one_law
    _check_units(sample, left, of_rows)
    if how.method == "bootstrap":
        found = _bootstrapped(sample, left, squared, how)
        assert found is not None  # who asks waits
        return found
    exact = _exact(sample, left, squared, of_rows, how)
    if exact.pvalue <= BEYOND_DOUBT or _holds(sample, left, of_rows):
        return exact
    work = how.replicates * left.work(len(sample.units.weights))
    if how.method is None and work <= _LONGEST:
        how.patience.begin(left.level, _expected_work(sample, left, exact.pvalue, how))
        found = _bootstrapped(sample, left, squared, how)
        if found is not None:
            return found
    count = float(sample.rate**2 if of_rows else sample.units.effective)
    warned = (Diagnostic("small_sample", left.level, {"n": count}),) if how.method is None else ()
    return replace(exact, rough=True, diagnostics=warned)


def _expected_work(sample: Sample, left: Leftover, pvalue: float, how: Calibration) -> float:
    """Work of the replicates after which a p-value near this one is settled, found quickly."""
    draws = effort.expected_draws(pvalue, how.replicates, ENOUGH_OF_RESIDUALS)
    one = left.work(len(sample.units.weights))
    if left.level and left.by_rows is not None:
        nodes = float(sample.nested.solutions[left.level - 1].nodes[0])
        one += _OF_NODE * nodes * left.hierarchy.q(left.hierarchy.levels)
    return draws * one


def _check_units(sample: Sample, left: Leftover, of_rows: bool) -> None:
    if left.by_rows is None:
        return
    units, below = sample.units, left.by_rows.below
    free = units.effective if of_rows else units.dof
    if free < FEWEST_PER_FEATURE * below:
        data = {"units": int(units.effective), "what": units.what, "features": int(below)}
        raise DesignError(Diagnostic("few_units_for_residuals", left.level, data))


def _exact(
    sample: Sample, left: Leftover, squared: float, of_rows: bool, how: Calibration
) -> Judged:
    if of_rows:
        pvalue = _tail(sample.rate**2 * squared, left.coefficients)
        return Judged(pvalue, PvalueMethod(MethodCode.EXACT_TAIL, "model"))
    each = left.by_rows
    if each is None:
        raise _only_rows(sample)
    rows, units = sample.rows, sample.units
    how.patience.begin(left.level, effort.of_rows(rows.n, each.below + each.q))
    if units.labels is None:
        found = streamed_scores(rows, units, each, "null")
        coefficients, dof = found.coefficients, found.dof
    else:
        scores = scores_of(rows, units, each, sample.features(each.hierarchy))
        coefficients, dof = scores.coefficients("null")[0], scores.tail_dof("null")
    pvalue = _tail(0.5 * sample.rate**2 * squared, coefficients, dof)
    return Judged(pvalue, PvalueMethod(MethodCode.EXACT_TAIL, "units"))


def _holds(sample: Sample, left: Leftover, of_rows: bool) -> bool:
    """Whether the sample is large enough for the asymptotic law."""
    each = left.by_rows
    if each is None:
        above = left.hierarchy.family(left.hierarchy.levels)
        return above.chi_square_lead(sample.rate) <= concerns.CHI_SQUARE_SHIFT
    if of_rows:
        return sample.rate**2 >= ROWS_PER_MATCHED * each.below
    return sample.units.effective >= _UNITS_PER_FEATURE * (each.below + each.q)


def _tail(value: float, coefficients: Array, dof: float = np.inf) -> float:
    return float(mixture_sf([value], coefficients[None], dof)[0])


def _from_sums(sample: Sample, left: Leftover, squared: float, how: Calibration) -> Judged:
    """From moments or a known covariance."""
    if how.method == "bootstrap":
        raise DesignError("bootstraps need the rows of a design with units; use method='exact'")
    name = sample.design.name
    if sample.design.rows_of_one_law:
        pvalue = _tail(sample.rate**2 * squared, left.coefficients)
        return Judged(pvalue, PvalueMethod(MethodCode.EXACT_TAIL, "model"))
    each = left.by_rows
    if each is None:
        raise DesignError(Diagnostic("rows_needed_above_three", left.level, {"design": name}))
    held, asked = sample.hierarchy.levels, left.hierarchy.levels
    if asked > held:
        data = {"design": name, "held": int(held), "asked": int(asked)}
        raise DesignError(Diagnostic("covariances_to_degree", left.level, data))
    sigma = sample.covariance(asked, each.mean)
    project = np.hstack([-each.slope.T, np.eye(each.q)]) * each.scale[:, None]
    omega = np.linalg.eigvalsh(project @ sigma @ project.T)[::-1]
    pvalue = _tail(sample.rate**2 * squared, np.maximum(omega, 0.0))
    known = "sums" if sample.design.known_covariance is None else "known"
    return Judged(pvalue, PvalueMethod(MethodCode.EXACT_TAIL, known))


class _Endless(Exception):
    """Replicates that nobody asked for take too much work."""


def _bootstrapped(
    sample: Sample, left: Leftover, squared: float, how: Calibration
) -> Judged | None:
    """Where a residual stands among those of replicates, each fitted again.

    None where nobody asked for them and so many have to be fitted by themselves that the
    asymptotic law serves.
    """
    squared *= sample.own_share  # replicates know their own noise alone
    each = left.by_rows
    stacks = _samples_of_fit(sample, left, how) if each is None else _signed(sample, each, how)
    work, most = 0.0, np.inf if how.method else _LONGEST
    of_fit = effort.of_fits(sample, left.level)

    def fits(count: int) -> None:
        nonlocal work
        work += count * of_fit
        if work > most:
            raise _Endless
        how.patience.begin(left.level, count * of_fit)

    null = (left.squares_of(stack, squared, fits) for stack in stacks)
    parametric = each is None
    code = MethodCode.PARAMETRIC_BOOTSTRAP if parametric else MethodCode.MULTIPLIER_BOOTSTRAP
    try:
        return bootstrap_pvalue(squared, null, left.level, PvalueMethod(code))
    except _Endless:
        return None


def bootstrap_pvalue(
    squared: float, null: Iterator[Array], level: int, method: PvalueMethod
) -> Judged:
    """A squared distance among those of replicates, NaN for one without a fit."""
    found = monte_carlo_test(squared, null, ENOUGH_OF_RESIDUALS)
    data = {"share": found.without_fit}
    if found.without_fit > _MOST_WITHOUT_FIT:
        raise DesignError(Diagnostic("most_replicates_without_fit", level, data))
    some = found.without_fit > _SOME_WITHOUT_FIT
    said = (Diagnostic("some_replicates_without_fit", level, data),) if some else ()
    return Judged(found.pvalue, method, said)


def _samples_of_fit(sample: Sample, left: Leftover, how: Calibration) -> Iterator[MomentStack]:
    """Moments of samples drawn from the law behind the fit, with the observed weights."""
    if not sample.units.rows_of_one_law:
        raise _only_rows(sample)
    d, w = sample.hierarchy.space.d, sample.units.weights
    fit = sample.fits[left.level]
    rng = np.random.default_rng([how.seed, left.level + 1])
    what = f"samples of the fit of level {left.level}"
    for piece in drawn_chunks(how.replicates, len(w) * d, what, first=_FIRST):
        count = piece.stop - piece.start
        x = left.draws(fit, sample.own_rate, count * len(w), rng).reshape(count, len(w), d)
        yield left.hierarchy.stack(x, np.broadcast_to(w, (count, len(w))))


def _only_rows(sample: Sample) -> DesignError:
    data = {"design": sample.design.name}
    return DesignError(Diagnostic("residuals_of_one_law_only", data=data))


def _signed(sample: Sample, left: GriddedLeftover, how: Calibration) -> Iterator[MomentStack]:
    """Moments of the fit, moved by what each unit contributes with a random sign."""
    contributions = _contributions(sample, left.hierarchy, left.mean)
    rng = np.random.default_rng([how.seed, left.level])
    what = f"level {left.level}: random signs"
    for piece in drawn_chunks(how.replicates, sum(contributions.shape), what, first=_FIRST):
        signs = rng.integers(0, 2, (piece.stop - piece.start, len(contributions))) * 2.0 - 1.0
        yield left.hierarchy.stack_of_means(left.mean + signs @ contributions)


def _contributions(sample: Sample, hierarchy: Hierarchy, centre: Array) -> Array:
    """What each unit adds to the moments, with the factor of its design, (count, q)."""
    units = sample.units
    out = np.zeros((units.count, len(centre)))
    labels = np.arange(units.count) if units.labels is None else units.labels
    held = sample.features(hierarchy)
    for rows, x in row_blocks(sample.rows, len(centre)):
        phi = hierarchy.features(x) if held is None else held[rows]
        part = units.weights[rows, None] * (phi - centre)
        np.add.at(out, labels[rows], part)
    return np.asarray(np.sqrt(units.factors)[:, None] * units.within_strata(out))
