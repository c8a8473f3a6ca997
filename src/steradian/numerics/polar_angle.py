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
        power = d - 2.0
        size = power + np.sqrt(power * power + 4.0 * kappa * kappa)
        ratio = 2.0 * kappa / np.maximum(size, TINY)
        mode = np.arctan2(
            np.sqrt(power * ratio / np.maximum(kappa, TINY)), ratio
        )  # κ sin² = power cos
        width = 1.0 / np.sqrt(np.maximum(kappa * ratio + power, _FLAT))
        low = np.maximum(0.0, mode - _REACH * width)
        high = np.minimum(np.pi, mode + _REACH * width)
        at, share = _rule()
        angle = 0.5 * (low + high)[:, None] + 0.5 * (high - low)[:, None] * at
        sine, t = np.sin(angle), np.cos(angle)
        fall = -2.0 * kappa[:, None] * np.sin(0.5 * angle) ** 2  # κ (t - 1)
        log_density = fall + power * np.log(sine) + np.log(share)
        weight = np.exp(log_density - log_density.max(axis=1, keepdims=True))
        return cls(t, sine, weight / weight.sum(axis=1, keepdims=True))

    def mean(self, values: Array) -> Array:
        """E of functions known at the nodes (B, N): (B,)."""
        return np.asarray(np.einsum("bk,bk->b", self.weight, values))


@cache
def _rule() -> tuple[Array, Array]:
    """Gauss-Legendre nodes and weights on [-1, 1]."""
    return np.polynomial.legendre.leggauss(_NODES)
