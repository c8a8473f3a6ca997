"""Coordinates in which the dual of quadratics and polynomials of a height is about a unit bowl."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.about_axis import AxisLaw
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw

if TYPE_CHECKING:
    from steradian.families.quadratics.skewed import SkewedQuadraticFamily


@dataclass(frozen=True, slots=True, eq=False)
class WhiteCoordinates:
    """Functions that are about white under the fit of the quadratics, and steps along them.

    ``u = (Uᵀx - m)/√v`` in the eigenbasis of B, v the variances of the saddle's Gaussian: u_i,
    u_i u_j (i < j) and u_i²/√2, then the polynomials made orthonormal after 1, t and t².
    """

    family: SkewedQuadraticFamily
    begin: Array  # (q,): the fit of the quadratics alone
    psi: float  # its log-partition
    frame: Array  # (d, d): U / √v
    mean: Array  # (d,): E x of data
    target: Array  # E of the functions over data
    lowered: Array  # (3, K): 1, t and t² in each polynomial
    change: Array  # (K, K), upper triangular
    means: Array  # (K,): E C over data
    second: Array  # (d, d): E xxᵀ over data

    @classmethod
    def of(
        cls, family: SkewedQuadraticFamily, begin: Array, moments: MomentStack
    ) -> WhiteCoordinates:
        natural = family.first.natural(begin[: family.base])
        gaussian = FisherBinghamLaw.of(*natural)
        law = family.resolved(begin)
        t, root = law.heights, np.sqrt(law.mass)[:, None]
        powers = t[:, None] ** np.arange(3)
        known = family.polynomials(t)
        lowered = np.asarray(np.linalg.lstsq(root * powers, root * known, rcond=None)[0], float)
        r = np.linalg.qr(root * (known - powers @ lowered), mode="r")
        frame = gaussian.axes * np.sqrt(2.0 * gaussian.terms.p[0])
        mean, k = moments.mean[0], known.shape[1]
        second = moments.scatter[0] + np.outer(mean, mean)
        means = moments.features[0, family.base : family.q]
        self = cls(
            family, begin, gaussian.psi, frame, mean, np.zeros(0), lowered,
            np.linalg.solve(r, np.eye(k)), means, second,
        )  # fmt: skip
        return replace(self, target=self.of_moments(mean, second, means))

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self.target)

    @property
    def _scale(self) -> Array:
        i, j = np.triu_indices(len(self.mean))
        return np.where(i == j, np.sqrt(0.5), 1.0)

    def of_moments(self, mean: Array, second: Array, polynomials: Array) -> Array:
        """Their means under a law or sample with these moments."""
        away = mean - self.mean
        cross = np.outer(self.mean, away)
        about = second - np.outer(self.mean, self.mean) - cross - cross.T
        forms = self.frame.T @ about @ self.frame
        axis = self.family.zonal.direction
        lower = np.array([1.0, axis @ mean, axis @ second @ axis])
        white = (polynomials - lower @ self.lowered) @ self.change
        upper = np.triu_indices(len(mean))
        return np.concatenate([away @ self.frame, forms[upper] * self._scale, white])

    def gradient(self, law: AxisLaw) -> Array:
        """Of the dual with its sign changed, at a law."""
        known = law.mass @ self.family.polynomials(law.heights)
        return self.of_moments(*law.moments(), known) - self.target

    def natural(self, z: Array) -> tuple[Array, Array, Array]:
        """Change of η, B and λ along ``z``."""
        d, k = len(self.mean), len(self.change)
        forms = np.zeros((d, d))
        forms[np.triu_indices(d)] = 0.5 * z[d : len(z) - k] * self._scale
        forms = self.frame @ (forms + forms.T) @ self.frame.T
        more = self.change @ z[len(z) - k :]
        pull, bend = (self.lowered @ more)[1:]
        axis = self.family.zonal.direction
        eta = self.frame @ z[:d] - 2.0 * forms @ self.mean - pull * axis
        return eta, forms - bend * np.outer(axis, axis), more

    def parameters(self, z: Array) -> Array:
        """The same as parameters of the features, (q,)."""
        eta, forms, more = self.natural(z)
        return np.concatenate([self.family.first.parameters(eta, forms), more])

    def rise(self, z: Array, law: AxisLaw) -> float:
        """By how much the dual at ``z``, where the law is, exceeds that of the quadratics alone."""
        eta, forms, more = self.natural(z)
        shift = float(np.trace(forms)) / len(self.mean)  # parameters have none
        gained = eta @ self.mean + np.vdot(forms, self.second) - shift + more @ self.means
        return float(gained) - (law.psi - self.psi)
