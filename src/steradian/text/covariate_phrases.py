"""Phrases about what depends on a covariate."""

from __future__ import annotations

from steradian.text.audience import Advice

_REMAINS = "the permutation test of any dependence remains"

COVARIATES: dict[str, str | Advice] = {
    "any_dependence": "any dependence",
    "method_covariate_bootstrap": "score, parametric bootstrap at the observed covariate",
    "depends": "the distribution depends on {on} {found:found}",
    "depends_but_not": (
        "the distribution depends on {on} {found:found}, not in {missing:missing_or}"
    ),
    "depends_briefly": "depends on {on} {found:found_briefly}",
    "depends_in_no_level": "no level depends significantly on {on}",
    "does_not_depend": "no level depends significantly on {on}: {missing:missing}",
    "any_clear": "that it depends on {on} in some way is clear ({pvalue:p})",
    "any_likely": "that it depends on {on} in some way is likely ({pvalue:p})",
    "any_not_significant": "any dependence on {on}: not significant ({pvalue:p})",
    "most_along": "{total:digits} nats depend on {on}, not tested",
    "simplest_basis": (
        "the simplest {count} of the {functions} functions of {on} give {nats:digits} of the "
        "{total:digits} nats"
    ),
    "along_legend": (
        "C: information that the dependence of this level on the covariate adds; noise: its mean "
        "where nothing depends on it"
    ),
    "too_many_covariate_features": (
        "{features} features with the functions of the covariate, too many for a covariance; use a "
        f"smaller basis or fewer levels; {_REMAINS}"
    ),
    "covariate_too_concentrated": (
        "the fits along the covariate are so concentrated that double precision does not resolve "
        f"their features; use fewer levels; {_REMAINS}"
    ),
    "few_units_of_covariate": (
        "{units} units for {features} features with the functions of the covariate, too few for a "
        "covariance; use a smaller basis or fewer levels"
    ),
    "few_units_along_covariate": "asymptotic, rough: fewer than {least} units per feature",
    "little_power_of_units": "units that brought their weights: the test has little power here",
    "covariate_within_units": (
        "the covariate differs within one {what}, so that it cannot be permuted by units; the "
        "score tests of the levels account for such units"
    ),
    "basis_leverage": (
        "one row has leverage {leverage:digits} in the functions of {on}: what depends on it rests "
        "on that row; ranks have none such"
    ),
}
