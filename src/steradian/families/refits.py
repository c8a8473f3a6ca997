"""Fits of many replicates that lie about one fit, to the few digits that a comparison needs.

A p-value counts the replicates that leave more over than the sample. Whether one does is seen on
a few grids shared by all. At levels 1 and 2 the verified fit is asked for replicates that no grid
here resolves; above they count as without a fit, unless the finest grid already tells.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.fitting.newton import DenseCurvature, Evaluate, judge, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import (
    REFIT_AGREED,
    REFIT_LAST_STEP,
    REFIT_LOST,
    REFIT_MISMATCH,
    REFIT_SEEN,
    REFIT_UNRESOLVED,
)
from steradian.spaces import Circle, Grid, Sphere
from steradian.spaces.products import second_moments

_MOST_LEVELS = {2: 256, 3: 20}  # by ambient dimension
_NODES_TO = {2: (128, 1024, 8192), 3: (47, 95, 191, 383)}  # degrees reached, by ambient dimension
_MOST_STEPS = 25
_BEFORE_A_SEARCH = 2  # of the grids below, where what they miss is searched for by other means
_PARAMETERS_ON = {  # degrees of the grids on which they are looked for, and steps on each
    2: ((128, 25), (1024, 25), (8192, 150), (32767, 25)),
    3: ((47, 25), (95, 25), (191, 25)),
}
_SEARCHED_LEVELS = 12  # of a circle; above, a search takes a tenth of a second, and finds few
_VERIFIED_LEVELS = 2  # above, each takes long
_ENTRIES = 4_000_000  # densities held at once


@dataclass(frozen=True, slots=True)
class Refits:
    """The families of one level on the circle or the two-sphere, near one fit ``lam`` (q,)."""

    space: Circle | Sphere
    level: int
    lam: Array

    @property
    def verifiable(self) -> bool:
        """Whether a verified fit of a replicate that is not sure is worth its time."""
        return self.level <= _VERIFIED_LEVELS

    @property
    def possible(self) -> bool:
        """Whether the covariances are quick enough for hundreds of replicates."""
        return self.level <= _MOST_LEVELS[self.space.d]

    @property
    def thorough(self) -> bool:
        """Whether a replicate whose parameters are not found is not worth a search of its own."""
        return isinstance(self.space, Circle) and self.level > _SEARCHED_LEVELS

    def expectations(self, m: Array, degree: int) -> tuple[Array, BoolArray]:
        """E φ through ``degree`` of the fits to ``m`` (B, q): (B, q_degree), and which are sure.

        An unsure one is of the law on the nodes of the finest grid that has these moments, which
        is close to the fit; NaN where there is none.
        """
        out = np.full((len(m), self.space.size(degree) - 1), np.nan)
        sure = np.zeros(len(m), dtype=bool)
        if not self.possible:
            return out, sure
        left, lam = np.arange(len(m)), np.tile(self.lam, (len(m), 1))
        for reach in _NODES_TO[self.space.d]:
            grid = self._grid(reach, degree)
            if grid is None:
                continue
            for part in _parts(left, grid):
                found, ends, matched, resolved = self._on(grid, m[part], lam[part], degree)
                with np.errstate(invalid="ignore"):
                    agreed = (
                        np.abs(found - out[part]).max(axis=1) <= REFIT_AGREED
                    )  # with coarser nodes
                out[part[matched]], lam[part[matched]] = found[matched], ends[matched]
                sure[part[resolved | (matched & agreed)]] = True
            left = np.flatnonzero(~sure)
            if not len(left):
                break
        return out, sure

    def parameters(self, m: Array) -> tuple[Array, BoolArray]:
        """λ (B, q) of the fits to ``m`` (B, q), and which of them converged and are resolved.

        Few grids are tried: a replicate that takes many is quicker fitted by itself.
        """
        lam, found = np.tile(self.lam, (len(m), 1)), np.zeros(len(m), dtype=bool)
        if not self.possible:
            return lam, found
        grids = _PARAMETERS_ON[self.space.d]
        for reach, most in grids if self.thorough else grids[:_BEFORE_A_SEARCH]:
            grid = self._grid(reach, self.level)
            if grid is None:
                continue
            for part in _parts(np.flatnonzero(~found), grid):
                ended = self._ended(grid, m[part], lam[part], most)
                good = ended.status == Status.CONVERGED
                lam[part[good]] = ended.lam[good]
                found[part[good]] = ended.quadrature[good] <= REFIT_SEEN
            if found.all():
                break
        return lam, found

    def _ended(self, grid: Grid, m: Array, start: Array, most: int) -> DualSolution:
        """Where Newton's method ends on one grid, what that is worth, and what the grid misses."""
        evaluate = self._evaluation(grid)
        with np.errstate(all="ignore"):
            path = newton(evaluate, m, start, max_steps=most)
            out = judge(path, m, evaluate(path.lam, np.arange(len(m))))
            good = np.flatnonzero(out.status == Status.CONVERGED)
            if len(good):
                values, _ = _densities(grid, path.lam[good])
                values /= (values @ grid.weights)[:, None]
                out.quadrature[good] = grid.unresolved(values, self.level)
        return out

    def _grid(self, reach: int, degree: int) -> Grid | None:
        """The grid of this degree or more; None if the fit itself is lost between its nodes."""
        grid = self.space.exact_grid(max(reach, 3 * self.level + degree))
        return None if self._too_coarse(grid) else grid

    def _too_coarse(self, grid: Grid) -> bool:
        """Whether the fit that the replicates lie about is itself lost between the nodes."""
        values, _ = _densities(grid, self.lam[None])
        values /= values @ grid.weights
        return bool(grid.unresolved(values, self.level)[0] > REFIT_LOST)

    def _on(
        self, grid: Grid, m: Array, start: Array, degree: int
    ) -> tuple[Array, Array, BoolArray, BoolArray]:
        """The same on one grid with the λ, which rows have a law there, and which it resolves."""
        evaluate = self._evaluation(grid)
        with np.errstate(all="ignore"):
            path = newton(evaluate, m, start, max_steps=_MOST_STEPS, last_step=REFIT_LAST_STEP)
            values, _ = _densities(grid, path.lam)
            values /= (values @ grid.weights)[:, None]
            found = grid.analyze(values, degree)[:, 1:]
            matched = np.abs(found[:, : m.shape[1]] - m).max(axis=1) <= REFIT_MISMATCH
            resolved, rows = matched.copy(), np.flatnonzero(matched)
            if len(rows):
                resolved[rows] = grid.unresolved(values[rows], self.level) <= REFIT_UNRESOLVED
        return found, path.lam, matched, resolved

    def _evaluation(self, grid: Grid) -> Evaluate:
        """Mean and covariance of the features on the nodes of a grid."""

        def evaluate(lam: Array, _rows: IntArray) -> DenseCurvature:
            values, peak = _densities(grid, lam)
            moments = grid.analyze(values, 2 * self.level)
            total = moments[:, :1]
            second = second_moments(self.space, self.level, moments / total)
            mean = second[:, 0, 1:]
            covariance = second[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :]
            return DenseCurvature(np.log(total[:, 0]) + peak, mean, covariance)

        return evaluate


def _parts(rows: IntArray, grid: Grid) -> list[IntArray]:
    """Rows whose densities are held at once."""
    return np.array_split(rows, 1 + len(rows) * grid.nodes // _ENTRIES) if len(rows) else []


def _densities(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """exp(λ·φ) over its largest value at the nodes (B, nodes), and the log of that (B,)."""
    values = grid.synthesize(lam)
    peak = values.max(axis=1)
    values -= peak[:, None]
    np.exp(values, out=values)
    return values, peak
