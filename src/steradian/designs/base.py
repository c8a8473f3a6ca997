"""What every design offers, and the identifiers of units that several read."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import shown
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.division import whole_units
from steradian.designs.units import Units, faults_of
from steradian.errors import ConformanceError, DesignError
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.text.messages import TESTS, Row, arguments

Features = Callable[[Array], Array]
"""Rows (n, d) → functions of them (n, p)."""


class Design(ABC):
    """How a weighted sample came about, and what may be asked about it.

    Nobody asks a design for its name but to print it. What it can do it declares; the defaults
    are those of groups of rows that brought their weights.

    Attributes
    ----------
    name : str
        What people call it.
    defines_inference : bool
        Whether there is a sampling law at all; without one `refusal` says so.
    has_units : bool
        Whether rows fall into independent `units`; without them nothing is known of single rows.
    rows_of_one_law : bool
        Whether every row is a draw of the law itself, with a weight settled beforehand. A model
        of the law then settles the law of every statistic, and fits can be drawn from.
    random_weights : bool
        Whether rows were drawn together with their weights, so that numerator and denominator of
        a weighted mean vary together.
    from_sums : bool
        Whether sums over the rows are enough. Covariances follow from them as
        ``Σ = a² Σ_i w_i² (φ_i - μ)(φ_i - μ)ᵀ / (Σ w)²`` unless `known_covariance` gives them, and
        a from `rate_from_sums`. Otherwise the rows are needed.
    equal_weights, needs_weights : bool
        Whether weights contradict it, and whether it means nothing without them.
    """

    name: ClassVar[str]
    defines_inference: ClassVar[bool] = True
    has_units: ClassVar[bool] = True
    rows_of_one_law: ClassVar[bool] = False
    random_weights: ClassVar[bool] = True
    from_sums: ClassVar[bool] = False
    equal_weights: ClassVar[bool] = False
    needs_weights: ClassVar[bool] = False

    @abstractmethod
    def units(self, directions: Directions) -> Units:
        """The independent units of a sample."""

    def units_for(self, directions: Directions, features: Features) -> Units:  # noqa: ARG002
        """The units for questions about these features; by default the same whatever is asked."""
        return self.units(directions)

    @property
    @abstractmethod
    def sentence(self) -> str:
        """What the design assumes, for reports."""

    @property
    def in_short(self) -> str:
        """What a printed profile says about it."""
        if not self.defines_inference:
            needed = arguments(design=...)
            return f"Design {self.name}: the weighted set itself; noise and p-values need {needed}."
        floor = "about features / 2n" if self.equal_weights else "above zero"
        return f"Design {self.name}. With nothing to find, I is still {floor}: see {TESTS}."

    def check(self, directions: Directions) -> None:
        """Raise `DesignError` unless this design fits these rows.

        Units that are none are a `ConformanceError` here, before a number is made with them.
        """
        faults = tuple(faults_of(self.units(directions), directions.n))
        if faults:
            raise ConformanceError(shown(self), faults)

    def check_sums(self, *, weighted: bool) -> None:
        """Raise `DesignError` unless this design fits moments alone, of weighted rows or not."""
        if not self.from_sums:
            raise DesignError(
                f"design {self.name!r} needs the rows, and these are moments; profile the "
                "directions"
            )
        if weighted and self.equal_weights:
            raise DesignError(
                f"design {self.name!r} means equal weights, and these moments have weights"
            )
        if not weighted and self.needs_weights:
            raise DesignError(f"design {self.name!r} needs weights, and these moments have none")

    def refusal(self) -> DesignError:
        """Why there is no inference, and the ways out."""
        return DesignError(f"design {self.name!r} defines no p-value or standard error")

    def rate_from_sums(self, moments: Moments) -> float:
        """The rate a of a sample that is known by its moments."""
        return math.sqrt(moments.n)

    @property
    def known_covariance(self) -> Array | None:
        """Σ of a (m̂ - m) for the features of the highest level, (q, q), where it is given."""
        return None

    def drawn_rows(
        self, directions: Directions, share: float, rng: np.random.Generator
    ) -> BoolArray:
        """Rows, a random ``share``, that may be looked at and leave a sample of this design, (n,).

        By default whole units, drawn within their strata.
        """
        units = self.units(directions)
        labels = np.arange(directions.n) if units.labels is None else units.labels
        return whole_units(labels, units.strata, share, rng)

    def of_rows(self, rows: BoolArray) -> Design:  # noqa: ARG002 - rows need not be told apart
        """The design of some rows (n,), whole units; the same where it holds nothing of rows."""
        return self

    def with_columns(self, column: Callable[[str], Any]) -> Design:
        """The same design with names of columns replaced by their values."""
        own: Any = self  # a design need not be a dataclass; then it names no columns
        named = {f.name: getattr(own, f.name) for f in fields(own)} if is_dataclass(own) else {}
        found = {k: column(v) for k, v in named.items() if isinstance(v, str)}
        return cast(Design, replace(own, **found)) if found else self


def unit_labels(ids: ArrayLike | str, n: int, what: str) -> IntArray:
    """Codes 0, 1, … of identifiers of any type, one per row."""
    if isinstance(ids, str):
        raise DesignError(f"{what} {ids!r} names a column, but the data are not a table; pass ids")
    values = _values(ids)
    if values.ndim != 1 or len(values) != n:
        raise DesignError(f"{what} ids have shape {values.shape}; give one per row, ({n},)")
    if values.dtype == object:
        missing = np.array([_is_missing(v) for v in values.tolist()], dtype=bool)
        values = np.where(missing, "", values.astype(str))
    seen, codes = _numbered(values)  # few values stand for many rows
    whole = seen.dtype.kind in "iu"  # then none can be missing
    empty = np.array([not whole and _is_missing(v) for v in seen.tolist()], dtype=bool)
    if empty.any():
        row = int(np.argmax(empty[codes]))
        raise DesignError("{row} has no {what} id; give every row one", row=Row(row), what=what)
    return np.asarray(codes, dtype=np.int64)


def ids_of_rows(ids: ArrayLike | str | None, rows: BoolArray) -> AnyArray | str | None:
    """Identifiers of some of the rows."""
    return ids if ids is None or isinstance(ids, str) else _values(ids)[rows]


def unit_names(ids: ArrayLike | str, labels: IntArray) -> AnyArray:
    """The id of each unit as it was given, in the order of the codes."""
    values = _values(ids)
    out = np.empty(int(labels.max(initial=-1)) + 1, dtype=values.dtype)
    out[labels[::-1]] = values[::-1]  # of equal places the last one written stays: the first id
    return np.asarray(out)


def _numbered(values: AnyArray) -> tuple[AnyArray, AnyArray]:
    """The distinct values in order, and which of them each is; whole numbers without sorting."""
    if values.dtype.kind in "iu" and len(values):
        low = int(values.min())
        span = int(values.max()) - low
        if span < len(values):
            away = (values - values.dtype.type(low)).astype(np.int64)
            there = np.bincount(away, minlength=span + 1) > 0
            return np.flatnonzero(there).astype(values.dtype) + values.dtype.type(low), (
                np.cumsum(there) - 1
            )[away]
    return np.unique(values, return_inverse=True)


def _values(ids: ArrayLike | str) -> AnyArray:
    to_numpy = getattr(ids, "to_numpy", None)
    try:
        given: Any = to_numpy() if callable(to_numpy) else ids
        return given if isinstance(given, np.ndarray) else np.array(given, dtype=object)
    except Exception as error:  # whatever a foreign object does, the message is ours
        raise DesignError(f"ids are {shown(ids)}; give one per row") from error


def _is_missing(value: Any) -> bool:
    """None, NaN, an empty cell, and what pandas puts in their place."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return True
    if isinstance(value, str) and not value.strip():
        return True
    return type(value).__name__ in {"NAType", "NaTType"}
