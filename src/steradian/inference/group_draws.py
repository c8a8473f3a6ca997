"""Samples of groups that share what a null says they share: the labelled parametric bootstrap.

Each group is drawn from its own law of the fitted smaller space W, with as many rows and the same
weights as observed; the space is fitted again, and the p-value of the step computed again. Where
the observed one stands among them is a p-value too: exact under the fitted laws, to first order
under the null of moments, since p-values are asymptotically pivotal. Sampling stops where enough
are as small: see `Replicates`.

Where the gap of the highest level of a comparison stands among those of drawn groups.

For levels with so many features that no matrix of them is formed: groups are drawn from the fit in
which they share what the level adds, and both spaces are fitted again to each sample.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from steradian.data.stacks import MomentStack
from steradian.errors import SteradianError
from steradian.families.base import Family
from steradian.fitting.grouped import SharedProblem, integrals
from steradian.fitting.label_levels import mean_frame
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import Status
from steradian.hierarchies import Hierarchy
from steradian.inference.basis_whitening import BasisStep, whitening_of_laws
from steradian.inference.monte_carlo import MonteCarlo, Replicates, monte_carlo_test
from steradian.inference.sample import GroupedSample
from steradian.inference.scores import row_scores
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.tolerances import DRAWN_RESIDUAL
from steradian.progress import drawn_chunks

_FIRST = 8, 100  # least and most samples of the first chunk: as many as may settle a p-value
_WHAT = "samples of the null"
FURTHER = 4  # times as many samples where hardly any is as extreme


@dataclass(frozen=True, slots=True, eq=False)
class LabelledDraws:
    """Groups of rows to be drawn from the laws of a smaller space."""

    hierarchy: Hierarchy
    rung: int  # of a rule that resolves laws like the observed fits
    step: BasisStep
    lam: Array  # (G, q) of the fitted smaller space
    labels: IntArray  # (n,)
    weights: Array  # (n,) of sum one, the shares of the groups in it
    tilted: bool  # whether there are enough rows for a tilt; else the score alone is compared

    def pvalues(self, x: Array) -> Array:
        """P-values (B,) of samples (B, n, d); 0 where there is no fit."""
        phi = np.asarray(self.hierarchy.features(x.reshape(-1, x.shape[2])))
        phi, out = phi.reshape(*x.shape[:2], -1), np.zeros(len(x))
        step, means = self._described(phi)
        try:
            mean, covariance, sound = self._laws(step, means)
        except SteradianError:  # a law that no rule resolves: all of them count as small
            return out
        rows = np.flatnonzero(sound)
        if len(rows):
            white = whitening_of_laws(step.take(rows), mean[rows], covariance[rows], means[rows])
            good = white.sound
            zeta = white.rows(phi if sound.all() else phi[rows], self.labels)
            weights = np.broadcast_to(self.weights, zeta.shape[:2])
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

    def _described(self, phi: Array) -> tuple[BasisStep, Array]:
        """The step with the frames of samples (B, n, q), and means (B, G, q) of their groups."""
        step, shares = self.step, self.step.shares
        each = np.stack([self.weights * (self.labels == g) / shares[g] for g in range(len(shares))])
        means = each @ phi
        if step.frame is not None:
            frames = np.array([self._frame(mean) for mean in shares @ means])
            step = replace(step, frame=frames)
        return step, means

    def _laws(self, step: BasisStep, means: Array) -> tuple[Array, Array, BoolArray]:
        """E φ and covariances of the fits of the smaller space, by groups, and which are fits."""
        start, groups = np.broadcast_to(self.lam, means.shape), len(step.shares)
        problem = SharedProblem(self._family, step.shares, step.own, step.frame)
        if not step.own:  # one law for all
            problem = SharedProblem(self._family, np.ones(1), 0)
            start, means = start[:, :1], (step.shares @ means)[:, None, :]
        lam = problem.approached(means, start)
        _, mean, covariance = integrals(self._family, lam)
        sound = problem.mismatch(means, mean) <= DRAWN_RESIDUAL
        if not step.own:
            mean, covariance = (part.repeat(groups, axis=1) for part in (mean, covariance))
        return mean, covariance, sound

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


def labelled_pvalue(draws: LabelledDraws, observed: float, many: Replicates) -> float:
    """P-value of an observed plain p-value among those of samples of the null.

    Where no more than ``many.rare`` of all samples are as small, more are drawn.
    """
    found, rng = MonteCarlo(-observed, many.enough), np.random.default_rng(many.seed)
    entries = len(draws.labels) * (draws.lam.shape[1] + draws.step.own * len(draws.step.shares))
    first = int(np.clip(many.enough / max(observed, 1.0 / many.samples), *_FIRST))
    for most in (many.samples, FURTHER * many.samples):
        seen = int(found.draws[0])
        for piece in drawn_chunks(most - seen, entries, _WHAT, first=seen or first):
            found.add(-draws.pvalues(draws.drawn(piece.stop - piece.start, rng))[None])
            if found.finished:
                return found.pvalue
        if found.extreme[0] > many.rare:
            break
    return found.pvalue


_AHEAD, _LEAST = 5, 5_000  # times the coordinates of a sample, and no less, held of each drawn one
_FIRST_GAPS = 10  # samples of the first chunk, where many p-values are settled


def drawn_gap_pvalue(sample: GroupedSample, lam: Array, observed: float, many: Replicates) -> float:
    """P-value of a gap from samples of the laws ``lam`` (G, q); without a fit larger."""
    rng = np.random.default_rng(many.seed)
    coordinates = int(sample.sizes.sum()) * sample.hierarchy.space.d
    pieces = drawn_chunks(many.samples, max(_AHEAD * coordinates, _LEAST), _WHAT, first=_FIRST_GAPS)
    drawn = (_drawn(sample, lam, piece.stop - piece.start, rng) for piece in pieces)
    null = (np.nan_to_num(_gaps(sample, one), nan=np.inf) for one in drawn)
    return monte_carlo_test(observed, null, many.enough).pvalue


def _drawn(sample: GroupedSample, lam: Array, count: int, rng: np.random.Generator) -> MomentStack:
    """Moments of ``count`` samples of all groups, sample by sample."""
    hierarchy, rows, units = sample.hierarchy, sample.known_rows, sample.units
    family, parts = hierarchy.family(hierarchy.levels), []
    for group, (law, size) in enumerate(zip(lam, sample.sizes.tolist(), strict=True)):
        x = family.sample(law, count * size, rng).reshape(count, size, -1)
        weights = units.weights[rows.of(group)] / sample.shares[group]
        parts.append(hierarchy.stack(x, np.broadcast_to(weights, (count, size))))
    order = np.arange(count * len(lam)).reshape(len(lam), count).T.ravel()
    return MomentStack.concatenated(parts).take(order)


def _gaps(sample: GroupedSample, drawn: MomentStack) -> Array:
    """D(W_L) - D(W_{L-1}) of drawn samples; NaN where there is none."""
    hierarchy, shares = sample.hierarchy, sample.shares
    groups = fit_levels(hierarchy, drawn).deficits[:, -1].reshape(-1, len(shares)) @ shares
    return np.asarray(groups - _shared(sample, drawn))


def _shared(sample: GroupedSample, drawn: MomentStack) -> Array:
    """D(W_{L-1}), (S,); NaN where there is none."""
    hierarchy, shares = sample.hierarchy, sample.shares
    family, own = hierarchy.family(hierarchy.levels), hierarchy.q(hierarchy.levels - 1)
    found = family.shared_fit(drawn, shares, own)
    if found is None:
        return np.full(len(drawn) // len(shares), np.nan)
    return np.where(found.status == Status.CONVERGED, found.deficit, np.nan)
