"""White features of level 2 about one axis, as residuals in high dimension read them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.polar_whitening import PolarWhitening as PolarStack
from steradian.families.polar_whitening import polar_whitening
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array


@dataclass(frozen=True, slots=True)
class PolarWhitening:
    """A stack of one, with its numbers by name."""

    axis: Array  # (d,)
    moments: tuple[float, ...]

    @property
    def _stack(self) -> PolarStack:
        return PolarStack(self.axis[None], np.array([self.moments]))

    @property
    def q(self) -> int:
        """Features that level 2 adds."""
        return self._stack.q

    def score(self, mean: Array, second: Array) -> float:
        """|Σ w ζ_added|² from E x and E xxᵀ alone."""
        return float(self._stack.score_of(mean[None], second[None])[0])


def whitening(hierarchy: Hierarchy, level: int, lam: Array) -> PolarWhitening:  # noqa: ARG001
    """White features of level 2 under the von Mises-Fisher fit ``lam`` (1, d)."""
    stack = polar_whitening(hierarchy.space.d, lam)
    return PolarWhitening(stack.axes[0], tuple(stack.moments[0].tolist()))
