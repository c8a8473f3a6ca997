"""Fisher-Bingham laws of a few coordinates, in any dimension: exp(η·y + yᵀBy), y = Uᵀx in R^k.

In R^d they have η and B within the subspace, so that the d - k coordinates across it share one θ:
the contour integral takes k + 1 columns, the last of which counts them (see `integral`). Given a
node y is Gaussian, so that means and covariances of quadratics of y need the first k alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.fisher_bingham.curvature import Curvature
from steradian.numerics.fisher_bingham.integral import FisherBinghamTerms, fisher_bingham
from steradian.numerics.fisher_bingham.partition import Partition
from steradian.numerics.fisher_bingham.sample import draw
from steradian.numerics.linalg import on_diagonal


@dataclass(frozen=True, slots=True)
class Quadratics:
    """Functions g·(y - c) + (y - c)ᵀQ(y - c), for a stack (R, …) of laws or for all of them."""

    linear: Array  # (…, q, k): g
    forms: Array  # (…, q, k, k): Q, symmetric
    centre: Array  # (…, k): c

    def take(self, rows: IntArray | slice) -> Quadratics:
        """Those of some rows of a stack."""
        return Quadratics(self.linear[rows], self.forms[rows], self.centre[rows])

    def first(self, q: int) -> Quadratics:
        """The first ``q`` of them."""
        return Quadratics(self.linear[..., :q, :], self.forms[..., :q, :, :], self.centre)

    def mixed(self, matrix: Array) -> Quadratics:
        """Combinations of them, by matrices (R, q, q)."""
        forms = np.einsum("rpq,rqkl->rpkl", matrix, self.forms)
        return Quadratics(matrix @ self.linear, forms, self.centre)

    def natural(self, lam: Array) -> tuple[Array, Array]:
        """η (R, k) and B (R, k, k) of the exponents Σ lam f, ``lam`` (R, q), but for constants."""
        form = (lam[..., None, None] * self.forms).sum(axis=-3)
        linear = (lam[..., None] * self.linear).sum(axis=-2)
        return linear - 2.0 * (form @ self.centre[..., None])[..., 0], form


@dataclass(frozen=True, slots=True)
class SubspaceLaws:
    """R laws, in eigenbases of their B."""

    axes: Array  # (R, k, k), columns are eigenvectors
    terms: FisherBinghamTerms  # of k + 1 columns

    @classmethod
    def of(cls, eta: Array, quadratic: Array, d: int) -> SubspaceLaws:
        """From η (R, k) and symmetric B (R, k, k) in R^d."""
        k = eta.shape[1]
        beta, axes = np.linalg.eigh(quadratic)
        rotated = (eta[:, None, :] @ axes)[:, 0, :]
        none = np.zeros((len(eta), 1))
        counts = np.append(np.ones(k), d - k)
        terms = fisher_bingham(np.hstack([beta, none]), np.hstack([rotated, none]), counts=counts)
        return cls(axes, terms)

    @property
    def k(self) -> int:
        """Coordinates."""
        return self.axes.shape[1]

    @property
    def psi(self) -> Array:
        """Log-partitions, (R,)."""
        return self.terms.psi

    @property
    def error(self) -> Array:
        """Estimated relative errors of the contour integrals, (R,)."""
        return self.terms.error

    @property
    def mean(self) -> Array:
        """E y, (R, k)."""
        return self._back(self.terms.mean[:, : self.k])

    @property
    def covariance(self) -> Array:
        """Cov y, (R, k, k)."""
        within = self.terms.columns(self.k).covariance()
        return np.asarray(self.axes @ within @ self.axes.swapaxes(1, 2))

    @property
    def across(self) -> Array:
        """The variance of each coordinate across the subspace, (R,)."""
        return self.terms.v_mean[:, self.k]

    def duals(self, m: Array, scatter: Array) -> Array:
        """η·m + tr B (S + mmᵀ) - ψ for means (R, k) and covariances (R, k, k) of y, (R,)."""
        rest = 1.0 - np.einsum("rk,rk->r", m, m) - on_diagonal(scatter).sum(axis=1)
        within = np.einsum("rki,rkl,rli->ri", self.axes, scatter, self.axes)
        there = np.column_stack([self.turned(m), np.zeros(len(m))])
        return self.terms.duals(there, np.column_stack([within, rest]))

    def means(self, functions: Quadratics) -> Array:
        """Means (R, q) of quadratics of y."""
        return _Turned.of(self, functions).means

    def moments(self, functions: Quadratics) -> tuple[Array, Array]:
        """The same with covariances (R, q, q)."""
        turned, k = _Turned.of(self, functions), self.k
        curvature = Curvature.of(self.terms.columns(k), np.ones(1), Partition.whole(k))
        forms, mean = turned.forms, turned.means
        slopes = turned.linear + 2.0 * (forms @ turned.away[:, None, :, None])[..., 0]
        covariance = np.empty((*mean.shape, mean.shape[1]))
        for j in range(mean.shape[1]):
            change, second = curvature.product((slopes[:, j, None], forms[:, j]))
            covariance[:, j] = np.einsum("rqk,rk->rq", slopes, change[:, 0])
            covariance[:, j] += np.einsum("rqkl,rkl->rq", forms, second)
        return mean, 0.5 * (covariance + covariance.swapaxes(1, 2))

    def nodes(self, degree: int) -> tuple[AnyArray, AnyArray]:
        """Complex points (R, N, k) and weights (R, N) exact for polynomials of this degree."""
        z, share = _gaussian_rule(self.k, degree)
        v, b = self.terms.v[:, :, : self.k], self.terms.b[:, None, : self.k]
        points = (b * v)[:, :, None, :] + np.sqrt(v)[:, :, None, :] * z
        rows, inner = len(points), points.reshape(len(points), -1, self.k)
        weights = (self.terms.weights[:, :, None] * share).reshape(rows, -1)
        return inner @ self.axes.swapaxes(1, 2), weights

    def logpdf(self, y: Array, z: Array) -> Array:
        """Log-density of the first law at y (n, k) and lengths ``z`` (n,) of what is across."""
        return self.terms.log_density(np.column_stack([y @ self.axes[0], z]))

    def sample(self, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """``n`` draws of y (n, k) and z (n,) of the first law; fewer where too few are kept."""
        counts = self.terms.counts[0].astype(np.int64)
        x, _ = draw(np.repeat(self.terms.p[0], counts), np.repeat(self.terms.b[0], counts), n, rng)
        return x[:, : self.k] @ self.axes[0].T, np.linalg.norm(x[:, self.k :], axis=1)

    def turned(self, y: Array) -> Array:
        """Coordinates (R, k) in the eigenbases."""
        return np.asarray((y[:, None, :] @ self.axes)[:, 0, :])

    def _back(self, y: Array) -> Array:
        return np.asarray((self.axes @ y[:, :, None])[:, :, 0])


@dataclass(frozen=True, slots=True)
class _Turned:
    """Quadratics in the eigenbases of laws."""

    covariance: Array  # (R, k, k) of the laws
    linear: Array  # (R, q, k)
    forms: Array  # (R, q, k, k)
    away: Array  # (R, k): mean of the law, from the centre of the quadratics

    @classmethod
    def of(cls, laws: SubspaceLaws, functions: Quadratics) -> _Turned:
        terms, axes = laws.terms.columns(laws.k), laws.axes
        centre = np.broadcast_to(functions.centre, (len(axes), laws.k))
        forms = axes[:, None].swapaxes(2, 3) @ functions.forms @ axes[:, None]
        away = terms.mean - laws.turned(centre)
        return cls(np.asarray(terms.covariance()), functions.linear @ axes, forms, away)

    @property
    def means(self) -> Array:
        """Of the quadratics, (R, q)."""
        about = self.covariance + self.away[:, :, None] * self.away[:, None, :]
        return np.asarray(
            np.einsum("rqk,rk->rq", self.linear, self.away)
            + np.einsum("rqkl,rkl->rq", self.forms, about)
        )


@lru_cache(maxsize=32)
def _gaussian_rule(k: int, degree: int) -> tuple[Array, Array]:
    """Points (N, k) and weights (N,) for the standard Gaussian, exact to this degree."""
    at, weight = np.polynomial.hermite_e.hermegauss(degree // 2 + 1)
    weight = weight / weight.sum()
    points = np.array(list(product(at, repeat=k)))
    return points, np.array([np.prod(each) for each in product(weight, repeat=k)])
