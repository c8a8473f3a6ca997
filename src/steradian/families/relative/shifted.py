"""Families relative to a law of the same features, from the families that are there: any dimension.

With log p₀ = λ₀·φ - ψ₀ a combination of the features of levels 1..l₀, p₀ exp(λ·φ) is the law of
natural parameters λ₀ + λ. So of every level from l₀ on the fit is the ordinary one, with λ = λ_L -
λ₀, ψ = ψ_L - ψ₀ and D = D_L - (λ₀·m - ψ₀); of a level below it is found by Newton's method in its
own few parameters, with mean and covariance from the family of level l₀: of linear features over
a Fisher-Bingham law both come from one contour integral.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.placement import Placement
from steradian.families.base import Family
from steradian.families.grids.curvature import Root
from steradian.families.whitening import FormedWhitening, Whitening, formed_whitening
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_MOST_STEPS = 60
_MOST_FEATURES = 300  # whose covariance is formed


class Origin(Protocol):
    """A law of the hierarchy that others are relative to; equal to itself alone."""

    def __hash__(self) -> int: ...

    @property
    def level(self) -> int:
        """Its level, from 1 on."""
        ...

    @property
    def lam(self) -> Array:
        """Its natural parameters, (q₀,)."""
        ...

    @property
    def psi(self) -> float:
        """Its log-partition."""
        ...


@dataclass(frozen=True, slots=True)
class ShiftedFamily(Family):
    """p ∝ p₀ exp(λ·φ) with the features of levels 1..level of ``whole``, p₀ = exp(λ₀·φ - ψ₀)."""

    whole: Hierarchy  # of as many levels as the origin has, or more
    level: int
    origin: Origin

    @property
    def q(self) -> int:
        return self.whole.q(self.level)

    def features(self, x: AnyArray) -> AnyArray:
        return self._own.features(x)

    @property
    def _own(self) -> Family:
        """The family of the same level relative to uniform."""
        return self.whole.family(self.level)

    @property
    def _top(self) -> Family:
        """The family that all these laws belong to."""
        return self.whole.family(max(self.level, self.origin.level))

    def absolute(self, lam: Array) -> Array:
        """λ₀ + λ of laws ``lam`` (B, q): (B, q_top)."""
        size = self.whole.q(max(self.level, self.origin.level))
        out = np.zeros((len(lam), size))
        out[:, : lam.shape[1]] = lam
        out[:, : len(self.origin.lam)] += self.origin.lam
        return out

    # --- integrals ------------------------------------------------------------------------

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        theta = self.absolute(lam)
        found = self._linear(theta)
        psi, mean, covariance = self._top.log_partition(theta) if found is None else found
        return psi - self.origin.psi, mean[:, : self.q], covariance[:, : self.q, : self.q]

    def _linear(self, theta: Array) -> tuple[Array, Array, Array] | None:
        """ψ, mean and covariance of linear features under quadratic laws; None of any others."""
        d = self.whole.space.d
        natural = [self._top.natural(row) for row in theta]
        if self.q != d or any(each is None for each in natural):
            return None
        axes = np.asarray(self.whole.up_to(1).features(np.eye(d)))  # φ(x) = x @ axes
        laws = [FisherBinghamLaw.of(*each) for each in natural if each is not None]
        return (
            np.array([law.psi for law in laws]),
            np.array([law.mean() @ axes for law in laws]),
            np.array([axes.T @ law.covariance() @ axes for law in laws]),
        )

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        return self._top.expectations(self.absolute(lam), wide)

    @property
    def forms_matrices(self) -> bool:
        return self.q <= _MOST_FEATURES

    def whitening(self, below: Array) -> Whitening:
        """From the covariance, or that of the ordinary laws where the origin is one of them."""
        if below.shape[1] >= len(self.origin.lam):
            theta = below.copy()
            theta[:, : len(self.origin.lam)] += self.origin.lam
            return self._own.whitening(theta)
        if not self.forms_matrices:
            raise ResolutionError(
                self.level,
                f"has {self.q} features, and tests relative to a law of level {self.origin.level} "
                f"form matrices of them, at most {_MOST_FEATURES}",
                "ask for fewer levels; gaps and intervals are sound",
            )
        features = self.whole.up_to(self.level).features
        found = formed_whitening(self, features, below, white_reference=False).formed
        assert found is not None
        return _WhiteMoments(
            found.features, found.below, found.mean, found.inverse, found.plain, self
        )

    # --- existence: the support of the reference is the whole space -------------------------

    @property
    def needs_support(self) -> bool:
        return self._own.needs_support

    @property
    def examines_quickly(self) -> bool:
        return self._own.examines_quickly

    def contains(self, moments: MomentStack) -> IntArray:
        return self._own.contains(moments)

    def examine(self, x: Array, weights: Array) -> Placement:
        return self._own.examine(x, weights)

    def examine_failed(self, x: Array) -> Placement:
        return self._own.examine_failed(x)

    def chi_square_lead(self, rate: float) -> float:
        return self._own.chi_square_lead(rate)

    def draw_work(self, rows: int) -> float:
        return self._own.draw_work(rows)

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        m = self.whole.expectations(moments, self.level)
        if self.level < self.origin.level:
            path = newton(lambda lam, _: self._root(lam), m, start, max_steps=_MOST_STEPS)
            return judge(path, m, self._root(path.lam))
        out = self._own.solve(moments, self.absolute(start), support)
        size = len(self.origin.lam)
        told = m[:, :size] @ self.origin.lam - self.origin.psi
        out.lam[:, :size] -= self.origin.lam
        out.psi[:] -= self.origin.psi
        out.deficit[:] -= told
        out.gap[:] = np.nan
        out.laws[:] = None
        return out

    def _root(self, lam: Array) -> Root:
        psi, mean, covariance = self.log_partition(lam)
        return Root(psi, mean, np.empty((len(lam), 0)), _upper_roots(covariance))

    # --- draws ----------------------------------------------------------------------------

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        return self._top.sample(self.absolute(lam[None])[0], n, rng)


@dataclass(frozen=True, slots=True)
class _WhiteMoments(FormedWhitening):
    """White features whose means are asked from the hierarchy: not all are among the moments."""

    family: ShiftedFamily | None = None

    def score(self, moments: MomentStack) -> Array:
        assert self.family is not None
        means = self.family.whole.expectations(moments, self.family.level)
        added = self.of_features(means[:, None])[:, 0, self.below :]
        return np.asarray(np.einsum("bq,bq->b", added, added))


def _upper_roots(covariance: Array) -> Array:
    """R with RᵀR the covariance, (B, q, q); NaN where it is none."""
    try:
        return np.swapaxes(np.linalg.cholesky(covariance), 1, 2)
    except np.linalg.LinAlgError:
        if len(covariance) == 1:
            return np.full_like(covariance, np.nan)
        return np.concatenate([_upper_roots(one[None]) for one in covariance])
