"""Existence from features at a support and at nodes alone, for families without closed forms.

Functions of the level that vanish on the support form a linear space, often of no dimension.
Features have mean zero, so that an ``f = c + lam · φ >= 0`` has ``c = ∫ f dν > 0``; scaled to
c = 1 the least dip below zero at the nodes is a linear programme. If even the best f dips at a node
there is a fit, as far as the programme is solved: its multipliers are not checked, as `face` does.
One that dips at none is on the boundary as far as the nodes tell, which may miss dips between them.
"""

from __future__ import annotations

import numpy as np

from steradian.existence.placement import Placement, Verdict
from steradian.numerics.arrays import Array
from steradian.numerics.linalg import null_space
from steradian.numerics.linear_programme import minimise
from steradian.numerics.tolerances import CONTACT_CLEAR, DEEP, NODE_ACCURACY, RANK, SAFE


def examine_on_nodes(at_support: Array, at_nodes: Array) -> Placement:
    """Whether some f >= 0 at the nodes vanishes on the support.

    Parameters
    ----------
    at_support : array, (n, q)
        Features φ of the level at the distinct points of a support.
    at_nodes : array, (N, q)
        The same at the nodes of a rule that covers the space.
    """
    rows = np.column_stack([np.ones(len(at_support)), at_support])
    vanishing = null_space(rows, CONTACT_CLEAR)
    if not vanishing.shape[1]:
        return Placement(Verdict.INSIDE)
    dip = _least_dip(vanishing, at_nodes)
    if dip > DEEP:
        return Placement(Verdict.INSIDE)
    if dip > SAFE or vanishing.shape[1] != null_space(rows, RANK).shape[1]:
        words = "rounding hides whether a function that is nowhere negative vanishes on all points"
        return Placement(Verdict.UNSURE, words)
    count = len(at_support)
    points = "the one point" if count == 1 else f"all {count} points"
    words = f"a function that is negative at none of {len(at_nodes)} nodes vanishes on {points}"
    return Placement(Verdict.OUTSIDE, words)


def _least_dip(vanishing: Array, at_nodes: Array) -> float:
    """How far below zero the best f of integral one falls; infinite where all have integral 0.

    ``f = V z`` with ``V[0]·z = 1``: z is a multiple of V[0] and anything across it.
    """
    constant = vanishing[0]
    size = float(constant @ constant)
    if size <= SAFE**2:
        return np.inf
    particular = vanishing @ (constant / size)
    across = vanishing @ null_space(constant[None])
    base = particular[0] + at_nodes @ particular[1:]
    free = across[0] + at_nodes @ across[1:]
    rows = np.column_stack([free, np.ones(len(base))])
    cost = np.zeros(rows.shape[1])
    cost[-1] = 1.0
    start = np.zeros(rows.shape[1])
    start[-1] = 1.0 + max(0.0, -float(base.min()))
    found = minimise(cost, rows, -base, start=start, accuracy=NODE_ACCURACY).point
    return max(0.0, -float((base + free @ found[:-1]).min()))
