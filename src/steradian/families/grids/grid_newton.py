"""One solver on grids: Newton's method on a rung for each row, verified on the next finer rung.

A row begins on the rung that the sharpness of its data asks for, or on a finer one where that does
not tell its start. Newton's method (`fitting.newton`) goes on there until a full step leads to
rounding. The end is looked at on the next rung: what the two differ by in ψ, and half the squared
decrement that is left there, is the quadrature error; a last step on the finer rung leaves the
square of that decrement. A row whose error is above the aim goes on from where it is, on a rung as
much further as digits are missing; what its own rung does not tell begins again on a finer one.
What creeps, or has collinear features, is left to other ways.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Any

import numpy as np

from steradian.families.grids.curvature import Root, allowed_quadrature
from steradian.families.grids.laws import GridCurvature, GridLaws, psi_on
from steradian.families.verification import integration_error
from steradian.fitting.newton import judge, matched_to_rounding, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    GRID_LAST_STEP,
    SINGULAR,
    USABLE_QUADRATURE,
    USABLE_RULE,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle, Grid, Sphere

_CONVERGED = int(Status.CONVERGED)
_MOST_STEPS = 40  # on one rung: what takes more creeps
_REACH_PER_LEVEL = 6.0  # degrees that a first rung integrates exactly, of each level
_REACH_PER_ROOT = 9.0  # and of each root of the sharpness of the data
_GENTLE = 12.0  # exponents this small make no law sharper than its level
_ENTRIES = 1 << 23  # of covariances that are held at once
_FURTHEST = 2.0  # times the reach, that one change of rungs may bring
_SLOWER = 1.4  # the finer rung has so many times the digits already
_LEFT = 0.03  # of what two rungs differ by in a moment, at most, that the finer one misses


@dataclass(frozen=True, slots=True)
class Effort:
    """How far rows are brought, and by what."""

    aim: float = VERIFIED_AIM  # nats between two rungs
    left: float = VERIFIED_DIFFERENCE  # the same that a fit may show on the last rung
    residual: float = ACCEPTED_RESIDUAL  # mismatch of moments
    last_step: float = GRID_LAST_STEP  # decrement from which a step is not looked at
    most_nodes: int = 1 << 24  # of a grid
    most_condition: float = SINGULAR
    carefully: bool = False  # with features re-orthonormalised at every step


@dataclass(frozen=True)
class GridNewton:
    """Fits of all harmonics through degree ``level`` on the rungs of a space."""

    space: Circle | Sphere
    level: int

    @cached_property
    def laws(self) -> GridLaws:
        return GridLaws(self.space, self.level)

    @cached_property
    def _grids(self) -> list[Grid]:
        return [self.space.grid(rung) for rung in range(self.space.fine_rungs())]

    @cached_property
    def _reaches(self) -> IntArray:
        """The degrees that the rungs integrate exactly, from coarse to fine."""
        return np.array([grid.reach for grid in self._grids])

    def first_rungs(self, sharpness: Array, start: Array) -> IntArray:
        """What the data ask for, (B,), and no coarser than what tells ψ of the ``start`` (B, q)."""
        need = np.maximum(_REACH_PER_ROOT * np.sqrt(sharpness), _REACH_PER_LEVEL * self.level)
        rung = self._reaches.searchsorted(need)
        size = np.einsum("bq,bq->b", start, start)  # |λ·φ|² <= q |λ|²
        rows, last = np.flatnonzero(start.shape[1] * size > _GENTLE**2), len(self._reaches) - 2
        while len(rows := rows[rung[rows] < last]):
            step = int(rung[rows].min())
            here = rows[rung[rows] == step]
            one, other = (psi_on(grid, start[here]) for grid in self._grids[step : step + 2])
            told = np.abs(one - other) <= USABLE_QUADRATURE
            rung[here[~told]] += 1
            rows = np.setdiff1d(rows, here[told])
        return rung

    def fit(
        self, m: Array, start: Array, rung: IntArray, effort: Effort | None = None
    ) -> DualSolution:
        """Fits to ``m`` (B, q) from ``start`` (B, q), each row on its ``rung`` (B,) to begin with.

        Rows that creep, or that no rung resolves, have another status than CONVERGED.
        """
        effort = effort or Effort()
        out = DualSolution.empty(len(m), m.shape[1], Status.UNRESOLVED)
        near, rung, last = start.copy(), rung.copy(), self._last_rung(effort)
        while (step := int(rung.min(initial=last + 1))) <= last:
            rows = np.flatnonzero(rung == step)[: 1 + _ENTRIES // m.shape[1] ** 2]
            part, arrived, better = self._on_rung(step, m[rows], near[rows], effort)
            error = part.quadrature
            aim = np.maximum(effort.aim, allowed_quadrature(part.lam))
            sound = part.status == _CONVERGED
            creeps = ~sound & ~arrived & (error <= USABLE_QUADRATURE)
            # a rung that does not hold the moments sends Newton's method off: a finer one may
            collinear = (part.condition > effort.most_condition) & (better | (error <= USABLE_RULE))
            leaves = (sound & (error <= aim)) | creeps | collinear
            moved = sound & (part.lam != near[rows]).any(axis=1)
            near[rows] = np.where(better[:, None], part.lam, near[rows])
            rung[rows] = last + 1
            if not leaves.all():
                further = self._further(step, error, effort.aim)
                rung[rows] = np.where(leaves, last + 1, further)
            part.status[sound & ~(error <= np.maximum(effort.left, aim))] = Status.UNRESOLVED
            part.status[moved & ~(part.condition <= SINGULAR)] = Status.UNRESOLVED
            if len(rows) == len(m) and leaves.all():
                return part
            out.put(rows, part)
        return out

    def _last_rung(self, effort: Effort) -> int:
        """The last that has a finer one to verify it."""
        return sum(grid.nodes <= effort.most_nodes for grid in self._grids) - 2

    def _further(self, step: int, error: Array, aim: float) -> IntArray:
        """The next rungs of rows with an ``error`` (b,) on this one, by the digits that miss."""
        with np.errstate(all="ignore"):
            factor = np.log(aim) / np.log(error) / _SLOWER
        factor = np.where(error <= USABLE_RULE, np.clip(factor, 1.0, _FURTHEST), _SLOWER)
        there = self._reaches.searchsorted(self._reaches[step] * factor, side="right") - 1
        return np.maximum(there, step + 1)

    def _on_rung(
        self, step: int, m: Array, start: Array, effort: Effort
    ) -> tuple[DualSolution, BoolArray, BoolArray]:
        """Where Newton's method ends on one rung, as the next sees it.

        Which rows arrived, and which are worth more than their start.
        """
        grid, finer = self._grids[step : step + 2]
        laws = self.laws.carefully_on if effort.carefully else self.laws.on
        seen: list[Any] = []

        def evaluate(lam: Array, _rows: IntArray) -> GridCurvature | Root:
            seen[:] = [laws(grid, lam)]
            return seen[0]

        with np.errstate(all="ignore"):  # steps that lead nowhere are turned back
            path = newton(evaluate, m, start, max_steps=_MOST_STEPS, last_step=effort.last_step)
            alone = len(m) == 1 and not effort.carefully  # its covariance hardly moves any more
            end = self.laws.seen_on(finer, path.lam, seen[0]) if alone else laws(finer, path.lam)
            out = judge(path, m, end)
            apart = np.abs(out.deficit - path.dual)
            out.quadrature[:] = integration_error(apart, out.decrement**2)
            out.nodes[:], out.rungs[:] = finer.nodes, step + 1
            _take_last_step(out, m, end, effort)
        return out, path.arrived, out.deficit > path.begun


@cache
def grid_newton(space: Circle | Sphere, level: int) -> GridNewton:
    """The one object of a space and a level."""
    return GridNewton(space, level)


def _take_last_step(out: DualSolution, m: Array, end: GridCurvature | Root, effort: Effort) -> None:
    """One more step, which nobody looks at.

    A step s at a decrement δ leaves a mismatch ½ E (s·φ)² φ_k of the centred features, which is
    below ``√q δ²``, since |φ|² = q. The deficit rises by ½ δ², but for a share of δ³. No step
    follows a gradient that is the rounding of ``m``, which deficits near zero would feel.
    """
    known = (out.residual > matched_to_rounding(m)) & (out.decrement <= effort.last_step)
    if not known.any():
        return
    step = np.where(known[:, None], end.newton(m - end.mean), 0.0)
    out.lam += step
    out.deficit += np.where(known, 0.5 * out.decrement**2, 0.0)
    out.psi[:] = np.einsum("bq,bq->b", out.lam, m) - out.deficit
    left = np.maximum(np.sqrt(m.shape[1]) * out.decrement**2, _LEFT * out.residual)
    out.residual[:] = np.where(known, left, out.residual)
    out.status[known & (left <= effort.residual)] = Status.CONVERGED
