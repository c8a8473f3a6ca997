"""Families relative to another law than the uniform one, on rules that carry its density."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.families.nodes.family import NodeFamily
from steradian.fitting.solution import DualSolution
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import ROUGH_MARGIN, ROUGH_REFERENCE
from steradian.references.base import is_rough, rough_parts

_STANDARD_ERRORS = 5.0  # that are stated: of sixteen parts, one in six thousand is off by more
_NOISE_SHARE = 0.02  # of what noise gives that integration may be off by: 2n error is 0.02 features


@dataclass(frozen=True, slots=True)
class AgainstFamily(NodeFamily):
    """p ∝ p₀ exp(λ·φ) with the features of levels 1..level of ``hierarchy``.

    Everything is that of `NodeFamily`, whose rules integrate against p₀. Where p₀ has edges that
    its rules do not know, they differ by more than rounding: the finest one serves then, what its
    independent parts differ by is stated, and a sample so large that this is felt is refused.
    """

    @property
    def noise_share(self) -> float:
        parts = len(rough_parts(self.hierarchy.space))
        return _NOISE_SHARE * (_STANDARD_ERRORS if parts else 1.0)  # of one standard error

    @property
    def noise_remedy(self) -> str:
        return "give its edges, by sr.Mask, or a smoother reference"

    def _allowed(self, difference: float) -> float:
        return max(difference, ROUGH_REFERENCE) if self._rough else difference

    def _first_rungs(self, start: Array) -> IntArray:
        if self._rough:
            return np.full(len(start), self._rungs - 1)
        return NodeFamily._first_rungs(self, start)

    def _difference(self, rung: int, found: DualSolution, m: Array) -> Array:
        """Nats that rules differ by; five standard errors of one that has independent parts.

        Of parts b that carry A_b of the law and B_b of the reference, ψ has the error of the mean
        of A_b - B_b. The fit itself moves with the means that parts have of its features, which
        costs half the square of that, in units of the covariance.
        """
        starts = rough_parts(self.hierarchy.space)
        apart = NodeFamily._difference(self, rung, found, m)
        if not len(starts):
            return ROUGH_MARGIN * apart if self._rough else apart
        nodes = self._nodes(rung)
        starts = starts[starts < len(nodes)]
        for row in np.flatnonzero(np.isfinite(found.lam).all(axis=1)):
            root = nodes.root(found.lam[row : row + 1])
            mass = nodes.masses(found.lam[row : row + 1])[1][0]
            away = np.add.reduceat(mass - nodes.weights, starts)
            means = np.add.reduceat(mass[:, None] * (nodes.phi - root.mean[0]), starts, axis=0)
            steps = root.newton(means)
            squared = len(starts) * np.einsum("bq,bq->b", means, steps).sum()
            apart[row] = _STANDARD_ERRORS * np.sqrt(len(starts)) * away.std(ddof=1)
            apart[row] += 0.5 * _STANDARD_ERRORS**2 * squared / (len(starts) - 1)
        return apart

    def _peak_rungs(self, lam: Array) -> tuple[int, int]:
        """The rule that resolves the law, and the one before: finer ones may have many nodes."""
        fine = self._resolving(lam[None])
        return fine, max(fine - 1, 0)

    @property
    def _rough(self) -> bool:
        return is_rough(self.hierarchy.space)
