"""Orthonormal polynomials of one coordinate of a uniform unit vector, by their recurrence."""

from __future__ import annotations

from functools import cache, lru_cache
from itertools import pairwise
from typing import Any

import numpy as np

from steradian.numerics.arrays import AnyArray


@lru_cache(maxsize=256)
def recurrence(d: float, levels: int, dtype: Any = float) -> tuple[tuple[float, float], ...]:
    """b_k and b_{k+1} of t p_k = b_{k+1} p_{k+1} + b_k p_{k-1}, for t of a unit vector of R^d."""
    k = np.arange(1.0, levels + 1.0)
    square = np.full(levels, 1.0 / d)  # b_1² = E t²
    above = k[1:]
    square[1:] = above * (above + d - 3.0) / ((2.0 * above + d - 2.0) * (2.0 * above + d - 4.0))
    b = np.concatenate([[0.0], np.sqrt(square)]).astype(dtype)
    return tuple(pairwise(b))


def polynomials(t: AnyArray, d: float, levels: int, square: AnyArray | float = 1.0) -> AnyArray:
    """s^k p_k(t / s) of degree k = 0..levels at ``t``, s² = ``square``: (levels + 1, *t.shape).

    Polynomials of t and s² together, which needs no division by s; of complex numbers too.
    """
    out = np.ones((levels + 1, *t.shape), dtype=t.dtype)
    before = np.zeros_like(t)
    for k, (down, up) in enumerate(recurrence(d, levels, t.real.dtype)):
        out[k + 1] = (t * out[k] - down * square * before) / up
        before = out[k]
    return out


@cache
def mean_power(d: int, m: int) -> float:
    """E (1 - t²)^m of one coordinate t of a uniform unit vector of R^d."""
    j = np.arange(m)
    return float(np.prod((d - 1.0 + 2.0 * j) / (d + 2.0 * j)))
