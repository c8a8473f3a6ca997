"""What noise alone adds to each gap on average, where rows are of one law."""

from __future__ import annotations

import math

import numpy as np

from steradian.families.base import KnowsNoise
from steradian.numerics.arrays import Array
from steradian.significance.sample import Sample


def model_noise(sample: Sample) -> Array:
    """Mean gaps of samples of this size with nothing to find, (L,), nats.

    To first order (q_L - q_{L-1}) / 2a², a² = n without weights. Where there are many features for
    the rows the gap runs ahead of that, and a family that knows by how much is asked. No matrix is
    formed.
    """
    rows = sample.rate**2
    levels = range(1, len(sample.nested.solutions) + 1)
    return np.diff([_of_level(sample, level, rows) for level in levels], prepend=0.0)


def _of_level(sample: Sample, level: int, rows: float) -> float:
    """Of the deficit of one level."""
    plain = 0.5 * sample.hierarchy.q(level) / rows
    family = sample.hierarchy.family(level)
    known = family.noise(rows) if isinstance(family, KnowsNoise) else math.nan
    return plain if math.isnan(known) else known
