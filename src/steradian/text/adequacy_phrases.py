"""Phrases about what a fit leaves over, and whether a profile can be trusted."""

from __future__ import annotations

from steradian.text.audience import Advice

_ROWS = "{rows:.0f} {what:plural} for {features:count fitted parameter}"

_BEYOND = (
    "{share:.0%} of the information of level {of_level} comes from where there are no data "
    "({mass:.1g} of its mass)"
)
_TO_DEGREE = "design {design!r} without rows knows covariances to degree {held}, not {asked}"

ADEQUACY: dict[str, str | Advice] = {
    # the three questions and their answers
    "question_numbers": "Are the numbers right?",
    "question_data": "Are there enough data?",
    "question_structure": "Is there more structure?",
    "answer_yes": "yes",
    "answer_with_care": "with care",
    "answer_no": "no",
    "answer_unknown": "not known",
    # are the numbers right?
    "arithmetic": "the arithmetic is good to {error:power} nats",
    "collinear_features": (
        "some features are nearly collinear where the data lie, which costs digits"
    ),
    "error_near_noise": "that is not small against sampling noise ({noise:power} nats)",
    "certificates": (
        "moment residual {residual:.0e}, condition {condition:.0e}, {nodes:count node}"
    ),
    "margin_of_shrunk_data": "moment body not examined: shrunk data lie inside",
    "margin_not_computed": "a fit exists; its margin inside the moment body is not computed here",
    "margin_inside": "inside the moment body, margin {margin:.2g} at level {of_level}",
    "margin_inside_at_most": (
        "inside the moment body, margin at most {margin:.2g} at level {of_level}"
    ),
    "margin_close": (
        "close to the boundary of the moment body, margin {margin:.2g} at level {of_level}"
    ),
    "margin_close_at_most": (
        "close to the boundary of the moment body, margin at most {margin:.2g} at level {of_level}"
    ),
    "rows_hardly_suffice": Advice(
        "the rows hardly suffice for a fit of level {of_level} (see boundary()): read its nats as "
        "a lower bound",
        "the rows hardly suffice for a fit of level {of_level} (see steradian boundary): read its "
        "nats as a lower bound",
    ),
    "mixed_with_uniform": "the data were mixed with {share:g} of the uniform distribution",
    "mixed_with_below": "the data were mixed with {share:g} of the fit of the level below",
    "within_span": "within {d} of {ambient} dimensions",
    # are there enough data?
    "fits_of_shrunk_data": "the fits are of shrunk data, so the data themselves are not tested",
    "design_without_inference": "design {design} does not say how the rows were sampled",
    "level_does_not_exist": "there is no fit of level {of_level}",
    "level_not_fitted": "no fit of level {of_level} was found",
    "gap_beyond_data": Advice(f"{_BEYOND}: see beyond()", f"{_BEYOND}: see beyond() in Python"),
    "all_noise": "all of I₂ is at the noise level ({gap:.3g} against {noise:.3g} expected)",
    "mostly_noise": "most of I₂ is at the noise level ({gap:.3g} against {noise:.3g} expected)",
    "rows_suffice": _ROWS,
    "rows_few": f"{_ROWS}; {{safe:.0f}} would be safe; rely on levels far above their noise level",
    "rows_too_few": (
        f"{_ROWS}; {{safe:.0f}} would be safe; rely only on levels far above their noise level"
    ),
    # is there more structure?
    "nothing_above_on_space": "nothing above level {of_level} is examined on the {space}",
    "nothing_above_but_discrepancy": (
        "nothing above level {of_level} is examined on the {space}; in Python, mmd() tests it"
    ),
    "nothing_held_above": "moments or design hold nothing above {kind} {of_level}",
    "left_residual": "Δ = {value:.3g} through {through}",
    "left_nats": "about {nats:two} nats through {through}",
    "left_nats_and_noise": ("about {nats:two} nats through {through}, noise level {noise:two}"),
    "left_above_untested": (
        "level {of_level} leaves {size:nested}, and a {design} design has no tests"
    ),
    "left_above_rests_on_few": ("above level {of_level} {why:nested} ({pvalue:p})"),
    "nothing_found_above": "nothing found above level {of_level} ({size:nested}; {pvalue:p})",
    "found_above": "above level {of_level} {size:nested} ({pvalue:p}), most at {most}",
    "residuals_rough": (
        "p is asymptotic, rough at n = {n:.0f}; in Python, residuals() draws samples instead"
    ),
    "no_levels_above": "levels above {of_level} cannot be fitted here",
    "try_levels": "try {levels} levels",
    "rows_for_level": "level {of_level} would take about {rows:about} rows",
    "residual_value": "Δ = {value:.3g} through {through}, {method:nested}",
    # residuals and discrepancies
    "residual_is_rounding": "Δ = {value:.0e} is lost in the rounding of moments",
    "nothing_above": "all {kind}s up to {through} belong to the level: nothing above is examined",
    "rests_by_weight": (
        "what is left over is not testable: {share:.0%} of the weight is that of {units:units}"
    ),
    "rests_by_variance": (
        "what is left over is not testable: {share:.0%} of its variance is due to {units:units}"
    ),
    "small_sample": Advice(
        "asymptotic, rough at n = {n:.0f}; method='bootstrap' takes longer and keeps its size",
        "asymptotic, rough at n = {n:.0f}",
    ),
    "few_units_for_residuals": (
        "{units} {what:plural} for {features} matched features: too few to test what is left over; "
        "use fewer levels or more {what:plural}"
    ),
    "rows_needed_above_three": "above dimension 3 design {design!r} needs the rows",
    "covariances_to_degree": Advice(
        f"{_TO_DEGREE}; ask for degree={{held}}", f"{_TO_DEGREE}; ask for degree={{held}} in Python"
    ),
    "residuals_of_one_law_only": (
        "above dimension 3 residuals are calibrated for designs 'iid' and 'fixed' only, not for "
        "{design!r}"
    ),
    "discrepancy_of_one_law_only": (
        "above dimension 3 the MMD is calibrated on samples of the fit, for designs 'iid' and "
        "'fixed' with rows, not for {design!r}"
    ),
    "discrepancy_without_tail": Advice(
        "above dimension 3 the MMD has no exact distribution; use method='bootstrap'",
        "above dimension 3 the MMD has no exact distribution; use method='bootstrap' in Python",
    ),
    "most_replicates_without_fit": (
        "{share:.0%} of the replicates have no fit, so the bootstrap is not valid; use fewer "
        "levels or more units"
    ),
    "some_replicates_without_fit": (
        "{share:.0%} of the replicates have no fit that a grid finds and are left out"
    ),
    "fit_too_sharp": (
        "{rows:.0f} effective rows for {features} matched features: the fit is sharper than the "
        "distribution, and p-values are too small"
    ),
    # parts of one hierarchy within another
    "left_out": "information left out: {nats:.3g} nats of {of:.3g}",
    "left_out_share": "information left out: {nats:.3g} nats of {of:.3g} ({share:.0%})",
    "left_out_beyond": "information left out: {nats:.3g} nats of {of:.3g} beyond level {common}",
    "left_out_share_beyond": (
        "information left out: {nats:.3g} nats of {of:.3g} ({share:.0%}) beyond level {common}"
    ),
    "left_out_by_noise": "noise level: {noise:.2g}",
}
