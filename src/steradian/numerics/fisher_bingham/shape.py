"""What a law exp(bᵀy + Σ β y²) looks like, in a word."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import NO_SHAPE, TOP_REACHED

UNIFORM, UNIMODAL, BIPOLAR, GIRDLE = "uniform", "unimodal", "bipolar", "girdle"
_STEPS = 10_000


def shape_of(beta: Array, b: Array, log_density: Callable[[Array], Array]) -> str:
    """The word for a law with eigenvalues ``beta`` (d,) and linear part ``b`` (d,) in their basis.

    A girdle where the smallest eigenvalue is farther from its neighbour than the largest
    (Woodcock's reading) and the linear part is no larger than their spread; there is none on the
    circle. Else two poles where the other end of the axis has a top of its own above the uniform
    law, and one where it has not.
    """
    order = np.argsort(beta)
    values, linear = beta[order], b[order]
    spread, pull = float(values[-1] - values[0]), float(np.linalg.norm(linear))
    if max(spread, pull) < NO_SHAPE:
        return UNIFORM
    flat = len(values) > 2 and values[-1] - values[-2] <= values[1] - values[0]
    if flat and pull <= spread:
        return GIRDLE
    top = _other_top(values, linear)
    if top is None or log_density(top[np.argsort(order)][None])[0] <= 0.0:
        return UNIMODAL
    return BIPOLAR


def _other_top(values: Array, linear: Array) -> Array | None:
    """The maximum on the side of the axis that the linear part points away from, if any.

    The exponent less its least eigenvalue is convex, so that it rises with every step to where its
    tangent is highest: y ← b + 2 (β - β_min) y, of unit length. A quadratic on a sphere has at
    most one maximum besides the highest, with the other sign along the axis (Martínez 1994, SIAM
    J. Optim. 4, 159).
    """
    side = -1.0 if linear[-1] > 0.0 else 1.0
    steep = 2.0 * (values - values[0])
    y = side * np.eye(len(values))[-1]
    for _ in range(_STEPS):
        slope = linear + steep * y
        after = slope / np.linalg.norm(slope) if slope.any() else y
        if side * after[-1] <= NO_SHAPE:
            return None
        moved, y = float(np.abs(after - y).max()), after
        if moved <= TOP_REACHED:
            break
    return y
