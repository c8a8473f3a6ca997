"""The first steps of many samples, side by side and in single precision.

Newton's method as in `fitting.newton`, for a stack of small systems on one coarse grid. There the
arithmetic is little, and most of the time would go into moving numbers about. So the rows of a
stack come last in every array: sums over few features are then sums of long rows, and no system is
turned over before it is solved. Where the path ends is no result: what is found is looked at again
in double precision (`families.grids.stacks`).
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from functools import lru_cache

import numpy as np

from steradian.data.stacks import blocks
from steradian.fitting.newton import ARMIJO
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.linalg import SideBySide
from steradian.numerics.tolerances import SHORTEST_STEP, SINGLE_LAST_STEP, SINGLE_ROUNDING
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import second_moments_of

MOST_STEPS = 12
MOST_FEATURES = 24  # of systems that are quicker solved side by side
_ENTRIES = 1 << 16  # values at nodes that stay near the processor
_LARGEST_EXPONENT = 60.0  # of single precision, with room for a sum
_SLACK = 8.0 * SINGLE_ROUNDING  # of a dual, times its size: a few roundings of its terms


@dataclass(frozen=True, slots=True, eq=False)
class CoarseGrid:
    """Features at the nodes of a grid, in single precision."""

    space: Circle | Sphere
    level: int
    low: AnyArray  # (nodes, n) features of the level, the constant first
    wide: AnyArray  # (K, nodes) weights times features to twice the level

    def at(self, lam: Array, about: Array) -> tuple[Array, AnyArray, AnyArray]:
        """ψ (B,), mean (q, B) and covariance (q, q, B) of laws ``lam`` (q, B) of ψ near ``about``.

        What overflows is not finite in its column only.
        """
        psi, moments = self.moments(lam, about)
        second = second_moments_of(self.space, self.level).side_by_side(moments)
        mean = second[0, 1:]
        covariance = second[1:, 1:]
        covariance -= mean[:, None] * mean
        return psi, mean, covariance

    def moments(self, lam: Array, about: Array) -> tuple[Array, AnyArray]:
        """ψ (B,) and means of the features to twice the level, (K, B), of laws ``lam`` (q, B)."""
        sums = self._sums(lam, about)
        total = sums[0]
        return about + np.log(total, dtype=np.float64), sums / total

    def _sums(self, lam: Array, about: Array) -> AnyArray:
        """Sums of exp(λ·φ - about) times the features to twice the level, (K, B)."""
        sums: AnyArray = np.empty((len(self.wide), lam.shape[1]), dtype=np.float32)
        for some in blocks(lam.shape[1], self.low.shape[0], _ENTRIES):
            values = self.densities(lam[:, some], about[some])
            np.matmul(self.wide, values, out=sums[:, some])
        return sums

    def densities(self, lam: Array, psi: Array) -> AnyArray:
        """exp(λ·φ - ψ) at the nodes, (nodes, B)."""
        values = self.low @ _with_constant(-psi, lam)
        return np.exp(values, out=values)

    def left_over(self, lam: Array, psi: Array, mean: Array, step: Array) -> Array:
        """What steps (q, B) from laws ``lam`` leave of the gradient, to second order, (q, B).

        ½ Cov((s·φ)², φ) with φ less its mean.
        """
        wide = self.wide[: self.low.shape[1]]
        bent = np.empty((len(wide), lam.shape[1]))
        away = -np.einsum("qb,qb->b", step, mean)
        for some in blocks(lam.shape[1], self.low.shape[0], _ENTRIES):
            values = self.densities(lam[:, some], psi[some])
            change = self.low @ _with_constant(away[some], step[:, some])
            change *= change
            values *= change
            bent[:, some] = wide @ values
        return np.asarray(0.5 * (bent[1:] - bent[0] * mean))

    def largest_exponents(self, lam: Array) -> Array:
        """Exponents near the largest of each law, (B,); zero where none is large."""
        if lam.shape[0] * np.einsum("qb,qb->b", lam, lam).max() <= _LARGEST_EXPONENT**2:
            return np.zeros(lam.shape[1])  # |λ·φ|² <= q |λ|²
        parts = [
            (self.low[:, 1:] @ lam[:, some].astype(np.float32)).max(axis=0)
            for some in blocks(lam.shape[1], self.low.shape[0], _ENTRIES)
        ]
        return np.concatenate(parts).astype(np.float64)


@dataclass(frozen=True, slots=True, eq=False)
class RoughLaws:
    """Integrals to the digits of a coarse grid, for what is looked at again."""

    grid: CoarseGrid

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ (B,), mean (B, q) and covariance (B, q, q) of laws ``lam`` (B, q)."""
        columns = np.ascontiguousarray(lam.T)
        with np.errstate(all="ignore"):  # steps that overflow are not finite, and are not taken
            psi, mean, covariance = self.grid.at(columns, self.grid.largest_exponents(columns))
        return psi, mean.T.astype(np.float64), covariance.transpose(2, 0, 1).astype(np.float64)


def _with_constant(constant: Array, lam: Array) -> AnyArray:
    """Coefficients of the constant and of the features, (n, B), in single precision."""
    out: AnyArray = np.empty((len(lam) + 1, lam.shape[1]), dtype=np.float32)
    out[0], out[1:] = constant, lam
    return out


@lru_cache(maxsize=48)
def coarse_grid(space: Circle | Sphere, level: int, reach: int) -> CoarseGrid:
    """The smallest one exact to a degree of ``reach``."""
    grid = space.exact_grid(reach)
    wide = space.harmonics(grid.points, 2 * level)
    low = np.ascontiguousarray(wide[:, : space.size(level)], dtype=np.float32)
    weighted = np.ascontiguousarray((wide * grid.weights[:, None]).T, dtype=np.float32)
    return CoarseGrid(space, level, low, weighted)


def approach_side_by_side(grid: CoarseGrid, m: Array, start: Array) -> tuple[Array, Array]:
    """Parameters near the fits to ``m`` (B, q) from ``start`` (B, q), or anywhere; their ψ (B,)."""
    lam, psi = start.copy(), np.zeros(len(m))
    with np.errstate(all="ignore"):  # rows that overflow end where they were
        at = _Rows.beginning(grid, np.ascontiguousarray(m.T), np.ascontiguousarray(start.T))
        for _ in range(MOST_STEPS):
            near = at.decrement <= SINGLE_LAST_STEP**2
            going = (at.decrement > SINGLE_LAST_STEP**2) & (at.length >= SHORTEST_STEP)
            if not going.all():
                done = np.flatnonzero(~going)
                ends = at.lam[:, done] + np.where(near[done], at.step[:, done], 0.0)
                lam[at.rows[done]], psi[at.rows[done]] = ends.T, at.psi[done]
                if len(done) == len(going):
                    return lam, psi
                at = at.kept(np.flatnonzero(going))
            at.advance(grid)
        lam[at.rows], psi[at.rows] = at.lam.T, at.psi
    return lam, psi


@dataclass(slots=True)
class _Rows:
    """Rows on their way, with the Newton step of each."""

    rows: IntArray  # (b,) where they stand in the stack
    m: Array  # (q, b)
    lam: Array  # (q, b)
    psi: Array  # (b,)
    dual: Array  # (b,)
    step: AnyArray  # (q, b)
    decrement: AnyArray  # (b,) squared
    length: Array  # (b,) share of the step that is tried next

    @classmethod
    def beginning(cls, grid: CoarseGrid, m: Array, lam: Array) -> _Rows:
        count = m.shape[1]
        law = _law(grid, m, lam, grid.largest_exponents(lam))
        return cls(np.arange(count), m, lam, *law, np.ones(count))

    def kept(self, places: IntArray) -> _Rows:
        return _Rows(*(getattr(self, each.name).take(places, axis=-1) for each in fields(self)))

    def advance(self, grid: CoarseGrid) -> None:
        """Take the steps that raise the dual, and aim the next; halve the others."""
        trial = self.lam + self.length * self.step
        law = _law(grid, self.m, trial, self.psi)
        rise = law[1] - self.dual
        slack = _SLACK * (1.0 + np.abs(self.psi))
        risen = rise + slack >= ARMIJO * self.length * self.decrement
        self.length = np.where(risen, 1.0, 0.5 * self.length)
        old: list[AnyArray] = [self.lam, self.psi, self.dual, self.step, self.decrement]
        new: list[AnyArray] = [trial, *law]
        if not risen.all():
            new = [np.where(risen, *both) for both in zip(new, old, strict=True)]
        self.lam, self.psi, self.dual, self.step, self.decrement = new


def _law(
    grid: CoarseGrid, m: Array, lam: Array, about: Array
) -> tuple[Array, Array, AnyArray, AnyArray]:
    """ψ, dual, Newton step and squared decrement of laws ``lam`` (q, b)."""
    psi, mean, covariance = grid.at(lam, about)
    gradient = (m - mean).astype(np.float32)
    step = SideBySide.in_place(covariance).columns(gradient)
    dual = np.einsum("qb,qb->b", lam, m) - psi
    return psi, dual, step, np.einsum("qb,qb->b", gradient, step)
