"""Tests of many samples at once, for calibration and power studies."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steradian.errors import DesignError, InvalidDirections
from steradian.hierarchies import Harmonics, MomentStack
from steradian.inference import concerns
from steradian.inference.judgement import judged as can_judge
from steradian.inference.judgement import needs_calibration
from steradian.inference.options import Null, Options, Statistic
from steradian.inference.scores import Covariance, Scores, ratio_scores, row_scores
from steradian.inference.stacks import chunks, features_of, moments_of_features
from steradian.inference.whitening import gridded_whitening
from steradian.nested import fit_levels
from steradian.numerics.arrays import Array, BoolArray
from steradian.numerics.chi_square_mixture import mixture_sf

_UNIT_TOLERANCE = 1e-6
_KEPT_ENTRIES = 20_000_000  # features kept from the fits to the tests rather than made again


@dataclass(frozen=True, eq=False, repr=False)
class SampleTests:
    """Gaps and tests of B samples; a sample without a fit is NaN from that level on.

    Attributes
    ----------
    gaps, gap_statistic, score_statistic, pvalue : arrays, (B, L)
        As in `GapTests`, without recalibration.
    coefficients : tuple of arrays (B, q)
        Per level, the coefficients of the null law.
    judged : array of bool, (B, L)
        False where one row outweighs all others together, as in `GapTests`.
    rough : array of bool, (B, L)
        Where `Profile.tests` would calibrate the p-value on draws of the reduced fit.
    warnings : tuple of str
        How many samples are not judged, or rough, or have ratios with a heavy tail.
    """

    gaps: Array
    gap_statistic: Array
    score_statistic: Array
    pvalue: Array
    coefficients: tuple[Array, ...]
    judged: BoolArray
    rough: BoolArray
    warnings: tuple[str, ...]

    def __repr__(self) -> str:
        return f"SampleTests({len(self.gaps)} samples, {self.gaps.shape[1]} levels)"


def sample_tests(  # noqa: PLR0913 - the choices of one test
    x: ArrayLike,
    *,
    weights: ArrayLike | None = None,
    levels: int = 2,
    design: Literal["iid", "fixed", "importance"] | None = None,
    null: Null = "moment",
    statistic: Statistic = "score",
    covariance: Covariance | None = None,
) -> SampleTests:
    """Profile and test many samples of the same size on the circle or the two-sphere.

    Parameters
    ----------
    x : (B, n, d) array_like
        Unit vectors.
    weights : (n,) or (B, n) array_like, optional
        Non-negative weights of any scale; by default equal.
    levels : int
        Highest level.
    design : {"iid", "fixed", "importance"}, optional
        How the weights arose; needed when there are any.
    null, statistic, covariance : str
        As in `Profile.tests`; the p-value is the exact tail, never recalibrated.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> angle = np.random.default_rng(0).vonmises(0.0, 2.0, (100, 50))
    >>> x = np.stack([np.cos(angle), np.sin(angle)], axis=2)
    >>> sr.sample_tests(x, levels=2).pvalue.shape
    (100, 2)
    """
    points = np.asarray(x, dtype=np.float64)
    if points.ndim != 3 or points.shape[2] not in {2, 3}:
        raise InvalidDirections(f"x has shape {points.shape}; give (B, n, 2) or (B, n, 3)")
    if not np.abs(np.einsum("bni,bni->bn", points, points) - 1.0).max() < _UNIT_TOLERANCE:
        raise InvalidDirections("x holds rows that are not unit vectors; divide by their length")
    if design not in {None, "iid", "fixed", "importance"} or (weights is None) != (
        design in {None, "iid"}
    ):
        raise DesignError(
            f"design is {design!r}; for weighted samples choose 'fixed' or 'importance', without "
            "weights leave it out"
        )
    w = _weights(weights, points.shape[:2])
    hierarchy = Harmonics(points.shape[2], levels)
    chosen = Options(null, statistic, covariance)
    if null == "model" and design == "importance":
        raise DesignError("null='model' has no law for importance weights; use null='moment'")
    return _tested(hierarchy, points, w, design == "importance", chosen)


def _weights(weights: ArrayLike | None, shape: tuple[int, ...]) -> Array:
    if weights is None:
        return np.broadcast_to(1.0 / shape[1], shape)
    w = np.broadcast_to(np.asarray(weights, dtype=np.float64), shape)
    if not (np.isfinite(w) & (w >= 0.0)).all() or not w.sum(axis=1).all():
        raise InvalidDirections("weights are finite, not negative, and not all zero in any sample")
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _tested(
    hierarchy: Harmonics, x: Array, w: Array, importance: bool, options: Options
) -> SampleTests:
    count, n, _ = x.shape
    levels = hierarchy.levels
    size = hierarchy.space.size(levels) - 1
    pieces = list(chunks(count, n * size))
    at_least = Harmonics(hierarchy.d, max(2, levels))
    keep = levels >= 2 and count * n * size <= _KEPT_ENTRIES
    kept = [features_of(at_least, x[piece]) for piece in pieces] if keep else []
    stacks = [
        moments_of_features(
            kept[k] if keep else features_of(at_least, x[piece]), x[piece], w[piece]
        )
        for k, piece in enumerate(pieces)
    ]
    fits = fit_levels(hierarchy, MomentStack.concatenated(stacks))
    score = np.full((count, levels), np.nan)
    judged, rough = np.zeros((2, count, levels), dtype=np.bool_)
    coefficients = [np.full((count, q), np.nan) for q in hierarchy.dims]
    sound = np.isfinite(np.array([np.zeros(count), *(s.psi for s in fits.solutions[:-1])]))
    none = np.zeros((count, 0))
    make, dof = (ratio_scores if importance else row_scores), [np.inf] * levels
    for index, piece in enumerate(pieces):
        phi = kept[index] if keep else features_of(hierarchy, x[piece])
        for k in range(levels):
            rows = np.arange(piece.start, piece.stop)[sound[k, piece]]
            lam = (fits.solutions[k - 1].lam if k else none)[rows]
            white = gridded_whitening(hierarchy, k + 1, lam)
            part = phi[:, :, : white.below + white.q]
            part = part if len(rows) == len(part) else part[sound[k, piece]]
            scores = make(white.of_features(part), white.below, w[rows])
            score[rows, k] = scores.statistic
            coefficients[k][rows] = _omega(scores, options)
            judged[rows, k] = can_judge(scores)
            rough[rows, k] = needs_calibration(scores)
            dof[k] = scores.tail_dof(options.kind)
    rate = np.full(count, np.sqrt(n)) if importance else np.einsum("bn,bn->b", w, w) ** -0.5
    gap_statistic = rate[:, None] ** 2 * fits.gaps
    chosen = score if options.statistic == "score" else gap_statistic
    pvalue = np.full_like(score, np.nan)
    for k in range(levels):
        rows = np.flatnonzero(np.isfinite(chosen[:, k]) & sound[k])
        pvalue[rows, k] = mixture_sf(chosen[rows, k], coefficients[k][rows], dof[k])
    said = concerns.of_stack(w, judged, rough, importance=importance)
    return SampleTests(
        fits.gaps, gap_statistic, score, pvalue, tuple(coefficients), judged, rough, said
    )


def _omega(scores: Scores, options: Options) -> Array:
    if options.null == "model":
        return np.full((len(scores.h), scores.q), 0.5)
    return scores.coefficients(options.kind)
