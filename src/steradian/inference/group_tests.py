"""Tests of a comparison: the same law at all, and level by level what differs.

**Own lengths** are equal where groups are equally concentrated, wherever each points. Along the
pooled mean u a group of mean vector m_g has u·m_g = R_g cos α_g: of groups that point apart these
differ though all R_g = |m_g| agree. The lengths themselves do not feel α_g. With the variance v_g
= u_gᵀ V_g u_g of R_g along the group's own direction u_g, and |m_g|² less the variance across it,
which noise adds,

    T = Σ (R_g - R*)² / v_g,    R* = Σ (R_g / v_g) / Σ (1 / v_g),

is compared with what it is after whole units, each turned with its group's mean to one place, were
shuffled. Where labels cannot be shuffled it is referred to Welch's F law (Biometrika 38, 1951); of
groups that have units in common, with the joint covariance in place of the v_g, to Hotelling's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import fdtrc

from steradian.arguments import one_of, seed_number, whole_number
from steradian.designs.base import Units
from steradian.diagnostics import (
    REFUSED,
    Diagnostic,
    MethodCode,
    PvalueMethod,
    at_level,
    distinct,
)
from steradian.errors import DesignError, SteradianError
from steradian.families.whitening import inverse_roots
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.inference.gap_tests import holm
from steradian.inference.group_steps import (
    Step,
    StepTest,
    level_step,
    means_test,
    part_steps,
    shuffling_refusal,
    step_test,
)
from steradian.inference.monte_carlo import Replicates
from steradian.inference.permutation import (
    PermutationTest,
    PooledScore,
    StudentisedMeans,
    none_can_move,
    parts_of_units,
    permutation_test,
    shuffled_together,
)
from steradian.inference.sample import GroupedSample
from steradian.inference.scores import MOST_ENTRIES
from steradian.io.records import without_nan
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import EQUAL_WEIGHTS, SPREADLESS
from steradian.text.phrases import say
from steradian.text.table import Column, Table

_FELT = 0.1  # non-centrality of two groups, from which a test of size 5 % rejects 6 % and more
_CLEAR = 4.0  # of its mean square error, above which the square of a mean has a direction


@dataclass(frozen=True, slots=True, eq=False)
class OwnLengths:
    """Lengths of the groups' mean vectors of level 1."""

    own: Array  # (G, k) the groups' directions u_g
    seen: Array  # (G,) |m_g|
    length: Array  # (G,) the same less what noise adds
    along: Array  # (G,) u·m_g with the pooled direction u
    clear: BoolArray  # (G,) whether a group has a direction of its own
    covariance: Array  # (G, G) of the lengths
    units: Array  # (G,) effective units of the groups
    shared: int  # units in all, where some have rows of several groups; else 0
    full: float  # the length of a mean without any spread

    @property
    def resultants(self) -> Array:
        """Mean resultant lengths, (G,), at most one."""
        return self.seen / self.full

    @property
    def sound(self) -> bool:
        """Whether lengths have a covariance that can be inverted."""
        spread = bool((np.diag(self.covariance) > SPREADLESS * self.seen**2).all())
        return spread and bool(self.units.min() > 1.0) and not 0 < self.shared <= len(self.seen)

    @property
    def felt(self) -> bool:
        """Whether groups point so far apart that their parts along the pooled mean show it."""
        if not self.sound:
            return False
        away = np.where(self.clear, self.length - self.along, 0.0)
        return _distance(away, self.covariance)[0] > _FELT * (len(away) - 1.0) ** 0.5

    def judged(self) -> tuple[float, float]:
        """T, and the p-value of equal lengths by an F law."""
        found, weights = _distance(self.length, self.covariance)
        g = len(weights)
        if self.shared:
            rest = self.shared - g + 1.0
            return found, float(fdtrc(g - 1.0, rest, found * rest / ((g - 1.0) * (rest + g - 2.0))))
        lack = float(((1.0 - weights / weights.sum()) ** 2 / (self.units - 1.0)).sum())
        square = g * g - 1.0
        scaled = found / (g - 1.0) / (1.0 + 2.0 * (g - 2.0) / square * lack)
        return found, float(fdtrc(g - 1.0, square / (3.0 * lack), scaled))


def equal_lengths(sample: GroupedSample, many: Replicates) -> StepTest | None:
    """The test of equal lengths where groups point so far apart that it is needed; else None."""
    try:
        found = own_lengths(sample)
    except DesignError:  # no covariances of groups
        return None
    if found is None or not found.felt:
        return None
    if not sample.has_units or shuffling_refusal(sample) is not None:
        statistic, pvalue = found.judged()
        return StepTest(0.5 * statistic, pvalue, PvalueMethod(MethodCode.LENGTHS_F))
    shuffled = permutation_test(
        _turned(sample, found),
        sample.group_of_unit,
        sample.observed_units.strata,
        many.permutations,
        many.seed,
    )
    how = PvalueMethod(MethodCode.LENGTHS_PERMUTATION)
    return StepTest(0.5 * shuffled.statistic, shuffled.pvalue, how)


def _turned(sample: GroupedSample, found: OwnLengths) -> StudentisedMeans:
    """Units by what they have along the mean of their own group."""
    rows, units = sample.known_rows, sample.observed_units
    x = np.asarray(sample.hierarchy.up_to(1).features(rows.directions.x))
    noise = found.seen - found.length
    t = np.einsum("ni,ni->n", x, found.own[rows.labels]) - noise[rows.labels]
    w = units.weights
    sums = units.gather((w * (t - w @ t))[:, None])
    return StudentisedMeans(sums, units.unit_weights)


def own_lengths(sample: GroupedSample) -> OwnLengths | None:
    """Of groups whose pooled mean has a direction; None without one."""
    frame, size = sample.levels.frame, sample.hierarchy.q(1)
    if frame is None:
        return None
    means, variances = sample.levels.means[:, :size], sample.variances[:, :size, :size]
    seen = np.linalg.norm(means, axis=1)
    own = means / np.where(seen > 0.0, seen, 1.0)[:, None]
    spread = np.einsum("gi,gij,gj->g", own, variances, own)
    whole = np.trace(variances, axis1=1, axis2=2)
    shared = sample.has_shared_units
    return OwnLengths(
        own=own,
        seen=seen,
        length=np.sqrt(np.maximum(seen**2 - (whole - spread), 0.0)),
        along=means @ frame[size - 1, :size],
        clear=seen**2 > _CLEAR * whole,
        covariance=_joint(sample, own) if shared else np.diag(spread),
        units=sample.units_per_group,
        shared=sample.units.effective if shared else 0,
        full=float(np.sqrt(size)),
    )


def _joint(sample: GroupedSample, own: Array) -> Array:
    """Covariance (G, G) of lengths along directions ``own`` (G, k) of groups that share units."""
    maps = np.zeros((len(own), sample.levels.means.shape[1], len(own)))
    for group, axis in enumerate(own):
        maps[group, : len(axis), group] = axis / sample.shares[group]
    return sample.variance_of_sum(maps)


def _distance(values: Array, covariance: Array) -> tuple[float, Array]:
    """Squared distance of ``values`` (G,) from being equal, and the pull of each on their mean."""
    precision = np.linalg.pinv(covariance, hermitian=True)
    pull = precision.sum(axis=1)
    away = values - pull @ values / pull.sum()
    return float(away @ precision @ away), pull


_APART = 0.01  # p-value of one direction, above which lengths along the pooled mean are their own

ComparisonMethod = Literal["default", "permutation"]


@dataclass(frozen=True, eq=False, repr=False)
class ComparisonTests(LevelFrame):
    """Tests of several groups.

    Attributes
    ----------
    levels : array of int, (L,)
    statistic, pvalue, pvalue_holm : arrays, (L,)
        ½ a² |r|² of each level, its p-value alone, and Holm's correction over the levels. NaN
        where a level cannot be tested; `diagnostics` say why.
    any_pvalue : float
        P-value of "all groups have the same law"; NaN where it cannot be tested.
    parts, parts_holm : mappings
        P-values of the parts of level 1, such as direction and concentration, alone and with Holm's
        correction over them and the levels above, at least that of level 1; empty without.
    methods : tuple of PvalueMethod
        Per level how the p-value was found.
    part_methods : mapping
        The same of the parts.
    diagnostics : tuple of Diagnostic
        What was refused, and what speaks against trusting a p-value.
    """

    _columns: ClassVar[tuple[str, ...]] = ("statistic", "pvalue", "pvalue_holm", "methods")

    levels: IntArray
    statistic: Array
    pvalue: Array
    any_pvalue: float
    overall_statistic: float
    parts: dict[str, float]
    methods: tuple[PvalueMethod, ...]
    overall_method: PvalueMethod
    diagnostics: tuple[Diagnostic, ...]
    design: str
    sentence: str
    part_methods: dict[str, PvalueMethod] = field(default_factory=dict)

    @property
    def pvalue_holm(self) -> Array:
        """Holm's step-down correction over the levels, (L,)."""
        return holm(self.pvalue)

    @property
    def parts_holm(self) -> dict[str, float]:
        """P-values of the parts of level 1, corrected with those of the levels above it.

        At least that of level 1: a part is looked into where the whole differs.
        """
        every = holm(np.array([*self.parts.values(), *self.pvalue[1:]]))
        gated = np.maximum(every, np.nan_to_num(self.pvalue_holm[0])).tolist()
        return dict(zip(self.parts, gated, strict=False))

    @property
    def far_apart(self) -> bool:
        """Whether groups point so far apart that their own mean resultant lengths were tested."""
        return any(how.of_own_lengths for how in self.part_methods.values())

    def __repr__(self) -> str:
        shown = ", ".join(f"{p:.3g}" for p in self.pvalue)
        return f"ComparisonTests(overall p = {self.any_pvalue:.3g}, levels p = {shown})"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON; NaN is None."""
        return {
            "design": self.design,
            "levels": self.levels.tolist(),
            "statistic": without_nan(self.statistic.tolist()),
            "pvalue": without_nan(self.pvalue.tolist()),
            "pvalue_holm": without_nan(self.pvalue_holm.tolist()),
            "any_pvalue": without_nan([self.any_pvalue])[0],
            "parts": {name: without_nan([p])[0] for name, p in self.parts.items()},
            "parts_holm": {name: without_nan([p])[0] for name, p in self.parts_holm.items()},
            "methods": [one.to_dict() for one in self.methods],
            "part_methods": {name: one.to_dict() for name, one in self.part_methods.items()},
            "overall_method": self.overall_method.to_dict(),
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }

    def _part_rows(self) -> list[tuple[str, str, float, str, object]]:
        corrected, methods = self.parts_holm, self.part_methods
        return [
            (f"  {name}", "", p, f"{corrected[name]:.3g}", methods.get(name, ""))
            for name, p in self.parts.items()
        ]

    def __str__(self) -> str:
        rows: list[tuple[str, str, float, str, object]] = [
            (say("same_distribution"), "", self.any_pvalue, "", self.overall_method)
        ]
        for k, level in enumerate(self.levels):
            size, holm = f"{self.statistic[k]:.4g}", f"{self.pvalue_holm[k]:.3g}"
            rows.append((f"level {level}", size, self.pvalue[k], holm, self.methods[k]))
            rows += self._part_rows() if level == 1 else []
        names, sizes, pvalues, corrected, methods = zip(*rows, strict=True)
        lines = [
            f"Do the groups differ? design {self.design}: {self.sentence}",
            "",
            *Table(
                Column("", names, width=16, left=True),
                Column("a²C", sizes, width=10),
                Column("p", pvalues, ".3g", 10),
                Column("Holm", corrected, width=10),
                Column("method", list(map(str, methods)), left=True, gap=2),
            ).lines(),
        ]
        return "\n".join([*lines, *(f"! {one}" for one in self.diagnostics)])


def comparison_tests(
    sample: GroupedSample, many: Replicates, method: ComparisonMethod = "default"
) -> ComparisonTests:
    """Test a comparison: the same law by permutation, levels by their scores."""
    one_of(method, "method", ("default", "permutation"))
    for name in ("permutations", "samples"):
        whole_number(getattr(many, name), name, least=19)
    seed_number(many.seed)
    check_groups(sample)
    if method == "permutation" and sample.hierarchy.levels > 1:
        raise DesignError(
            "a permutation p-value of level 2 or above supposes that the groups do not differ in "
            "the levels below either: shuffled labels have equal means, these groups need not. "
            "tests() tests each level given those below; its overall p-value is the permutation "
            "test of the same law"
        )
    overall, how, said = judged_same_law(sample, many)
    levels = range(1, sample.hierarchy.levels + 1)
    if method == "permutation":
        found = [means_test(sample, many)]
    else:
        found = [_tested(sample, level, many) for level in levels]
    parts, more = _parts(sample, many)
    more += [d for one in parts.values() for d in one.diagnostics]
    return ComparisonTests(
        levels=np.arange(1, sample.hierarchy.levels + 1),
        statistic=np.array([one.statistic for one in found]),
        pvalue=np.array([one.pvalue for one in found]),
        any_pvalue=overall.pvalue,
        overall_statistic=overall.statistic,
        parts={name: one.pvalue for name, one in parts.items()},
        part_methods={name: one.method for name, one in parts.items()},
        methods=tuple(one.method for one in found),
        overall_method=how,
        diagnostics=distinct([*said, *(d for one in found for d in one.diagnostics), *more]),
        design=sample.design.name,
        sentence=sample.design.sentence,
    )


def check_groups(sample: GroupedSample) -> None:
    """Raise `DesignError` where there is nothing to test."""
    sample.check_inference()
    if sample.count < 2:
        raise DesignError(Diagnostic("one_group"))


def _tested(sample: GroupedSample, level: int, many: Replicates) -> StepTest:
    try:
        return step_test(sample, level_step(sample, level), many)
    except DesignError as error:
        return StepTest.refused(at_level(level, error.diagnostic))


def _parts(sample: GroupedSample, many: Replicates) -> tuple[dict[str, StepTest], list[Diagnostic]]:
    """Tests of the parts of level 1, or why there are none."""
    hierarchy = sample.hierarchy
    names = hierarchy.level_one_parts
    if names is None or not sample.forms:
        return {}, []
    steps = part_steps(sample, names)
    if steps is None:
        data = {"parts": list(names)}
        return {}, [Diagnostic("level_one_not_split", data=data)]
    across, along = steps
    direction = _part(sample, across, many)
    apart = not direction.pvalue > _APART  # or nobody knows
    own = equal_lengths(sample, many) if apart else None
    return {across.name: direction, along.name: own or _part(sample, along, many)}, []


def _part(sample: GroupedSample, step: Step, many: Replicates) -> StepTest:
    try:
        return step_test(sample, step, many)
    except DesignError as error:
        return StepTest.refused(step.about(error.diagnostic))


def same_law(
    sample: GroupedSample, many: Replicates, some: tuple[int, ...] | None = None
) -> PermutationTest:
    """The permutation test of the same law, of all groups or of ``some`` of them.

    Of some of them it is NaN where no label of theirs can be shuffled within strata.
    """
    if sample.has_shared_units:
        return _same_law_within(sample, many, some)
    groups, units = sample.group_of_unit, sample.observed_units
    why = shuffling_refusal(sample)
    if why is not None:
        raise DesignError(why)
    scores, weights, strata = pooled_scores(sample, units), units.unit_weights, units.strata
    if some is not None:
        pick, groups = _of_some(groups, some, sample.count)
        scores, weights = [part[pick] for part in scores], weights[pick]
        strata = None if strata is None else strata[pick]
        if none_can_move(groups, strata):
            return PermutationTest(np.nan, np.nan, 0)
    statistic = PooledScore.of(scores, weights)
    return permutation_test(statistic, groups, strata, many.permutations, many.seed)


def _of_some(
    groups: IntArray, some: tuple[int, ...] | None, count: int
) -> tuple[IntArray, IntArray]:
    """Where units of some groups stand, and their groups counted anew."""
    if some is None:
        return np.arange(len(groups)), groups
    pick = np.flatnonzero(np.isin(groups, some))
    code = np.full(count, -1)
    code[list(some)] = np.arange(len(some))
    return pick, code[groups[pick]]


def _same_law_within(
    sample: GroupedSample, many: Replicates, some: tuple[int, ...] | None
) -> PermutationTest:
    """The same of units that have rows of several groups: what each has in one is a part.

    Labels of parts are shuffled within units, and labels of units that are in one group alone
    among such units.
    """
    parts, of_unit, of_part = parts_of_units(sample)
    pick, groups = _of_some(of_part, some, sample.count)
    strata, alone = shuffled_together(of_unit[pick], sample.observed_units.strata)
    if none_can_move(groups, strata):
        return PermutationTest(np.nan, np.nan, 0)
    scores = [part[pick] for part in pooled_scores(sample, parts)]
    statistic = PooledScore.within(scores, parts.unit_weights[pick], strata, alone)
    return permutation_test(statistic, groups, strata, many.permutations, many.seed)


def pooled_scores(sample: GroupedSample, units: Units) -> list[Array]:
    """Sums over units (U, k_l) of the features of every level, white under the pooled fit.

    That of the level below the highest where covariances of all features are not formed.
    """
    rows, hierarchy = sample.known_rows, sample.hierarchy
    if rows.directions.n * hierarchy.q(hierarchy.levels) > MOST_ENTRIES:
        raise DesignError(Diagnostic("too_many_to_shuffle"))
    levels, solved = hierarchy.levels, _exchangeable(sample).solutions
    top = hierarchy.family(levels)
    if sample.forms:
        rung = int(solved[-1].rungs[0])
        _, mean, covariance = top.resolved_by(rung).log_partition(solved[-1].lam)
        zeta = _white(sample, mean[0], inverse_roots(covariance)[0])
    else:
        below = solved[-2].lam if levels > 1 else np.zeros((1, 0))
        zeta = top.whitening(below).rows(rows.directions.x[None])[0]
    sums = units.gather(units.weights[:, None] * zeta)
    ends = [hierarchy.q(level) for level in range(1, levels)]
    return np.split(sums, ends, axis=1)


def _exchangeable(sample: GroupedSample) -> NestedFits:
    """The fit of all rows with the weights they were given, which does not know their labels."""
    weights = sample.observed_units.weights
    own = np.bincount(sample.known_rows.labels, weights=weights, minlength=sample.count)
    observed = own / own.sum()
    if np.abs(observed - sample.shares).max() <= EQUAL_WEIGHTS:
        return sample.whole
    found = fit_levels(sample.hierarchy, sample.levels.problem.moments.pooled(observed))
    if found.failures:
        raise found.failures[0].error(mixing=False)
    return found


def _white(sample: GroupedSample, mean: Array, inverse: Array) -> Array:
    """White features of the rows, (n, q)."""
    phi = sample.features
    if phi is None or not np.isfinite(inverse).all():
        raise DesignError(Diagnostic("rows_cannot_be_shuffled"))
    return np.asarray((phi - mean) @ inverse.T)


def judged_same_law(
    sample: GroupedSample, many: Replicates
) -> tuple[PermutationTest, PvalueMethod, list[Diagnostic]]:
    """The same with how it was found, or why it is refused."""
    check_groups(sample)
    try:
        found = same_law(sample, many)
    except SteradianError as error:
        none = PermutationTest(np.nan, np.nan, 0)
        why = error.diagnostic
        return none, REFUSED, [replace(why, data={**why.data, "part": say("same_distribution")})]
    shared = sample.has_shared_units
    code = MethodCode.PERMUTATION_WITHIN if shared else MethodCode.PERMUTATION
    return found, PvalueMethod(code, replicates=int(found.replicates)), []


_MOST_TESTED = 500  # pairs
_MOST_SHOWN = 12  # in print


@dataclass(frozen=True, eq=False, repr=False)
class Pairs:
    """Every two groups.

    Attributes
    ----------
    names : tuple of str
    distance : array, (G, G)
        √JS of the fits of two groups with equal shares: a metric, between 0 and √log 2 = 0.833.
    pvalue, pvalue_holm : arrays, (G, G)
        Of "the same law" by a permutation test, worked out when they are asked for, and with Holm's
        correction over all pairs; NaN on the diagonal.
    """

    names: tuple[str, ...]
    distance: Array
    _test: Callable[[int, int], float]

    @cached_property
    def pvalue(self) -> Array:
        """Of the same law, each pair alone, (G, G)."""
        count = len(self.names)
        if count * (count - 1) // 2 > _MOST_TESTED:
            raise DesignError(
                f"{count} groups have {count * (count - 1) // 2} pairs, and at most {_MOST_TESTED} "
                "are tested; compare some of the groups"
            )
        out = np.full((count, count), np.nan)
        for g, h in combinations(range(count), 2):
            out[g, h] = out[h, g] = self._test(g, h)
        return out

    @property
    def pvalue_holm(self) -> Array:
        """Corrected over all pairs, (G, G)."""
        upper = np.triu_indices(len(self.names), 1)
        out = np.full(self.pvalue.shape, np.nan)
        out[upper] = holm(self.pvalue[upper])
        return np.fmin(out, out.T)

    def __repr__(self) -> str:
        return f"Pairs({len(self.names)} groups)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON; NaN is None."""
        return {
            "names": list(self.names),
            "distance": self.distance.tolist(),
            "pvalue": without_nan(self.pvalue.tolist()),
            "pvalue_holm": without_nan(self.pvalue_holm.tolist()),
        }

    def __str__(self) -> str:
        pvalue, corrected = self.pvalue, self.pvalue_holm
        pairs = list(combinations(range(len(self.names)), 2))
        pairs.sort(key=lambda pair: -float(self.distance[pair]))
        lines = ["Which groups differ: √JS of their fits (at most 0.833), same law by permutation"]
        some = pairs[:_MOST_SHOWN]
        table = Table(
            Column("√JS", [self.distance[pair] for pair in some], ".3f", 7),
            Column("p", [pvalue[pair] for pair in some], ".3g", 9),
            Column("Holm", [corrected[pair] for pair in some], ".3g", 9),
            Column("", [f"{self.names[g]} – {self.names[h]}" for g, h in some], left=True, gap=2),
        )
        lines += ["", *table.lines()]
        more = len(pairs) - _MOST_SHOWN
        return "\n".join([*lines, *([f"… and {more} pairs that are closer"] if more > 0 else [])])
