"""Levels of polynomials above the second: by the rules of the space, or relative to level 2."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.families.nodes.family import NodeFamily
from steradian.families.relative.family import RelativeFamily
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import PRODUCT_RULE, VERIFIED_AIM

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy


def polynomial_family(hierarchy: Hierarchy, level: int) -> NodeFamily:
    """The family of a level, whose features are polynomials of at most its degree."""
    kind = RuledFamily if hierarchy.space.rules() else RelativeFamily
    return kind(hierarchy, level)


@dataclass(frozen=True, slots=True)
class RuledFamily(NodeFamily):
    """By product rules as far as these resolve a law, then by quasi-random nodes."""

    @property
    def noise_share(self) -> float:
        return self._otherwise.noise_share

    @property
    def noise_remedy(self) -> str:
        return self._otherwise.noise_remedy

    @property
    def _otherwise(self) -> RelativeFamily:
        return RelativeFamily(self.hierarchy, self.level)

    def _allowed(self, difference: float) -> float:
        """More is accepted, and stated, than where finer rules would be at hand."""
        return difference if difference <= VERIFIED_AIM else PRODUCT_RULE

    def solve(
        self, moments: MomentStack, start: Array, support: Support | None = None
    ) -> DualSolution:
        out = NodeFamily.solve(self, moments, start, support)
        left = np.flatnonzero(out.status == Status.UNRESOLVED)
        if len(left) and moments.sought:
            found = self._otherwise.solve(moments.take(left), start[left])
            better = found.status == Status.CONVERGED
            out.put(left[better], found.take(np.flatnonzero(better)))
        return out

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        try:
            return NodeFamily.log_partition(self, lam)
        except ResolutionError:
            return self._otherwise.log_partition(lam)

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        try:
            return NodeFamily.expectations(self, lam, wide)
        except ResolutionError:
            return self._otherwise.expectations(lam, wide)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        try:
            return NodeFamily.sample(self, lam, n, rng)
        except ResolutionError:
            return self._otherwise.sample(lam, n, rng)

    def deficit_on(self, reach: float, m: Array, lam: Array) -> float:
        """NaN where no rule has served."""
        known = self.known != NO_RUNG
        return NodeFamily.deficit_on(self, reach, m, lam) if known else float("nan")
