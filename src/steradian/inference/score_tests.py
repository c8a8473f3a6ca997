"""The test of a level by its score, for a stack of samples: single ones are a stack of one.

A statistic is referred to the law of a covariance (`scores`). By default p-values are then looked
at again: where rows are few for the features, or one has much leverage, the p-value of the plain
tilt is placed among those of draws of the fit below (without damping it has the most power, and
draws pay for what it loses); where units brought their weights, a small one is placed among those
of resampled units; and where few units carry the variance it is no smaller than that of the
covariance centred at the null.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import seed_number, shown, whole_number
from steradian.data.directions import Directions
from steradian.data.stacks import MomentStack
from steradian.data.validation import as_numeric
from steradian.designs import Design, as_design
from steradian.designs.base import Units
from steradian.diagnostics import Diagnostic, MethodCode, PvalueMethod, Recalibration
from steradian.errors import DesignError, InvalidArgument, InvalidDirections
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.contract import refuse_unproven
from steradian.hierarchies.registry import default_hierarchy
from steradian.inference import concerns
from steradian.inference.effort import Patience
from steradian.inference.null_samples import (
    DOUBTED,
    SETTLED,
    ReducedFits,
    ResampledUnits,
    features_of,
    recalibrated_pvalues,
    sound_whitening,
)
from steradian.inference.sampled_reference import ReferenceSpread
from steradian.inference.scores import (
    FEWEST_ROWS,
    Covariance,
    Scores,
    judged,
    needs_calibration,
    needs_resampling,
    tails_of_few,
    unit_scores,
    worthless,
)
from steradian.inference.scores import judged as can_judge
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.chi_square_mixture import chi_square_sf, mixture_sf
from steradian.numerics.tolerances import UNIT_LENGTH
from steradian.progress import chunks
from steradian.spaces import unit_sphere

Null = Literal["moment", "model"]
Statistic = Literal["score", "gap"]
Method = Literal["exact", "simulate", "bootstrap"]


@dataclass(frozen=True, slots=True)
class Options:
    """Which test; see `Profile.tests`."""

    null: Null = "moment"
    statistic: Statistic = "score"
    covariance: Covariance | None = None
    method: Method | None = None
    replicates: int = 999
    seed: int = 0
    patience: Patience = field(
        default_factory=Patience, compare=False
    )  # answers do not depend on it

    def __post_init__(self) -> None:
        for name, value, choices in (
            ("null", self.null, ("moment", "model")),
            ("statistic", self.statistic, ("score", "gap")),
            ("covariance", self.covariance, (None, "damped", "tilted", "null", "empirical")),
            ("method", self.method, (None, "exact", "simulate", "bootstrap")),
        ):
            if not (value is None or isinstance(value, str)) or value not in choices:
                known = ", ".join(repr(c) for c in choices if c)
                raise InvalidArgument(f"{name} is {shown(value)}; choose {known}")
        whole_number(self.replicates, "replicates", least=19)
        seed_number(self.seed)
        if self.statistic == "gap" and self.covariance in {"damped", "tilted"}:
            raise InvalidArgument(
                "the fitted gap does not follow the tilted law (it rejects far too often); "
                "use statistic='score', or covariance='null'"
            )
        if self.null == "model" and self.covariance is not None:
            raise InvalidArgument("null='model' brings its own covariance; leave out covariance=")

    @property
    def kind(self) -> Covariance:
        """The covariance of the moment null."""
        return self.covariance or ("damped" if self.statistic == "score" else "null")

    @property
    def drawn(self) -> Method | None:
        """The method, if p-values come from draws by request."""
        return self.method if self.method in {"simulate", "bootstrap"} else None

    @property
    def tilts(self) -> bool:
        """Whether a tilted covariance was asked for by name."""
        return self.covariance in {"damped", "tilted"}


def _begin(_pvalue: float) -> None:
    """As many draws as it takes."""


@dataclass(frozen=True, slots=True, eq=False)
class NullDraws:
    """What samples of the null of a level are drawn from, for a stack of B samples."""

    hierarchy: Hierarchy
    level: int
    below: Array  # (B, q) parameters of the fits of the level below
    x: Array  # (B, n, d)
    weights: Array  # (B, n) of sum one
    units: Units  # of all, but for their weights
    replicates: int
    seeds: IntArray  # (B,)
    begin: Callable[[float], None] = _begin  # told of a p-value before it is placed among others

    def among_fits(self, rows: IntArray, pvalues: Array) -> Array:
        """P-values of plain tilts among those of draws of the fits below; NaN of no draws."""
        fits = ReducedFits(self.hierarchy, self.level, self.below[rows], self.weights[rows])
        for one in pvalues:
            self.begin(float(one))
        return recalibrated_pvalues(fits, pvalues, self.replicates, self.seeds[rows])

    def among_units(self, row: int, pvalue: float, law: Array) -> float:
        """A p-value among those of units drawn from the ``law`` (U,) of the tilt of a sample."""
        self.begin(pvalue)
        units = replace(self.units, weights=self.weights[row])
        drawn = ResampledUnits(self.hierarchy, self.level, self.x[row], units, law)
        seen, seeds = np.array([pvalue]), self.seeds[row : row + 1]
        return float(recalibrated_pvalues(drawn, seen, self.replicates, seeds)[0])


@dataclass(frozen=True, slots=True, eq=False)
class ScoreTests:
    """P-values of a stack of B samples at one level."""

    pvalue: Array  # (B,) NaN where the units are worth too little
    coefficients: Array  # (B, q) of the null law
    dof: Array  # (B,) of its scale
    judged: BoolArray  # (B,) whether the units can judge the level
    unresolved: BoolArray  # (B,) where draws were needed and there are none
    centred: BoolArray  # (B,) whether the covariance is that centred at the null after all
    recalibration: tuple[Recalibration, ...]

    def method(self, row: int, kind: Covariance) -> PvalueMethod:
        """How one was found, where a covariance of this kind was asked for."""
        shown = "null" if self.centred[row] else kind
        return PvalueMethod(MethodCode.EXACT_TAIL, shown, self.recalibration[row])


def null_tail(
    scores: Scores, kind: Covariance, value: Array, more: ReferenceSpread | None = None
) -> tuple[Array, Array, Array]:
    """P-values (B,) of a statistic, the coefficients (B, q) of its law and the dof of their scale.

    ``more`` is what a sampled reference adds to the covariance of a single sample.
    """
    if more is None:
        coefficients, dof = scores.coefficients(kind), scores.tail_dofs(kind)
    else:
        single, of_scale = more.coefficients(scores, kind)
        coefficients, dof = single[None], np.array([of_scale])
    return mixture_tails(value, coefficients, dof), coefficients, dof


def mixture_tails(value: Array, coefficients: Array, dof: Array) -> Array:
    """`mixture_sf` of laws whose scales have dof (B,) of their own; NaN where one is not known."""
    out = np.full(len(value), np.nan)
    known = np.isfinite(value) & np.isfinite(coefficients).all(axis=1)
    for one in np.unique(dof[known]):
        rows = np.flatnonzero(known & (dof == one))
        out[rows] = mixture_sf(value[rows], coefficients[rows], float(one))
    return out


def score_tests(
    scores: Scores,
    value: Array,
    kind: Covariance,
    draws: NullDraws | None = None,
    more: ReferenceSpread | None = None,
    *,
    second_look: bool = True,
) -> ScoreTests:
    """Refer a statistic (B,) to its law, and look again at p-values of the damped tilt.

    Without ``draws`` those that need them stay as they are, and are told.
    """
    settled = scores.settled(kind)
    pvalue, coefficients, dof = null_tail(scores, settled, value, more)
    pvalue = np.where(worthless(scores), np.nan, pvalue)
    centred = np.full(len(pvalue), settled == "null")
    if settled in {"damped", "tilted"}:
        centred |= ~scores.tilted
    unresolved = np.zeros(len(pvalue), dtype=np.bool_)
    how = [Recalibration.NONE] * len(pvalue)
    if kind == "damped" and second_look:
        _place_among_fits(scores, pvalue, unresolved, how, draws, more)
        _place_among_units(scores, pvalue, unresolved, how, draws)
        few = tails_of_few(scores)
        if few.any():
            floor, _, _ = null_tail(scores, "null", value, more)
            with np.errstate(invalid="ignore"):
                few &= floor > pvalue
            for row in np.flatnonzero(few):
                pvalue[row], centred[row], how[row] = floor[row], True, Recalibration.NONE
    return ScoreTests(pvalue, coefficients, dof, judged(scores), unresolved, centred, tuple(how))


def _place_among_fits(
    scores: Scores,
    pvalue: Array,
    unresolved: BoolArray,
    how: list[Recalibration],
    draws: NullDraws | None,
    more: ReferenceSpread | None,
) -> None:
    """Replace p-values of few rows by those of the plain tilt among draws of the fit below."""
    with np.errstate(invalid="ignore"):
        rows = np.flatnonzero(needs_calibration(scores) & (pvalue > SETTLED))
    if not len(rows):
        return
    found = np.full(len(rows), np.nan)
    if draws is not None:
        plain = mixture_sf(scores.statistic[rows], scores.coefficients("tilted")[rows])
        found = draws.among_fits(rows, plain)
    if more is not None:  # draws do not know how little the reference is known
        found = np.where(np.isnan(found), found, np.maximum(found, pvalue[rows]))
    told = ~np.isnan(found)
    pvalue[rows[told]], unresolved[rows[~told]] = found[told], True
    for row in rows[told]:
        how[row] = Recalibration.DRAWS


def _place_among_units(
    scores: Scores,
    pvalue: Array,
    unresolved: BoolArray,
    how: list[Recalibration],
    draws: NullDraws | None,
) -> None:
    """Raise small p-values of units that brought their weights to those among resampled units."""
    wanted = needs_resampling(scores)
    if not wanted.any():
        return
    with np.errstate(invalid="ignore"):
        wanted &= scores.tilted & (pvalue <= DOUBTED)
    for row in np.flatnonzero(wanted):
        found = np.nan
        if draws is not None:
            found = draws.among_units(int(row), float(pvalue[row]), scores.tilt_law(int(row)))
        if np.isnan(found):
            unresolved[row] = True
        else:
            pvalue[row], how[row] = max(pvalue[row], found), Recalibration.UNITS


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
