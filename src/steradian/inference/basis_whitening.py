"""White features of M × {z}: what a step from one space W to the next adds where z counts.

On rows (x, z) the smaller space holds functions b(z) of mean zero, all features φ(x), and the
products of b with the first ``own`` of them; the step adds the products of b with features ``own``
… ``own + added``. With r = φ - E[φ | z] under the fit of the smaller space, the features

    Φ = (b; r; b ⊗ r_{<own}; b ⊗ r_added)

have mean zero and a covariance J = C Cᵀ there, and ζ = C⁻¹ Φ is white: see `families.whitening`.
Of z it matters which values it takes, with which shares, and b there. The labels of groups are the
basis of indicators less their shares; whichever functions span the same space, |Σ w ζ_added| is
the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steradian.families.whitening import inverse_roots
from steradian.fitting.grouped import LogPartition, integrals
from steradian.numerics.arrays import Array, BoolArray, IntArray


@dataclass(frozen=True, slots=True, eq=False)
class BasisStep:
    """From the space W of products of b with ``own`` features to that with ``own + added``."""

    own: int
    added: int
    shares: Array  # (N,) of the values of z
    basis: Array  # (N, K) b at each of them, of mean zero under the shares
    frame: Array | None = None  # (B or 1, q, q): the basis that features are counted in
    across: bool = False  # whether what is added is across a mean direction that was estimated

    @classmethod
    def labels(
        cls,
        own: int,
        added: int,
        shares: Array,
        frame: Array | None = None,
        *,
        across: bool = False,
    ) -> BasisStep:
        """Of groups with these shares: indicators of all but the last."""
        return cls(own, added, shares, np.eye(len(shares))[:, :-1] - shares[:-1], frame, across)

    @property
    def functions(self) -> Array:
        """1 and b at the values of z, (N, 1 + K)."""
        return np.column_stack([np.ones(len(self.shares)), self.basis])

    def products(self, q: int) -> tuple[IntArray, IntArray]:
        """Which of (1, b), and which of q features, each of (r; b ⊗ r_{<own}; b ⊗ r_added) has."""
        several = np.arange(1, 1 + self.basis.shape[1])
        parts = [np.arange(q)[None], np.arange(self.own)[None], np.arange(self.added)[None]]
        parts[2] = parts[2] + self.own
        both = zip((np.zeros(1, dtype=np.int64), several, several), parts, strict=True)
        pairs = [np.broadcast_arrays(which[:, None], features) for which, features in both]
        first, second = (np.concatenate([pair[k].ravel() for pair in pairs]) for k in (0, 1))
        return first, second

    def take(self, rows: IntArray) -> BasisStep:
        """For some samples of a stack."""
        if self.frame is None or len(self.frame) == 1:
            return self
        return replace(self, frame=self.frame[rows])

    def turned(self, values: Array) -> Array:
        """Features (B, n, q) in the basis of the step."""
        return values if self.frame is None else values @ np.swapaxes(self.frame, 1, 2)


@dataclass(frozen=True, slots=True, eq=False)
class BasisWhitening:
    """ζ of a stack of B samples whose smaller spaces were fitted."""

    step: BasisStep
    mean: Array  # (B, N, q) E[φ | z], in the basis of the step
    inverse: Array  # (B, p, p)
    turn: Array  # (B, K): -Σ w b φ_∥ / Σ w φ_∥, for what is across the pooled mean

    @property
    def below(self) -> int:
        """Features of the smaller space."""
        return self.inverse.shape[1] - self.added

    @property
    def added(self) -> int:
        """Features that the step adds."""
        return self.step.basis.shape[1] * self.step.added

    @property
    def sound(self) -> BoolArray:
        """Which samples have white features at all, (B,)."""
        return np.asarray(np.isfinite(self.inverse).all(axis=(1, 2)))

    def rows(self, phi: Array, z: IntArray) -> Array:
        """ζ (B, n, p) of rows with features ``phi`` (B, n, q), ``z`` (n,) saying which value."""
        step, functions = self.step, self.step.functions[z]
        r = step.turned(phi) - self.mean[:, z]
        first, second = step.products(phi.shape[2])
        out = np.empty((*r.shape[:2], self.inverse.shape[1]))
        names = functions.shape[1] - 1
        out[:, :, :names] = functions[:, 1:]
        np.multiply(functions[:, first], r[:, :, second], out=out[:, :, names:])
        zeta = out @ np.swapaxes(self.inverse, 1, 2)
        if step.across:
            # the mean of group h across the pooled one is m_h - (R_h / R) m, not m_h - m: the
            # direction was estimated from the same rows, so that b counts less Σ w b φ_∥ / R
            part = r[:, :, None, step.own : step.own + step.added]
            moved = (self.turn[:, None, :, None] * part).reshape(*r.shape[:2], -1)
            zeta[:, :, -self.added :] += moved @ np.swapaxes(self._last, 1, 2)
        return zeta

    @property
    def _last(self) -> Array:
        """What makes ζ_added of b ⊗ r_added alone, (B, a, a)."""
        return self.inverse[:, -self.added :, -self.added :]

    def mean_maps(self, q: int) -> Array:
        """(N, p, q): what means of φ at values of z, less those of the fit, add to Σ w ζ."""
        first, second = self.step.products(q)
        weights = self.step.shares[:, None] * self.step.functions[:, first]
        lift = weights[:, :, None] * (second[:, None] == np.arange(q))
        return np.asarray(self.inverse[0][:, self.step.basis.shape[1] :] @ lift)

    def turn_maps(self, q: int) -> Array:
        """(N, a, q): what the estimated direction adds to those of ζ_added."""
        lift = np.kron(self.turn[0][:, None], np.eye(self.step.added, q))
        return self.step.shares[:, None, None] * (self._last[0] @ lift)


def basis_whitening(
    family: LogPartition, step: BasisStep, lam: Array, means: Array
) -> BasisWhitening:
    """White features under the fits ``lam`` (B, N, q) of the smaller space.

    ``means`` (B, N, q) are E φ of the samples at the values of z.
    """
    _, mean, covariance = integrals(family, lam)
    return whitening_of_laws(step, mean, covariance, means)


def whitening_of_laws(
    step: BasisStep, mean: Array, covariance: Array, means: Array
) -> BasisWhitening:
    """The same from E φ (B, N, q) and covariances (B, N, q, q) of the laws of the smaller space."""
    if step.frame is not None:
        frame = step.frame
        mean = mean @ np.swapaxes(frame, 1, 2)
        covariance = frame[:, None] @ covariance @ np.swapaxes(frame, 1, 2)[:, None]
    turn = np.zeros((len(mean), step.basis.shape[1]))
    if step.across:
        along = step.turned(means)[:, :, step.added]  # the feature along the mean follows
        turn = -(along * step.shares) @ step.basis / (along @ step.shares)[:, None]
    return BasisWhitening(step, mean, inverse_roots(_covariance(step, covariance)), turn)


def _covariance(step: BasisStep, covariance: Array) -> Array:
    """J (B, p, p) from covariances of φ at the values of z."""
    functions, (first, second) = step.functions, step.products(covariance.shape[3])
    names = step.basis.shape[1]
    joint = np.zeros((len(covariance), names + len(first), names + len(first)))
    joint[:, :names, :names] = step.basis.T @ (step.shares[:, None] * step.basis)
    for share, row, part in zip(step.shares, functions, np.swapaxes(covariance, 0, 1), strict=True):
        weights = share * np.outer(row[first], row[first])
        joint[:, names:, names:] += weights * part[:, second[:, None], second]
    return joint
