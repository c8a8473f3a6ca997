"""Families relative to another law than the uniform one, on rules that carry its density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.nodes.family import NodeFamily
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import ROUGH_REFERENCE
from steradian.references.base import is_rough

_NOISE_SHARE = 0.02  # of what noise gives that integration may be off by: 2n error is 0.02 features


@dataclass(frozen=True, slots=True)
class AgainstFamily(NodeFamily):
    """p ∝ p₀ exp(λ·φ) with the features of levels 1..level of ``hierarchy``.

    Everything is that of `NodeFamily`, whose rules integrate against p₀. Where p₀ has edges that
    its rules do not know, they differ by more than rounding: the finest one serves then, what it
    differs by from the one before is stated, and a sample so large that this is felt is refused.
    """

    @property
    def noise_share(self) -> float:
        return _NOISE_SHARE

    @property
    def noise_remedy(self) -> str:
        return "give its edges, by sr.Mask, or a smoother reference"

    def _allowed(self, difference: float) -> float:
        return max(difference, ROUGH_REFERENCE) if self._rough else difference

    def _first_rungs(self, start: Array) -> IntArray:
        if self._rough:
            return np.full(len(start), self._rungs - 1)
        return NodeFamily._first_rungs(self, start)

    def _peak_rungs(self, lam: Array) -> tuple[int, int]:
        """The rule that resolves the law, and the one before: finer ones may have many nodes."""
        fine = self._resolving(lam[None])
        return fine, max(fine - 1, 0)

    @property
    def _rough(self) -> bool:
        return is_rough(self.hierarchy.space)
