"""Directions that do not fill their space: what they span, in words."""

from __future__ import annotations

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import Array


def describe_flat(mean: Array, scatter: Array, count: int, tolerance: float) -> Placement:
    """Whether ``count`` distinct directions leave some direction without variance.

    A covariance that is singular means a hyperplane holds all of them: one through the
    origin when they span fewer dimensions, one off it when they lie on a smaller sphere.
    """
    d = len(mean)
    values, axes = np.linalg.eigh(scatter)
    flat = values <= tolerance * values[-1]
    if not flat.any():
        return Placement(Verdict.INSIDE)
    heights = axes[:, flat].T @ mean
    off_origin = bool(np.linalg.norm(heights) > np.sqrt(tolerance))
    spanned = int(d - flat.sum() + off_origin)
    if count <= d:
        words = f"{count} distinct directions cannot fill {d} dimensions: more than {d} are needed"
    elif spanned < d:
        words = f"these directions span {spanned} of {d} dimensions; see Directions.within_span"
    else:
        words = f"all directions lie on a smaller sphere, on a plane off the origin of R^{d}"
    return Placement(Verdict.OUTSIDE, words)
