"""The height of a von Mises-Fisher law along its axis: distribution function and integrals.

The angle θ from the axis, t = cos θ, has the density ``exp(κ cos θ) sin^{d-2} θ`` up to a constant.
Its window is cut into equal panels; on each the density is its Legendre series through Gauss nodes,
whose integral is a series again. A panel is less than half a standard deviation wide, so that a
series of 16 terms is exact to rounding; outside the window lies less than e^-90 of the mass.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.polynomial import legendre

from steradian.numerics.arrays import Array
from steradian.numerics.heights.polar_angle import polar_exponent, polar_window

_PANELS = 64
_ORDER = 16  # nodes of a panel


@dataclass(frozen=True, slots=True, eq=False)
class HeightLaw:
    """The law of the angle θ from the axis, and of the height cos θ."""

    edges: Array  # (panels + 1,) angles between which nearly all mass lies
    below: Array  # (panels + 1,) mass at angles below each edge
    series: Array  # (order + 1, panels): mass from the edge on, by Legendre polynomials of a panel
    angles: Array  # (nodes,)
    masses: Array  # (nodes,), of sum one
    mean: float  # of the height
    spread: float  # its standard deviation

    def height_cdf(self, angle: Array) -> Array:
        """P(height <= cos angle), (n,): the mass at larger angles."""
        inside = np.clip(angle, self.edges[0], self.edges[-1])
        panel = np.clip(np.searchsorted(self.edges, inside, side="right") - 1, 0, _PANELS - 1)
        half = 0.5 * (self.edges[1] - self.edges[0])
        at = (inside - self.edges[panel]) / half - 1.0
        within = legendre.legval(at, self.series[:, panel], tensor=False)
        return np.clip(1.0 - self.below[panel] - within, 0.0, 1.0)


@lru_cache(maxsize=64)
def height_law(d: int, kappa: float) -> HeightLaw:
    """The law of the height under exp(κ t) on the unit sphere of R^d, κ >= 0."""
    low, high = polar_window(d, np.array([kappa]))
    edges = np.linspace(low[0], high[0], _PANELS + 1)
    at, weight = legendre.leggauss(_ORDER)
    half = 0.5 * (edges[1] - edges[0])
    angles = edges[:-1, None] + half * (at + 1.0)
    exponent = polar_exponent(d, np.full(1, kappa), angles)
    density = np.exp(exponent - exponent.max())
    masses = half * weight * density
    density /= masses.sum()
    masses /= masses.sum()
    # coefficients (j + ½) ∫ f P_j by the Gauss rule: those of the polynomial through its nodes
    by_degree = (np.arange(_ORDER) + 0.5)[:, None] * legendre.legvander(at, _ORDER - 1).T
    series = half * legendre.legint(by_degree @ (weight[:, None] * density.T), lbnd=-1.0, axis=0)
    below = np.concatenate([[0.0], np.cumsum(masses.sum(axis=1))])
    height, mass = np.cos(angles.ravel()), masses.ravel()
    mean = float(mass @ height)
    spread = float(np.sqrt(mass @ (height - mean) ** 2))
    for part in (edges, below, series, angles, mass):
        part.flags.writeable = False
    return HeightLaw(edges, below, series, angles.ravel(), mass, mean, spread)
