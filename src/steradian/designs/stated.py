"""The design a user stated, or the one that goes without saying, checked against the data."""

from __future__ import annotations

from typing import Any

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.base import Design
from steradian.designs.registry import as_design
from steradian.errors import DesignError
from steradian.io.frames import column, is_frame
from steradian.numerics.arrays import Array


def stated_design(
    design: Design | str | None, data: Any, directions: Directions | None, moments: Moments
) -> Design:
    """The design of ``data``, which are these directions or moments alone."""
    if directions is not None:
        plan = design_of_rows(design, data, directions)
    else:
        weighted = moments.ess < moments.n * (1.0 - 1e-9)
        plan = as_design(design, weighted=weighted)
        if design is not None:
            plan.check_sums(weighted=weighted)
    if plan.known_covariance is not None:
        _check_size(plan.known_covariance, moments)
    return plan


def design_of_rows(design: Design | str | None, data: Any, directions: Directions) -> Design:
    """The design of ``data`` that are these directions."""
    plan = as_design(design, weighted=directions.weighted)
    if design is None:
        return plan
    if is_frame(data):
        plan = plan.with_columns(lambda name: column(data, name))
    plan.check(directions)
    return plan


def _check_size(covariance: Array, moments: Moments) -> None:
    levels = moments.hierarchy.levels
    features = moments.hierarchy.q(levels)
    if len(covariance) != features:
        raise DesignError(
            f"covariance has {len(covariance)} rows; the {levels} levels have {features} features"
        )
