"""Quasi-random standard normal numbers: independently scrambled Sobol sequences.

Owen's scrambling makes each point uniform, so that means over one sequence have no bias, and
independent scramblings are independent: their spread is the error of their mean (Owen 1997).
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import SMALLEST_SHARE


def quasi_normal(d: int, log_size: int, batches: int, seed: int) -> Array:
    """``batches`` sequences of 2^log_size points each, one after the other: (n, d)."""
    from scipy.stats import qmc  # half a second, which only some people wait for

    parts = []
    for batch in range(batches):
        rng = np.random.default_rng([seed, batch])
        uniform = qmc.Sobol(d, scramble=True, seed=rng).random_base2(log_size)
        parts.append(ndtri(np.clip(uniform, SMALLEST_SHARE, 1.0 - SMALLEST_SHARE)))
    return np.concatenate(parts)
