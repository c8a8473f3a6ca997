"""How points look: fainter the more there are, their areas the weights."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array

_FEW, _LARGE, _SMALL = 30, 16.0, 2.5  # rows drawn large, and areas in square points
_LARGEST = 220.0  # square points
_FULL, _FADING = 0.9, 0.30
_OPAQUE = 60  # rows up to which points hide each other little


def point_areas(weights: Array) -> Array:
    """Areas in square points, (n,), whose mean falls with n and which are in ratio of the weights.

    The largest is bounded, and all others with it.
    """
    n = len(weights)
    mean = max(_SMALL, _LARGE * min(1.0, (_FEW / n) ** 0.4))
    shares = weights * n
    return np.asarray(shares * min(mean, _LARGEST / float(shares.max())))


def point_alpha(n: int) -> float:
    """Opacity of each of ``n`` points."""
    return float(_FULL * min(1.0, (_OPAQUE / n) ** _FADING))
