"""The answers of a family without closed forms: nothing but its rule and its solver."""

from __future__ import annotations

from typing import Self

from steradian.existence.certificate import Certificate
from steradian.existence.margin import Closest, Evidence
from steradian.existence.placement import Placement, Verdict
from steradian.families.base import QuickRefits
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
        return Placement(Verdict.UNSURE)

    def closest_face(self, known: Evidence, below: Closest | None) -> Closest | None:  # noqa: ARG002
        return None

    def margin_bound(self, known: Evidence) -> tuple[float, bool] | None:  # noqa: ARG002
        return None

    def peak(self, f: Certificate) -> Array | None:  # noqa: ARG002
        return None
