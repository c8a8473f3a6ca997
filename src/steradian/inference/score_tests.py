"""The test of a level by its score, for a stack of samples: single ones are a stack of one.

A statistic is referred to the law of a covariance (`scores`). By default p-values are then looked
at again: where rows are few for the features, or one has much leverage, the p-value of the plain
tilt is placed among those of draws of the fit below (without damping it has the most power, and
draws pay for what it loses); where units brought their weights, a small one is placed among those
of resampled units; and where few units carry the variance it is no smaller than that of the
covariance centred at the null.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from steradian.designs.base import Units
from steradian.diagnostics import MethodCode, PvalueMethod, Recalibration
from steradian.hierarchies import Hierarchy
from steradian.inference.null_samples import (
    DOUBTED,
    SETTLED,
    ReducedFits,
    ResampledUnits,
    recalibrated_pvalues,
)
from steradian.inference.sampled_reference import ReferenceSpread
from steradian.inference.scores import (
    Covariance,
    Scores,
    judged,
    needs_calibration,
    needs_resampling,
    tails_of_few,
    worthless,
)
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf


def _begin(_pvalue: float) -> None:
    """As many draws as it takes."""


@dataclass(frozen=True, slots=True, eq=False)
class NullDraws:
    """What samples of the null of a level are drawn from, for a stack of B samples."""

    hierarchy: Hierarchy
    level: int
    below: Array  # (B, q) parameters of the fits of the level below
    x: Array  # (B, n, d)
    weights: Array  # (B, n) of sum one
    units: Units  # of all, but for their weights
    replicates: int
    seeds: IntArray  # (B,)
    begin: Callable[[float], None] = _begin  # told of a p-value before it is placed among others

    def among_fits(self, rows: IntArray, pvalues: Array) -> Array:
        """P-values of plain tilts among those of draws of the fits below; NaN of no draws."""
        fits = ReducedFits(self.hierarchy, self.level, self.below[rows], self.weights[rows])
        for one in pvalues:
            self.begin(float(one))
        return recalibrated_pvalues(fits, pvalues, self.replicates, self.seeds[rows])

    def among_units(self, row: int, pvalue: float, law: Array) -> float:
        """A p-value among those of units drawn from the ``law`` (U,) of the tilt of a sample."""
        self.begin(pvalue)
        units = replace(self.units, weights=self.weights[row])
        drawn = ResampledUnits(self.hierarchy, self.level, self.x[row], units, law)
        seen, seeds = np.array([pvalue]), self.seeds[row : row + 1]
        return float(recalibrated_pvalues(drawn, seen, self.replicates, seeds)[0])


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTests:
    """P-values of a stack of B samples at one level."""

    pvalue: Array  # (B,) NaN where the units are worth too little
    coefficients: Array  # (B, q) of the null law
    dof: Array  # (B,) of its scale
    judged: BoolArray  # (B,) whether the units can judge the level
    unresolved: BoolArray  # (B,) where draws were needed and there are none
    centred: BoolArray  # (B,) whether the covariance is that centred at the null after all
    recalibration: tuple[Recalibration, ...]

    def method(self, row: int, kind: Covariance) -> PvalueMethod:
        """How one was found, where a covariance of this kind was asked for."""
        shown = "null" if self.centred[row] else kind
        return PvalueMethod(MethodCode.EXACT_TAIL, shown, self.recalibration[row])


def null_tail(
    scores: Scores, kind: Covariance, value: Array, more: ReferenceSpread | None = None
) -> tuple[Array, Array, Array]:
    """P-values (B,) of a statistic, the coefficients (B, q) of its law and the dof of their scale.

    ``more`` is what a sampled reference adds to the covariance of a single sample.
    """
    if more is None:
        coefficients, dof = scores.coefficients(kind), scores.tail_dofs(kind)
    else:
        single, of_scale = more.coefficients(scores, kind)
        coefficients, dof = single[None], np.array([of_scale])
    return mixture_tails(value, coefficients, dof), coefficients, dof


def mixture_tails(value: Array, coefficients: Array, dof: Array) -> Array:
    """`mixture_sf` of laws whose scales have dof (B,) of their own; NaN where one is not known."""
    out = np.full(len(value), np.nan)
    known = np.isfinite(value) & np.isfinite(coefficients).all(axis=1)
    for one in np.unique(dof[known]):
        rows = np.flatnonzero(known & (dof == one))
        out[rows] = mixture_sf(value[rows], coefficients[rows], float(one))
    return out


def score_tests(
    scores: Scores,
    value: Array,
    kind: Covariance,
    draws: NullDraws | None = None,
    more: ReferenceSpread | None = None,
    *,
    second_look: bool = True,
) -> ScoreTests:
    """Refer a statistic (B,) to its law, and look again at p-values of the damped tilt.

    Without ``draws`` those that need them stay as they are, and are told.
    """
    settled = scores.settled(kind)
    pvalue, coefficients, dof = null_tail(scores, settled, value, more)
    pvalue = np.where(worthless(scores), np.nan, pvalue)
    centred = np.full(len(pvalue), settled == "null")
    if settled in {"damped", "tilted"}:
        centred |= ~scores.tilted
    unresolved = np.zeros(len(pvalue), dtype=np.bool_)
    how = [Recalibration.NONE] * len(pvalue)
    if kind == "damped" and second_look:
        _place_among_fits(scores, pvalue, unresolved, how, draws, more)
        _place_among_units(scores, pvalue, unresolved, how, draws)
        few = tails_of_few(scores)
        if few.any():
            floor, _, _ = null_tail(scores, "null", value, more)
            with np.errstate(invalid="ignore"):
                few &= floor > pvalue
            for row in np.flatnonzero(few):
                pvalue[row], centred[row], how[row] = floor[row], True, Recalibration.NONE
    return ScoreTests(pvalue, coefficients, dof, judged(scores), unresolved, centred, tuple(how))


def _place_among_fits(
    scores: Scores,
    pvalue: Array,
    unresolved: BoolArray,
    how: list[Recalibration],
    draws: NullDraws | None,
    more: ReferenceSpread | None,
) -> None:
    """Replace p-values of few rows by those of the plain tilt among draws of the fit below."""
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(needs_calibration(scores) & (pvalue > SETTLED))
    if not len(rows):
        return
    found = np.full(len(rows), np.nan)
    if draws is not None:
        plain = mixture_sf(scores.statistic[rows], scores.coefficients("tilted")[rows])
        found = draws.among_fits(rows, plain)
    if more is not None:  # draws do not know how little the reference is known
        found = np.where(np.isnan(found), found, np.maximum(found, pvalue[rows]))
    told = ~np.isnan(found)
    pvalue[rows[told]], unresolved[rows[~told]] = found[told], True
    for row in rows[told]:
        how[row] = Recalibration.DRAWS


def _place_among_units(
    scores: Scores,
    pvalue: Array,
    unresolved: BoolArray,
    how: list[Recalibration],
    draws: NullDraws | None,
) -> None:
    """Raise small p-values of units that brought their weights to those among resampled units."""
    wanted = needs_resampling(scores)
    if not wanted.any():
        return
    with np.errstate(invalid="ignore"):
        wanted &= scores.tilted & (pvalue <= DOUBTED)
    for row in np.flatnonzero(wanted):
        found = np.nan
        if draws is not None:
            found = draws.among_units(int(row), float(pvalue[row]), scores.tilt_law(int(row)))
        if np.isnan(found):
            unresolved[row] = True
        else:
            pvalue[row], how[row] = max(pvalue[row], found), Recalibration.UNITS
