"""Which supports have a fit, as the functions tell that vanish on them: exact and quick.

A fit exists unless some function of the level that is nowhere negative, and not zero, vanishes on
all of the data.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import null_space
from steradian.numerics.tolerances import NODE_VANISHING

if TYPE_CHECKING:
    from steradian.families.nodes.rules import Nodes
    from steradian.hierarchies.base import Hierarchy

_ROWS_PER_FEATURE = 4  # by which most supports are seen to be wide enough


def place_support(
    hierarchy: Hierarchy, level: int, finest: Callable[[], Nodes], x: Array
) -> Placement:
    """Where the rows ``x`` put the moments of a level; ``finest`` makes the most nodes there are.

    No vanishing function of positive mean means that a fit exists; one that is nowhere negative
    means that none does. The one looked at is the constant projected on them, which is all there is
    where they are multiples of one, and the one that symmetry asks for elsewhere.
    """
    q = hierarchy.q(level)
    some = x[:: max(1, len(x) // (_ROWS_PER_FEATURE * (q + 1)))]
    vanishing = _vanishing(hierarchy, q, some)  # what vanishes on all rows does on some of them
    if len(some) < len(x) and vanishing.shape[1]:
        vanishing = _vanishing(hierarchy, q, x)
    f = vanishing @ vanishing[0]
    if not vanishing.shape[1] or f[0] <= NODE_VANISHING:
        return Placement(Verdict.INSIDE)
    values = f[0] + finest().phi @ f[1:]
    if values.min() >= -NODE_VANISHING * float(np.abs(values).max()):
        return Placement(Verdict.OUTSIDE, _words(hierarchy.space.point_name, len(x)))
    alone = vanishing.shape[1] == 1
    return Placement(Verdict.INSIDE if alone else Verdict.UNSURE)


def _vanishing(hierarchy: Hierarchy, q: int, x: Array) -> Array:
    """Functions of the level, the constant first, that vanish on all of ``x``: (q + 1, k)."""
    phi = hierarchy.features(x)[:, :q]
    return null_space(np.column_stack([np.ones(len(x)), phi]))


def _words(what: str, count: int) -> str:
    points = f"one {what}" if count == 1 else f"{count} distinct points"
    return f"a function of this level that is nowhere negative vanishes on all data, {points}"
