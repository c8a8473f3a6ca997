"""The design a user stated, or the one that goes without saying, checked against the data."""

from __future__ import annotations

from typing import Any

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.base import Design
from steradian.designs.known import Known
from steradian.designs.registry import as_design
from steradian.errors import DesignError
from steradian.io.frames import column, is_frame


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
        _check_without_rows(plan, weighted)
    if isinstance(plan, Known):
        _check_size(plan, moments)
    return plan


def _check_without_rows(plan: Design, weighted: bool) -> None:
    if plan.name in {"clusters", "chain", "survey"}:
        raise DesignError(
            f"design {plan.name!r} needs the rows, and these are moments; profile the directions"
        )
    if weighted and plan.name == "iid":
        raise DesignError("design 'iid' means equal weights, and these moments have weights")
    if not weighted and plan.name == "importance":
        raise DesignError("design 'importance' needs weights, and these moments have none")


def _check_size(plan: Known, moments: Moments) -> None:
    levels = moments.hierarchy.levels
    features = moments.hierarchy.q(levels)
    if len(plan.matrix()) != features:
        raise DesignError(
            f"covariance has {len(plan.matrix())} rows; the {levels} levels have "
            f"{features} features"
        )
