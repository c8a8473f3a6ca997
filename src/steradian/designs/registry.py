"""Designs by name, and the one that goes without saying, checked against the data."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from steradian.arguments import is_frame, shown
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.base import Design
from steradian.designs.dependent import Chain
from steradian.designs.rows import IID, FixedWeights, Importance
from steradian.designs.without_units import Descriptive
from steradian.errors import DesignError
from steradian.numerics.arrays import Array
from steradian.text.audience import Advice
from steradian.text.messages import Name

_BY_NAME: dict[str, Callable[[], Design]] = {
    "iid": IID,
    "fixed": FixedWeights,
    "importance": Importance,
    "chain": Chain,
    "descriptive": Descriptive,
}
_NEED_DATA = {
    "clusters": Advice("pass sr.designs.Clusters(ids)", "say --design clusters:COLUMN"),
    "survey": Advice(
        "pass sr.designs.Survey(psu=..., strata=...)",
        "say --design survey:psu=COLUMN,strata=COLUMN",
    ),
    "known": Advice(
        "pass sr.designs.Known(covariance, rate)",
        "a covariance is given in Python only; choose iid, fixed, importance, chain, "
        "clusters:COLUMN or survey:psu=COLUMN",
    ),
}


_CHOICE = Advice(
    f"choose {', '.join([*_BY_NAME, *_NEED_DATA])}",
    f"choose {', '.join(_BY_NAME)}, clusters:COLUMN or survey:psu=COLUMN",
)


def as_design(design: Design | str | None, *, weighted: bool) -> Design:
    """A design from an object, a name or nothing."""
    if design is None:
        return Descriptive() if weighted else IID()
    if isinstance(design, Design):
        return design
    if not isinstance(design, str):
        raise _unknown(design, "give a name or an object of sr.designs")
    if design in _NEED_DATA:
        raise DesignError(
            "design {design!r} needs data: {remedy}", design=design, remedy=_NEED_DATA[design]
        )
    if design not in _BY_NAME:
        raise _unknown(design, _CHOICE)
    return _BY_NAME[design]()


def _unknown(design: Any, remedy: Advice | str) -> DesignError:
    fields = {"name": Name("design"), "design": shown(design), "remedy": remedy}
    return DesignError("{name} is {design}; {remedy}", **fields)


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
        from steradian.io.frames import column

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
