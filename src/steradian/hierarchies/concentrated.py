"""Fits of concentrated laws on the two-sphere, on cells that follow them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.dual import DualSolution, Status, judge, newton
from steradian.hierarchies.cell_tree import CellTree, LocalLaw
from steradian.hierarchies.curvature import Root, allowed_quadrature
from steradian.numerics.arrays import ROUNDOFF, Array, IntArray

_CLOSE = 1e-2  # decrement from which the cells stay as they are
_ROUNDS = 6  # times that cells are chosen and the fit ended on them
_LOST = 1e-6  # nats by which rounding may move a deficit that is still worth following


def solve_locally(level: int, m: Array, start: Array) -> DualSolution:
    """The fit to one moment vector ``m`` (q,) from ``start`` (q,).

    On the way the cells are chosen anew at each step, so that the line search compares true
    values. Near the end they stay, which makes the dual smooth to rounding; the end point is
    verified on them, and where they do not resolve it others are chosen for it. Parameters
    so large that the rounding of the moments would settle nothing are not followed.
    """
    if _lost(start):
        return _not_determined(start)
    tree = CellTree(level)
    out = newton(_Evaluation(tree.law), m[None], start[None], last_step=_CLOSE)
    lam = out.lam
    for _ in range(_ROUNDS):
        here = _Evaluation(tree.rule(lam[0]).law)
        path = newton(here, m[None], lam)
        solution = judge(path, m[None], here(path.lam, np.arange(1)))
        lam = solution.lam
        resolved = here.last.error <= allowed_quadrature(lam[0])
        if resolved and solution.status[0] == Status.CONVERGED:
            break
    solution.quadrature[:], solution.nodes[:] = here.last.error, here.last.nodes
    if not resolved:
        solution.status[:] = Status.UNRESOLVED
    elif solution.status[0] != Status.CONVERGED and _lost(10.0 * lam[0]):
        solution.status[:] = Status.ROUNDING
    return solution


class _Evaluation:
    """Newton's view of a law on cells; remembers the last."""

    def __init__(self, law: Callable[[Array], LocalLaw]) -> None:
        self._law = law
        self.last: LocalLaw

    def __call__(self, lam: Array, _rows: IntArray) -> Root:
        if _lost(lam[0]):
            nowhere = np.full_like(lam, np.nan)  # no step leads there
            return Root(nowhere[:, 0], nowhere, nowhere, np.zeros((1, *2 * lam.shape[1:])))
        self.last = self._law(lam[0])
        return self.last.root()


def _lost(lam: Array) -> bool:
    return bool(ROUNDOFF * np.abs(lam).sum() > _LOST)


def _not_determined(lam: Array) -> DualSolution:
    out = DualSolution.empty(1, len(lam), Status.ROUNDING)
    out.moment_rounding[:] = ROUNDOFF * np.abs(lam).sum()
    return out
