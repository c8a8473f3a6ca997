"""The test of one level: the model null, the moment null, and what each does without rows."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steradian.diagnostics import (
    REFUSED,
    Diagnostic,
    MethodCode,
    PvalueMethod,
)
from steradian.errors import DesignError
from steradian.families.whitening import RowFeatures, Whitening
from steradian.inference import concerns, effort
from steradian.inference.monte_carlo import ENOUGH_OF_MODEL, MOST_LOST, monte_carlo_test
from steradian.inference.null_samples import (
    gap_replicates,
    multiplier_replicates,
    score_replicates,
    tail_replicates,
)
from steradian.inference.off_diagonal import FEWEST_UNITS, off_diagonal
from steradian.inference.row_sweeps import SweptLevel, swept_level, swept_together
from steradian.inference.sample import Sample
from steradian.inference.sampled_reference import few_rows, of_sample
from steradian.inference.score_tests import NullDraws, Options, score_tests
from steradian.inference.scores import (
    DOMINATES,
    FEWEST_ROWS,
    LEVERAGE,
    MOST_ENTRIES,
    PER_FEATURE,
    Covariance,
    Scores,
    judged,
    needs_calibration,
    scores_of,
    small_sample,
    streamed_scores,
    worthless,
)
from steradian.numerics.arrays import Array
from steradian.numerics.chi_square_mixture import chi_square_sf, mixture_sf
from steradian.text.messages import arguments

_FROM_SUMS = arguments(covariance="null", method="exact")
_MOST_TILT_WORK = 1e10  # numbers n p² of a covariance of all features: seconds
_MOST_REFIT_WORK = 1e9  # of replicates that are fitted one by one: a minute
FEWEST_PER_FEATURE = FEWEST_ROWS  # units per feature below which a covariance is refused


class TooFewUnits(DesignError):
    """A level has too many features for the units of the sample."""


@dataclass(frozen=True, slots=True)
class LevelTest:
    """What was found about one level."""

    score: float
    pvalue: float
    coefficients: Array
    method: PvalueMethod
    diagnostics: tuple[Diagnostic, ...] = ()  # if it is not judged, why not comes first
    judged: bool = True

    @classmethod
    def without(cls, features: int, method: PvalueMethod, why: Diagnostic) -> LevelTest:
        """No p-value of a level with so many features, and why."""
        none = np.full(features, np.nan)
        return cls(np.nan, np.nan, none, method, (why,), judged=False)

    def withheld(self, why: Diagnostic | None) -> LevelTest:
        """The same, not judged if there is a reason."""
        if why is None:
            return self
        return replace(self, diagnostics=(why, *self.diagnostics), judged=False)

    def remarked(self, *more: Diagnostic) -> LevelTest:
        """The same with more diagnostics."""
        return replace(self, diagnostics=(*self.diagnostics, *more))


def level_test(sample: Sample, level: int, options: Options) -> LevelTest:
    """Test one level of a sample."""
    untold = concerns.untold(level, sample, level)
    if untold is not None:
        return LevelTest.without(int(sample.hierarchy.dims[level - 1]), REFUSED, untold)
    white = sample.whitening(level)
    if _by_products(sample, level, white, options):
        return _off_diagonal_test(sample, level, white, options)
    gap = sample.rate**2 * float(sample.nested.gaps[0, level - 1])
    if options.null == "model":
        return _model_test(sample, level, white, gap, options)
    if not sample.has_rows:
        return _test_from_sums(sample, level, white, gap, options)
    return _moment_test(sample, level, white, gap, options)


# --- more features than units tell of ---------------------------------------------------------


def _by_products(sample: Sample, level: int, white: Whitening, options: Options) -> bool:
    """Whether the default is asked for and units are too few, or too much work, for a tilt."""
    chosen = options.statistic, options.covariance, options.method
    if not sample.has_rows or chosen != ("score", None, None) or sample.own_share < 1.0:
        return False
    if white.kernel is None:
        return False
    if options.null == "model":
        shift = concerns.chi_square_lead(sample, level)
        return sample.design.rows_of_one_law and shift > concerns.CHI_SQUARE_SHIFT
    units, p = sample.units, white.below + white.q
    if units.effective < FEWEST_UNITS and not white.below:
        return False  # the uniform law can be drawn from
    if white.formed is not None:
        return units.effective < FEWEST_PER_FEATURE * p
    kish = 1.0 / float(units.weights @ units.weights) if units.labels is None else units.effective
    much = units.effective * p > MOST_ENTRIES or units.effective * p**2 > _MOST_TILT_WORK
    return kish < PER_FEATURE * p or much


def _off_diagonal_test(sample: Sample, level: int, white: Whitening, options: Options) -> LevelTest:
    """Of features too many for a covariance, by products of the scores of units."""
    units, kernel, score = sample.units, white.kernel, _model_score(sample, white)
    assert kernel is not None
    if units.effective < FEWEST_UNITS:
        data = {"units": int(units.effective), "features": int(white.below + white.q)}
        raise TooFewUnits(Diagnostic("units_below_least", level, {**data, "least": FEWEST_UNITS}))
    options.patience.begin(level, effort.of_products(sample))
    found = off_diagonal(sample.rows, units, kernel, options.seed)
    if options.null == "model":
        found = found.under_model(sample.rate, white.q)
    noise = 0.5 * sample.rate**2 * (found.own + found.drift) / white.q
    coefficients = np.full(white.q, max(noise, 0.0))
    how = PvalueMethod(MethodCode.OFF_DIAGONAL)
    said = concerns.of_products(level, found)
    test = LevelTest(score, found.pvalue, coefficients, how, (*said,))
    if np.isnan(found.pvalue):
        test = replace(test, method=REFUSED)
    elif kernel.alone is not None:
        test = test.remarked(*_alone(sample, level, kernel.alone))
    return test.withheld(concerns.unjudged_products(level, found, units))


def _alone(sample: Sample, level: int, features: RowFeatures) -> list[Diagnostic]:
    """The p-value of the one feature that drowns among the others, by its own tilt."""
    scores = scores_of(sample.rows, sample.units, features)
    kind = scores.settled("damped")
    if not judged(scores)[0] or worthless(scores)[0] or needs_calibration(scores)[0]:
        return []
    coefficients, dof = scores.coefficients(kind), scores.tail_dof(kind)
    return [concerns.alone(level, float(mixture_sf(scores.statistic, coefficients, dof)[0]))]


# --- the model null ---------------------------------------------------------------------------


def _model_test(
    sample: Sample, level: int, white: Whitening, gap: float, options: Options
) -> LevelTest:
    """A test of the model null, with what its rows say against it."""
    found = _model_pvalue(sample, level, white, gap, options)
    p = white.below + white.q
    if not sample.has_rows or sample.moments.n * p > MOST_ENTRIES:
        return found
    scores = _scores(sample, white)
    if not found.method.by_bootstrap:
        found = found.remarked(*concerns.of_model(level, scores))
    return found.withheld(concerns.outweighed(level, scores, sample.units))


def _model_pvalue(
    sample: Sample, level: int, white: Whitening, gap: float, options: Options
) -> LevelTest:
    if not sample.design.rows_of_one_law:
        raise DesignError(
            f"null='model' fixes the law of the rows, which settles a p-value for designs 'iid' "
            f"and 'fixed' only, not for {sample.design.name!r}; use null='moment'"
        )
    score = _model_score(sample, white)
    value = score if options.statistic == "score" else gap
    shift = concerns.chi_square_lead(sample, level)
    method = options.method
    diagnostics: list[Diagnostic] = []
    if method != "bootstrap" and shift > concerns.CHI_SQUARE_SHIFT:
        if method is not None:
            raise DesignError(
                f"level {level}: in dimension {sample.hierarchy.space.d} with "
                f"n = {sample.moments.n} the χ² law is off by about {shift:.2g} standard "
                "deviations; use method='bootstrap'"
            )
        method = "bootstrap"
        diagnostics.append(Diagnostic("bootstrap_for_dimension", level, {"shift": float(shift)}))
    half = np.full(white.q, 0.5)
    if method == "bootstrap":
        work = effort.of_draws(sample, level, options.replicates, tilted=False)
        options.patience.begin(level, work)
        draw = score_replicates if options.statistic == "score" else gap_replicates
        null = draw(sample, level, options.replicates, options.seed)
        drawn = monte_carlo_test(value, null, ENOUGH_OF_MODEL)
        if drawn.not_fitted > MOST_LOST:
            found = LevelTest(score, np.nan, half, REFUSED, (*diagnostics,))
            return found.withheld(concerns.too_many_lost(level, drawn.not_fitted))
        diagnostics += concerns.lost_replicates(level, drawn.not_fitted)
        how = PvalueMethod(MethodCode.PARAMETRIC_BOOTSTRAP)
        return LevelTest(score, drawn.pvalue, half, how, (*diagnostics,))
    if method == "simulate":
        pvalue = _tail_pvalue(value, (half, np.inf), level, options)
        return LevelTest(score, pvalue, half, PvalueMethod(MethodCode.SIMULATED_CHI_SQUARE))
    pvalue = float(chi_square_sf(2.0 * value, white.q))
    return LevelTest(score, pvalue, half, PvalueMethod(MethodCode.CHI_SQUARE))


def _model_score(sample: Sample, white: Whitening) -> float:
    """½ a² |r|² from the moments alone."""
    return float(0.5 * sample.rate**2 * white.score(sample.moments.stack())[0])


# --- the moment null --------------------------------------------------------------------------


def _scores(sample: Sample, white: Whitening) -> Scores:
    phi = sample.features(sample.hierarchy) if white.formed else None
    scores = scores_of(sample.rows, sample.units, white, phi)
    share = sample.own_share
    return scores if share == 1.0 else replace(scores, rate=scores.rate * np.sqrt(share))


def _moment_test(
    sample: Sample, level: int, white: Whitening, gap: float, options: Options
) -> LevelTest:
    units, p = sample.units, white.below + white.q
    if units.effective < FEWEST_PER_FEATURE * p:
        return _too_many_features(sample, level, white, gap, options)
    swept = None
    if options.kind == "damped" and not options.drawn and sample.own_share == 1.0:
        swept = _swept(sample, level, options)
    else:
        options.patience.begin(level, effort.of_rows(sample.moments.n, p))
    if swept is not None and not _doubted(sample, swept, p):
        return _swept_test(sample, level, white, swept)
    entries = p * (sample.moments.n if units.labels is None else units.count)
    if entries > MOST_ENTRIES:
        return _too_many_features(sample, level, white, gap, options)
    if units.strata is not None and options.tilts:
        raise DesignError("strata cannot be tilted as a whole; use covariance='null'")
    scores = _scores(sample, white)
    kind = scores.settled(options.kind)
    value = scores.statistic if options.statistic == "score" else np.array([gap])
    slow = options.replicates * sample.refit_work(level - 1) > _MOST_REFIT_WORK
    draws = None if slow or options.drawn else _null_draws(sample, level, options)
    more = of_sample(sample, level)
    tested = score_tests(scores, value, options.kind, draws, more, second_look=not options.drawn)
    score, coefficients, how = scores.statistic[0], tested.coefficients[0], tested.method(0, kind)
    found = LevelTest(float(score), float(tested.pvalue[0]), coefficients, how)
    if worthless(scores)[0]:
        return replace(found, method=REFUSED).withheld(concerns.unjudged(level, scores, units))
    if options.method == "bootstrap":
        null = multiplier_replicates(scores, kind, options.replicates, options.seed)
        code = MethodCode.MULTIPLIER_BOOTSTRAP
        pvalue = monte_carlo_test(float(value[0]), null).pvalue
        found = replace(found, pvalue=pvalue, method=replace(how, code=code))
    elif options.method == "simulate":
        law = coefficients, float(tested.dof[0])
        pvalue = _tail_pvalue(float(value[0]), law, level, options)
        found = replace(found, pvalue=pvalue, method=replace(how, code=_tail(options)))
    elif tested.unresolved[0]:
        no_draws = concerns.too_slow_to_calibrate if slow else concerns.draws_not_resolved
        found = found.withheld(no_draws(level))
    said = [concerns.null_centred(level)] if scores.lacks_tilt(kind) else []
    said += few_rows(level, sample.hierarchy.space, p)
    why = concerns.unjudged(level, scores, units)
    if why is None:
        default = options.kind == "damped"
        said += concerns.of_scores(level, scores, kind, units, default=default)
    if options.drawn is not None:
        said += concerns.not_calibrated(level, scores, units)
    return found.remarked(*said).withheld(why)


def _null_draws(sample: Sample, level: int, options: Options) -> NullDraws:
    """What a single sample is recalibrated on, as far as there is patience."""

    def begin(pvalue: float) -> None:
        draws = effort.expected_draws(pvalue, options.replicates)
        options.patience.begin(level, effort.of_draws(sample, level, draws))

    return NullDraws(
        sample.hierarchy, level, sample.parameters(level - 1), sample.rows.x[None],
        sample.units.weights[None], sample.units, options.replicates, np.array([options.seed]),
        begin,
    )  # fmt: skip


def _swept(sample: Sample, level: int, options: Options) -> SweptLevel | None:
    """What passes over very many rows say; they are made once for all levels found together."""
    together = swept_together(sample, level)
    if not sample.memo.known(("swept levels", together)):
        work = effort.of_rows(sample.moments.n, sample.hierarchy.q(together or level))
        options.patience.begin(level, work, f"rows to level {together}" if together else "")
    return swept_level(sample, level) if together else None


def _doubted(sample: Sample, swept: SweptLevel, p: int) -> bool:
    """Whether what bounds single rows leaves room for one of the `concerns` about them."""
    kish = 1.0 / float(sample.units.weights @ sample.units.weights)
    few = kish < PER_FEATURE * p
    lever = swept.leverage > LEVERAGE or swept.added_leverage > DOMINATES
    return few or lever or concerns.may_rest_on_few(swept.carried, p)


def _swept_test(sample: Sample, level: int, white: Whitening, swept: SweptLevel) -> LevelTest:
    """The default test of very many rows, none of which stands out."""
    value = _model_score(sample, white)
    pvalue = float(mixture_sf([value], swept.coefficients[None])[0])
    kind, said = ("damped", ()) if swept.tilted else ("null", (concerns.null_centred(level),))
    how = PvalueMethod(MethodCode.EXACT_TAIL, kind)
    return LevelTest(value, pvalue, swept.coefficients, how, said)


def _too_many_features(
    sample: Sample, level: int, white: Whitening, gap: float, options: Options
) -> LevelTest:
    """Too few units (or too many rows) for a covariance of all features."""
    p = white.below + white.q
    count = sample.units.effective
    if count >= FEWEST_PER_FEATURE * p:
        return _streamed_test(sample, level, white, gap, options)
    data = {"units": int(count), "features": int(p)}
    rows = sample.design.rows_of_one_law
    if not rows or options.method not in {None, "bootstrap"}:
        code = "too_few_units_for_method" if rows else "too_few_units"
        raise TooFewUnits(Diagnostic(code, level, data))
    model = replace(options, null="model", covariance=None, method="bootstrap")
    found = _model_test(sample, level, white, gap, model)
    return found.remarked(Diagnostic("bootstrap_for_few_units", level, data))


def _streamed_test(
    sample: Sample, level: int, white: Whitening, gap: float, options: Options
) -> LevelTest:
    """More rows than their white features can be held for: sums over blocks, nothing tilted."""
    if options.tilts or options.method == "bootstrap":
        raise DesignError(
            "level {level}: too many rows to tilt or to resample; use {remedy}",
            level=level, remedy=_FROM_SUMS,
        )  # fmt: skip
    kind: Covariance = "empirical" if options.covariance == "empirical" else "null"
    found = streamed_scores(sample.rows, sample.units, white, kind)
    found = replace(found, statistic=found.statistic * sample.own_share)
    value = found.statistic if options.statistic == "score" else gap
    said = () if options.covariance else (Diagnostic("too_many_rows_to_tilt", level),)
    pvalue = _tail_pvalue(value, (found.coefficients, found.dof), level, options)
    how = PvalueMethod(_tail(options), kind)
    why = None
    if found.share > DOMINATES:
        why = concerns.outweighing(level, sample.units, found.top, float(found.share))
    return LevelTest(found.statistic, pvalue, found.coefficients, how, said).withheld(why)


def _test_from_sums(
    sample: Sample, level: int, white: Whitening, gap: float, options: Options
) -> LevelTest:
    """From moments or a known covariance: no rows to tilt or to resample."""
    if options.tilts or options.method == "bootstrap":
        raise DesignError(
            "tilting and bootstraps need the rows of a design with units; use {remedy}",
            remedy=_FROM_SUMS,
        )
    formed = white.formed
    if formed is None:
        raise DesignError(
            f"level {level} of {sample.hierarchy} has too many features for matrices of them: it "
            "is tested from the rows of a design with units, not from sums or a known covariance"
        )
    known = sample.design.known_covariance is not None
    kind = "known" if known else "empirical" if options.kind == "empirical" else "null"
    sigma = sample.covariance(level, None if kind == "empirical" else formed.mean[0])
    score = _model_score(sample, white)
    omega = (formed.inverse[0] @ sigma @ formed.inverse[0].T)[white.below :, white.below :]
    dof = np.inf
    if sample.design.random_weights:  # as for rows drawn together with their weights
        small, dof = small_sample(sample.moments.n - 1, white.below)
        omega = small * omega
    coefficients = np.maximum(np.linalg.eigvalsh(0.5 * omega)[::-1], 0.0)
    value = score if options.statistic == "score" else gap
    said = () if options.covariance or known else (Diagnostic("sums_cannot_be_tilted"),)
    said = (*said, *concerns.of_sums(level, sample, white.below + white.q))
    pvalue = _tail_pvalue(value, (coefficients, dof), level, options)
    return LevelTest(score, pvalue, coefficients, PvalueMethod(_tail(options), kind), said)


def _tail(options: Options) -> MethodCode:
    """Draws of a law, or its tail itself."""
    drawn = options.method == "simulate"
    return MethodCode.SIMULATED_TAIL if drawn else MethodCode.EXACT_TAIL


def _tail_pvalue(value: float, law: tuple[Array, float], level: int, options: Options) -> float:
    """The tail of a law of coefficients, whose scale has so many dof; by draws if asked for."""
    coefficients, dof = law
    if options.method != "simulate":
        return float(mixture_sf([value], coefficients[None], dof)[0])
    rng = np.random.default_rng([options.seed, level])
    null = tail_replicates(coefficients, dof, options.replicates, rng)
    return monte_carlo_test(value, null).pvalue
