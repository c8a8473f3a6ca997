"""The information decomposition on M × {labels}: what tells groups apart, level by level.

W_l holds the features of levels 1..l for each group and those above for all groups together
(`fitting.grouped`). Its gaps C_l = D(W_l) - D(W_{l-1}) are not negative and add up to

    J = Σ π_g D(P_g) - D(P) = Σ π_g KL(p_g ‖ p),

the between-group information of the fits p_g of the groups and p of the pooled sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.errors import ConvergenceError, ResolutionError
from steradian.families.base import Family
from steradian.fitting.grouped import GroupedFits, SharedProblem
from steradian.fitting.nested import NestedFits
from steradian.fitting.solution import NO_RUNG, Status
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array

_STANDARD_ERRORS = 3.0  # of a mean, below which it has no direction
_MOST_FORMED = 300  # features whose covariances are formed group by group


@dataclass(frozen=True, eq=False)
class LabelLevels:
    """Fits of W_0, …, W_L, and between the first two that of the direction where there is one."""

    problem: SharedMoments
    fits: tuple[GroupedFits, ...]  # W_0 … W_L
    frame: Array | None  # (q, q) orthogonal: features, that along the pooled mean last of level 1

    @property
    def hierarchy(self) -> Hierarchy:
        """The nested features."""
        return self.problem.hierarchy

    @property
    def shares(self) -> Array:
        """π, (G,)."""
        return self.problem.shares

    @property
    def means(self) -> Array:
        """E φ of the groups, (G, q)."""
        return self.problem.means

    @cached_property
    def split(self) -> GroupedFits | None:
        """Groups that differ across the pooled mean alone; None where there is no such thing."""
        if self.frame is None or len(self.shares) == 1:
            return None
        return self.problem.fit(self.hierarchy.q(1) - 1, self.fits[0].lam, self.frame)

    @property
    def deficits(self) -> Array:
        """D(W_l), l = 0..L, nats."""
        return np.array([float(fit.deficit[0]) for fit in self.fits])

    @property
    def between(self) -> Array:
        """C_l, (L,), nats. Never clipped."""
        return np.diff(self.deficits)

    @property
    def level1(self) -> Array | None:
        """C_1 in two parts: of the direction, and of the concentration; None without them."""
        if self.split is None:
            return None
        return np.diff([self.fits[0].deficit[0], self.split.deficit[0], self.fits[1].deficit[0]])


def label_levels(
    moments: MomentStack, shares: Array, groups: NestedFits, whole: NestedFits, *, rows: float
) -> LabelLevels:
    """Fit W_0, …, W_L from the fits of ``groups`` (a stack of G) and of the ``whole`` (of one).

    ``moments`` are those of the groups. A pooled mean that is not clear of zero for so many
    ``rows`` has no direction that anything could differ in.
    """
    hierarchy = groups.hierarchy
    top = hierarchy.levels
    lam, psi = whole.solutions[-1].lam, whole.solutions[-1].psi
    count = len(shares)
    means = hierarchy.expectations(moments, top)
    below = _known(0, np.repeat(lam, count, 0), np.repeat(psi, count), whole.deficits[0, -1])
    fits = [below]
    formed = forms_covariances(hierarchy)  # else a frame of all features would fill the memory
    frame = mean_frame(hierarchy, shares @ means, rows) if formed else None
    rungs = np.concatenate([groups.solutions[-1].rungs, whole.solutions[-1].rungs])
    rung = NO_RUNG if (rungs == NO_RUNG).any() else int(rungs.max())
    problem = SharedMoments(hierarchy, moments, means, shares, rung)
    for level in range(1, top):
        own = hierarchy.q(level)
        fits.append(problem.fit(own, fits[-1].lam) if count > 1 else below)
    last = groups.solutions[-1]
    fits.append(
        _known(hierarchy.q(top), last.lam, last.psi, float(shares @ groups.deficits[:, -1]))
    )
    return LabelLevels(problem, tuple(fits), frame)


@dataclass(frozen=True, slots=True, eq=False)
class SharedMoments:
    """Groups to be fitted with common parameters."""

    hierarchy: Hierarchy
    moments: MomentStack
    means: Array  # (G, q)
    shares: Array
    rung: int  # of a rule that resolves the fits of the groups and of the whole

    @property
    def _family(self) -> Family:
        return self.hierarchy.family(self.hierarchy.levels)

    @property
    def forms(self) -> bool:
        """Whether covariances of all features are formed."""
        return forms_covariances(self.hierarchy)

    def fit(self, own: int, start: Array, frame: Array | None = None) -> GroupedFits:
        """W of ``own`` features from the parameters ``start`` (1, G, q) of a smaller one."""
        found = self._by_arrow(own, start, frame) if self._family.forms_matrices else None
        if found is None and frame is None:
            found = self._family.shared_fit(self.moments, self.shares, own)
        if found is None and self.forms:
            found = self._by_arrow(own, start, frame)
        if found is None or found.status[0] != Status.CONVERGED:
            raise self._refusal(own, found)
        return found

    def _by_arrow(self, own: int, start: Array, frame: Array | None) -> GroupedFits | None:
        """By the covariances of all groups; None where no rule resolves the laws.

        Laws that share parameters are seldom sharper than those that do not: the rule of these is
        tried first, and kept where the ladder of rules says the same of the end.
        """
        turned = None if frame is None else frame[None]
        problem = SharedProblem(self._family, self.shares, own, turned)
        try:
            found = None if self.rung == NO_RUNG else self._on_known_rule(problem, start)
            found = found or problem.solve(self.means[None], start)
        except ResolutionError:
            return None
        return found if found.status[0] == Status.CONVERGED else None

    def _on_known_rule(self, problem: SharedProblem, start: Array) -> GroupedFits | None:
        """On the rule that is known; None if it fails them."""
        family, means = self._family.resolved_by(self.rung), self.means[None]
        found = replace(problem, family=family).solve(means, start)
        if found.status[0] != Status.CONVERGED:
            return None
        return found if family.resolves(found.lam[0], found.psi[0]) else None

    def _refusal(self, own: int, found: GroupedFits | None) -> ConvergenceError | ResolutionError:
        levels = range(1, self.hierarchy.levels + 1)
        level = next(k for k in levels if self.hierarchy.q(k) >= own)
        what = "cannot be compared apart from the levels above"
        if found is None and not self.forms:
            size = self.hierarchy.q(self.hierarchy.levels)
            cause = f"{what}: {size} features are too many for matrices of them"
            return ResolutionError(level, cause, "ask for fewer levels")
        if found is None:
            cause = f"{what}: no rule resolves the laws of groups that share those"
            return ResolutionError(level, cause, "ask for fewer levels")
        cause = f"{what}: the fit of groups that share those did not converge"
        return ConvergenceError(level, cause, "ask for fewer levels")


def forms_covariances(hierarchy: Hierarchy) -> bool:
    """Whether covariances of all features of the groups are formed."""
    levels = hierarchy.levels
    return hierarchy.family(levels).forms_matrices or hierarchy.q(levels) <= _MOST_FORMED


def _known(own: int, lam: Array, psi: Array, deficit: float) -> GroupedFits:
    """A fit that was made before."""
    nothing = np.zeros(1)
    none = np.zeros(1, dtype=np.int64)
    return GroupedFits(own, lam[None], psi[None], np.array([deficit]), nothing, nothing, none, none)


def mean_frame(hierarchy: Hierarchy, mean: Array, rows: float) -> Array | None:
    """Features in a basis whose last of level 1 is along the pooled E φ (q,); None without one.

    The features of level 1 have a variance of one each under the reference law, and hardly more
    under any: a mean within three standard errors of zero has no direction.
    """
    if hierarchy.level_one_parts is None:
        return None
    size = hierarchy.q(1)
    along = mean[:size]
    length = float(np.linalg.norm(along))
    if length <= _STANDARD_ERRORS * np.sqrt(size / rows):
        return None
    frame = np.eye(len(mean))
    frame[:size, :size] = _turned_to_last(along / length)
    return frame


def _turned_to_last(axis: Array) -> Array:
    """An orthogonal matrix whose last row is ``axis`` (k,): a Householder reflection."""
    last = np.zeros_like(axis)
    last[-1] = 1.0 if axis[-1] <= 0.0 else -1.0
    v = axis - last
    reflection = np.eye(len(axis)) - 2.0 * np.outer(v, v) / float(v @ v)
    reflection[-1] *= last[-1]
    return reflection
