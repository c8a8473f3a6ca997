"""What rules cut at the edges of a mask are tried on."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array

ROUNDING = 1e-13  # of a sum over some 10⁴ nodes of values of order one, with a margin of ten


def smooth(x: Array) -> Array:
    """A smooth function without symmetry, at ``x`` (n, 3): (n,)."""
    return np.asarray(np.exp(1.3 * x[:, 0] - 0.7 * x[:, 1] + 2.0 * x[:, 2] * x[:, 0]))
