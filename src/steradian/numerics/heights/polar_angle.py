"""The polar angle of von Mises-Fisher laws in any dimension, and means of its functions.

By Gauss-Legendre nodes in the angle on the window that holds the law, with the weight
(d - 2) log sin in the exponent: Gauss-Gegenbauer nodes, exact for polynomials, miss the law where
d or κ is large.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import TINY

_NODES = 128  # half a standard deviation apart where the window is whole
_FLAT = 1e-2  # curvature of laws on the circle that fill it
_REACH = 14.0  # standard deviations of the polar angle that are integrated over


@dataclass(frozen=True, slots=True)
class PolarAngle:
    """Nodes of the angle from the axis of B laws, and their masses."""

    t: Array  # (B, N): cosine
    sine: Array  # (B, N)
    weight: Array  # (B, N), of sum one

    @classmethod
    def of(cls, d: int, kappa: Array) -> PolarAngle:
        """Of laws κ (B,) on the unit sphere of R^d."""
        low, high = polar_window(d, kappa)
        at, share = _rule()
        angle = 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * at
        sine, t = np.sin(angle), np.cos(angle)
        log_density = polar_exponent(d, kappa[:, None], angle) + np.log(share)
        weight = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        return cls(t, sine, weight / weight.sum(axis=1, keepdims=True))

    def mean(self, values: Array) -> Array:
        """E of functions known at the nodes (B, N): (B,)."""
        return np.asarray(np.einsum("bk,bk->b", self.weight, values))


def polar_window(d: int, kappa: Array) -> tuple[Array, Array]:
    """Angles (B,) between which laws κ (B,) lie: `_REACH` standard deviations about the mode."""
    power = d - 2.0
    size = np.maximum(power + np.sqrt(power * power + 4.0 * kappa * kappa), TINY)
    ratio = 2.0 * kappa / size
    mode = np.arctan2(np.sqrt(2.0 * power / size), ratio)  # κ sin² = power cos
    width = 1.0 / np.sqrt(np.maximum(kappa * ratio + power, _FLAT))
    return np.maximum(0.0, mode - _REACH * width), np.minimum(np.pi, mode + _REACH * width)


def polar_exponent(d: int, kappa: Array, angle: Array) -> Array:
    """κ (cos θ - 1) + (d - 2) log sin θ, the first without loss of digits at small angles."""
    return -2.0 * kappa * np.sin(0.5 * angle) ** 2 + (d - 2.0) * np.log(np.sin(angle))


@cache
def _rule() -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)
