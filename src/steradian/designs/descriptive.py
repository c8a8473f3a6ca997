"""No sampling: the weighted set is itself what is described."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from steradian.data.directions import Directions
from steradian.designs.base import Design
from steradian.designs.division import whole_units
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.numerics.arrays import BoolArray
from steradian.text.audience import Advice
from steradian.text.messages import arguments

_OTHERS = Advice(
    "design='iid' (equal weights), 'fixed', 'importance', 'chain', sr.designs.Clusters(ids), "
    "Survey(...) or Known(covariance, rate)",
    "--design iid (equal weights), fixed, importance, chain, clusters:COLUMN or survey:psu=COLUMN",
)


@dataclass(frozen=True, eq=False)
class Descriptive(Design):
    """The weighted set is itself what is described: quadrature, attention, reliability."""

    name: ClassVar[str] = "descriptive"
    defines_inference: ClassVar[bool] = False
    has_units: ClassVar[bool] = False
    random_weights: ClassVar[bool] = False
    from_sums: ClassVar[bool] = True

    @property
    def sentence(self) -> str:
        return "the weighted set itself is described: no sampling, no standard errors"

    def units(self, directions: Directions) -> Units:  # noqa: ARG002
        raise self.refusal()

    def refusal(self) -> DesignError:
        """Why there is no inference, and the ways out."""
        return DesignError(
            "design 'descriptive' describes this weighted set and defines no p-value or standard "
            "error; if the rows are a sample, say how the weights arose: {remedy}; numbers of "
            "observations are no weights but {counts}",
            remedy=_OTHERS, counts=arguments(counts=...),
        )  # fmt: skip

    def check(self, directions: Directions) -> None:
        """Any rows can be described."""

    def drawn_rows(
        self, directions: Directions, share: float, rng: np.random.Generator
    ) -> BoolArray:
        """Single rows: nothing is said about which belong together."""
        return whole_units(np.arange(directions.n), None, share, rng)
