"""Fits of several groups that share some of their natural parameters.

Groups with shares π_g and moments m_g have, on M × {labels}, the nested features

    W_k:  the first k features for each group by itself, the others for all groups together

(with the labels' shares, which every W_k holds). The fit of W_k is p(x | g) ∝ exp(λ_g · φ(x)) with
λ_g = (a_g, θ), a_g (k,) of the group and θ shared; it maximises Σ π_g {λ_g · m_g - ψ(λ_g)}. That is
the dual of an exponential family with the features (1_g φ_i, i <= k; φ_j, j > k), whose covariance
is an arrow: a block for each a_g and one border, θ. A Newton step eliminates the blocks and solves
the Schur complement

    S = Σ π_g (J_θθ - J_θa J_aa⁻¹ J_aθ)_g

on θ. `fitting.newton` does the rest. k = 0 is the pooled fit, k = q the fits of the groups.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steradian.fitting.newton import NewtonPath, judge, newton
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.linalg import conditions, inverses, solve_each
from steradian.numerics.tolerances import DRAWN_DECREMENT, LAST_STEP

_MOST_STEPS = 60


class LogPartition(Protocol):
    """What is asked of a family."""

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of the features at ``lam`` (B, q)."""
        ...


@dataclass(frozen=True, slots=True)
class GroupedFits:
    """Fits of W_k to B samples of G groups each."""

    own: int  # k
    lam: Array  # (B, G, q)
    psi: Array  # (B, G)
    deficit: Array  # (B,): Σ π_g {λ_g · m_g - ψ_g}, nats
    residual: Array  # (B,) largest moment mismatch
    decrement: Array  # (B,)
    steps: IntArray  # (B,)
    status: IntArray  # (B,) codes of `fitting.solution.Status`


@dataclass(frozen=True, slots=True, eq=False)
class SharedProblem:
    """Which features groups have for themselves, and in which basis.

    ``frame`` (B, q, q) is orthogonal, one for each sample or one for all: what is shared are
    components of ``frame @ φ``.
    """

    family: LogPartition
    shares: Array  # (G,)
    own: int  # k
    frame: Array | None = None

    def solve(self, m: Array, start: Array) -> GroupedFits:
        """Fit samples with moments ``m`` (B, G, q) from parameters ``start`` (B, G, q).

        Of the start the shared components are averaged over groups.
        """
        rotated, rows = self._targets(m), np.arange(len(m))
        path = self._path(rotated, start, LAST_STEP)
        end = self._curvature(path.lam, rows)
        found = judge(path, rotated, end)
        return GroupedFits(
            self.own,
            self._unpacked(path.lam, rows),
            end.each,
            found.deficit,
            found.residual,
            found.decrement,
            found.steps,
            found.status,
        )

    def approached(self, m: Array, start: Array, last_step: float = DRAWN_DECREMENT) -> Array:
        """Parameters (B, G, q) of the same fits after a step from a decrement of ``last_step``.

        By default to the digits that comparing samples asks for. Whether they are fits is for
        `mismatch` to say.
        """
        path = self._path(self._targets(m), start, last_step)
        return self._unpacked(path.lam, np.arange(len(m)))

    def mismatch(self, m: Array, mean: Array) -> Array:
        """Largest difference of the moments of the space, (B,), from E φ (B, G, q) of laws."""
        return np.asarray(np.abs(self._targets(m - mean)).max(axis=1))

    def _targets(self, m: Array) -> Array:
        return self._packed(self.shares[:, None] * self._turned(m))

    def _path(self, targets: Array, start: Array, last_step: float) -> NewtonPath:
        begin = self._packed_parameters(self._turned(start))
        return newton(self._curvature, targets, begin, max_steps=_MOST_STEPS, last_step=last_step)

    def _frames(self, rows: IntArray) -> Array | None:
        return self.frame if self.frame is None or len(self.frame) == 1 else self.frame[rows]

    def _unpacked(self, packed: Array, rows: IntArray) -> Array:
        """Parameters (b, G, q) of some samples from the free ones (b, G k + q - k)."""
        count, groups = len(packed), len(self.shares)
        cut = groups * self.own
        own = packed[:, :cut].reshape(count, groups, self.own)
        rest = packed[:, None, cut:]
        lam = np.concatenate([own, np.broadcast_to(rest, (count, groups, rest.shape[2]))], axis=2)
        frame = self._frames(rows)
        return lam if frame is None else lam @ frame

    def _turned(self, values: Array) -> Array:
        return values if self.frame is None else values @ np.swapaxes(self.frame, 1, 2)

    def _packed(self, values: Array) -> Array:
        """Sums over groups for what is shared."""
        own = values[:, :, : self.own].reshape(len(values), -1)
        return np.concatenate([own, values[:, :, self.own :].sum(axis=1)], axis=1)

    def _packed_parameters(self, lam: Array) -> Array:
        own = lam[:, :, : self.own].reshape(len(lam), -1)
        return np.concatenate([own, self.shares @ lam[:, :, self.own :]], axis=1)

    def _curvature(self, packed: Array, rows: IntArray) -> ArrowCurvature:
        psi, mean, covariance = integrals(self.family, self._unpacked(packed, rows))
        frame = self._frames(rows)
        if frame is not None:
            mean = mean @ np.swapaxes(frame, 1, 2)
            covariance = frame[:, None] @ covariance @ np.swapaxes(frame, 1, 2)[:, None]
        return ArrowCurvature(
            psi=psi @ self.shares,
            mean=self._packed(self.shares[:, None] * mean),
            each=psi,
            arrow=Arrow.of(covariance, self.shares, self.own),
        )


def integrals(family: LogPartition, lam: Array) -> tuple[Array, Array, Array]:
    """ψ (B, G), mean (B, G, q) and covariance (B, G, q, q) of laws ``lam`` (B, G, q)."""
    count, groups, q = lam.shape
    laws = lam.reshape(-1, q)
    alike = bool((laws == laws[0]).all())  # as where Newton's method begins with the pooled fit
    psi, mean, covariance = family.log_partition(laws[:1] if alike else laws)
    if alike:
        psi, mean, covariance = (v.repeat(len(laws), axis=0) for v in (psi, mean, covariance))
    shape = count, groups
    return psi.reshape(shape), mean.reshape(*shape, q), covariance.reshape(*shape, q, q)


@dataclass(frozen=True, slots=True, eq=False)
class Arrow:
    """Covariances of the features of W_k under B samples of G laws, eliminated down to θ."""

    shares: Array  # (G,)
    inverse: Array  # (B, G, k, k): J_aa⁻¹
    slope: Array  # (B, G, k, r): J_aa⁻¹ J_aθ
    schur: Array  # (B, r, r): S

    @classmethod
    def of(cls, covariance: Array, shares: Array, own: int) -> Arrow:
        """From covariances (B, G, q, q) of all features."""
        count, groups, q, _ = covariance.shape
        blocks = covariance[:, :, :own, :own].reshape(count * groups, own, own)
        inverse = (inverses(blocks) if own else blocks).reshape(count, groups, own, own)
        border = covariance[:, :, :own, own:]
        slope = inverse @ border
        left = covariance[:, :, own:, own:] - np.swapaxes(border, 2, 3) @ slope
        schur = np.einsum("g,bgij->bij", shares, left)
        return cls(shares, inverse, slope, schur.reshape(count, q - own, q - own))

    def solve(self, own: Array, rest: Array) -> tuple[Array, Array]:
        """The arrow's inverse times (``own`` (B, G, k), ``rest`` (B, r)), in the same shapes.

        The arrow itself has π_g J_aa in its blocks.
        """
        right = rest - np.einsum("bgkr,bgk->br", self.slope, own)
        shared = solve_each(self.schur, right) if right.shape[1] else right
        first = (self.inverse @ (own / self.shares[:, None])[..., None])[..., 0]
        return first - np.einsum("bgkr,br->bgk", self.slope, shared), shared


@dataclass(frozen=True, slots=True, eq=False)
class ArrowCurvature:
    """What Newton's method asks of W_k."""

    psi: Array  # (B,): Σ π_g ψ_g
    mean: Array  # (B, G k + r)
    each: Array  # (B, G): ψ_g
    arrow: Arrow

    def newton(self, gradient: Array) -> Array:
        """Solve ``arrow · step = gradient``."""
        count, groups, own, _ = self.arrow.slope.shape
        cut = groups * own
        a, theta = self.arrow.solve(
            gradient[:, :cut].reshape(count, groups, own), gradient[:, cut:]
        )
        return np.concatenate([a.reshape(count, -1), theta], axis=1)

    def condition(self) -> Array:
        """Of the Schur complement: the blocks are those of fits that were made before."""
        schur = self.arrow.schur
        return conditions(schur) if schur.shape[1] else np.ones(len(schur))
