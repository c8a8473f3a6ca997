"""What every design offers: independent units, and what may be asked about them.

**Units** are what varied independently when the sample came about. Every design says the same
thing in its own way: the weighted mean ``Σ w_i φ(x_i)`` is a sum of independent contributions
``g_u = Σ_{i in u} w_i {φ(x_i) - μ}``, one per unit u (a row, a cluster, a stretch of a chain, a
primary sampling unit). Its variance is ``Σ_u c_u g_u g_uᵀ`` with factors c_u that state the
small-sample correction.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, ClassVar, cast

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import shown
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.errors import ConformanceError, DesignError
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.tolerances import CONTRACT_SAME
from steradian.text.messages import TESTS, Row, arguments


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
        yield f"`units` gave {shown(found)}; return steradian.designs.base.Units(...)."
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


_LEFT = 2  # units of every stratum that are left: fewer do not show how they vary


def whole_units(
    labels: IntArray, strata: IntArray | None, share: float, rng: np.random.Generator
) -> BoolArray:
    """Rows of a random ``share`` of the units, (n,): of every stratum as many as can be spared.

    ``labels`` (n,) are the units of the rows, ``strata`` (units,) their strata.
    """
    count = int(labels.max()) + 1
    of_unit = np.zeros(count, dtype=np.int64) if strata is None else strata
    drawn = np.zeros(count, dtype=bool)
    for stratum in range(int(of_unit.max()) + 1):
        units = rng.permutation(np.flatnonzero(of_unit == stratum))
        wanted = max(round(share * len(units)), 1)
        drawn[units[: max(min(wanted, len(units) - _LEFT), 0)]] = True
    if not drawn.any():
        raise DesignError(
            f"{count} independent units cannot be split: {_LEFT} must be left"
            f"{'' if strata is None else ' of every stratum'}, and one at least must choose; "
            "give more data, or an axis or a basis that is known beforehand"
        )
    return np.asarray(drawn[labels])


def all_but_a_stretch(chains: IntArray, share: float, rng: np.random.Generator) -> BoolArray:
    """All rows but a connected stretch of each chain, at a random place, (n,)."""
    drawn = np.ones(len(chains), dtype=bool)
    for chain in range(int(chains.max()) + 1):
        rows = np.flatnonzero(chains == chain)
        left = len(rows) - round(share * len(rows))
        first = int(rng.integers(len(rows) - left + 1))
        drawn[rows[first : first + left]] = False
    return drawn


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
