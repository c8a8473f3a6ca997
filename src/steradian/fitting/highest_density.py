"""The smallest region that holds a given share of a density.

``{x: p(x) >= t}`` with t such that it has the mass asked for (Hyndman 1996, *American
Statistician* 50, 120). Of the nodes that integrate p, with masses w_k, those of the highest
density are taken until they have it; between the last two t is interpolated, and the area against
the uniform distribution is Σ w_k / p(x_k) over the nodes taken.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from steradian.data.directions import Directions
from steradian.numerics.arrays import Array, BoolArray

Density = Callable[[ArrayLike | Directions], Array]


@dataclass(frozen=True, slots=True)
class HighestDensityRegion:
    """The smallest region that holds a share of a fitted density.

    Attributes
    ----------
    mass : float
        The share it holds.
    threshold : float
        The density at its edge, as a multiple of the uniform density.
    area : float
        Its share of the space.
    """

    mass: float
    threshold: float
    area: float
    density: Density = field(repr=False)

    def inside(self, x: ArrayLike | Directions) -> BoolArray:
        """Which of the points ``x`` (n, d) lie in it, (n,)."""
        return np.asarray(self.density(x) >= self.threshold)


def highest_density_region(
    pdf: Density, densities: Array, masses: Array, mass: float
) -> HighestDensityRegion:
    """Of nodes with ``densities`` (N,) and ``masses`` (N,) of sum one."""
    order = np.argsort(-densities, kind="stable")
    heights, shares = densities[order], masses[order]
    heights, shares = heights[shares > 0.0], shares[shares > 0.0]
    held = np.cumsum(shares) - 0.5 * shares  # half of a node lies above its own density
    threshold = float(np.interp(mass, held, heights))
    areas = np.cumsum(shares / heights) - 0.5 * shares / heights
    area = min(float(np.interp(mass, held, areas)), 1.0)
    return HighestDensityRegion(mass, threshold, area, pdf)
