"""Existence from features at a support and at nodes alone, for families without closed forms.

Functions of the level that vanish on the support form a linear space, often of no dimension.
Features have mean zero, so that an ``f = c + lam · φ >= 0`` has ``c = ∫ f dν > 0``; scaled to
c = 1 the least dip below zero at the nodes is a linear programme. Its multipliers prove that even
the best f dips at some node: then there is a fit. An f that dips at none shows nothing, since nodes
miss what lies between them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import null_space
from steradian.numerics.linear_programme import minimise
from steradian.numerics.tolerances import CONTACT_CLEAR, DEEP, NODE_ACCURACY, RANK, SAFE


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
