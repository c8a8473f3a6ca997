"""What people hand over, as the directions or moments that the rest works on."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numpy.typing import ArrayLike

from steradian.directions import Directions
from steradian.errors import InvalidDirections
from steradian.hierarchies import Harmonics
from steradian.io.frames import directions_from_frame, is_frame
from steradian.moments import Moments
from steradian.numerics.arrays import Array

_EXAMINED_ROWS = 100_000  # above it only the moments decide about the boundary


def as_source(data: Any, weights: ArrayLike | str | None) -> Directions | Moments:
    """Directions from an array or a frame; directions and moments as they are."""
    if isinstance(data, Directions | Moments):
        if weights is not None:
            raise InvalidDirections(
                f"{type(data).__name__} carry their own weights; leave out weights="
            )
        return data
    if is_frame(data):
        return directions_from_frame(data, weights=weights)
    if isinstance(weights, str):
        raise InvalidDirections("weights names a column, but data is not a frame; pass an array")
    return Directions(data, weights)


def measured(
    source: Directions | Moments, levels: int | None, hierarchy: Harmonics | None = None
) -> tuple[Moments, Directions | None]:
    """Moments of the levels asked for, and the rows when there are any."""
    if isinstance(source, Moments):
        if hierarchy not in (None, source.hierarchy):
            raise ValueError(f"these moments are of {source.hierarchy}, not {hierarchy}")
        return (source if levels is None else source.up_to(levels)), None
    wanted = hierarchy or Harmonics(
        source.d, default_levels(source.d) if levels is None else levels
    )
    return Moments.from_directions(source, wanted), source


def support_of(directions: Directions | None) -> Callable[[int], tuple[Array, Array]] | None:
    """What lets rows be examined exactly, unless there are none or too many."""
    if directions is None or directions.n > _EXAMINED_ROWS:
        return None
    return lambda _row: directions.support()


def default_levels(d: int) -> int:
    """Four on the circle and the two-sphere, two above."""
    return 4 if d <= 3 else 2
