"""Fits and scores of many drawn samples (B, n, d) at once, a chunk at a time."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack
from steradian.errors import ResolutionError
from steradian.existence.placement import Verdict
from steradian.families.base import Family
from steradian.families.whitening import Whitening
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.significance.scores import Scores, row_scores


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
    take long; elsewhere no support is examined, the solver decides, and a sample that no shared
    rule resolves stays without a fit: it is among `NestedFits.lost_rows`.
    """
    levels = range(1, hierarchy.levels + 1)
    quick = all(hierarchy.family(level).examines_quickly for level in levels)
    support = (
        (lambda row: Directions(x[row], weights[row], space=hierarchy.space).support())
        if quick
        else None
    )
    return fit_levels(hierarchy, stack.unsought(), support)


def _near(law: Array | None, below: Family, stack: MomentStack) -> tuple[Array, BoolArray, bool]:
    """Fits (B, q) of the level ``below`` alone that lie about one ``law`` of it.

    With them which are known, and whether the others are worth a search of their own. Once there
    is a law to begin from, the fit of a level needs none of those below it.
    """
    refits = None if law is None else below.refits(law)
    if refits is None or below.q <= stack.mean.shape[1]:  # of a mean all is known at once
        return np.zeros((len(stack), below.q)), np.zeros(len(stack), dtype=bool), True
    return *refits.parameters(stack.features[:, : below.q]), not refits.thorough


@dataclass(frozen=True, slots=True, eq=False)
class FitsBelow:
    """Each sample's own fit of the level below ``level``: which have one, and which are lost.

    Lost samples count as farther from the null than any observed one: a p-value among them can
    then only be too large.
    """

    family: Family  # of the level
    rows: IntArray  # samples that have a fit
    lam: Array  # (len(rows), q_below)
    gone: IntArray

    @classmethod
    def of(
        cls,
        hierarchy: Hierarchy,
        level: int,
        stack: MomentStack | None,
        samples: tuple[Array, Array],
        near: Array | None = None,
    ) -> FitsBelow:
        """Of ``samples`` (B, n, d) with weights (B, n), perhaps all drawn from one law ``near``.

        ``stack`` are the moments of the levels below or more, where there are any; ``near`` (q,)
        are parameters of the level below.
        """
        rows, family = np.arange(len(samples[0])), hierarchy.family(level)
        if stack is None or level == 1:
            return cls(family, rows, np.zeros((len(rows), 0)), rows[:0])
        below = hierarchy.family(level - 1)
        lam, found, searched = _near(near, below, stack)
        left = np.flatnonzero(~found)
        if not len(left):
            return cls(family, rows, lam, left)
        rest = stack.take(left)
        if not searched:
            maybe = left[below.contains(rest) >= Verdict.UNSURE]
            return cls(family, np.flatnonzero(found), lam[found], maybe)
        some = tuple(part[left] for part in samples)
        fits = _fits(hierarchy.up_to(level - 1), rest, *some)
        sound = fits.sound_rows
        lam[left[sound]], found[left[sound]] = fits.solutions[-1].lam[sound], True
        return cls(family, np.flatnonzero(found), lam[found], left[fits.lost_rows])

    def scores(self, x: Array, weights: Array) -> tuple[Scores, IntArray] | None:
        """Scores of the level for samples whose rows share one law, and which samples have them.

        None where no sample has any.
        """
        known = sound_whitening(self.family, self.lam)
        if known is None:
            return None
        white, sound = known
        rows = self.rows[sound]
        return row_scores(white.rows(x[rows]), white.below, weights[rows]), rows

    def squares(self, stack: MomentStack) -> Array:
        """|E ζ_added|² of the samples from their moments alone; ∞ of the lost ones.

        Lost too are those whose fit is so sharp that it has no white features.
        """
        found = np.full(len(self.rows) + len(self.gone), np.inf)
        known = sound_whitening(self.family, self.lam)
        if known is not None:
            white, sound = known
            found[np.flatnonzero(sound)] = white.score(stack.take(self.rows[sound]))
        return found


def sound_whitening(family: Family, below: Array) -> tuple[Whitening, BoolArray] | None:
    """White features for those fits ``below`` that have any, and which these are; None of none."""
    sound = np.ones(len(below), dtype=bool)
    while sound.any():
        rows = np.flatnonzero(sound)
        try:
            white = family.whitening(below[rows])
        except ResolutionError as error:  # of the sharpest
            sound[rows[_refused(family, below[rows], error)]] = False
            continue
        if white.sound.all():
            return white, sound
        sound[rows[~white.sound]] = False
    return None


def _refused(family: Family, below: Array, error: ResolutionError) -> IntArray:
    """Which fits, together refused with ``error``, have no white features; told in halves."""
    if error.rows is not None:
        return error.rows
    if len(below) == 1:
        return np.zeros(1, dtype=np.intp)
    found: list[IntArray] = []
    for half in np.array_split(np.arange(len(below)), 2):
        try:
            family.whitening(below[half])
        except ResolutionError as one:
            found.append(half[_refused(family, below[half], one)])
    return np.concatenate(found) if found else np.arange(len(below))
