"""Concentrated points seen from close by: a conformal map that keeps the boundary of every level.

Stereographic projection writes a function of degree L on the two-sphere as a polynomial of
degree L in w and in w̄, over ``(1 + |w|²)^L``. Enlarging w is a map of the sphere to itself
that turns such functions into such functions, times the L-th power of a positive affine
function. Signs and zeros stay, so that whether a support lies on the boundary may be asked of
the enlarged points, where no digit is lost to their concentration.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.tolerances import SMALLEST_ZOOM
from steradian.spaces import Sphere

_WIDE = 0.3  # typical |w| above which points are seen well enough as they are


@dataclass(frozen=True, slots=True)
class Zoom:
    """Enlarges the neighbourhood of ``centre`` (3,) by 1 / ``scale``."""

    centre: Array
    scale: float

    @classmethod
    def onto(cls, x: Array) -> Zoom:
        """So that the points ``x`` (n, 3) spread over the sphere; scale 1 where they do."""
        mean = x.mean(axis=0)
        length = float(np.linalg.norm(mean))
        if length < 0.5:
            return cls(np.array([0.0, 0.0, 1.0]), 1.0)
        centre = mean / length
        typical = float(np.median(np.linalg.norm(_plane(x, centre), axis=1)))
        return cls(centre, max(typical, SMALLEST_ZOOM) if typical < _WIDE else 1.0)

    def __call__(self, x: Array) -> Array:
        """The enlarged points, (n, 3)."""
        if self.scale == 1.0:
            return x
        w = _plane(x, self.centre) / self.scale
        square = np.einsum("ni,ni->n", w, w)[:, None]
        away = (2.0 * w + (1.0 - square) * self.centre) / (1.0 + square)
        return np.asarray(away / np.linalg.norm(away, axis=1, keepdims=True))

    def pulled_back(self, f: Array, level: int) -> Array:
        """Of a function of the enlarged points (coefficients), one of the points as they are."""
        if self.scale == 1.0:
            return f
        grid = Sphere().exact_grid(2 * level)
        height = grid.points @ self.centre
        factor = 0.5 * ((1.0 + height) * self.scale**2 + 1.0 - height)
        values = sphere_harmonics(self(grid.points), level) @ f * factor**level
        return np.asarray(grid.analyze(values[None], level)[0])


def _plane(x: Array, centre: Array) -> Array:
    """Stereographic projection from the antipode of ``centre``, as tangent vectors (n, 3)."""
    height = x @ centre
    return np.asarray((x - height[:, None] * centre) / (1.0 + height)[:, None])
