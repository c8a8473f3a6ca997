"""How the law of one level is integrated, solved and sampled.

`Family` derives what follows from a log-partition and expectations, `Law` is one of its laws, and
`NodeFamily` fits any features on any space with rules.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from steradian.families.base import Family, Law
    from steradian.families.nodes.family import NodeFamily

__all__ = ["Family", "Law", "NodeFamily"]

if not TYPE_CHECKING:  # a checker would take every name for one of ours
    from steradian.lazy import names_on_demand

    _HOMES = {"base": ["Family", "Law"], "nodes.family": ["NodeFamily"]}
    __getattr__ = names_on_demand(__name__, _HOMES)
