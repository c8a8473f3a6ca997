"""Units that have rows of several groups: the differences within them are what is tested.

A unit adds what is its own to all of its rows. With ψ_i = φ(x_i) - μ_g, μ_g the means of the fit of
the smaller space, W_ug the weight of the rows that unit u has in group g, ψ_ug and ψ_u their means
over these rows and over all of the unit, and B_g the matrix that makes the score of a row of group
g out of ψ, the score of a step falls in two,

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

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from steradian.designs.units import Units
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import NO_LEVERAGE, SHUFFLED_TIE, TINY
from steradian.progress import metered
from steradian.significance.groups.grouped_sample import GroupedSample
from steradian.significance.groups.label_whitening import LabelWhitening
from steradian.significance.redrawn.judgement import FEWEST_ROWS
from steradian.significance.redrawn.replicates import Replicates

_ENTRIES = 4_000_000  # signs that are held at once


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
    def of_step(cls, white: LabelWhitening, covariance: Array, means: Array) -> Contrasts:
        """Of a step of one sample from covariances (G, q, q) under the fit of the smaller space.

        ``means`` (G, q) are E φ of the groups.
        """
        step, k, q = white.step, white.step.added, means.shape[1]
        maps = white.group_maps(q) / step.shares[:, None, None]
        spread = step.turned(np.swapaxes(step.turned(covariance), 1, 2))
        shifts = spread @ np.swapaxes(maps, 1, 2)
        fitted, moves = maps[:, : white.below], shifts[:, :, : white.below]
        if step.across:  # the direction
            lengths = step.turned(means[None])[0, :, k]  # along the mean
            first, count = np.eye(k, q), len(maps)
            fitted = np.concatenate([fitted, np.broadcast_to(first, (count, k, q))], axis=1)
            turned = (lengths / (lengths @ step.shares))[:, None, None] * first.T
            moves = np.concatenate([moves, turned], axis=2)
        used = step.groups * step.own
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
    reached, limit = 0, observed * (1.0 - contrasts.used / speaking) * (1.0 - SHUFFLED_TIE)
    with metered(many.permutations, "random signs") as advance:
        for signs in _signs(len(s), many):
            reached += int((np.square(signs @ white).sum(axis=1) >= limit).sum())
            advance(len(signs))
    pvalue = (1.0 + reached) / (1.0 + many.permutations)
    return SignTest(observed, pvalue, speaking)


def _signs(count: int, many: Replicates) -> Iterator[Array]:
    """Random signs (b, count), some at a time."""
    rng, step = np.random.default_rng(many.seed), max(1, _ENTRIES // count)
    for first in range(0, many.permutations, step):
        size = min(step, many.permutations - first)
        yield np.where(rng.integers(0, 2, (size, count), dtype=np.int8), 1.0, -1.0)


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
