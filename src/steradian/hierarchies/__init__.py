"""Nested feature spaces and the exponential family of each level."""

from __future__ import annotations

from steradian.hierarchies.base import Family, Hierarchy, MomentStack, Placement, Support, Verdict
from steradian.hierarchies.certificate import Certificate
from steradian.hierarchies.gridded import GriddedFamily
from steradian.hierarchies.harmonic import Harmonics

__all__ = [
    "Certificate",
    "Family",
    "GriddedFamily",
    "Harmonics",
    "Hierarchy",
    "MomentStack",
    "Placement",
    "Support",
    "Verdict",
]
