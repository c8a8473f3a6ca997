"""Stacks of moments: B weighted samples at once, and every way to make one."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from steradian.numerics.arrays import Array, IntArray
from steradian.spaces import Space
from steradian.spaces.uniform_law import uniform_moments

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_ENTRIES = 4_000_000  # features of samples that are held at once
_SHARED_ENTRIES = 1 << 20  # and of rows that all samples share
_FEW_ENTRIES = 1 << 16  # and that stay near the processor
_ROW_ENTRIES = 1 << 16  # and of rows that are scaled for each sample
_CONCENTRATED = 0.02  # spread below which second moments less squares lose digits
_TIGHT = 1e-3  # and below which 1 - |m|² alone does: thirteen are left


@dataclass(frozen=True, slots=True)
class MomentStack:
    """Normalised moments of B weighted samples, as the families want them."""

    features: Array  # (B, q): E φ, constant left out, at least to the top level
    mean: Array  # (B, d): E x
    # (B, d, d): centred second moment E (x - m)(x - m)ᵀ; or (B, 1, 1), its trace, where that is all
    # that levels look at
    scatter: Array
    sought: bool = True  # whether a row that no shared rule resolves is worth a search of its own

    @classmethod
    def of_second(cls, features: Array, mean: Array, second: Array) -> MomentStack:
        """From E xxᵀ (B, d, d), where no sample is so tight that the difference loses digits."""
        return cls(features, mean, second - mean[:, :, None] * mean[:, None, :])

    @classmethod
    def of_features(cls, features: Array, d: int) -> MomentStack:
        """Only E φ (B, q) is known: all that families on nodes look at."""
        count = len(features)
        return cls(features, np.zeros((count, d)), np.zeros((count, d, d)))

    def __len__(self) -> int:
        return len(self.mean)

    @property
    def concentrated(self) -> IntArray:
        """Samples whose scatter wants the rows themselves."""
        return np.flatnonzero(np.trace(self.scatter, axis1=1, axis2=2) < _CONCENTRATED)

    def toward_uniform(
        self, epsilon: float, space: Space, features: Array | float = 0.0
    ) -> MomentStack:
        """Moments of (1 - ε) P + ε ν, with the uniform law ν of ``space`` and E φ under it."""
        centre, scatter = uniform_moments(space)
        kept = 1.0 - epsilon
        away = self.mean - centre
        if self.scatter.shape[1] < away.shape[1]:
            outer, scatter = (away * away).sum(axis=1)[:, None, None], np.trace(scatter)
        else:
            outer = away[:, :, None] * away[:, None, :]
        mixed = kept * self.scatter + epsilon * kept * outer + epsilon * scatter
        means = kept * self.features + epsilon * features
        return MomentStack(means, kept * self.mean + epsilon * centre, mixed)

    def toward(self, other: MomentStack, epsilon: float) -> MomentStack:
        """Moments of (1 - ε) P + ε Q for a law Q of the same mean."""
        kept = 1.0 - epsilon
        return MomentStack(
            kept * self.features[:, : other.features.shape[1]] + epsilon * other.features,
            self.mean,
            kept * self.scatter + epsilon * other.scatter,
        )

    def with_rows(self, rows: IntArray, part: MomentStack) -> MomentStack:
        """A copy in which ``rows`` are those of ``part``, with as many features as it has."""
        features = self.features[:, : part.features.shape[1]].copy()
        copies = features, self.mean.copy(), self.scatter.copy()
        for whole, new in zip(copies, (part.features, part.mean, part.scatter), strict=True):
            whole[rows] = new
        return MomentStack(*copies)

    @classmethod
    def concatenated(cls, parts: Sequence[MomentStack]) -> MomentStack:
        """One stack of several."""
        return cls(
            np.concatenate([part.features for part in parts]),
            np.concatenate([part.mean for part in parts]),
            np.concatenate([part.scatter for part in parts]),
        )

    def pooled(self, shares: Array) -> MomentStack:
        """Moments of the mixture Σ π_g P_g of all samples, a stack of one."""
        mean = shares @ self.mean
        away = self.mean - mean
        if self.scatter.shape[1] < away.shape[1]:
            between = (shares @ (away * away).sum(axis=1))[None, None]
        else:
            between = (shares[:, None] * away).T @ away
        scatter = np.tensordot(shares, self.scatter, axes=1) + between
        return MomentStack((shares @ self.features)[None], mean[None], scatter[None])

    def take(self, rows: IntArray) -> MomentStack:
        parts = self.features[rows], self.mean[rows], self.scatter[rows]
        return MomentStack(*parts, sought=self.sought)

    def unsought(self) -> MomentStack:
        """The same of replicates: a row that takes a search of its own is left unresolved."""
        return MomentStack(self.features, self.mean, self.scatter, sought=False)


Weights = Any
"""Weightings (B, n): an array, or a sparse array by rows (CSR)."""

Support = Callable[[int], tuple[Array, Array]]
"""Row of a stack → its distinct directions (n, d) and their weights (n,) of sum one."""


def centred_moments(x: Array, weights: Array) -> tuple[Array, Array]:
    """E x (B, d) and E (x - m)(x - m)ᵀ of samples (B, n, d) with weights (B, n) of sum one."""
    mean = (weights[:, None, :] @ x)[:, 0, :]
    return mean, _scatter_about(mean, x, weights)


def support_of_rows(support: Support | None, rows: IntArray) -> Support | None:
    """The support of some ``rows`` of a stack, by their place among them."""
    return None if support is None else lambda place: support(int(rows[place]))


def support_of_one(support: Callable[[], tuple[Array, Array]]) -> Support:
    """The support of a stack of one sample, from what gives that of the sample."""
    return lambda _row: support()


def moments_about_centres(space: Space, x: Array, weights: Array) -> tuple[Array, Array]:
    """The centres (B, d) of samples (B, n, d) and the second moments about them (B, d, d)."""
    pairs = zip(x, weights, strict=True)
    centre = np.array([space.centre(row, share) for row, share in pairs]).reshape(len(x), -1)
    return centre, _scatter_about(centre, x, weights)


def _scatter_about(centre: Array, x: Array, weights: Array) -> Array:
    away = x - centre[:, None, :]
    return np.asarray(np.swapaxes(away, 1, 2) @ (weights[:, :, None] * away))


def moments_of_samples(
    hierarchy: Hierarchy, x: Array, weights: Array, features: Array | None = None
) -> MomentStack:
    """E φ of samples (B, n, d) with weights (B, n) of sum one, and their second moments.

    ``features`` (B, n, q) are those of the rows, where they have been formed already.
    """
    count, n, d = x.shape
    q = hierarchy.q(hierarchy.levels)
    second = moments_about_centres(hierarchy.space, x, weights)
    if features is not None:
        return MomentStack((weights[:, None, :] @ features)[:, 0, :], *second)
    means = np.empty((count, q))
    for rows in blocks(count, n * q):
        phi = hierarchy.features(x[rows].reshape(-1, d)).reshape(-1, n, q)
        means[rows] = (weights[rows, None, :] @ phi)[:, 0, :]
    return MomentStack(means, *second)


def moments_of_weightings(x: Array, w: Weights, hierarchy: Hierarchy) -> MomentStack:
    """Moments of many weightings (B, n) of the same directions ``x`` (n, d), of sum one each.

    Dense, or sparse by rows.
    """
    return SharedPoints(x, hierarchy).moments(w, np.ones(w.shape[0]))


@dataclass(frozen=True)
class SharedPoints:
    """Directions (n, d) of which there are many weightings.

    A hierarchy whose levels look at means and scatters alone (``centred_moments`` of it says so)
    needs no features, and at level 1 no scatter.
    """

    x: Array
    hierarchy: Hierarchy

    def moments(self, w: Weights, totals: Array) -> MomentStack:
        """Moments of weightings (B, n) of sums ``totals`` (B,)."""
        wanted = self.hierarchy.centred_moments
        if wanted is not None:
            shares = shares_of(w, totals)
            return _centred_moments_of_weightings(self.x, shares, whole=wanted == "scatter")
        q, d = self.hierarchy.q(self.hierarchy.levels), self.x.shape[1]
        sums = self._sums(w) / totals[:, None]
        features, second, about = np.split(sums, [q, q + d * d], axis=1)
        offset = about if self._signed else np.zeros_like(about)
        shift = offset[:, :, None] * about[:, None, :]
        scatter = second.reshape(-1, d, d) - shift - np.swapaxes(shift, 1, 2)
        scatter += offset[:, :, None] * offset[:, None, :]
        stack = MomentStack(features, self._centre + offset, scatter)
        for row in stack.concentrated:
            points, weights = support_of_weighting(self.x, w, int(row))
            shares = weights / totals[row]
            scatter[row] = _scatter_about(stack.mean[row][None], points[None], shares[None])[0]
        return stack

    @property
    def held(self) -> bool:
        """Whether what is summed is made once, for all weightings."""
        return self.hierarchy.centred_moments is None and len(self._parts) == 1

    def _sums(self, w: Weights) -> Array:
        """Sums of what `_table` holds, (B, columns), by one product or by a few."""
        if self.held:
            return np.asarray(w @ self._whole)
        return np.asarray(sum(w[:, rows] @ self._table(rows) for rows in self._parts))

    @cached_property
    def _parts(self) -> list[slice]:
        """Rows of the table that are held at once."""
        d = self.x.shape[1]
        columns = self.hierarchy.q(self.hierarchy.levels) + d * d + d
        return list(blocks(len(self.x), columns, _SHARED_ENTRIES))

    @cached_property
    def _whole(self) -> Array:
        return self._table(slice(None))

    def _table(self, rows: slice) -> Array:
        """Features, products of coordinates about the shared centre, and these, side by side."""
        y = self.x[rows] - self._centre
        products = (y[:, :, None] * y[:, None, :]).reshape(len(y), -1)
        return np.hstack([self.hierarchy.features(self.x[rows]), products, y])

    @cached_property
    def _centre(self) -> Array:
        return self.hierarchy.space.centre(self.x, np.full(len(self.x), 1.0 / len(self.x)))

    @cached_property
    def _signed(self) -> bool:
        """Whether points have a mean: that of axes is not the centre."""
        return bool(self.hierarchy.space.centre(self.x[:1], np.ones(1)).any())


def _centred_moments_of_weightings(x: Array, w: Weights, *, whole: bool) -> MomentStack:
    """E x by one product, and second moments about it: the matrix, or its trace."""
    count, (n, d) = w.shape[0], x.shape
    mean = np.asarray(w @ x)
    if whole:
        scatter = np.empty((count, d, d))
        for rows in blocks(count, n * d, _ROW_ENTRIES):
            scatter[rows] = _centred_scatter(x, w[rows], mean[rows])
        return MomentStack(np.zeros((count, 0)), mean, scatter)
    square = np.einsum("ni,ni->n", x, x)
    spread = np.asarray(w @ square) - np.einsum("bi,bi->b", mean, mean)
    for row in np.flatnonzero(spread < _TIGHT):
        spread[row] = _spread_about(mean[row], *support_of_weighting(x, w, int(row)))
    return MomentStack(np.zeros((count, 0)), mean, spread[:, None, None])


def _spread_about(centre: Array, x: Array, weights: Array) -> float:
    """Σ w |x - c|², a few rows at a time."""
    total = 0.0
    for rows in blocks(len(x), x.shape[1], _FEW_ENTRIES):
        away = x[rows] - centre
        total += float(weights[rows] @ np.einsum("ni,ni->n", away, away))
    return total


def _centred_scatter(x: Array, w: Weights, mean: Array) -> Array:
    """Σ w (x - m)(x - m)ᵀ of a few weightings, (B, d, d)."""
    if isinstance(w, np.ndarray):
        away = (x - mean[:, None, :]) * np.sqrt(w)[:, :, None]
        return np.asarray(np.swapaxes(away, 1, 2) @ away)
    out = np.empty((len(mean), x.shape[1], x.shape[1]))
    for row, m in enumerate(mean):
        points, weights = support_of_weighting(x, w, row)
        away = (points - m) * np.sqrt(weights)[:, None]
        out[row] = away.T @ away
    return out


def shares_of(w: Weights, totals: Array) -> Weights:
    """Weightings (B, n) over their sums ``totals`` (B,)."""
    if isinstance(w, np.ndarray):
        return w / totals[:, None]
    shares = w.copy()
    shares.data /= np.repeat(totals, np.diff(w.indptr))
    return shares


def support_of_weighting(x: Array, w: Weights, row: int) -> tuple[Array, Array]:
    """The rows of ``x`` that a weighting has a weight for, and these."""
    if isinstance(w, np.ndarray):
        used = np.flatnonzero(w[row])
        return x[used], w[row, used]
    part = slice(w.indptr[row], w.indptr[row + 1])
    return x[w.indices[part]], np.asarray(w.data[part])


def blocks(count: int, size: int, most: int = _ENTRIES) -> Iterator[slice]:
    """Parts of ``count`` things of ``size`` numbers each that are held at once."""
    step = max(1, most // max(size, 1))
    return (slice(first, first + step) for first in range(0, count, step))
