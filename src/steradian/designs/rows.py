"""Designs whose rows are independent: equal weights, settled ones, importance ratios."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.designs.base import Design
from steradian.designs.units import Units
from steradian.errors import DesignError
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
