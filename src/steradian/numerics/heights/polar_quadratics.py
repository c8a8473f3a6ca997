"""Covariances of coordinates and their products under a von Mises-Fisher law, in closed form.

With ``t = μ·x`` the height along the axis, symmetry leaves few numbers: the tensors of moments are

    E x = a₁ μ,   E xx = a₂ μμ + b₂ δ,   E xxx = a₃ μμμ + b₃ [δμ],
    E xxxx = a₄ μμμμ + b₄ [δμμ] + c₄ [δδ],

with [·] the sum over all ways to place the indices (3 of δμ, 6 of δμμ, 3 of δδ).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.numerics.arrays import Array
from steradian.numerics.heights.polar_angle import PolarAngle
from steradian.numerics.quadratics import Pairs


@dataclass(frozen=True, slots=True)
class PolarTensors:
    """The moments of x through degree four under exp(κ μ·x)."""

    axis: Array  # (d,): μ
    mean: float  # a₁
    second: tuple[float, float]  # a₂, b₂
    third: tuple[float, float]
    fourth: tuple[float, float, float]

    @classmethod
    def of(cls, eta: Array) -> PolarTensors:
        """Of the law exp(η·x), ``eta`` (d,)."""
        d, kappa = len(eta), float(np.linalg.norm(eta))
        axis = eta / kappa if kappa else np.eye(d)[0]
        heights = PolarAngle.of(d, np.array([kappa]))
        t, k = heights.t[0], d - 1.0

        def mean(values: Array) -> float:
            return float(heights.mean(values[None])[0])

        across = heights.sine[0] ** 2
        b2, b3 = mean(across) / k, mean(t * across) / k
        c4 = mean(across**2) / (k * (k + 2.0))
        b4 = mean(t * t * across) / k - c4
        a4 = mean(t**4) - 6.0 * b4 - 3.0 * c4
        second, third = (mean(t * t) - b2, b2), (mean(t**3) - 3.0 * b3, b3)
        return cls(axis, mean(t), second, third, (a4, b4, c4))

    def covariance(self, pairs: Pairs) -> Array:
        """Of (x, x_i x_j for the ``pairs``), (d + p, d + p); i and j may be the same."""
        mu, (i, j) = self.axis, pairs
        u = mu[i] * mu[j]
        same = (i == j).astype(np.float64)
        (a2, b2), (a3, b3), (a4, b4, c4) = self.second, self.third, self.fourth
        linear = a2 * np.outer(mu, mu) + b2 * np.eye(len(mu))
        at_i, at_j = (np.eye(len(mu))[:, index] for index in pairs)
        mixed = a3 * np.outer(mu, u) + b3 * (np.outer(mu, same) + at_i * mu[j] + at_j * mu[i])
        ii, ij, ji, jj = (
            (one[:, None] == other).astype(np.float64) for one in pairs for other in pairs
        )
        crossed = ii * np.outer(mu[j], mu[j]) + ij * np.outer(mu[j], mu[i])
        crossed += ji * np.outer(mu[i], mu[j]) + jj * np.outer(mu[i], mu[i])
        crossed += np.outer(same, u) + np.outer(u, same)
        quadratic = a4 * np.outer(u, u) + b4 * crossed
        quadratic += c4 * (np.outer(same, same) + ii * jj + ij * ji)
        mean = self.means(pairs)
        return np.block([[linear, mixed], [mixed.T, quadratic]]) - np.outer(mean, mean)

    def means(self, pairs: Pairs) -> Array:
        """Of the same, (d + p,)."""
        mu, (i, j) = self.axis, pairs
        products = self.second[0] * mu[i] * mu[j] + self.second[1] * (i == j)
        return np.concatenate([self.mean * mu, products])
