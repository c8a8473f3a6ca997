"""Phrases about comparisons of groups."""

from __future__ import annotations

from steradian.text.audience import Advice

_PERMUTATION = "the permutation test of one distribution remains"

_CARRIES = "{point:capital} carries {nats:digits}{error:error} nats about the group"

GROUPS: dict[str, str | Advice] = {
    "same_distribution": "one distribution",
    "one_group": "there is one group only; nothing can be compared",
    # in what groups differ
    "one_group_only": "one group only",
    "most_between": (
        "of {total:digits} nats between the groups, most is in the {name} (C_{level} = "
        "{nats:digits})"
    ),
    "groups_differ": "the groups differ {found:found}",
    "groups_differ_but_not": "the groups differ {found:found}, not in {not_found:missing_or}",
    "groups_do_not_differ": "no level differs significantly: {not_found:missing}",
    "groups_without_direction": (
        "directions do not differ significantly ({pvalue:p}), but the mean of {groups:listed} is "
        "itself not significant"
    ),
    "differences_not_testable": "not testable: {levels:missing_names}",
    "differ_in": "the groups differ {found:found_briefly}",
    "differ_in_no_level": "no level differs significantly",
    "difference_clear": "clearly in",
    "difference_likely": "likely in",
    "shape_of_level": "shape ({name})",
    "one_distribution_clear": "the groups do not share one distribution (clear, {pvalue:p})",
    "one_distribution_likely": "the groups do not share one distribution (likely, {pvalue:p})",
    "one_distribution_not_significant": (
        "that the groups share one distribution is not excluded ({pvalue:p})"
    ),
    "pairs_on_request": Advice(
        "call .pairs() for the pairs of groups that differ",
        "give --pairs for the pairs of groups that differ",
    ),
    "pairs_differ": "these pairs differ: {pairs:pairs}",
    "size_of_level": "C_{of_level} = {nats:digits} nats",
    "size_of_part": "{nats:digits} nats",
    "size_across": "{nats:digits} nats across the pooled mean",
    "size_in_lengths": "mean resultant lengths {least:digits} to {most:digits}",
    "lengths_compared": (
        "the groups point far apart, so their own mean resultant lengths are compared; nats along "
        "the pooled mean are due to their directions too"
    ),
    "noise_of_shared_units": (
        "noise level not known: units have rows of several groups, and the features are too many, "
        "or the distributions too concentrated, for a covariance over them"
    ),
    "group_left_out": "{group} is left out: {why:nested}",
    "no_label_information": "one group: a label carries no information",
    "label_information": (
        f"{_CARRIES} ({{share:percent}} of its entropy; {{noise:two}} expected from random labels)"
    ),
    "label_information_without_noise": (
        f"{_CARRIES} ({{share:percent}} of its entropy), part of which random labels would give too"
    ),
    "label_information_not_significant": (
        f"{_CARRIES}, not significant ({{noise:two}} expected from random labels)"
    ),
    "label_information_not_significant_without_noise": f"{_CARRIES}, not significant",
    "between_legend": (
        "C: information between groups added by this level, which depends on how many levels are "
        "fitted; noise: its mean when the groups share one distribution"
    ),
    "equal_shares": "every group has the same share, whatever its weight",
    "interval_below_noise": "not above noise",
    "blank_directions": "points to: blank where neither mean nor axis of a group is significant",
    "chance_not_tested": "whether the groups share one distribution is not tested",
    "chance_not_excluded": "not significant: one distribution for all groups gives {pvalue:p}",
    "chance_excluded": "yes: one distribution for all groups gives {pvalue:p}",
    # what was refused
    "too_many_group_features": (
        f"{{groups}} groups have {{features}} features together, too many for a covariance; "
        f"{_PERMUTATION}"
    ),
    "groups_too_concentrated": (
        "the distributions of the groups are so concentrated that double precision does not "
        "resolve its features; ask for fewer levels"
    ),
    "too_many_rows_of_groups": "too many rows to hold their scores; compare moments",
    "few_units_of_groups": (
        "{units} units for {features} features of labels and groups, too few for a covariance; "
        "more units are needed, or fewer levels"
    ),
    "outweighed": ("{unit:unit} outweighs all others together; there is little to compare it with"),
    "few_units_in_group": "asymptotic, rough: fewer than {least} units per feature in a group",
    "few_units_differ": (
        "too few {what:plural} have rows of several groups for a covariance of {features} "
        "features; more units are needed, or fewer levels"
    ),
    "group_too_small": (
        f"group {{group}} has {{units}} units for {{features}} features: too few for a covariance "
        f"of its own; {_PERMUTATION}"
    ),
    "group_without_spread": (
        "the directions of one group do not vary in every way in which those of the others do (few "
        f"distinct values, or all in one plane): it has no covariance of its own; {_PERMUTATION}"
    ),
    "strata_of_one_group": (
        "every stratum holds one group alone, so that no label can be permuted within strata; the "
        "score tests of the levels remain"
    ),
    "unit_in_several_groups": (
        "{unit:unit} has rows of several groups, so that labels cannot be permuted by units; the "
        "score tests of the levels account for such units"
    ),
    "too_many_features_for_sums": (
        "{hierarchy} has too many features for covariances from sums; compare the directions"
    ),
    "too_many_features_for_part": "too many features to calibrate a test of a part of level 1",
    "drawn_for_highest_level_only": (
        "too many features for a covariance, and samples of the fit below can be drawn only for "
        "the highest level of rows of one distribution"
    ),
    "level_one_not_split": (
        "the pooled mean is not significantly different from zero, so level 1 is not split into "
        "{parts:listed}"
    ),
    "too_many_to_shuffle": "too many rows and features to permute; compare fewer levels",
    "rows_cannot_be_shuffled": (
        "the rows are too many, or so concentrated that double precision does not resolve their "
        "features; compare fewer levels"
    ),
}
