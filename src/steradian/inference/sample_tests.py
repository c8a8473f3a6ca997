"""Tests of many samples at once, for calibration and power studies."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import whole_number
from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack
from steradian.data.validation import as_numeric
from steradian.designs import Design, as_design
from steradian.designs.base import Units
from steradian.diagnostics import Diagnostic
from steradian.errors import DesignError, InvalidDirections
from steradian.families.whitening import Whitening
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import refuse_unproven
from steradian.hierarchies.default import default_hierarchy
from steradian.inference import concerns
from steradian.inference.level_tests import Null, Options, Statistic
from steradian.inference.null_samples import (
    DOUBTED,
    SETTLED,
    ReducedFits,
    ResampledUnits,
    features_of,
    recalibrated_pvalues,
    sound_whitening,
)
from steradian.inference.scores import (
    FEWEST_ROWS,
    Covariance,
    Scores,
    group_scores,
    needs_calibration,
    needs_resampling,
    ratio_scores,
    row_scores,
    tails_of_few,
    worthless,
)
from steradian.inference.scores import judged as can_judge
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import mixture_sf
from steradian.numerics.tolerances import UNIT_LENGTH
from steradian.progress import chunks
from steradian.spaces import unit_sphere

_KEPT_ENTRIES = 20_000_000  # features kept from the fits to the tests rather than made again


@dataclass(frozen=True, eq=False, repr=False)
class SampleTests:
    """Gaps and tests of B samples; a sample without a fit is NaN from that level on.

    Attributes
    ----------
    gaps, gap_statistic, score_statistic, pvalue : arrays, (B, L)
        As in `GapTests`; recalibrated only where ``replicates`` were asked for.
    coefficients : tuple of arrays (B, q)
        Per level, the coefficients of the null law.
    judged : array of bool, (B, L)
        False where one row outweighs all others together, as in `GapTests`.
    rough : array of bool, (B, L)
        Where `Profile.tests` calibrates the p-value on draws of the reduced fit or of the units,
        and these are rough if it was not asked for.
    diagnostics : tuple of Diagnostic
        How many samples are not judged, or rough, or have ratios with a heavy tail.
    """

    gaps: Array
    gap_statistic: Array
    score_statistic: Array
    pvalue: Array
    coefficients: tuple[Array, ...]
    judged: BoolArray
    rough: BoolArray
    diagnostics: tuple[Diagnostic, ...]

    def __repr__(self) -> str:
        return f"SampleTests({len(self.gaps)} samples, {self.gaps.shape[1]} levels)"


def sample_tests(  # noqa: PLR0913 - the choices of one test
    x: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    levels: int = 2,
    hierarchy: Hierarchy | None = None,
    design: Design | str | None = None,
    null: Null = "moment",
    statistic: Statistic = "score",
    covariance: Covariance | None = None,
    replicates: int = 0,
) -> SampleTests:
    """Profile and test many samples of the same size, whose features are few enough to be held.

    Parameters
    ----------
    x : (B, n, d) array_like
        Unit vectors on the circle or the two-sphere, or points of the space of ``hierarchy``.
    weights : (n,) or (B, n) array_like, optional
        Non-negative weights of any scale; by default equal.
    levels : int
        Highest level of the harmonics; of no meaning with a ``hierarchy``.
    hierarchy : Hierarchy, optional
        What is measured.
    design : {"iid", "fixed", "importance"}, Clusters or Survey, optional
        How rows and weights arose, alike in all samples; needed when there are weights.
    null, statistic, covariance : str
        As in `Profile.tests`; the p-value is the exact tail.
    replicates : int
        Draws of the reduced fit on which rough p-values of the default test are calibrated, at
        most; sample k gets what ``tests(replicates=replicates, seed=k)`` gives. By default none,
        which is far quicker.

    Examples
    --------
    >>> import numpy as np
    >>> from steradian.paper import sample_tests
    >>> angle = np.random.default_rng(0).vonmises(0.0, 2.0, (100, 50))
    >>> x = np.stack([np.cos(angle), np.sin(angle)], axis=2)
    >>> sample_tests(x, levels=2).pvalue.shape
    (100, 2)
    """
    whole_number(replicates, "replicates", least=0)
    points, features = _points(x, levels, hierarchy)
    w = _weights(weights, points.shape[:2])
    plan = as_design(design, weighted=weights is not None)
    chosen = Options(null, statistic, covariance)
    if weights is not None:
        uneven = int(np.argmax(np.ptp(w, axis=1)))  # a design of equal weights refuses all by it
        plan.check(Directions(points[uneven], w[uneven], space=features.space))
    first = Directions(points[0], None if weights is None else w[0], space=features.space)
    units = _units(plan, first)
    if null == "model" and units.random_weights:
        raise DesignError(f"null='model' has no law for {plan.name} samples; use null='moment'")
    if units.strata is not None and chosen.tilts:
        raise DesignError("strata cannot be tilted as a whole; use covariance='null'")
    found = _tested(features, points, w, units, chosen)
    return found.finished(points, w, units, chosen, replicates)


def _points(x: ArrayLike, levels: int, hierarchy: Hierarchy | None) -> tuple[Array, Hierarchy]:
    """The samples (B, n, d), checked, and what is measured of them."""
    points = np.asarray(as_numeric(x, "x"), dtype=np.float64)
    if points.ndim == 3 and (not len(points) or points.shape[1] < 2):
        raise InvalidDirections(f"x has shape {points.shape}; give samples of two rows at least")
    if points.ndim != 3 or points.shape[2] < 2:
        raise InvalidDirections(f"x has shape {points.shape}; give (B, n, 2) or (B, n, 3)")
    if hierarchy is None:
        _check_unit(points)
        hierarchy = default_hierarchy(unit_sphere(points.shape[2]), levels)
    refuse_unproven(hierarchy)
    if refused := hierarchy.space.refusal(points.reshape(-1, points.shape[2])):
        raise InvalidDirections("{refused}", refused=refused)
    formed = [hierarchy.family(k).forms_matrices for k in range(1, hierarchy.levels + 1)]
    if not all(formed):
        raise InvalidDirections(
            f"x has shape {points.shape}, and level {formed.index(False) + 1} of {hierarchy} has "
            "too many features to be held for many samples; profile them one at a time"
        )
    return points, hierarchy


def _check_unit(points: Array) -> None:
    if not np.abs(np.einsum("bni,bni->bn", points, points) - 1.0).max() < UNIT_LENGTH:
        raise InvalidDirections("x holds rows that are not unit vectors; divide by their length")


def _units(plan: Design, first: Directions) -> Units:
    """The units of the first sample, which are those of all."""
    units = plan.units(first)
    if units.serial:
        raise DesignError(
            f"design {plan.name!r} finds other units in every sample; test them one at a time"
        )
    return units


def _weights(weights: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    if weights is None:
        return np.broadcast_to(1.0 / shape[1], shape)
    given = np.asarray(as_numeric(weights, "weights"), dtype=np.float64)
    if given.shape not in {shape, shape[1:]}:
        raise InvalidDirections(f"weights have shape {given.shape}; give {shape} or {shape[1:]}")
    w = np.broadcast_to(given, shape)
    if not (np.isfinite(w) & (w >= 0.0)).all() or not w.sum(axis=1).all():
        raise InvalidDirections("weights are finite, not negative, and not all zero in any sample")
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _tested(hierarchy: Hierarchy, x: Array, w: Array, units: Units, options: Options) -> _Found:
    count, n, _ = x.shape
    levels = hierarchy.levels
    size = hierarchy.q(levels)
    pieces = list(chunks(count, n * size))
    keep = count * n * size <= _KEPT_ENTRIES
    kept = [features_of(hierarchy, x[piece]) for piece in pieces] if keep else []
    stacks = [
        hierarchy.stack(x[piece], w[piece], kept[k] if keep else None)
        for k, piece in enumerate(pieces)
    ]
    fits = fit_levels(hierarchy, MomentStack.concatenated(stacks))
    found = _Found.empty(hierarchy, fits)
    sound = np.isfinite(np.array([np.zeros(count), *(s.psi for s in fits.solutions[:-1])]))
    none = np.zeros((count, 0))
    for index, piece in enumerate(pieces):
        phi = kept[index] if keep else features_of(hierarchy, x[piece])
        for k in range(levels):
            rows = np.arange(piece.start, piece.stop)[sound[k, piece]]
            lam = (fits.solutions[k - 1].lam if k else none)[rows]
            known = sound_whitening(hierarchy.family(k + 1), lam)
            if known is None:
                continue
            white, clear = known
            rows, p = rows[clear], white.below + white.q
            if units.effective < FEWEST_ROWS * p:
                continue
            part = phi[rows - piece.start, :, :p] if len(rows) < len(phi) else phi[:, :, :p]
            scores = _scores(_white_features(white, part), white.below, w[rows], units)
            found.put(rows, k, scores, options)
    return found


def _white_features(white: Whitening, phi: Array) -> Array:
    """ζ from features (B, n, p) that are at hand."""
    assert white.formed is not None  # levels that form no matrices are refused
    return white.formed.of_features(phi)


@dataclass(frozen=True, eq=False)
class _Found:
    """What is known of the samples so far, level by level."""

    hierarchy: Hierarchy
    fits: NestedFits
    score: Array
    plain: Array  # p-values of the plain tilt, which recalibration places among others
    least: Array  # p-values of the null-centred covariance, where none is to be smaller; else 0
    judged: BoolArray
    rough: BoolArray
    curved: BoolArray  # which are calibrated on resampled units
    coefficients: list[Array]
    dof: Array  # (B, L) of the scale of each law

    @classmethod
    def empty(cls, hierarchy: Hierarchy, fits: NestedFits) -> _Found:
        count, levels = fits.gaps.shape
        judged, rough, curved = np.zeros((3, count, levels), dtype=np.bool_)
        score, plain = np.full((2, count, levels), np.nan)
        least = np.zeros((count, levels))
        unknown = [np.full((count, q), np.nan) for q in hierarchy.dims]
        dof = np.full((count, levels), np.inf)
        return cls(hierarchy, fits, score, plain, least, judged, rough, curved, unknown, dof)

    def put(self, rows: IntArray, k: int, scores: Scores, options: Options) -> None:
        """Note the scores of some samples at one level."""
        kind, model = scores.settled(options.kind), options.null == "model"
        self.score[rows, k] = scores.statistic
        self.coefficients[k][rows] = 0.5 if model else scores.coefficients(kind)
        self.judged[rows, k] = can_judge(scores)
        rough, curved = needs_calibration(scores), needs_resampling(scores)
        self.rough[rows, k] = rough | curved
        self.dof[rows, k] = np.inf if model else scores.tail_dofs(kind)
        if options.kind == "damped" and not model:
            self.curved[rows, k] = curved & scores.tilted
        if kind == "damped" and not model and rough.any():
            plain = scores.coefficients("tilted")[rough]
            self.plain[rows[rough], k] = mixture_sf(scores.statistic[rough], plain)
        few = tails_of_few(scores) if options.kind == "damped" and not model else rough[:0]
        if few.any() and options.statistic == "score":
            centred = mixture_sf(scores.statistic[few], scores.coefficients("null")[few])
            self.least[rows[few], k] = centred
        if not model:  # what no p-value could be true of
            self.coefficients[k][rows[worthless(scores)]] = np.nan

    def finished(
        self, x: Array, w: Array, units: Units, options: Options, replicates: int
    ) -> SampleTests:
        """The p-values, calibrated if asked for."""
        rate = np.full(len(w), units.rate)
        if units.rows_of_one_law:
            rate = np.einsum("bn,bn->b", w, w) ** -0.5
        gap_statistic = rate[:, None] ** 2 * self.fits.gaps
        pvalue = self._tails(self.score if options.statistic == "score" else gap_statistic)
        if replicates:
            self._calibrate(pvalue, w, replicates)
            self._resample(pvalue, x, w, units, replicates)
        pvalue = np.maximum(pvalue, self.least)
        said = concerns.of_stack(
            w, self.judged, self.rough & (not replicates),
            ratios=units.ratios,
        )  # fmt: skip
        return SampleTests(
            self.fits.gaps, gap_statistic, self.score, pvalue, tuple(self.coefficients),
            self.judged, self.rough, said,
        )  # fmt: skip

    def _tails(self, statistic: Array) -> Array:
        """P-values (B, L) of a statistic; NaN where it or its law is not known."""
        out = np.full_like(self.score, np.nan)
        for k, coefficients in enumerate(self.coefficients):
            known = np.isfinite(statistic[:, k]) & np.isfinite(coefficients).all(axis=1)
            known &= np.isfinite(self.score[:, k])
            for dof in np.unique(self.dof[known, k]):
                rows = np.flatnonzero(known & (self.dof[:, k] == dof))
                out[rows, k] = mixture_sf(statistic[rows, k], coefficients[rows], float(dof))
        return out

    def _calibrate(self, pvalue: Array, w: Array, replicates: int) -> None:
        """Replace rough p-values (B, L) by where they stand among draws of the reduced fits."""
        for k in range(pvalue.shape[1]):
            rows = np.flatnonzero(np.isfinite(self.plain[:, k]) & (pvalue[:, k] > SETTLED))
            if not len(rows):
                continue
            lam = self.fits.solutions[k - 1].lam[rows] if k else np.zeros((len(rows), 0))
            reduced = ReducedFits(self.hierarchy, k + 1, lam, w[rows])
            standing = recalibrated_pvalues(reduced, self.plain[rows, k], replicates, rows)
            told = ~np.isnan(standing)  # where no draw can be tested the sample is not judged
            pvalue[rows[told], k], self.judged[rows[~told], k] = standing[told], False

    def _resample(self, pvalue: Array, x: Array, w: Array, units: Units, replicates: int) -> None:
        """Raise p-values (B, L) to where they stand among resampled units, where that matters."""
        with np.errstate(invalid="ignore"):
            chosen = np.argwhere(self.curved & (pvalue <= DOUBTED))
        for row, k in chosen.tolist():
            rows = Directions(x[row], w[row], space=self.hierarchy.space)
            own = replace(units, weights=w[row])
            lam = self.fits.solutions[k - 1].lam[row : row + 1]
            drawn = ResampledUnits.of(self.hierarchy, k + 1, rows, own, lam)
            seen = np.array([pvalue[row, k]])
            standing = float(recalibrated_pvalues(drawn, seen, replicates, np.array([row]))[0])
            if np.isnan(standing):
                self.judged[row, k] = False
            else:
                pvalue[row, k] = max(pvalue[row, k], standing)


def _scores(zeta: Array, below: int, weights: Array, units: Units) -> Scores:
    """Scores of white features (B, n, p) of samples with the same units."""
    if units.labels is None:
        return (ratio_scores if units.random_weights else row_scores)(zeta, below, weights)
    sums, of_units = (
        np.swapaxes(units.gather(np.swapaxes(rows, 0, 1)), 0, 1)
        for rows in (weights[:, :, None] * zeta, weights)
    )
    return group_scores(sums, below, of_units, units)
