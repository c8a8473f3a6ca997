"""Frames with named columns: which columns are the directions, and in which coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import shown
from steradian.data.directions import Directions
from steradian.data.validation import as_numeric
from steradian.errors import InvalidDirections, MissingExtra
from steradian.numerics.arrays import AnyArray

Coords = Literal["xyz", "lonlat", "angle"]
COORDS: tuple[Coords, ...] = get_args(Coords)

_NAMES: tuple[tuple[Coords, tuple[str, ...]], ...] = (
    ("xyz", ("x", "y", "z")),
    ("lonlat", ("lon", "lat")),
    ("lonlat", ("longitude", "latitude")),
    ("lonlat", ("declination", "inclination")),  # x north, y east, z down
    ("lonlat", ("dec", "inc")),
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
    axial: bool = False,
) -> Directions:
    """Directions from named columns; angles in degrees.

    Without ``columns`` they are recognised by name (x, y, z; lon, lat; longitude, latitude;
    angle; theta). Without ``coords`` the names decide, and otherwise columns are Cartesian. With
    ``axial`` x and -x are the same.
    """
    if coords is not None and (not isinstance(coords, str) or coords not in COORDS):
        raise InvalidDirections(f"coords is {shown(coords)}; choose {', '.join(COORDS)}")
    if columns is not None:
        columns = _column_names(columns)
    labels = _labels(frame)
    present = ", ".join(labels)
    weights_name = weights if isinstance(weights, str) else ""
    if isinstance(weights, str):
        if weights not in labels:
            raise InvalidDirections(f"no weights column {weights!r}; the table has {present}")
        weights = _values(frame, labels.pop(weights_name))
    if columns is None:
        found, names = _recognise(frame, labels, coords)
        coords, columns = coords or found, names
    missing = [c for c in columns if c not in labels]
    if missing and missing == [weights_name]:
        raise InvalidDirections(f"column {missing[0]!r} cannot be a coordinate and the weights")
    if missing:
        raise InvalidDirections(f"no column {missing[0]!r}; the table has {present}")
    values = [_values(frame, labels[c]) for c in columns]
    coords = coords or _convention(columns)
    return from_columns(values, coords, weights=weights, normalize=normalize, axial=axial)


def _labels(frame: Any) -> dict[str, Any]:
    """The columns of a frame by their names as text; names may be numbers."""
    try:
        names = getattr(frame, "column_names", None)  # Arrow tables
        return {str(c): c for c in (frame.columns if names is None else names)}
    except Exception as error:  # whatever calls itself a frame
        raise InvalidDirections(
            f"a {type(frame).__name__} does not tell its columns; pass an array: {error}"
        ) from error


def _column_names(columns: Any) -> list[str]:
    """Names of columns as a list of text."""
    try:
        return [str(c) for c in columns]
    except TypeError as error:
        raise InvalidDirections(
            f"columns is {shown(columns)}; give a list of names, like ['x', 'y']"
        ) from error


def from_columns(
    values: Sequence[Any],
    coords: Coords,
    *,
    weights: ArrayLike | None = None,
    normalize: bool = False,
    axial: bool = False,
) -> Directions:
    """Directions from coordinate columns in a stated convention; angles in degrees."""
    if coords == "xyz":
        if len(values) < 2:
            raise InvalidDirections(
                "Cartesian coordinates need at least two columns; name them, or give the "
                "convention of the one there is (coords='angle')"
            )
        lengths = {len(v) for v in values}
        if len(lengths) > 1:
            raise InvalidDirections(f"columns have {sorted(lengths)} rows; give one value per row")
        return Directions(np.column_stack(values), weights, normalize=normalize, axial=axial)
    wanted = {"lonlat": 2, "angle": 1}[coords]
    if len(values) != wanted:
        raise InvalidDirections(f"coords {coords!r} takes {wanted} column(s), not {len(values)}")
    if coords == "lonlat":
        return Directions.from_lonlat(*values, weights=weights, axial=axial)
    return Directions.from_angles(values[0], degrees=True, weights=weights, axial=axial)


def _convention(columns: Sequence[str]) -> Coords:
    """The convention that the names of the columns tell, else Cartesian."""
    lower = tuple(c.lower() for c in columns)
    for kind, names in _NAMES:
        if lower == names:
            return kind
        if kind == "lonlat" and lower == names[::-1]:
            raise InvalidDirections(
                f"columns {', '.join(columns)} are in the wrong order; give {', '.join(names)}"
            )
    return "xyz"


def _recognise(
    frame: Any, labels: dict[str, Any], coords: Coords | None
) -> tuple[Coords, tuple[str, ...]]:
    lower = {c.lower(): c for c in labels} | {c: c for c in labels}  # exact names win
    for kind, names in _NAMES:
        if coords in (None, kind) and all(name in lower for name in names):
            return kind, tuple(lower[name] for name in names)
    numeric = all(_is_numeric(frame, label) for label in labels.values())
    if coords is None and len(labels) > 2 and numeric:  # two could be any pair of angles
        return "xyz", tuple(labels)
    raise InvalidDirections(
        f"cannot tell which of the columns {', '.join(labels)} are the coordinates; "
        "name them (columns=…, --columns) with their convention (coords=…, --coords)"
    )


def _is_numeric(frame: Any, label: Any) -> bool:
    try:
        return _values(frame, label).dtype.kind == "f"
    except InvalidDirections:
        return False


def _values(frame: Any, label: Any) -> AnyArray:
    try:
        given = frame[label]
    except Exception as error:  # whatever calls itself a frame
        raise InvalidDirections(
            f"column {str(label)!r} cannot be read from a {type(frame).__name__}: {error}"
        ) from error
    values = as_numeric(given, f"column {str(label)!r}")
    if values.ndim != 1:
        raise InvalidDirections(f"column {str(label)!r} is there more than once; rename one")
    return values


def column(frame: Any, name: str) -> AnyArray:
    """The values of one named column, of any type."""
    labels = _labels(frame)
    if name not in labels:
        raise InvalidDirections(f"no column {name!r}; the table has {', '.join(labels)}")
    values = frame[labels[name]]
    return np.asarray(values.to_numpy() if hasattr(values, "to_numpy") else values)


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
