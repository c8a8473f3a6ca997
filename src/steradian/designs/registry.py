"""Designs by name, and the one that goes without saying."""

from __future__ import annotations

from collections.abc import Callable

from steradian.arguments import shown
from steradian.designs.base import Design
from steradian.designs.chain import Chain
from steradian.designs.descriptive import Descriptive
from steradian.designs.rows import IID, FixedWeights, Importance
from steradian.errors import DesignError

_BY_NAME: dict[str, Callable[[], Design]] = {
    "iid": IID,
    "fixed": FixedWeights,
    "importance": Importance,
    "chain": Chain,
    "descriptive": Descriptive,
}
_NEED_DATA = {
    "clusters": "sr.designs.Clusters(ids)",
    "survey": "sr.designs.Survey(psu=..., strata=...)",
    "known": "sr.designs.Known(covariance, rate)",
}


def as_design(design: Design | str | None, *, weighted: bool) -> Design:
    """A design from an object, a name or nothing."""
    if design is None:
        return Descriptive() if weighted else IID()
    if isinstance(design, Design):
        return design
    if not isinstance(design, str):
        raise DesignError(f"design is {shown(design)}; give a name or an object of sr.designs")
    if design in _NEED_DATA:
        raise DesignError(f"design {design!r} needs data: pass {_NEED_DATA[design]}")
    if design not in _BY_NAME:
        known = ", ".join([*_BY_NAME, *_NEED_DATA])
        raise DesignError(f"design is {design!r}; choose {known}")
    return _BY_NAME[design]()
