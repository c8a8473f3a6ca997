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
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import refuse_unproven
from steradian.hierarchies.registry import default_hierarchy
from steradian.inference import concerns
from steradian.inference.level_tests import Null, Options, Statistic
from steradian.inference.null_samples import (
    features_of,
    sound_whitening,
)
from steradian.inference.score_tests import NullDraws, score_tests
from steradian.inference.scores import (
    FEWEST_ROWS,
    Covariance,
    Scores,
    needs_calibration,
    needs_resampling,
    unit_scores,
    worthless,
)
from steradian.inference.scores import judged as can_judge
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import chi_square_sf
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

    @classmethod
    def unknown(cls, fits: NestedFits, gap_statistic: Array, dims: tuple[int, ...]) -> SampleTests:
        """Of samples that were fitted, before any is tested."""
        shape = fits.gaps.shape
        score, pvalue = np.full((2, *shape), np.nan)
        judged, rough = np.zeros((2, *shape), dtype=np.bool_)
        coefficients = tuple(np.full((len(fits.gaps), q), np.nan) for q in dims)
        return cls(fits.gaps, gap_statistic, score, pvalue, coefficients, judged, rough, ())

    def put(
        self, rows: IntArray, k: int, scores: Scores, options: Options, draws: NullDraws | None
    ) -> None:
        """Note the tests of some samples at one level."""
        gaps = self.gap_statistic[rows, k]
        value = scores.statistic if options.statistic == "score" else gaps
        self.score_statistic[rows, k] = scores.statistic
        self.rough[rows, k] = needs_calibration(scores) | needs_resampling(scores)
        if options.null == "model":
            self.coefficients[k][rows], self.judged[rows, k] = 0.5, can_judge(scores)
            self.pvalue[rows, k] = chi_square_sf(2.0 * value, scores.q)
            return
        tested = score_tests(scores, value, options.kind, draws)
        self.pvalue[rows, k] = tested.pvalue
        self.coefficients[k][rows] = tested.coefficients
        self.coefficients[k][rows[worthless(scores)]] = np.nan  # no p-value could be true of them
        self.judged[rows, k] = tested.judged & ~(tested.unresolved & (draws is not None))

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
    return _tested(features, points, w, units, chosen, replicates)


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


def _tested(
    hierarchy: Hierarchy, x: Array, w: Array, units: Units, options: Options, replicates: int
) -> SampleTests:
    count, n, _ = x.shape
    levels, size = hierarchy.levels, hierarchy.q(hierarchy.levels)
    pieces = list(chunks(count, n * size))
    keep = count * n * size <= _KEPT_ENTRIES
    kept = [features_of(hierarchy, x[piece]) for piece in pieces] if keep else []
    stacks = [
        hierarchy.stack(x[piece], w[piece], kept[k] if keep else None)
        for k, piece in enumerate(pieces)
    ]
    fits = fit_levels(hierarchy, MomentStack.concatenated(stacks))
    rate = np.einsum("bn,bn->b", w, w) ** -0.5 if units.rows_of_one_law else units.rate
    found = SampleTests.unknown(fits, np.square(rate)[..., None] * fits.gaps, hierarchy.dims)
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
            assert white.formed is not None  # levels that form no matrices are refused
            zeta = white.formed.of_features(part)
            scores = unit_scores(zeta, white.below, w[rows], units)
            draws = None
            if replicates:
                draws = NullDraws(
                    hierarchy, k + 1, lam[clear], x[rows], w[rows], units, replicates, rows
                )
            found.put(rows, k, scores, options, draws)
    said = concerns.of_stack(
        w, found.judged, found.rough & (not replicates),
        ratios=units.ratios,
    )  # fmt: skip
    return replace(found, diagnostics=said)
