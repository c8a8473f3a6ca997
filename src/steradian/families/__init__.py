"""How the law of one level is integrated, solved and sampled.

`Family` and `Law` are what a hierarchy must give, `NodeFamily` fits any features on any space with
rules, and `BareFamily` answers for closed forms that a family of one's own does not have.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steradian.families.bare import BareFamily
    from steradian.families.base import Family, Law
    from steradian.families.nodes.family import NodeFamily

__all__ = ["BareFamily", "Family", "Law", "NodeFamily"]
_HOMES = {"BareFamily": "bare", "Family": "base", "Law": "base", "NodeFamily": "nodes.family"}

if not TYPE_CHECKING:  # a checker would take every name for one of ours

    def __getattr__(name: str) -> Any:
        """The names above are imported on demand: integrals below them are used lower down."""
        if name not in _HOMES:
            raise AttributeError(f"module 'steradian.families' has no attribute {name!r}")
        return getattr(import_module(f"steradian.families.{_HOMES[name]}"), name)
