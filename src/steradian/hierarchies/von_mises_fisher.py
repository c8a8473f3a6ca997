"""Level 1 on any unit sphere: the von Mises-Fisher family, in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.dual import DualSolution, Status
from steradian.hierarchies.base import MomentStack, Placement, Verdict
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.bessel import concentration, von_mises_fisher

_POINT = 1e-28  # squared spread that is rounding of a repeated point


@dataclass(frozen=True, slots=True)
class VonMisesFisherFamily:
    """p ∝ exp(η·x), with the linear features φ = √d x in the order of ``axes``."""

    d: int
    axes: tuple[int, ...]  # feature k is √d x[axes[k]]

    @property
    def q(self) -> int:
        return self.d

    @property
    def needs_support(self) -> bool:
        return False

    def natural_vector(self, lam: Array) -> Array:
        """η of p ∝ exp(η·x), (B, d), from the feature parameters (B, d)."""
        eta = np.empty_like(lam)
        eta[:, self.axes] = np.sqrt(self.d) * lam
        return eta

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        kappa = np.sqrt(self.d) * np.linalg.norm(lam, axis=1)
        terms = von_mises_fisher(self.d, kappa)
        safe = np.maximum(kappa, np.finfo(float).tiny)
        axis = np.sqrt(self.d) * lam / safe[:, None]
        across = np.where(kappa > 0, terms.ratio / safe, 1.0 / self.d)
        lack = terms.defect / safe
        along = np.where(kappa > 1e-4, lack * (2 - lack) - (self.d - 1) * across, 1.0 / self.d)
        outer = axis[:, :, None] * axis[:, None, :]
        covariance = (
            across[:, None, None] * np.eye(self.d) + (along - across)[:, None, None] * outer
        )
        mean = np.sqrt(self.d) * terms.ratio[:, None] * axis
        return terms.psi, mean, self.d * covariance

    def contains(self, moments: MomentStack) -> IntArray:
        spread = np.trace(moments.scatter, axis1=1, axis2=2)
        return np.where(spread > _POINT, Verdict.INSIDE, Verdict.OUTSIDE).astype(np.int64)

    def examine(self, x: Array, weights: Array) -> Placement:
        centre = weights @ x
        spread = float(weights @ ((x - centre) ** 2).sum(axis=1))
        if spread > _POINT:
            return Placement(Verdict.INSIDE)
        return Placement(Verdict.OUTSIDE, "all the weight sits on one point")

    def solve(self, moments: MomentStack, start: Array) -> DualSolution:  # noqa: ARG002
        """In closed form; no start is needed."""
        length = np.linalg.norm(moments.mean, axis=1)
        spread = np.trace(moments.scatter, axis1=1, axis2=2)
        if len(moments) == 1:  # scalars keep the special functions quick
            terms = concentration(self.d, length.item(), spread.item())
        else:
            terms = concentration(self.d, length, spread)
        kappa, ratio, psi, deficit = (
            np.atleast_1d(v) for v in (terms.kappa, terms.ratio, terms.psi, terms.deficit)
        )
        axis = moments.mean[:, self.axes] / np.maximum(length, np.finfo(float).tiny)[:, None]
        rows = len(moments)
        mismatch = np.abs(moments.mean[:, self.axes] - ratio[:, None] * axis).max(axis=1)
        return DualSolution(
            lam=kappa[:, None] * axis / np.sqrt(self.d),
            psi=psi,
            deficit=deficit,
            residual=np.sqrt(self.d) * mismatch,
            decrement=np.zeros(rows),
            condition=np.ones(rows),
            quadrature=np.zeros(rows),
            nodes=np.zeros(rows, dtype=np.int64),
            steps=np.zeros(rows, dtype=np.int64),
            status=np.full(rows, int(Status.CONVERGED), dtype=np.int64),
        )
