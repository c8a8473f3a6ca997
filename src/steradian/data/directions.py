"""Directions: unit vectors with weights, validated once. Every convention enters here."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import MOST_NUMBERS, real_number, shown, whole_number
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, Array, BoolArray
from steradian.spaces import Space, unit_sphere

BLOCK = 1 << 17  # rows handled at a time, so that no pass needs memory of order n
_BLOCK_ENTRIES = 1 << 22  # and never more numbers than this
_UNIT_TOLERANCE = 1e-6
_SAME_POINT = 14  # decimals to which two directions of a support are one
_EXACT = 4.0 * float(np.finfo(np.float64).eps)
_SPAN_ROUNDING = 1e-7  # root mean square that summing squares in double precision still sees
_PLAIN_WEIGHTS = 1e-100, 1e100  # outside, weights are held times a power of two
_ANGLE_ERROR = 1e-9  # radians by which rounding may have moved an angle


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Directions:
    """Unit vectors of R^d with non-negative weights.

    Parameters
    ----------
    x : array_like, (n, d)
        One direction per row, d >= 2: nested lists, any real NumPy array, or a pandas or
        polars frame whose columns are the coordinates. Rows must have unit norm to
        rounding of their own precision; they are brought to unit norm in double
        precision when used. An array is held, not copied: do not change it while in use.
    weights : array_like, (n,), optional
        Non-negative, any scale. Default: all equal.
    counts : array_like of integers, (n,), optional
        How often each row was observed. Unlike weights, counts are observations: a count
        of 3 is three rows.
    normalize : bool
        Scale rows of any non-zero length to unit norm.

    Raises
    ------
    InvalidDirections
        Naming the first offending row and the remedy.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Directions([[0, 0, 2], [1, 0, 0]], normalize=True)
    Directions(n=2, d=3, equal weights)
    """

    _x: AnyArray
    _weights: Array | None
    _within: int  # dimensions before `within_span`, 0 when it was not used
    _exact: bool  # whether the rows are of unit norm to double precision as they stand
    _exponent: int  # weights are held divided by two to this power

    def __init__(
        self,
        x: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        normalize: bool = False,
    ) -> None:
        rows = _coordinates(x)
        given, exponent = None, 0
        if weights is not None:
            given, exponent = tamed(_weights(weights, len(rows), "weight"))
        if not isinstance(normalize, bool | np.bool_):
            raise InvalidDirections(f"normalize is {shown(normalize)}; give True or False")
        if normalize:
            rows = _normalized(rows)
        exact = _check_unit(rows)
        if counts is not None:
            times = _counts(counts, *rows.shape)
            rows = np.repeat(rows, times, axis=0)
            given = None if given is None else np.repeat(given, times)
        if given is not None and not given.any():
            raise InvalidDirections("all weights are zero; give at least one positive weight")
        object.__setattr__(self, "_x", _frozen(rows))
        object.__setattr__(self, "_weights", None if given is None else _frozen(given))
        object.__setattr__(self, "_within", 0)
        object.__setattr__(self, "_exact", exact)
        object.__setattr__(self, "_exponent", exponent)

    @classmethod
    def from_angles(
        cls, theta: ArrayLike, *, degrees: bool = False, weights: ArrayLike | None = None
    ) -> Directions:
        """Directions on the circle from angles, counter-clockwise from the first axis.

        Angles may be in any range in which double precision holds them to 1e-9 radians: up
        to 4.5e6 radians, or 2.5e8 degrees.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_angles([0, 90], degrees=True).x.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        angle = _angles(theta, "angle", degrees=degrees)
        cos, sin = _cos_sin(angle, degrees=degrees)
        return cls(np.stack([cos, sin], axis=1), weights)

    @classmethod
    def from_lonlat(
        cls,
        lon: ArrayLike,
        lat: ArrayLike,
        *,
        degrees: bool = True,
        weights: ArrayLike | None = None,
    ) -> Directions:
        """Directions on the sphere from longitude and latitude.

        x points to (0, 0), y to (90, 0), z to the north pole. Latitudes beyond a pole are
        an error; longitudes may be in any range.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_lonlat([0, 90, 0], [0, 0, 90]).x.tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        longitude = _angles(lon, "longitude", degrees=degrees)
        latitude = _column(lat, "latitude")
        if len(longitude) != len(latitude):
            raise InvalidDirections(
                f"{len(longitude)} longitudes but {len(latitude)} latitudes; "
                "give one of each per row"
            )
        limit = 90.0 if degrees else 0.5 * np.pi
        beyond = np.abs(latitude) > limit * (1.0 + 1e-12)
        if beyond.any():
            row = int(np.argmax(beyond))
            raise InvalidDirections(
                f"row {row} has latitude {latitude[row]:g}, beyond ±{limit:g}; "
                "check the column order and the unit (degrees=True or False)"
            )
        cos_lat, sin_lat = _cos_sin(latitude, degrees=degrees)
        cos_lon, sin_lon = _cos_sin(longitude, degrees=degrees)
        return cls(np.stack([cos_lat * cos_lon, cos_lat * sin_lon, sin_lat], axis=1), weights)

    @property
    def n(self) -> int:
        """Number of rows."""
        return len(self._x)

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return int(self._x.shape[1])

    @property
    def space(self) -> Space:
        """The unit sphere these directions live on."""
        return unit_sphere(self.d)

    @property
    def ambient(self) -> int:
        """Dimension of the space they were given in, before `within_span`."""
        return self._within or self.d

    @property
    def weighted(self) -> bool:
        """Whether weights were given."""
        return self._weights is not None

    @property
    def x(self) -> Array:
        """Unit vectors in double precision, (n, d)."""
        if self._exact:
            return np.asarray(self._x, dtype=np.float64)
        return np.concatenate([x for x, _ in self.blocks()])

    @property
    def weights(self) -> Array:
        """Weights of sum one, (n,)."""
        if self._weights is None:
            return np.full(self.n, 1.0 / self.n)
        return self._weights / self._weights.sum()

    @property
    def ess(self) -> float:
        """Kish's (Σw)² / Σw²: a measure of weight concentration, not of sampling precision."""
        if self._weights is None:
            return float(self.n)
        w = self._weights / self._weights.max()
        return float(w.sum() ** 2 / (w * w).sum())

    @property
    def weight_exponent(self) -> int:
        """Weights are as in `blocks` times two to this power: zero unless beyond 1e±100."""
        return self._exponent

    def blocks(self, size: int | None = None) -> Iterator[tuple[Array, Array]]:
        """Unit rows in double precision with their raw weights, ``size`` rows at a time.

        Weights beyond 1e±100 are divided by ``2**weight_exponent``, so that neither their
        squares nor their sums leave double precision.
        """
        if size is None:
            size = max(1, min(BLOCK, _BLOCK_ENTRIES // self.d))
        return self._blocks(whole_number(size, "size", least=1))

    def _blocks(self, size: int) -> Iterator[tuple[Array, Array]]:
        for first in range(0, self.n, size):
            x = np.asarray(self._x[first : first + size], dtype=np.float64)
            w = np.ones(len(x)) if self._weights is None else self._weights[first : first + size]
            yield (x if self._exact else x / _norms(x)[:, None]), w

    def within_span(self, tol: float = 1e-10) -> Directions:
        """The same directions as unit vectors of the subspace they span.

        A direction of space counts as dead when the root mean square of its coordinate is
        below ``tol`` times the largest one. Real embeddings often have some; level 2 does not
        exist there, since nothing bounds the fit across them. A profile of the result is
        relative to the uniform law on the subsphere, not on the whole one.

        Examples
        --------
        >>> import steradian as sr
        >>> flat = sr.Directions([[1, 0, 0], [0, 1, 0], [-0.6, 0.8, 0]])
        >>> flat.within_span()
        Directions(n=3, d=2, equal weights, within the 2 of 3 dimensions they span)
        """
        tol = real_number(tol, "tol", "give a small number, like 1e-10")
        second = np.zeros((self.d, self.d))
        for x, w in self.blocks():
            second += (w[:, None] * x).T @ x
        values, axes = np.linalg.eigh(second)
        alive = values > max(tol, _SPAN_ROUNDING) ** 2 * values[-1]
        if alive.all():
            return self
        if alive.sum() < 2:
            raise InvalidDirections("these directions span one dimension; there is no sphere in it")
        basis = axes[:, alive][:, ::-1]
        inside = np.concatenate([x @ basis for x, _ in self.blocks()])
        result = Directions(inside, self._weights, normalize=True)
        object.__setattr__(result, "_within", self._within or self.d)
        object.__setattr__(result, "_exponent", self._exponent)
        return result

    def support(self) -> tuple[Array, Array]:
        """The distinct directions of positive weight, and the weight of each (sum one)."""
        w = self.weights
        x, w = self.x[w > 0] + 0.0, w[w > 0]  # -0.0 and 0.0 are one point
        _, first, inverse = np.unique(
            np.round(x, _SAME_POINT), axis=0, return_index=True, return_inverse=True
        )
        return x[first], np.bincount(inverse.ravel(), weights=w).astype(np.float64)

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        kind = f"weighted, ESS {self.ess:.1f}" if self.weighted else "equal weights"
        span = f", within the {self.d} of {self._within} dimensions they span"
        return f"Directions(n={self.n}, d={self.d}, {kind}{span if self._within else ''})"


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


def _coordinates(x: ArrayLike) -> AnyArray:
    rows = as_numeric(x, "x")
    if rows.size == 0:
        raise InvalidDirections("x is empty; give at least one direction")
    if rows.ndim != 2 or rows.shape[1] < 2:
        raise InvalidDirections(
            f"x has shape {rows.shape}; give (n, d) with one direction per row and d >= 2 "
            "(angles: Directions.from_angles)"
        )
    return rows


def _column(values: ArrayLike, what: str) -> Array:
    column = as_numeric(values, what).astype(np.float64)
    if column.ndim != 1:
        raise InvalidDirections(f"{what} has shape {column.shape}; give one number per row")
    if not len(column):
        raise InvalidDirections(f"{what} is empty; give at least one")
    _check_finite(column, what)
    return column


def _angles(values: ArrayLike, what: str, *, degrees: bool) -> Array:
    """A column of angles that double precision still tells apart."""
    column = _column(values, what)
    unit = np.pi / 180.0 if degrees else 1.0
    lost = np.abs(column) * (unit * float(np.finfo(np.float64).eps)) > _ANGLE_ERROR
    if lost.any():
        row = int(np.argmax(lost))
        full = "360" if degrees else "2π"
        raise InvalidDirections(
            f"{what} in row {row} is {column[row]:g}, so large that rounding has moved it by "
            f"more than {_ANGLE_ERROR:g} radians; reduce it modulo {full} where it is still exact"
        )
    return column


def _check_finite(values: Array, what: str) -> None:
    bad = ~np.isfinite(values)
    if bad.any():
        row = int(np.argmax(bad))
        raise InvalidDirections(f"{what} in row {row} is {values[row]}; drop or repair that row")


def _cos_sin(angle: Array, *, degrees: bool) -> tuple[Array, Array]:
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


def _norms(x: AnyArray) -> Array:
    return np.sqrt(np.einsum("ij,ij->i", x, x, dtype=np.float64))


def _check_unit(rows: AnyArray) -> bool:
    """Refuse rows that are not of unit norm; tell whether all are, to double precision."""
    tolerance = _UNIT_TOLERANCE
    if rows.dtype.itemsize < 8:
        tolerance = max(tolerance, 16.0 * float(np.finfo(rows.dtype).eps))
    worst = 0.0
    for first in range(0, len(rows), BLOCK):
        away = np.abs(_norms(rows[first : first + BLOCK]) - 1.0)
        largest = float(away.max())
        if not largest <= tolerance:
            index = int(np.argmax(~(away <= tolerance)))
            _refuse_row(rows[first + index], first + index)
        worst = max(worst, largest)
    return rows.dtype.itemsize == 8 and worst <= _EXACT


def _refuse_row(row: AnyArray, index: int) -> None:
    _refuse_hopeless(row, index)
    largest = float(np.abs(row).max())
    norm = largest * float(np.linalg.norm(row.astype(np.float64) / largest))
    raise InvalidDirections(f"row {index} has norm {norm:.6g}; pass normalize=True or fix it")


def _refuse_hopeless(row: AnyArray, index: int) -> None:
    if not np.isfinite(row).all():
        raise InvalidDirections(
            f"row {index} holds {row[~np.isfinite(row)][0]}; drop or repair that row"
        )
    if not row.any():
        raise InvalidDirections(f"row {index} is the zero vector, which has no direction; drop it")


def _normalized(rows: AnyArray) -> Array:
    x = rows.astype(np.float64)
    largest = np.abs(x).max(axis=1)
    bad: BoolArray = ~np.isfinite(largest) | (largest == 0.0)
    if bad.any():
        index = int(np.argmax(bad))
        _refuse_hopeless(x[index], index)
    x /= largest[:, None]  # so that squares neither overflow nor underflow
    x /= _norms(x)[:, None]
    return x


def _weights(weights: ArrayLike, n: int, what: str) -> Array:
    w = as_numeric(weights, f"{what}s").astype(np.float64)
    if w.ndim != 1 or len(w) != n:
        raise InvalidDirections(f"{what}s have shape {w.shape} for {n} rows; give one per row")
    _check_finite(w, what)
    if (w < 0).any():
        row = int(np.argmax(w < 0))
        raise InvalidDirections(f"{what} in row {row} is {w[row]:g}; {what}s must not be negative")
    return w


def tamed(w: Array) -> tuple[Array, int]:
    """Weights whose squares and sums stay within double precision, and the power of two lost."""
    largest = float(w.max())
    if not largest or _PLAIN_WEIGHTS[0] < largest < _PLAIN_WEIGHTS[1]:
        return w, 0
    exponent = math.frexp(largest)[1]
    return np.asarray(np.ldexp(w, -exponent)), exponent


def _counts(counts: ArrayLike, n: int, d: int) -> AnyArray:
    c = _weights(counts, n, "count")
    if (c != np.floor(c)).any():
        row = int(np.argmax(c != np.floor(c)))
        raise InvalidDirections(f"count in row {row} is {c[row]:g}; counts are whole numbers")
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


def _frozen(array: AnyArray) -> AnyArray:
    view = array.view()
    view.flags.writeable = False
    return view
