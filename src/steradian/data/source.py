"""What people hand over, as the directions or moments that the rest works on."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import is_frame, shown, whole_number, wrong_value
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.stacks import Support, support_of_one
from steradian.errors import InvalidArgument, InvalidDirections, SteradianError
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import refuse_unproven
from steradian.hierarchies.registry import default_hierarchy
from steradian.text.audience import Advice
from steradian.text.messages import Name, arguments

_SCALED = Advice("sr.Directions(x, normalize=True)", "--normalize")  # in place of the array
_OF_READER = {"columns", "coords", "on_bad", "degrees", "hours", "normalize"}
_PLACED = "sr.Directions(x, space=hierarchy.space)"
_EXAMINED_ROWS = 100_000  # above it only the moments decide about the boundary


def as_source(
    data: Any, weights: ArrayLike | str | None, hierarchy: Hierarchy | None = None
) -> Directions | Moments:
    """Directions from an array or a frame; directions and moments as they are."""
    if isinstance(data, Directions | Moments):
        if weights is not None:
            raise InvalidDirections(
                "{kind} carry their own weights; leave out {said}",
                kind=type(data).__name__, said=arguments(weights=...),
            )  # fmt: skip
        return data
    if type(data) is np.ndarray and not isinstance(weights, str):
        return as_rows(data, weights, hierarchy)  # at once: an array is none of what follows
    if hasattr(data, "fits") and hasattr(data, "moments"):
        raise InvalidDirections("data is a profile; pass the directions it was made from")
    if hasattr(data, "collect") and hasattr(data, "collect_schema"):
        raise InvalidDirections("data is a lazy frame; pass its .collect()")
    _refuse_streams(data)
    if is_frame(data):
        return _read(data, weights)
    if hasattr(data, "icrs") and hasattr(data, "spherical"):  # astropy's SkyCoord
        return Directions.from_radec(data, weights=weights)
    if hasattr(data, "as_quat"):  # scipy's Rotation
        return Directions.from_rotations(data, weights=weights)
    if isinstance(weights, str):
        raise InvalidDirections("weights names a column, but data is not a frame; pass an array")
    return as_rows(data, weights, hierarchy)


def as_rows(
    data: Any, weights: ArrayLike | None = None, hierarchy: Hierarchy | None = None
) -> Directions:
    """Directions of an array; what makes them of its rows is said as it is written there."""
    try:
        return Directions(data, weights)
    except InvalidDirections as error:
        if hierarchy is not None and _lie_on(hierarchy, data, weights):
            raise InvalidDirections(
                f"an array is read as points of a sphere, and these lie on the "
                f"{hierarchy.space.name}; pass {_PLACED}"
            ) from error
        if "normalize" not in error.advised:
            raise
        raise error.changed(remedy=_SCALED) from error


def _lie_on(hierarchy: Hierarchy, data: Any, weights: ArrayLike | None) -> bool:
    """Whether rows that are no points of a sphere are points of the space of a hierarchy."""
    try:
        Directions(data, weights, space=hierarchy.space)
    except (AttributeError, SteradianError):  # also where what was given is no hierarchy
        return False
    return True


def _read(frame: Any, weights: ArrayLike | str | None) -> Directions:
    """Directions of a frame; what must be said of it is said to the reader."""
    from steradian.io.reading import directions_from_frame

    try:
        return directions_from_frame(frame, weights=weights)
    except InvalidDirections as error:
        if not error.advised & _OF_READER:
            raise
        raise InvalidDirections(
            "{said}: profile sr.read_directions(table, …)", **error.fields | {"said": error.message}
        ) from error


def _refuse_streams(data: Any) -> None:
    """What is read in pieces has no rows to hold: its moments are made first."""
    if isinstance(data, str | os.PathLike):
        raise InvalidDirections(
            f"data is the path {shown(data)}; profile its rows, sr.read_directions(path), or, "
            "where they do not fit in memory, its sums, sr.moments(path, hierarchy)"
        )
    streams = any(hasattr(data, name) for name in ("__next__", "__dask_graph__", "to_batches"))
    if streams and not hasattr(data, "column_names"):  # a table of Arrow is held as it is
        raise InvalidDirections(
            f"data is a {type(data).__name__}, which is read in pieces; profile its sums, "
            "sr.moments(data, hierarchy)"
        )


def measured(
    source: Directions | Moments, levels: int | None, hierarchy: Hierarchy | None = None
) -> tuple[Moments, Directions | None]:
    """Moments of the levels asked for, and the rows when there are any."""
    if hierarchy is not None:
        hierarchy = first_levels(hierarchy, levels)
        levels = None
    if isinstance(source, Moments):
        if hierarchy not in (None, source.hierarchy):
            raise InvalidArgument(f"these moments are of {source.hierarchy}, not {hierarchy}")
        refuse_unproven(source.hierarchy)
        return (source if levels is None else source.up_to(levels)), None
    if hierarchy is not None:
        refuse_unfittable(hierarchy)
        return Moments.from_directions(source, hierarchy), source
    own = default_hierarchy(source.space, levels)
    refuse_unfittable(own)
    return Moments.summed(source, own), source


def first_levels(hierarchy: Hierarchy, levels: int | None) -> Hierarchy:
    """The levels asked for of a hierarchy that keeps its contract; all of them without a number."""
    refuse_unproven(hierarchy)
    if levels is None:
        return hierarchy
    if not 1 <= whole_number(levels, "levels") <= hierarchy.levels:
        raise wrong_value("levels", levels, f"{hierarchy} has 1 to {hierarchy.levels}")
    return hierarchy.up_to(levels)


def refuse_unfittable(hierarchy: Hierarchy) -> None:
    """Refuse more levels than can be fitted, before anything is computed."""
    most = hierarchy.most_fitted
    if hierarchy.levels > most:
        raise InvalidArgument(
            "{name} is {levels}; at most {most} can be fitted on the {space}: the features of more "
            "at the nodes of a grid do not fit in memory",
            name=Name("levels"), levels=hierarchy.levels, most=most, space=hierarchy.space.name,
        )  # fmt: skip


def support_of(directions: Directions | None) -> Support | None:
    """What lets rows be examined exactly, unless there are none or too many."""
    if directions is None or directions.n > _EXAMINED_ROWS:
        return None
    return support_of_one(directions.support)
