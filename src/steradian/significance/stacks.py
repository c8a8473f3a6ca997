"""Many samples at once: moments, fits and scores of a stack (B, n, d)."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack
from steradian.families.quadratic import low_moments
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Harmonics
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance.scores import Scores, row_scores
from steradian.significance.whitening import GriddedWhitening, gridded_whitening, polar_stack

_ENTRIES = 400_000  # numbers of features held at once: what stays in the processor's cache
_CONCENTRATED = 0.02  # spread below which second moments less squares lose digits


def chunks(count: int, per_sample: int, *, first: int = 0) -> Iterator[slice]:
    """Slices of a stack of ``count`` samples that fit in memory; from ``first`` on they double."""
    most = max(1, _ENTRIES // max(1, per_sample))
    start, size = 0, min(first, most) or most
    while start < count:
        stop = min(start + size, count)
        yield slice(start, stop)
        start, size = stop, min(2 * size, most)


def moments_of(hierarchy: Harmonics, x: Array, weights: Array) -> MomentStack:
    """Moments of samples ``x`` (B, n, d) with weights (B, n) of sum one."""
    if x.shape[2] > 3:
        mean, scatter = _low_moments_of(x, weights)
        return MomentStack(np.zeros((len(x), 0)), mean, scatter)
    return moments_of_features(features_of(hierarchy, x), x, weights)


def features_of(hierarchy: Harmonics, x: Array) -> Array:
    """Features of samples (B, n, d): (B, n, p)."""
    count, n, d = x.shape
    return hierarchy.features(x.reshape(-1, d)).reshape(count, n, -1)


def moments_of_features(phi: Array, x: Array, weights: Array) -> MomentStack:
    """Moments on the circle or the two-sphere from features (B, n, p) of two levels or more.

    The mean and second moment are linear in them; only concentrated samples, where the
    difference of the two would lose digits, are looked at again.
    """
    means = (weights[:, None, :] @ phi)[:, 0, :]
    mean, second = low_moments(x.shape[2], means)
    scatter = second - mean[:, :, None] * mean[:, None, :]
    tight = np.flatnonzero(np.trace(scatter, axis1=1, axis2=2) < _CONCENTRATED)
    if len(tight):
        mean[tight], scatter[tight] = _low_moments_of(x[tight], weights[tight])
    return MomentStack(means, mean, scatter)


def _low_moments_of(x: Array, weights: Array) -> tuple[Array, Array]:
    """E x and the centred second moment."""
    mean = (weights[:, None, :] @ x)[:, 0, :]
    away = x - mean[:, None, :]
    return mean, np.swapaxes(away, 1, 2) @ (weights[:, :, None] * away)


def fits_of_samples(hierarchy: Harmonics, x: Array, weights: Array) -> NestedFits:
    """Nested fits of samples ``x`` (B, n, d).

    On the circle the rows tell where there is none, and find it where moments take long;
    elsewhere no support is examined, and the solver decides.
    """
    at_least = Harmonics(hierarchy.d, max(2, hierarchy.levels))  # what level-1 judges ask for
    known = hierarchy.d == 2
    support = (lambda row: Directions(x[row], weights[row]).support()) if known else None
    return fit_levels(hierarchy, moments_of(at_least, x, weights), support)


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
        polar = polar_stack(hierarchy.d, lam)
        return row_scores(polar.rows(x[rows]), polar.below, weights[rows]), rows
    white, sound = sound_whitening(hierarchy, level, lam)
    rows = rows[sound]
    return row_scores(white.rows(x[rows]), white.below, weights[rows]), rows


def sound_whitening(
    hierarchy: Harmonics, level: int, lam: Array
) -> tuple[GriddedWhitening, BoolArray]:
    """White features for those fits of a stack that have any, and which these are."""
    white = gridded_whitening(hierarchy, level, lam)
    sound = white.sound
    return (white if sound.all() else gridded_whitening(hierarchy, level, lam[sound])), sound
