"""Functions b(z) of a covariate, and few values of it that stand for all rows.

A covariate becomes a coordinate u in [-1, 1] (its mid-rank, its value, an angle), and a few smooth
functions of u become b_0 = 1, b_1, …, b_K, orthonormal under the weights of the rows in that order.

The dual of a conditional fit asks for Σ w_i ψ(λ(z_i)). ψ is smooth in u, so that few rows stand for
all: those that keep the sums of all polynomials in u up to some degree (`numerics.recombination`),
which is what the Gauss rule of the observed distribution of z does. Sums over few distinct values
are exact.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import comb
from typing import Any, Protocol

import numpy as np

from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.recombination import recombined
from steradian.numerics.tolerances import COLLINEAR_FACTOR, INTERPOLATED
from steradian.text.messages import Row

_EXACT = 64  # distinct values that are all used
_SIZES = (32, 64, 128)  # polynomials of one coordinate that are kept,
_MANY_SIZES = (160, 320, 640)  # and of several
_CHUNK = 100_000  # rows recombined at a time


class Coordinates(Protocol):
    """How values of the covariates become coordinates in [-1, 1]."""

    @property
    def words(self) -> str:
        """What they are."""
        ...

    @property
    def bounded(self) -> bool:
        """Whether they mean something between the rows' values only."""
        ...

    def of(self, z: Array) -> Array:
        """Coordinates (n, c) of values (n, k)."""
        ...


@dataclass(frozen=True, eq=False)
class Ranks:
    """Weighted mid-ranks, (-1, 1), linear between distinct values."""

    values: tuple[Array, ...]
    ranks: tuple[Array, ...]

    words = "mid-ranks"
    bounded = True

    @classmethod
    def fitted(cls, z: Array, weights: Array) -> Ranks:
        """Of rows (n, k) with weights of sum one."""
        values, ranks = [], []
        for column in z.T:
            seen, of = np.unique(column, return_inverse=True)
            mass = np.bincount(of, weights)
            values.append(seen)
            ranks.append(2.0 * (np.cumsum(mass) - 0.5 * mass) - 1.0)
        return cls(tuple(values), tuple(ranks))

    def of(self, z: Array) -> Array:
        columns = zip(z.T, self.values, self.ranks, strict=True)
        return np.column_stack([np.interp(c, known, rank) for c, known, rank in columns])


@dataclass(frozen=True, eq=False)
class Scaled:
    """Values themselves, from the least to the largest."""

    least: Array
    largest: Array

    words = "values"
    bounded = True

    @classmethod
    def fitted(cls, z: Array, weights: Array) -> Scaled:  # noqa: ARG003 - as those of ranks
        """Of rows (n, k)."""
        return cls(z.min(axis=0), z.max(axis=0))

    def of(self, z: Array) -> Array:
        return 2.0 * (z - self.least) / (self.largest - self.least) - 1.0


@dataclass(frozen=True, eq=False)
class Phase:
    """Place in a period."""

    period: float

    bounded = False

    @property
    def words(self) -> str:
        return f"phases of a period of {self.period:g}"

    def of(self, z: Array) -> Array:
        return 2.0 * np.mod(z / self.period, 1.0) - 1.0


@dataclass(frozen=True, eq=False)
class Own:
    """Functions that people wrote, scaled."""

    function: Callable[[Any], Any]
    centre: Array
    half: Array
    single: bool  # whether it takes one covariate (n,)

    words = "a function of one's own"
    bounded = False

    @classmethod
    def fitted(cls, function: Callable[[Any], Any], z: Array) -> Own:
        """From what it says of the rows (n, k)."""
        plain = cls(function, np.zeros(1), np.ones(1), z.shape[1] == 1)
        seen = plain.of(z)
        least, largest = seen.min(axis=0), seen.max(axis=0)
        half = np.where(largest > least, 0.5 * (largest - least), 1.0)
        return cls(function, 0.5 * (least + largest), half, plain.single)

    def of(self, z: Array) -> Array:
        found = np.asarray(self.function(z[:, 0] if self.single else z), dtype=np.float64)
        found = found[:, None] if found.ndim == 1 else found
        if found.ndim != 2 or len(found) != len(z) or not found.shape[1]:
            raise InvalidArgument(
                f"the basis returned an array of shape {found.shape} for {len(z)} values of the "
                f"covariate; return ({len(z)}, K), one column for each function"
            )
        if not np.isfinite(found).all():
            row = int(np.argmax(~np.isfinite(found).all(axis=1)))
            raise InvalidArgument("the basis is not finite at {row}; mend it there", row=Row(row))
        return (found - self.centre) / self.half


@dataclass(frozen=True, eq=False)
class Codes:
    """Labels, by the indicators of all but the last."""

    seen: Array  # (G,)

    words = "labels"
    bounded = True

    def of(self, z: Array) -> Array:
        return (z == self.seen[:-1]).astype(np.float64)


class Shape(Protocol):
    """Smooth functions of the coordinates."""

    @property
    def orders(self) -> tuple[int, ...]:
        """How rough each of them is, (K,)."""
        ...

    def columns(self, u: Array) -> Array:
        """(n, K)."""
        ...

    def probes(self, u: Array, size: int) -> Array:
        """(n, m): what the laws of conditional fits are like as functions of u."""
        ...


@dataclass(frozen=True)
class Polynomials:
    """All products of coordinates up to a degree."""

    degree: int
    count: int  # c

    @property
    def _powers(self) -> list[tuple[int, ...]]:
        degrees = range(1, self.degree + 1)
        return [p for k in degrees for p in combinations_with_replacement(range(self.count), k)]

    @property
    def orders(self) -> tuple[int, ...]:
        return tuple(len(p) for p in self._powers)

    def columns(self, u: Array) -> Array:
        return np.column_stack([u[:, list(p)].prod(axis=1) for p in self._powers])

    def probes(self, u: Array, size: int) -> Array:
        if self.count == 1:
            return np.asarray(np.polynomial.chebyshev.chebvander(u[:, 0], size - 1))
        degree = max(d for d in range(1, size) if comb(d + self.count, d) <= size)
        each = [np.polynomial.chebyshev.chebvander(c, degree) for c in u.T]
        out, used = [np.ones(len(u))], [0]
        for table in each:  # products whose degrees add up to no more
            wider = [
                (value * table[:, k], d + k)
                for value, d in zip(out, used, strict=True)
                for k in range(degree + 1 - d)
            ]
            out, used = [v for v, _ in wider], [d for _, d in wider]
        return np.column_stack(out)


@dataclass(frozen=True)
class Waves:
    """Cosines and sines of the first harmonics of one coordinate."""

    harmonics: int

    @property
    def orders(self) -> tuple[int, ...]:
        return tuple(k for k in range(1, self.harmonics + 1) for _ in range(2))

    def columns(self, u: Array) -> Array:
        angle = np.pi * u * np.arange(1, self.harmonics + 1)
        return np.stack([np.cos(angle), np.sin(angle)], axis=2).reshape(len(u), -1)

    def probes(self, u: Array, size: int) -> Array:
        return np.column_stack([np.ones(len(u)), Waves(size // 2).columns(u)])


@dataclass(frozen=True)
class Spline:
    """Natural cubic spline of one coordinate with K + 1 even knots: linear beyond the outermost."""

    size: int  # K

    @property
    def _knots(self) -> Array:
        return np.linspace(-1.0, 1.0, self.size + 1)

    @property
    def orders(self) -> tuple[int, ...]:
        return tuple(range(1, self.size + 1))

    def columns(self, u: Array) -> Array:
        knots, x = self._knots, u[:, 0]
        cubes = np.maximum(x[:, None] - knots, 0.0) ** 3
        slopes = (cubes[:, :-1] - cubes[:, -1:]) / (knots[-1] - knots[:-1])
        return np.column_stack([x, slopes[:, :-1] - slopes[:, -1:]])

    def probes(self, u: Array, size: int) -> Array:
        x, each = u[:, 0], max(8, 2 * size // self.size)
        piece = np.clip(np.searchsorted(self._knots, x, "right") - 1, 0, self.size - 1)
        local = (x - self._knots[piece]) * self.size - 1.0
        table = np.polynomial.chebyshev.chebvander(local, each - 1)
        return np.hstack([table * (piece == k)[:, None] for k in range(self.size)])


@dataclass(frozen=True, eq=False)
class Basis:
    """b_0 = 1, b_1, …, b_K of values of the covariates, orthonormal under the rows' weights."""

    coordinates: Coordinates
    shape: Shape
    transform: Array  # (K + 1, K + 1)
    least: Array  # (k,) of the covariates: where it holds
    largest: Array
    words: str

    @classmethod
    def fitted(
        cls, coordinates: Coordinates, shape: Shape, z: Array, weights: Array, words: str
    ) -> Basis:
        """From rows (n, k) with weights of sum one."""
        u = coordinates.of(z)
        plain = _with_constant(shape.columns(u))
        size = plain.shape[1] - 1
        distinct = len(_distinct(z)[0])
        if distinct <= size:
            raise InvalidArgument(
                f"the basis {words} has {size} functions, and the covariate only {distinct} "
                "distinct values; use a smaller basis, or labels"
            )
        root = np.linalg.qr(np.sqrt(weights)[:, None] * plain, mode="r")
        diagonal = np.abs(np.diag(root))
        if diagonal.min() < COLLINEAR_FACTOR * diagonal.max():
            raise InvalidArgument(
                f"the functions of the basis {words} are not independent on this covariate (one is "
                "constant, or a sum of others); leave it out"
            )
        transform = np.linalg.inv(root * np.sign(np.diag(root))[:, None])
        return cls(coordinates, shape, transform, z.min(axis=0), z.max(axis=0), words)

    @property
    def size(self) -> int:
        """K."""
        return len(self.transform) - 1

    @property
    def bounded(self) -> bool:
        """Whether nothing is said beyond the rows' values."""
        return self.coordinates.bounded

    @property
    def orders(self) -> IntArray:
        """Of the functions but the constant, (K,)."""
        return np.array(self.shape.orders)

    def __call__(self, z: Array) -> Array:
        """(n, K + 1)."""
        return _with_constant(self.shape.columns(self.coordinates.of(z))) @ self.transform


def _distinct(z: Array) -> tuple[Array, IntArray]:
    """Distinct rows of ``z`` (n, k), in order, and which of them each row is."""
    if z.shape[1] == 1:  # by numbers: rows take ten times as long
        seen, of = np.unique(z[:, 0], return_inverse=True)
        return seen[:, None], np.asarray(of, dtype=np.int64)
    rows, of = np.unique(z, axis=0, return_inverse=True)
    return rows, np.asarray(of.ravel(), dtype=np.int64)


def _with_constant(columns: Array) -> Array:
    return np.column_stack([np.ones(len(columns)), columns])


@dataclass(frozen=True, eq=False)
class Rule:
    """Values of the covariate that stand for all rows."""

    places: IntArray  # (T,) among the distinct values
    b: Array  # (T, K + 1)
    weights: Array  # (T,) of sum one
    exact: bool  # whether they are all distinct values


@dataclass(frozen=True, eq=False)
class CovariateRows:
    """A covariate with its basis at the rows."""

    basis: Basis
    z: Array  # (n, k)
    weights: Array  # (n,) of sum one

    @cached_property
    def distinct(self) -> tuple[Array, IntArray, Array]:
        """Distinct values (m, k), that of each row (n,), and their weights (m,)."""
        z, of = _distinct(self.z)
        return z, of, np.asarray(np.bincount(of, self.weights), dtype=np.float64)

    @cached_property
    def _b(self) -> Array:
        return self.basis(self.distinct[0])

    @cached_property
    def _u(self) -> Array:
        return self.basis.coordinates.of(self.distinct[0])

    @property
    def b(self) -> Array:
        """(n, K + 1)."""
        return self._b[self.distinct[1]]

    def rules(self) -> Iterator[Rule]:
        """Finer and finer; the last one is exact."""
        mass = self.distinct[2]
        if len(mass) > _EXACT:
            for size in _SIZES if self._u.shape[1] == 1 else _MANY_SIZES:
                if size < len(mass) // 2:
                    yield self.recombined(size)
        there = np.flatnonzero(mass > 0.0)
        yield Rule(there, self._b[there], mass[there], exact=True)

    def recombined(self, size: int) -> Rule:
        """Of about so many values."""
        mass = self.distinct[2]
        rows = np.zeros(0, dtype=np.int64)
        weights = np.zeros(0)
        for first in range(0, len(mass), _CHUNK):
            part = slice(first, first + _CHUNK)
            kept, w = recombined(self.basis.shape.probes(self._u[part], size), mass[part])
            rows, weights = np.append(rows, first + kept), np.append(weights, w)
        kept, weights = recombined(self.basis.shape.probes(self._u[rows], size), weights)
        rows = rows[kept]
        return Rule(rows, self._b[rows], weights, exact=len(rows) == len(mass))

    def at_rows(self, rule: Rule, values: Callable[[Array], Array]) -> Array:
        """``values`` of b (T, K + 1), (T, q), at all rows, (n, q)."""
        of = self.distinct[1]
        if len(self._b) <= _DIRECT:
            return values(self._b)[of]
        found = self.spread_map(rule) @ values(rule.b)
        looked = np.linspace(0, len(found) - 1, _LOOKED_AT).astype(np.int64)
        away = np.abs(values(self._b[looked]) - found[looked]).max()
        if not away <= INTERPOLATED:
            step = range(0, len(found), _DIRECT)
            found = np.concatenate([values(self._b[k : k + _DIRECT]) for k in step])
        return found[of]

    def spread_map(self, rule: Rule) -> Array:
        """What makes values at all distinct z (m, T) of those at the rule, smooth between them."""
        if rule.exact:
            return np.eye(len(self._b))[:, rule.places]
        probes = self.basis.shape.probes(self._u, max(4, len(rule.places) // 2))
        return np.asarray(probes @ np.linalg.pinv(probes[rule.places]))


_DIRECT = 2_000  # distinct values whose laws are all integrated at once
_LOOKED_AT = 32  # of more, where interpolated ones are compared
