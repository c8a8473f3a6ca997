"""Rows that repeat an earlier one exactly: how many there are, and whether rounding explains them.

Rounded values coincide by chance. Where the density varies little from one cell of the lattice of
rounded values to the next, as many pairs of rows lie one step apart as in one cell, so that pairs
at a few steps tell how many coincidences there should be; with steps of several sizes, also where
some values were rounded more than others. Pairs one and two steps apart, A₁ and A₂, extrapolate to
none by A₁^(4/3) A₂^(-1/3), which is exact for a normal density of any width.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import special

from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.tolerances import REPEATS_BY_CHANCE, WHOLE_NUMBER

_SCALES = (1.0, 10.0, 100.0, 60.0, 1e3, 3600.0, 1e4, 1e5, 1e6)  # that make written numbers whole
_STEPS = {1: (1, 2, 3, 5, 6, 10, 12, 15, 20, 25, 30, 45, 50, 60, 90, 100), 2: (1, 5, 10, 50)}
_CROWDED = 100.0  # times denser than uniform, as Cartesian coordinates may be
_RATIO = 2.0  # times as many pairs as rounding explains, from which it does not explain them
_FEWEST, _SHARE = 3, 0.01  # repeated rows that are worth a word, also of all rows
_FEW = 10  # rows for each distinct point from which on the points are few
_SPREAD = 2.0  # standard deviation in steps of the lattice, below which nothing is said


@dataclass(frozen=True, slots=True)
class Repeats:
    """How many rows there are, how many repeat an earlier one, how many of those by rounding."""

    rows: int
    repeated: int
    expected: int

    @property
    def few_points(self) -> bool:
        """Whether many rows share each of the distinct points."""
        return _FEW * (self.rows - self.repeated) <= self.rows


def repeats(
    columns: Sequence[AnyArray], turns: Sequence[float], beside: Sequence[AnyArray] = ()
) -> Repeats | None:
    """What repeats beyond what rounding of the coordinates in ``columns`` explains, if anything.

    Parameters
    ----------
    columns : sequence of arrays (n,)
        Coordinates as they were written.
    turns : sequence of float
        A full turn of each in its unit, zero where it does not go round; empty for Cartesian
        coordinates, of which ``rows² scale^(1 - d)`` times a constant bounds the coincidences.
    beside : sequence of arrays (n,)
        What must be alike too for a row to repeat another: weights, labels.
    """
    rows = len(columns[0])
    repeated = rows - int(first_of_each([*columns, *beside]).sum())
    if repeated < max(_FEWEST, _SHARE * rows):
        return None
    pairs = _pairs_alike(columns)
    expected = _pairs_by_rounding(columns, turns, pairs)
    told = _beyond(pairs, expected)
    return Repeats(rows, repeated, round(repeated * expected / pairs)) if told else None


def _pairs_by_rounding(columns: Sequence[AnyArray], turns: Sequence[float], pairs: float) -> float:
    """Pairs of rows alike that rounding explains, if not all; infinite where nobody can tell."""
    if not turns:
        scale = max(_scale(values) or np.inf for values in columns)
        return _CROWDED * len(columns[0]) ** 2 * float(scale) ** (1.0 - len(columns))
    lattice = [_whole_numbers(*each) for each in zip(columns, turns, strict=True)]
    steps = [each for each in lattice if each is not None]
    if len(steps) < len(lattice):
        return 0.0
    if len(steps) > len(_STEPS) or min(each.std() for each in steps) < _SPREAD:
        return np.inf  # what is within a few cells tells nothing of how many fall in one
    cells, expected = _Cells.of(steps), 0.0
    for sizes in itertools.product(_STEPS[len(steps)], repeat=len(steps)):
        expected = max(expected, cells.explained(sizes, pairs))
        if not _beyond(pairs, expected):
            break
    return expected


def _beyond(pairs: float, expected: float) -> bool:
    """Whether there are more pairs than twice as many as expected, and that not by chance."""
    return (
        pairs > _RATIO * expected
        and special.pdtrc(pairs - 1, _RATIO * expected) < REPEATS_BY_CHANCE
    )


def first_of_each(columns: Sequence[AnyArray]) -> BoolArray:
    """Which rows repeat no earlier one."""
    _, first = np.unique(_fingerprints(columns), return_index=True)
    found = np.zeros(len(columns[0]), dtype=bool)
    found[first] = True
    return found


def _pairs_alike(columns: Sequence[AnyArray]) -> float:
    """Pairs of rows that are alike."""
    often = np.unique(_fingerprints(columns), return_counts=True)[1].astype(np.float64)
    return float(0.5 * (often * (often - 1.0)).sum())


def _fingerprints(columns: Sequence[AnyArray]) -> AnyArray:
    """A number of 64 bits for each row, the same for rows that are alike."""
    found = np.zeros(len(columns[0]), dtype=np.uint64)
    for values in columns:
        cells: AnyArray = values
        if values.dtype.kind not in "fiub":
            cells = np.unique(values.astype(str), return_inverse=True)[1]
        bits = (cells.astype(np.float64) + 0.0).view(np.uint64)  # no zero with a sign
        found = (found ^ bits) * np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(29)
    return found


def _whole_numbers(values: AnyArray, turn: float) -> IntArray | None:
    """Values as multiples of the step they are written in; None where there is none.

    Those of a circle, of which a ``turn`` is given, are counted from behind its largest gap.
    """
    numbers: Array = np.asarray(values, dtype=np.float64)
    if (scale := _scale(numbers)) is None:
        return None
    whole, round_trip = np.rint(scale * numbers).astype(np.int64), round(scale * turn)
    if turn and _nearly_whole(scale * turn):
        places = np.unique(whole := whole % round_trip)
        gaps = np.diff(places, append=places[0] + round_trip)
        whole = (whole - places[(np.argmax(gaps) + 1) % len(places)]) % round_trip
    return np.asarray(whole // max(int(np.gcd.reduce(whole - whole[0])), 1))


def _scale(values: AnyArray) -> float | None:
    """What makes all numbers whole, if anything does."""
    numbers: Array = np.asarray(values, dtype=np.float64)
    return next((scale for scale in _SCALES if _nearly_whole(scale * numbers)), None)


def _nearly_whole(numbers: Any) -> bool:
    size = np.maximum(1.0, np.abs(numbers))
    return bool((np.abs(numbers - np.rint(numbers)) <= WHOLE_NUMBER * size).all())


@dataclass(frozen=True, slots=True)
class _Cells:
    """The cells of a lattice that hold rows, by one number for each, and how many each holds."""

    places: IntArray
    often: Array
    width: int  # of the second coordinate
    dimension: int

    @classmethod
    def of(cls, lattice: Sequence[IntArray]) -> _Cells:
        width = int(np.ptp(lattice[-1])) + 4 * _STEPS[len(lattice)][-1] + 1
        keys = lattice[-1] - lattice[-1].min() + (lattice[0] * width if len(lattice) > 1 else 0)
        places, often = np.unique(keys, return_counts=True)
        return cls(places, often.astype(np.float64), width, len(lattice))

    def explained(self, sizes: Sequence[int], pairs: float) -> float:
        """Coincident pairs that are expected, from the pairs at steps of these sizes and at two.

        Those at two steps are not counted where no number of them would explain the ``pairs``.
        """
        near = self._mean_pairs(sizes)
        if 64.0 * near**4 < pairs**3:  # an eighth is the least mean that is not zero
            return near
        far = self._mean_pairs([2 * size for size in sizes])
        return max(near, near ** (4 / 3) * far ** (-1 / 3)) if far else near

    def _mean_pairs(self, steps: Sequence[int]) -> float:
        """Half the ordered pairs of rows at a step, on average over the ways that it may go."""
        first, last = steps[0] * self.width, steps[-1]
        ways = (last,) if self.dimension == 1 else (first, last, first + last, first - last)
        return float(np.mean([0.5 * self._pairs(way) for way in ways]))

    def _pairs(self, way: int) -> float:
        found = np.searchsorted(self.places, self.places + way)
        found[found == len(self.places)] = 0
        there = self.places[found] == self.places + way
        return float((self.often * self.often[found])[there].sum())
