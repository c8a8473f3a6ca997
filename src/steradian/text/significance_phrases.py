"""Phrases about tests: how a p-value was found, and what speaks against it."""

from __future__ import annotations

from steradian.text.audience import Advice

_NOT_FITTED_TOGETHER = (
    "{share:.0%} of the samples drawn to calibrate its p-value are too concentrated to be fitted "
    "together"
)
_CALIBRATION = (
    "few rows, or one of high leverage, require a calibration on samples of the fit below, which is"
)

_SPREAD = (
    "the added features vary {ratio:.2g} times as much as the model of the level below implies"
)
_TOO_FEW = "{units} units for {features} features: too few for a covariance"
_CROWDED = "{features} features are too many for a = {rate:.4g} and the asymptotic distribution"
_ROUGH = (
    "{count} of {total} samples have few rows per feature or one of high leverage: their p-values "
    "are rough"
)

TESTS: dict[str, str | Advice] = {
    "verdict_clear": "clear",
    "verdict_likely": "likely",
    "verdict_not_significant": "not significant",
    "verdict_not_testable": "not testable",
    "verdict_not_computed": "not computed",
    # how a p-value was found
    "method_exact_tail": "exact tail",
    "method_simulated_tail": "simulated tail",
    "method_chi_square": "χ²",
    "method_simulated_chi_square": "simulated χ²",
    "method_multiplier_bootstrap": "multiplier bootstrap",
    "method_parametric_bootstrap": "parametric bootstrap",
    "method_off_diagonal": "off-diagonal score",
    "method_score_tail": "score",
    "method_labelled_score_bootstrap": "score, labelled parametric bootstrap",
    "method_labelled_gap_bootstrap": "gap, labelled parametric bootstrap",
    "method_permutation": "{replicates} permutations of units",
    "method_studentised_permutation": "studentised permutation of units",
    "method_permutation_within": "{replicates} permutations of labels within units",
    "method_signs_within": "signs of differences within units",
    "method_lengths_f": "own mean resultant lengths, F distribution",
    "method_lengths_permutation": "own mean resultant lengths, studentised permutation of units",
    "method_undefined": "no p-value by this design",
    "method_nothing": "–",
    "method_not_computed": "not computed",
    "method_refused": "refused",
    "covariance_damped": "damped",
    "covariance_tilted": "tilted",
    "covariance_null": "null",
    "covariance_empirical": "empirical",
    "covariance_known": "known",
    "covariance_model": "model",
    "covariance_units": "units",
    "covariance_sums": "empirical, from sums",
    "recalibrated_on_draws": "recalibrated",
    "recalibrated_on_units": "calibrated on resampled units",
    # weights and units
    "dominant_row": (
        "one row dominates: max w / (Σw²)^½ = {largest:.2f}, which the central limit theorem "
        "needs to be small"
    ),
    "heavy_tail": (
        "the importance ratios have a heavy tail (Pareto k = {shape:.2f} > {limit}): p-values and "
        "intervals are not reliable; use a wider proposal"
    ),
    "coarse_values": (
        "the angles are multiples of {step:.4g}° apart ({values:.0f} values), so {kind} from "
        "{first} on are aliased with lower ones"
    ),
    "outweighed_by_evidence": (
        "{unit:unit} carries {share:.0%} of the evidence (squared scores) and outweighs all "
        "others together, so there is nothing to compare it with"
    ),
    "outweighed_by_weight": (
        "{unit:unit} holds {share:.0%} of the weight and outweighs all others together, so there "
        "is nothing to compare it with"
    ),
    "uneven_weights": "{worth:nested}, too few for {features} features",
    "one_sided": (
        "tilting failed (null outside the data's hull), and {worth:nested}: heavy ones that are "
        "missing from the sample could explain the level"
    ),
    "worth_in_rows": "the weights are worth {worth:.1f} rows of equal weight",
    "worth_in_units": "the weights are worth {worth:.1f} {what:plural} of equal weight",
    "worth_in_sizes": "the {count} {what:plural} are worth {worth:.1f} of equal size",
    "worth_of_all": "there are {count} {what:plural}",
    "few_rows_of_weight": "asymptotic, rough at {rows:.0f} effective rows for {features} features",
    "few_units_decide_power": (
        "{count} units ({units:units}) carry {share:.0%} of the variance; the test has little power"
    ),
    "few_units_decide_pvalue": (
        "{count} units ({units:units}) carry {share:.0%} of the variance; the p-value rests on them"
    ),
    "few_carriers": (
        "about {carriers:.0f} units carry the variance of {features} features; a small p-value is "
        "then rough"
    ),
    "few_carriers_of_form": (
        "about {carriers:.0f} units carry the variance of {features} features; this form is then "
        "rough, the default (damped score) less so"
    ),
    "few_carriers_of_model": (
        "about {carriers:.0f} rows carry the variance of {features} features; the χ² test then "
        "rejects too often"
    ),
    "model_spread": Advice(
        f"{_SPREAD}; null='moment' does not assume it",
        f"{_SPREAD}; null='moment' in Python does not assume it",
    ),
    "few_rows_chi_square": (
        "{rows:.0f} rows for {features} features: the χ² test is rough and rejects too often"
    ),
    "few_weights_chi_square": (
        "{rows:.0f} effective rows for {features} features: the χ² test is rough and rejects too "
        "often"
    ),
    "few_reference_rows": (
        "the reference is a sample worth {rows:.0f} rows for {features} features, fewer than "
        "{each} for each: a test at 5 % may reject up to twice as often; use a reference of "
        "{needed} rows or more"
    ),
    # covariances and calibrations
    "null_centred": "tilting failed (null outside the data's hull): null-centred covariance used",
    "too_many_rows_to_tilt": "too many rows to tilt: null-centred covariance used",
    "sums_cannot_be_tilted": "made from sums, which cannot be tilted: null-centred covariance used",
    "too_few_units": (
        "{units} units for {features} features: too few for a covariance; more units are needed"
    ),
    "too_few_units_for_method": Advice(
        f"{_TOO_FEW}; use null='model', method='bootstrap'",
        f"{_TOO_FEW}; use null='model', method='bootstrap' in Python",
    ),
    "bootstrap_for_few_units": (
        "{units} units for {features} features, too few for a covariance: p-value by the "
        "parametric bootstrap, which assumes that the model of the level below is right"
    ),
    "bootstrap_for_dimension": (
        "χ² is off by {shift:.2g} standard deviations in this dimension: p-value by the parametric "
        "bootstrap, which assumes that the model of the level below is right"
    ),
    "too_slow_to_calibrate": (
        f"{_CALIBRATION} so sharp that each would be fitted on a mesh of its own; ask with fewer "
        "replicates"
    ),
    "draws_not_resolved": (
        f"{_CALIBRATION} so concentrated that double precision does not resolve the features of "
        "the level in them; ask for fewer levels"
    ),
    "leverage_not_calibrated": (
        "one row of leverage {leverage:.2f} ({unit:unit} has the most in this level): rough; the "
        "default method calibrates this, this one does not"
    ),
    "few_rows_not_calibrated": (
        "{rows:.0f} rows for {features} features: rough; the default method calibrates this, this "
        "one does not"
    ),
    "some_draws_lost": (
        f"{_NOT_FITTED_TOGETHER} and count as farther from the null than the data: the p-value is "
        "an upper bound"
    ),
    "most_draws_lost": (
        f"{_NOT_FITTED_TOGETHER}, a limit of this software; ask for fewer levels, or bring more "
        "rows"
    ),
    # features too many for a covariance
    "no_variance_of_products": (
        "no p-value: the variance over random blocks of units is not above 0"
    ),
    "detectable_gap": "a gap of {nats:two} nats would be detected with power 0.8 at 5 %",
    "tail_not_resolved": "p < {least:.0e}: smaller p-values are not resolved",
    "conservative_of_few_units": "{units} units: the p-value is conservative below {least}",
    "spread_along_mean": "the spread along the mean direction alone: {pvalue:p}",
    "units_below_least": "{units} units for {features} features; at least {least} are needed",
    # numbers
    "error_against_rate": "numerical error {error:.1e} nats against a⁻² = {scale:.1e}",
    "error_against_spread": "numerical error {error:.1e} nats against se {se:.1e}",
    "crowded": Advice(
        f"{_CROWDED}; compare the held-out score of sr.choose_order",
        f"{_CROWDED}; compare the held-out score of sr.choose_order in Python",
    ),
    "few_units_for_interval": "{units} units for {features} features: its interval is rough",
    "flat_features": Advice(
        "its features hardly vary under the uniform distribution; see tests()",
        "its features hardly vary under the uniform distribution; see --design",
    ),
    # many samples at once
    "samples_not_testable": (
        "{count} of {total} samples are not testable: one unit outweighs all others together, no "
        "fit exists, or no draw of the fit below can be tested"
    ),
    "samples_rough": Advice(
        f"{_ROUGH}; Profile.tests() calibrates them",
        f"{_ROUGH}; Profile.tests() in Python calibrates them",
    ),
    "samples_heavy_tail": "{count} of {total} samples have ratios with a heavy tail (k > {limit})",
    "in_some_splits": "{what:nested} ({count} of {total} splits)",
}
