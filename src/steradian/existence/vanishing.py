"""Which supports have a fit, as the functions tell that vanish on them.

A fit exists unless some function of the level that is nowhere negative, and not zero, vanishes on
all of the data. Squares of known roots show that there is none. That there is one is shown where no
function at all vanishes, or none does with its slopes, as what touches zero from above has to.
Between the two the nodes of a rule tell what is hardly worth a search, which proves nothing.

Functions of the level that vanish on the support form a linear space, often of no dimension.
Features have mean zero, so that an ``f = c + lam · φ >= 0`` has ``c = ∫ f dν > 0``; scaled to
c = 1 the least dip below zero at the nodes is a linear programme. Its multipliers prove that even
the best f dips at some node: then there is a fit. An f that dips at none shows nothing, since nodes
miss what lies between them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.existence.squares import HasSquares, OfFiniteDegree, squares_vanish
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import null_space
from steradian.numerics.linear_programme import minimise
from steradian.numerics.tolerances import (
    CONTACT_CLEAR,
    DEEP,
    NODE_ACCURACY,
    NODE_VANISHING,
    RANK,
    SAFE,
)

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


@dataclass(frozen=True, slots=True, eq=False)
class Vanishing:
    """Functions of a level, the constant first, that vanish where they are asked to."""

    wide: Array  # (q + 1, k): all that may, rounding considered
    certain: Array  # (q + 1, k'): those that do to rounding

    @classmethod
    def on(cls, rows: Array) -> Vanishing:
        """Of conditions ``rows`` (n, q + 1), values or slopes of the functions."""
        wide = null_space(rows, CONTACT_CLEAR)
        return cls(wide, null_space(rows, RANK) if wide.shape[1] else wide)

    @property
    def clear(self) -> bool:
        """Whether rounding leaves open of none whether it vanishes."""
        return self.wide.shape == self.certain.shape


def examine_on_nodes(vanishing: Vanishing, at_nodes: Array, count: int) -> Placement:
    """Whether some f >= 0 at the nodes vanishes on the support.

    Parameters
    ----------
    vanishing : Vanishing
        Functions that vanish on the support.
    at_nodes : array, (N, q)
        Features φ of the level at the nodes of a rule that covers the space.
    count : int
        Distinct points of the support.
    """
    if not vanishing.wide.shape[1]:
        return Placement(Verdict.INSIDE)
    dip, proven = _least_dip(vanishing.wide, at_nodes)
    if proven > DEEP:
        return Placement(Verdict.INSIDE)
    if dip > SAFE or not vanishing.clear:
        words = "rounding hides whether a function that is nowhere negative vanishes on all points"
        return Placement(Verdict.UNSURE, words)
    return Placement(Verdict.TOUCHING, touching_words(len(at_nodes), count))


def touching_words(nodes: int, count: int) -> str:
    """What nodes tell, and what they do not."""
    points = "the one point" if count == 1 else f"all {count} points"
    return f"a function that is negative at none of {nodes} nodes vanishes on {points}"


def _least_dip(vanishing: Array, at_nodes: Array) -> tuple[float, float]:
    """How far below zero the best f of integral one falls, and what the multipliers prove of all.

    Infinite where all have integral 0. ``f = V z`` with ``V[0]·z = 1``: z is a multiple of V[0] and
    anything across it, no longer than features can be, whose means under f these are.
    """
    constant = vanishing[0]
    size = float(constant @ constant)
    if size <= SAFE**2:
        return np.inf, np.inf
    particular = vanishing @ (constant / size)
    across = vanishing @ null_space(constant[None])
    base = particular[0] + at_nodes @ particular[1:]
    free = across[0] + at_nodes @ across[1:]
    rows = np.column_stack([free, np.ones(len(base))])
    cost = np.zeros(rows.shape[1])
    cost[-1] = 1.0
    start = np.zeros(rows.shape[1])
    start[-1] = 1.0 + max(0.0, -float(base.min()))
    found = minimise(cost, rows, -base, start=start, accuracy=NODE_ACCURACY)
    y = found.multipliers
    longest = 1.0 + float(np.linalg.norm(at_nodes, axis=1).max())
    most = float(y @ base + np.linalg.norm(y @ free) * longest) / float(y.sum())
    return max(0.0, -float((base + free @ found.point[:-1]).min())), -most
