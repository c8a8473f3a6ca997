"""One sample at a high level, on grids that grow with the law.

Newton's method from the level below, on the coarsest grid that tells the law roughly: a grid is
left for a finer one when every second of its meridians sees another total than all of them.
Moments through degree 2L make the Hessian (`SecondMoments`), transforms the moments, so that grids
of millions of nodes are within reach. A factor of the Hessian stays for as long as steps with it
bring the fit nearer (`QuasiNewton`). What is found is verified on the next grid: the difference of
ψ there is the error of the deficit, and within a factor of two of the true one from 1e-12 to
1e-4 nats.

Conditions of 10¹² are no hindrance: the deficit is a maximum, so that what rounding leaves open of
λ does not move it. What does is the rounding of the moments, which the solution states.
"""

from __future__ import annotations

import math

import numpy as np

from steradian.families.grids.curvature import allowed_quadrature
from steradian.families.grids.quasi_newton import QuasiNewton
from steradian.fitting.newton import ARMIJO, matched_to_rounding
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.scratch import MATRICES
from steradian.numerics.tolerances import (
    ACCEPTED_RESIDUAL,
    CLEAR_RISE,
    COLLINEAR,
    DUAL_ROUNDING,
    FLAT,
    HALVED_FAIR,
    HALVED_FINE,
    HALVED_ROUGH,
    LAST_STEP,
    MOMENT_ROUNDING,
    RESTING_DECREMENT,
    RULE_MARGIN,
    SHORTEST_STEP,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
)
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import second_moments_of

_MOST_STEPS = 400
_MOST_NODES = 2_000_000_000  # evaluated in all: some twenty seconds
_FEWER_NODES = 200_000_000  # the same where there is another way
_LARGE_GRID = 250_000  # nodes, one evaluation of which takes hundredths of a second
_FAINTEST = -230.0  # exponents below the largest that are no number worth an underflow
_NEAR = 0.01  # decrement from which the grid must tell the law well
_FAR = 0.2  # decrement of a start that is no neighbour of the fit
_SEEN = 10.0  # decrements over the halved grid's error, below which the whole one's is felt
_SHORT = 0.2  # of a step, below which a finer grid is tried rather than a shorter one
_LONGEST = 4.0  # step, in those of Newton
_GUARD = 0.03  # share of the Christoffel function
_SPARSE_DATA = 1e-2  # least eigenvalue of E φ_h φ_hᵀ of data that leave parts of the space empty
_REACH_PER_LEVEL = 6  # degree that the first grid integrates exactly
_FURTHEST = 2.0  # times the nodes along a meridian that one change of grids may bring
_CHEAP_FEATURES = 100  # whose Hessian costs no more than an evaluation of the law


class _Law:
    """A law on a grid."""

    __slots__ = ("dual", "gradient", "halved", "lam", "moments", "psi")

    def __init__(self, lam: Array, psi: float, moments: Array, halved: float, m: Array) -> None:
        self.lam, self.psi, self.halved = lam, psi, halved
        self.moments = moments  # E φ through degree 2L, the constant first
        self.gradient = m - moments[1 : len(m) + 1]
        self.dual = float(lam @ m) - psi

    @property
    def mismatch(self) -> float:
        return float(np.abs(self.gradient).max())


class _Climb:
    """The fit to ``m`` (q,) while its grid grows."""

    def __init__(
        self, space: Circle | Sphere, level: int, m: Array, start: Array, room: Array
    ) -> None:
        self.space, self.level, self.m, self.start = space, level, m, start
        self.room = room  # three matrices of second moments
        self.rounded = float(matched_to_rounding(m))
        self.kept = 0.02 if len(m) <= _CHEAP_FEATURES else 0.6
        self.dual = -math.inf  # of the start
        self.rung, self.steps, self.work = 0, 0, 0.0
        self.otherwise = False  # whether there is another way

    @property
    def exhausted(self) -> bool:
        most = _MOST_NODES if not self.otherwise else _FEWER_NODES
        tired = self.work > most or self.steps >= _MOST_STEPS
        return tired or self.rung + 1 >= self.space.fine_rungs()

    def law(self, lam: Array, rung: int) -> _Law:
        grid = self.space.grid(rung)
        self.work += grid.nodes
        synthesize, analyze = grid.single(self.level)
        values = synthesize(lam)
        peak = float(values.max())
        values -= peak
        if peak - float(values.min()) > -_FAINTEST:
            np.maximum(values, _FAINTEST, out=values)
        np.exp(values, out=values)
        halved = grid.halved(values)
        moments = analyze(values)
        total = float(moments[0])
        moments /= total
        return _Law(lam, math.log(total) + peak, moments, halved, self.m)

    def begun(self) -> _Law | None:
        """The start on the first grid that tells it; None beyond the last."""
        while self.space.grid(self.rung).reach < _REACH_PER_LEVEL * self.level:
            self.rung += 1
        while not self.exhausted:
            law = self.law(self.start, self.rung)
            if law.halved <= HALVED_FAIR:
                self.dual = law.dual
                return law
            self.rung += 1
        return None

    def finer(self, law: _Law, wanted: float = 0.0) -> _Law:
        """The law on the next grid, or on the last whose reach is no more than ``wanted``.

        Or the start, where the finer grid shows the law to be worth less.
        """
        self.rung += 1
        while self._grows and self.space.grid(self.rung + 1).reach <= wanted:
            self.rung += 1
        there = self.law(law.lam, self.rung)
        if there.dual >= self.dual:
            return there
        return max((there, self.law(self.start, self.rung)), key=lambda each: each.dual)

    @property
    def reach(self) -> int:
        return self.space.grid(self.rung).reach

    def reach_for(self, aim: float, seen: float) -> float:
        """Where an error ``seen`` on this grid falls to ``aim``, if it falls exponentially."""
        factor = math.log(aim) / math.log(seen) if 0.0 < seen < 1.0 else _FURTHEST
        return self.reach * min(factor, _FURTHEST)

    def moved(self, law: _Law, finer: _Law) -> float:
        """By how much a finer grid moves the mean of x, which is known about as well as ψ.

        One number may be the same on two grids by chance, and each of them wrong.
        """
        few = slice(1, self.space.d + 1)
        return float(np.abs(finer.moments[few] - law.moments[few]).max())

    def settled(self, law: _Law) -> _Law | None:
        """The law, or the start if that is a fit already; None where rounding led below it."""
        if law.dual > self.dual + CLEAR_RISE:
            return law
        start = self.law(self.start, self.rung)
        below = start.dual - law.dual
        if start.mismatch <= ACCEPTED_RESIDUAL and below > 0.0:
            return start
        return law if below <= VERIFIED_AIM else None

    def guarded(self, law: _Law, model: QuasiNewton | None) -> _Law:
        """The start with less density where there are no data, when the fit is far from it.

        Newton's first steps put spurious modes there, which travel round the space for a hundred
        steps. With h = ⌊L/2⌋ and G = E φ_h φ_hᵀ of the data, the Christoffel function
        K = φ_hᵀ G⁻¹ φ_h / (h + 1)² is large there, and one on average over the data.
        """
        if isinstance(self.space, Circle) or model is None:  # where modes have nowhere to travel
            return law
        if float(law.gradient @ model.step(law.gradient)) < _FAR**2:
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

    def model(self, law: _Law) -> QuasiNewton | None:
        products = second_moments_of(self.space, self.level)
        return QuasiNewton.of(products.one(law.moments, self.room[:2]), self.room[2])

    def newton(self, law: _Law, model: QuasiNewton | None) -> tuple[_Law, QuasiNewton] | None:
        """The fit on the grid it took, from ``law``; None where it does not come to that."""
        length, last = 1.0, math.inf
        while not self.exhausted:
            model = model or self.model(law)
            if model is None:  # a grid too coarse may show a singular law, a good one is right
                if law.halved <= HALVED_FAIR:
                    return None
                law, last = self.finer(law), math.inf
                continue
            if self._is_left(model):
                return None
            step = model.step(law.gradient)
            decrement = float(law.gradient @ step)
            if self._rests(law, decrement, last if model.age == 1 else math.inf):
                return (law, model) if law.mismatch <= ACCEPTED_RESIDUAL else None
            if model.age and not decrement <= self.kept**2 * last:
                model = None  # no longer worth its steps
                continue
            if law.halved > HALVED_FINE and decrement < (_SEEN * law.halved) ** 2 and self._grows:
                law, last = self.finer(law, self.reach_for(HALVED_FINE, law.halved)), math.inf
                model.forget()
                continue
            creeps = not model.age and decrement > max(0.5 * last, _NEAR**2)
            length = min(2.0 * length, _LONGEST) if creeps else 1.0
            last = decrement
            law, length, model = self._advanced(law, step, decrement, length, model)
            self.steps += 1
        return None

    def _is_left(self, model: QuasiNewton) -> bool:
        """Whether a large grid would serve a law that is found to few digits on any."""
        if not self.otherwise or model.age or self.space.grid(self.rung).nodes < _LARGE_GRID:
            return False
        return model.condition(self.room[1]) > COLLINEAR

    @property
    def _grows(self) -> bool:
        return self.rung + 2 < self.space.fine_rungs()

    def _rests(self, law: _Law, decrement: float, last: float) -> bool:
        """Whether no step gains anything; ``last`` is the decrement before one by a new factor."""
        if decrement <= RESTING_DECREMENT**2:
            return law.mismatch <= 0.3 * ACCEPTED_RESIDUAL or decrement > 0.25 * last
        if decrement <= LAST_STEP**2 and decrement > 0.25 * last:
            return True
        return law.mismatch <= self.rounded

    def _advanced(
        self, law: _Law, step: Array, decrement: float, length: float, model: QuasiNewton
    ) -> tuple[_Law, float, QuasiNewton | None]:
        """A law along the step whose dual is larger by a share of what was promised (Armijo).

        Longer steps than Newton's, for modes that travel, must rise as much as his promises.
        """
        allowed = HALVED_FAIR if decrement < _NEAR**2 else HALVED_ROUGH
        while length > SHORTEST_STEP and not self.exhausted:
            trial = self.law(law.lam + length * step, self.rung)
            rise = trial.dual - law.dual
            wanted = (ARMIJO * length if length <= 1.0 else 0.5) * decrement
            if not (rise >= wanted or rise >= wanted - self._slack(trial)):
                if model.age:
                    return law, 1.0, None
                length *= 0.5
            elif trial.halved <= allowed:
                model.learn(trial.lam - law.lam, law.gradient - trial.gradient)
                model.age += 1
                return trial, length, model
            elif length > _SHORT:
                length *= 0.5
            else:
                break
        return self.finer(law), 1.0, None  # on another grid both dual and step are others

    def _slack(self, law: _Law) -> float:
        """What rounding may take from a rise of the dual."""
        return DUAL_ROUNDING + 8.0 * ROUNDOFF * float(np.abs(law.lam) @ np.abs(self.m))


def solve_high(
    space: Circle | Sphere, level: int, m: Array, start: Array, *, otherwise: bool = False
) -> DualSolution:
    """Fits to moment vectors ``m`` (B, q) from ``start`` (B, q); STALLED where there is none.

    ``otherwise``: what takes long, or is collinear, is found in another way, and left soon.
    """
    # steps that lead nowhere are turned back
    with np.errstate(all="ignore"), MATRICES.lent(3, m.shape[1] + 1) as room:
        climbs = [_Climb(space, level, m[b], start[b], room) for b in range(len(m))]
        found = [_solve(climb, otherwise=otherwise) for climb in climbs]
    if len(found) == 1 and found[0] is not None:
        return found[0]
    out = DualSolution.empty(len(m), m.shape[1], Status.STALLED)
    for row, one in enumerate(found):
        if one is not None:
            out.put(np.array([row]), one)
    return out


def _solve(climb: _Climb, *, otherwise: bool) -> DualSolution | None:
    """The fit to one moment vector, or None to give up."""
    climb.otherwise = otherwise
    first = climb.begun()
    if first is None:
        return None
    model = climb.model(first)
    law = climb.guarded(first, model)
    model = model if law is first else None
    while True:
        found = climb.newton(law, model)
        if found is None:
            return None
        end, model = found
        finer = climb.law(end.lam, climb.rung + 1)
        gain = 0.5 * float(finer.gradient @ model.step(finer.gradient))
        error = max(RULE_MARGIN * abs(finer.psi - end.psi), gain, climb.moved(end, finer))
        stated = max(error, RULE_MARGIN * gain)
        aim = max(VERIFIED_AIM, float(allowed_quadrature(end.lam)))
        if error <= aim:
            settled = climb.settled(end)
            return None if settled is None else _solution(climb, settled, model, stated)
        law = climb.finer(end, climb.reach_for(aim, error))
        model.forget()
        if climb.exhausted:
            return _solution(climb, law, model, stated) if error <= VERIFIED_DIFFERENCE else None


def _solution(climb: _Climb, law: _Law, model: QuasiNewton, error: float) -> DualSolution:
    decrement = math.sqrt(max(float(law.gradient @ model.step(law.gradient)), 0.0))
    rounding = MOMENT_ROUNDING * float(np.abs(law.lam).sum())
    known = law.psi, law.dual, math.nan, law.mismatch, decrement
    numbers = (*known, model.condition(climb.room[1]), error, rounding)
    nodes = climb.space.grid(climb.rung).nodes
    return DualSolution.of_one(law.lam, numbers, nodes=nodes, steps=climb.steps, rung=climb.rung)
