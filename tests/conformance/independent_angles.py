"""A family and a hierarchy of one's own, whole: independent angles, as many as there are.

One level, √2 cos θ_j and √2 sin θ_j of k angles. Its distributions are products of von Mises ones,
ψ = Σ log I₀(κ_j) with κ_j = √2 |λ_j|, so that no rule of nodes is needed; the package has rules for
up to four angles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import i0e, i1e

from steradian.existence.placement import Verdict
from steradian.families import Family
from steradian.hierarchies import Hierarchy
from steradian.spaces import Torus


@dataclass(frozen=True, slots=True)
class IndependentAngles(Hierarchy):
    """The mean direction of each of ``k`` angles."""

    k: int
    levels: int = 1

    @property
    def space(self) -> Torus:
        return Torus(self.k)

    @property
    def dims(self) -> tuple[int, ...]:
        return (2 * self.k,)

    @property
    def level_names(self) -> tuple[str, ...]:
        return ("mean directions",)

    def features(self, x: Any) -> Any:
        return np.sqrt(2.0) * x

    def coordinates(self, features: Any) -> Any:
        return features / np.sqrt(2.0)

    def family(self, level: int) -> ProductFamily:  # noqa: ARG002 - there is one
        return ProductFamily(self)


@dataclass(frozen=True, slots=True)
class ProductFamily(Family):
    """Products of von Mises distributions."""

    hierarchy: IndependentAngles

    @property
    def q(self) -> int:
        return 2 * self.hierarchy.k

    @property
    def domain(self) -> Torus:
        return self.hierarchy.space

    def features(self, x: Any) -> Any:
        return self.hierarchy.features(x)

    def log_partition(self, lam: Any) -> Any:
        each = lam.reshape(len(lam), -1, 2)  # (B, k, 2)
        length = np.linalg.norm(each, axis=2)
        kappa = np.sqrt(2.0) * length
        ratio = i1e(kappa) / i0e(kappa)
        axis = each / np.maximum(length, 1e-300)[..., None]
        # E cosine² along the axis is 1 - ratio / κ, and across it ratio / κ
        across = np.where(kappa > 0.0, ratio / np.maximum(kappa, 1e-300), 0.5)
        along = 1.0 - across - ratio**2
        outer = axis[..., :, None] * axis[..., None, :]
        blocks = 2.0 * (
            across[..., None, None] * (np.eye(2) - outer) + along[..., None, None] * outer
        )
        covariance = np.zeros((len(lam), self.q, self.q))
        for j in range(self.hierarchy.k):
            covariance[:, 2 * j : 2 * j + 2, 2 * j : 2 * j + 2] = blocks[:, j]
        psi = (np.log(i0e(kappa)) + kappa).sum(axis=1)
        return psi, (np.sqrt(2.0) * ratio[..., None] * axis).reshape(lam.shape), covariance

    def expectations(self, lam: Any, wide: Any) -> Any:  # noqa: ARG002 - there is no wider one
        return self.log_partition(lam)[1]

    def contains(self, moments: Any) -> Any:
        """A fit exists unless an angle is the same in all rows."""
        each = moments.features.reshape(len(moments), -1, 2)
        inside = (np.linalg.norm(each, axis=2) < np.sqrt(2.0) * (1.0 - 1e-12)).all(axis=1)
        return np.where(inside, int(Verdict.INSIDE), int(Verdict.OUTSIDE))
