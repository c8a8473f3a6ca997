"""Independent clusters of dependent rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.designs.base import Design, ids_of_rows, unit_labels, unit_names
from steradian.designs.units import Units
from steradian.errors import DesignError
from steradian.numerics.arrays import BoolArray
from steradian.text.messages import arguments


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
        labels = unit_labels(self.ids, directions.n, "cluster")
        count = int(labels.max()) + 1
        if count < 2:
            raise DesignError(
                "there is only one cluster: variation between clusters cannot be seen; "
                "give finer clusters, or {remedy} for point estimates alone",
                remedy=arguments(design="descriptive"),
            )
        factor = count / (count - 1.0)
        return Units(
            directions.weights, count, np.sqrt(count), labels,
            factor=factor, dof=count - 1, what="cluster", names=unit_names(self.ids, labels),
        )  # fmt: skip

    def of_rows(self, rows: BoolArray) -> Clusters:
        return Clusters(np.asarray(ids_of_rows(self.ids, rows)))
