"""How the gaps move when a little of another law is mixed into the data."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from steradian.moments import Moments
from steradian.nested import fit_levels
from steradian.numerics.arrays import Array
from steradian.shrinkage import Shrinkage, Target

DEFAULT_EPSILONS = (0.0, 0.001, 0.003, 0.01, 0.03, 0.1)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Sensitivity:
    """Gaps against the share ε of the law mixed in, for both kinds of shrinkage.

    Attributes
    ----------
    epsilon : array, (K,)
        Shares; 0 is the data themselves.
    uniform, below : arrays, (K, L)
        Gaps in nats after mixing with the uniform law, and with the level below. NaN where
        a level does not exist.
    """

    epsilon: Array
    uniform: Array
    below: Array

    def __repr__(self) -> str:
        return f"Sensitivity({len(self.epsilon)} shares, {self.uniform.shape[1]} levels)"

    def __str__(self) -> str:
        head = "".join(f"{f'I{k + 1}':>8}" for k in range(self.uniform.shape[1]))
        width = len(head)
        lines = [
            "Gaps in nats when a share of another law is mixed into the data",
            f"{'share':>6}  {'with uniform':^{width}}  {'with the level below':^{width}}",
            f"{'':>6}  {head}  {head}",
        ]
        for k, epsilon in enumerate(self.epsilon):
            rows = ["".join(f"{g:>8.4f}" for g in part[k]) for part in (self.uniform, self.below)]
            lines.append(f"{epsilon:>6g}  {rows[0]}  {rows[1]}")
        return "\n".join(lines)


def shrinkage_sensitivity(
    moments: Moments, epsilons: Sequence[float] = DEFAULT_EPSILONS
) -> Sensitivity:
    """Fit the same moments under growing shrinkage of both kinds."""
    return Sensitivity(
        np.array(epsilons, dtype=np.float64),
        _table(moments, epsilons, "uniform"),
        _table(moments, epsilons, "below"),
    )


def _table(moments: Moments, epsilons: Sequence[float], toward: Target) -> Array:
    rows = []
    for epsilon in epsilons:
        shrinkage = Shrinkage(epsilon, toward) if epsilon else None
        rows.append(fit_levels(moments.hierarchy, moments.stack(), None, shrinkage).gaps[0])
    return np.stack(rows)
