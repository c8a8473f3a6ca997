"""Many samples at once: moments, fits and scores of a stack (B, n, d)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steradian.hierarchies import Harmonics, MomentStack
from steradian.inference.scores import Scores, row_scores
from steradian.inference.whitening import whitening
from steradian.nested import NestedFits, fit_levels
from steradian.numerics.arrays import Array, IntArray

_ENTRIES = 400_000  # numbers of features held at once: what stays in the processor's cache


def chunks(count: int, per_sample: int) -> Iterator[slice]:
    """Slices of a stack of ``count`` samples that fit in memory."""
    size = max(1, _ENTRIES // max(1, per_sample))
    return (slice(first, min(first + size, count)) for first in range(0, count, size))


def moments_of(hierarchy: Harmonics, x: Array, weights: Array) -> MomentStack:
    """Moments of samples ``x`` (B, n, d) with weights (B, n) of sum one."""
    count, n, d = x.shape
    mean = (weights[:, None, :] @ x)[:, 0, :]
    away = x - mean[:, None, :]
    scatter = np.swapaxes(away, 1, 2) @ (weights[:, :, None] * away)
    if d > 3:
        return MomentStack(np.zeros((count, 0)), mean, scatter)
    phi = hierarchy.features(x.reshape(-1, d)).reshape(count, n, -1)
    return MomentStack((weights[:, None, :] @ phi)[:, 0, :], mean, scatter)


def fits_of_samples(hierarchy: Harmonics, x: Array, weights: Array) -> NestedFits:
    """Nested fits of samples ``x`` (B, n, d); no support is examined, the solver decides."""
    at_least = Harmonics(hierarchy.d, max(2, hierarchy.levels))  # what level-1 judges ask for
    return fit_levels(hierarchy, moments_of(at_least, x, weights))


def null_scores(
    hierarchy: Harmonics, level: int, x: Array, weights: Array
) -> tuple[Scores, IntArray]:
    """Scores of ``level`` for samples whose rows share one law, and which samples have them."""
    rows = np.arange(len(x))
    lam = np.zeros((len(x), 0))
    if level > 1:
        below = Harmonics(hierarchy.d, level - 1)
        fits = fits_of_samples(below, x, weights)
        rows = np.array([r for r in range(len(x)) if r not in fits.failures], dtype=np.int64)
        lam = fits.solutions[-1].lam[rows]
    if hierarchy.d > 3 and level == 2:
        parts = [whitening(hierarchy, level, lam[k : k + 1]) for k in range(len(rows))]
        zeta = np.stack([w.rows(x[r]) for w, r in zip(parts, rows, strict=True)])
        return row_scores(zeta, parts[0].below, weights[rows]), rows
    white = whitening(hierarchy, level, lam)
    return row_scores(white.rows(x[rows]), white.below, weights[rows]), rows
