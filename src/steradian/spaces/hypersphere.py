"""Unit spheres of four and more dimensions: linear features, no grid."""

from __future__ import annotations

from dataclasses import dataclass
from math import lgamma, log, pi

import numpy as np

from steradian.numerics.arrays import AnyArray, Array


@dataclass(frozen=True)
class Hypersphere:
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
        if degree > 1:
            raise NotImplementedError(f"harmonics of degree {degree} in dimension {self.d}")
        return 1 + degree * self.d

    def harmonics(self, x: AnyArray, degree: int) -> AnyArray:
        ones = np.ones((len(x), 1), dtype=x.dtype)
        if self.size(degree) == 1:
            return ones
        return np.hstack([ones, np.sqrt(np.asarray(self.d, dtype=x.dtype)) * x])

    def uniform(self, n: int, rng: np.random.Generator) -> Array:
        x = rng.standard_normal((n, self.d))
        return x / np.linalg.norm(x, axis=1, keepdims=True)
