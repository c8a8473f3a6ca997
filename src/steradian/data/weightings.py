"""Moments of many weightings of the same directions, in one pass."""

from __future__ import annotations

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array

_BLOCK_ENTRIES = 1 << 24  # features of this many entries are held at a time
_CONCENTRATED = 0.02  # spread below which the shared centre would cost digits


def moments_of_weightings(x: Array, w: Array, hierarchy: Hierarchy) -> MomentStack:
    """Feature means, means and centred second moments of every weighting."""
    centre = hierarchy.space.centre(x, np.full(len(x), 1.0 / len(x)))
    y = x - centre
    d = x.shape[1]
    pairs = (y[:, :, None] * y[:, None, :]).reshape(len(x), -1)
    features = np.zeros((len(w), hierarchy.q(hierarchy.levels)))
    rows = max(1, _BLOCK_ENTRIES // max(1, features.shape[1]))
    for first in range(0, len(x), rows):
        block = slice(first, first + rows)
        features += w[:, block] @ hierarchy.features(x[block])
    offset = hierarchy.space.centre(x, w) - centre
    about = w @ y  # of the shared centre, which for axes is not their mean
    shift = offset[:, :, None] * about[:, None, :]
    scatter = (w @ pairs).reshape(-1, d, d) - shift - np.swapaxes(shift, 1, 2)
    scatter += offset[:, :, None] * offset[:, None, :]
    mean = centre + offset
    for row in np.flatnonzero(np.trace(scatter, axis1=1, axis2=2) < _CONCENTRATED):
        away = x - mean[row]
        scatter[row] = (w[row, :, None] * away).T @ away
    return MomentStack(features, mean, scatter)
