"""Fits of concentrated laws on the two-sphere, on cells that follow them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.families.grids.curvature import Root, allowed_quadrature
from steradian.families.meshes.cell_tree import CellTree, LocalLaw
from steradian.fitting.newton import judge, matched_to_rounding, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, IntArray
from steradian.numerics.tolerances import (
    CELLS_SETTLED,
    COLLINEAR,
    LAW_MEAN_ROUNDING,
    SINGULAR,
    USABLE_DEFICIT,
    USABLE_QUADRATURE,
)

_STEPS_TIMES_FEATURES = 1_000  # on the way: fewer steps where each costs more
_LAST_STEPS = 20  # on cells that stay
_FEW_STEPS = 60  # features collinear in double precision get a short try
_ROUNDS = 4  # times that cells are chosen and the fit ended on them
_TRUSTED = 0.5  # decrement at which a full step leads near the fit


class _Undetermined(Exception):
    """The fit lies at parameters that the rounding of the moments leaves open."""

    def __init__(self, lam: Array) -> None:
        super().__init__()
        self.lam = lam


def solve_locally(level: int, m: Array, start: Array) -> DualSolution:
    """The fit to one moment vector ``m`` (q,) from ``start`` (q,).

    On the way the cells are chosen anew at each step, so that the line search compares true
    values. Near the end they stay, which makes the dual smooth to rounding; the end point is
    verified on them, and where they do not resolve it others are chosen for it. Parameters
    so large that the rounding of the moments would settle nothing are not followed.
    """
    try:
        return _solve(CellTree(level), m[None], start[None])
    except _Undetermined as reason:
        out = DualSolution.empty(1, len(m), Status.ROUNDING)
        out.moment_rounding[:] = _rounding(reason.lam)
        return out


def _solve(tree: CellTree, m: Array, start: Array) -> DualSolution:
    if _lost(start):
        raise _Undetermined(start)
    here = _Evaluation(tree.law, m)
    condition = here(start, np.arange(1)).condition()[0]
    most = _FEW_STEPS if condition > SINGULAR else _STEPS_TIMES_FEATURES // m.shape[1]
    path = newton(here, m, start, last_step=CELLS_SETTLED, max_steps=most)
    rounds = 0 if path.steps[0] == most else _ROUNDS
    out = judge(path, m, here(path.lam, np.arange(1)))
    for _ in range(rounds):
        here = _Evaluation(tree.rule(out.lam[0]).law, m)
        path = newton(here, m, out.lam, max_steps=_LAST_STEPS)
        out = judge(path, m, here(path.lam, np.arange(1)))
        if here.resolved and out.status[0] == Status.CONVERGED:
            break
    out.quadrature[:], out.nodes[:] = here.law.error, here.law.nodes
    if not here.resolved:
        out.status[:] = Status.UNRESOLVED
    elif out.status[0] != Status.CONVERGED and max(condition, out.condition[0]) > COLLINEAR:
        out.status[:], out.condition[:] = Status.ROUNDING, max(condition, out.condition[0])
    return out


class _Evaluation:
    """Newton's view of laws on cells; remembers the last."""

    def __init__(self, law_of: Callable[[Array], LocalLaw], m: Array) -> None:
        self._law_of, self._m = law_of, m
        self.law: LocalLaw
        self.resolved = True  # whether the cells resolve the last law

    def __call__(self, lam: Array, _rows: IntArray) -> Root:
        if _lost(lam):
            return _nowhere(lam)
        self.law = self._law_of(lam[0])
        self.resolved = bool(self.law.error <= allowed_quadrature(lam[0]))
        if self.law.error > USABLE_QUADRATURE:
            return _nowhere(lam)
        root = self.law.root()
        self._look_ahead(lam, root)
        return root

    def _look_ahead(self, lam: Array, root: Root) -> None:
        """Where a full step is to be trusted, it shows where the fit lies."""
        gradient = self._m - root.mean
        if np.abs(gradient).max() <= matched_to_rounding(self._m)[0]:
            return
        step = root.step(gradient, LAW_MEAN_ROUNDING)
        if gradient[0] @ step[0] < _TRUSTED**2 and _lost(lam + step):
            raise _Undetermined(lam + step)


def _nowhere(lam: Array) -> Root:
    """No value: the line search turns back."""
    nothing = np.full_like(lam, np.nan)
    return Root(nothing[:, 0], nothing, nothing, np.zeros((1, *2 * lam.shape[1:])))


def _lost(lam: Array) -> bool:
    return _rounding(lam) > USABLE_DEFICIT


def _rounding(lam: Array) -> float:
    """Nats by which the rounding of the moments moves the deficit at ``lam``."""
    return ROUNDOFF * float(np.abs(lam).sum())
