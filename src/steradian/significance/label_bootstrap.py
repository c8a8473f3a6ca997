"""Samples of groups that share what a null says they share: the labelled parametric bootstrap.

Each group is drawn from its own law of the fitted smaller space W, with as many rows and the same
weights as observed; the space is fitted again, and the p-value of the step computed again. Where
the observed one stands among them is a p-value too: exact under the fitted laws, to first order
under the null of moments, since p-values are asymptotically pivotal. Sampling stops where enough
are as small: see `significance.replicates`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from steradian.errors import SteradianError
from steradian.families.base import Family
from steradian.fitting.grouped import SharedProblem
from steradian.fitting.label_levels import mean_frame
from steradian.fitting.solution import Status
from steradian.hierarchies import Hierarchy
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.progress import metered
from steradian.significance.label_whitening import LabelStep, label_whitening
from steradian.significance.replicates import Replicates
from steradian.significance.scores import row_scores

_ENTRIES = 400_000  # numbers of white features of samples that are held at once
_FIRST = 25  # samples of the first chunk, where many p-values are settled


@dataclass(frozen=True, slots=True, eq=False)
class LabelledDraws:
    """Groups of rows to be drawn from the laws of a smaller space."""

    hierarchy: Hierarchy
    rung: int  # of a rule that resolves the observed fits
    step: LabelStep
    lam: Array  # (G, q) of the fitted smaller space
    labels: IntArray  # (n,)
    weights: Array  # (n,) of sum one, the shares of the groups in it
    tilted: bool  # whether there are enough rows for a tilt; else the score alone is compared

    def pvalues(self, x: Array) -> Array:
        """P-values (B,) of samples (B, n, d); 0 where there is no fit."""
        phi = np.asarray(self.hierarchy.features(x.reshape(-1, x.shape[2])))
        phi, out = phi.reshape(*x.shape[:2], -1), np.zeros(len(x))
        try:
            lam, step, means, sound = self._fitted(phi)
        except SteradianError:  # a law that no rule resolves: all of them count as small
            return out
        if sound.any():
            rows = np.flatnonzero(sound)
            white = label_whitening(self._family, step.take(rows), lam[rows], means[rows])
            good = white.sound
            zeta = white.rows(phi[rows], self.labels)
            weights = np.broadcast_to(self.weights, (len(rows), len(self.weights)))
            out[rows[good]] = plain_pvalues(
                zeta[good], white.below, weights[good], tilted=self.tilted
            )
        return out

    @property
    def _family(self) -> Family:
        return self.hierarchy.family(self.hierarchy.levels).resolved_by(self.rung)

    def drawn(self, count: int, rng: np.random.Generator) -> Array:
        """Samples (count, n, d) of the groups' laws."""
        n, d, family = len(self.labels), self.hierarchy.space.d, self._family
        if not self.step.own:  # one law for all
            return family.sample(self.lam[0], count * n, rng).reshape(count, n, d)
        x = np.empty((count, n, d))
        for group, lam in enumerate(self.lam):
            here = np.flatnonzero(self.labels == group)
            some = family.sample(lam, count * len(here), rng)
            x[:, here] = some.reshape(count, len(here), d)
        return x

    def _fitted(self, phi: Array) -> tuple[Array, LabelStep, Array, Array]:
        """Parameters of the smaller space, the step with their own frames, means, and which."""
        step, shares = self.step, self.step.shares
        means = np.stack(
            [
                self.weights[here] @ phi[:, here] / shares[group]
                for group in range(step.groups)
                for here in [np.flatnonzero(self.labels == group)]
            ],
            axis=1,
        )
        frames = None
        if step.frame is not None:
            frames = np.array([self._frame(mean) for mean in shares @ means])
            step = LabelStep(step.own, step.added, shares, frames, step.across)
        start = np.broadcast_to(self.lam, means.shape).copy()
        if step.own:
            fit = SharedProblem(self._family, shares, step.own, frames).solve(means, start)
            return fit.lam, step, means, fit.status == Status.CONVERGED
        pooled = (shares @ means)[:, None, :]
        fit = SharedProblem(self._family, np.ones(1), 0).solve(pooled, start[:, :1])
        lam = np.repeat(fit.lam, step.groups, axis=1)
        return lam, step, means, fit.status == Status.CONVERGED

    def _frame(self, mean: Array) -> Array:
        frame = mean_frame(self.hierarchy, mean, np.inf)
        return np.eye(len(mean)) if frame is None else frame


def plain_pvalues(zeta: Array, below: int, weights: Array, *, tilted: bool) -> Array:
    """P-values (B,) of the plain tilt; without one, of the model's χ² law."""
    scores = row_scores(zeta, below, weights)
    half = np.full((len(zeta), scores.q), 0.5)
    coefficients = scores.coefficients("tilted") if tilted else half
    found = np.isfinite(coefficients).all(axis=1) & np.isfinite(scores.statistic)
    out = np.zeros(len(zeta))
    if found.any():
        out[found] = mixture_sf(scores.statistic[found], coefficients[found])
    return out


def standing(draws: LabelledDraws, observed: float, many: Replicates) -> float:
    """Where an observed plain p-value stands among those of samples of the null."""
    rng, seen, below = np.random.default_rng(many.seed), 0, 0
    replicates = many.samples
    size = len(draws.labels) * (draws.lam.shape[1] + draws.step.own * draws.step.groups)
    with metered(replicates, "samples of the null") as advance:
        for count in _counts(replicates, size):
            null = draws.pvalues(draws.drawn(count, rng))
            small = np.cumsum(null <= observed)
            if below + small[-1] >= many.enough:
                place = int(np.argmax(below + small >= many.enough))
                return many.enough / (seen + place + 1)
            seen, below = seen + count, below + int(small[-1])
            advance(count)
    return (below + 1.0) / (seen + 1.0)


def _counts(replicates: int, size: int) -> Iterator[int]:
    """Samples of each chunk; they double."""
    most, left, step = max(1, _ENTRIES // max(1, size)), replicates, _FIRST
    while left:
        count = min(step, most, left)
        yield count
        left, step = left - count, 2 * step
