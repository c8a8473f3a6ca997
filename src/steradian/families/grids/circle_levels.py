"""Many levels of the circle at once.

Features are ordered by level, so that the Cholesky factor of the covariance of a high level holds
those of all levels below it as its corners. Under the fit of a level one factor, a sum of Toeplitz
and Hankel matrices from one Fourier transform, therefore gives the Newton steps of many levels
above: ``y = C⁻¹ (m - E φ)`` cut off at the features of each level, then ``C⁻ᵀ y``. The squares of
``y`` summed to a level are the squared decrement of that level, which says beforehand how far one
factor reaches. All these levels go on side by side with the same factor (a chord method), each of
them as a row of one stack of Fourier transforms, until their moments are matched; a level that is
far from the one below takes Newton steps of its own first. What is found is verified on a finer
grid, as in `families.high_levels`, and what is not found is left to that and to the careful ways.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steradian.families.grids.circle_corners import Factor, Laws, laws_on
from steradian.families.grids.curvature import allowed_quadrature
from steradian.fitting.newton import ARMIJO, matched_to_rounding
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    COLLINEAR,
    DUAL_ROUNDING,
    GOOD_DEFICIT,
    HALVED_SHARED,
    MOMENT_ROUNDING,
    RESTING_DECREMENT,
    RULE_MARGIN,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle
from steradian.spaces.circle import CircleGrid

_CIRCLE = Circle()
_RUNGS = _CIRCLE.fine_rungs()
_NODES_PER_LEVEL = 6
_FIRST_WIDTH = 8  # levels that are looked at first
_WIDER = 8  # times as many as the last factor served
_WIDEST = 32  # at most: many rows with many features take longer than another factor
_NEAR = 0.1  # decrement up to which the first factor serves
_NEARER = 0.25  # of that, where it did not
_NEAREST, _FARTHEST = 0.003, 0.2  # and the later ones, by how fast the last one was
_RATE = 0.3  # at which chords should converge: smaller takes more factors, larger more chords
_CHORD = 1e-3  # decrement from which a level that stands alone keeps its factor
_FASTEST = 0.05  # rate that is told
_MOST_CHORDS = 24
_MANY = 4  # levels that are worth a second factor
_SLOW = 0.6  # of the decrement before, from which chords are given up
_MOST_STEPS = 40
_SHORTEST = 1e-3  # step of Newton, below which the way is another one
_FINER = 5  # quarters of the nodes, of the grid that verifies


@dataclass(frozen=True, slots=True, eq=False)
class _Ends:
    """Laws that were found, as a finer grid sees them."""

    lam: Array  # (k, q)
    psi: Array  # (k,)
    residual: Array  # (k,): largest mismatch of moments
    decrement: Array  # (k,)
    error: Array  # (k,): of the deficit, by the difference of the grids


class _Climb:
    """The fits to ``m`` (q,) above the fit ``lam`` of the level below ``level``."""

    def __init__(self, level: int, m: Array, lam: Array) -> None:
        self.m, self.lam, self.below, self.top = m, lam, level - 1, len(m) // 2
        self.rung, self.width = 0, _FIRST_WIDTH
        self.near, self.reach = _NEAR, 0.0  # decrements: for the next factor, and of the last
        self.found: list[DualSolution] = []
        self.open = True  # whether moments still determine the fits

    @property
    def grid(self) -> CircleGrid:
        return _CIRCLE.grid(self.rung)

    def run(self) -> list[DualSolution]:
        """The fits, as far as they are found."""
        while self.below < self.top and self.open:
            last, near = self.below, self.near
            together = self._higher()
            if last < self.below:
                self.near = max(self.near, _NEAREST)
            elif together:  # nearer levels have a better factor, the next one its own
                self.near = _NEARER * near if near > _NEAREST else 0.0
            else:
                break
        return self.found

    def _higher(self) -> bool:
        """One factor's worth of levels; false where the next took steps of its own."""
        top = min(self.top, self.below + min(self.width, _WIDEST))
        start = np.zeros((1, 2 * top))
        start[0, : len(self.lam)] = self.lam
        laws = self.told(start, 2 * top)
        factor = None if laws is None else Factor.of(laws.means[0], top)
        if laws is None or factor is None:
            return False
        white = factor.white(laws.mismatch(self.m[: 2 * top]))
        reach = np.sqrt(np.cumsum(white * white)[2 * self.below + 1 :: 2])
        count = int(np.searchsorted(reach, self.near, side="right"))
        if not count:
            self._alone(laws, factor)
            return False
        sizes = 2 * np.arange(self.below + 1, self.below + count + 1)
        q, self.reach = int(sizes[-1]), float(reach[count - 1])
        factor = factor.corner(q)
        steps = factor.steps(white[:, :q] * (np.arange(q) < sizes[:, None]))
        self._settle(factor, start[:, :q] + steps, sizes)
        return True

    def told(self, lam: Array, degree: int) -> Laws | None:
        """On the first grid that tells the last of them, from where the climb stands."""
        level = max(lam.shape[1], degree) // 2
        while self.rung < _RUNGS:
            if self.grid.nodes >= _NODES_PER_LEVEL * level:
                laws = laws_on(lam, degree, self.grid, halved=True)
                if laws.halved <= HALVED_SHARED:
                    return laws
            self.rung += 1
        return None

    def _alone(self, laws: Laws, factor: Factor) -> None:
        """The next level by Newton steps of its own, halved until the dual rises (Armijo).

        From a law and its factor, which may be those of higher levels.
        """
        level, length = self.below + 1, 1.0
        q = 2 * level
        m, here, own = self.m[:q], laws.cut(q), factor.corner(q)
        for _ in range(_MOST_STEPS):
            white = own.white(here.mismatch(m))
            decrement = float(white[0] @ white[0])
            step = own.steps(white)
            if decrement <= _CHORD**2:
                self._settle(own, here.lam + step, np.array([q]))
                return
            trial = self._risen(here, step, decrement, length)
            told = None if trial is None else self._fine(trial)
            new = None if told is None else Factor.of(told.means[0], level)
            if told is None or new is None:
                return
            here, own = told, new

    def _risen(self, here: Laws, step: Array, decrement: float, length: float) -> Laws | None:
        """A law along the step whose dual is larger by a share of what was promised."""
        q = here.lam.shape[1]
        m, dual = self.m[:q], here.dual(self.m[:q])
        while length > _SHORTEST:
            trial = laws_on(here.lam + length * step, q, self.grid, halved=True)
            slack = DUAL_ROUNDING + 8.0 * ROUNDOFF * float(np.abs(trial.lam[0]) @ np.abs(m))
            if trial.dual(m) - dual >= ARMIJO * length * decrement - slack:
                return trial
            length *= 0.5
        return None

    def _fine(self, law: Laws) -> Laws | None:
        """The law, or what a finer grid makes of it."""
        return law if law.halved <= HALVED_SHARED else self.told(law.lam, law.lam.shape[1])

    def _settle(self, factor: Factor, lam: Array, sizes: IntArray) -> None:
        """Chords for the levels of ``sizes`` features (k,) from ``lam`` (k, q), then a finer grid.

        Keeps the first levels that are fits.
        """
        factor = self._amid(lam) or factor
        conditions, done = factor.conditions(sizes), 0
        while done < len(sizes) and self.open:
            chords = _Chords(self, factor, sizes[done:])
            laws = chords.run(lam[done:])
            count = chords.settled
            if not done and len(sizes) > 1:
                self._learn(chords.rate)
            if laws is None or not count:
                break
            ends = self._ends(factor, laws, sizes[done : done + count])
            last = self.rung + 1 >= _RUNGS
            limit = np.maximum(VERIFIED_AIM, allowed_quadrature(laws.lam[:count]))
            good = ends.error <= (VERIFIED_DIFFERENCE if last else limit)
            kept = _leading(good & (ends.residual <= ACCEPTED_RESIDUAL))
            part = slice(done, done + kept)
            self._keep(ends, conditions[part], chords.steps, sizes[part])
            done += kept
            if kept == count or last:  # else the others want a finer grid
                break
            self.rung += 1
            lam[done:] = laws.lam[kept:]
        self.width = max(_FIRST_WIDTH, _WIDER * done)

    def _amid(self, lam: Array) -> Factor | None:
        """The factor under the law of one of the levels ``lam`` (k, q), near those on both sides.

        After their first step that of the level two thirds up is about as far from the first as
        from the last, and less than half as far as that of the level below: chords converge in
        about two thirds of the steps.
        """
        if len(lam) < _MANY:
            return None
        q, middle = lam.shape[1], 2 * len(lam) // 3
        laws = self.told(lam[middle : middle + 1], q)
        return None if laws is None else Factor.of(laws.means[0], q // 2)

    def _learn(self, rate: float) -> None:
        """How far the next factor serves, as chords converge the faster the nearer they end."""
        self.near = float(np.clip(self.reach * _RATE / rate, _NEAREST, _FARTHEST))

    def _ends(self, factor: Factor, laws: Laws, sizes: IntArray) -> _Ends:
        """What a finer grid makes of the first laws."""
        q, count = laws.lam.shape[1], len(sizes)
        lam, psi = laws.lam[:count], laws.psi[:count]
        grid = _CIRCLE.exact_grid(_FINER * self.grid.nodes // 4 - 1)
        finer = laws_on(lam, q // 2, grid, psi)
        seen = np.arange(q) < sizes[:, None]
        gradient = finer.mismatch(self.m[:q]) * seen
        white = factor.white(gradient) * seen
        square = _products(white, white)
        error = np.maximum(RULE_MARGIN * np.abs(finer.psi - psi), 0.5 * square)
        residual = np.maximum.reduce(np.abs(gradient), axis=1)
        return _Ends(lam, finer.psi, residual, np.sqrt(square), error)

    def _keep(self, ends: _Ends, conditions: Array, steps: IntArray, sizes: IntArray) -> None:
        """Write down the first fits, of ``sizes`` features (k,), with their conditions (k,).

        Up to the first that rounding or collinear features leave open.
        """
        count = len(sizes)
        lam, psi = ends.lam[:count], ends.psi[:count]
        rounding = MOMENT_ROUNDING * np.abs(lam).sum(axis=1)
        sound = _leading((rounding <= GOOD_DEFICIT) & (conditions <= COLLINEAR))
        self.open = sound == count
        known = ends.residual[:count], ends.decrement[:count], conditions, ends.error[:count]
        dual = lam @ self.m[: lam.shape[1]] - psi
        counts = np.full((4, count), self.rung)
        counts[:3] = [[self.grid.nodes], [0], [int(Status.CONVERGED)]]
        counts[1] = steps[:count]
        none = np.full(count, None)
        columns = psi, dual, np.full(count, np.nan), *known, rounding, *counts[:3], none, counts[3]
        for row in range(sound):
            one = slice(row, row + 1)
            fit = lam[one, : sizes[row]]
            self.found.append(DualSolution(fit, *[each[one] for each in columns]))
        if sound:
            self.below, self.lam = self.below + sound, lam[sound - 1, : sizes[sound - 1]]


class _Chords:
    """Steps of a stack of levels with one factor."""

    def __init__(self, climb: _Climb, factor: Factor, sizes: IntArray) -> None:
        self.climb, self.factor = climb, factor
        self.seen = np.arange(len(factor.lower)) < sizes[:, None]
        self.settled = 0
        self.decrement = np.full(len(sizes), math.inf)
        self.steps = np.ones(len(sizes), dtype=np.int64)
        self.rate = _RATE  # at which the highest of them converge
        self.rounding = float(matched_to_rounding(climb.m[: sizes[-1]]))

    def run(self, lam: Array) -> Laws | None:
        """Laws (k, q) of which the first `settled` match their moments, from ``lam`` (k, q)."""
        q = lam.shape[1]
        m = self.climb.m[:q]
        here = first = self.climb.told(lam, q // 2)
        if here is None or first is None:
            return None
        lam, psi, end = lam.copy(), first.psi.copy(), len(lam)
        for _ in range(_MOST_CHORDS):
            at, seen = slice(self.settled, end), self.seen[self.settled : end]
            gradient = here.mismatch(m) * seen
            white = self.factor.white(gradient) * seen
            done, fast = self._measured(at, gradient, white)
            step = self.factor.steps(white)
            lam[at] = here.lam + step
            psi[at] = here.psi + _products(here.means[:, :q], step)
            self.settled += done
            self.steps[at] += 1
            end = at.start + max(done, fast)
            if self.settled == end:
                break
            on = slice(self.settled, end)
            here = laws_on(lam[on], q // 2, self.climb.grid, psi[on])
        return Laws(lam, psi, first.means, first.halved)

    def _measured(self, at: slice, gradient: Array, white: Array) -> tuple[int, int]:
        """Write down how far rows will be from their ends after a step, at the rate of the last.

        How many of the first will have arrived, and how many of the first come nearer fast.
        """
        decrement = np.sqrt(_products(white, white))
        residual = np.maximum.reduce(np.abs(gradient), axis=1)
        rates = decrement / self.decrement[at]
        self.decrement[at] = decrement
        if decrement[-1] > RESTING_DECREMENT:
            self.rate = max(float(rates[-1]), _FASTEST)
        far = np.maximum(residual / (0.3 * ACCEPTED_RESIDUAL), decrement / RESTING_DECREMENT)
        if rates[0] > 0.0:  # of the first step nothing is known
            far *= rates
        return _leading((far <= 1.0) | (residual <= self.rounding)), _leading(rates <= _SLOW)


def _products(a: Array, b: Array) -> Array:
    """Inner products of rows (k, q): (k,)."""
    return np.asarray(np.add.reduce(a * b, axis=1))


def _leading(true: BoolArray) -> int:
    """How many come before the first that is false."""
    if not len(true):
        return 0
    first = int(true.argmin())
    return len(true) if true[first] else first


def solve_levels(level: int, m: Array, lam: Array) -> list[DualSolution]:
    """Fits of ``level`` and of those above to the moments ``m`` (q,), as far as they are found.

    ``lam`` (q_below,) is the fit of the level below; all levels of ``m`` are tried.
    """
    with np.errstate(all="ignore"):  # steps that lead nowhere are turned back
        return _Climb(level, m, lam).run()
