"""Fits and scores of many drawn samples (B, n, d) at once, a chunk at a time."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack
from steradian.families.base import Family
from steradian.families.whitening import Whitening
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance.scores import Scores, row_scores

_ENTRIES = 400_000  # numbers of features held at once: what stays in the processor's cache


def chunks(count: int, per_sample: int, *, first: int = 0) -> Iterator[slice]:
    """Slices of a stack of ``count`` samples that fit in memory; from ``first`` on they double."""
    most = max(1, _ENTRIES // max(1, per_sample))
    start, size = 0, min(first, most) or most
    while start < count:
        stop = min(start + size, count)
        yield slice(start, stop)
        start, size = stop, min(2 * size, most)


def features_of(hierarchy: Hierarchy, x: Array) -> Array:
    """Features of samples (B, n, d): (B, n, q)."""
    count, n, d = x.shape
    return np.asarray(hierarchy.features(x.reshape(-1, d))).reshape(count, n, -1)


def fits_of_samples(hierarchy: Hierarchy, x: Array, weights: Array) -> NestedFits:
    """Nested fits of samples ``x`` (B, n, d)."""
    return _fits(hierarchy, hierarchy.stack(x, weights), x, weights)


def _fits(hierarchy: Hierarchy, stack: MomentStack, x: Array, weights: Array) -> NestedFits:
    """Nested fits of samples whose moments, of these levels or more, are known.

    Where rows are examined quickly they tell where there is no fit, and find it where moments
    take long; elsewhere no support is examined, and the solver decides.
    """
    levels = range(1, hierarchy.levels + 1)
    quick = all(hierarchy.family(level).examines_quickly for level in levels)
    support = (
        (lambda row: Directions(x[row], weights[row], space=hierarchy.space).support())
        if quick
        else None
    )
    return fit_levels(hierarchy, stack, support)


def null_scores(
    hierarchy: Hierarchy, level: int, x: Array, weights: Array
) -> tuple[Scores, IntArray]:
    """Scores of ``level`` for samples whose rows share one law, and which samples have them."""
    stack = hierarchy.up_to(level - 1).stack(x, weights) if level > 1 else None
    white, rows = _white(hierarchy, level, stack, x, weights)
    return row_scores(white.rows(x[rows]), white.below, weights[rows]), rows


def null_squares(hierarchy: Hierarchy, level: int, x: Array, weights: Array) -> Array:
    """|E ζ_added|² of the same samples from their moments alone; none of those without one."""
    stack = hierarchy.up_to(level).stack(x, weights)
    white, rows = _white(hierarchy, level, stack, x, weights)
    return white.score(stack.take(rows))


def _white(
    hierarchy: Hierarchy, level: int, stack: MomentStack | None, x: Array, weights: Array
) -> tuple[Whitening, IntArray]:
    """White features of ``level`` under each sample's own fit below, and which samples have any."""
    rows, lam = np.arange(len(x)), np.zeros((len(x), 0))
    if stack is not None and level > 1:
        fits = _fits(hierarchy.up_to(level - 1), stack, x, weights)
        rows = np.array([r for r in range(len(x)) if r not in fits.failures], dtype=np.int64)
        lam = fits.solutions[-1].lam[rows]
    white, sound = sound_whitening(hierarchy.family(level), lam)
    return white, rows[sound]


def sound_whitening(family: Family, below: Array) -> tuple[Whitening, BoolArray]:
    """White features for those fits ``below`` that have any, and which these are."""
    white = family.whitening(below)
    sound = white.sound
    return (white if sound.all() else family.whitening(below[sound])), sound
