"""A law that somebody holds as a reference: a fit, or a Fisher-Bingham law."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.references.base import log_reference, reference_rows
from steradian.references.density import Density
from steradian.spaces.base import Rule, Space


class DrawnLaw(Protocol):
    """A law with a density against the uniform law of its space, and draws."""

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, d): (n,)."""
        ...

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` draws, (n, d)."""
        ...


@dataclass(frozen=True, slots=True)
class LawReference:
    """A law of a space, integrated by the rules of the space and drawn from by its own sampler."""

    space: Space
    law: DrawnLaw
    words: str

    @property
    def _density(self) -> Density:
        return Density(self.space, _Values(self.law), self.words)

    @property
    def known_by(self) -> float:
        return reference_rows(self.space)

    @property
    def rough(self) -> bool:
        return bool(self.space.rules()) and self._density.rough

    def rules(self) -> int:
        return self._density.rules() if self.space.rules() else 0

    def rule(self, rung: int) -> Rule:
        return self._density.rule(rung)

    def logpdf(self, x: Array) -> Array:
        already = log_reference(self.space, x)  # where the law is itself relative to another
        return np.asarray(self.law.logpdf(x) + (0.0 if already is None else already))

    @property
    def parts(self) -> IntArray:
        """As `Density.parts`."""
        return self._density.parts if self.space.rules() else np.empty(0, dtype=np.int64)

    def missed_rows(self, x: Array) -> BoolArray:
        """As `Density.missed_rows`; none where there are no rules."""
        return self._density.missed_rows(x) if self.space.rules() else np.zeros(len(x), dtype=bool)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.law.sample(n, rng)


@dataclass(frozen=True, slots=True)
class _Values:
    """The density of a law as a function, equal for equal laws."""

    law: DrawnLaw

    def __call__(self, x: Array) -> Array:
        return np.asarray(np.exp(self.law.logpdf(x)))
