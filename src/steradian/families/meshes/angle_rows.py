"""Fits of several angles from their rows: on boxes of the torus, or one angle after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np

from steradian.existence.body import examine_circle
from steradian.existence.placement import Verdict
from steradian.families.base import Law
from steradian.families.meshes.data_mesh import some_rows
from steradian.families.meshes.meshed import solve_framed, solve_rows
from steradian.families.meshes.torus_frame import torus_frames
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, IntArray
from steradian.spaces import Circle

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy

_MOST_ANGLES = 3  # of which boxes are few enough to be held


@runtime_checkable
class OfAngles(Protocol):
    """A hierarchy whose features are products of trigonometric functions of several angles."""

    def terms(self, level: int) -> IntArray:
        """Which function of each angle makes each feature of levels 1..level, (q, k).

        0 is the constant, 2h - 1 is √2 cos hθ and 2h is √2 sin hθ.
        """
        ...


def table_of(hierarchy: Hierarchy, level: int) -> IntArray | None:
    """What features are made of, where `solve_angles` fits them from their rows; None elsewhere."""
    if not isinstance(hierarchy, OfAngles):
        return None
    table = hierarchy.terms(level)
    return table if table.shape[1] <= _MOST_ANGLES or _alone(table) else None


def solve_angles(table: IntArray, x: Array, weights: Array) -> DualSolution:
    """The fit of features made of ``table`` (q, k) to distinct rows ``x`` (n, 2k), a stack of one.

    ``weights`` (n,) have sum one.
    """
    if _alone(table):
        return _independent(table, x, weights)
    frames = torus_frames(table, *some_rows(x, weights))
    return solve_framed(frames, -(-int(table.max()) // 2), x, weights)


def _alone(table: IntArray) -> bool:
    """Whether every feature is of one angle, so that angles are independent."""
    return bool((np.count_nonzero(table, axis=1) == 1).all())


@dataclass(frozen=True, slots=True, eq=False)
class IndependentLaw:
    """A law of angles that are independent, from the laws of each."""

    parts: tuple[Law, ...]

    def logpdf(self, x: Array) -> Array:
        """Log-density at ``x`` (n, 2k), (n,)."""
        return np.sum([law.logpdf(_pair(x, k)) for k, law in enumerate(self.parts)], axis=0)

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """``n`` exact draws, (n, 2k)."""
        return np.hstack([law.sample(n, rng) for law in self.parts])


def _pair(x: Array, angle: int) -> Array:
    return np.ascontiguousarray(x[:, 2 * angle : 2 * angle + 2])


def _independent(table: IntArray, x: Array, weights: Array) -> DualSolution:
    """Angle by angle on the circle; what errs adds up."""
    out = DualSolution.empty(1, len(table), Status.CONVERGED)
    parts = [_one(column, _pair(x, k), weights) for k, column in enumerate(table.T)]
    failed = [int(part.status[0]) for part in parts if part.status[0] != Status.CONVERGED]
    if failed:
        out.status[:] = failed[0]
        return out
    for part, column in zip(parts, table.T, strict=True):
        used = np.flatnonzero(column)
        out.lam[0, used] = part.lam[0, column[used] - 1]
    for name in ("psi", "deficit", "quadrature", "moment_rounding", "nodes", "steps"):
        getattr(out, name)[:] = sum(getattr(part, name)[0] for part in parts)
    for name in ("residual", "decrement", "condition"):
        getattr(out, name)[:] = max(getattr(part, name)[0] for part in parts)
    out.laws[0] = IndependentLaw(tuple(part.laws[0] for part in parts))
    return out


def _one(column: IntArray, x: Array, weights: Array) -> DualSolution:
    """The fit of one angle, all frequencies up to the highest of a ``column``."""
    level = -(-int(column.max()) // 2)
    distinct, which = np.unique(x, axis=0, return_inverse=True)
    share = np.asarray(np.bincount(which.ravel(), weights, len(distinct)), dtype=np.float64)
    if examine_circle(distinct, share, level).verdict is Verdict.OUTSIDE:
        return DualSolution.empty(1, 2 * level, Status.BOUNDARY)
    return solve_rows(Circle(), level, distinct, share)
