"""Points that a chart draws, from rows of numbers that are near them."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.spaces.base import Chart

_VECTOR = {"circle": 2, "sphere": 3, "torus": 2}  # coordinates of each unit vector of a row


def on_chart(chart: Chart, y: Array) -> Array:
    """The points of a chart nearest to rows ``y`` (n, d): each of their vectors of unit length.

    Examples
    --------
    >>> import numpy as np
    >>> on_chart("torus", np.array([[2.0, 0.0, 0.0, 0.5]])).tolist()
    [[1.0, 0.0, 0.0, 1.0]]
    """
    vectors = y.reshape(len(y), -1, _VECTOR[chart])
    return np.asarray((vectors / np.linalg.norm(vectors, axis=2, keepdims=True)).reshape(y.shape))
