"""The answers of families that have nothing more to say, and of those in closed form."""

from __future__ import annotations

from typing import Protocol, Self

import numpy as np

from steradian.existence.certificate import Certificate
from steradian.existence.margin import Closest, Evidence
from steradian.existence.placement import Placement, Verdict
from steradian.families.base import Law, QuickRefits
from steradian.numerics.arrays import Array


class BareFamily:
    """Capabilities that are not there, each in the way `Family` asks for."""

    __slots__ = ()

    def resolved_by(self, rung: int) -> Self:  # noqa: ARG002
        return self

    def refits(self, lam: Array) -> QuickRefits | None:  # noqa: ARG002
        return None

    @property
    def closed_leftover(self) -> bool:
        return False

    def natural(self, lam: Array) -> tuple[Array, Array] | None:  # noqa: ARG002
        return None

    def examine_failed(self, x: Array) -> Placement:  # noqa: ARG002
        """The first look was all there is."""
        return Placement(Verdict.UNSURE)

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest | None:  # noqa: ARG002
        return None

    def margin_bound(self, known: Evidence) -> tuple[float, bool] | None:  # noqa: ARG002
        return None

    def peak(self, f: Certificate) -> Array | None:  # noqa: ARG002
        return None


class _HasLaws(Protocol):
    def law(self, lam: Array) -> Law: ...


class ClosedFamily(BareFamily):
    """A family whose laws are known without a grid: its moments alone tell whether a fit exists."""

    __slots__ = ()

    @property
    def needs_support(self) -> bool:
        return False

    def sample(self: _HasLaws, lam: Array, n: int, rng: np.random.Generator) -> Array:
        return self.law(lam).sample(n, rng)
