"""How the law of one level is integrated, solved and sampled.

`Family` derives what follows from a log-partition and expectations, `Law` is one of its laws, and
`NodeFamily` fits any features on any space with rules.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from steradian.families.base import Family, Law
    from steradian.families.nodes.family import NodeFamily

__all__ = ["Family", "Law", "NodeFamily"]
_HOMES = {"Family": "base", "Law": "base", "NodeFamily": "nodes.family"}

if not TYPE_CHECKING:  # a checker would take every name for one of ours

    def __getattr__(name: str) -> Any:
        """The names above are imported on demand: integrals below them are used lower down."""
        if name not in _HOMES:
            raise AttributeError(f"module 'steradian.families' has no attribute {name!r}")
        return getattr(import_module(f"steradian.families.{_HOMES[name]}"), name)
