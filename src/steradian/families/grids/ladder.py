"""The ladder of grids on the circle and the two-sphere: fits on the rung that resolves them.

Newton's method begins where the data ask for; a fit that its own spectrum does not verify, or that
the next grid contradicts, is made again one rung higher.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np

from steradian.data.stacks import blocks
from steradian.families.grids.curvature import Covariance, Root, allowed_quadrature, mean_and_root
from steradian.families.grids.densities import density_on, peaked
from steradian.families.grids.single import solve_one
from steradian.families.grids.stacks import GridStack, approach, approachable, reach_for
from steradian.families.meshes.concentrated import solve_locally
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import NO_RUNG, DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.tolerances import (
    COLLINEAR_MOMENTS,
    DOUBTED_GRID,
    NEARLY_RESIDUAL,
    NEGLIGIBLE_MASS,
    QUADRATURE_TOLERANCE,
    USABLE_QUADRATURE,
)
from steradian.spaces import Circle, Grid, Sphere
from steradian.spaces.products import second_moments

_GENTLE = 12.0  # exponents this small make no law sharper than its level
_CONVERGED = int(Status.CONVERGED)
_CELL_LEVELS = 12  # above it the features at the nodes of cells are too many to keep
_SLOW_RUNGS = 3  # of the ladder on the sphere, slower than cells
_SUMMED = 16.0  # times the rounding of moments, measured on tight clusters
_TRIES = 4  # to end a fit that Newton nearly ended
_MOST_STEPS = 40  # of Newton's method on a grid; where it creeps another way is quicker
_ENTRIES = 1 << 17  # values at nodes that stay near the processor
MANY_ROWS = 8  # from which rows are fitted together
LOW_LEVELS = 4  # where one small grid serves a whole fit
_LEAST_REACH = 20.0  # of grids whose tail of a spectrum says something
_ROOM, _MOST = 1.2, 0.9  # over the reach that starts need, and how many of them count
_ASKED = 100  # of the starts, about, of which most tell a share of nine tenths
_COARSE_STEP = 4  # of the reach of grids on the way, so that they are few


@cache
def grid_ladder(space: Circle | Sphere, level: int) -> GridLadder:
    """The one object of a space and a level."""
    return GridLadder(space, level)


@dataclass(frozen=True)
class GridLadder:
    """The grids of a space, for the laws of all harmonics through degree ``level``."""

    space: Circle | Sphere
    level: int

    @cached_property
    def q(self) -> int:
        """Number of features."""
        return self.space.size(self.level) - 1

    @cached_property
    def least_rung(self) -> int:
        """Where the features of the level themselves are resolved."""
        return int(self.space.rung_for(np.zeros(1), self.level)[0])

    @property
    def has_cells(self) -> bool:
        """Whether laws too sharp for the ladder go to cells that follow them."""
        return isinstance(self.space, Sphere) and self.level <= _CELL_LEVELS

    @cached_property
    def _rungs(self) -> int:
        """Rungs of the ladder before cells are quicker."""
        return self.space.rungs() - (_SLOW_RUNGS if self.has_cells else 0)

    @property
    def finest(self) -> Grid:
        """The last grid before cells, or before a law is refused."""
        return self.space.grid(self._rungs - 1)

    def climb(self, lam: Array) -> IntArray:
        """The first rung that resolves each law ``lam`` (B, q); `NO_RUNG` where none does."""
        allowed, left = allowed_quadrature(lam), np.arange(len(lam))
        out = np.full(len(lam), NO_RUNG)
        for rung in range(self._rungs):
            grid = self.space.grid(rung)
            _, density = density_on(grid, lam[left])
            resolved = grid.unresolved(density, self.level) <= allowed[left]
            out[left[resolved]] = rung
            left = left[~resolved]
            if not len(left):
                break
        return out

    def climb_many(self, lam: Array) -> IntArray:
        """The same of many, but a rung that is sure to resolve a law is believed unseen.

        Above level 2 that is often far too fine.
        """
        if self.level > 2:
            return self.climb(lam)
        rungs = self.sufficient(lam)
        unsure = np.flatnonzero(rungs >= self._rungs)
        if len(unsure):
            rungs[unsure] = self.climb(lam[unsure])
        return rungs

    def sufficient(self, lam: Array, psi: Array | float = 0.0) -> IntArray:
        """A rung that resolves each law ``lam`` (B, q) by the size of its parameters alone.

        ψ is at least zero, and need not be known. Above the ladder where no rung is sure to.
        """
        need = np.fmax(reach_for(self.space, lam, psi), _LEAST_REACH) + self.level
        return self._reaches.searchsorted(need)

    @cached_property
    def _reaches(self) -> IntArray:
        return np.array([self.space.grid(rung).reach for rung in range(self._rungs)])

    def integrals(self, grid: Grid, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance of the laws ``lam`` (B, q) on one grid."""
        quick = GridStack(self.space, self.level, grid).law(lam)
        out = quick.psi, quick.mean, quick.covariance
        collinear = np.flatnonzero(~(quick.condition() < COLLINEAR_MOMENTS))
        for rows in (collinear[some] for some in blocks(len(collinear), grid.nodes, _ENTRIES)):
            roots = self._root(grid, lam[rows])
            for whole, part in zip(out, (roots.psi, roots.mean, roots.covariance), strict=True):
                whole[rows] = part
        return out

    def first_rung(self, sharpness: Array, start: Array) -> IntArray:
        """Where to begin: what the second moments ask for and where the start is resolved."""
        rung = self.space.rung_for(sharpness, self.level)
        if self.level == 2 or len(start) >= MANY_ROWS:
            return rung  # the start is no sharper than its moments; many rows find their grid
        reach = np.sqrt(self.q * np.einsum("bq,bq->b", start, start))  # |λ·φ| is never larger
        if reach.max() < _GENTLE:
            return rung
        for step in range(int(rung.min()), self._rungs - (not self.has_cells)):
            rows = np.flatnonzero(rung == step)
            if len(rows):
                grid = self.space.grid(step)
                _, density = density_on(grid, start[rows])
                rung[rows[grid.unresolved(density, self.level) > USABLE_QUADRATURE]] += 1
        return rung

    def first_rung_of_one(self, sharpness: float, start: Array) -> int:
        """The same of one sample, whose start (1, q) is looked at above level 2 only."""
        if self.level == 2:
            return self.space.rung_for_one(sharpness, self.level)
        return int(self.first_rung(np.array([sharpness]), start)[0])

    def solve(self, m: Array, start: Array, rung: IntArray) -> tuple[DualSolution, BoolArray]:
        """Fits on the ladder of grids, and which rows must be found in another way."""
        if len(m) == 1:
            one = self.solve_single(int(rung[0]), m[0], start[0])
            if one is not None:
                return one, np.zeros(1, dtype=bool)
        many = len(m) >= MANY_ROWS
        near, rung = self._approached(m, start, rung) if many else (start.copy(), rung)
        start = start.copy()
        out = DualSolution.empty(len(m), self.q, Status.UNRESOLVED)
        doubtful, pending = np.ones((2, len(m)), dtype=bool)
        for step in range(int(rung.min()), self._rungs):
            rows = np.flatnonzero(pending & (rung <= step))
            if not len(rows):
                continue
            grid = self.space.grid(step)
            part = (
                self._solve_stack(grid, m[rows], near[rows], start[rows])
                if many
                else self.solve_on(grid, m[rows], start[rows])
            )
            part.rungs[:] = step
            self._look_again(part, step)
            found = (part.status == _CONVERGED) & (part.condition <= COLLINEAR_MOMENTS)
            settled = found & (part.quadrature <= allowed_quadrature(part.lam))
            out.put(rows, part)
            doubtful[rows[settled]] = False
            creeping = (part.status != _CONVERGED) & ~(part.quadrature > USABLE_QUADRATURE)
            leaving = settled | creeping | (part.condition > COLLINEAR_MOMENTS)
            pending[rows[leaving]] = False
            if not pending.any():
                break
            usable = ~leaving & found & (part.quadrature <= USABLE_QUADRATURE)
            start[rows[usable]] = near[rows[usable]] = part.lam[usable]  # others begin again
        return out, doubtful

    def _approached(self, m: Array, start: Array, rung: IntArray) -> tuple[Array, IntArray]:
        """Parameters near the fits of most rows of a stack, and the rungs that these ask for.

        At level 2 they are believed when they ask for one more than the moments did. Above, parts
        of an exponent often cancel, and they count only where they ask for less.
        """
        near, chosen = start.copy(), rung.copy()
        for first in np.unique(rung[rung < self._rungs]):
            rows = np.flatnonzero(rung == first)
            aim = self._aim(int(self._reaches[first]), start[rows])
            if not approachable(self.space, self.level, aim):
                continue
            near[rows], psi = approach(self.space, self.level, aim, m[rows], start[rows])
            most = first + (self.level == 2)
            chosen[rows] = np.minimum(self.sufficient(near[rows], psi), most)
        return near, chosen

    def _aim(self, reach: int, start: Array) -> int:
        """The reach that a stack is approached for: little more than most starts need."""
        some = start[:: -(-len(start) // _ASKED)]
        need = np.sort(reach_for(self.space, some, 0.0))[int(_MOST * len(some))]
        return min(reach, _COARSE_STEP * math.ceil((_ROOM * need + self.level) / _COARSE_STEP))

    def _solve_stack(self, grid: Grid, m: Array, near: Array, start: Array) -> DualSolution:
        """Fits on one grid: of plain rows by their last steps, of others by all of them.

        At high levels these are left open: there are quicker ways for one row.
        """
        if not approachable(self.space, self.level, grid.reach):
            return self.solve_on(grid, m, start)
        out = GridStack(self.space, self.level, grid).solve(m, near)
        left = np.flatnonzero(out.status != _CONVERGED)
        if len(left) and self.level <= LOW_LEVELS:
            out.put(left, self.solve_on(grid, m[left], start[left]))
        return out

    def solve_single(self, rung: int, m: Array, start: Array) -> DualSolution | None:
        """One sample the quick way, or None where it takes the careful one."""
        rungs = self._rungs
        while rung < rungs:
            one = solve_one(self.space, self.level, rung, m, start)
            if one is None or one.condition[0] > COLLINEAR_MOMENTS:
                return None
            if one.condition[0] > DOUBTED_GRID:
                self._look_again(one, rung)
            if one.quadrature[0] <= QUADRATURE_TOLERANCE:
                return one
            start = one.lam[0] if one.quadrature[0] <= USABLE_QUADRATURE else start
            rung += 1
        return None

    def _look_again(self, found: DualSolution, rung: int) -> None:
        """ψ of nearly collinear laws on the next grid too: faint sharp modes hide from a spectrum.

        The difference joins the estimate of the quadrature error.
        """
        rows = np.flatnonzero(
            (found.condition > DOUBTED_GRID) & (found.quadrature <= USABLE_QUADRATURE)
        )
        if not len(rows) or rung + 1 >= self.space.rungs():
            return
        finer, _ = density_on(self.space.grid(rung + 1), found.lam[rows])
        apart = np.abs(finer - found.psi[rows]) - ROUNDOFF * np.abs(found.lam[rows]).sum(axis=1)
        found.quadrature[rows] = np.maximum(found.quadrature[rows], apart)

    def solve_from_moments(self, m: Array, start: Array, rung: int) -> DualSolution:
        """One row whose rows are not at hand: careful steps on the ladder, then on cells."""
        begin = start
        for step in range(rung, self._rungs):
            one = self._solve_carefully(self.space.grid(step), m[None], start[None])
            one.rungs[:] = step
            self._look_again(one, step)
            if one.quadrature[0] <= allowed_quadrature(one.lam)[0]:
                return _as_determined(one, begin)
            one.status[:] = Status.UNRESOLVED
            if one.quadrature[0] <= USABLE_QUADRATURE:
                start = one.lam[0]
        if self.has_cells:
            return _as_determined(solve_locally(self.level, m, start), begin)
        return one

    def solve_on(self, grid: Grid, m: Array, start: Array) -> DualSolution:
        """Fits on one grid, in few steps or not at all."""
        return _solve_with(lambda lam: self.by_moments(grid, lam), self.level, grid, m, start)

    def _solve_carefully(self, grid: Grid, m: Array, start: Array) -> DualSolution:
        """The same with features re-orthonormalised under the law at every step."""

        def evaluate(lam: Array, _rows: IntArray) -> Root:
            return self._root(grid, lam)

        for _ in range(_TRIES):
            path = newton(evaluate, m, start)
            end = self._root(grid, path.lam)
            out = judge(path, m, end)
            start = out.lam
            if out.status[0] == _CONVERGED or not out.residual[0] < NEARLY_RESIDUAL:
                break
        out.moment_rounding[:] += end.hidden(m - end.mean)
        out.quadrature[:] = grid.unresolved(end.density, self.level)
        out.nodes[:] = grid.nodes
        return out

    def by_moments(self, grid: Grid, lam: Array) -> Covariance:
        """ψ, mean and covariance on one grid, from moments through degree 2L."""
        peak, values = peaked(grid, lam)
        moments = grid.analyze(values, 2 * self.level)
        total = moments[:, :1]
        psi = np.log(total[:, 0]) + peak
        second = second_moments(self.space, self.level, moments / total)
        mean = second[:, 0, 1:]
        covariance = second[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :]
        return Covariance(psi, mean, covariance, values)

    def _root(self, grid: Grid, lam: Array) -> Root:
        psi, density = density_on(grid, lam)
        means = np.empty_like(lam)
        roots = np.empty((len(lam), self.q, self.q))
        for b, row in enumerate(density):
            mass = row * grid.weights
            active = mass > NEGLIGIBLE_MASS
            phi = self.space.harmonics(grid.points[active], self.level)[:, 1:]
            means[b], roots[b] = mean_and_root(mass[active], phi)
        return Root(psi, means, density, roots)


def _solve_with(
    evaluate: Callable[[Array], Covariance | Root], level: int, grid: Grid, m: Array, start: Array
) -> DualSolution:
    def stacked(lam: Array, _rows: IntArray) -> Covariance | Root:
        return evaluate(lam)  # all rows share the grid

    path = newton(stacked, m, start, max_steps=_MOST_STEPS)
    end = evaluate(path.lam)
    out = judge(path, m, end)
    out.quadrature[:] = grid.unresolved(end.density, level)
    out.nodes[:] = grid.nodes
    return out


def _as_determined(out: DualSolution, start: Array) -> DualSolution:
    """A fit to moments alone, under which the features may be nearly collinear.

    Sums over many rows and transforms leave moments good to some hundreds of roundings, which
    only laws of large parameters feel. The law of the level below, where it has all the
    moments already, is beyond doubt.
    """
    if not np.array_equal(out.lam[0], start) and out.condition[0] > COLLINEAR_MOMENTS:
        out.moment_rounding[:] *= _SUMMED
    return out
