"""The test of one step of a comparison: do groups differ in the features that it adds?

The null is about moments: given the features that groups have for themselves already, those of the
step are what the fit of the smaller space says, whatever the laws of the groups. The statistic is
the score ½ a² |r|² of the added features, the reference law that of the damped tilt: the machinery
of `inference.scores`, with rows (x, g) in place of x. It is calibrated on samples of the fit of
the smaller space where a group has few rows per feature or a row high leverage.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from steradian.designs.base import Units
from steradian.diagnostics import REFUSED, Diagnostic, MethodCode, PvalueMethod, at_level
from steradian.fitting.grouped import GroupedFits, integrals
from steradian.inference.basis_whitening import BasisStep, BasisWhitening, basis_whitening
from steradian.inference.monte_carlo import ENOUGH_OF_GROUPS, Replicates
from steradian.inference.null_samples import (
    FURTHER,
    SETTLED,
    LabelledDraws,
    drawn_gap_pvalue,
    labelled_pvalue,
    plain_pvalues,
)
from steradian.inference.permutation import (
    Contrasts,
    StudentisedMeans,
    none_can_move,
    permutation_test,
    sign_test,
)
from steradian.inference.sample import GroupedSample
from steradian.inference.sampled_reference import few_rows, of_groups
from steradian.inference.score_tests import null_tail
from steradian.inference.scores import (
    FEWEST_ROWS,
    LEVERAGE,
    MOST_ENTRIES,
    PER_FEATURE,
    Scores,
    dominating,
    small_sample,
    unit_scores,
)
from steradian.numerics.arrays import Array
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.tolerances import SPREADLESS

_MOST_FEATURES = 400  # of labels and groups together, whose covariance is tilted
_MOST_WORK = 4e10  # multiplications of all tilts of samples: a minute
_TILT_STEPS = 10.0
_FEWEST_SAMPLES = 99
_MOST_GAP_DRAWS = 199  # samples whose gaps are fitted one by one
_FAR_FROM_SMALL = 0.3  # plain p-values, too small if anything, that no calibration brings near 5 %


@dataclass(frozen=True, slots=True)
class StepTest:
    """What was found about one step."""

    statistic: float  # ½ a² |r|², or what is compared
    pvalue: float
    method: PvalueMethod
    diagnostics: tuple[Diagnostic, ...] = ()

    @classmethod
    def refused(cls, why: Diagnostic) -> StepTest:
        """No p-value, and why."""
        return cls(np.nan, np.nan, REFUSED, (why,))


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """One step of a comparison with the fit of the space it starts from."""

    name: str  # as people call it: "level 2", "direction"
    level: int
    step: BasisStep
    below: GroupedFits
    whole_level: bool  # not a part of a level

    @property
    def features(self) -> int:
        """Features of each group once the step is taken."""
        return self.step.own + self.step.added

    def about(self, found: Diagnostic) -> Diagnostic:
        """The same about this step: its level, and its part where it is not the whole level."""
        data = found.data if self.whole_level else {**found.data, "part": self.name}
        return replace(found, level=self.level, data=data)

    def refused(self, code: str, **data: Any) -> StepTest:
        """No p-value, and why."""
        return StepTest.refused(self.about(Diagnostic(code, data=data)))


def level_step(sample: GroupedSample, level: int) -> Step:
    """The step from W_{level-1} to W_level."""
    own, upto = sample.hierarchy.q(level - 1), sample.hierarchy.q(level)
    label_step = BasisStep.labels(own, upto - own, sample.shares)
    return Step(f"level {level}", level, label_step, sample.levels.fits[level - 1], True)


def part_steps(sample: GroupedSample, parts: tuple[str, str]) -> tuple[Step, Step] | None:
    """Level 1 in two: across the pooled mean, and along it; None without a mean."""
    levels = sample.levels
    if levels.frame is None or levels.split is None:
        return None
    size, frame = sample.hierarchy.q(1), levels.frame[None]
    across = BasisStep.labels(0, size - 1, sample.shares, frame, across=True)
    along = BasisStep.labels(size - 1, 1, sample.shares, frame)
    return (
        Step(parts[0], 1, across, levels.fits[0], False),
        Step(parts[1], 1, along, levels.split, False),
    )


def step_test(sample: GroupedSample, step: Step, many: Replicates) -> StepTest:
    """Test one step; what cannot be tested is refused."""
    if not sample.forms:
        return _without_matrices(sample, step, many)
    features = len(step.step.products(sample.hierarchy.q(sample.hierarchy.levels))[0])
    if features > _MOST_FEATURES:
        return step.refused("too_many_group_features", groups=sample.count, features=features)
    white = _whitening(sample, step)
    if not white.sound.all():
        return step.refused("groups_too_concentrated")
    if not sample.has_units:
        return _from_sums(sample, step, white)
    if sample.has_shared_units:
        return _within_units(sample, step, white, many)
    return _from_rows(sample, step, white, many)


def _whitening(sample: GroupedSample, step: Step) -> BasisWhitening:
    family = sample.hierarchy.family(sample.hierarchy.levels)
    return basis_whitening(family, step.step, step.below.lam, sample.levels.means[None])


# --- from rows --------------------------------------------------------------------------------


def _from_rows(
    sample: GroupedSample, step: Step, white: BasisWhitening, many: Replicates
) -> StepTest:
    rows, phi, units = sample.known_rows, sample.features, sample.units
    p, few = white.below + white.added, _few(sample, step)
    if phi is None or rows.directions.n * p > MOST_ENTRIES:
        return step.refused("too_many_rows_of_groups")
    if few and step.level == 1 and step.whole_level and shuffling_refusal(sample) is None:
        return studentised(sample, many)
    zeta = white.rows(phi[None], rows.labels)
    scores = unit_scores(zeta, white.below, units.weights[None], units)
    kind = scores.settled("damped")
    why = _unjudged(scores, units)
    if why is not None and not scores.rows:
        return StepTest.refused(step.about(why))
    more = of_groups(sample, step.below.lam[0], white) if step.level > 1 else None
    value, pvalues = float(scores.statistic[0]), null_tail(scores, kind, scores.statistic, more)[0]
    pvalue = float(pvalues[0])
    said = [] if why is None else [why]
    if more is not None:
        said += few_rows(step.level, sample.hierarchy.space, step.features)
    method = PvalueMethod(MethodCode.SCORE_TAIL, kind)
    found = StepTest(value, pvalue, method, tuple(step.about(one) for one in said))
    if more is None and scores.rows and (few or scores.top_leverage[0] > LEVERAGE):
        if sample.draws_quickly:
            return _calibrated(sample, step, zeta, found, many)
        return replace(_without_matrices(sample, step, many), statistic=value)
    return replace(found, diagnostics=(*found.diagnostics, _rough(step))) if few else found


def _within_units(
    sample: GroupedSample, step: Step, white: BasisWhitening, many: Replicates
) -> StepTest:
    """Of units that have rows of several groups, by the differences within them."""
    rows = sample.known_rows
    phi = step.step.turned(sample.hierarchy.features(rows.directions.x)[None])[0]
    family = sample.hierarchy.family(sample.hierarchy.levels)
    _, _, covariance = integrals(family, step.below.lam)
    contrasts = Contrasts.of_step(white, covariance[0], sample.levels.means)
    found = _signed(sample, phi - white.mean[0][rows.labels], contrasts, many)
    return replace(found, diagnostics=tuple(step.about(one) for one in found.diagnostics))


def _signed(sample: GroupedSample, psi: Array, contrasts: Contrasts, many: Replicates) -> StepTest:
    """The test of level 1, or of any step whose contrasts these are."""
    found = sign_test(sample, psi, contrasts, many)
    if found is None:
        data = {"what": sample.units.what, "features": int(contrasts.added)}
        return StepTest.refused(Diagnostic("few_units_differ", 1, data))
    how = PvalueMethod(MethodCode.SIGNS_WITHIN)
    return StepTest(0.5 * found.statistic, found.pvalue, how)


def _unjudged(scores: Scores, units: Units) -> Diagnostic | None:
    """Why units cannot judge a step, if so."""
    p, top = scores.h.shape[2], int(dominating(scores)[0])
    if units.effective < FEWEST_ROWS * p and not units.rows_of_one_law:
        data = {"units": int(units.effective), "features": int(p)}
        return Diagnostic("few_units_of_groups", data=data)
    return None if top < 0 else Diagnostic("outweighed", data={"unit": units.identity(top)})


def _few(sample: GroupedSample, step: Step) -> bool:
    """Whether a group has few units for the features it has after the step."""
    return bool(sample.units_per_group.min() < PER_FEATURE * step.features)


def _rough(step: Step) -> Diagnostic:
    return step.about(Diagnostic("few_units_in_group", data={"least": PER_FEATURE}))


def _calibrated(
    sample: GroupedSample, step: Step, zeta: Array, found: StepTest, many: Replicates
) -> StepTest:
    """The plain p-value among those of samples of the fit of the smaller space."""
    units, p = sample.units, zeta.shape[2]
    tilted = units.effective >= FEWEST_ROWS * p
    if found.pvalue <= SETTLED and tilted and not _few(sample, step):
        return found
    most = int(_MOST_WORK / (_TILT_STEPS * units.count * p * p))
    samples = min(many.samples, most)
    if samples < min(_FEWEST_SAMPLES, many.samples):
        return replace(found, diagnostics=(*found.diagnostics, _rough(step)))
    below = p - (sample.count - 1) * step.step.added
    plain = float(plain_pvalues(zeta, below, units.weights[None], tilted=tilted)[0])
    if tilted and plain > _FAR_FROM_SMALL:
        return found
    draws = LabelledDraws(
        sample.hierarchy,
        sample.drawn_rung,
        step.step,
        step.below.lam[0],
        sample.known_rows.labels,
        units.weights,
        tilted,
    )
    rare = many.rare if FURTHER * samples <= most else -1
    pvalue = labelled_pvalue(draws, plain, replace(many, samples=samples, rare=rare))
    how = PvalueMethod(MethodCode.LABELLED_SCORE_BOOTSTRAP)
    return replace(found, pvalue=pvalue, method=how)


# --- means alone ------------------------------------------------------------------------------


def means_test(sample: GroupedSample, many: Replicates) -> StepTest:
    """Equal means of level 1 without any fit."""
    if not sample.has_shared_units:
        return studentised(sample, many)
    phi = np.asarray(sample.hierarchy.up_to(1).features(sample.known_rows.directions.x))
    psi = _where_it_varies(phi - sample.units.weights @ phi)
    contrasts = Contrasts.of_means(sample.shares, psi.shape[1])
    return _signed(sample, psi, contrasts, many)


def studentised(sample: GroupedSample, many: Replicates) -> StepTest:
    """Equal means of level 1 by a permutation test of the studentised distance between them."""
    groups, units = sample.group_of_unit, sample.observed_units
    why = shuffling_refusal(sample)
    if why is not None:
        return StepTest.refused(at_level(1, why))
    size = sample.hierarchy.q(1)
    counts = np.bincount(groups, minlength=sample.count)
    if counts.min() < FEWEST_ROWS * size:
        name = str(sample.names[int(np.argmin(counts))])
        data = {"group": name, "units": int(counts.min()), "features": int(size)}
        return StepTest.refused(Diagnostic("group_too_small", 1, data))
    phi = np.asarray(sample.hierarchy.up_to(1).features(sample.known_rows.directions.x))
    sums = units.gather(units.weights[:, None] * phi)
    centred = sums - np.outer(units.unit_weights, units.weights @ phi)
    statistic = StudentisedMeans(_where_it_varies(centred), units.unit_weights)
    found = permutation_test(statistic, groups, units.strata, many.permutations, many.seed)
    if np.isnan(found.pvalue):
        return StepTest.refused(Diagnostic("group_without_spread", 1))
    how = PvalueMethod(MethodCode.STUDENTISED_PERMUTATION)
    return StepTest(0.5 * found.statistic, found.pvalue, how)


def _where_it_varies(centred: Array) -> Array:
    """Sums of units (U, k) in coordinates that differ at all: one plane has a dimension less."""
    variance, axes = np.linalg.eigh(centred.T @ centred)
    kept = variance > SPREADLESS * variance[-1]
    return centred if kept.all() else np.asarray(centred @ axes[:, kept])


def shuffling_refusal(sample: GroupedSample) -> Diagnostic | None:
    """Why labels of units cannot be shuffled, if so."""
    groups = sample.group_of_unit
    if groups.min() >= 0:
        stuck = none_can_move(groups, sample.observed_units.strata)
        return Diagnostic("strata_of_one_group") if stuck else None
    unit = sample.observed_units.identity(int(np.argmin(groups)))
    return Diagnostic("unit_in_several_groups", data={"unit": unit})


# --- many features, or sums alone -------------------------------------------------------------


def _without_matrices(sample: GroupedSample, step: Step, many: Replicates) -> StepTest:
    """Where features are too many for matrices of them."""
    if not sample.has_units:
        return step.refused("too_many_features_for_sums", hierarchy=str(sample.hierarchy))
    if not step.whole_level:
        return step.refused("too_many_features_for_part")
    if step.level == 1:
        return means_test(sample, many)
    if not sample.units.rows_of_one_law or step.level < sample.hierarchy.levels:
        return step.refused("drawn_for_highest_level_only")
    gap, samples = float(sample.levels.between[step.level - 1]), min(many.samples, _MOST_GAP_DRAWS)
    fewer = replace(many, samples=samples, enough=min(many.enough, ENOUGH_OF_GROUPS))
    pvalue = drawn_gap_pvalue(sample, step.below.lam[0], gap, fewer)
    how = PvalueMethod(MethodCode.LABELLED_GAP_BOOTSTRAP)
    return StepTest(sample.rate**2 * gap, pvalue, how)


def _from_sums(sample: GroupedSample, step: Step, white: BasisWhitening) -> StepTest:
    """Of moments: nothing is tilted, and covariances are those of the groups."""
    label_step = step.step
    means = label_step.turned(sample.levels.means[None])[0] - white.mean[0]
    maps = white.mean_maps(means.shape[1])[:, -white.added :]
    if label_step.across:
        maps = maps + white.turn_maps(means.shape[1])
    r = np.einsum("gaq,gq->a", maps, means)
    variances = label_step.turned(np.swapaxes(label_step.turned(sample.variances), 1, 2))
    omega = np.einsum("gaq,gqr,gcr->ac", maps, variances, maps)
    dof = np.inf
    if sample.design.random_weights:
        _, dof = small_sample(float(sample.sizes.sum() - 1), white.below)
    coefficients = np.maximum(np.linalg.eigvalsh(omega)[::-1], 0.0)
    value = float(r @ r)
    pvalue = float(mixture_sf([value], coefficients[None], dof)[0])
    said = (_rough(step),) if _few(sample, step) else ()
    how = PvalueMethod(MethodCode.SCORE_TAIL, "sums")
    return StepTest(0.5 * sample.rate**2 * value, pvalue, how, said)
