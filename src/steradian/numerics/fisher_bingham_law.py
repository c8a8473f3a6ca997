"""One Fisher-Bingham law in the coordinates of its user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham_fit import Curvature
from steradian.numerics.fisher_bingham_sample import draw


@dataclass(frozen=True, slots=True)
class FisherBinghamLaw:
    """exp(ηᵀx + xᵀBx - ψ): the eigenbasis of B and what the contour gives in it."""

    axes: Array  # (d, d), columns are eigenvectors of B
    terms: FisherBinghamTerms  # a stack of one

    @classmethod
    def of(cls, eta: Array, quadratic: Array) -> FisherBinghamLaw:
        """From η (d,) and symmetric B (d, d)."""
        beta, axes = np.linalg.eigh(quadratic)
        return cls(axes, fisher_bingham(beta[None], (axes.T @ eta)[None]))

    @property
    def psi(self) -> float:
        """Log-partition."""
        return float(self.terms.psi[0])

    @property
    def deficit(self) -> float:
        """KL divergence from uniform, nats, without cancellation."""
        variances = np.diagonal(self.terms.covariance()[0])
        return self.terms.dual(self.terms.mean[0], variances)

    @property
    def error(self) -> float:
        """Estimated relative error of the contour integral."""
        return float(self.terms.error[0])

    def mean(self) -> Array:
        """E x, (d,)."""
        return self.axes @ self.terms.mean[0]

    def covariance(self) -> Array:
        """Cov x, (d, d)."""
        return self.axes @ self.terms.covariance()[0] @ self.axes.T

    def hessian_product(self, eta: Array, quadratic: Array) -> tuple[Array, Array]:
        """Change of E x and E xxᵀ when η and B move along (``eta``, ``quadratic``)."""
        curvature = Curvature.at(self.terms)
        mean = curvature.mean
        q = self.axes.T @ quadratic @ self.axes
        change, second = curvature.product((self.axes.T @ eta + 2.0 * q @ mean, q))
        second = second + np.outer(mean, change) + np.outer(change, mean)
        return self.axes @ change, self.axes @ second @ self.axes.T

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, float]:
        """``n`` exact draws (n, d) and the acceptance rate."""
        x, rate = draw(self.terms.p[0], self.terms.b[0], n, rng)
        return x @ self.axes.T, rate
