"""Quadratics that mix no two groups of coordinates: Fisher-Bingham laws with a masked B, exactly.

The contour integral knows only the eigenvalues of B and η in an eigenbasis, so that a mask costs
nothing, and leaves a smaller problem. By the S-lemma a function ``c + η·x + xᵀBx`` of the level
that is nowhere negative on the sphere and vanishes on the data is a sum of squares of affine
functions, one group each: a fit exists if and only if no combination of the coordinates of one
group is constant on the data.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.certificate import Certificate
from steradian.existence.placement import Placement, Verdict
from steradian.existence.span import centred, flat_axes, thin_words
from steradian.families.quadratics.fisher_bingham import (
    ContourFamily,
    determinant_noise,
    fitted_rows,
)
from steradian.families.quadratics.von_mises_fisher import VonMisesFisherFamily
from steradian.families.whitening import FormedWhitening, Whitening, formed_whitening
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import ROUNDOFF, AnyArray, Array, IntArray
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.heights.polar_quadratics import PolarTensors
from steradian.numerics.tolerances import FLAT
from steradian.spaces import unit_sphere
from steradian.spaces.quadratic import feature_parameters

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy
    from steradian.hierarchies.quadratics import Quadratics

_CLEAR = 1e-3  # share of a white feature's variance that may be rounding of the covariance
ALONE = 1.5e4  # work of fitting one drawn sample by itself
_FORMED = 800  # features whose covariance is formed about von Mises-Fisher, in closed form
MULTIPLIED = 400  # and about other laws, one product each


@dataclass(frozen=True, slots=True)
class LinearFamily(VonMisesFisherFamily):
    """Level 1 below quadratics that are not all of them."""

    @property
    def closed_leftover(self) -> bool:
        return False


@dataclass(frozen=True, slots=True)
class BlockFamily(ContourFamily):
    """p ∝ exp(η·x + xᵀBx), B zero between the groups of ``level`` of ``hierarchy``."""

    hierarchy: Quadratics
    level: int

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return self.hierarchy.d

    @property
    def partition(self) -> Partition:
        """What the quadratics mix."""
        return self.hierarchy.partition(self.level)

    @property
    def q(self) -> int:
        return self.hierarchy.q(self.level)

    def features(self, x: AnyArray) -> AnyArray:
        return self.hierarchy.up_to(self.level).features(x)

    def exponents(self, lam: Array) -> tuple[Array, Array]:
        return self.hierarchy.natural(lam)

    def features_of(self, mean: Array, second: Array) -> Array:
        return self.hierarchy.of_second(mean, second)[..., : self.q]

    def natural(self, lam: Array) -> tuple[Array, Array]:
        return self.hierarchy.natural(lam)

    # --- integrals ------------------------------------------------------------------------

    def covariance(self, law: FisherBinghamLaw) -> Array:
        """In closed form about von Mises-Fisher, else by one product for each form."""
        if not np.ptp(law.terms.beta[0]):
            tensors = PolarTensors.of(law.axes @ law.terms.b[0])
            change, pairs = self.hierarchy.of_monomials(self.level), self.hierarchy.monomials
            return np.asarray(change @ tensors.covariance(pairs(self.level)) @ change.T)
        if self.q > MULTIPLIED:
            cause = f"has {self.q} features, too many for their covariance"
            raise ResolutionError(self.level, cause, "take smaller blocks")
        return ContourFamily.covariance(self, law)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """Of linear and quadratic features, from mean and covariance of x."""
        laws = [self.law(row) for row in lam]
        means = np.array([law.mean() for law in laws]).reshape(-1, self.d)
        scatter = np.array([law.covariance() for law in laws]).reshape(-1, self.d, self.d)
        return wide.expectations(MomentStack(np.zeros((len(lam), 0)), means, scatter), wide.levels)

    # --- what tests ask for ---------------------------------------------------------------

    @property
    def forms_matrices(self) -> bool:
        """Whether the covariance of the features is small enough to be formed."""
        return self.q <= (_FORMED if self.level == 2 else MULTIPLIED)

    def whitening(self, below: Array) -> Whitening:
        if below.shape[1] and not self.forms_matrices:
            cause = f"has {self.q} features, too many to form their covariance for a test"
            raise ResolutionError(self.level, cause, "take fewer coordinates or smaller groups")
        white = formed_whitening(self, self.features, below)
        if not isinstance(white, FormedWhitening):
            return white
        largest = 0.5 * self.d * (self.d + 2.0)  # of the mean square of a feature
        noise = ROUNDOFF * largest * (white.inverse**2).sum(axis=2).max(axis=1)
        inverse = np.where((noise < _CLEAR)[:, None, None], white.inverse, np.nan)
        return replace(white, inverse=inverse)

    def chi_square_lead(self, rate: float) -> float:
        """As of all quadratics, in the share of them that there are: q / (3 a²)."""
        return (self.q - self.d) / (3.0 * rate**2)

    def noise(self, rows: float) -> float:
        """That of normal covariances within the groups, less what |x| = 1 fixes."""
        sizes = [len(group) for group in self.partition.groups]
        return determinant_noise(rows, sizes) - 0.5 / rows

    def draw_work(self, rows: int) -> float:
        return ALONE

    # --- existence ------------------------------------------------------------------------

    def contains(self, moments: MomentStack) -> IntArray:
        """Inside if and only if the covariance within every group is positive definite."""
        flat = [self._flattest(scatter)[0] for scatter in moments.scatter]
        inside = np.array(flat).reshape(-1) > FLAT
        return np.where(inside, Verdict.INSIDE, Verdict.TOUCHING).astype(np.int64)

    def _flattest(self, scatter: Array) -> tuple[float, Array]:
        """The least variance of a combination within one group over the largest of all; the former.

        With its coefficients, (d,): where several are constant to rounding, of the first group.
        """
        values, axes = self.partition.eigh(self.partition.masked(scatter))
        shares = values / max(values.max(), np.finfo(float).tiny)
        flat = np.flatnonzero(shares <= FLAT)
        least = int(np.argmin(shares))
        if len(flat):
            least = int(flat[np.argmax(np.abs(axes[:, flat]) > FLAT, axis=0).argmin()])
        return float(shares[least]), axes[:, least]

    def examine(self, x: Array, weights: Array) -> Placement:
        centre = weights @ x
        away = np.sqrt(weights)[:, None] * (x - centre)
        share, v = self._flattest(away.T @ away)
        if share > FLAT:
            return Placement(Verdict.INSIDE)
        used = np.flatnonzero(np.abs(v) > FLAT)
        every = centred(x)
        rows, width = every[:, used], float(np.sqrt(np.mean((every**2).sum(axis=1))))
        if len(x) > len(used) and not flat_axes(rows, width=width)[1].any():
            return Placement(Verdict.TOUCHING, thin_words(float(np.mean((rows @ v[used]) ** 2))))
        c = -float(v @ centre)
        whole = c * c + 1.0 / self.d  # the mean of (c + v·x)², which a certificate has as one
        lam = feature_parameters(unit_sphere(self.d), 2.0 * c * v, np.outer(v, v)) / whole
        if len(used) == 1:
            words = f"coordinate {used[0] + 1} is the same for all of them"
        else:
            words = f"a combination of coordinates {_listed(used + 1)} is the same for all of them"
        return Placement(Verdict.OUTSIDE, words, Certificate(self.d, 2, lam))

    # --- fits -----------------------------------------------------------------------------

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """Row by row by the contour integral; no start is needed."""

        def parameters(eta: Array, quadratic: Array) -> Array:
            return self.hierarchy.parameters(eta, quadratic)[..., : self.q]

        out = fitted_rows(moments, self.q, self.partition, parameters)
        if self.level > 2:
            out.gap[:] = np.nan  # that over von Mises-Fisher is not the one of this level
        return out


def _listed(numbers: IntArray) -> str:
    shown = ", ".join(str(k) for k in numbers[:4])
    return f"{shown}, …" if len(numbers) > 4 else shown
