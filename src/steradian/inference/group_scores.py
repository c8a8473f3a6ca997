"""White features of M × {labels}: what a step from one space W to the next adds to it.

On rows (x, g) the smaller space holds the labels, the first ``own`` features of each group and the
others of all groups; the step adds features ``own`` … ``own + added`` of every group but the last.
All are taken about their means under the fit of the smaller space, where J = C Cᵀ is their
covariance, and ζ = C⁻¹(Φ - μ) is white: see `families.whitening`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steradian.families.whitening import inverse_roots
from steradian.fitting.grouped import LogPartition, integrals
from steradian.numerics.arrays import Array, BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class LabelStep:
    """From the space W of ``own`` features of each group to that of ``own + added``."""

    own: int
    added: int
    shares: Array  # (G,)
    frame: Array | None = None  # (B or 1, q, q): the basis that features are counted in
    across: bool = False  # whether what is added is across a mean direction that was estimated

    @property
    def groups(self) -> int:
        """G."""
        return len(self.shares)

    def sizes(self, q: int) -> tuple[int, int, int, int]:
        """Labels, features of groups, features of all, features added."""
        g = self.groups
        return g - 1, g * self.own, q - self.own, (g - 1) * self.added

    def take(self, rows: IntArray) -> LabelStep:
        """For some samples of a stack."""
        if self.frame is None or len(self.frame) == 1:
            return self
        return replace(self, frame=self.frame[rows])

    def turned(self, values: Array) -> Array:
        """Features (B, n, q) in the basis of the step."""
        return values if self.frame is None else values @ np.swapaxes(self.frame, 1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class LabelWhitening:
    """ζ of a stack of B samples whose smaller spaces were fitted."""

    step: LabelStep
    mean: Array  # (B, G, q) of the features, in the basis of the step
    inverse: Array  # (B, p, p)
    along: Array  # (B, G): π_h (1 - R_h / R) of the groups, for what is across the pooled mean

    @property
    def below(self) -> int:
        """Features of the smaller space."""
        return self.inverse.shape[1] - self.added

    @property
    def added(self) -> int:
        """Features that the step adds."""
        return (self.step.groups - 1) * self.step.added

    @property
    def sound(self) -> BoolArray:
        """Which samples have white features at all, (B,)."""
        return np.asarray(np.isfinite(self.inverse).all(axis=(1, 2)))

    def rows(self, phi: Array, labels: IntArray) -> Array:
        """ζ (B, n, p) of rows with features ``phi`` (B, n, q) and labels (n,)."""
        step, q = self.step, phi.shape[2]
        centred = step.turned(phi) - self.mean[:, labels]
        count, n, _ = centred.shape
        names, own, shared, added = step.sizes(q)
        out = np.zeros((count, n, names + own + shared + added))
        first = centred[:, :, step.own : step.own + step.added]
        out[:, :, names + own : names + own + shared] = centred[:, :, step.own :]
        for group in range(step.groups):
            here = labels == group
            if group < names:
                out[:, :, group] = here - step.shares[group]
                start = names + own + shared + group * step.added
                out[:, here, start : start + step.added] = first[:, here]
            start = names + group * step.own
            out[:, here, start : start + step.own] = centred[:, here, : step.own]
        zeta = out @ np.swapaxes(self.inverse, 1, 2)
        if step.across:
            self._correct(zeta, first)
        return zeta

    def group_maps(self, q: int) -> Array:
        """(G, p, q): what means of groups, less those of the fit, add to Σ w ζ of one sample."""
        step, pi = self.step, self.step.shares
        names, own, shared, added = step.sizes(q)
        lift = np.zeros((len(pi), names + own + shared + added, q))  # π_g E φ of a group → features
        both, k = slice(names + own, names + own + shared), step.own
        for g, share in enumerate(pi):
            lift[g, names + g * k : names + (g + 1) * k, :k] = share * np.eye(k)
            lift[g, both, k:] = share * np.eye(q - k)
            if g < names:
                start = names + own + shared + g * step.added
                new = slice(start, start + step.added), slice(k, k + step.added)
                lift[g][new] = share * np.eye(step.added)
        return np.asarray(self.inverse[0] @ lift)

    def _correct(self, zeta: Array, first: Array) -> None:
        """Count that the direction which features are across was estimated from the same rows.

        The mean of group h across the pooled one is m_h - (R_h / R) m, not m_h - m: with
        R_h the length of its part along the pooled mean.
        """
        size = self.added
        parts = [self.along[:, h, None, None] * first for h in range(self.step.groups - 1)]
        last = self.inverse[:, -size:, -size:]
        zeta[:, :, -size:] += np.concatenate(parts, axis=2) @ np.swapaxes(last, 1, 2)


def label_whitening(
    family: LogPartition, step: LabelStep, lam: Array, means: Array
) -> LabelWhitening:
    """White features under the fits ``lam`` (B, G, q) of the smaller space.

    ``means`` (B, G, q) are E φ of the groups of the samples.
    """
    _, mean, covariance = integrals(family, lam)
    return whitened_by(step, mean, covariance, means)


def whitened_by(step: LabelStep, mean: Array, covariance: Array, means: Array) -> LabelWhitening:
    """The same from E φ (B, G, q) and covariances (B, G, q, q) of the laws of the smaller space."""
    if step.frame is not None:
        frame = step.frame
        mean = mean @ np.swapaxes(frame, 1, 2)
        covariance = frame[:, None] @ covariance @ np.swapaxes(frame, 1, 2)[:, None]
    inverse = inverse_roots(_joint(step, covariance))
    along = np.zeros(mean.shape[:2])
    if step.across:
        lengths = step.turned(means)[:, :, step.added]  # the feature along the mean follows
        along = step.shares * (1.0 - lengths / (lengths @ step.shares)[:, None])
    return LabelWhitening(step, mean, inverse, along)


def _joint(step: LabelStep, covariance: Array) -> Array:
    """Covariance (B, p, p) of labels, features of groups, of all, and those added."""
    count, groups, q, _ = covariance.shape
    names, own, shared, added = step.sizes(q)
    joint = np.zeros((count, names + own + shared + added, names + own + shared + added))
    pi, k = step.shares, step.own
    joint[:, :names, :names] = (np.diag(pi) - np.outer(pi, pi))[:names, :names]
    both = slice(names + own, names + own + shared)
    joint[:, both, both] = np.einsum("g,bgij->bij", pi, covariance[:, :, k:, k:])
    for g in range(groups):
        part = pi[g] * covariance[:, g]
        here = slice(names + g * k, names + (g + 1) * k)
        joint[:, here, here] = part[:, :k, :k]
        joint[:, here, both] = part[:, :k, k:]
        joint[:, both, here] = part[:, k:, :k]
        if g == names:
            break
        start = names + own + shared + g * step.added
        new, which = slice(start, start + step.added), slice(k, k + step.added)
        joint[:, new, new] = part[:, which, which]
        joint[:, new, both] = part[:, which, k:]
        joint[:, both, new] = part[:, k:, which]
        joint[:, new, here] = part[:, which, :k]
        joint[:, here, new] = part[:, :k, which]
    return joint
