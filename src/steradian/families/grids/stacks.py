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

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, lru_cache

import numpy as np

from steradian.data.stacks import blocks
from steradian.families.grids.approach import (
    MOST_FEATURES,
    MOST_STEPS,
    CoarseGrid,
    approach_side_by_side,
    coarse_grid,
)
from steradian.families.grids.densities import density_on, moments_on
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
from steradian.spaces.products import second_moments_of

_SHARE = 0.6  # of the reach of a grid, that of the grid on the way
_ENTRIES = 1 << 17  # densities at nodes that are held at once
_TABLE_ENTRIES = 1 << 22  # of tables of features
_MOST_LOOKS = 3  # in double precision
_SAFETY = 8.0  # over the square of that ratio, of which a third and in one case six were measured
_STRIPS = np.linspace(0.1, 3.0, 30)[:, None]  # half-widths τ of strips about the real angles,
_GROWTH = np.cosh(_STRIPS * np.arange(1, 65))  # cosh kτ, to the highest of levels,
_STRIP_LOGS = np.log(-2.0 / np.expm1(-_STRIPS))  # and the log of 2 Σ exp(-Nτ)

LeftOver = Callable[[Array, DenseCurvature, Array], Array]
"""Parameters (b, q), their laws, and steps (b, q) → what of the gradient is left."""


def approach(
    space: Circle | Sphere, level: int, reach: int, m: Array, start: Array
) -> tuple[Array, Array]:
    """Parameters near the fits to ``m`` (B, q) from ``start`` (B, q), or anywhere; their ψ (B,).

    In single precision, for a grid that reaches a degree of ``reach``.
    """
    grid = on_the_way(space, level, reach)
    if m.shape[1] <= MOST_FEATURES:
        return approach_side_by_side(grid, m, start)
    seen = np.zeros(len(m))

    def curvature(lam: Array, rows: IntArray) -> DenseCurvature:
        psi, moments = grid.moments(lam.T, grid.largest_exponents(lam.T))
        seen[rows] = psi
        return _curvature(space, level, psi, moments.T)

    path = newton(curvature, m, start, max_steps=MOST_STEPS, last_step=SINGLE_LAST_STEP)
    return path.lam, seen


def _curvature(space: Circle | Sphere, level: int, psi: Array, moments: AnyArray) -> DenseCurvature:
    """From E φ (B, K) of laws; in memory the rows come last where systems are small."""
    products = second_moments_of(space, level)
    if space.size(level) - 1 <= MOST_FEATURES:
        columns = products.side_by_side(np.ascontiguousarray(moments.T))
        mean, covariance = columns[0, 1:], columns[1:, 1:]
        covariance -= mean[:, None] * mean
        return DenseCurvature(psi, mean.T, covariance.transpose(2, 0, 1))
    second = products.stack(np.ascontiguousarray(moments))
    mean = second[:, 0, 1:]
    return DenseCurvature(psi, mean, second[:, 1:, 1:] - mean[:, :, None] * mean[:, None, :])


def on_the_way(space: Circle | Sphere, level: int, reach: int) -> CoarseGrid:
    """The grid of first steps towards fits on one that reaches a degree of ``reach``."""
    return coarse_grid(space, level, int(_SHARE * reach))


def approachable(space: Circle | Sphere, level: int, reach: int) -> bool:
    """Whether the tables of `approach` are of a size that one keeps."""
    grid = space.exact_grid(int(_SHARE * reach))
    return grid.nodes * (space.size(level) + space.size(2 * level)) <= _TABLE_ENTRIES


def reach_for(space: Circle | Sphere, lam: Array, psi: Array | float) -> Array:
    """Degrees that a rule should reach to integrate laws ``lam`` (B, q) to 1e-12, (B,).

    See `aliasing_bound`. Parts of an exponent that cancel on the real sphere do not beside it: then
    this is far too much.
    """
    logs = _STRIP_LOGS - np.log(QUADRATURE_TOLERANCE)
    return np.asarray(_least_log(space, lam, psi, logs, _STRIPS) - 1.0)


def aliasing_bound(space: Circle | Sphere, lam: Array, psi: Array, reach: int) -> Array:
    """Bound of the relative error of ∫ exp(λ·φ) by a rule that reaches a degree, (B,).

    With a_k the largest value of the part of λ·φ of degree k, real trigonometric polynomials on
    every great circle, the exponential is below M = exp(Σ a_k cosh kτ) on the strip of half-width τ
    about the real angles (Duffin and Schaeffer 1938), and its coefficients of degree N are below
    M exp(-N τ), for every τ. Their sum over N > reach, twice, is what a rule may miss.
    """
    logs = _STRIP_LOGS - (reach + 1.0) * _STRIPS
    return np.exp(np.minimum(_least_log(space, lam, psi, logs), 0.0))


def aliasing_bound_of_one(space: Circle | Sphere, lam: Array, psi: float, reach: int) -> float:
    """The same of one law (q,), in few calls."""
    sizes_of, growth, logs = _strips_of_one(space, len(lam), reach)
    exponents = growth.dot(np.sqrt(sizes_of.dot(lam * lam)))
    return math.exp(min(float(np.minimum.reduce(exponents + logs)) - psi, 0.0))


@lru_cache(maxsize=64)
def _strips_of_one(space: Circle | Sphere, q: int, reach: int) -> tuple[Array, Array, Array]:
    """`_sizes_of_degrees`; of each strip cosh kτ, (strips, levels), and the rest of its log."""
    sizes_of = _sizes_of_degrees(space, q)
    growth = np.ascontiguousarray(_GROWTH[:, : len(sizes_of)])
    return sizes_of, growth, (_STRIP_LOGS - (reach + 1.0) * _STRIPS)[:, 0]


def _least_log(
    space: Circle | Sphere, lam: Array, psi: Array | float, logs: Array, over: Array | float = 1.0
) -> Array:
    """Least of (log M - ψ + logs) / over, the last (strips, 1), among all strips: (B,)."""
    sizes_of = _sizes_of_degrees(space, lam.shape[1])
    level = len(sizes_of)
    terms = np.empty((level + 2, len(lam)))
    np.sqrt(sizes_of @ (lam * lam).T, out=terms[:level])
    terms[level], terms[level + 1] = psi, 1.0
    factors = np.hstack([_GROWTH[:, :level], -np.ones_like(_STRIPS), logs])
    return np.asarray((factors / over @ terms).min(axis=0))


@cache
def _sizes_of_degrees(space: Circle | Sphere, q: int) -> Array:
    """What λ² (q,) is summed with to the bounds a_k², (levels, q).

    |a·φ_k|² <= |a|² Σ φ_k², and that is the number of features of the degree.
    """
    level = next(k for k in range(1, q + 1) if space.size(k) > q)
    degree = np.repeat(np.arange(level), np.diff([space.size(k) for k in range(level + 1)]))
    count = np.bincount(degree)
    return np.asarray(np.where(degree == np.arange(level)[:, None], count[:, None], 0.0))


@dataclass(frozen=True, slots=True)
class GridStack:
    """The last steps of many samples on one grid."""

    space: Circle | Sphere
    level: int
    grid: Grid

    def solve(self, m: Array, start: Array) -> DualSolution:
        """Fits to ``m`` (B, q) from ``start`` (B, q) near them; others are UNRESOLVED."""
        out = DualSolution.empty(len(m), m.shape[1], Status.UNRESOLVED)
        at = _Iterates(np.arange(len(m)), m, start, np.ones(len(m)))
        for step in range(1, _MOST_LOOKS + 1):
            look = _Look.at(at, self.law(at.lam), self._left_over)
            arrived = look.arrived
            if arrived.any():
                done = slice(None) if arrived.all() else np.flatnonzero(arrived)
                out.steps[at.rows[done]] = step
                self._write(at, look, done, out)
            going = np.flatnonzero(~arrived & (look.decrement < 0.5 * at.last))
            if not len(going):
                break
            at = at.moved(look, going)
        return out

    def law(self, lam: Array) -> DenseCurvature:
        """ψ, mean and covariance in double precision."""
        return _curvature(self.space, self.level, *moments_on(self.grid, lam, 2 * self.level))

    def quadrature(self, lam: Array, psi: Array) -> Array:
        """Error of ψ on the grid, (B,): a bound, or where that is large what spectra say."""
        error = aliasing_bound(self.space, lam, psi, self.grid.reach)
        unsure = np.flatnonzero(~(error <= QUADRATURE_TOLERANCE))
        for some in blocks(len(unsure), self.grid.nodes, _ENTRIES):
            density = density_on(self.grid, lam[unsure[some]])[1]
            error[unsure[some]] = self.grid.unresolved(density, self.level)
        return error

    def _left_over(self, lam: Array, here: DenseCurvature, step: Array) -> Array:
        """What steps from ``lam`` leave of the gradient, to second order, (b, q)."""
        grid = on_the_way(self.space, self.level, self.grid.reach)
        return grid.left_over(lam.T, here.psi, here.mean.T, step.T).T

    def _write(self, at: _Iterates, look: _Look, done: IntArray | slice, out: DualSolution) -> None:
        """The rows ``done`` after their last step."""
        rows = at.rows[done]
        lam, dual = at.lam[done] + look.last_step[done], look.dual[done]
        psi = np.einsum("bq,bq->b", lam, at.m[done]) - dual
        error = self.quadrature(lam, psi)
        out.lam[rows] = lam
        out.psi[rows] = psi
        out.deficit[rows] = dual
        out.residual[rows] = look.residual[done]
        out.decrement[rows] = _SAFETY * look.ratio[done] * look.known[done] * look.decrement[done]
        out.condition[rows] = conditions(look.here.covariance, look.pivots)[done]
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

    here: DenseCurvature
    pivots: AnyArray | None  # (b, q) of their covariances
    dual: Array  # (b,) after both steps
    step: Array  # (b, q) of Newton
    last_step: Array  # (b, q) with what it leaves taken off
    decrement: Array  # (b,)
    ratio: Array  # (b,) of what the step leaves, in the metric of the decrement, over it
    known: Array  # (b,) relative error of what it leaves
    residual: Array  # (b,) largest moment mismatch after both

    @classmethod
    def at(cls, at: _Iterates, here: DenseCurvature, left_over: LeftOver) -> _Look:
        gradient = at.m - here.mean
        systems = solver(here.covariance)
        step = systems.solve(gradient)
        decrement = np.sqrt(np.maximum(np.einsum("bq,bq->b", gradient, step), 0.0))
        size = np.maximum(decrement, RESTING_DECREMENT)
        with np.errstate(over="ignore", invalid="ignore"):  # such rows do not arrive
            left = left_over(at.lam, here, step / size[:, None])  # of a step of length one
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
