"""Sampling designs: how the weights came to be decides what a standard error means.

A design turns the rows of a sample into independent `Units`; covariances, tests, intervals and
bootstraps follow from those. Without weights the default is `IID`, with weights `Descriptive`:
nothing is guessed.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.inference.batches import autocorrelation_time, batch_length
from steradian.numerics.arrays import AnyArray, Array, IntArray

__all__ = [
    "IID",
    "Chain",
    "Clusters",
    "Descriptive",
    "Design",
    "FixedWeights",
    "Importance",
    "Known",
    "Survey",
]

_FEWEST_BATCHES = 20
_MOST_UNSEEN = 0.5  # share of the variance that tests are corrected for, at most


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


@dataclass(frozen=True, eq=False)
class IID(Design):
    """Independent draws of one law, equal weights."""

    name: ClassVar[str] = "iid"

    @property
    def sentence(self) -> str:
        return "independent, identically distributed rows of equal weight"

    def units(self, directions: Directions) -> Units:
        if directions.weighted and np.ptp(directions.weights) > 1e-12 / directions.n:
            raise DesignError(
                "design 'iid' means equal weights, and these rows have weights; say how the "
                "weights arose: 'fixed', 'importance', Clusters, Chain, Survey or Known"
            )
        n = directions.n
        return Units(np.full(n, 1.0 / n), n, np.sqrt(n), fixed_weights=True)


@dataclass(frozen=True, eq=False)
class FixedWeights(Design):
    """Independent draws of one law; weights settled without looking at the directions."""

    name: ClassVar[str] = "fixed"

    @property
    def sentence(self) -> str:
        return "independent rows with weights fixed beforehand, independent of the directions"

    def units(self, directions: Directions) -> Units:
        w = directions.weights
        return Units(w, directions.n, float((w @ w) ** -0.5), fixed_weights=True)


@dataclass(frozen=True, eq=False)
class Importance(Design):
    """Self-normalised importance sampling: independent proposal draws with their exact ratios.

    An estimated or adapted proposal changes the covariance in a way the weights do not show;
    then give it with `Known`.
    """

    name: ClassVar[str] = "importance"

    @property
    def sentence(self) -> str:
        return "self-normalised importance sample: independent draws with their exact ratios"

    def units(self, directions: Directions) -> Units:
        if not directions.weighted:
            raise DesignError("design 'importance' needs weights: the ratios target / proposal")
        n = directions.n
        return Units(directions.weights, n, np.sqrt(n), dof=n - 1)


@dataclass(frozen=True, eq=False)
class Clusters(Design):
    """Rows dependent within clusters, clusters independent; weights may be of any origin.

    Parameters
    ----------
    ids : array_like or column name
        The cluster of each row.
    """

    ids: ArrayLike | str
    name: ClassVar[str] = "clusters"

    @property
    def sentence(self) -> str:
        return "independent clusters of dependent rows, covariance between clusters · G / (G - 1)"

    def units(self, directions: Directions) -> Units:
        labels = _labels(self.ids, directions.n, "cluster")
        count = int(labels.max()) + 1
        if count < 2:
            raise DesignError(
                "there is only one cluster: variation between clusters cannot be seen; "
                "give finer clusters, or design='descriptive' for point estimates alone"
            )
        factor = count / (count - 1.0)
        return Units(
            directions.weights, count, np.sqrt(count), labels,
            factor=factor, dof=count - 1, what="cluster", names=_names(self.ids, labels),
        )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Chain(Design):
    """Rows in the order of one or several Markov chains.

    Covariances come from batch means: each chain is cut into stretches long enough that their
    means are nearly independent. What adjacent stretches share is missed by them: a part
    τ / (2 · length) of the variance, τ the autocorrelation time (Flegal and Jones, Ann. Stat. 38,
    2010), for which tests are corrected.

    Parameters
    ----------
    ids : array_like or column name, optional
        The chain of each row, when there are several; rows of a chain are in order.
    batch : int, optional
        Length of a stretch. By default from the autocorrelation of the directions.
    """

    ids: ArrayLike | str | None = None
    batch: int | None = None
    name: ClassVar[str] = "chain"

    @property
    def sentence(self) -> str:
        return "one or several Markov chains in the order of the rows, covariance by batch means"

    def units(self, directions: Directions) -> Units:
        n = directions.n
        chains = np.zeros(n, dtype=np.int64) if self.ids is None else _labels(self.ids, n, "chain")
        if self.batch is not None and not 1 <= self.batch <= n // 2:
            raise DesignError(f"batch is {self.batch}; give 1 to half the {n} rows")
        time = autocorrelation_time(directions, chains)
        length = self.batch or batch_length(n, time)
        labels = _cut(chains, length)
        count = int(labels.max()) + 1
        if count < _FEWEST_BATCHES:
            raise DesignError(
                f"the rows are so dependent that {n} of them hold only {count} stretches of "
                f"{length}; run the chain longer ({_FEWEST_BATCHES} stretches are the least)"
            )
        cuts = count - int(chains.max()) - 1
        unseen = min(0.5 * time * cuts / n, _MOST_UNSEEN)
        factor = count / (count - 1.0)
        note = (
            f"{count} stretches of about {n // count} rows; autocorrelation time {time:.1f}, so "
            f"about {n / time:.0f} independent rows"
        )
        return Units(
            directions.weights, count, np.sqrt(n), labels,
            factor=factor, dof=count - 1, serial=True, unseen=unseen, what="stretch", note=note,
        )  # fmt: skip


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
        rows = np.zeros(n, dtype=np.int64)
        strata = rows if self.strata is None else _labels(self.strata, n, "stratum")
        names = np.arange(n) if self.psu is None else _labels(self.psu, n, "primary unit")
        pairs = strata * (int(names.max()) + 1) + names  # units are numbered within strata
        _, first, labels = np.unique(pairs, return_index=True, return_inverse=True)
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
            names=first if self.psu is None else _names(self.psu, labels),
        )  # fmt: skip

    def _fractions(self, n: int) -> Array:
        if isinstance(self.fraction, str):
            raise DesignError(f"fraction {self.fraction!r} names a column, but there is no table")
        values = np.asarray(self.fraction, dtype=np.float64)
        values = np.full(n, float(values)) if values.ndim == 0 else values
        if values.shape != (n,) or not ((values >= 0.0) & (values < 1.0)).all():
            raise DesignError(f"fraction: give {n} numbers from 0 up to, not with, 1")
        return values


@dataclass(frozen=True, eq=False)
class Known(Design):
    """The covariance of the moments is known from elsewhere.

    Parameters
    ----------
    covariance : array_like, (q, q)
        Covariance Σ of ``rate`` · (estimated - true moments) of the features of the highest
        level, in the order of ``hierarchy.features``.
    rate : float
        a_n.
    """

    covariance: ArrayLike
    rate: float
    name: ClassVar[str] = "known"

    @property
    def sentence(self) -> str:
        return "covariance and rate of the moments given"

    def units(self, directions: Directions) -> Units:
        raise DesignError(
            f"a known covariance says nothing about single rows (n = {directions.n}); bootstraps "
            "and tilted covariances need a design with units"
        )

    def check(self, directions: Directions) -> None:  # noqa: ARG002
        self.matrix()

    def matrix(self) -> Array:
        """Σ, checked."""
        sigma = np.asarray(self.covariance, dtype=np.float64)
        if sigma.ndim != 2 or sigma.shape[0] != sigma.shape[1] or not np.isfinite(sigma).all():
            raise DesignError(
                f"covariance has shape {sigma.shape}; give a finite square matrix, one row per "
                "feature of the highest level"
            )
        if np.abs(sigma - sigma.T).max() > 1e-8 * np.abs(sigma).max():
            raise DesignError("covariance is not symmetric")
        if np.linalg.eigvalsh(sigma)[0] < -1e-10 * np.trace(sigma):
            raise DesignError("covariance has a negative eigenvalue; a covariance has none")
        if not (self.rate > 0 and math.isfinite(self.rate)):
            raise DesignError(f"rate is {self.rate}; give a_n > 0, the root of the sample size")
        return sigma


@dataclass(frozen=True, eq=False)
class Descriptive(Design):
    """The weighted set is itself what is described: quadrature, attention, reliability."""

    name: ClassVar[str] = "descriptive"

    @property
    def sentence(self) -> str:
        return "the weighted set itself is described: no sampling, no standard errors"

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        raise self.refusal()

    def refusal(self) -> DesignError:
        """Why there is no inference, and the ways out."""
        return DesignError(
            "design 'descriptive' describes this weighted set and defines no p-value or standard "
            "error; if the rows are a sample, say how the weights arose: design='iid' (equal "
            "weights), 'fixed', 'importance', 'chain', sr.designs.Clusters(ids), Survey(...) "
            "or Known(covariance, rate)"
        )

    def check(self, directions: Directions) -> None:
        """Any rows can be described."""


_BY_NAME: dict[str, Callable[[], Design]] = {
    "iid": IID,
    "fixed": FixedWeights,
    "importance": Importance,
    "chain": Chain,
    "descriptive": Descriptive,
}
_NEED_DATA = {
    "clusters": "sr.designs.Clusters(ids)",
    "survey": "sr.designs.Survey(psu=..., strata=...)",
    "known": "sr.designs.Known(covariance, rate)",
}


def as_design(design: Design | str | None, *, weighted: bool) -> Design:
    """A design from an object, a name or nothing."""
    if design is None:
        return Descriptive() if weighted else IID()
    if isinstance(design, Design):
        return design
    if design in _NEED_DATA:
        raise DesignError(f"design {design!r} needs data: pass {_NEED_DATA[design]}")
    if design not in _BY_NAME:
        known = ", ".join([*_BY_NAME, *_NEED_DATA])
        raise DesignError(f"design is {design!r}; choose {known}")
    return _BY_NAME[design]()


def _labels(ids: ArrayLike | str, n: int, what: str) -> IntArray:
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


def _names(ids: ArrayLike | str, labels: IntArray) -> AnyArray:
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


def _cut(chains: IntArray, length: int) -> IntArray:
    """Stretches of at least ``length`` rows of each chain, numbered."""
    labels = np.empty(len(chains), dtype=np.int64)
    used = 0
    for chain in range(int(chains.max()) + 1):
        rows = np.flatnonzero(chains == chain)
        pieces = max(1, len(rows) // length)
        labels[rows] = used + np.arange(len(rows)) * pieces // len(rows)
        used += pieces
    return labels
