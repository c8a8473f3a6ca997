"""All quadratics, and polynomials of the height along one axis besides, in any dimension.

p ∝ exp(η·x + xᵀBx + Σ_k λ_k C_k(a·x)), k from 3 on. Integrals are those of `about_axis`. The dual
is climbed from the fit of the quadratics alone, by limited-memory BFGS in coordinates that are
white under it: linear and quadratic functions by its Gaussian, the polynomials less their
regression on t and t². There the curvature is about one, and the deficit is off by half the square
of the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from steradian.data.stacks import MomentStack, Support
from steradian.errors import ResolutionError
from steradian.existence.placement import Placement, Verdict
from steradian.families.base import Family
from steradian.families.quadratics.blocks import ALONE, MULTIPLIED, BlockFamily
from steradian.families.quadratics.white_coordinates import WhiteCoordinates
from steradian.fitting.solution import DualSolution, Status
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.fisher_bingham.about_axis import (
    ORDER,
    AxisLaw,
    given_angles,
    panels_of_angles,
)
from steradian.numerics.fisher_bingham.sample import draw
from steradian.numerics.tolerances import (
    ACCEPTED_DECREMENT,
    BINGHAM_RESIDUAL,
    DIFFERENCE_STEP,
    RULE_ROUNDING,
    VERIFIED_AIM,
    VERIFIED_DIFFERENCE,
    WHITE_GRADIENT,
)
from steradian.spaces.pieces import highest

if TYPE_CHECKING:
    from steradian.hierarchies.base import Hierarchy
    from steradian.hierarchies.quadratics import Quadratics
    from steradian.hierarchies.zonal import Zonal

_PANELS = 6, 9, 14, 21, 32, 48, 72  # of the angle, until two agree
_MOST_STEPS, _MEMORY = 400, 40
_LOWER = 2  # degrees that quadratics have
_BATCH = 1000  # draws at once
_CLEARANCE = 0.1  # nats above the values at the nodes, and half their differences

_OF_SQUARE = 60.0  # work of a product of two coordinates in a fit by itself


@dataclass(frozen=True, slots=True)
class SkewedQuadraticFamily(Family):
    """The quadratics of ``first``, all of them, and the degrees of ``zonal`` from 3 on."""

    first: Quadratics
    zonal: Zonal

    @property
    def q(self) -> int:
        return self.base + self.zonal.levels - _LOWER

    @property
    def level(self) -> int:
        return self.first.levels + self.zonal.levels - _LOWER

    @property
    def base(self) -> int:
        """Features of the quadratics."""
        return self.first.q(self.first.levels)

    @property
    def _below(self) -> BlockFamily:
        """The quadratics alone."""
        return BlockFamily(self.first, self.first.levels)

    def polynomials(self, t: Array) -> Array:
        """C_k at heights (n,), (n, K)."""
        return np.asarray(self.zonal.of_heights(t)[:, _LOWER:])

    def features(self, x: Array) -> Array:
        return np.hstack([self.first.features(x), self.polynomials(self.zonal.heights(x))])

    def exponent(self, x: Array, lam: Array) -> Array:
        below = self._below.exponent(x, lam[: self.base])
        return below + self.polynomials(self.zonal.heights(x)) @ lam[self.base :]

    def at(self, lam: Array, panels: int) -> AxisLaw:
        """The law of ``lam`` (q,) on so many panels."""
        return AxisLaw.of(
            self.zonal.direction,
            self.first.natural(lam[: self.base]),
            lambda t: self.polynomials(t) @ lam[self.base :],
            panels,
        )

    def resolved(self, lam: Array) -> AxisLaw:
        """The law on the first panels that agree with coarser ones about ψ."""
        padded = np.zeros(self.q)
        padded[: len(lam)] = lam
        coarse = self.at(padded, _PANELS[0])
        for panels in _PANELS[1:]:
            fine = self.at(padded, panels)
            if abs(fine.psi - coarse.psi) <= VERIFIED_AIM * (1.0 + abs(fine.psi)):
                return fine
            coarse = fine
        cause = f"{Status.UNRESOLVED.sentence} ({len(coarse.angle)} angles)"
        raise ResolutionError(self.level, cause, "ask for fewer levels")

    def means(self, law: AxisLaw, zonal: Zonal | None = None) -> Array:
        """E φ of a law, with the polynomials of more degrees if given."""
        known = (zonal or self.zonal).of_heights(law.heights)[:, _LOWER:]
        return np.concatenate([self.first.of_second(*law.moments()), law.mass @ known])

    def log_partition(self, lam: Array) -> tuple[Array, Array, Array]:
        """ψ, mean and covariance of the features; that of quadratics by differences of the mean."""
        if self.q > MULTIPLIED:
            cause = f"has {self.q} features, too many for their covariance"
            raise ResolutionError(self.level, cause, "take fewer coordinates")
        laws = [self.resolved(row) for row in lam]
        psi = np.array([law.psi for law in laws])
        mean = np.array([self.means(law) for law in laws])
        both = zip(lam, laws, strict=True)
        return psi, mean, np.array([self._covariance(row, law) for row, law in both])

    def _covariance(self, lam: Array, law: AxisLaw) -> Array:
        base, out = self.base, np.empty((self.q, self.q))
        panels = len(law.angle) // ORDER
        known = self.polynomials(law.heights)
        centred = known - law.mass @ known
        for k, column in enumerate(centred.T, start=base):
            with_lower = self.first.of_second(*law.moments(column))
            out[k, :base] = out[:base, k] = with_lower
            out[k, base:] = (law.mass * column) @ known
        if not lam[base:].any():
            out[:base, :base] = self._below.log_partition(lam[None, :base])[2][0]
            return out
        for k in range(base):
            step = np.zeros(self.q)
            step[k] = DIFFERENCE_STEP
            up, down = (self.at(lam + sign * step, panels).moments() for sign in (1.0, -1.0))
            change = self.first.of_second(*up) - self.first.of_second(*down)
            out[:base, k] = change / (2.0 * DIFFERENCE_STEP)
        out[:base, :base] = 0.5 * (out[:base, :base] + out[:base, :base].T)
        return out

    def expectations(self, lam: Array, wide: Hierarchy) -> Array:
        """E φ of laws ``lam`` (B, q) of this level or one below, for all features of ``wide``."""
        found = [wide.of_axis_law(self, self.resolved(row)) for row in lam]  # type: ignore[attr-defined]
        return np.array(found).reshape(len(lam), -1)

    # --- what is not there, and what is as of the quadratics -----------------------------------

    @property
    def forms_matrices(self) -> bool:
        """Whether the covariance of the features is small enough to be formed."""
        return False

    def noise(self, rows: float) -> float:
        """That of the quadratics, and as much for each polynomial as for any feature."""
        return self._below.noise(rows) + 0.5 * (self.q - self.base) / rows

    def draw_work(self, rows: int) -> float:
        return ALONE + _OF_SQUARE * self.first.d**2

    def contains(self, moments: MomentStack) -> IntArray:
        """As for the quadratics: outside where a combination of coordinates is constant."""
        return self._below.contains(moments)

    def examine(self, x: Array, weights: Array) -> Placement:
        """Outside where the quadratics or the heights alone are; else the solver decides."""
        for placement in (self._below.examine(x, weights), self._of_heights(x, weights)):
            if placement.verdict.refuses:
                return placement
        return Placement(Verdict.UNSURE)

    def _of_heights(self, x: Array, weights: Array) -> Placement:
        return self.zonal.family(self.zonal.levels).examine(x, weights)

    # --- fits and draws ---------------------------------------------------------------------

    def solve(
        self,
        moments: MomentStack,
        start: Array,
        support: Support | None = None,
    ) -> DualSolution:
        """Row by row, from the fits of the quadratics alone."""
        lower = self._below.solve(moments, start[:, : self.base], support)
        out = DualSolution.empty(len(moments), self.q, Status.STALLED)
        for row in range(len(moments)):
            one = np.array([row])
            if lower.status[row] == Status.CONVERGED:
                out.put(one, self._climb(lower.take(one), moments.take(one)))
            else:
                out.status[row] = lower.status[row]
        return out

    def _climb(self, lower: DualSolution, moments: MomentStack) -> DualSolution:
        """One fit from that of the quadratics alone, on ever more panels until two agree."""
        begin = np.concatenate([lower.lam[0], np.zeros(self.q - self.base)])
        white = WhiteCoordinates.of(self, begin, moments)
        z, steps = np.zeros(white.size), 0
        for panels, finer in pairwise(_PANELS):
            z, used = self._ascended(white, z, panels)
            steps += used
            lam = begin + white.parameters(z)
            law = self.at(lam, panels)
            error = abs(self.at(lam, finer).psi - law.psi)
            rounding = RULE_ROUNDING * float(np.abs(lam).sum())
            if error <= VERIFIED_AIM + rounding:
                break
        target = moments.features[0, : self.q]
        residual = float(np.abs(target - self.means(law)).max())
        decrement = float(np.linalg.norm(white.gradient(law)))
        good = decrement <= ACCEPTED_DECREMENT and residual <= BINGHAM_RESIDUAL * (
            1.0 + abs(law.psi)
        )
        known = error <= VERIFIED_DIFFERENCE + rounding
        status = Status.STALLED if not good else Status.CONVERGED if known else Status.UNRESOLVED
        rounding += float(lower.moment_rounding[0])
        condition = float(lower.condition[0])
        deficit = float(lower.deficit[0]) + white.rise(z, law)
        numbers = np.array(
            [law.psi, deficit, np.nan, residual, decrement, condition, error, rounding]
        )
        counts = np.array([[len(law.angle)], [steps], [int(status)]])
        return DualSolution(lam[None], *numbers[:, None], *counts)

    def _ascended(self, white: WhiteCoordinates, z: Array, panels: int) -> tuple[Array, int]:
        """Where the dual is largest on so many panels, from ``z``, and how many steps it took."""
        from scipy.optimize import minimize  # its module is slow to import

        def fallen(at: Array) -> tuple[float, Array]:
            law = self.at(white.begin + white.parameters(at), panels)
            return -white.rise(at, law), white.gradient(law)

        options = {"maxcor": _MEMORY, "maxiter": _MOST_STEPS, "gtol": WHITE_GRADIENT, "ftol": 0.0}
        found = minimize(fallen, z, jac=True, method="L-BFGS-B", options=options)
        return np.asarray(found.x), int(found.nit)

    def sample(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        """Exact draws: the angle by rejection from constants on panels, then the rest given it.

        Each draw has a Fisher-Bingham law across the axis of its own.
        """
        natural = self.first.natural(lam[: self.base])
        angle = self._angles_drawn(lam, n, rng)
        out = np.empty((n, self.first.d))
        axis = self.zonal.direction
        for first in range(0, n, _BATCH):
            some = slice(first, first + _BATCH)
            across, terms, _ = given_angles(axis, natural, angle[some])
            drawn = [draw(p, b, 1, rng)[0] for p, b in zip(terms.p, terms.b, strict=True)]
            if not all(len(y) for y in drawn):
                raise ResolutionError(
                    self.level, "is too sharp to draw from", "draw from a lower level"
                )
            y = np.concatenate(drawn) @ across.T
            t, s = np.cos(angle[some])[:, None], np.sin(angle[some])[:, None]
            out[some] = t * axis + s * y
        return out

    def _angles_drawn(self, lam: Array, n: int, rng: np.random.Generator) -> Array:
        natural = self.first.natural(lam[: self.base])
        law = self.resolved(lam)
        panels = 2 * len(law.angle) // ORDER

        def height(angle: Array) -> Array:
            logs = given_angles(self.zonal.direction, natural, angle)[2]
            return np.asarray(logs + self.polynomials(np.cos(angle)) @ lam[self.base :])

        ceiling = highest(height(panels_of_angles(panels)[0]).reshape(panels, ORDER)) + _CLEARANCE
        room = np.exp(ceiling - ceiling.max())
        kept = [np.zeros(0)]
        while (missing := n - sum(len(part) for part in kept)) > 0:
            which = rng.choice(panels, size=min(4 * missing + 16, _BATCH), p=room / room.sum())
            theta = np.pi / panels * (which + rng.random(len(which)))
            good = np.log(rng.random(len(theta))) < height(theta) - ceiling[which]
            kept.append(theta[good][:missing])
        return np.concatenate(kept)
