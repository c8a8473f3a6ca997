"""Level 1 of axes in any dimension: the Bingham family, exactly, by a contour integral.

p ∝ exp(xᵀBx) is Fisher-Bingham without its linear part: the law of maximum entropy of its second
moment E xxᵀ (Bingham 1974). On unit quaternions it is the matrix Fisher law of rotations
(Prentice 1986), whose tr FᵀR is quadratic in the quaternion.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.placement import Placement, Verdict
from steradian.existence.span import flat_axes, thin_words
from steradian.families.nodes.family import NodeFamily
from steradian.families.quadratics.fisher_bingham import ContourFamily, FisherBinghamFamily
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.tolerances import FLAT
from steradian.spaces import HarmonicSpace, unit_sphere
from steradian.spaces.quadratic import feature_moments, natural_parameters

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_FORMED = 2000  # features whose covariance is formed


@dataclass(frozen=True, slots=True)
class BinghamFamily(ContourFamily):
    """p ∝ exp(xᵀBx), B of trace zero: level 1 of an axial ``hierarchy``."""

    hierarchy: Hierarchy

    @property
    def _sphere(self) -> HarmonicSpace:
        return unit_sphere(self.hierarchy.space.d)

    @property
    def _full(self) -> FisherBinghamFamily:
        """The laws with a linear part as well."""
        return FisherBinghamFamily(self._sphere)

    @property
    def q(self) -> int:
        return self.hierarchy.q(1)

    def features(self, x: AnyArray) -> AnyArray:
        return self.hierarchy.up_to(1).features(x)

    @property
    def forms_matrices(self) -> bool:
        """Whether the covariance of the features is small enough to be formed."""
        return self.q <= _FORMED

    def chi_square_lead(self, rate: float) -> float:
        """As with the linear part: there are hardly fewer features."""
        return self._full.chi_square_lead(rate)

    def draw_work(self, rows: int) -> float:
        return self._full.draw_work(rows)

    @property
    def has_rule(self) -> bool:
        """Whether `rule` integrates against its laws."""
        return self.hierarchy.space.rules() > 0

    def quadratic(self, lam: Array) -> Array:
        """B (…, d, d) of the parameters ``lam`` (…, q)."""
        nothing = np.zeros((*lam.shape[:-1], self._sphere.d))
        return natural_parameters(self._sphere, np.concatenate([nothing, lam], axis=-1))[1]

    @property
    def d(self) -> int:
        return self._sphere.d

    @property
    def linear(self) -> int:
        return 0

    def exponents(self, lam: Array) -> tuple[Array, Array]:
        return np.zeros((*lam.shape[:-1], self.d)), self.quadratic(lam)

    def features_of(self, mean: Array, second: Array) -> Array:
        return feature_moments(self._sphere, mean, second)[..., self.d :]

    def second_of(self, features: Array) -> Array:
        """E xxᵀ (B, d, d) from E φ (B, >= q): I / d + Σ_k E φ_k 2 M_k / (d (d + 2))."""
        d = self._sphere.d
        forms = self.quadratic(features[:, : self.q])
        return np.asarray(2.0 * forms / (d * (d + 2.0)) + np.eye(d) / d)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of the laws ``lam`` (B, q) for all features of ``wide`` on the same space."""
        if wide.levels == 1:
            return np.array([self.means(self.law(row)) for row in lam])
        return self._nodes.expectations(lam, wide)

    def rule(self, lam: Array, degree: int) -> tuple[Array, Array]:
        """Nodes (N, d) and masses (N,) of sum one: what integrates against one law ``lam`` (q,)."""
        return self._nodes.rule(lam, degree)

    @property
    def _nodes(self) -> NodeFamily:
        if not self.has_rule:
            cause = f"has no rule of nodes in dimension {self._sphere.d}"
            raise ResolutionError(1, cause, "rules for axes exist up to dimension 4")
        return NodeFamily(self.hierarchy, 1)

    def contains(self, moments: MomentStack) -> IntArray:
        """A fit exists if and only if the second moment is positive definite."""
        return self._full.contains(moments)

    def examine(self, x: Array, weights: Array) -> Placement:
        spanned, d = len(x), x.shape[1]
        if spanned >= d:
            spanned = d - int(flat_axes(x)[1].sum())
        if spanned < d:
            words = f"{len(x)} distinct rows span {spanned} of {d} dimensions; see within_span"
            return Placement(Verdict.OUTSIDE, words)
        values = np.linalg.eigvalsh((weights[:, None] * x).T @ x)
        if values[0] > FLAT * values[-1]:
            return Placement(Verdict.INSIDE)
        return Placement(Verdict.TOUCHING, thin_words(float(values[0])))

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """Row by row by the contour integral, with a mean of zero, which leaves η zero."""
        d = self._sphere.d
        centred = MomentStack(
            np.zeros((len(moments), 0)), np.zeros_like(moments.mean), moments.scatter
        )
        full = self._full.solve(centred, np.zeros((len(start), d + self.q)))
        parts = {name: getattr(full, name) for name in full.__dataclass_fields__}
        return DualSolution(**{**parts, "lam": full.lam[:, d:], "gap": full.deficit.copy()})
