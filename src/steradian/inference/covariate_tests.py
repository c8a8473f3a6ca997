"""Tests along a covariate: does direction depend on z at all, and in what?

A level is tested as a level of a comparison is (`inference.basis_whitening`): by the score of
b(z) ⊗ φ_l about the fit of W_{l-1}, referred to the damped law, or with uneven weights to that
centred at the null. Where Kish's number of rows is below ten per feature, level 1 is tested by a
studentised permutation and those above it by the p-value centred at the null among those of samples
of W_{l-1} at the observed z.

*Any dependence*: units exchange their z; the statistic is Σ T_al / (a l), T_al the squared score of
level l along the functions of order a, white under the fit of all rows.

*Studentised permutation* (DiCiccio and Romano, JASA 112, 2017): r = Σ w b(z_i) ⊗ y_i with
V = Σ w² (b bᵀ ⊗ y yᵀ), both anew for every permutation of z; the statistic rᵀ V⁻¹ r. Its law does
not depend on how y varies with z otherwise.

Level 1 in two: the *direction* is what depends on z across the mean of all rows, with
b(z) - c / R, c = Σ w b φ_∥, R = Σ w φ_∥, for the mean was estimated from the same rows. The
*concentration* is the length along the mean direction of the fit of W_1 at each z.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import chdtrc

from steradian.data.directions import Directions
from steradian.designs import Design
from steradian.designs.base import Units
from steradian.diagnostics import REFUSED, Diagnostic, MethodCode, PvalueMethod
from steradian.errors import DesignError, SteradianError
from steradian.families.whitening import inverse_roots
from steradian.fitting.covariate_levels import CovariateLevels
from steradian.fitting.nested import NestedFits
from steradian.hierarchies.base import Hierarchy
from steradian.inference.basis_whitening import BasisStep, BasisWhitening, whitening_of_laws
from steradian.inference.gap_tests import holm
from steradian.inference.group_steps import StepTest
from steradian.inference.monte_carlo import MonteCarlo, Replicates, monte_carlo_test
from steradian.inference.scores import (
    EVEN_WEIGHTS,
    FEWEST_ROWS,
    MOST_ENTRIES,
    PER_FEATURE,
    Scores,
    dominating,
    row_scores,
    unit_scores,
)
from steradian.io.records import without_nan
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.tolerances import DRAWN_RESIDUAL, SHUFFLED_TIE
from steradian.progress import drawn_chunks
from steradian.text.phrases import say
from steradian.text.table import Column, Table

_MOST_FEATURES = 400  # of one step, whose covariance is tilted
_MOST_SHUFFLED = 1_000_000_000  # multiplications of all permutations of a statistic
_FEWEST_PERMUTATIONS = 1999
_DRAWN_RULE = 32  # values of the covariate that stand for all in fits to drawn samples
_FIRST = 100  # drawn samples of the first chunk


@dataclass(frozen=True, eq=False)
class CovariateSample:
    """Rows with a covariate, their fits, and how the rows came about."""

    directions: Directions
    levels: CovariateLevels
    whole: NestedFits  # of one
    design: Design

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.levels.hierarchy

    @property
    def functions(self) -> int:
        """K."""
        return self.levels.rows.basis.size

    @cached_property
    def features(self) -> Array:
        """Features of the rows, (n, q)."""
        if self.directions.n * self.hierarchy.q(self.hierarchy.levels) > MOST_ENTRIES:
            raise DesignError(Diagnostic("too_many_rows_of_groups"))
        return np.asarray(self.hierarchy.features(self.directions.x))

    @cached_property
    def units(self) -> Units:
        """The independent units of the rows."""
        self.check_inference()
        return self.design.units_for(self.directions, self.hierarchy.features)

    def check_inference(self) -> None:
        """Raise `DesignError` where nothing can be inferred."""
        if not self.design.defines_inference or not self.design.has_units:
            raise self.design.refusal()

    @property
    def kish(self) -> float:
        """Units of equal weight that are worth as much as these."""
        shares = self.units.unit_weights
        return float(1.0 / (shares @ shares))

    @cached_property
    def z_of_unit(self) -> Array | None:
        """B of each unit (U, K); None where it differs within one."""
        b, labels = self.levels.rows.b[:, 1:], self.units.labels
        if labels is None:
            return b
        first = np.zeros(self.units.count, dtype=np.int64)
        first[labels[::-1]] = np.arange(len(labels))[::-1]
        return b[first] if np.array_equal(b[first][labels], b) else None

    def at_rows(self, values: Callable[[Array], Array]) -> Array:
        """``values`` of b (T, K + 1), (T, …), at all rows."""
        return self.levels.rows.at_rows(self.levels.rule, values)

    def means(self, theta: Array) -> Array:
        """E[φ | z] at the rows, (n, q), under parameters (K + 1, q)."""
        family = self.levels.problem.family
        return self.at_rows(lambda b: family.log_partition(b @ theta)[1])


@dataclass(frozen=True, slots=True, eq=False)
class CovariateStep:
    """One step of the decomposition along a covariate."""

    name: str  # as people call it
    level: int
    own: int
    added: int
    theta: Array  # (K + 1, q) of the fit of the smaller space
    frame: Array | None = None  # (q, q)
    across: bool = False

    def about(self, code: str, **data: Any) -> Diagnostic:
        """Something about this step."""
        part = {"part": self.name} if self.frame is not None else {}
        return Diagnostic(code, self.level, {**data, **part})


def level_step(sample: CovariateSample, level: int) -> CovariateStep:
    """From W_{level-1} to W_level."""
    own = sample.hierarchy.q(level - 1) if level > 1 else 0
    added = sample.hierarchy.q(level) - own
    theta = sample.levels.fits[level - 1].theta[0]
    return CovariateStep(f"level {level}", level, own, added, theta)


def step_whitening(sample: CovariateSample, step: CovariateStep) -> BasisWhitening:
    """White features of the rows: the covariance by the rule, functions of z at the rows."""
    problem, moments = sample.levels.problem, sample.levels.moments
    frame = None if step.frame is None else step.frame[None]
    nodes = BasisStep(step.own, step.added, problem.weights, problem.b[:, 1:], frame)
    _, mean, covariance = problem.laws(step.theta[None])
    white = whitening_of_laws(nodes, mean, covariance, mean)
    means = nodes.turned(sample.means(step.theta)[None])
    turn = white.turn
    if step.across:  # the feature along the mean follows those across it
        along = (moments if step.frame is None else moments @ step.frame.T)[:, step.added]
        turn = (-along[1:] / along[0])[None]
    b = sample.levels.rows.b[:, 1:]
    each = replace(nodes, shares=sample.units.weights, basis=b, across=step.across)
    return BasisWhitening(each, means, white.inverse, turn)


def step_test(sample: CovariateSample, step: CovariateStep, many: Replicates) -> StepTest:
    """Test one step; what cannot be tested is refused."""
    units, q, k = sample.units, sample.features.shape[1], sample.functions
    p = k + q + k * (step.own + step.added)
    few = sample.kish < PER_FEATURE * p
    if p > _MOST_FEATURES or sample.directions.n * p > MOST_ENTRIES:
        return StepTest.refused(step.about("too_many_covariate_features", features=p))
    if few and step.level == 1 and sample.z_of_unit is not None:
        return _studentised_means(sample, step, many)
    white = step_whitening(sample, step)
    if not white.sound.all():
        return StepTest.refused(step.about("covariate_too_concentrated"))
    if units.effective < FEWEST_ROWS * p and not units.rows_of_one_law:
        data = {"units": units.effective, "features": p}
        return StepTest.refused(step.about("few_units_of_covariate", **data))
    zeta = white.rows(sample.features[None], np.arange(sample.directions.n))
    scores = unit_scores(zeta, white.below, units.weights[None], units)
    return _scored(sample, step, scores, many, few=few)


def _scored(
    sample: CovariateSample, step: CovariateStep, scores: Scores, many: Replicates, *, few: bool
) -> StepTest:
    """The test of a step by its score, as reliable as units are."""
    units, value = sample.units, float(scores.statistic[0])
    top, said = int(dominating(scores)[0]), []
    if top >= 0:
        said.append(step.about("outweighed", unit=units.identity(top)))
        if not scores.rows:
            return StepTest.refused(said[0])
    if few and scores.rows and step.frame is None:
        pvalue = drawn_pvalue(sample, step, float(_centred_pvalues(scores)[0]), many)
        return StepTest(value, pvalue, PvalueMethod(MethodCode.COVARIATE_BOOTSTRAP), tuple(said))
    if few:
        said.append(step.about("few_units_along_covariate", least=PER_FEATURE))
    if not scores.rows and step.level > 1:
        said.append(step.about("little_power_of_units"))
    uneven = scores.rows and sample.kish < EVEN_WEIGHTS * units.count
    kind = "null" if uneven else scores.settled("damped")
    pvalue = float(mixture_sf([value], scores.coefficients(kind), scores.tail_dof(kind))[0])
    return StepTest(value, pvalue, PvalueMethod(MethodCode.SCORE_TAIL, kind), tuple(said))


def _centred_pvalues(scores: Scores) -> Array:
    """P-values (B,) with the covariance centred at the null; 0 where there is none."""
    coefficients = scores.coefficients("null")
    out, known = np.zeros(len(coefficients)), np.isfinite(coefficients).all(axis=1)
    known &= np.isfinite(scores.statistic)
    out[known] = mixture_sf(scores.statistic[known], coefficients[known])
    return out


# --- permutations of z ------------------------------------------------------------------------


def studentised(b: Array, y: Array, along: Array | None, order: IntArray) -> Array:
    """rᵀ V⁻¹ r for z in each ``order`` (B, U): of b (U, K) and contributions w y (U, k).

    With ``along`` (U,), what units have along an estimated mean, b counts less c / R.
    """
    count, (units, size), k = len(order), b.shape, y.shape[1]
    moved = b[order]  # (B, U, K)
    centre = moved.mean(axis=1, keepdims=True)
    if along is not None:
        centre = ((along / along.sum()) @ moved)[:, None, :]
    moved = moved - centre
    s = (moved[:, :, :, None] * y[None, :, None, :]).reshape(count, units, size * k)
    r, v = s.sum(axis=1), np.swapaxes(s, 1, 2) @ s
    v += np.finfo(float).eps * np.trace(v, axis1=1, axis2=2)[:, None, None] * np.eye(size * k)
    return np.asarray(np.einsum("bi,bi->b", r, np.linalg.solve(v, r[:, :, None])[:, :, 0]))


def permuted(sample: CovariateSample, y: Array, along: Array | None, many: Replicates) -> StepTest:
    """The studentised permutation of contributions ``y`` (U, k); its χ² law where too many."""
    b = sample.z_of_unit
    units, own = sample.units, np.arange(len(y))
    if b is None:
        raise DesignError(Diagnostic("covariate_within_units", data={"what": units.what}))
    k = b.shape[1] * y.shape[1]
    if len(y) < FEWEST_ROWS * k:
        data = {"units": len(y), "features": k}
        raise DesignError(Diagnostic("few_units_of_covariate", data=data))
    observed = float(studentised(b, y, along, own[None])[0])
    count = permutations_of(len(y) * k * k, many.permutations)
    if not count:
        how = PvalueMethod(MethodCode.SCORE_TAIL, "null")
        return StepTest(0.5 * observed, float(chdtrc(k, observed)), how)
    null = (studentised(b, y, along, order) for order in _orders(units, count, k, many.seed))
    pvalue = monte_carlo_test(observed * (1.0 - SHUFFLED_TIE), null, many.enough).pvalue
    return StepTest(0.5 * observed, pvalue, PvalueMethod(MethodCode.STUDENTISED_PERMUTATION))


def permutations_of(work: float, wanted: int) -> int:
    """So many permutations of so much ``work`` each; none where they would be too few."""
    most = int(_MOST_SHUFFLED / work)
    return min(wanted, most) if most >= min(wanted, _FEWEST_PERMUTATIONS) else 0


def _orders(units: Units, count: int, width: int, seed: int) -> Iterator[IntArray]:
    """Permutations (b, U) of the units, within strata."""
    rng, own = np.random.default_rng(seed), np.arange(units.count)
    strata = np.zeros(units.count, dtype=np.int64) if units.strata is None else units.strata
    for piece in drawn_chunks(count, units.count * width, "permutations"):
        order = np.tile(own, (piece.stop - piece.start, 1))
        for stratum in np.unique(strata):
            here = np.flatnonzero(strata == stratum)
            order[:, here] = rng.permuted(order[:, here], axis=1)
        yield order


def _studentised_means(sample: CovariateSample, step: CovariateStep, many: Replicates) -> StepTest:
    """Level 1, or its direction, by a studentised permutation."""
    units, w = sample.units, sample.units.weights
    size, along = step.own + step.added, None
    phi = sample.features if step.frame is None else sample.features @ step.frame.T
    if step.across:
        along = units.gather(w * phi[:, size])
        centred = phi[:, :size]  # the mean of all rows has nothing across itself
    else:
        centred = phi[:, :size] - w @ phi[:, :size]
    y = units.gather(w[:, None] * centred)
    try:
        return permuted(sample, y, along, many)
    except DesignError as error:
        found = error.diagnostic
        return StepTest.refused(replace(found, level=1))


def any_dependence(sample: CovariateSample, many: Replicates) -> StepTest:
    """Whether direction depends on z at all, by permutation of units."""
    b = sample.z_of_unit
    if b is None:
        why = Diagnostic("covariate_within_units", data={"what": sample.units.what})
        part = {"part": say("any_dependence")}
        return StepTest.refused(replace(why, data={**why.data, **part}))
    units, hierarchy = sample.units, sample.hierarchy
    family, lam = sample.levels.problem.family, sample.whole.solutions[-1].lam
    _, mean, covariance = family.log_partition(lam)
    zeta = (sample.features - mean[0]) @ inverse_roots(covariance)[0].T
    y = units.gather(units.weights[:, None] * zeta)
    y -= units.unit_weights[:, None] * y.sum(axis=0)
    levels = np.repeat(np.arange(1, hierarchy.levels + 1), hierarchy.dims)
    orders = sample.levels.rows.basis.orders
    scale = np.sqrt(1.0 / np.outer(orders, levels))
    own = np.arange(units.count)

    def values(order: IntArray) -> Array:
        score = np.swapaxes(b[order], 1, 2) @ y
        return np.asarray(np.square(score * scale).sum(axis=(1, 2)))

    observed = float(values(own[None])[0])
    rate = 0.5 * units.rate**2
    count = permutations_of(units.count * b.shape[1] * y.shape[1], many.permutations)
    if not count:  # very many rows: the law of Σ over rows of b ⊗ y
        moments = np.einsum("ua,ub,ui,uj->aibj", b, b, y, y, optimize=True)
        moments = moments * scale[:, :, None, None] * scale
        spread = np.linalg.eigvalsh(moments.reshape(scale.size, -1))
        pvalue = float(mixture_sf([observed], np.maximum(spread, 0.0)[None])[0])
        return StepTest(rate * observed, pvalue, PvalueMethod(MethodCode.SCORE_TAIL, "null"))
    null = (values(order) for order in _orders(units, count, b.shape[1], many.seed))
    found = monte_carlo_test(observed * (1.0 - SHUFFLED_TIE), null, many.enough)
    how = PvalueMethod(MethodCode.PERMUTATION, replicates=int(found.draws[0]))
    return StepTest(rate * observed, found.pvalue, how)


# --- samples of the smaller space -------------------------------------------------------------


def drawn_pvalue(
    sample: CovariateSample, step: CovariateStep, observed: float, many: Replicates
) -> float:
    """An observed p-value, centred at the null, among those of samples drawn at the observed z."""
    levels, hierarchy = sample.levels, sample.hierarchy
    rows, weights, n = levels.rows, sample.units.weights, sample.directions.n
    rule = levels.rule if levels.rule.exact else rows.recombined(_DRAWN_RULE)
    problem = replace(levels.at(step.own), b=rule.b, weights=rule.weights)
    spread = rows.spread_map(rule)
    b, of = rows.b, rows.distinct[1]
    laws = b @ step.theta
    rng, found = np.random.default_rng(many.seed), MonteCarlo(-observed, many.enough)
    p = b.shape[1] * (1 + step.own + step.added) + hierarchy.q(hierarchy.levels)
    for piece in drawn_chunks(many.samples, n * p, "samples of the null", first=_FIRST):
        count = piece.stop - piece.start
        x = np.stack([problem.family.sample(lam, count, rng) for lam in laws], axis=1)
        phi = np.asarray(hierarchy.features(x.reshape(count * n, -1))).reshape(count, n, -1)
        m = np.swapaxes(weights[:, None] * b, 0, 1) @ phi
        start = np.broadcast_to(step.theta, m.shape)
        try:
            fit = problem.approached(m, start)
            _, mean, covariance = problem.laws(fit.theta)
        except SteradianError:
            found.add(np.full((1, count), np.inf))
            continue
        sound = fit.residual <= DRAWN_RESIDUAL
        nodes = BasisStep(step.own, step.added, rule.weights, rule.b[:, 1:])
        white = whitening_of_laws(nodes, mean, covariance, mean)
        each = BasisWhitening(
            replace(nodes, shares=weights, basis=b[:, 1:]),
            (spread @ mean)[:, of], white.inverse, white.turn,
        )  # fmt: skip
        sound &= white.sound
        zeta = each.rows(phi, np.arange(n))[sound]
        scores = row_scores(zeta, each.below, np.broadcast_to(weights, zeta.shape[:2]))
        null = np.full(count, np.inf)
        null[sound] = -_centred_pvalues(scores)
        found.add(null[None])
        if found.finished:
            break
    return found.pvalue


# --- all of them ------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False, repr=False)
class RegressionTests:
    """Tests along a covariate.

    Attributes
    ----------
    levels : array of int, (L,)
    statistic, pvalue, pvalue_holm : arrays, (L,)
        ½ a² |r|² of each level, its p-value alone, and with Holm's correction over the levels. NaN
        where a level cannot be tested; `diagnostics` say why.
    any_pvalue : float
        Of "direction does not depend on the covariate", by permutation of units; NaN where that
        cannot be tested.
    parts, parts_holm : mappings
        P-values of the parts of level 1, such as direction and concentration, alone and with Holm's
        correction over them and the levels above, at least that of level 1; empty without.
    methods : tuple of PvalueMethod
        Per level how the p-value was found.
    """

    levels: IntArray
    statistic: Array
    pvalue: Array
    any_pvalue: float
    parts: dict[str, float]
    methods: tuple[PvalueMethod, ...]
    any_method: PvalueMethod
    part_methods: dict[str, PvalueMethod]
    diagnostics: tuple[Diagnostic, ...]
    design: str

    @property
    def pvalue_holm(self) -> Array:
        """Holm's step-down correction over the levels, (L,)."""
        return holm(self.pvalue)

    @property
    def parts_holm(self) -> dict[str, float]:
        """Those of the parts of level 1 with the levels above; at least that of level 1."""
        every = holm(np.array([*self.parts.values(), *self.pvalue[1:]]))
        gated = np.maximum(every, np.nan_to_num(self.pvalue_holm[0])).tolist()
        return dict(zip(self.parts, gated, strict=False))

    @property
    def far_apart(self) -> bool:
        """Whether lengths took the place of nats in words: the nats of parts are always told."""
        return False

    def __repr__(self) -> str:
        shown = ", ".join(f"{p:.3g}" for p in self.pvalue)
        return f"RegressionTests(any p = {self.any_pvalue:.3g}, levels p = {shown})"

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
            "any_method": self.any_method.to_dict(),
            "part_methods": {name: one.to_dict() for name, one in self.part_methods.items()},
            "diagnostics": [one.to_dict() for one in self.diagnostics],
        }

    def __str__(self) -> str:
        names, plain, corrected = [say("any_dependence")], [self.any_pvalue], [""]
        methods = [str(self.any_method)]
        for k, level in enumerate(self.levels):
            names.append(f"level {level}")
            plain.append(float(self.pvalue[k]))
            corrected.append(f"{self.pvalue_holm[k]:.3g}")
            methods.append(str(self.methods[k]))
            for name, p in self.parts.items() if k == 0 else ():
                names.append(f"  {name}")
                plain.append(p)
                corrected.append(f"{self.parts_holm[name]:.3g}")
                methods.append(str(self.part_methods[name]))
        table = Table(
            Column("", names, width=18, left=True),
            Column("p", plain, ".3g", 9),
            Column("Holm", corrected, width=9),
            Column("method", methods, gap=2, left=True),
        )
        return "\n".join([str(table), *(f"! {one}" for one in self.diagnostics)])


def regression_tests(sample: CovariateSample, many: Replicates) -> RegressionTests:
    """Any dependence by permutation, levels by their scores, level 1 by its parts too."""
    sample.check_inference()
    any_ = any_dependence(sample, many)
    found = [
        _tested(sample, level_step(sample, k + 1), many) for k in range(sample.hierarchy.levels)
    ]
    parts = _parts(sample, many)
    said = [d for one in (any_, *found, *parts.values()) for d in one.diagnostics]
    return RegressionTests(
        levels=np.arange(1, len(found) + 1),
        statistic=np.array([one.statistic for one in found]),
        pvalue=np.array([one.pvalue for one in found]),
        any_pvalue=any_.pvalue,
        parts={name: one.pvalue for name, one in parts.items()},
        methods=tuple(one.method for one in found),
        any_method=any_.method,
        part_methods={name: one.method for name, one in parts.items()},
        diagnostics=tuple(dict.fromkeys(said)),
        design=sample.design.name,
    )


def _tested(sample: CovariateSample, step: CovariateStep, many: Replicates) -> StepTest:
    try:
        return step_test(sample, step, many)
    except SteradianError as error:
        return StepTest(np.nan, np.nan, REFUSED, (replace(error.diagnostic, level=step.level),))


def _parts(sample: CovariateSample, many: Replicates) -> dict[str, StepTest]:
    """Level 1 in two; nothing where the mean of all rows has no direction."""
    levels, hierarchy = sample.levels, sample.hierarchy
    names = hierarchy.level_one_parts if levels.frame is not None else None
    if names is None:
        return {}
    size = hierarchy.q(1)
    across = CovariateStep(
        names[0], 1, 0, size - 1, levels.fits[0].theta[0], levels.frame, across=True
    )
    out = {names[0]: _tested(sample, across, many)}
    try:
        out[names[1]] = _own_lengths(sample, many)
    except DesignError as error:
        out[names[1]] = StepTest.refused(replace(error.diagnostic, level=1))
    return out


def _own_lengths(sample: CovariateSample, many: Replicates) -> StepTest:
    """Whether rows are equally long along the mean direction of the fit of W_1 at their z."""
    size, units = sample.hierarchy.q(1), sample.units
    means = sample.means(sample.levels.fits[1].theta[0])[:, :size]
    own = means / np.linalg.norm(means, axis=1)[:, None]
    y = np.einsum("ni,ni->n", sample.features[:, :size], own)
    y = units.gather((units.weights * (y - units.weights @ y))[:, None])
    return permuted(sample, y, None, many)
