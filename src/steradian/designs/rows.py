"""Designs whose rows are independent: equal weights, settled ones, importance ratios."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.base import Design, Units
from steradian.errors import DesignError
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import EQUAL_WEIGHTS
from steradian.text.audience import Advice
from steradian.text.messages import arguments

_OTHERS = Advice(
    "'fixed', 'importance', Clusters, Chain, Survey or Known",
    "--design fixed, importance, clusters:COLUMN, chain or survey:psu=COLUMN",
)


@dataclass(frozen=True, eq=False)
class IID(Design):
    """Independent draws of one law, equal weights."""

    name: ClassVar[str] = "iid"
    rows_of_one_law: ClassVar[bool] = True
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True
    equal_weights: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "independent, identically distributed rows of equal weight"

    def units(self, directions: Directions) -> Units:
        if directions.weighted and np.ptp(directions.weights) > EQUAL_WEIGHTS / directions.n:
            raise DesignError(
                "design 'iid' means equal weights, and these rows have weights; say how the "
                "weights arose: {remedy}; numbers of observations are no weights but {counts}",
                remedy=_OTHERS, counts=arguments(counts=...),
            )  # fmt: skip
        n = directions.n
        return Units(np.full(n, 1.0 / n), n, np.sqrt(n), fixed_weights=True)

    def check(self, directions: Directions) -> None:
        """Units of equal weight are sound as they are made: every small profile asks."""
        self.units(directions)


@dataclass(frozen=True, eq=False)
class FixedWeights(Design):
    """Independent draws of one law; weights settled without looking at the directions."""

    name: ClassVar[str] = "fixed"
    rows_of_one_law: ClassVar[bool] = True
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "independent rows with weights fixed beforehand, independent of the directions"

    def units(self, directions: Directions) -> Units:
        w = directions.weights
        return Units(w, directions.n, float((w @ w) ** -0.5), fixed_weights=True)

    def rate_from_sums(self, moments: Moments) -> float:
        return float(np.sqrt(moments.ess))


@dataclass(frozen=True, eq=False)
class Importance(Design):
    """Self-normalised importance sampling: independent proposal draws with their exact ratios.

    An estimated or adapted proposal changes the covariance in a way the weights do not show;
    then give it with `Known`.
    """

    name: ClassVar[str] = "importance"
    from_sums: ClassVar[bool] = True
    needs_weights: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "self-normalised importance sample: independent draws with their exact ratios"

    def units(self, directions: Directions) -> Units:
        if not directions.weighted:
            raise DesignError("design 'importance' needs weights: the ratios target / proposal")
        n = directions.n
        return Units(directions.weights, n, np.sqrt(n), dof=n - 1)


HEAVY = 0.5  # above it the weights have no variance: standard errors and tests miss the tail
_FEWEST = 20  # largest ratios needed to say anything


def pareto_shape(weights: Array) -> float:
    """Shape k of a generalised Pareto law fitted to the largest weights; NaN when too few.

    The variance of the weights is finite for k < 1/2. Estimator of Zhang and Stephens
    (Technometrics 51, 2009) on the largest 3 √n, at most a fifth, of the weights, as in
    Pareto-smoothed importance sampling (Vehtari and others, 2024).
    """
    ordered = np.sort(weights)
    count = min(len(ordered) // 5, math.ceil(3.0 * math.sqrt(len(ordered))))
    if count < _FEWEST:
        return math.nan
    excess = ordered[-count:] - ordered[-count - 1]
    if not excess[0] > 0.0:
        excess = excess[excess > 0.0]
        if len(excess) < _FEWEST:
            return -math.inf if ordered[-1] == ordered[-count - 1] else math.nan
    return _shape(excess)


def _shape(x: Array) -> float:
    """Posterior-mean estimate of k from sorted excesses ``x`` > 0."""
    n = len(x)
    grid = 30 + math.isqrt(n)
    quartile = x[int(n / 4 + 0.5) - 1]
    steps = np.arange(1, grid + 1) - 0.5
    theta = 1.0 / x[-1] + (1.0 - np.sqrt(grid / steps)) / (3.0 * quartile)
    shapes = np.log1p(-theta[:, None] * x).mean(axis=1)
    fit = n * (np.log(-theta / shapes) - shapes - 1.0)
    weight = np.exp(fit - fit.max())
    best = float(weight @ theta / weight.sum())
    return float(np.log1p(-best * x).mean())
