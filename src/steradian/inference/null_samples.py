"""Samples that obey the null of a level: draws of the fit below, resampled units, random signs.

**Recalibration** places a p-value among those of samples of the null. Valid to first order under
the moment null as well, since the p-value is asymptotically pivotal. Sampling stops at ten
p-values as small as the observed one: 10 / samples is then a p-value (Besag and Clifford,
Biometrika 78, 1991).

**Resampled units** are for samples that brought their weights. Fits to weighted rows are worth far
fewer than their number, and what estimating them does to the score of a higher level is felt up to
hundreds of effective rows per feature: at level 3 of a concentrated law on the circle a 5 % test
of importance samples worth 77 rows rejected 27 % of the time, with no row of high leverage. Draws
of the fit below do not help, since nobody knows the proposal; but units can be drawn from the
tilted law, under which the null holds, and each such sample fitted and tested again. That is a
bootstrap of an asymptotically pivotal quantity with the null imposed (Hall and Wilson, Biometrics
47, 1991).

**Groups** share what a null says they share: the labelled parametric bootstrap. Each group is
drawn from its own law of the fitted smaller space W, with as many rows and the same weights as
observed; the space is fitted again, and the p-value of the step computed again. Where the observed
one stands among them is a p-value too: exact under the fitted laws, to first order under the null
of moments, since p-values are asymptotically pivotal. Sampling stops where enough are as small:
see `Replicates`.

**Gaps** of the highest level are compared where no matrix of the features is formed. For levels
with so many features that no matrix of them is formed: groups are drawn from the fit in which they
share what the level adds, and both spaces are fitted again to each sample.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np

from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack, moments_of_weightings
from steradian.designs.base import Units
from steradian.errors import ResolutionError, SteradianError
from steradian.existence.placement import Verdict
from steradian.families.base import Family
from steradian.families.whitening import Whitening
from steradian.fitting.grouped import SharedProblem, integrals
from steradian.fitting.label_levels import mean_frame
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.fitting.solution import Status
from steradian.hierarchies import Hierarchy
from steradian.inference.basis_whitening import BasisStep, whitening_of_laws
from steradian.inference.monte_carlo import (
    ENOUGH_RECALIBRATED,
    MonteCarlo,
    Replicates,
    monte_carlo_test,
)
from steradian.inference.sample import GroupedSample, Sample
from steradian.inference.scores import Covariance, Scores, group_scores, row_scores, unit_sums
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.tolerances import DRAWN_RESIDUAL
from steradian.progress import drawn_chunks


def features_of(hierarchy: Hierarchy, x: Array) -> Array:
    """Features of samples (B, n, d): (B, n, q)."""
    count, n, d = x.shape
    return np.asarray(hierarchy.features(x.reshape(-1, d))).reshape(count, n, -1)


def fits_of_samples(hierarchy: Hierarchy, x: Array, weights: Array) -> NestedFits:
    """Nested fits of samples ``x`` (B, n, d)."""
    return _stack_fits(hierarchy, hierarchy.stack(x, weights), x, weights)


def _stack_fits(hierarchy: Hierarchy, stack: MomentStack, x: Array, weights: Array) -> NestedFits:
    """Nested fits of samples whose moments, of these levels or more, are known.

    Where rows are examined quickly they tell where there is no fit, and find it where moments
    take long; elsewhere no support is examined, the solver decides, and a sample that no shared
    rule resolves stays without a fit: it is among `NestedFits.lost_rows`.
    """
    levels = range(1, hierarchy.levels + 1)
    quick = all(hierarchy.family(level).examines_quickly for level in levels)
    support = (
        (lambda row: Directions(x[row], weights[row], space=hierarchy.space).support())
        if quick
        else None
    )
    return fit_levels(hierarchy, stack.unsought(), support)


def _near(law: Array | None, below: Family, stack: MomentStack) -> tuple[Array, BoolArray, bool]:
    """Fits (B, q) of the level ``below`` alone that lie about one ``law`` of it.

    With them which are known, and whether the others are worth a search of their own. Once there
    is a law to begin from, the fit of a level needs none of those below it.
    """
    refits = None if law is None else below.refits(law)
    if refits is None or below.q <= stack.mean.shape[1]:  # of a mean all is known at once
        return np.zeros((len(stack), below.q)), np.zeros(len(stack), dtype=bool), True
    return *refits.parameters(stack.features[:, : below.q]), not refits.thorough


@dataclass(frozen=True, slots=True, eq=False)
class FitsBelow:
    """Each sample's own fit of the level below ``level``: which have one, and which are lost.

    Lost samples count as farther from the null than any observed one: a p-value among them can
    then only be too large.
    """

    family: Family  # of the level
    rows: IntArray  # samples that have a fit
    lam: Array  # (len(rows), q_below)
    gone: IntArray

    @classmethod
    def of(
        cls,
        hierarchy: Hierarchy,
        level: int,
        stack: MomentStack | None,
        samples: tuple[Array, Array],
        near: Array | None = None,
    ) -> FitsBelow:
        """Of ``samples`` (B, n, d) with weights (B, n), perhaps all drawn from one law ``near``.

        ``stack`` are the moments of the levels below or more, where there are any; ``near`` (q,)
        are parameters of the level below.
        """
        rows, family = np.arange(len(samples[0])), hierarchy.family(level)
        if stack is None or level == 1:
            return cls(family, rows, np.zeros((len(rows), 0)), rows[:0])
        below = hierarchy.family(level - 1)
        lam, found, searched = _near(near, below, stack)
        left = np.flatnonzero(~found)
        if not len(left):
            return cls(family, rows, lam, left)
        rest = stack.take(left)
        if not searched:
            maybe = left[below.contains(rest) >= Verdict.UNSURE]
            return cls(family, np.flatnonzero(found), lam[found], maybe)
        some = tuple(part[left] for part in samples)
        fits = _stack_fits(hierarchy.up_to(level - 1), rest, *some)
        sound = fits.sound_rows
        lam[left[sound]], found[left[sound]] = fits.solutions[-1].lam[sound], True
        return cls(family, np.flatnonzero(found), lam[found], left[fits.lost_rows])

    def scores(self, x: Array, weights: Array) -> tuple[Scores, IntArray] | None:
        """Scores of the level for samples whose rows share one law, and which samples have them.

        None where no sample has any.
        """
        known = sound_whitening(self.family, self.lam)
        if known is None:
            return None
        white, sound = known
        rows = self.rows[sound]
        return row_scores(white.rows(x[rows]), white.below, weights[rows]), rows

    def squares(self, stack: MomentStack) -> Array:
        """|E ζ_added|² of the samples from their moments alone; ∞ of the lost ones.

        Lost too are those whose fit is so sharp that it has no white features.
        """
        found = np.full(len(self.rows) + len(self.gone), np.inf)
        known = sound_whitening(self.family, self.lam)
        if known is not None:
            white, sound = known
            found[np.flatnonzero(sound)] = white.score(stack.take(self.rows[sound]))
        return found


def sound_whitening(family: Family, below: Array) -> tuple[Whitening, BoolArray] | None:
    """White features for those fits ``below`` that have any, and which these are; None of none."""
    sound = np.ones(len(below), dtype=bool)
    while sound.any():
        rows = np.flatnonzero(sound)
        try:
            white = family.whitening(below[rows])
        except ResolutionError as error:  # of the sharpest
            sound[rows[_refused(family, below[rows], error)]] = False
            continue
        if white.sound.all():
            return white, sound
        sound[rows[~white.sound]] = False
    return None


def _refused(family: Family, below: Array, error: ResolutionError) -> IntArray:
    """Which fits, together refused with ``error``, have no white features; told in halves."""
    if error.rows is not None:
        return error.rows
    if len(below) == 1:
        return np.zeros(1, dtype=np.intp)
    found: list[IntArray] = []
    for half in np.array_split(np.arange(len(below)), 2):
        try:
            family.whitening(below[half])
        except ResolutionError as one:
            found.append(half[_refused(family, below[half], one)])
    return np.concatenate(found) if found else np.arange(len(below))


_FIRST_REPLICATES = 64  # samples of the first piece, after which many p-values are known


def score_replicates(sample: Sample, level: int, replicates: int, seed: int) -> Iterator[Array]:
    """Score statistics of samples of the reduced fit, some at a time; see `MonteCarlo`."""
    hierarchy = sample.hierarchy.up_to(level)
    width = _width(hierarchy, level)
    near = sample.fits[level - 1].lam
    for x, weights in samples_of_fit(sample, level - 1, replicates, seed, width):
        stack = hierarchy.stack(x, weights)
        below = FitsBelow.of(hierarchy, level, stack, (x, weights), near)
        yield 0.5 * sample.own_rate**2 * below.squares(stack)


def gap_replicates(sample: Sample, level: int, replicates: int, seed: int) -> Iterator[Array]:
    """a² I of samples of the reduced fit, some at a time; see `MonteCarlo`."""
    for fits in _null_fits(sample, level, replicates, seed):
        gaps = fits.gaps[:, level - 1]
        gaps[fits.lost_rows] = np.inf
        yield np.asarray(sample.own_rate**2 * gaps)


def gap_replicates_of(sample: Sample, level: int, replicates: int, seed: int) -> Array:
    """I of samples of the reduced fit, (replicates,); NaN where there is no fit."""
    found = _null_fits(sample, level, replicates, seed)
    return np.concatenate([fits.gaps[:, level - 1] for fits in found])


def _null_fits(sample: Sample, level: int, replicates: int, seed: int) -> Iterator[NestedFits]:
    hierarchy = sample.hierarchy.up_to(level)
    width = _width(hierarchy, level)
    for x, weights in samples_of_fit(sample, level - 1, replicates, seed, width):
        yield fits_of_samples(hierarchy, x, weights)


def multiplier_replicates(
    scores: Scores, kind: Covariance, replicates: int, seed: int
) -> Iterator[Array]:
    """½ |Σ ε_g √weight_g h_g|² with random signs ε and the weights of Ω, some at a time.

    Their covariance given the units is the Ω that the exact tail takes its coefficients from.
    """
    rng = np.random.default_rng(seed)
    rows = scores.spread_out(kind)[0]
    dof = scores.tail_dof(kind)
    for piece in drawn_chunks(replicates, len(rows), "random signs"):
        signs = rng.integers(0, 2, (piece.stop - piece.start, len(rows))) * 2.0 - 1.0
        found = ((signs @ rows) ** 2).sum(axis=1)
        if np.isfinite(dof):
            found *= dof / rng.chisquare(dof, len(found))
        yield np.asarray(0.5 * found)


def tail_replicates(
    coefficients: Array, dof: float, replicates: int, rng: np.random.Generator
) -> Iterator[Array]:
    """Draws of the law that `mixture_sf` inverts, some at a time."""
    for piece in drawn_chunks(replicates, len(coefficients), "draws of the tail"):
        found = rng.chisquare(1.0, (piece.stop - piece.start, len(coefficients))) @ coefficients
        if np.isfinite(dof):
            found *= dof / rng.chisquare(dof, len(found))
        yield found


def _width(hierarchy: Hierarchy, level: int) -> int:
    """Numbers per row that are held of a level: its features, where these are formed."""
    return hierarchy.q(level) if hierarchy.family(level).forms_matrices else hierarchy.space.d


def samples_of_fit(
    sample: Sample, level: int, replicates: int, seed: int, features: int
) -> Iterator[tuple[Array, Array]]:
    """Chunks of samples (b, n, d) of the fit of ``level``, with the observed weights (b, n)."""
    fit, n, d = sample.fits[level], sample.moments.n, sample.hierarchy.space.d
    w = sample.units.weights if sample.has_rows else np.full(n, 1.0 / n)
    rng = np.random.default_rng([seed, level + 1])
    what = f"samples of the fit of level {level}"
    for piece in drawn_chunks(replicates, n * max(features, d), what, first=_FIRST_REPLICATES):
        count = piece.stop - piece.start
        with np.errstate(all="ignore"):  # of fits so sharp that their samples have none
            yield fit.sample(count * n, rng).reshape(count, n, d), np.broadcast_to(w, (count, n))


SETTLED = 0.002  # p-values of the damped test that no recalibration could resolve
_FIRST_DRAWS = 25  # samples of a fit in the first chunk, where many p-values are settled
_ENTRIES = 2_000_000  # numbers of features of samples of several fits at once


class NullSamples(Protocol):
    """Samples of the null of one level, made for S observed ones."""

    @property
    def level(self) -> int:
        """The level whose null it is."""
        ...

    @property
    def entries(self) -> int:
        """Numbers of features of one sample."""
        ...

    def pvalues(self, rows: IntArray, count: int, rngs: list[np.random.Generator]) -> Array:
        """P-values (len(rows), count) of samples for some observed ones; NaN without one.

        Zero for those whose fit was not looked for: below any observed one.
        """
        ...


@dataclass(frozen=True, slots=True, eq=False)
class ReducedFits:
    """The fits below ``level`` of S samples, and the weights that their draws keep."""

    hierarchy: Hierarchy
    level: int
    lam: Array  # (S, q); no columns for the uniform law
    weights: Array  # (S, n), of sum one

    @property
    def entries(self) -> int:
        """Numbers of features of one sample."""
        size = self.hierarchy.q(self.level)
        return self.weights.shape[1] * max(size, self.hierarchy.space.d)

    def pvalues(self, rows: IntArray, count: int, rngs: list[np.random.Generator]) -> Array:
        """P-values of the plain tilt of ``count`` draws of some fits."""
        n, d = self.weights.shape[1], self.hierarchy.space.d
        drawn = [self._draw(int(row), count * n, rngs[row]) for row in rows]
        x = np.concatenate(drawn).reshape(-1, n, d)
        w = np.repeat(self.weights[rows], count, axis=0)
        near = self.lam[rows[0]] if len(rows) == 1 else None
        return self._tails(x, w, near).reshape(len(rows), count)

    def _tails(self, x: Array, weights: Array, near: Array | None) -> Array:
        out = np.full(len(x), np.nan)
        reduced = self.hierarchy.up_to(self.level - 1) if self.level > 1 else None
        stack = None if reduced is None else reduced.stack(x, weights)
        below = FitsBelow.of(self.hierarchy, self.level, stack, (x, weights), near)
        out[below.gone] = 0.0
        known = below.scores(x, weights)
        if known is not None:
            scores, found = known
            coefficients = scores.coefficients("tilted")
            good = np.isfinite(coefficients).all(axis=1) & np.isfinite(scores.statistic)
            out[found[good]] = mixture_sf(scores.statistic[good], coefficients[good])
        return out

    def _draw(self, row: int, count: int, rng: np.random.Generator) -> Array:
        if not self.lam.shape[1]:
            return self.hierarchy.space.uniform(count, rng)
        return self.hierarchy.family(self.level - 1).sample(self.lam[row], count, rng)


def recalibrated_pvalues(
    fits: NullSamples, pvalues: Array, replicates: int, seeds: IntArray
) -> Array:
    """Where ``pvalues`` (S,) stand among those of samples of the null, (S,).

    NaN where none of the first of these can be tested.
    Each sample has its own seed, so that it does not matter what is tested beside it.
    """
    rngs = [np.random.default_rng([int(seed), fits.level]) for seed in seeds]
    found = MonteCarlo(-pvalues, ENOUGH_RECALIBRATED)
    what = f"samples of the null of level {fits.level}"
    for piece in drawn_chunks(replicates, fits.entries, what, first=_FIRST_DRAWS):
        count = piece.stop - piece.start
        for rows in _groups(found.unsettled, count * fits.entries):
            found.add(-fits.pvalues(rows, count, rngs), rows)
        if found.finished:
            break
    return found.pvalues


def _groups(rows: IntArray, entries: int) -> list[IntArray]:
    """Rows in parts whose draws fit in memory together."""
    most = max(1, _ENTRIES // entries)
    return np.array_split(rows, max(1, math.ceil(len(rows) / most))) if len(rows) else []


DOUBTED = 0.1  # p-values above it are no evidence, calibrated or not


@dataclass(frozen=True, slots=True, eq=False)
class ResampledUnits:
    """The units of one sample, to be drawn from the law of its tilt."""

    hierarchy: Hierarchy
    level: int
    x: Array  # (n, d)
    units: Units
    law: Array  # (U,) of sum one: under it the features of the level have the means of the null

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
        sums, shares = unit_sums(zeta, weights[found], self.units)
        plain = group_scores(sums, shares, white.below, self.units)
        times = np.maximum(drawn[found], 1)  # a unit that was drawn k times is k units
        scores = replace(
            plain,
            h=plain.h / times[:, :, None],
            base=drawn[found] / drawn.shape[1],
            share=plain.share / times,
            units=None,
        )
        return scores, found, fits.lost_rows


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
