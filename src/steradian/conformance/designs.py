"""check_design: the contract of a sampling design."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from steradian.conformance.methods import CALLS, wrong_answers
from steradian.contract import Line, NotOffered, Report, examined
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.decomposition import profile
from steradian.designs import Design
from steradian.designs.base import Units, faults_of
from steradian.errors import DesignError
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.registry import default_hierarchy
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import CONTRACT_SAME

_ROWS = 240
_ASKED = ("tests", "intervals", "uniformity", "bootstrap", "print", "to_dict", "trust")


@dataclass(frozen=True)
class DesignSpecimen:
    """A design with rows that it fits, and what it says about them."""

    design: Any
    rows: Directions

    @cached_property
    def hierarchy(self) -> Hierarchy:
        return default_hierarchy(self.rows.space, 1)

    @cached_property
    def values(self) -> Array:
        """Features of the rows, (n, q)."""
        return np.asarray(self.hierarchy.features(self.rows.x))

    @cached_property
    def moments(self) -> Moments:
        return Moments.from_directions(self.rows, self.hierarchy)

    @cached_property
    def units(self) -> Units:
        if not self.design.has_units:
            raise NotOffered("the design declares no units")
        return self.design.units(self.rows)


def members(s: DesignSpecimen) -> Iterator[str]:
    """It is derived from `Design`."""
    if not isinstance(s.design, Design):
        yield "It is something else; class MyDesign(sr.designs.Design) begins one."


def words(s: DesignSpecimen) -> Iterator[str]:
    """It has a name, and a sentence about what it assumes."""
    for name in ("name", "sentence"):
        if not str(getattr(s.design, name, "")).strip():
            yield f"`{name}` is empty."


def capabilities(s: DesignSpecimen) -> Iterator[str]:
    """What it declares is true or false, and without units or inference it says so."""
    flags = ("defines_inference", "has_units", "rows_of_one_law", "random_weights", "from_sums")
    for name in (*flags, "equal_weights", "needs_weights"):
        if not isinstance(getattr(s.design, name), bool):
            yield f"`{name}` is {getattr(s.design, name)!r}."
    if not s.design.defines_inference and not str(s.design.refusal()).strip():
        yield "`refusal` has no words."
    if not s.design.has_units:
        try:
            s.design.units(s.rows)
        except DesignError:
            return
        yield "It declares no units, and `units` gives some; declare has_units, or refuse."


def units(s: DesignSpecimen) -> Iterator[str]:
    """Units hold every row once, with the weights of the rows, of sum one."""
    broken = list(faults_of(s.units, s.rows.n))
    yield from broken
    if not broken and np.abs(s.units.weights - s.rows.weights).max() > CONTRACT_SAME:
        yield "Weights are not those of the rows."


def declared(s: DesignSpecimen) -> Iterator[str]:
    """Units are as declared: `rows_of_one_law` and `random_weights`."""
    for name in ("rows_of_one_law", "random_weights"):
        if getattr(s.design, name) != getattr(s.units, name):
            says, are = getattr(s.design, name), getattr(s.units, name)
            yield f"`{name}` is declared {says}, and the units say {are}."


def scale(s: DesignSpecimen) -> Iterator[str]:
    """The scale of weights means nothing."""
    if not s.rows.weighted:
        raise NotOffered("these rows have no weights")
    before = s.units.variance(s.values)
    larger = Directions(s.rows.x, 8.0 * s.rows.weights, space=s.rows.space)
    off = _relative(s.design.units(larger).variance(s.values), before)
    if off > CONTRACT_SAME:
        yield f"Variances change by {off:.2g} of themselves when weights are eight times as large."


def order(s: DesignSpecimen) -> Iterator[str]:
    """The order of rows means nothing where every row is a unit."""
    if s.units.labels is not None:
        raise NotOffered("units are told by where rows stand")
    shuffled = np.random.default_rng(0).permutation(s.rows.n)
    weights = s.rows.weights[shuffled] if s.rows.weighted else None
    again = s.design.units(Directions(s.rows.x[shuffled], weights, space=s.rows.space))
    off = _relative(again.variance(s.values[shuffled]), s.units.variance(s.values))
    if off > CONTRACT_SAME:
        yield f"Variances change by {off:.2g} of themselves when rows are shuffled."


def from_sums(s: DesignSpecimen) -> Iterator[str]:
    """With `from_sums` rate and covariance are those of units; without it sums are refused."""
    weighted = s.rows.weighted
    if not s.design.from_sums:
        try:
            s.design.check_sums(weighted=weighted)
        except DesignError as error:
            raise NotOffered(str(error)) from None
        yield "`check_sums` takes moments without rows."
        return
    s.design.check_sums(weighted=weighted)
    if not (s.design.has_units and s.design.known_covariance is None):
        raise NotOffered("there are no units to compare with")
    w, away = s.rows.weights, s.values - s.rows.weights @ s.values
    if _relative(s.design.rate_from_sums(s.moments), s.units.rate) > CONTRACT_SAME:
        rate = s.design.rate_from_sums(s.moments)
        yield f"The rate is {rate:.6g} from sums and {s.units.rate:.6g} from units."
    off = _relative((w * w) @ (away * away), s.units.variance(s.values))
    if off > CONTRACT_SAME:
        yield f"Σ w² (φ - μ)² differs from the variance of units by {off:.2g} of itself."


def weighting(s: DesignSpecimen) -> Iterator[str]:
    """Weights that it does not allow, or lacks, are refused in words."""
    x, space = s.rows.x, s.rows.space
    uneven = Directions(x, np.linspace(1.0, 3.0, len(x)), space=space)
    plain = Directions(x, space=space)
    wrong = [
        (s.design.equal_weights, uneven, "unequal weights are not refused"),
        (s.design.needs_weights, plain, "missing weights are not refused"),
    ]
    if not any(applies for applies, _, _ in wrong):
        raise NotOffered("it takes rows with and without weights")
    for applies, rows, sentence in wrong:
        if applies and not _refused(s.design, rows):
            yield f"By what it declares {sentence}; raise DesignError."


def inference(s: DesignSpecimen) -> Iterator[str]:
    """Tests, intervals and bootstraps of a profile answer, or refuse in words."""
    p = profile(s.rows, hierarchy=s.hierarchy, design=s.design)
    if s.design.defines_inference and s.design.has_units:
        yield from wrong_answers(p, {name: CALLS[name] for name in _ASKED})
        return
    for name in _ASKED[:4]:
        try:
            CALLS[name](p)
        except DesignError:
            continue
        if not s.design.defines_inference:
            yield f"It defines no inference, and `{name}` answers."


def _relative(got: Array | float, wanted: Array | float) -> float:
    size = np.abs(wanted).max()
    return float(np.abs(np.asarray(got) - wanted).max() / (size if size > 0.0 else 1.0))


def _refused(design: Design, rows: Directions) -> bool:
    try:
        design.check(rows)
    except DesignError as error:
        return bool(str(error).strip())
    return False


_STAGES: tuple[tuple[Line[DesignSpecimen], ...], ...] = (
    (members,),
    (words, capabilities),
    (units,),
    (declared, scale, order, from_sums, weighting),
    (inference,),
)


def check_design(design: Design, data: Directions | None = None) -> Report:
    """Hold a sampling design against every line of its contract.

    Parameters
    ----------
    design : Design
        One of this package or of your own.
    data : Directions, optional
        Rows that it is for, such as as many as it has identifiers; by default 240 directions of
        space, with weights if it needs them.

    Returns
    -------
    Report

    Raises
    ------
    ConformanceError
        Lines are broken; the message names each.

    Examples
    --------
    >>> import steradian as sr
    >>> sr.conformance.check_design(sr.designs.FixedWeights()).kept[3]
    'Units hold every row once, with the weights of the rows, of sum one.'
    """
    rows = _rows(design) if data is None else data
    return examined(design, DesignSpecimen(design, rows), _STAGES)


def _rows(design: Design) -> Directions:
    """Directions of space about one, with weights unless the design forbids them."""
    rng = np.random.default_rng(0)
    x = rng.standard_normal((_ROWS, 3))
    x[:, 2] += 0.7
    weights = None if getattr(design, "equal_weights", True) else rng.gamma(4.0, size=_ROWS)
    return Directions(x, weights, normalize=True)
