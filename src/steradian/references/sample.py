"""A sample as a reference: what was seen elsewhere, or of everybody."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from steradian.numerics.arrays import Array
from steradian.spaces.base import Rule


@dataclass(frozen=True, slots=True, eq=False)
class SampledReference:
    """The law of n₀ rows, of which the law behind them is known no better than that.

    Integrals are sums over the rows. What they miss of the law behind them is not an error of
    integration but noise, of the size of n₀ rows: tests take n n₀ / (n + n₀) for n, and intervals
    add Var_{p₀}(p_L / p₀) / n₀.
    """

    points: Array  # (n₀, d)
    weights: Array  # (n₀,), of sum one
    words: str = field(default="a sample")

    @property
    def known_by(self) -> float:
        return float(1.0 / (self.weights @ self.weights))

    @property
    def rough(self) -> bool:
        return False

    def rules(self) -> int:
        return 2

    def rule(self, rung: int) -> Rule:  # noqa: ARG002 - a sum has no error, so one serves for both
        return Rule(self.points, self.weights)

    def logpdf(self, x: Array) -> None:  # noqa: ARG002
        return None

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.points[rng.choice(len(self.points), n, p=self.weights)]
