"""What is measured: nested spaces of features."""

from __future__ import annotations

from steradian.hierarchies.base import Hierarchy
from steradian.hierarchies.harmonics import Harmonics

__all__ = ["Harmonics", "Hierarchy"]
