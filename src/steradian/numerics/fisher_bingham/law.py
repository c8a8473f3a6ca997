"""One Fisher-Bingham law in the coordinates of its user."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.curvature import Curvature
from steradian.numerics.fisher_bingham.fit import FisherBinghamFits
from steradian.numerics.fisher_bingham.gap import deficit_and_gap
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.fisher_bingham.sample import draw, weighted_points
from steradian.numerics.fisher_bingham.shape import shape_of


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

    @classmethod
    def fitted(cls, fits: FisherBinghamFits, row: int) -> FisherBinghamLaw:
        """The law of one fit, in the eigenbasis it was found in.

        Rounding of the parameters of a very sharp law moves it by more than its moments are
        known to; an eigenbasis of its own, and η in it, hold the digits that the matrix B cannot.
        """
        return cls(fits.axes[row], fisher_bingham(fits.beta[row][None], fits.b[row]))

    @property
    def psi(self) -> float:
        """Log-partition."""
        return float(self.terms.psi[0])

    def deficit_and_gap(self) -> tuple[float, float]:
        """D₁ of the mean and I₂ = D₂ - D₁, nats, with relative accuracy near uniform too."""
        return deficit_and_gap(self.terms)

    @property
    def deficit(self) -> float:
        """KL divergence from uniform, nats."""
        return sum(self.deficit_and_gap())

    @property
    def error(self) -> float:
        """Estimated relative error of the contour integral."""
        return float(self.terms.error[0])

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d): (n,)."""
        return self.terms.log_density(x @ self.axes)

    @property
    def shape(self) -> str:
        """What it looks like, in a word."""
        return shape_of(self.terms.beta[0], self.terms.b[0], self.terms.log_density)

    def mean(self) -> Array:
        """E x, (d,)."""
        return self.axes @ self.terms.mean[0]

    def covariance(self) -> Array:
        """Cov x, (d, d)."""
        return self.axes @ self.terms.covariance()[0] @ self.axes.T

    def hessian_product(self, eta: Array, quadratic: Array) -> tuple[Array, Array]:
        """Change of E x and E xxᵀ when η and B move along (``eta``, ``quadratic``).

        One direction (d,), (d, d), or a stack (…, d), (…, d, d) of them.
        """
        curvature = Curvature.of(self.terms, np.ones(1), Partition.whole(len(self.axes)))
        mean, q = self.terms.mean[0], self.axes.T @ quadratic @ self.axes
        linear = eta @ self.axes + 2.0 * q @ mean
        changes, second = curvature.product((linear[..., None, :], q))
        shape = quadratic.shape[:-1]
        change = changes.reshape(shape)
        cross = mean[:, None] * change[..., None, :]
        second = second.reshape(quadratic.shape) + cross + cross.swapaxes(-1, -2)
        return change @ self.axes.T, self.axes @ second @ self.axes.T

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws (n, d); fewer where the sampler keeps too few of its proposals."""
        return self.draws(n, rng)[0]

    def draws(self, n: int, rng: np.random.Generator) -> tuple[Array, float]:
        """The same with the acceptance rate."""
        x, rate = draw(self.terms.p[0], self.terms.b[0], n, rng)
        return x @ self.axes.T, rate

    def weighted(self, normal: Array) -> tuple[Array, Array]:
        """Points (n, d) that stand for the law, of weights (n,) of mean about one.

        From standard normal numbers (n, d), such as those of a quasi-random sequence.
        """
        x, logs = weighted_points(self.terms.p[0], self.terms.b[0], normal)
        weights = np.exp(logs - logs.max())
        return x @ self.axes.T, weights / weights.mean()
