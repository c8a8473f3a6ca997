"""Level 1 on any unit sphere: the von Mises-Fisher family, in closed form."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.certificate import Certificate, linear_function
from steradian.existence.margin import Closest, Evidence, linear_face
from steradian.existence.placement import Placement, Verdict
from steradian.families.base import Family
from steradian.families.grids.gridded import GriddedFamily
from steradian.families.refits import Refits
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.fisher_bingham.shape import UNIFORM, UNIMODAL
from steradian.numerics.heights.bessel import (
    concentration,
    deficit_rounding,
    von_mises_fisher,
)
from steradian.numerics.heights.von_mises_fisher_sample import turned, von_mises_fisher_draws
from steradian.numerics.tolerances import NEARLY_UNIFORM_HEIGHT, NO_SHAPE, POINT, TINY
from steradian.spaces import unit_sphere
from steradian.spaces.quadratic import coordinates, natural_parameters

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_CONVERGED = int(Status.CONVERGED)


@dataclass(frozen=True, slots=True)
class VonMisesFisherFamily(Family):
    """p ∝ exp(η·x), with the linear features φ = √d x in the order of ``axes``."""

    d: int
    axes: tuple[int, ...]  # feature k is √d x[axes[k]]
    grid: GriddedFamily | None = None  # the same laws on a grid, in low dimension

    @property
    def q(self) -> int:
        return self.d

    def exponent(self, x: Array, lam: Array) -> Array:
        return np.asarray(x[:, self.axes] @ lam * np.sqrt(self.d))

    def law(self, lam: Array, psi: float = np.nan) -> VonMisesFisherLaw:
        """The law of parameters ``lam`` (q,)."""
        eta = np.empty(self.d)
        eta[list(self.axes)] = math.sqrt(self.d) * lam
        return VonMisesFisherLaw(eta)

    def features(self, x: AnyArray) -> AnyArray:
        return np.sqrt(np.asarray(self.d, dtype=x.dtype)) * x[:, self.axes]

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        kappa = np.sqrt(self.d) * np.linalg.norm(lam, axis=1)
        terms = von_mises_fisher(self.d, kappa)
        safe = np.maximum(kappa, TINY)
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

    @property
    def has_rule(self) -> bool:
        return self.grid is not None

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        if self.grid is None:
            raise NotImplementedError(f"a rule on the sphere in R^{self.d}: there is none")
        return self.grid.rule(lam, degree)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """On the grid; without one of linear and quadratic features, from E x and E xxᵀ."""
        if self.grid is not None:
            return self.grid.expectations(lam, wide)
        _, mean, covariance = self.log_partition(lam)
        known = MomentStack(mean[:, :0], coordinates(self.d, mean), covariance / self.d)
        return wide.expectations(known, wide.levels)

    def wide_covariance(self, lam: Array, wide: Hierarchy) -> tuple[Array, Array] | None:
        """On the grid, where there is one."""
        return self.grid.wide_covariance(lam, wide) if self.grid else None

    def resolved_by(self, rung: int) -> VonMisesFisherFamily:
        return replace(self, grid=self.grid.resolved_by(rung)) if self.grid else self

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """NaN without a grid; with one the same as in closed form, but for its error."""
        return self.grid.deficit_on(reach, m, lam) if self.grid else float("nan")

    def refits(self, lam: Array) -> Refits | None:
        return self.grid.refits(lam) if self.grid else None

    @property
    def closed_leftover(self) -> bool:
        return self.grid is None

    def natural(self, lam: Array) -> tuple[Array, Array]:
        return natural_parameters(unit_sphere(self.d), lam)

    def contains(self, moments: MomentStack) -> IntArray:
        spread = np.einsum("bii->b", moments.scatter)
        return np.where(spread > POINT, int(Verdict.INSIDE), int(Verdict.OUTSIDE))

    def examine(self, x: Array, weights: Array) -> Placement:
        centre = weights @ x
        spread = float(weights @ ((x - centre) ** 2).sum(axis=1))
        if spread > POINT:
            return Placement(Verdict.INSIDE)
        _, certificate = linear_function(centre, spread)
        return Placement(Verdict.OUTSIDE, "all the weight sits on one point", certificate)

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest:
        return linear_face(known)

    def margin_bound(self, known: Evidence) -> tuple[float, bool]:
        return linear_face(known).margin, True

    def peak(self, f: Certificate) -> Array | None:
        return self.grid.peak(f) if self.grid else None

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """In closed form; no start is needed."""
        if len(moments) == 1:
            return self._solve_one(moments.mean[0], float(moments.scatter[0].trace()))
        length, spread = _lengths(moments)
        kappa, ratio, _, psi, deficit = concentration(self.d, length, spread)
        root = math.sqrt(self.d)
        scale = kappa / (root * np.maximum(length, TINY))
        zeros, none = np.zeros(len(moments)), np.zeros(len(moments), dtype=np.int64)
        return DualSolution(
            lam=scale[:, None] * moments.mean[:, self.axes],
            psi=psi,
            deficit=deficit,
            gap=deficit,
            residual=root * np.abs(length - ratio),
            decrement=zeros,
            condition=zeros + 1.0,
            quadrature=zeros,
            moment_rounding=deficit_rounding(self.d, kappa, deficit, spread),
            nodes=none,
            steps=none,
            status=none + _CONVERGED,
        )

    def _solve_one(self, mean: Array, spread: float) -> DualSolution:
        """The same for one sample: scalars keep the special functions quick."""
        length, root = math.sqrt(mean.dot(mean)), math.sqrt(self.d)
        kappa, ratio, _, psi, deficit = map(float, concentration(self.d, length, spread))
        scale = kappa / (root * max(length, TINY))
        residual = root * abs(length - ratio)
        rounding = deficit_rounding(self.d, kappa, deficit, spread)
        numbers = (psi, deficit, deficit, residual, 0.0, 1.0, 0.0, rounding)
        return DualSolution.of_one(scale * mean.take(self.axes), numbers)


def _lengths(moments: MomentStack) -> tuple[Array, Array]:
    """Mean resultant lengths (B,), and 1 less their squares as scatters know it."""
    length = np.sqrt(np.einsum("bi,bi->b", moments.mean, moments.mean))
    return length, np.einsum("bii->b", moments.scatter)


@dataclass(frozen=True, slots=True)
class VonMisesFisherLaw:
    """exp(η·x - ψ), evaluated about its mode."""

    eta: Array  # (d,)

    @property
    def kappa(self) -> float:
        return float(np.linalg.norm(self.eta))

    @property
    def mode(self) -> Array:
        kappa = self.kappa
        return self.eta / kappa if kappa else np.eye(len(self.eta))[-1]

    @property
    def shape(self) -> str:
        return UNIMODAL if self.kappa >= NO_SHAPE else UNIFORM

    def logpdf(self, x: Array) -> Array:
        """``-½ κ |x - μ|² + κ - ψ``, in which nothing of the size of κ cancels."""
        terms = von_mises_fisher(len(self.eta), self.kappa)
        away = x - self.mode
        peak = float(terms.deficit) + float(terms.defect)  # κ - ψ
        return np.asarray(peak - 0.5 * self.kappa * np.einsum("ni,ni->n", away, away))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        d = len(self.eta)
        if d == 2:
            angle = rng.vonmises(math.atan2(self.eta[1], self.eta[0]), self.kappa, n)
            return np.stack([np.cos(angle), np.sin(angle)], axis=1)
        if d == 3:
            return self._sample_in_space(n, rng)
        return turned(von_mises_fisher_draws(d, self.kappa, n, rng), self.mode)

    def _sample_in_space(self, n: int, rng: np.random.Generator) -> Array:
        """Draws in three dimensions, where the height along the axis has an explicit inverse."""
        u = rng.random(n)
        if self.kappa < NEARLY_UNIFORM_HEIGHT:
            depth = 2.0 * u
        else:
            depth = -np.log1p(u * np.expm1(-2.0 * self.kappa)) / self.kappa  # 1 - height
        radius = np.sqrt(np.maximum(depth * (2.0 - depth), 0.0))
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
        across = np.linalg.svd(self.mode[None])[2][1:]  # two directions at right angles to it
        ring = np.cos(angle)[:, None] * across[0] + np.sin(angle)[:, None] * across[1]
        x = (1.0 - depth)[:, None] * self.mode + radius[:, None] * ring
        return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))
