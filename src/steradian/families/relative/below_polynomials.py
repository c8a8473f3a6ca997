"""Levels 1 and 2 below levels of higher polynomials: the same laws, seen by more features.

Means of polynomials under von Mises-Fisher and Fisher-Bingham laws are exact, so that nothing above
these levels need be integrated to know what they leave over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.families.quadratics.blocks import LinearFamily
from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.fisher_bingham.polynomials import polynomial_means

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


@dataclass(frozen=True, slots=True)
class LinearBelow(LinearFamily):
    """Level 1 below polynomials."""

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        return means_of_laws([FisherBinghamLaw.of(*self.natural(row)) for row in lam], wide)


@dataclass(frozen=True, slots=True)
class QuadraticBelow(FisherBinghamFamily):
    """Level 2 below polynomials."""

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        return means_of_laws([self.law(row) for row in lam], wide)


def means_of_laws(laws: list[FisherBinghamLaw], wide: Hierarchy) -> Array:
    """E φ of the features of ``wide``, level l of which are polynomials of degree l: (B, q)."""
    means = [polynomial_means(law, wide.features, wide.levels) for law in laws]
    return np.array(means).reshape(-1, wide.q(wide.levels))
