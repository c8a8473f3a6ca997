"""Unit spheres of four and more dimensions: linear and quadratic features, no grid."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np

from steradian.numerics.arrays import AnyArray, Array
from steradian.numerics.quadratics import quadratic_features, quadratic_size
from steradian.spaces.base import Rule
from steradian.spaces.unit_vectors import UnitVectors


@dataclass(frozen=True)
class Hypersphere(UnitVectors):
    """Unit vectors of R^d, with the uniform law."""

    d: int

    @property
    def name(self) -> str:
        return f"sphere in R^{self.d}"

    @property
    def log_area(self) -> float:
        half = 0.5 * self.d
        return log(2.0) + half * log(pi) - lgamma(half)

    def size(self, degree: int) -> int:
        if degree > 2:
            raise NotImplementedError(f"harmonics of degree {degree} in dimension {self.d}")
        return (1, 1 + self.d, 1 + self.d + quadratic_size(self.d))[degree]

    def harmonics(self, x: AnyArray, degree: int) -> AnyArray:
        parts = [np.ones((len(x), 1), dtype=x.dtype)]
        if degree >= 1:
            parts.append(np.sqrt(np.asarray(self.d, dtype=x.dtype)) * x)
        if degree >= 2:
            parts.append(quadratic_features(x))
        return np.hstack(parts)

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        x = rng.standard_normal((n, self.d))
        return x / np.linalg.norm(x, axis=1, keepdims=True)

    def rules(self) -> int:
        return 0

    def rule(self, rung: int) -> Rule:
        raise NotImplementedError(f"rule {rung} on the {self.name}: there is none")
