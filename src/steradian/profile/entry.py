"""`profile` as people call it: with a hierarchy, or with the choice of one."""

from __future__ import annotations

from functools import wraps
from typing import Any, overload

from numpy.typing import ArrayLike

from steradian.arguments import wrong_value
from steradian.data.directions import Directions
from steradian.data.source import as_source
from steradian.designs import Design
from steradian.designs.registry import design_of_rows
from steradian.designs.without_units import ChosenFromSameRows
from steradian.errors import DesignError, InvalidArgument
from steradian.fitting.shrinkage import Shrinkage
from steradian.hierarchies import Hierarchy, OnSplits, SameRows
from steradian.numerics.arrays import BoolArray
from steradian.profile.auto_levels import AUTO, climbed
from steradian.profile.one_sample import profile as _profile
from steradian.profile.profile import Profile
from steradian.profile.splits import SplitProfile
from steradian.text.audience import Advice
from steradian.text.messages import arguments


@overload
def profile(
    data: Any,
    *,
    hierarchy: OnSplits,
    weights: ArrayLike | str | None = None,
    levels: int | str | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> SplitProfile: ...
@overload
def profile(
    data: Any,
    *,
    weights: ArrayLike | str | None = None,
    levels: int | str | None = None,
    hierarchy: Hierarchy | SameRows | None = None,
    design: Design | str | None = None,
    shrinkage: Shrinkage | float | None = None,
    reference: Any = None,
) -> Profile: ...
@wraps(_profile)
def profile(data: Any, **options: Any) -> Profile | SplitProfile:  # noqa: D103 - as what it wraps
    if isinstance(options.get("levels"), str):
        return _auto(data, options)
    choice = options.get("hierarchy")
    if isinstance(choice, OnSplits):
        return _on_splits(data, choice, options)
    if isinstance(choice, SameRows):
        return _on_same_rows(data, choice, options)
    return _profile(data, **options)


def _auto(data: Any, options: dict[str, Any]) -> Profile:
    """As many levels as the data carry."""
    if options["levels"] != AUTO:
        raise wrong_value(
            "levels", options["levels"], f"give a whole number of levels, or {AUTO!r}"
        )
    if options.get("hierarchy") is not None or options.get("shrinkage") is not None:
        raise InvalidArgument(
            "{said} climbs the levels of the data themselves; with {hierarchy}{shrinkage} give a "
            "number{choice}",
            said=arguments(levels=AUTO), shrinkage=arguments(shrinkage=...),
            hierarchy=Advice("hierarchy= or ", ""), choice=Advice(", and ask sr.choose_order", ""),
        )  # fmt: skip
    source, design = as_source(data, options.get("weights")), options.get("design")
    if isinstance(source, Directions):  # a frame may hold what the design asks for
        design = design_of_rows(design, data, source)
    rest = {k: v for k, v in options.items() if k not in ("levels", "weights", "design")}
    return climbed(lambda levels: _profile(source, levels=levels, design=design, **rest))


def _on_same_rows(data: Any, choice: SameRows, options: dict[str, Any]) -> Profile:
    """One profile, which says that its own rows chose what it measures."""
    rows = _rows(data, options.pop("weights", None))
    stated = design_of_rows(options.get("design"), data, rows)
    design = ChosenFromSameRows(choice.recipe.words, stated)
    chosen = choice.recipe.from_data(rows)
    return _profile(rows, **{**options, "hierarchy": chosen, "design": design})


def _on_splits(data: Any, choice: OnSplits, options: dict[str, Any]) -> SplitProfile:
    """The profiles of all splits, each about what the rows it leaves out chose."""
    rows = _rows(data, options.pop("weights", None))
    design = design_of_rows(options.get("design"), data, rows)
    found = []
    for rng in choice.split.generators():
        drawn = design.drawn_rows(rows, choice.split.share, rng)
        _refuse_weightless(rows, drawn)
        chosen = choice.recipe.from_data(rows.take(drawn))
        own = {**options, "hierarchy": chosen, "design": design.of_rows(~drawn)}
        found.append(_profile(rows.take(~drawn), **own))
    return SplitProfile(choice, tuple(found), design, rows.n)


def _rows(data: Any, weights: ArrayLike | str | None) -> Directions:
    source = as_source(data, weights)
    if not isinstance(source, Directions):
        raise InvalidArgument(
            "moments hold no rows that could choose; choose from directions, or give the hierarchy"
        )
    return source


def _refuse_weightless(rows: Directions, drawn: BoolArray) -> None:
    """Refuse a split one side of which has no weight."""
    for side, what in ((drawn, "choose"), (~drawn, "are profiled")):
        if not rows.weights[side].any():
            raise DesignError(
                f"all {int(side.sum())} rows that {what} in one split have zero weight; leave out "
                "rows without weight, or choose another share"
            )
