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
    weighted = directions.weighted if directions else moments.ess < moments.n * (1.0 - 1e-9)
    if design is None:
        return as_design(None, weighted=weighted)
    plan = as_design(design, weighted=True)
    if is_frame(data):
        plan = plan.with_columns(lambda name: column(data, name))
    if directions is not None:
        plan.check(directions)
    else:
        plan.check_sums(weighted=weighted)
    if plan.known_covariance is not None:
        _check_size(plan.known_covariance, moments)
    return plan


def _check_size(covariance: Array, moments: Moments) -> None:
    levels = moments.hierarchy.levels
    features = moments.hierarchy.q(levels)
    if len(covariance) != features:
        raise DesignError(
            f"covariance has {len(covariance)} rows; the {levels} levels have {features} features"
        )
