"""Are groups equally concentrated, wherever each of them points?

Along the pooled mean u a group of mean vector m_g has u·m_g = R_g cos α_g: of groups that point
apart these differ though all R_g = |m_g| agree. The lengths themselves do not feel α_g. With the
variance v_g = u_gᵀ V_g u_g of R_g along the group's own direction u_g, and |m_g|² less the variance
across it, which noise adds,

    T = Σ (R_g - R*)² / v_g,    R* = Σ (R_g / v_g) / Σ (1 / v_g),

is compared with what it is after whole units, each turned with its group's mean to one place, were
shuffled. Where labels cannot be shuffled it is referred to Welch's F law (Biometrika 38, 1951); of
groups that have units in common, with the joint covariance in place of the v_g, to Hotelling's.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import fdtrc

from steradian.diagnostics import MethodCode, PvalueMethod
from steradian.errors import DesignError
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.tolerances import SPREADLESS
from steradian.significance.groups.grouped_sample import GroupedSample
from steradian.significance.groups.label_tests import StepTest, shuffling_refusal
from steradian.significance.groups.unit_permutation import StudentisedMeans, permutation_test
from steradian.significance.redrawn.replicates import Replicates

_FELT = 0.1  # non-centrality of two groups, from which a test of size 5 % rejects 6 % and more
_CLEAR = 4.0  # of its mean square error, above which the square of a mean has a direction


@dataclass(frozen=True, slots=True, eq=False)
class OwnLengths:
    """Lengths of the groups' mean vectors of level 1."""

    own: Array  # (G, k) the groups' directions u_g
    seen: Array  # (G,) |m_g|
    length: Array  # (G,) the same less what noise adds
    along: Array  # (G,) u·m_g with the pooled direction u
    clear: BoolArray  # (G,) whether a group has a direction of its own
    covariance: Array  # (G, G) of the lengths
    units: Array  # (G,) effective units of the groups
    shared: int  # units in all, where some have rows of several groups; else 0
    full: float  # the length of a mean without any spread

    @property
    def resultants(self) -> Array:
        """Mean resultant lengths, (G,), at most one."""
        return self.seen / self.full

    @property
    def sound(self) -> bool:
        """Whether lengths have a covariance that can be inverted."""
        spread = bool((np.diag(self.covariance) > SPREADLESS * self.seen**2).all())
        return spread and bool(self.units.min() > 1.0) and not 0 < self.shared <= len(self.seen)

    @property
    def felt(self) -> bool:
        """Whether groups point so far apart that their parts along the pooled mean show it."""
        if not self.sound:
            return False
        away = np.where(self.clear, self.length - self.along, 0.0)
        return _distance(away, self.covariance)[0] > _FELT * (len(away) - 1.0) ** 0.5

    def judged(self) -> tuple[float, float]:
        """T, and the p-value of equal lengths by an F law."""
        found, weights = _distance(self.length, self.covariance)
        g = len(weights)
        if self.shared:
            rest = self.shared - g + 1.0
            return found, float(fdtrc(g - 1.0, rest, found * rest / ((g - 1.0) * (rest + g - 2.0))))
        lack = float(((1.0 - weights / weights.sum()) ** 2 / (self.units - 1.0)).sum())
        square = g * g - 1.0
        scaled = found / (g - 1.0) / (1.0 + 2.0 * (g - 2.0) / square * lack)
        return found, float(fdtrc(g - 1.0, square / (3.0 * lack), scaled))


def equal_lengths(sample: GroupedSample, many: Replicates) -> StepTest | None:
    """The test of equal lengths where groups point so far apart that it is needed; else None."""
    try:
        found = own_lengths(sample)
    except DesignError:  # no covariances of groups
        return None
    if found is None or not found.felt:
        return None
    if not sample.has_units or shuffling_refusal(sample) is not None:
        statistic, pvalue = found.judged()
        return StepTest(0.5 * statistic, pvalue, PvalueMethod(MethodCode.LENGTHS_F))
    shuffled = permutation_test(
        _turned(sample, found),
        sample.group_of_unit,
        sample.observed_units.strata,
        many.permutations,
        many.seed,
    )
    how = PvalueMethod(MethodCode.LENGTHS_PERMUTATION)
    return StepTest(0.5 * shuffled.statistic, shuffled.pvalue, how)


def _turned(sample: GroupedSample, found: OwnLengths) -> StudentisedMeans:
    """Units by what they have along the mean of their own group."""
    rows, units = sample.known_rows, sample.observed_units
    x = np.asarray(sample.hierarchy.up_to(1).features(rows.directions.x))
    noise = found.seen - found.length
    t = np.einsum("ni,ni->n", x, found.own[rows.labels]) - noise[rows.labels]
    w = units.weights
    sums = units.gather((w * (t - w @ t))[:, None])
    return StudentisedMeans(sums, units.unit_weights)


def own_lengths(sample: GroupedSample) -> OwnLengths | None:
    """Of groups whose pooled mean has a direction; None without one."""
    frame, size = sample.levels.frame, sample.hierarchy.q(1)
    if frame is None:
        return None
    means, variances = sample.levels.means[:, :size], sample.variances[:, :size, :size]
    seen = np.linalg.norm(means, axis=1)
    own = means / np.where(seen > 0.0, seen, 1.0)[:, None]
    spread = np.einsum("gi,gij,gj->g", own, variances, own)
    whole = np.trace(variances, axis1=1, axis2=2)
    shared = sample.has_shared_units
    return OwnLengths(
        own=own,
        seen=seen,
        length=np.sqrt(np.maximum(seen**2 - (whole - spread), 0.0)),
        along=means @ frame[size - 1, :size],
        clear=seen**2 > _CLEAR * whole,
        covariance=_joint(sample, own) if shared else np.diag(spread),
        units=sample.units_per_group,
        shared=sample.units.effective if shared else 0,
        full=float(np.sqrt(size)),
    )


def _joint(sample: GroupedSample, own: Array) -> Array:
    """Covariance (G, G) of lengths along directions ``own`` (G, k) of groups that share units."""
    maps = np.zeros((len(own), sample.levels.means.shape[1], len(own)))
    for group, axis in enumerate(own):
        maps[group, : len(axis), group] = axis / sample.shares[group]
    return sample.variance_of_sum(maps)


def _distance(values: Array, covariance: Array) -> tuple[float, Array]:
    """Squared distance of ``values`` (G,) from being equal, and the pull of each on their mean."""
    precision = np.linalg.pinv(covariance, hermitian=True)
    pull = precision.sum(axis=1)
    away = values - pull @ values / pull.sum()
    return float(away @ precision @ away), pull
