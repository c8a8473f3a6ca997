"""Stratified samples of primary units."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.data.validation import as_numeric
from steradian.designs.base import Design, ids_of_rows, unit_labels, unit_names
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.numerics.arrays import Array, BoolArray, IntArray


@dataclass(frozen=True, eq=False)
class Survey(Design):
    """A stratified sample of primary sampling units, weighted by inverse inclusion.

    Parameters
    ----------
    psu : array_like or column name, optional
        Primary sampling unit of each row; by default every row is one.
    strata : array_like or column name, optional
        Stratum of each row; by default there is one.
    fraction : array_like or column name, optional
        Sampled fraction of the units of the row's stratum, for the finite-population factor.
    """

    psu: ArrayLike | str | None = None
    strata: ArrayLike | str | None = None
    fraction: ArrayLike | str | None = None
    name: ClassVar[str] = "survey"

    @property
    def sentence(self) -> str:
        return "stratified sample of primary units, linearised covariance between units in strata"

    def units(self, directions: Directions) -> Units:
        n = directions.n
        strata, first, labels = self._places(n)
        of_unit = strata[first]
        sizes = np.bincount(of_unit)
        if sizes.min() < 2:
            lonely = int(np.argmin(sizes))
            given = None if self.strata is None else np.asarray(self.strata)
            shown = "" if given is None else f" {given[strata == lonely][0]!s}"
            raise DesignError(
                f"stratum{shown} has a single primary unit: variation within it cannot be seen; "
                "merge it with a similar stratum"
            )
        factor = (sizes / (sizes - 1.0))[of_unit]
        if self.fraction is not None:
            fractions = self._fractions(n)
            for stratum in range(len(sizes)):
                if np.ptp(fractions[strata == stratum]) > 0.0:
                    raise DesignError("fraction: give one number per stratum, the same in its rows")
            factor = factor * (1.0 - fractions[first])
        count = len(first)
        return Units(
            directions.weights, count, np.sqrt(count), labels, of_unit, factor,
            dof=count - len(sizes), what="row" if self.psu is None else "primary unit",
            names=first if self.psu is None else unit_names(self.psu, labels),
        )  # fmt: skip

    def of_rows(self, rows: BoolArray) -> Survey:
        """With fewer units of every stratum, the sampled fraction is smaller in proportion."""
        fraction = None
        if self.fraction is not None:
            strata, first, _ = self._places(len(rows))
            left = np.bincount(strata[first[rows[first]]], minlength=int(strata.max()) + 1)
            share = left / np.bincount(strata[first])
            fraction = (self._fractions(len(rows)) * share[strata])[rows]
        return Survey(ids_of_rows(self.psu, rows), ids_of_rows(self.strata, rows), fraction)

    def _places(self, n: int) -> tuple[IntArray, IntArray, IntArray]:
        """Stratum of each row, first row of each unit, and unit of each row."""
        rows = np.zeros(n, dtype=np.int64)
        strata = rows if self.strata is None else unit_labels(self.strata, n, "stratum")
        names = np.arange(n) if self.psu is None else unit_labels(self.psu, n, "primary unit")
        pairs = strata * (int(names.max()) + 1) + names  # units are numbered within strata
        _, first, labels = np.unique(pairs, return_index=True, return_inverse=True)
        return strata, first, labels

    def _fractions(self, n: int) -> Array:
        if isinstance(self.fraction, str):
            raise DesignError(f"fraction {self.fraction!r} names a column, but there is no table")
        values = np.asarray(as_numeric(self.fraction, "fraction"), dtype=np.float64)
        values = np.full(n, float(values)) if values.ndim == 0 else values
        if values.shape != (n,) or not ((values >= 0.0) & (values < 1.0)).all():
            raise DesignError(f"fraction: give {n} numbers from 0 up to, not with, 1")
        return values
