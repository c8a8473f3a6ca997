"""Derivatives of functions of finite degree along great circles, or along the angles of a torus.

On the path ``still + cos t · here + sin t · there`` through a point at t = 0 such a function is a
trigonometric polynomial of degree K in t, so that its derivatives at t = 0 are fixed sums over
2K + 1 equispaced points of the path: exact to rounding, whatever coordinates it is computed from.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

import numpy as np

from steradian.numerics.arrays import AnyArray, Array


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Paths through points x = still + here, as many through each as the space has dimensions."""

    still: Array  # (k, n, d)
    here: Array  # (k, n, d)
    there: Array  # (k, n, d)

    def derivatives(self, function: Callable[[Array], AnyArray], degree: int) -> AnyArray:
        """First and second derivatives of ``function`` (n, d) → (n, p) at t = 0: (2, k, n, p)."""
        angle, weights = stencil(degree)
        cos, sin = np.cos(angle)[:, None, None, None], np.sin(angle)[:, None, None, None]
        points = self.still + cos * self.here + sin * self.there
        values = function(points.reshape(-1, points.shape[-1]))
        return np.tensordot(weights[:2], values.reshape(*points.shape[:-1], -1), axes=1)


@cache
def stencil(degree: int) -> tuple[Array, Array]:
    """Angles (T,) and the weights (3, T) of the first three derivatives at angle zero."""
    count = 2 * degree + 1
    angle = np.arange(count) * (2.0 * np.pi / count)
    k = np.arange(1, degree + 1)[:, None]
    first = 2.0 / count * (k * np.sin(k * angle)).sum(axis=0)
    second = -2.0 / count * (k * k * np.cos(k * angle)).sum(axis=0)
    third = -2.0 / count * (k**3 * np.sin(k * angle)).sum(axis=0)
    return np.asarray(angle), np.stack([first, second, third])


def great_circles(x: Array) -> Paths:
    """Along d - 1 tangents, of no particular direction, at unit vectors ``x`` (n, d)."""
    n, d = x.shape
    frame = np.empty((n, d, d))
    frame[:, :, 0] = x
    frame[:, :, 1:] = np.random.default_rng(d).standard_normal((d, d - 1))
    tangents = np.linalg.qr(frame)[0][:, :, 1:].transpose(2, 0, 1)
    here = np.broadcast_to(x, tangents.shape)
    return Paths(np.zeros_like(tangents), np.asarray(here), tangents)


def turns(x: Array) -> Paths:
    """Along each of the k angles at points of a torus ``x`` (n, 2k)."""
    n, d = x.shape
    here, there = np.zeros((2, d // 2, n, d))
    for angle in range(d // 2):
        first, second = 2 * angle, 2 * angle + 1
        here[angle, :, first : second + 1] = x[:, first : second + 1]
        there[angle, :, first], there[angle, :, second] = -x[:, second], x[:, first]
    return Paths(x - here, here, there)
