"""How far a profile can be trusted."""

from __future__ import annotations

from steradian.diagnostics.sensitivity import Sensitivity, shrinkage_sensitivity

__all__ = ["Sensitivity", "shrinkage_sensitivity"]
