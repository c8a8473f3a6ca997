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

**Shared units**: where units have rows of several groups, the differences within them are tested.
A unit adds what is its own to all of its rows. With ψ_i = φ(x_i) - μ_g, μ_g the means of the fit
of the smaller space, W_ug the weight of the rows that unit u has in group g, ψ_ug and ψ_u their
means over these rows and over all of the unit, and B_g the matrix that makes the score of a row of
group g out of ψ, the score of a step falls in two,

    Σ_u y_u,  y_u = Σ_g W_ug B_g (ψ_ug - ψ_u),     Σ_u b_u,  b_u = P_u (ψ_u - ψ),

P_u = Σ_g W_ug B_g: within units, where the own part of a unit cancels, and between units whose
shares in the groups differ. Both are taken less what fitting the smaller space to the same units
does to them. With Y and Z their covariances, and K and L what a difference of one would make of
them, each unit speaks by ``s_u = Kᵀ Y⁻¹ y_u + Lᵀ Z⁻¹ b_u``: the recovery of inter-block
information (Yates, Annals of Eugenics 10, 1940). The statistic is Hotelling's with the covariance
centred at the null, ``(Σ s)ᵀ (Σ s sᵀ)⁻¹ (Σ s)``, and its p-value its place among those of random
signs of the units, under which Y, Z and Σ s sᵀ stay what they are: exact where unit differences are
symmetric and nothing but the pooled means was fitted, and else to first order, less by one part in
U for each feature that a group was fitted by itself. Of pairs this is the paired test.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from steradian.designs.base import Units
from steradian.inference.basis_whitening import BasisWhitening
from steradian.inference.monte_carlo import MonteCarlo, Replicates, monte_carlo_test
from steradian.inference.sample import GroupedSample
from steradian.inference.scores import FEWEST_ROWS
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.linalg import inverses
from steradian.numerics.tolerances import NO_LEVERAGE, SHUFFLED_TIE, SPREADLESS, TINY
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
    drawn = MonteCarlo(largest[0] - SHUFFLED_TIE)
    drawn.add(np.nan_to_num(largest[None, 1:], nan=np.inf))  # it counts against us
    pvalue = drawn.pvalue if np.isfinite(largest[0]) else np.nan
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


_SIGN_ENTRIES = 4_000_000  # signs that are held at once


@dataclass(frozen=True, slots=True, eq=False)
class Contrasts:
    """What a step makes of the rows of each group, and of a difference between the groups."""

    maps: Array  # (G, a, q): B_g
    shifts: Array  # (G, q, a): E ψ of group g where the difference is one
    fitted: Array  # (G, b, q): what was fitted to the units, out of ψ
    moves: Array  # (G, q, b): E ψ where it is off by one
    used: int = 0  # features of single groups among those fitted: so much less do units vary

    @property
    def added(self) -> int:
        """a, features of all groups that are tested."""
        return self.maps.shape[1]

    @classmethod
    def of_means(cls, shares: Array, size: int) -> Contrasts:
        """Of the means of ``size`` features in any basis, which the statistic does not feel."""
        groups = len(shares)
        names = np.eye(groups)[:, : groups - 1] - shares[: groups - 1]  # (G, G - 1)
        maps = np.einsum("gh,ij->ghij", names, np.eye(size)).reshape(groups, -1, size)
        none = np.zeros((groups, 0, size))
        return cls(maps, np.swapaxes(maps, 1, 2), none, np.swapaxes(none, 1, 2))

    @classmethod
    def of_step(cls, white: BasisWhitening, covariance: Array, means: Array) -> Contrasts:
        """Of a step of one sample from covariances (G, q, q) under the fit of the smaller space.

        ``means`` (G, q) are E φ of the groups.
        """
        step, k, q = white.step, white.step.added, means.shape[1]
        maps = white.mean_maps(q) / step.shares[:, None, None]
        spread = step.turned(np.swapaxes(step.turned(covariance), 1, 2))
        shifts = spread @ np.swapaxes(maps, 1, 2)
        fitted, moves = maps[:, : white.below], shifts[:, :, : white.below]
        if step.across:  # the direction
            lengths = step.turned(means[None])[0, :, k]  # along the mean
            first, count = np.eye(k, q), len(maps)
            fitted = np.concatenate([fitted, np.broadcast_to(first, (count, k, q))], axis=1)
            turned = (lengths / (lengths @ step.shares))[:, None, None] * first.T
            moves = np.concatenate([moves, turned], axis=2)
        used = len(step.shares) * step.own
        return cls(maps[:, white.below :], shifts[:, :, white.below :], fitted, moves, used)


@dataclass(frozen=True, slots=True, eq=False)
class SignTest:
    """A statistic of units, its place among those of random signs, and how many units speak."""

    statistic: float
    pvalue: float
    units: int


def sign_test(
    sample: GroupedSample, psi: Array, contrasts: Contrasts, many: Replicates
) -> SignTest | None:
    """Test a step from rows ψ (n, q) about the means of the fit of the smaller space.

    None where too few units differ in their groups for a covariance of what is added.
    """
    s = _influence(sample, psi, contrasts)
    if s is None:
        return None
    values, axes = np.linalg.eigh(s.T @ s)
    seen = values > NO_LEVERAGE * values[-1]
    white = s @ (axes[:, seen] / np.sqrt(values[seen]))
    observed = float(np.square(white.sum(axis=0)).sum())
    speaking = int(np.count_nonzero(np.abs(white).max(axis=1)))
    limit = observed * (1.0 - contrasts.used / speaking) * (1.0 - SHUFFLED_TIE)
    null = (np.square(signs @ white).sum(axis=1) for signs in _signs(len(s), many))
    return SignTest(observed, monte_carlo_test(limit, null).pvalue, speaking)


def _signs(count: int, many: Replicates) -> Iterator[Array]:
    """Random signs (b, count), some at a time."""
    rng, step = np.random.default_rng(many.seed), max(1, _SIGN_ENTRIES // count)
    with metered(many.permutations, "random signs") as advance:
        for first in range(0, many.permutations, step):
            size = min(step, many.permutations - first)
            yield np.where(rng.integers(0, 2, (size, count), dtype=np.int8), 1.0, -1.0)
            advance(size)


def _influence(sample: GroupedSample, psi: Array, contrasts: Contrasts) -> Array | None:
    """s_u, (U, a); None where there are too few units."""
    weight, sums = _of_units(sample, psi)
    parts = _Parts(weight, contrasts.maps, sample.units.strata)
    fitted = np.einsum("gbq,ugq->ub", contrasts.fitted, sums)
    seen = [
        part - fitted @ moved.T
        for part, moved in zip(parts.of_units(sums), parts.effects(contrasts.moves), strict=True)
    ]
    scale, found = max(float(np.abs(part).max()) for part in seen), None
    for part, effect in zip(seen, parts.effects(contrasts.shifts), strict=True):
        spoken = np.abs(part).max(axis=1) > NO_LEVERAGE * scale
        if np.count_nonzero(spoken) >= FEWEST_ROWS * (contrasts.added + contrasts.used):
            inverse = np.linalg.pinv(part.T @ part, NO_LEVERAGE, hermitian=True)
            own = part @ inverse @ effect
            found = own if found is None else found + own
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Parts:
    """The score of a step within units and between them."""

    weight: Array  # (U, G): W_ug
    maps: Array  # (G, a, q): B_g
    strata: IntArray | None

    @property
    def between(self) -> Array:
        """P_u, (U, a, q)."""
        return np.einsum("ug,gaq->uaq", self.weight, self.maps)

    @property
    def whole(self) -> Array:
        """Weight of each unit, (U,)."""
        return np.maximum(self.weight.sum(axis=1), TINY)

    def of_units(self, sums: Array) -> tuple[Array, Array]:
        """y_u and b_u, (U, a) each, from Σ w ψ (U, G, q)."""
        p, mean = self.between, sums.sum(axis=1) / self.whole[:, None]
        within = np.einsum("gaq,ugq->ua", self.maps, sums) - np.einsum("uaq,uq->ua", p, mean)
        return within, np.einsum("uaq,uq->ua", p, mean - self._averages(mean))

    def effects(self, shifts: Array) -> tuple[Array, Array]:
        """What both sums become where ψ of a group is on average one of ``shifts`` (G, q, k)."""
        p = self.between
        mean = np.einsum("ug,gqk->uqk", self.weight, shifts) / self.whole[:, None, None]
        away = mean - self._averages(mean.reshape(len(mean), -1)).reshape(mean.shape)
        every = np.einsum("ug,gaq,gqk->ak", self.weight, self.maps, shifts, optimize=True)
        within = every - np.einsum("uaq,uqk->ak", p, mean, optimize=True)
        return within, np.einsum("uaq,uqk->ak", p, away, optimize=True)

    def _averages(self, values: Array) -> Array:
        """Weighted means of ``values`` (U, k) over the stratum of each unit, (U, k)."""
        of = np.zeros(len(values), dtype=np.int64) if self.strata is None else self.strata
        total = np.bincount(of, weights=self.whole)
        sums = np.zeros((len(total), values.shape[1]))
        np.add.at(sums, of, self.whole[:, None] * values)
        return np.asarray((sums / total[:, None])[of])


def _of_units(sample: GroupedSample, psi: Array) -> tuple[Array, Array]:
    """W_ug (U, G), and the sums (U, G, q) of w ψ over the same rows."""
    units, labels, groups = sample.units, sample.known_rows.labels, sample.count
    assert units.labels is not None  # rows are in one group each
    of = labels + groups * units.labels
    weight = np.asarray(np.bincount(of, units.weights, groups * units.count), dtype=np.float64)
    sums = np.zeros((groups * units.count, psi.shape[1]))
    np.add.at(sums, of, units.weights[:, None] * psi)
    shape = units.count, groups
    return weight.reshape(shape), np.asarray(sums.reshape(*shape, psi.shape[1]))


# --- shuffled labels --------------------------------------------------------------------------


def parts_of_units(sample: GroupedSample) -> tuple[Units, IntArray, IntArray]:
    """What each unit has in one group, as if it were a unit; the unit and group of each part."""
    units, groups = sample.observed_units, sample.count
    assert units.labels is not None
    pairs, labels = np.unique(groups * units.labels + sample.known_rows.labels, return_inverse=True)
    parts = replace(units, count=len(pairs), labels=labels, strata=None, factor=1.0, names=None)
    return parts, pairs // groups, pairs % groups


def shuffled_together(unit: IntArray, strata: IntArray | None) -> tuple[IntArray, BoolArray]:
    """Which parts of units (P,) may exchange their labels, and which are a unit of their own.

    Those of one unit; and all that are the only one of theirs, within ``strata`` of units.
    """
    alone = np.bincount(unit)[unit] == 1
    several = 0 if strata is None else strata[unit]
    together = np.where(alone, several, int(np.max(several)) + 1 + unit)
    return np.unique(together, return_inverse=True)[1], alone
