"""Where a p-value stands among those of resampled units, for units that brought their weights.

Fits to weighted rows are worth far fewer than their number, and what estimating them does to the
score of a higher level is felt up to hundreds of effective rows per feature: at level 3 of a
concentrated law on the circle a 5 % test of importance samples worth 77 rows rejected 27 % of
the time, with no row of high leverage. Draws of the fit below do not help, since nobody knows the
proposal; but units can be drawn from the tilted law, under which the null holds, and each such
sample fitted and tested again. That is a bootstrap of an asymptotically pivotal quantity with the
null imposed (Hall and Wilson, Biometrics 47, 1991).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.data.stacks import moments_of_weightings
from steradian.designs.units import Units
from steradian.fitting.nested import fit_levels
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.significance.redrawn.drawn_samples import sound_whitening
from steradian.significance.scores import Scores, scores_of, small_sample

DOUBTED = 0.1  # p-values above it are no evidence, calibrated or not


@dataclass(frozen=True, slots=True, eq=False)
class ResampledUnits:
    """The units of one sample, to be drawn from the law of its tilt."""

    hierarchy: Hierarchy
    level: int
    x: Array  # (n, d)
    units: Units
    law: Array  # (U,) of sum one: under it the features of the level have the means of the null

    @classmethod
    def of(
        cls, hierarchy: Hierarchy, level: int, rows: Directions, units: Units, below: Array
    ) -> ResampledUnits:
        """From the rows of a sample and the parameters ``below`` (1, q) of its reduced fit."""
        white = hierarchy.family(level).whitening(below)
        law = scores_of(rows, units, white).tilt_law
        return cls(hierarchy, level, rows.x, units, law)

    @property
    def entries(self) -> int:
        """Numbers of features of one draw."""
        return len(self.x) * max(self.hierarchy.q(self.level), self.hierarchy.space.d)

    def pvalues(self, rows: IntArray, count: int, rngs: list[np.random.Generator]) -> Array:
        """P-values of the damped tilt of ``count`` draws, (1, count)."""
        drawn = rngs[int(rows[0])].multinomial(len(self.law), self.law, count)
        labels = self.units.labels
        weights = self.units.weights * (drawn if labels is None else drawn[:, labels])
        total = weights.sum(axis=1, keepdims=True)
        good = np.flatnonzero(total[:, 0] > 0.0)
        out = np.full((1, count), np.nan)
        scores, found, gone = self._scores(weights[good] / total[good], drawn[good])
        out[0, good[gone]] = 0.0
        if scores is None:
            return out
        coefficients = scores.coefficients("damped")
        known = np.isfinite(coefficients).all(axis=1) & np.isfinite(scores.statistic)
        tails = mixture_sf(scores.statistic[known], coefficients[known], scores.damped_dof)
        out[0, good[found[known]]] = tails
        return out

    def _scores(self, weights: Array, drawn: IntArray) -> tuple[Scores | None, IntArray, IntArray]:
        """Scores of draws with row weights (B, n), each unit ``drawn`` (B, U) times.

        With them which draws have any, and which are lost; None where none has.
        """
        reduced = self.hierarchy.up_to(self.level - 1)
        fits = fit_levels(reduced, moments_of_weightings(self.x, weights, reduced).unsought())
        found = fits.sound_rows
        family = self.hierarchy.family(self.level)
        sharp = sound_whitening(family, fits.solutions[-1].lam[found])
        if sharp is None:
            return None, found[:0], fits.lost_rows
        white, sound = sharp
        found = found[sound]
        shape = (len(found), *self.x.shape)
        zeta = white.rows(np.broadcast_to(self.x, shape))
        scores = self._grouped(zeta, white.below, weights[found], drawn[found])
        return scores, found, fits.lost_rows

    def _grouped(self, zeta: Array, below: int, weights: Array, drawn: IntArray) -> Scores:
        """As `group_scores`, a unit that was drawn k times being k units."""
        units, count = self.units, drawn.shape[1]
        times = np.maximum(drawn, 1)
        sums, shares = (
            np.swapaxes(units.gather(np.swapaxes(rows, 0, 1)), 0, 1)
            for rows in (weights[:, :, None] * zeta, weights)
        )
        small, left = small_sample(units.dof, below)
        dof = min(left, units.scale_dof)
        rate = np.full(len(zeta), units.rate)
        return Scores(
            h=count * sums / times[:, :, None],
            base=drawn / count,
            spread=np.broadcast_to(units.factors, drawn.shape),
            share=count * shares / times,
            scale=small * rate**2 / count,
            rate=rate,
            below=below,
            rows=False,
            dof=dof,
        )
