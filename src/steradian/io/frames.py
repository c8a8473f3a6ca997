"""Frames with named columns: which columns are the directions, and in which coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from steradian.directions import Directions, as_numeric
from steradian.errors import InvalidDirections, MissingExtra

Coords = Literal["xyz", "lonlat", "angle"]
COORDS: tuple[Coords, ...] = get_args(Coords)

_NAMES: tuple[tuple[Coords, tuple[str, ...]], ...] = (
    ("xyz", ("x", "y", "z")),
    ("lonlat", ("lon", "lat")),
    ("lonlat", ("longitude", "latitude")),
    ("lonlat", ("declination", "inclination")),  # x north, y east, z down
    ("angle", ("angle",)),
    ("angle", ("theta",)),
    ("xyz", ("x", "y")),
)


def is_frame(data: Any) -> bool:
    """Whether ``data`` has named columns (pandas, polars and anything alike)."""
    return hasattr(data, "columns") and hasattr(data, "__getitem__") and not isinstance(data, dict)


def directions_from_frame(
    frame: Any,
    *,
    columns: Sequence[str] | None = None,
    coords: Coords | None = None,
    weights: ArrayLike | str | None = None,
    normalize: bool = False,
) -> Directions:
    """Directions from named columns; angles in degrees.

    Without ``columns`` they are recognised by name (x, y, z; lon, lat; longitude, latitude;
    angle; theta). Without ``coords`` the names decide, and otherwise columns are Cartesian.
    """
    present = [str(c) for c in frame.columns]
    if columns is None:
        found, names = _recognise(frame, present, coords)
        coords, columns = coords or found, names
    missing = [c for c in columns if c not in present]
    if missing:
        raise InvalidDirections(f"no column {missing[0]!r}; the table has {', '.join(present)}")
    values = [_values(frame, c) for c in columns]
    if isinstance(weights, str):
        if weights not in present:
            raise InvalidDirections(
                f"no weights column {weights!r}; the table has {', '.join(present)}"
            )
        weights = _values(frame, weights)
    return from_columns(values, coords or "xyz", weights=weights, normalize=normalize)


def from_columns(
    values: Sequence[Any],
    coords: Coords,
    *,
    weights: ArrayLike | None = None,
    normalize: bool = False,
) -> Directions:
    """Directions from coordinate columns in a stated convention; angles in degrees."""
    if coords == "xyz":
        if len(values) < 2:
            raise InvalidDirections("Cartesian coordinates need at least two columns")
        return Directions(np.column_stack(values), weights, normalize=normalize)
    wanted = {"lonlat": 2, "angle": 1}[coords]
    if len(values) != wanted:
        raise InvalidDirections(f"coords {coords!r} takes {wanted} column(s), not {len(values)}")
    if coords == "lonlat":
        return Directions.from_lonlat(*values, weights=weights)
    return Directions.from_angles(values[0], degrees=True, weights=weights)


def _recognise(
    frame: Any, present: list[str], coords: Coords | None
) -> tuple[Coords, tuple[str, ...]]:
    lower = {c.lower(): c for c in present}
    for kind, names in _NAMES:
        if coords in (None, kind) and all(name in lower for name in names):
            return kind, tuple(lower[name] for name in names)
    numeric = tuple(c for c in present if _is_numeric(frame, c))
    if coords is None and len(numeric) == len(present):
        return "xyz", numeric
    raise InvalidDirections(
        f"cannot tell which of the columns {', '.join(present)} are the coordinates; "
        "name them (columns=…, --columns) with their convention (coords=…, --coords)"
    )


def _is_numeric(frame: Any, column: str) -> bool:
    try:
        return as_numeric(frame[column], column).dtype.kind == "f"
    except InvalidDirections:
        return False


def _values(frame: Any, column: str) -> Any:
    return as_numeric(frame[column], f"column {column!r}")


def frame_of_levels(record: dict[str, Any]) -> Any:
    """One row per level of a profile's dictionary, as a pandas frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise MissingExtra(
            "a frame needs pandas; install it with: pip install 'steradian[tables]'"
        ) from error
    table = {
        "level": record["levels"],
        "features": record["dims"],
        "deficit": record["deficits"],
        "gap": record["gaps"],
        "uncertainty": record["uncertainty"],
    }
    certificates = {k: v for k, v in record["numerics"].items() if isinstance(v, list)}
    return pd.DataFrame({**table, **certificates}).set_index("level")
