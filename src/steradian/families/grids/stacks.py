"""Stacks of samples on one grid: first steps in single precision, the last in double.

Most of the time of a fit on a grid goes into exponentials. On the way to a fit a few digits are
enough, and these a coarser grid has in single precision: a rule that integrates exp(λ·φ) to 1e-12
keeps half of the digits with six tenths of its reach. Newton's method runs there until its
decrement is of that size. Then the law is looked at in double precision on the grid itself, and one
more step s is taken, which is not looked at again: what it leaves of the gradient,

    r = ½ Cov((s·φ)², φ) + O(|s|³),

is known to a few digits from the grid on the way, and is taken off by a second step (Chebyshev's
method). With ρ the ratio of the two decrements, r and δ, the errors stated are a few ρ r and ρ² δ².
Between the two each row chooses its grid: parameters bound how fast a spectrum falls (`reach_for`).

Rows that need more (shorter steps, collinear features) do not arrive, and are left to the careful
way. No row looks at another.

References
----------
Duffin and Schaeffer (1938), Bulletin of the American Mathematical Society 44, 236-240.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from steradian.data.stacks import blocks
from steradian.families.grids.curvature import Covariance
from steradian.fitting.newton import DenseCurvature, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import AnyArray, Array, BoolArray, IntArray
from steradian.numerics.linalg import conditions, solver
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    LEFT_OVER_DIGITS,
    MOMENT_ROUNDING,
    QUADRATURE_TOLERANCE,
    RESTING_DECREMENT,
    SINGLE_LAST_STEP,
    UNSEEN_RATIO,
    UNSEEN_STEP,
)
from steradian.spaces import Circle, Grid, Sphere
from steradian.spaces.products import second_moments

_SHARE = 0.6  # of the reach of a grid, that of the grid on the way
_ENTRIES = 1 << 17  # values at nodes that stay near the processor
_TABLE_ENTRIES = 1 << 22  # of tables of features
_MOST_STEPS = 12  # in single precision
_MOST_LOOKS = 3  # in double precision
_SAFETY = 8.0  # over the square of that ratio, of which a third and in one case six were measured
_LARGEST_EXPONENT = 60.0  # of single precision, with room for a sum
_STRIPS = np.linspace(0.1, 3.0, 30)[:, None]  # half-widths τ of strips about the real angles,
_GROWTH = np.cosh(_STRIPS * np.arange(1, 65))  # cosh kτ, to the highest of levels,
_SUMS = np.log(-2.0 / np.expm1(-_STRIPS))  # and the log of 2 Σ exp(-Nτ)

Evaluate = Callable[[Array], Covariance]
"""Parameters (b, q) → their curvature on a grid, in double precision."""

LeftOver = Callable[[Array, Array, Array], Array]
"""Parameters, steps, and means of the features, (b, q) each → what of the gradient is left."""


def approach(
    space: Circle | Sphere, level: int, reach: int, m: Array, start: Array
) -> tuple[Array, Array]:
    """Parameters near the fits to ``m`` (B, q) from ``start`` (B, q), or anywhere; their ψ (B,).

    In single precision, for a grid that reaches a degree of ``reach``.
    """
    low, wide = _tables(space, level, int(_SHARE * reach))
    seen = np.zeros(len(m))

    def curvature(lam: Array, rows: IntArray) -> DenseCurvature:
        moments: AnyArray = np.empty((len(lam), wide.shape[1]), dtype=np.float32)
        psi = np.empty(len(lam))
        for some in blocks(len(lam), low.shape[1], _ENTRIES):
            psi[some], moments[some] = _integrated(lam[some], low, wide)
        total = moments[:, :1]
        psi += np.log(total[:, 0].astype(np.float64))
        seen[rows] = psi
        second = second_moments(space, level, moments / total)
        mean = second[:, 0, 1:]
        covariance = second[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :]
        return DenseCurvature(psi, mean, covariance)

    path = newton(curvature, m, start, max_steps=_MOST_STEPS, last_step=SINGLE_LAST_STEP)
    return path.lam, seen


def _integrated(lam: Array, low: AnyArray, wide: AnyArray) -> tuple[Array, AnyArray]:
    """An exponent near the largest (B,), and the moments of the laws over its exponential."""
    peak, values = _densities(lam, low)
    return peak.astype(np.float64), values @ wide


def _densities(lam: Array, low: AnyArray) -> tuple[AnyArray, AnyArray]:
    """An exponent near the largest (B,), and the densities over its exponential (B, nodes)."""
    values = lam.astype(np.float32) @ low
    peak = np.zeros(len(lam), dtype=np.float32)
    if lam.shape[1] * np.einsum("bq,bq->b", lam, lam).max() > _LARGEST_EXPONENT**2:
        peak = values.max(axis=1)
        values -= peak[:, None]
    np.exp(values, out=values)
    return peak, values


def approachable(space: Circle | Sphere, level: int, reach: int) -> bool:
    """Whether the tables of `approach` are of a size that one keeps."""
    grid = space.exact_grid(int(_SHARE * reach))
    return grid.nodes * (space.size(level) + space.size(2 * level)) <= _TABLE_ENTRIES


@lru_cache(maxsize=48)
def _tables(space: Circle | Sphere, level: int, reach: int) -> tuple[AnyArray, AnyArray]:
    """Features (q, nodes) of a grid, and its weights times those to twice the level (nodes, K)."""
    grid = space.exact_grid(reach)
    wide = space.harmonics(grid.points, 2 * level)
    low = np.ascontiguousarray(wide[:, 1 : space.size(level)].T, dtype=np.float32)
    return low, np.ascontiguousarray(wide * grid.weights[:, None], dtype=np.float32)


def reach_for(space: Circle | Sphere, lam: Array, psi: Array) -> Array:
    """Degrees that a rule should reach to integrate laws ``lam`` (B, q) to 1e-12, (B,).

    See `aliasing_bound`. Parts of an exponent that cancel on the real sphere do not beside it: then
    this is far too much.
    """
    wanted = _log_sizes(space, lam, psi) - np.log(QUADRATURE_TOLERANCE)
    return np.asarray((wanted / _STRIPS).min(axis=0) - 1.0)


def aliasing_bound(space: Circle | Sphere, lam: Array, psi: Array, reach: int) -> Array:
    """Bound of the relative error of ∫ exp(λ·φ) by a rule that reaches a degree, (B,).

    With a_k the largest value of the part of λ·φ of degree k, real trigonometric polynomials on
    every great circle, the exponential is below M = exp(Σ a_k cosh kτ) on the strip of half-width τ
    about the real angles (Duffin and Schaeffer 1938), and its coefficients of degree N are below
    M exp(-N τ), for every τ. Their sum over N > reach, twice, is what a rule may miss.
    """
    logs = _log_sizes(space, lam, psi) - (reach + 1.0) * _STRIPS
    return np.exp(np.minimum(logs.min(axis=0), 0.0))


def _log_sizes(space: Circle | Sphere, lam: Array, psi: Array) -> Array:
    """Log of 2 M / (1 - exp(-τ)) over exp(ψ), for every strip: (strips, B)."""
    level = next(k for k in range(1, lam.shape[1] + 1) if space.size(k) > lam.shape[1])
    first = [space.size(k - 1) - 1 for k in range(1, level + 1)]
    sizes = np.sqrt(np.add.reduceat(lam * lam, first, axis=1))
    sizes *= np.sqrt(np.diff([*first, lam.shape[1]]))  # |a·φ_k|² <= |a|² Σ φ_k², and that is known
    logs = _GROWTH[:, :level] @ sizes.T
    logs += _SUMS
    logs -= psi
    return logs


@dataclass(frozen=True, slots=True)
class GridStack:
    """The last steps of many samples on one grid."""

    space: Circle | Sphere
    level: int
    grid: Grid
    evaluate: Evaluate

    def solve(self, m: Array, start: Array) -> DualSolution:
        """Fits to ``m`` (B, q) from ``start`` (B, q) near them; others are UNRESOLVED."""
        out = DualSolution.empty(len(m), m.shape[1], Status.UNRESOLVED)
        for rows in blocks(len(m), self.grid.nodes, _ENTRIES):
            at = np.arange(len(m))[rows]
            self._finish(_Iterates(at, m[rows], start[rows], np.ones(len(at))), out)
        return out

    def _finish(self, at: _Iterates, out: DualSolution) -> None:
        """Look in double precision and take the last steps; write the rows that arrive."""
        for step in range(1, _MOST_LOOKS + 1):
            look = _Look.at(at, self.evaluate(at.lam), self._left_over)
            done = np.flatnonzero(look.arrived)
            if len(done):
                out.steps[at.rows[done]] = step
                self._write(at, look, done, out)
            going = np.flatnonzero(~look.arrived & (look.decrement < 0.5 * at.last))
            if not len(going):
                return
            at = at.moved(look, going)

    def _left_over(self, lam: Array, step: Array, mean: Array) -> Array:
        """What steps from ``lam`` leave of the gradient, to second order, (b, q)."""
        low, wide = _tables(self.space, self.level, int(_SHARE * self.grid.reach))
        wide = wide[:, : len(low) + 1]
        values = _densities(lam, low)[1]
        change = step.astype(np.float32) @ low
        total = values @ wide[:, 0]
        change -= (np.einsum("bn,bn,n->b", values, change, wide[:, 0]) / total)[:, None]
        values *= change * change
        bent = (values @ wide).astype(np.float64) / total[:, None]
        return np.asarray(0.5 * (bent[:, 1:] - bent[:, :1] * mean))

    def _write(self, at: _Iterates, look: _Look, done: IntArray, out: DualSolution) -> None:
        """The rows ``done`` after their last step."""
        rows, here = at.rows[done], look.here
        whole = len(done) == len(at.rows)
        density, covariance = (v if whole else v[done] for v in (here.density, here.covariance))
        pivots = None if look.pivots is None else look.pivots[done]
        lam, dual = at.lam[done] + look.last_step[done], look.dual[done]
        psi = np.einsum("bq,bq->b", lam, at.m[done]) - dual
        error = aliasing_bound(self.space, lam, psi, self.grid.reach)
        unsure = np.flatnonzero(~(error <= QUADRATURE_TOLERANCE))
        if len(unsure):  # then their own spectra say more
            error[unsure] = self.grid.unresolved(density[unsure], self.level)
        out.lam[rows] = lam
        out.psi[rows] = psi
        out.deficit[rows] = dual
        out.residual[rows] = look.residual[done]
        out.decrement[rows] = _SAFETY * look.ratio[done] * look.known[done] * look.decrement[done]
        out.condition[rows] = conditions(covariance, pivots)
        out.quadrature[rows] = error + look.error[done]
        out.moment_rounding[rows] = MOMENT_ROUNDING * np.abs(lam).sum(axis=1)
        out.nodes[rows] = self.grid.nodes
        out.status[rows] = Status.CONVERGED


@dataclass(frozen=True, slots=True)
class _Iterates:
    """Rows still in play."""

    rows: IntArray  # (b,) where they belong
    m: Array  # (b, q)
    lam: Array  # (b, q)
    last: Array  # (b,) decrements before

    def moved(self, look: _Look, going: IntArray) -> _Iterates:
        """Some of them after a step."""
        lam = self.lam[going] + look.step[going]
        return _Iterates(self.rows[going], self.m[going], lam, look.decrement[going])


@dataclass(frozen=True, slots=True)
class _Look:
    """Laws in double precision and the steps from them."""

    here: Covariance
    pivots: AnyArray | None  # (b, q) of their covariances
    dual: Array  # (b,) after both steps
    step: Array  # (b, q) of Newton
    last_step: Array  # (b, q) with what it leaves taken off
    decrement: Array  # (b,)
    ratio: Array  # (b,) of what the step leaves, in the metric of the decrement, over it
    known: Array  # (b,) relative error of what it leaves
    residual: Array  # (b,) largest moment mismatch after both

    @classmethod
    def at(cls, at: _Iterates, here: Covariance, left_over: LeftOver) -> _Look:
        gradient = at.m - here.mean
        systems = solver(here.covariance)
        step = systems.solve(gradient)
        decrement = np.sqrt(np.maximum(np.einsum("bq,bq->b", gradient, step), 0.0))
        size = np.maximum(decrement, RESTING_DECREMENT)
        with np.errstate(over="ignore", invalid="ignore"):  # such rows do not arrive
            left = left_over(at.lam, step / size[:, None], here.mean)  # of a step of length one
        second = systems.solve(left)
        ratio = size * np.sqrt(np.maximum(np.einsum("bq,bq->b", left, second), 0.0))
        dual = np.einsum("bq,bq->b", at.lam, at.m) - here.psi + 0.5 * decrement**2
        dual -= size * np.einsum("bq,bq->b", left, step) * size / 3.0
        known = np.maximum(ratio, LEFT_OVER_DIGITS)
        residual = _SAFETY * known * size**2 * np.abs(left).max(axis=1)
        last = step - size[:, None] ** 2 * second
        return cls(here, systems.pivots, dual, step, last, decrement, ratio, known, residual)

    @property
    def error(self) -> Array:
        """Of the dual, (b,)."""
        return _SAFETY * self.ratio * self.known * self.decrement**2

    @property
    def arrived(self) -> BoolArray:
        """Rows whose steps are the last."""
        good = (self.decrement <= UNSEEN_STEP) & (self.ratio <= UNSEEN_RATIO)
        return good & (self.residual <= ACCEPTED_RESIDUAL)
