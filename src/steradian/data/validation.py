"""What is accepted as rows, angles, weights and counts, and the words for what is not."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import MOST_NUMBERS, shown
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.tolerances import ANGLE_ROUNDING, PLAIN_WEIGHTS, UNIT_LENGTH, UNIT_ROUNDING
from steradian.spaces import OneForm, Space
from steradian.spaces.base import a_point
from steradian.spaces.unit_vectors import has_unit_rows
from steradian.text.audience import Advice
from steradian.text.messages import Joined, Row, arguments

_SCALED = arguments(normalize=True)
_ANGLES_OR_PLANE = Joined(
    (
        Advice(
            "read them with Directions.from_lonlat or its like",
            "read them with --coords lonlat or its like",
        ),
        Advice("pass normalize=True", "give --coords xyz --normalize"),
    ),
    ", or ",
)
_ANGLES = Advice("Directions.from_angles", "a table, and --coords angle")
_LONGEST_TAKEN_FOR_A_VECTOR = 6.3  # above it two columns may be angles in degrees
_FEW_ENTRIES = 1 << 14  # whose squares are quicker written down than summed on the way
_FEW_COLUMNS = 4  # likewise, of any number of rows
BLOCK = 1 << 17  # rows handled at a time, so that no pass needs memory of order n


def as_numeric(data: Any, what: str) -> AnyArray:
    """A NumPy array of real numbers from lists, arrays or frames, without touching them."""
    if isinstance(data, np.ma.MaskedArray) and np.ma.is_masked(data):
        raise InvalidDirections(f"{what} has masked entries; drop those rows")
    if hasattr(data, "toarray"):
        raise InvalidDirections(f"{what} is a sparse matrix; pass its .toarray()")
    try:
        to_numpy = getattr(data, "to_numpy", None)
        array = np.asarray(to_numpy() if callable(to_numpy) else data)
    except ValueError as error:
        raise InvalidDirections(
            f"{what} is ragged: every row needs the same number of entries"
        ) from error
    except Exception as error:  # whatever a foreign object does, the sentence is ours
        raise InvalidDirections(
            f"{what} is a {type(data).__name__} that does not turn into an array: {error}"
        ) from error
    if array.dtype == object:
        try:
            array = array.astype(np.float64)
        except Exception as error:  # of the entries, likewise
            raise InvalidDirections(
                f"{what} holds entries that are not numbers: {error}"
            ) from error
    if array.dtype.kind not in "fiub":
        raise InvalidDirections(f"{what} has type {array.dtype}; give real numbers")
    if array.dtype.kind != "f" or array.dtype.itemsize > 8:
        array = array.astype(np.float64)
    return array


def real_entries(points: Any, what: str) -> Any:
    """Points in any form, as they are; arrays that are complex or masked are refused.

    Turning them into rows would drop what makes them so.
    """
    if np.ma.is_masked(points) or (isinstance(points, np.ndarray) and points.dtype.kind == "c"):
        return as_numeric(points, what)
    return points


def coordinate_rows(x: ArrayLike) -> AnyArray:
    """Coordinates (n, d) with at least one row and two columns."""
    if hasattr(x, "icrs") and hasattr(x, "spherical"):  # astropy's SkyCoord
        raise InvalidDirections(
            "x is a SkyCoord; read it with Directions.from_radec(x), or Directions.from_lonlat(x) "
            "in its own frame"
        )
    rows = as_numeric(x, "x")
    if rows.size == 0:
        raise InvalidDirections("x is empty; give at least one direction")
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise InvalidDirections(
            "x has shape {shape}; give (n, d) with one direction per row and d >= 2 "
            "(angles: {remedy})",
            shape=rows.shape, remedy=_ANGLES,
        )  # fmt: skip
    return rows


def number_column(values: ArrayLike, what: str) -> Array:
    """Finite numbers, one per row, (n,)."""
    column = as_numeric(values, what).astype(np.float64)
    if column.ndim != 1:
        raise InvalidDirections(f"{what} has shape {column.shape}; give one number per row")
    if not len(column):
        raise InvalidDirections(f"{what} is empty; give at least one")
    _check_finite(column, what)
    return column


def angle_column(values: ArrayLike, what: str, *, degrees: bool) -> Array:
    """A column of angles that double precision still tells apart."""
    column = number_column(values, what)
    unit = np.pi / 180.0 if degrees else 1.0
    lost = np.abs(column) * (unit * float(np.finfo(np.float64).eps)) > ANGLE_ROUNDING
    if lost.any():
        row = int(np.argmax(lost))
        full = "360" if degrees else "2π"
        raise InvalidDirections(
            "{what} in {row} is {value:g}, so large that rounding has moved it by more than "
            "{rounding:g} radians; reduce it modulo {full} where it is still exact",
            what=what, row=Row(row), value=float(column[row]), rounding=ANGLE_ROUNDING, full=full,
        )  # fmt: skip
    return column


def _check_finite(values: Array, what: str) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidDirections(
            "{what} in {row} is {value}; drop or repair that row",
            what=what, row=Row(row), value=values[row],
        )  # fmt: skip


def cos_sin(angle: Array, *, degrees: bool) -> tuple[Array, Array]:
    """Cos and sin, exact at multiples of 90 degrees."""
    if not degrees:
        return np.cos(angle), np.sin(angle)
    turns = np.round(angle / 90.0)
    rest = np.deg2rad(angle - 90.0 * turns)
    cos, sin = np.cos(rest), np.sin(rest)
    quarter = np.mod(turns, 4).astype(int)
    return (
        np.choose(quarter, [cos, -sin, -cos, sin]) + 0.0,  # no negative zeros
        np.choose(quarter, [sin, cos, -sin, -cos]) + 0.0,
    )


def norms(x: AnyArray) -> Array:
    """Lengths of the rows of ``x`` (n, d): (n,)."""
    return np.sqrt(_squared_norms(x))


def _squared_norms(x: AnyArray) -> Array:
    if x.size <= _FEW_ENTRIES or x.shape[1] <= _FEW_COLUMNS:
        with np.errstate(over="ignore", under="ignore"):  # the sum below warns of neither
            return np.asarray(np.multiply(x, x, dtype=np.float64).dot(_ones(x.shape[1])))
    return np.asarray(np.einsum("ij,ij->i", x, x, dtype=np.float64))


@lru_cache(maxsize=8)
def _ones(count: int) -> Array:
    return np.ones(count)


def space_points(rows: AnyArray, space: Space) -> Array:
    """Rows as points of a space, in its one form where it has one; refuse what are none."""
    if rows.shape[1] != space.d:
        raise InvalidDirections(
            f"x has {rows.shape[1]} columns; {a_point(space)} has {space.d} (space: {space.name})"
        )
    x = np.asarray(rows, dtype=np.float64)
    lost = ~np.isfinite(x).all(axis=1)
    if lost.any():
        raise InvalidDirections("{row} is not finite; fix or drop it", row=Row(np.argmax(lost)))
    wrong = space.refusal(x)
    if wrong:
        fix = "{wrong}; fix it, or give the space it belongs to"
        if not has_unit_rows(space):
            raise InvalidDirections(fix, wrong=wrong)
        _refuse_zero(x, space)
        raise InvalidDirections(
            "{wrong}; pass {remedy} or fix it, or give the space it belongs to",
            wrong=wrong, remedy=_SCALED,
        )  # fmt: skip
    return space.one_form(x) if isinstance(space, OneForm) else x


def check_unit_norm(rows: AnyArray) -> bool:
    """Refuse rows that are not of unit norm; tell whether all are, to double precision."""
    tolerance = UNIT_LENGTH
    if rows.dtype.itemsize < 8:
        tolerance = max(tolerance, 16.0 * float(np.finfo(rows.dtype).eps))
    worst = 0.0
    for first in range(0, len(rows), BLOCK):
        squares = _squared_norms(rows[first : first + BLOCK])
        low, high = float(squares[squares.argmin()]), float(squares[squares.argmax()])
        largest = max(math.sqrt(high) - 1.0, 1.0 - math.sqrt(low))
        if not largest <= tolerance:  # also where it is no number
            index = int(np.argmax(~(np.abs(np.sqrt(squares) - 1.0) <= tolerance)))
            _refuse_row(rows[first + index], first + index)
        worst = max(worst, largest)
    return rows.dtype.itemsize == 8 and worst <= UNIT_ROUNDING


def _refuse_row(row: AnyArray, index: int) -> None:
    _refuse_hopeless(row, index)
    largest = float(np.abs(row).max())
    norm = largest * float(np.linalg.norm(row.astype(np.float64) / largest))
    if len(row) == 2 and norm > _LONGEST_TAKEN_FOR_A_VECTOR:
        raise InvalidDirections(
            "{row} has norm {norm:.6g}: two columns of this size may be angles; {remedy} if they "
            "are x and y",
            row=Row(index), norm=norm, remedy=_ANGLES_OR_PLANE,
        )  # fmt: skip
    raise InvalidDirections(
        "{row} has norm {norm:.6g}; pass {remedy} or fix it",
        row=Row(index), norm=norm, remedy=_SCALED,
    )  # fmt: skip


def _refuse_zero(rows: Array, space: Space) -> None:
    """Refuse a zero vector, where it is the first row that is not of unit norm."""
    index = int(np.argmax(~(np.abs(norms(rows) - 1.0) <= UNIT_LENGTH)))
    _refuse_hopeless(rows[index], index, _lack(space))


def _lack(space: Space | None) -> str:
    """What the zero vector lacks, of a space or of the unit sphere."""
    return "has no direction" if space is None else f"is no {space.point_name}"


def _refuse_hopeless(row: AnyArray, index: int, lack: str = "has no direction") -> None:
    if not np.isfinite(row).all():
        raise InvalidDirections(
            "{row} holds {value}; drop or repair that row",
            row=Row(index), value=row[~np.isfinite(row)][0],
        )  # fmt: skip
    if not row.any():
        raise InvalidDirections(
            "{row} is the zero vector, which {lack}; drop it (of a file: {remedy})",
            row=Row(index), lack=lack, remedy=arguments(on_bad="skip"),
        )  # fmt: skip


def normalized_rows(rows: AnyArray, space: Space | None = None) -> Array:
    """Rows of any non-zero length, brought to unit norm; refused where points have another."""
    if space is not None and not has_unit_rows(space):
        raise InvalidDirections(
            "{said} is for unit vectors, and {point} of the {space} is none; scale its parts "
            "before",
            said=_SCALED, point=a_point(space), space=space.name,
        )  # fmt: skip
    x = rows.astype(np.float64)
    largest = np.abs(x).max(axis=1)
    bad: BoolArray = ~np.isfinite(largest) | (largest == 0.0)
    if bad.any():
        index = int(np.argmax(bad))
        _refuse_hopeless(x[index], index, _lack(space))
    x /= largest[:, None]  # so that squares neither overflow nor underflow
    x /= norms(x)[:, None]
    return x


def chosen_rows(rows: Any, n: int) -> IntArray:
    """Numbers of some of ``n`` rows, (k,), from such numbers, a truth for each row, or a slice."""
    try:
        chosen = np.arange(n)[rows if isinstance(rows, slice) else np.asarray(rows)]
    except (IndexError, TypeError, ValueError) as error:
        raise InvalidDirections(_not_rows(rows, n)) from error
    if chosen.ndim != 1:
        raise InvalidDirections(_not_rows(rows, n))
    return chosen


def _not_rows(rows: Any, n: int) -> str:
    return (
        f"rows is {shown(rows)}; give a list of row numbers, 0 to {n - 1}, or True or False for "
        f"each of the {n} rows"
    )


def weight_column(weights: ArrayLike, n: int, what: str) -> Array:
    """Non-negative numbers, one for each of ``n`` rows."""
    w = as_numeric(weights, f"{what}s").astype(np.float64)
    if w.ndim != 1 or len(w) != n:
        raise InvalidDirections(f"{what}s have shape {w.shape} for {n} rows; give one per row")
    _check_finite(w, what)
    if (w < 0).any():
        row = int(np.argmax(w < 0))
        raise InvalidDirections(
            "{what} in {row} is {value:g}; {what}s must not be negative",
            what=what, row=Row(row), value=float(w[row]),
        )  # fmt: skip
    return w


def tamed(w: Array) -> tuple[Array, int]:
    """Weights whose squares and sums stay within double precision, and the power of two lost."""
    largest = float(w.max())
    if not largest or PLAIN_WEIGHTS[0] < largest < PLAIN_WEIGHTS[1]:
        return w, 0
    exponent = math.frexp(largest)[1]
    return np.asarray(np.ldexp(w, -exponent)), exponent


def count_column(counts: ArrayLike, n: int, d: int) -> AnyArray:
    """Whole numbers, one for each of ``n`` rows, whose repeated rows can be held."""
    c = weight_column(counts, n, "count")
    if (c != np.floor(c)).any():
        row = int(np.argmax(c != np.floor(c)))
        raise InvalidDirections(
            "count in {row} is {value:g}; counts are whole numbers, others are {remedy}",
            row=Row(row), value=float(c[row]), remedy=arguments(weights=...),
        )  # fmt: skip
    if not c.any():
        raise InvalidDirections("all counts are zero; give at least one observation")
    total = float((c * 2.0**-64).sum()) * 2.0**64 if c.max() < 1e300 else math.inf
    if total * d > MOST_NUMBERS:
        raise InvalidDirections(
            f"the counts add up to {total:.3g} rows of {d} coordinates, more than the "
            f"{MOST_NUMBERS:.2g} numbers that are held; give them as weights, with a design "
            "that says so"
        )
    return c.astype(np.int64)


def frozen(array: AnyArray) -> AnyArray:
    """A view that nobody can write through."""
    view = array.view()
    view.flags.writeable = False
    return view
