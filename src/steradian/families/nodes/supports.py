"""Which supports have a fit, as the functions tell that vanish on them.

A fit exists unless some function of the level that is nowhere negative, and not zero, vanishes on
all of the data. Squares of known roots show that there is none. That there is one is shown where no
function at all vanishes, or none does with its slopes, as what touches zero from above has to.
Between the two the nodes of a rule tell what is hardly worth a search, which proves nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from steradian.existence.node_programme import Vanishing, touching_words
from steradian.existence.placement import Placement, Verdict
from steradian.existence.squares import HasSquares, OfFiniteDegree, squares_vanish
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import NODE_VANISHING

if TYPE_CHECKING:
    from steradian.families.nodes.rules import Nodes
    from steradian.hierarchies.base import Hierarchy

_ROWS_PER_FEATURE = 4  # by which most supports are seen to be wide enough
_INSIDE = Placement(Verdict.INSIDE)


def place_support(
    hierarchy: Hierarchy, level: int, rule: Callable[[int], Nodes], x: Array
) -> Placement:
    """Where the rows ``x`` put the moments of a level; ``rule`` makes nodes, of -1 the most.

    OUTSIDE by squares alone. TOUCHING where the constant projected on all functions that vanish,
    which symmetry asks for, and which is all there is where they are multiples of one, is negative
    at no node.
    """
    if isinstance(hierarchy, HasSquares):
        for roots in hierarchy.roots(level):
            if squares_vanish(roots, x, hierarchy.paths):
                return Placement(Verdict.OUTSIDE, _words(hierarchy.space.point_name, len(x)))
    vanishing = vanishing_functions(hierarchy, level, x)
    if not vanishing.wide.shape[1]:
        return _INSIDE
    f = vanishing.certain @ vanishing.certain[0]
    if not vanishing.certain.shape[1] or f[0] <= NODE_VANISHING:
        return _INSIDE if vanishing.clear else Placement(Verdict.UNSURE)
    for rung in (0, -1):  # a few nodes show most dips
        nodes = rule(rung)
        if not _nowhere_negative(f, nodes):
            alone = vanishing.wide.shape[1] == 1
            return _INSIDE if alone else Placement(Verdict.UNSURE)
    return Placement(Verdict.TOUCHING, touching_words(len(nodes), len(x)))


def vanishing_functions(hierarchy: Hierarchy, level: int, x: Array) -> Vanishing:
    """Functions of a level that vanish on all of ``x``, with their slopes where these are known."""
    q = hierarchy.q(level)

    def functions(y: Array) -> Array:
        return np.column_stack([np.ones(len(y)), hierarchy.features(y)[:, :q]])

    some = x[:: max(1, len(x) // (_ROWS_PER_FEATURE * (q + 1)))]
    found = Vanishing.on(functions(some))  # what vanishes on all rows does on some of them
    if found.wide.shape[1] and len(some) < len(x):
        found = Vanishing.on(functions(x))
    if found.wide.shape[1] and isinstance(hierarchy, OfFiniteDegree):
        slopes = hierarchy.paths(x).derivatives(functions, hierarchy.path_degree(level))[0]
        found = Vanishing.on(np.vstack([functions(x), slopes.reshape(-1, q + 1)]))
    return found


def _nowhere_negative(f: Array, nodes: Nodes) -> bool:
    """Whether a function of coefficients ``f`` (q + 1,), the constant first, dips at no node."""
    values = f[0] + nodes.phi @ f[1:]
    return bool(values.min() >= -NODE_VANISHING * float(np.abs(values).max()))


def _words(what: str, count: int) -> str:
    points = f"one {what}" if count == 1 else f"{count} distinct points"
    return f"a function of this level that is nowhere negative vanishes on all data, {points}"
