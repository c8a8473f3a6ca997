"""Directions: unit vectors with weights, validated once. Conventions are in `constructors`."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import real_number, shown, whole_number, wrong_value
from steradian.contract import is_object_of
from steradian.data.constructors import Constructors
from steradian.data.conventions import convention
from steradian.data.interpretation import Points
from steradian.data.notation import Notation, Reading
from steradian.data.validation import (
    BLOCK,
    check_unit_norm,
    chosen_rows,
    coordinate_rows,
    count_column,
    frozen,
    normalized_rows,
    norms,
    real_entries,
    space_points,
    tamed,
    weight_column,
)
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import SPAN_ROUNDING
from steradian.spaces import Axes, OtherForms, Rotations, Space, unit_sphere
from steradian.spaces.rotations import as_quaternions
from steradian.text.messages import arguments

_BLOCK_ENTRIES = 1 << 22  # numbers handled at a time, at most
_SAME_POINT = 14  # decimals to which two directions of a support are one


@dataclass(frozen=True, slots=True, init=False, eq=False)
class Directions(Constructors):
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
    space : Space, optional
        Where the rows are points of another space than the unit sphere: ``sr.Torus(k)``,
        ``sr.Axes(d)``, ``sr.Rotations()``, or one of your own.
    axial : bool
        Whether x and -x are the same: the space is ``sr.Axes(d)`` then. Rows are held with the
        sign that makes their last coordinate that is not zero positive.

    Raises
    ------
    InvalidDirections
        Naming the first offending row and the remedy.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.Directions([[0, 0, 2], [1, 0, 0]], normalize=True)
    Directions(n=2, d=3, equal weights)
    >>> sr.Directions([[0, 0, -1], [1, 0, 0]], axial=True)
    Directions(n=2, d=3, equal weights, axes of R^3)
    """

    _x: AnyArray
    _weights: Array | None
    _within: int  # dimensions before `within_span`, 0 when it was not used
    _exact: bool  # whether the rows are of unit norm to double precision as they stand
    _exponent: int  # weights are held divided by two to this power
    _space: Space | None  # None for the unit sphere
    _reading: Reading | None  # what was understood of the source, None for plain rows
    _rows: IntArray | None  # of the source that each is from, None for all of them in order

    def __init__(
        self,
        x: ArrayLike,
        weights: ArrayLike | None = None,
        *,
        counts: ArrayLike | None = None,
        normalize: bool = False,
        space: Space | None = None,
        axial: bool = False,
    ) -> None:
        if space is not None and not is_object_of(space, Space):
            raise InvalidDirections(f"space is {shown(space)}; give an object like sr.Torus(2)")
        if space is not None and isinstance(space, OtherForms):
            x = space.rows_of(real_entries(x, "x"))
        rows = coordinate_rows(x)
        space = _where(rows.shape[1], space, axial)
        given, exponent = None, 0
        if weights is not None:
            given, exponent = tamed(weight_column(weights, len(rows), "weight"))
        if not isinstance(normalize, bool | np.bool_):
            raise wrong_value("normalize", normalize, "give True or False", InvalidDirections)
        if normalize:
            rows = normalized_rows(rows, space)
        exact = space is not None or check_unit_norm(rows)
        rows = rows if space is None else space_points(rows, space)
        held = None
        if counts is not None:
            times = count_column(counts, *rows.shape)
            held = frozen(np.repeat(np.arange(len(rows)), times))
            rows = np.repeat(rows, times, axis=0)
            given = None if given is None else np.repeat(given, times)
        if given is not None and not given.any():
            raise InvalidDirections("all weights are zero; give at least one positive weight")
        object.__setattr__(self, "_x", frozen(rows))
        object.__setattr__(self, "_weights", None if given is None else frozen(given))
        object.__setattr__(self, "_within", 0)
        object.__setattr__(self, "_exact", exact)
        object.__setattr__(self, "_exponent", exponent)
        object.__setattr__(self, "_space", space)
        object.__setattr__(self, "_reading", None)
        object.__setattr__(self, "_rows", held)

    @classmethod
    def _understood(
        cls,
        points: Points,
        weights: ArrayLike | None,
        counts: ArrayLike | None,
        axial: bool,
    ) -> Directions:
        """Directions of points whose notation is known."""
        system = points.notation.convention
        space = None if system.space is None else system.space(points.x.shape[1] // 2)
        made = cls(points.x, weights, counts=counts, space=space, axial=axial)
        reading = Reading(
            points.notation,
            rows=len(points.x),
            assumed=points.assumed,
            weights="none" if weights is None else "given",
            counts="" if counts is None else "given",
            observations=0 if counts is None else made.n,
            axial=bool(axial),
        )
        return made.with_reading(reading)

    @classmethod
    def from_quaternions(
        cls,
        q: ArrayLike,
        *,
        weights: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        normalize: bool = False,
    ) -> Directions:
        """Rotations of space from unit quaternions (x, y, z, w), scalar last, as in SciPy.

        q and -q are the same rotation. Scalar-first quaternions (w, x, y, z) are brought to
        this order by ``q[:, [1, 2, 3, 0]]``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_quaternions([[0, 0, 0, 1], [0, 0, -0.6, -0.8]]).x.tolist()
        [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.6, 0.8]]
        """
        return cls(q, weights, counts=counts, normalize=normalize, space=Rotations())

    @classmethod
    def from_rotations(
        cls,
        rotations: Any,
        *,
        weights: ArrayLike | None = None,
        counts: ArrayLike | None = None,
    ) -> Directions:
        """Rotations of space from matrices (n, 3, 3) or a ``scipy.spatial.transform.Rotation``.

        Matrices that are no rotations (columns that are not orthonormal, or a reflection) are an
        error that names the first.

        Examples
        --------
        >>> import numpy as np
        >>> import steradian as sr
        >>> sr.Directions.from_rotations(np.eye(3)[None]).x.tolist()
        [[0.0, 0.0, 0.0, 1.0]]
        """
        rows = as_quaternions(real_entries(rotations, "rotations"))
        return cls(rows, weights, counts=counts, space=Rotations())

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
        """Where they live: the unit sphere unless another space was given."""
        return unit_sphere(self.d) if self._space is None else self._space

    def take(self, rows: ArrayLike | slice) -> Directions:
        """Some of the rows, by number or by a truth for each, with their weights.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions([[1, 0], [0, 1], [-1, 0]]).take([0, 2]).x.tolist()
        [[1.0, 0.0], [-1.0, 0.0]]
        """
        chosen = chosen_rows(rows, self.n)
        weights = self.weights[chosen] if self.weighted else None
        some = Directions(self.x[chosen], weights, space=self._space)
        object.__setattr__(some, "_within", self._within)
        object.__setattr__(some, "_rows", frozen(self.rows[chosen]))
        return some.with_reading(None if self._reading is None else self._reading.with_rows(some.n))

    def with_reading(self, reading: Reading | None) -> Directions:
        """The same with what was understood of their source."""
        same = copy.copy(self)
        object.__setattr__(same, "_reading", reading)
        return same

    def with_rows(self, rows: IntArray) -> Directions:
        """The same with the row of their source that each is from."""
        same = copy.copy(self)
        object.__setattr__(same, "_rows", frozen(rows))
        return same

    @property
    def rows(self) -> IntArray:
        """The row of the table or array that each is from, (n,), counted from 0.

        What else the table holds is taken by it where rows were left out as bad, or counted:
        ``table["site"].to_numpy()[directions.rows]``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions([[1, 0], [0, 1]], counts=[2, 1]).rows.tolist()
        [0, 0, 1]
        """
        return np.arange(self.n) if self._rows is None else self._rows

    @property
    def reading(self) -> Reading | None:
        """What was understood of their source, None for Cartesian rows of an array."""
        return self._reading

    @property
    def notation(self) -> Notation | None:
        """The convention and unit they came in, in which results are told."""
        known = self._reading
        return None if known is None or known.within else known.notation

    def coordinates(self, coords: str | None = None, *, degrees: bool = True) -> tuple[Array, ...]:
        """Columns of the directions in a convention, that they came in by default.

        Examples
        --------
        >>> import steradian as sr
        >>> d = sr.Directions.from_strike_dip([30.0], [60.0])
        >>> [float(column[0].round(9)) for column in d.coordinates("trend_plunge")]
        [300.0, 30.0]
        """
        if coords is None and self.notation is not None:
            return tuple(self.notation.values(self.x))
        told = Notation(convention(coords or "xyz"), "degrees" if degrees else "radians")
        return tuple(told.values(self.x))

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
            return self._blocks(max(1, min(BLOCK, _BLOCK_ENTRIES // self.d)))
        return self._blocks(whole_number(size, "size", least=1))

    def _blocks(self, size: int) -> Iterator[tuple[Array, Array]]:
        for first in range(0, self.n, size):
            x = np.asarray(self._x[first : first + size], dtype=np.float64)
            w = np.ones(len(x)) if self._weights is None else self._weights[first : first + size]
            yield (x if self._exact else x / norms(x)[:, None]), w

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
        axial = self._space == Axes(self.d)
        if self._space is not None and not axial:
            raise InvalidDirections(
                f"within_span is for unit vectors, not for the {self.space.name}"
            )
        second = np.zeros((self.d, self.d))
        for x, w in self.blocks():
            second += (w[:, None] * x).T @ x
        values, axes = np.linalg.eigh(second)
        alive = values > max(tol, SPAN_ROUNDING) ** 2 * values[-1]
        if alive.all():
            return self
        if alive.sum() < 2:
            raise InvalidDirections("these directions span one dimension; there is no sphere in it")
        basis = axes[:, alive][:, ::-1]
        inside = np.concatenate([x @ basis for x, _ in self.blocks()])
        result = Directions(inside, self._weights, normalize=True, axial=axial)
        object.__setattr__(result, "_within", self._within or self.d)
        object.__setattr__(result, "_exponent", self._exponent)
        object.__setattr__(result, "_rows", self._rows)
        known = self._reading
        return result if known is None else result.with_reading(replace(known, within=True))

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
        where = f", {self.space.name}" if self._space is not None else ""
        span = span if self._within else ""
        return f"Directions(n={self.n}, d={self.d}, {kind}{where}{span})"


def _where(d: int, space: Space | None, axial: bool) -> Space | None:
    """The space of rows of ``d`` numbers; None for the unit sphere."""
    if space is None and axial is False:
        return None
    if not isinstance(axial, bool | np.bool_):
        raise wrong_value("axial", axial, "give True or False", InvalidDirections)
    if not axial:
        return None if space == unit_sphere(d) else space
    if space not in (None, Axes(d)):
        raise InvalidDirections(
            "{said} is for unit vectors without a sign, and space is the {space}; give one of them",
            said=arguments(axial=True), space=space.name,
        )  # fmt: skip
    return Axes(d)
