"""Some quadratics that are no products of coordinates: Fisher-Bingham laws of a few forms, exactly.

p ∝ exp(η·x + xᵀBx), B a combination of given forms. ψ, means and covariances come from the contour,
as of all quadratics; Newton runs over the few parameters there are.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.existence.placement import Placement, Verdict
from steradian.families.quadratics.blocks import ALONE
from steradian.families.quadratics.fisher_bingham import ContourFamily
from steradian.families.relative.below_polynomials import means_of_laws
from steradian.fitting.newton import DenseCurvature, judge, newton
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.linalg import null_space
from steradian.numerics.tolerances import FLAT, NODE_VANISHING, SQUARE_ROUNDING
from steradian.spaces.quadratic import linear_features

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy
    from steradian.hierarchies.sketch import Sketch

_STEPS = 60


@dataclass(frozen=True, slots=True)
class SketchedQuadratics(ContourFamily):
    """Level 2 of a sketch."""

    hierarchy: Sketch

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return self.hierarchy.d

    @property
    def q(self) -> int:
        return self.hierarchy.q(2)

    def features(self, x: AnyArray) -> AnyArray:
        return self.hierarchy.up_to(2).features(x)

    def exponents(self, lam: Array) -> tuple[Array, Array]:
        eta = lam[..., : self.d] @ linear_features(self.d).T
        return eta, np.tensordot(lam[..., self.d : self.q], self.hierarchy.forms, axes=1)

    def natural(self, lam: Array) -> tuple[Array, Array]:
        return self.exponents(lam)

    def features_of(self, mean: Array, second: Array) -> Array:
        forms = np.tensordot(second, self.hierarchy.forms, axes=((-2, -1), (1, 2)))
        return np.concatenate([mean @ linear_features(self.d), forms], axis=-1)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        return means_of_laws([self.law(row) for row in lam], wide)

    # --- what tests ask for ---------------------------------------------------------------

    def chi_square_lead(self, rate: float) -> float:
        return (self.q - self.d) / (3.0 * rate**2)

    def draw_work(self, rows: int) -> float:
        return ALONE

    # --- existence and fits ---------------------------------------------------------------

    @property
    def needs_support(self) -> bool:
        return True

    def contains(self, moments: MomentStack) -> IntArray:
        """Inside where all quadratics have a fit; elsewhere a sketch may have one all the same."""
        values = np.linalg.eigvalsh(moments.scatter)
        inside = values[:, 0] > FLAT * values[:, -1]
        return np.where(inside, Verdict.INSIDE, Verdict.UNSURE).astype(np.int64)

    def examine(self, x: Array, weights: Array) -> Placement:
        """Inside if no function of the level with a positive mean vanishes on all of ``x``."""
        phi = self.hierarchy.up_to(2).features(x)
        vanishing = null_space(np.column_stack([np.ones(len(x)), phi]))
        f = vanishing @ vanishing[0]
        if not vanishing.shape[1] or f[0] <= NODE_VANISHING:
            return Placement(Verdict.INSIDE)
        eta, form = self.natural(f[1:])
        whole = np.block([[np.full((1, 1), f[0]), 0.5 * eta[None]], [0.5 * eta[:, None], form]])
        values, axes = np.linalg.eigh(whole)
        if values[0] < -NODE_VANISHING:
            return Placement(Verdict.UNSURE)
        affine = axes[:, np.abs(values) > SQUARE_ROUNDING]  # f is a sum of squares of these
        away = np.abs(affine[0] + x @ affine[1:]).max(initial=0.0)
        if values[0] < -SQUARE_ROUNDING or away > SQUARE_ROUNDING:
            return Placement(
                Verdict.TOUCHING, "a quadratic of this level nearly vanishes on all data"
            )
        words = "a quadratic of this level that is nowhere negative vanishes on all data"
        return Placement(Verdict.OUTSIDE, words)

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        m = self.hierarchy.expectations(moments, 2)
        path = newton(
            lambda lam, _: DenseCurvature(*self.log_partition(lam)), m, start, max_steps=_STEPS
        )
        out = judge(path, m, DenseCurvature(*self.log_partition(path.lam)))
        for k, lam in enumerate(path.lam):
            law = self.law(lam)
            out.quadrature[k], out.nodes[k] = law.error, law.terms.v.shape[1]
        return out
