"""Units: what varied independently when the sample came about.

Every design says the same thing in its own way: the weighted mean ``Σ w_i φ(x_i)`` is a sum of
independent contributions ``g_u = Σ_{i in u} w_i {φ(x_i) - μ}``, one per unit u (a row, a cluster,
a stretch of a chain, a primary sampling unit). Its variance is ``Σ_u c_u g_u g_uᵀ`` with factors
c_u that state the small-sample correction.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import CONTRACT_SAME


@dataclass(frozen=True, slots=True, eq=False)
class Units:
    """How the rows of one sample fall into independent units."""

    weights: Array  # (n,) of the rows, of sum one
    count: int  # number of units
    rate: float  # a_n
    labels: IntArray | None = None  # (n,) unit of each row; None: every row is one
    strata: IntArray | None = None  # (count,) stratum of each unit; None: one stratum
    factor: Array | float = 1.0  # (count,) or one for all
    fixed_weights: bool = False  # weights belong to the places, only the directions are random
    dof: int = 0  # degrees of freedom of the covariance, where its units brought their weights
    serial: bool = False  # stretches of one series, which are only nearly independent
    unseen: float = 0.0  # share of the variance that lies between adjacent stretches
    what: str = "row"  # what one unit is called
    names: AnyArray | None = None  # (count,) as the user knows them
    note: str = ""  # what a report should say about them

    @property
    def random_weights(self) -> bool:
        """Whether numerator and denominator of the weighted mean vary together."""
        return not self.fixed_weights

    @property
    def ratios(self) -> bool:
        """Whether single rows were drawn, each together with its weight."""
        return self.random_weights and self.labels is None

    @property
    def rows_of_one_law(self) -> bool:
        """Whether every row is a draw of the law itself, with a settled weight."""
        return self.fixed_weights and self.labels is None

    @property
    def factors(self) -> Array:
        """c_u of every unit, (count,)."""
        return np.broadcast_to(np.asarray(self.factor, dtype=np.float64), (self.count,))

    @property
    def scale_dof(self) -> float:
        """Degrees of freedom of the scale of the covariance, as strata of few units leave them.

        Satterthwaite's (Biometrics Bulletin 2, 1946), ``(Σ v_h)² / Σ v_h² / (n_h - 1)`` for the
        share v_h of stratum h in the variance. It is taken from the weights, ``Σ c w²`` over the
        units of the stratum: estimated variances of two units come out small just where the
        test then rejects.
        """
        return float(self.scale_dofs(self.unit_weights[None])[0])

    def scale_dofs(self, unit_weights: Array) -> Array:
        """The same where these units have other weights (B, count), (B,)."""
        if self.strata is None:
            return np.full(len(unit_weights), float(self.dof))
        sizes = np.bincount(self.strata)
        v = np.zeros((len(sizes), len(unit_weights)))
        np.add.at(v, self.strata, (self.factors * unit_weights**2).T)
        own = v**2 / (sizes - 1.0)[:, None]
        return np.asarray(v.sum(axis=0) ** 2 / own.sum(axis=0))

    @property
    def effective(self) -> int:
        """Units of positive weight."""
        return int(np.count_nonzero(self.unit_weights))

    def name_of(self, unit: int) -> str:
        """One unit in the user's words: his id, or where its rows stand."""
        if self.names is not None:
            return f"{self.what} {self.names[unit]!s}"
        if self.labels is None:
            return f"{self.what} {unit} (counted from 0)"
        rows = np.flatnonzero(self.labels == unit)
        return f"{self.what} {unit} (rows {rows[0]} to {rows[-1]}, counted from 0)"

    def identity(self, unit: int) -> dict[str, Any]:
        """One unit as plain values: what it is called, and its name or where its rows stand."""
        if self.names is not None:
            return {"what": self.what, "name": str(self.names[unit]), "counted": False}
        found: dict[str, Any] = {"what": self.what, "name": int(unit), "counted": True}
        if self.labels is None:
            return found
        rows = np.flatnonzero(self.labels == unit)
        return {**found, "rows": [int(rows[0]), int(rows[-1])]}

    def gather(self, rows: Array) -> Array:
        """Sums of ``rows`` (n, …) within units, (count, …)."""
        if self.labels is None:
            return rows
        out = np.zeros((self.count, *rows.shape[1:]))
        np.add.at(out, self.labels, rows)
        return out

    def contributions(self, values: Array, centre: Array | float) -> Array:
        """g_u = Σ_{i in u} w_i (values_i - centre), less their stratum's mean, (count, …)."""
        shape = (-1,) + (1,) * (values.ndim - 1)
        return self.within_strata(self.gather(self.weights.reshape(shape) * (values - centre)))

    def within_strata(self, g: Array) -> Array:
        """Contributions (count, …) centred in each stratum; unchanged without strata."""
        if self.strata is None:
            return g
        sizes = np.bincount(self.strata)
        totals = np.zeros((len(sizes), *g.shape[1:]))
        np.add.at(totals, self.strata, g)
        means = totals / sizes.reshape((-1,) + (1,) * (g.ndim - 1))
        return np.asarray(g - means[self.strata])

    def squares(self, values: Array) -> Array:
        """c_u g_u² of the columns of ``values`` (n, k) about their means, (count, k)."""
        g = self.contributions(values, self.weights @ values)
        return np.asarray(self.factors[:, None] * g * g)

    def variance(self, values: Array) -> Array:
        """Variance of the weighted means of the columns of ``values`` (n, k): (k,)."""
        return np.asarray(self.squares(values).sum(axis=0))

    def covariance(self, values: Array, centre: Array | float) -> Array:
        """Covariance of the weighted means of the columns of ``values`` (n, k), (k, k)."""
        g = self.contributions(values, centre)
        return np.asarray(g.T @ (self.factors[:, None] * g))

    @property
    def unit_weights(self) -> Array:
        """Weight of each unit, (count,), of sum one."""
        return self.gather(self.weights)


def faults_of(found: Any, n: int) -> Iterator[str]:
    """What is wrong with units of ``n`` rows, in sentences: of what kind, then of what content."""
    if not isinstance(found, Units):
        yield f"`units` gave {shown(found)}; return steradian.designs.units.Units(...)."
        return
    wrong = [name for name, kinds in _KINDS.items() if not isinstance(getattr(found, name), kinds)]
    if wrong:
        yield f"`{wrong[0]}` is {shown(getattr(found, wrong[0]))}; give an array of numbers."
    elif not _numbers_of(found):
        yield f"count is {shown(found.count)} and rate {shown(found.rate)}; give 1 or more and > 0."
    else:
        yield from _misfits(found, n)


_MAY_LACK = (np.ndarray, type(None))
_KINDS: dict[str, tuple[type, ...]] = {
    "weights": (np.ndarray,),
    "labels": _MAY_LACK,
    "strata": _MAY_LACK,
    "factor": (np.ndarray, float, int, np.floating, np.integer),
}


def _numbers_of(found: Units) -> bool:
    """Whether there are a whole number of units and a rate."""
    whole = isinstance(found.count, int | np.integer) and found.count > 0
    number = isinstance(found.rate, int | float | np.integer | np.floating)
    return bool(whole and number and 0.0 < found.rate < math.inf)


def _misfits(found: Units, n: int) -> Iterator[str]:
    if found.weights.shape != (n,) or not abs(float(found.weights.sum()) - 1.0) <= CONTRACT_SAME:
        yield f"Weights of shape {found.weights.shape} add up to {found.weights.sum():.6g}."
    if found.labels is None:
        if found.count != n:
            yield f"count is {found.count} without labels, when every one of {n} rows is a unit."
    elif not _names_all(found.labels, found.count, n):
        seen = len(np.unique(found.labels))
        yield f"Labels of shape {found.labels.shape} name {seen} units, and count is {found.count}."
    least = found.factor.min() if isinstance(found.factor, np.ndarray) else found.factor
    if not least >= 0.0:
        yield "A factor is negative."
    if found.strata is not None and found.strata.shape != (found.count,):
        yield f"Strata have shape {found.strata.shape}; give one per unit, ({found.count},)."


def _names_all(labels: IntArray, count: int, n: int) -> bool:
    """Whether every row has one of the labels 0..count - 1, and each is there."""
    if labels.shape != (n,) or labels.dtype.kind not in "iu":
        return False
    if labels.min() != 0 or labels.max() != count - 1:
        return False
    return bool(np.bincount(labels, minlength=count).all())
