"""What every design offers, and the identifiers of units that several read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.numerics.arrays import AnyArray, IntArray


class Design(ABC):
    """How a weighted sample came about."""

    name: ClassVar[str]

    @abstractmethod
    def units(self, directions: Directions) -> Units:
        """The independent units of a sample."""

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What the design assumes, for reports."""

    def check(self, directions: Directions) -> None:
        """Raise `DesignError` unless this design fits these rows."""
        self.units(directions)

    def with_columns(self, column: Callable[[str], Any]) -> Design:
        """The same design with names of columns replaced by their values."""
        named = {f.name: getattr(self, f.name) for f in fields(self)}  # type: ignore[arg-type]
        found = {k: column(v) for k, v in named.items() if isinstance(v, str)}
        return replace(self, **found) if found else self  # type: ignore[type-var]


def unit_labels(ids: ArrayLike | str, n: int, what: str) -> IntArray:
    """Codes 0, 1, … of identifiers of any type, one per row."""
    if isinstance(ids, str):
        raise DesignError(f"{what} {ids!r} names a column, but the data are not a table; pass ids")
    values = _values(ids)
    if values.ndim != 1 or len(values) != n:
        raise DesignError(f"{what} ids have shape {values.shape}; give one per row, ({n},)")
    missing = [k for k, v in enumerate(values.tolist()) if _is_missing(v)]
    if missing:
        raise DesignError(f"row {missing[0]} has no {what} id; give every row one")
    plain = values.astype(str) if values.dtype == object else values
    _, codes = np.unique(plain, return_inverse=True)
    return np.asarray(codes, dtype=np.int64)


def unit_names(ids: ArrayLike | str, labels: IntArray) -> AnyArray:
    """The id of each unit as it was given, in the order of the codes."""
    _, first = np.unique(labels, return_index=True)
    return np.asarray(_values(ids)[first])


def _values(ids: ArrayLike | str) -> AnyArray:
    to_numpy = getattr(ids, "to_numpy", None)
    given: Any = to_numpy() if callable(to_numpy) else ids
    return given if isinstance(given, np.ndarray) else np.array(given, dtype=object)


def _is_missing(value: Any) -> bool:
    """None, NaN, an empty cell, and what pandas puts in their place."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(value, str) and not value.strip():
        return True
    return type(value).__name__ in {"NAType", "NaTType"}
