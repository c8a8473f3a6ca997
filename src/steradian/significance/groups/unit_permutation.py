"""Permutations of the labels of whole units: do groups differ at all, and do their means?

Under "all groups have the same law" the units (rows with their weights, clusters with all of their
rows) are exchangeable, and any statistic may be compared with what it is after their labels were
shuffled; the p-value (1 + #{T* >= T}) / (B + 1) is then exact whatever the statistic. Two are used:

- the *pooled score* Σ π_g |z̄_g|², z̄_g the mean of features that are white under the pooled fit:
  to first order the between-group information J itself, without any fit. It is taken of the
  features of levels 1..l for every l, since a difference of means drowns among thousands of
  quadratics; each is standardised over all shuffles, and the largest counts;
- the *studentised* one, Σ (m_g - m*)ᵀ V_g⁻¹ (m_g - m*) with each group's own covariance V_g and
  m* = (Σ V_g⁻¹)⁻¹ Σ V_g⁻¹ m_g, whose law does not depend on how the groups differ otherwise: its
  permutation test is also valid, to first order, when only the means agree (Janssen 1997; Chung and
  Romano 2013). It is James' statistic (1954).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.linalg import inverses
from steradian.numerics.tolerances import SHUFFLED_TIE, SPREADLESS
from steradian.progress import metered

_ENTRIES = 4_000_000  # labels of shuffles that are held at once


class Statistic(Protocol):
    """A statistic of units in groups, from sums over the units of each group."""

    @property
    def of_units(self) -> Array:
        """What is summed over the units of a group, (U, k)."""
        ...

    def values(self, sums: Array) -> Array:
        """What is looked at, (B, s), from sums (B, G, k)."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class PooledScore:
    """Σ_g |Σ_{u in g} s_u|² / Σ_{u in g} t_u with white scores s (U, k) and weights t (U,)."""

    scores: Array
    weights: Array
    ends: tuple[int, ...]  # columns of levels 1..l, for every l

    @classmethod
    def of(cls, levels: Sequence[Array], weights: Array) -> PooledScore:
        """Of scores (U, k_l) of every level, centred, no wider than there are units."""
        parts = []
        for scores in levels:
            centred = scores - np.outer(weights, scores.sum(axis=0) / weights.sum())
            if centred.shape[1] > len(centred):
                centred = np.asarray(np.linalg.qr(centred.T, mode="r")).T
            parts.append(centred)
        ends = np.cumsum([part.shape[1] for part in parts])
        return cls(np.hstack(parts), weights, tuple(ends.tolist()))

    @classmethod
    def within(
        cls, levels: Sequence[Array], weights: Array, strata: IntArray, alone: BoolArray
    ) -> PooledScore:
        """Of scores less the mean of their stratum, so that what strata have in common is not seen.

        Those ``alone`` (U,) hold what is their unit's own, which cancels in others: either kind
        counts by what one weight of it varies.
        """
        scores, total = np.hstack(levels), np.bincount(strata, weights=weights)
        sums = np.zeros((len(total), scores.shape[1]))
        np.add.at(sums, strata, scores)
        away = scores - weights[:, None] * (sums / total[:, None])[strata]
        free = weights * (1.0 - weights / total[strata])
        precision = np.ones(len(weights))
        for kind in (alone, ~alone):
            spread = float(np.square(away[kind]).sum())
            if spread > 0.0:
                precision[kind] = float(free[kind].sum()) / spread
        ends = np.cumsum([part.shape[1] for part in levels])
        return cls(away * precision[:, None], weights * precision, tuple(ends.tolist()))

    @property
    def of_units(self) -> Array:
        return np.column_stack([self.weights, self.scores])

    def values(self, sums: Array) -> Array:
        squares = np.cumsum(sums[:, :, 1:] ** 2, axis=2)[:, :, [end - 1 for end in self.ends]]
        with np.errstate(divide="ignore", invalid="ignore"):
            parts = np.where(sums[:, :, :1] > 0.0, squares / sums[:, :, :1], 0.0)
        return np.asarray(parts.sum(axis=1))


@dataclass(frozen=True, slots=True, eq=False)
class StudentisedMeans:
    """James' statistic of sums s (U, k) of w φ within units and their weights t (U,)."""

    sums: Array
    weights: Array

    @property
    def of_units(self) -> Array:
        s, t = self.sums, self.weights
        products = (s[:, :, None] * s[:, None, :]).reshape(len(s), -1)
        ones = np.ones(len(s))
        return np.column_stack([ones, t, t * t, s, t[:, None] * s, products])

    def values(self, sums: Array) -> Array:
        k = self.sums.shape[1]
        units, weight, square = (sums[:, :, j] for j in range(3))
        first, mixed = sums[:, :, 3 : 3 + k], sums[:, :, 3 + k : 3 + 2 * k]
        second = sums[:, :, 3 + 2 * k :].reshape(*sums.shape[:2], k, k)
        with np.errstate(divide="ignore", invalid="ignore"):
            mean = first / weight[:, :, None]
            cross = mean[:, :, :, None] * mixed[:, :, None, :]
            spread = second - cross - np.swapaxes(cross, 2, 3)
            spread += square[:, :, None, None] * mean[:, :, :, None] * mean[:, :, None, :]
            scale = units / (units - 1.0) / weight**2
            variance = scale[:, :, None, None] * spread
            floor = SPREADLESS * scale * np.trace(second, axis1=2, axis2=3)
            return _distances(mean, variance, floor)[:, None]


def _distances(mean: Array, variance: Array, floor: Array) -> Array:
    """Σ (m_g - m*)ᵀ V_g⁻¹ (m_g - m*) of means (B, G, k) and their variances (B, G, k, k).

    NaN where a variance in some direction is not above ``floor`` (B, G).
    """
    count, groups, k = mean.shape
    precision = inverses(variance.reshape(-1, k, k)).reshape(count, groups, k, k)
    largest = np.abs(precision).sum(axis=3).max(axis=2)  # no less than 1 over the least variance
    precision[~(largest * floor < 1.0)] = np.nan
    pull = (precision @ mean[..., None])[..., 0]
    centre = (inverses(precision.sum(axis=1)) @ pull.sum(axis=1)[..., None])[..., 0]
    away = mean - centre[:, None, :]
    return np.einsum("bgi,bgij,bgj->b", away, precision, away)


@dataclass(frozen=True, slots=True)
class PermutationTest:
    """Where a statistic stands among those of shuffled labels."""

    statistic: float
    pvalue: float
    replicates: int


def permutation_test(
    statistic: Statistic, groups: IntArray, strata: IntArray | None, replicates: int, seed: int
) -> PermutationTest:
    """Shuffle the ``groups`` (U,) of the units, within ``strata`` where there are any.

    The p-value is NaN where the groups as they are have no statistic.
    """
    of_units, count = statistic.of_units, int(groups.max()) + 1
    rng = np.random.default_rng(seed)
    found = [statistic.values(_summed(groups[None], count, of_units))]
    with metered(replicates, "permutations") as advance:
        for labels in _shuffles(groups, strata, replicates, rng):
            found.append(statistic.values(_summed(labels, count, of_units)))
            advance(len(labels))
    values = np.concatenate(found)
    largest = _largest(values)
    reached = int((~(largest[1:] < largest[0] - SHUFFLED_TIE)).sum())  # NaN counts against us
    pvalue = (1.0 + reached) / (1.0 + replicates) if np.isfinite(largest[0]) else np.nan
    return PermutationTest(float(values[0, -1]), pvalue, replicates)


def none_can_move(groups: IntArray, strata: IntArray | None) -> bool:
    """Whether every stratum holds units of one group alone, so that all shuffles are the same."""
    if strata is None:
        return len(np.unique(groups)) == 1
    pairs = np.unique(np.column_stack([strata, groups]), axis=0)
    return len(pairs) == len(np.unique(strata))


def _largest(values: Array) -> Array:
    """The largest of several statistics (B, s), each standardised over all shuffles, (B,)."""
    with np.errstate(invalid="ignore"):
        sizes = np.abs(values).max(axis=0, where=np.isfinite(values), initial=0.0)
        seen = np.isfinite(values).any(axis=0)
        scaled = values[:, seen] / np.where(sizes > 0.0, sizes, 1.0)[seen]
        spread = np.nanstd(scaled, axis=0)
        centred = scaled - np.nanmean(scaled, axis=0)
        moving = np.where(spread > SHUFFLED_TIE, centred / np.maximum(spread, SHUFFLED_TIE), 0.0)
    return np.asarray(moving.max(axis=1, initial=-np.inf))


def _summed(labels: IntArray, groups: int, values: Array) -> Array:
    """Sums (B, G, k) of ``values`` (U, k) by labels (B, U); the last group by what is left."""
    out = np.empty((len(labels), groups, values.shape[1]))
    for group in range(groups - 1):
        out[:, group] = (labels == group).astype(np.float64) @ values
    out[:, -1] = values.sum(axis=0) - out[:, :-1].sum(axis=1)
    return out


def _shuffles(
    groups: IntArray, strata: IntArray | None, replicates: int, rng: np.random.Generator
) -> Iterator[IntArray]:
    """Shuffled labels (b, U), a few at a time."""
    step = max(1, _ENTRIES // len(groups))
    small = groups.astype(np.int16 if groups.max() < 1 << 15 else np.int64)
    for first in range(0, replicates, step):
        size = min(step, replicates - first)
        labels = np.tile(small, (size, 1))
        if strata is None:
            yield rng.permuted(labels, axis=1, out=labels)
            continue
        for stratum in range(int(strata.max()) + 1):
            here = strata == stratum
            labels[:, here] = rng.permuted(labels[:, here], axis=1)
        yield labels
