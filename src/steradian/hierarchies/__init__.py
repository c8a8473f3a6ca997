"""Nested feature spaces and the exponential family of each level."""

from __future__ import annotations

from steradian.hierarchies.base import (
    Family,
    Hierarchy,
    Law,
    MomentStack,
    Placement,
    Support,
    Verdict,
)
from steradian.hierarchies.certificate import Certificate
from steradian.hierarchies.gridded import GriddedFamily
from steradian.hierarchies.harmonic import Harmonics
from steradian.hierarchies.quadratic_family import QuadraticFamily

__all__ = [
    "Certificate",
    "Family",
    "GriddedFamily",
    "Harmonics",
    "Hierarchy",
    "Law",
    "MomentStack",
    "Placement",
    "QuadraticFamily",
    "Support",
    "Verdict",
]
