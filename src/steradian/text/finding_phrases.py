"""Phrases about what a profile found, its intervals, its order, and its splits."""

from __future__ import annotations

from steradian.text.audience import Advice

FINDINGS: dict[str, str | Advice] = {
    "levels_clear": "clear: {sizes:sizes}",
    "levels_likely": "likely: {sizes:sizes}",
    "level_not_significant": "{levels:levels} is not significant ({pvalue:p})",
    "levels_not_significant": "{levels:levels} {levels:be} not significant",
    "nothing_significant": ("no level is significant ({nats:two} nats, noise level {noise:two})"),
    "levels_not_testable": "{levels:levels} {levels:be} not testable: {why:nested}",
    "see_tests": Advice("see tests()", "see --design"),
    "level_left_open": "{sizes:noises}: {why:nested}",
    "levels_left_open": "{levels:levels}: {why:nested}",
    "levels_waiting": "{pvalues:pvalues} alone; {why:nested}",
    "correction_waits": "the correction waits for {levels:level_list}",
    "smallest_pvalue": (
        "{levels:levels}: none of {draws} draws was as extreme; tests(replicates={more}) in Python "
        "may give a smaller p-value"
    ),
    "not_tested": "not tested: {why:nested}",
    "design_without_tests": "design {design} defines no p-values",
    "design_to_state": Advice(
        "design {design} defines no p-values; state how the rows were sampled with design=",
        "design {design} defines no p-values; state how the rows were sampled with --design",
    ),
    "rows_below_features": (
        "{nats:digits} nats cannot be distinguished from noise: {rows:count row} for "
        "{features:count feature}"
    ),
    "largest_level": "the largest is {sizes:sizes}",
    "densest_places": "level {of_level} is densest at {places:places}",
    "densest_places_and_more": (
        "level {of_level} is densest at {places:places}, and {more:count other place}"
    ),
    "no_levels_chosen": (
        "chosen: 0 levels; none adds more than the noise level by Akaike's criterion, and level 1 "
        "is shown with its size"
    ),
    # intervals
    "intervals_left_open": "intervals: {why:nested}",
    "sums_without_variance": ("rounding of the sums hides the variance; profile the rows instead"),
    "too_few_for_interval": (
        "{units:.0f} {what:plural} for {features} features, at least {least} are needed"
    ),
    "levels_without_interval": "no interval for {levels:levels}: {why:nested}",
    "interval_rests_on_unit": (
        "the interval rests on one unit: {unit:unit} carries {share:.0%} of its variance"
    ),
    "interval_of_one_unit": (
        "{levels:levels}: the interval rests on one unit: {unit:unit} carries {share:.0%} of its "
        "variance; profile the others to see the effect"
    ),
    "significant_with_wide_interval": (
        "{levels:levels}: significant although the interval begins at 0; near 0 intervals are "
        "conservative, and the test decides"
    ),
    "significant_with_deciding_unit": (
        "{levels:levels}: significant although the interval begins at 0: one unit carries most of "
        "its variance"
    ),
    "not_significant_when_corrected": (
        "{levels:levels}: the interval excludes 0, but is not corrected for the number of levels "
        "as the test is"
    ),
    "interval_excludes_zero": (
        "{levels:levels}: not significant although the interval excludes 0; near 0 intervals are "
        "approximate, and the test decides"
    ),
    # order
    "no_corrected_pvalue": (
        "no Holm p: the features of a level are collinear under the fit below it"
    ),
    "corrected_pvalue_left_open": "Holm p: {why:nested}",
    "held_out_not_computed": (
        "no held-out scores: {folds} fits on meshes of their own; use fewer folds or levels"
    ),
    "fold_without_fit": (
        "no held-out scores: a fold without {rows} of the {of} rows has no fit at level "
        "{of_level}; use fewer folds or levels"
    ),
    # splits
    "few_rows_in_splits": (
        "few rows: {choosing} choose and {profiled:.0f} are profiled for {features:count fitted "
        "parameter}; {safe} of either would be safe; results are mostly noise"
    ),
}
