"""One sample at a high level, on grids that grow with the law.

Newton's method from the level below, on the coarsest grid that tells the law roughly: a grid is
left for the next when every second of its meridians sees another total than all of them. Moments
through degree 2L make the Hessian (`SecondMoments`), transforms the moments, so that grids of
millions of nodes are within reach. Near the end the factor of the Hessian stays. What is found is
verified on the next grid: the difference of ψ there is the error of the deficit, and within a
factor of two of the true one from 1e-12 to 1e-4 nats.

Conditions of 10¹² are no hindrance: the deficit is a maximum, so that what rounding leaves open of
λ does not move it. What does is the rounding of the moments, which the solution states.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from steradian.families.curvature import allowed_quadrature
from steradian.fitting.newton import ARMIJO, matched_to_rounding
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    CLEAR_RISE,
    DUAL_ROUNDING,
    FLAT,
    HALVED_FAIR,
    HALVED_ROUGH,
    LAST_STEP,
    MOMENT_ROUNDING,
    RESTING_DECREMENT,
    SHORTEST_STEP,
    TINY,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import second_moments_of

_MOST_STEPS = 400
_MOST_NODES = 2_000_000_000  # evaluated in all: some twenty seconds
_FAINTEST = -230.0  # exponents below the largest that are no number worth an underflow
_NEAR = 0.1  # decrement from which the grid must tell the law well
_FAR = 0.2  # decrement of a start that is no neighbour of the fit
_CHORD = 1e-3  # decrement from which the factor stays: each step then gains three digits
_SHORT = 0.2  # of a step, below which a finer grid is tried rather than a shorter one
_LONGEST = 4.0  # step, in those of Newton
_GUARD = 0.03  # share of the Christoffel function
_SPARSE_DATA = 1e-2  # least eigenvalue of E φ_h φ_hᵀ of data that leave parts of the space empty
_MARGIN = 1.5  # of the difference of two grids, which was seen to miss the error by 1.4
_ZERO = np.zeros(1)
_CHORDS = 4  # steps with one factor
_REACH_PER_LEVEL = 6  # degree that the first grid integrates exactly


@dataclass(frozen=True, slots=True, eq=False)
class _Law:
    """A law on a grid."""

    lam: Array
    psi: float
    moments: Array  # E φ through degree 2L, the constant first
    halved: float  # relative change of its total on half the meridians

    def mismatch(self, m: Array) -> Array:
        return m - self.moments[1 : len(m) + 1]

    def dual(self, m: Array) -> float:
        return float(self.lam @ m) - self.psi


@dataclass(frozen=True, slots=True, eq=False)
class _Factor:
    """A Cholesky factor of the second moments of (1, φ), whose lower block is that of Cov φ."""

    second: Array  # of which the upper triangle is read
    upper: Array

    @classmethod
    def of(cls, second: Array) -> _Factor | None:
        upper, failed = lapack.dpotrf(second, lower=0, clean=0)
        return None if failed else cls(second, upper)

    def step(self, gradient: Array) -> Array:
        """The s with Cov s = gradient."""
        solution, _ = lapack.dpotrs(self.upper, np.concatenate([_ZERO, gradient]), lower=0)
        return np.asarray(solution[1:])

    def condition(self) -> float:
        """Of the covariance, in the 1-norm."""
        mean = self.second[0, 1:]
        covariance = np.abs(np.triu(self.second[1:, 1:] - mean[:, None] * mean))
        sums = covariance.sum(axis=0) + covariance.sum(axis=1) - np.diag(covariance)
        reciprocal, _ = lapack.dpocon(self.upper[1:, 1:], sums.max())
        return 1.0 / max(float(reciprocal), TINY)


class _Climb:
    """The fit to ``m`` (q,) while its grid grows."""

    def __init__(self, space: Circle | Sphere, level: int, m: Array, start: Array) -> None:
        self.space, self.level, self.m, self.start = space, level, m, start
        self.dual = -math.inf  # of the start
        self.rung, self.steps, self.work = 0, 0, 0.0

    @property
    def exhausted(self) -> bool:
        tired = self.work > _MOST_NODES or self.steps >= _MOST_STEPS
        return tired or self.rung + 1 >= self.space.fine_rungs()

    def law(self, lam: Array, rung: int) -> _Law:
        grid = self.space.grid(rung)
        self.work += grid.nodes
        synthesize, analyze = grid.single(self.level)
        values = synthesize(lam)
        peak = float(values.max())
        values -= peak
        np.maximum(values, _FAINTEST, out=values)
        np.exp(values, out=values)
        halved = grid.halved(values)
        moments = analyze(values)
        total = float(moments[0])
        moments /= total
        return _Law(lam, math.log(total) + peak, moments, halved)

    def begun(self) -> _Law | None:
        """The start on the first grid that tells it; None beyond the last."""
        while self.space.grid(self.rung).reach < _REACH_PER_LEVEL * self.level:
            self.rung += 1
        while not self.exhausted:
            law = self.law(self.start, self.rung)
            if law.halved <= HALVED_FAIR:
                self.dual = law.dual(self.m)
                return law
            self.rung += 1
        return None

    def finer(self, law: _Law) -> _Law:
        """The law on the next grid, or the start where that shows it to be worth less."""
        self.rung += 1
        both = self.law(law.lam, self.rung), self.law(self.start, self.rung)
        return max(both, key=lambda each: each.dual(self.m))

    def settled(self, law: _Law) -> _Law | None:
        """The law, or the start if that is a fit already; None where rounding led below it."""
        if law.dual(self.m) > self.dual + CLEAR_RISE:
            return law
        start = self.law(self.start, self.rung)
        fits = np.abs(start.mismatch(self.m)).max() <= ACCEPTED_RESIDUAL
        below = start.dual(self.m) - law.dual(self.m)
        if fits and below > 0.0:
            return start
        return law if below <= VERIFIED_AIM else None

    def guarded(self, law: _Law) -> _Law:
        """The start with less density where there are no data, when the fit is far from it.

        Newton's first steps put spurious modes there, which travel round the space for a hundred
        steps. With h = ⌊L/2⌋ and G = E φ_h φ_hᵀ of the data, the Christoffel function
        K = φ_hᵀ G⁻¹ φ_h / (h + 1)² is large there, and one on average over the data.
        """
        if isinstance(self.space, Circle):  # where modes have nowhere to travel
            return law
        factor, gradient = self.factor(law), law.mismatch(self.m)
        if factor is None or float(gradient @ factor.step(gradient)) < _FAR**2:
            return law
        products = second_moments_of(self.space, self.level // 2)
        moments = np.concatenate([[1.0], self.m[: products.moments - 1]])
        values, axes = np.linalg.eigh(products.stack(moments[None])[0])
        if not FLAT < values[0] < _SPARSE_DATA:
            return law
        inverse = (axes / values) @ axes.T / len(values)
        self.start = self.start.copy()
        self.start[: products.moments - 1] -= _GUARD * products.expanded(inverse)[1:]
        return self.begun() or law

    def factor(self, law: _Law) -> _Factor | None:
        return _Factor.of(second_moments_of(self.space, self.level).one(law.moments))

    def newton(self, law: _Law) -> tuple[_Law, _Factor] | None:
        """The fit on the grid it took, from ``law``; None where it does not come to that."""
        length, last = 1.0, math.inf
        while not self.exhausted:
            factor = self.factor(law)
            if factor is None:  # a grid too coarse may show a singular law
                law = self.finer(law)
                continue
            gradient = law.mismatch(self.m)
            step = factor.step(gradient)
            decrement = float(gradient @ step)
            if decrement < _CHORD**2:
                end = self._ended(law, factor)
                if end is not None or decrement <= LAST_STEP**2:
                    return None if end is None else (end, factor)
            allowed = HALVED_FAIR if decrement < _NEAR**2 else HALVED_ROUGH
            length = min(2.0 * length, _LONGEST) if decrement > 0.5 * last else 1.0
            last = decrement
            law, length = self._advanced(law, step, decrement, allowed, length)
            self.steps += 1
        return None

    def _advanced(
        self, law: _Law, step: Array, decrement: float, allowed: float, length: float
    ) -> tuple[_Law, float]:
        """A law along the step whose dual is larger by a share of what was promised (Armijo).

        Longer steps than Newton's, for modes that travel, must rise as much as his promises.
        """
        while length > SHORTEST_STEP and not self.exhausted:
            trial = self.law(law.lam + length * step, self.rung)
            slack = DUAL_ROUNDING + 8.0 * ROUNDOFF * float(np.abs(trial.lam) @ np.abs(self.m))
            rise = trial.dual(self.m) - law.dual(self.m)
            wanted = ARMIJO * length if length <= 1.0 else 0.5
            if not rise >= wanted * decrement - slack:
                length *= 0.5
            elif trial.halved <= allowed:
                return trial, length
            elif length > _SHORT:
                length *= 0.5
            else:
                break
        return self.finer(law), 1.0  # on another grid both dual and step are others

    def _ended(self, law: _Law, factor: _Factor) -> _Law | None:
        """The last steps, with one factor; None where they leave a mismatch."""
        for _ in range(_CHORDS):
            gradient = law.mismatch(self.m)
            step = factor.step(gradient)
            reach = float(gradient @ step)
            small = np.abs(gradient).max() <= 0.3 * ACCEPTED_RESIDUAL
            if (small and reach <= RESTING_DECREMENT**2) or _matched(gradient, self.m):
                return law
            law = self.law(law.lam + step, self.rung)
        gradient = law.mismatch(self.m)
        return law if np.abs(gradient).max() <= ACCEPTED_RESIDUAL else None


def solve_high(space: Circle | Sphere, level: int, m: Array, start: Array) -> DualSolution:
    """Fits to moment vectors ``m`` (B, q) from ``start`` (B, q); STALLED where there is none."""
    out = DualSolution.empty(len(m), m.shape[1], Status.STALLED)
    for row in range(len(m)):
        with np.errstate(all="ignore"):  # steps that lead nowhere are turned back
            one = _solve(space, level, m[row], start[row])
        if one is not None:
            out.put(np.array([row]), one)
    return out


def _solve(space: Circle | Sphere, level: int, m: Array, start: Array) -> DualSolution | None:
    """The fit to one moment vector ``m`` (q,) from ``start`` (q,), or None to give up."""
    climb = _Climb(space, level, m, start)
    law = climb.begun()
    if law is None:
        return None
    law = climb.guarded(law)
    while True:
        found = climb.newton(law)
        if found is None:
            return None
        end, factor = found
        finer = climb.law(end.lam, climb.rung + 1)
        beyond = finer.mismatch(m)
        error = max(_MARGIN * abs(finer.psi - end.psi), 0.5 * float(beyond @ factor.step(beyond)))
        if error <= max(VERIFIED_AIM, float(allowed_quadrature(end.lam))):
            settled = climb.settled(end)
            return None if settled is None else _solution(climb, settled, factor, error)
        law = climb.finer(end)
        if climb.exhausted:
            return _solution(climb, law, factor, error) if error <= VERIFIED_DIFFERENCE else None


def _solution(climb: _Climb, law: _Law, factor: _Factor, error: float) -> DualSolution:
    gradient = law.mismatch(climb.m)
    residual = float(np.abs(gradient).max())
    decrement = math.sqrt(max(float(gradient @ factor.step(gradient)), 0.0))
    rounding = MOMENT_ROUNDING * float(np.abs(law.lam).sum())
    known = law.psi, law.dual(climb.m), math.nan, residual, decrement
    numbers = (*known, factor.condition(), error, rounding)
    nodes = climb.space.grid(climb.rung).nodes
    return DualSolution.of_one(law.lam, numbers, nodes=nodes, steps=climb.steps, rung=climb.rung)


def _matched(gradient: Array, m: Array) -> bool:
    return bool(np.abs(gradient).max() <= matched_to_rounding(m[None])[0])
