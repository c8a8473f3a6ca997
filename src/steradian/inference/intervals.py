"""Standard errors and intervals for deficits, gaps and uncertainties.

By the delta method the error of I_L is, to first order, the error of the mean of
``log p_L(x) - log p_{L-1}(x)``, whose variance the design knows; nothing larger than a column per
level is ever formed. Near zero the gap is a quadratic form instead: ``2 a² I / c`` is close to a
non-central χ² with q degrees of freedom and non-centrality ``2 a² I / c``, c chosen so that its
variance is the delta method's. Inverting that law gives intervals that go over into the normal
ones far from zero, stay above zero, and cover near it. The variance being estimated too, c is
inflated as Student's t would, with the degrees of freedom of the variance estimate, and by
1 + p / n for the p features that the fit has matched in the rows its variance is seen in. The
bias of the estimate takes the place of the one that the non-central law has of itself, and an end
moves out where the rows are skew. One scale is that of the gradient at the sample: the upper end is
no smaller than the largest value over the ellipse of moments (`rises`), less the bias as far as
that leaves something, which matters where the gradient lies across the way in which the sample
varies.
tests/coverage_study.py measures what each is worth.

**The ellipse of moments** bounds how much larger a gap may be. A standard error of I_L sees how
the moments vary along the gradient of I_L at the sample. Where the gradient is short and happens
to lie across the way in which they vary most (the mean of two opposite clusters, when both hold
about half of the rows) it says far too little. So the upper end of an interval is also asked of
the ellipse of moments m̂ + δ with ``δᵀ V⁻¹ δ <= z²``, V the variance of m̂. With the curvature ``K
= J_L⁻¹ - J_{L-1}⁻¹`` of I_L and its gradient γ the rise is

    max { γᵀδ + ½ δᵀK δ : δᵀ V⁻¹ δ <= z² } = min { ½ μ z² + ½ Σ_j b_j² / (μ - m_j) : μ >= m_j, 0 }

with m_j the eigenvalues of V^½ K V^½ and b the coordinates of V^½ γ in its axes (the dual of a
trust-region problem, which has no gap). Of one parameter this is the interval of the profile
likelihood: z belongs to one degree of freedom.

**Very many rows** are looked at in one pass over blocks of them. The log-density of level L at a
row is ``λ_L·φ - ψ_L``, so those of all levels are one product of matrices; of their differences
from D_L, which is their mean, only the sums of second, third and fourth powers are kept.

**Verdict and interval** of a level may disagree. The test asks whether a gap of zero explains the
sample, by the covariance that the null would have; the interval asks which gaps do, by the
variance that is seen in the units, and alone, where p-values are corrected for all levels. In
small samples the one may find a level that the other does not hold clear of zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import chndtr, chndtrinc, gammaincinv, ndtri, stdtrit

from steradian.arguments import one_of, open_share
from steradian.designs.base import Units
from steradian.diagnostics import LIKELY_BELOW, Diagnostic, Verdict
from steradian.inference import concerns
from steradian.inference.bias import MomentErrors, bias_work, gap_bias, moment_errors
from steradian.inference.gap_tests import majority
from steradian.inference.row_sweeps import MANY_ROWS, FeatureBlocks
from steradian.inference.sample import Sample
from steradian.inference.sampled_reference import reference_variance
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import ROUNDOFF, Array, BoolArray, IntArray
from steradian.numerics.tolerances import (
    ELLIPSE_EDGE,
    EXPONENT_ROUNDING,
    SWEPT_BLUR,
    TINY,
    TINY_ROOT,
)
from steradian.text.messages import TESTS
from steradian.text.table import Column, Table

_MOST_FEATURES = 300  # whose axes are looked for
_STEPS = 60  # of Newton; a few suffice
_Local = tuple[Array, Array]  # gradient (p,) and curvature (p, p) of D of a level


def rises(sample: Sample, reach: tuple[Array, Array]) -> tuple[Array, Array]:
    """How far I and D of every level rise within ``reach`` (L,) standard deviations, (L,) each.

    NaN where the curvature of a level, or of the level below, is not known.
    """
    levels = len(sample.nested.solutions)
    of_gaps, of_deficits = np.full((2, levels), np.nan)
    formed = sample.formed_levels
    if not formed or sample.hierarchy.q(formed) > _MOST_FEATURES:
        return of_gaps, of_deficits
    known = moment_errors(sample)
    root = _root(known.variance)
    below: _Local | None = (np.zeros(len(root)), np.zeros_like(root))
    for k in range(formed):
        here = _slope_and_curvature(sample, known, k)
        if here is not None:
            of_deficits[k] = rise_within(root, *here, float(reach[1][k]))
        if here is not None and below is not None:
            step = here[0] - below[0], here[1] - below[1]
            of_gaps[k] = rise_within(root, *step, float(reach[0][k]))
        below = here
    return of_gaps, of_deficits


def _slope_and_curvature(sample: Sample, known: MomentErrors, k: int) -> tuple[Array, Array] | None:
    """λ and J⁻¹ of the fit of level k + 1, with zeros for features it does not have."""
    curvature, lam = known.curvatures[k], sample.nested.solutions[k].lam[0]
    if curvature is None:
        return None
    top, p = len(known.variance), len(lam)
    slope, inverse = np.zeros(top), np.zeros((top, top))
    slope[:p], inverse[:p, :p] = lam, np.linalg.inv(curvature)
    return slope, inverse


def _root(variance: Array) -> Array:
    """R with V = R Rᵀ, (p, p)."""
    values, axes = np.linalg.eigh(variance)
    return np.asarray(axes * np.sqrt(np.maximum(values, 0.0)))


def rise_within(root: Array, slope: Array, curvature: Array, z: float) -> float:
    """The maximum of γᵀδ + ½ δᵀK δ over δ = R u, |u| <= z.

    Newton on ``1/|u| = 1/z``, which is concave in μ: steps from the left never pass the root (Moré
    and Sorensen 1983). Where |u| is shorter at the least μ allowed, that μ is the answer.
    """
    m, axes = np.linalg.eigh(root.T @ curvature @ root)
    square = (axes.T @ (root.T @ slope)) ** 2
    least = max(float(m[-1]), 0.0)
    mu = least + ELLIPSE_EDGE * (float(np.sqrt(square.sum())) / z + least)
    for _ in range(_STEPS):
        away = np.maximum(mu - m, TINY)
        size = float(np.sqrt((square / away**2).sum()))
        step = (size / z - 1.0) * size**2 / max(float((square / away**3).sum()), TINY)
        if step <= ELLIPSE_EDGE * mu:
            break
        mu += step
    return 0.5 * mu * z * z + 0.5 * float((square / np.maximum(mu - m, TINY)).sum())


_FEWEST_DOF = 3.0


def error_of(spread: Array, skew: Array, fourth: Array, count: int) -> Array:
    """Standard errors, their degrees of freedom and the skewness, (3, k).

    From the roots of Σ g² over ``count`` units, the skewness of Σ g and Σ g⁴, (k,) each. Degrees of
    freedom are no more than those of normal units: where each has one of two values, what the
    variance depends on is how many have which, and the fourth moment does not tell.
    """
    noise = fourth - spread**4 / count
    dof = np.minimum(2.0 * spread**4 / np.maximum(noise, TINY), count - 1.0)
    return np.array([spread, np.maximum(dof, _FEWEST_DOF), skew])


def swept_errors(sample: Sample) -> tuple[Array, Array] | None:
    """Of I and of D for rows that are units of their own; None where others look at them."""
    units, levels = sample.units, len(sample.nested.solutions)
    alone = units.labels is None and units.strata is None and np.ndim(units.factor) == 0
    if not alone or sample.rows.n < MANY_ROWS or not _held(sample, levels):
        return None
    sums = _power_sums(sample, levels)
    spread = np.sqrt(float(units.factor) * sums[1])
    if not (np.abs(sums[0]) <= SWEPT_BLUR * np.sqrt(units.count) * spread).all():
        return None  # the mean over the rows is not D: a fit that matches its moments roughly
    skew = float(units.factor) ** 1.5 * sums[2] / np.maximum(spread, TINY_ROOT) ** 3
    found = error_of(spread, skew, float(units.factor) ** 2 * sums[3], units.count)
    return found[:, :levels], found[:, levels:]


def _held(sample: Sample, levels: int) -> bool:
    """Whether natural parameters give all log-densities to more digits than anybody looks at."""
    if sample.formed_levels < levels:
        return False
    found = sample.nested.solutions
    sizes = [float(np.abs(one.lam).sum()) for one in found]
    return all(one.laws[0] is None for one in found) and ROUNDOFF * max(sizes) <= SWEPT_BLUR


def _power_sums(sample: Sample, levels: int) -> Array:
    """Σ g^k, k = 1..4, of g = w (v - its mean) for the steps and then the wholes, (4, 2L)."""
    found = sample.nested.solutions
    lam = np.zeros((levels, found[-1].lam.shape[1]))
    for k, one in enumerate(found):
        lam[k, : one.lam.shape[1]] = one.lam[0]
    middle = np.array([one.psi[0] for one in found]) + sample.nested.deficits[0]
    out = np.zeros((4, 2 * levels))
    for phi, w in FeatureBlocks(sample.hierarchy.up_to(levels), sample.rows, sample.units.weights):
        g = np.empty((2 * levels, len(w)))
        np.matmul(lam, phi, out=g[levels:])
        g[levels:] -= middle[:, None]
        g[levels:] *= w
        g[0] = g[levels]
        np.subtract(g[levels + 1 :], g[levels:-1], out=g[1:levels])
        square = g * g
        out[0] += g.sum(axis=1)
        out[1] += square.sum(axis=1)
        out[2] += np.einsum("kn,kn->k", square, g)
        out[3] += np.einsum("kn,kn->k", square, square)
    return out


IntervalMethod = Literal["noncentral", "sqrt", "wald"]
METHODS: tuple[IntervalMethod, ...] = ("noncentral", "sqrt", "wald")
_OF_DENSITY = 0.03  # work of a feature of a row in a density
_LOST = 0.5  # of a variance from sums that their rounding may be
_FAR = 5e3  # from which the expansion is good to 1e-4 of a standard error


@dataclass(frozen=True, eq=False, repr=False)
class GapIntervals(LevelFrame):
    """Intervals for what each level adds, and for D and U.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    gaps, debiased, se, low, high : arrays, (L,)
        I in nats; less its estimated bias; its standard error; and the interval.
    near_zero : array of bool, (L,)
        Where the gap is so small that no normal law describes its error: the null test is the
        answer there, and ``low`` is 0 or close to it.
    wald_low, wald_high : arrays, (L,)
        The plain interval I ± z se, for comparison: it covers too little near zero.
    deficits, deficit_se, deficit_low, deficit_high : arrays, (L,)
        D in nats, by the same method; like D, upper ends never fall with the level.
    uncertainty_low, uncertainty_high : arrays, (L,)
        For U = exp(-D): the interval of D on the log scale.
    diagnostics : tuple of Diagnostic
        What speaks against an interval.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "gaps",
        "debiased",
        "se",
        "low",
        "high",
        "near_zero",
        "deficits",
        "deficit_low",
        "deficit_high",
        "uncertainty_low",
        "uncertainty_high",
    )

    levels: IntArray
    confidence: float
    method: IntervalMethod
    gaps: Array
    debiased: Array
    se: Array
    low: Array
    high: Array
    near_zero: BoolArray
    wald_low: Array
    wald_high: Array
    deficits: Array
    deficit_se: Array
    deficit_low: Array
    deficit_high: Array
    uncertainty_low: Array
    uncertainty_high: Array
    diagnostics: tuple[Diagnostic, ...]
    design: str
    sentence: str

    def __repr__(self) -> str:
        shown = ", ".join(
            f"[{low:.4g}, {high:.4g}]" for low, high in zip(self.low, self.high, strict=True)
        )
        return f"GapIntervals({self.confidence:.0%}: {shown} nats)"

    @property
    def clear_of_zero(self) -> BoolArray:
        """Whether the interval of a gap stays above zero, (L,)."""
        return np.asarray((self.low > 0.0) & ~self.near_zero)

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        out: dict[str, Any] = {}
        for name in (each.name for each in fields(self)):
            value = getattr(self, name)
            out[name] = value.tolist() if isinstance(value, np.ndarray) else value
        return {**out, "diagnostics": [one.to_dict() for one in self.diagnostics]}

    def plot(self, ax: Any = None) -> Any:
        """Draw the intervals of all gaps on axes, new ones unless given (needs matplotlib)."""
        from steradian.plots import gap_intervals

        return gap_intervals(self, ax)

    def __str__(self) -> str:
        percent = f"{self.confidence:.0%}"
        lines = [
            f"{percent} intervals, nats ({self.method}); design {self.design}: {self.sentence}",
            "",
            *Table(
                Column("level", self.levels, width=5),
                Column("I", self.gaps, ".5f", 10),
                Column("debiased", self.debiased, ".5f", 10),
                Column("se", self.se, ".2g", 9),
                Column("low", self.low, ".5f", 10),
                Column("high", self.high, ".5f", 10),
                Column("D low", self.deficit_low, ".5f", 10),
                Column("D high", self.deficit_high, ".5f", 10),
                Column("", ["near zero" if is_near else "" for is_near in self.near_zero],
                       left=True, gap=2),
            ).lines(),
        ]  # fmt: skip
        if self.near_zero.any():
            lines.append(f"near zero: the error is not normal there; see {TESTS}")
        return "\n".join([*lines, *(f"! {one}" for one in self.diagnostics)])


def interval_work(sample: Sample) -> float:
    """Work of the intervals of all levels: densities at the rows, and the bias."""
    top = len(sample.nested.solutions)
    levels = [top] if sample.moments.n >= MANY_ROWS else range(1, top + 1)
    features = sum(sample.hierarchy.q(level) for level in levels) if sample.directions else 0
    return _OF_DENSITY * sample.moments.n * features + bias_work(sample)


def gap_intervals(sample: Sample, confidence: float, method: IntervalMethod) -> GapIntervals:
    """Intervals for every level of a sample."""
    confidence = open_share(confidence, "confidence", 0.95)
    one_of(method, "method", METHODS)
    rate = sample.rate
    gaps, deficits = sample.nested.gaps[0], sample.nested.deficits[0]
    levels = len(gaps)
    dims = np.array(sample.hierarchy.dims[:levels], dtype=np.float64)
    of_steps, of_wholes = _errors(sample)
    for value, errors in ((gaps, of_steps), (deficits, of_wholes)):
        _settle_nothing(sample, value, errors)
    bias, units, matched = gap_bias(sample), _units(sample), np.cumsum(dims)
    of_gaps = Estimates(gaps, of_steps, bias, dims, matched, rate, units)
    of_deficits = Estimates(deficits, of_wholes, np.cumsum(bias), matched, matched, rate, units)
    low, high = of_gaps.interval(confidence, method)
    d_low, d_high = of_deficits.interval(confidence, method)
    if method == "noncentral":
        reach = of_gaps.reach(confidence), of_deficits.reach(confidence)
        tops = rises(sample, reach)
        high = np.fmax(high, np.maximum(gaps - bias, 0.0) + tops[0])
        d_high = np.fmax(d_high, np.maximum(deficits - np.cumsum(bias), 0.0) + tops[1])
    # what sampling adds is not a small correction there, or nothing tells how much it varies
    for level in {*concerns.crowded(sample), *concerns.without_spread(sample)}:
        for values in (low, high, d_low, d_high):
            values[level - 1] = np.nan
    unknown, d_unknown = np.isnan(of_gaps.se), np.isnan(of_deficits.se)
    low[unknown] = high[unknown] = np.nan
    d_low[d_unknown] = d_high[d_unknown] = np.nan
    d_high = _never_falling(d_high)
    z = float(ndtri(0.5 + 0.5 * confidence))
    # with nothing there 2 a² I is about χ²_q: up to its upper end the gap is not clear of zero
    limit = 2.0 * gammaincinv(0.5 * dims, 0.5 + 0.5 * confidence)  # of χ² at this probability
    near = (2.0 * rate**2 * gaps / of_gaps.scale() <= limit) & ~unknown
    return GapIntervals(
        levels=np.arange(1, levels + 1),
        confidence=confidence,
        method=method,
        gaps=gaps,
        debiased=gaps - bias,
        se=of_gaps.se,
        low=low,
        high=high,
        near_zero=np.asarray(near),
        wald_low=gaps - z * of_gaps.se,
        wald_high=gaps + z * of_gaps.se,
        deficits=deficits,
        deficit_se=of_deficits.se,
        deficit_low=d_low,
        deficit_high=d_high,
        uncertainty_low=np.exp(-d_high),
        uncertainty_high=np.exp(-d_low),
        diagnostics=(
            *concerns.of_weights(sample),
            *concerns.of_precision(sample, of_gaps.se),
            *concerns.of_crowding(sample),
            *concerns.of_few_units(sample),
            *concerns.of_spread(sample),
            *concerns.of_lost_sums(of_gaps.se),
            *concerns.of_deciding_units(sample),
        ),
        design=sample.design.name,
        sentence=sample.sentence,
    )


def _settle_nothing(sample: Sample, value: Array, errors: Array) -> None:
    """No spread, and the units' own degrees of freedom, of values that are nothing but rounding.

    As the mean of rows that come with their antipodes: how its rounding varies tells nothing.
    """
    found = sample.nested.solutions
    stated = np.array([float(one.quadrature[0] + one.moment_rounding[0]) for one in found])
    nothing = (np.abs(value) <= stated) & (errors[0] <= stated)
    errors[:, nothing] = np.array([[0.0], [max(_units(sample) - 1.0, 1.0)], [0.0]])


def _never_falling(ends: Array) -> Array:
    """Upper ends of D, which never falls: what a level may be, all above it may be."""
    return np.where(np.isnan(ends), ends, np.fmax.accumulate(ends))


def _units(sample: Sample) -> float:
    """Independent units, by Kish's count of their weights."""
    if not sample.has_rows:
        return sample.moments.ess if sample.design.random_weights else sample.rate**2
    shares = sample.units.unit_weights
    return float(1.0 / (shares @ shares))


def _errors(sample: Sample) -> tuple[Array, Array]:
    """Standard errors, their degrees of freedom and skewness, (3, L), for I and for D."""
    steps, wholes = _errors_of_rows(sample) if sample.has_rows else _errors_from_sums(sample)
    added = reference_variance(sample)
    for errors, more in zip((steps, wholes), added, strict=True):
        if not more.any():
            continue
        whole = np.sqrt(errors[0] ** 2 + more)
        share = errors[0] / np.maximum(whole, TINY_ROOT)  # what is known of the rest is its size
        dof = errors[1] / np.maximum(share, TINY_ROOT) ** 4
        errors[:] = whole, dof, errors[2] * share**3
    return steps, wholes


def _errors_of_rows(sample: Sample) -> tuple[Array, Array]:
    swept = swept_errors(sample)
    if swept is not None:
        return swept
    logs = sample.log_densities
    return _error(sample, np.diff(logs, axis=1)), _error(sample, logs[:, 1:])


def _error(sample: Sample, values: Array) -> Array:
    return errors_of_means(sample.units, values)


def errors_of_means(units: Units, values: Array) -> Array:
    """Of the weighted means of the columns of ``values`` (n, k), (3, k)."""
    g = units.contributions(values, units.weights @ values)
    g *= np.sqrt(units.factors)[:, None]
    squares = g * g
    spread = np.sqrt(squares.sum(axis=0))
    skew = ((g / np.maximum(spread, TINY_ROOT)) ** 3).sum(axis=0)
    found = error_of(spread, skew, np.einsum("uk,uk->k", squares, squares), units.count)
    if units.strata is not None:
        found[1] = np.minimum(found[1], units.scale_dof)
    return found


def _errors_from_sums(sample: Sample) -> tuple[Array, Array]:
    top = len(sample.nested.solutions)
    sigma = sample.covariance(top) / sample.own_rate**2
    steps: list[float] = []
    wholes: list[float] = []
    below = np.zeros(len(sigma))

    def error(slope: Array) -> float:
        """√ of the variance along a gradient; NaN where it is lost in what the sums round."""
        variance = float(slope @ sigma @ slope)
        lost = EXPONENT_ROUNDING * (float(np.abs(slope).sum()) / sample.own_rate) ** 2
        return math.sqrt(variance) if lost <= _LOST * variance or variance == 0.0 else np.nan

    for solution in sample.nested.solutions:
        lam = np.zeros(len(sigma))
        lam[: solution.lam.shape[1]] = solution.lam[0]
        steps.append(error(lam - below))
        wholes.append(error(lam))
        below = lam
    rest = np.full(top, np.inf), np.zeros(top)  # of which sums know nothing
    return np.array([steps, *rest]), np.array([wholes, *rest])


@dataclass(frozen=True, slots=True, eq=False)
class Estimates:
    """Estimates of one kind at every level, with what their sampling law asks for, (L,) each."""

    value: Array
    errors: Array  # (3, L), see `_error`
    bias: Array  # NaN where it is not known
    features: Array  # q, those the value is a quadratic form in
    matched: Array  # p, all that the fit of the level has matched
    rate: float
    units: float  # independent units, as it were

    @property
    def se(self) -> Array:
        """Standard error."""
        return np.asarray(self.errors[0])

    @property
    def dof(self) -> Array:
        """Degrees of freedom of its square."""
        return np.asarray(self.errors[1])

    @property
    def skew(self) -> Array:
        """Skewness of the sum over the units whose variance its square is."""
        return np.asarray(self.errors[2])

    def interval(self, confidence: float, method: IntervalMethod) -> tuple[Array, Array]:
        """Both ends."""
        z = float(ndtri(0.5 + 0.5 * confidence))
        if method == "wald":
            return self.value - z * self.se, self.value + z * self.se
        if method == "sqrt":
            root = np.sqrt(np.maximum(self.value, 0.0))
            half = 0.5 * z * self.se / np.maximum(root, TINY_ROOT)
            return np.maximum(root - half, 0.0) ** 2, (root + half) ** 2
        return self._noncentral(confidence)

    def reach(self, confidence: float) -> Array:
        """Standard errors from the estimate to an end of a normal interval: t, as it were."""
        students = stdtrit(self.dof, 0.5 + 0.5 * confidence)
        return np.asarray(students * np.sqrt(1.0 + self.matched / self.units))

    def _noncentral(self, confidence: float) -> tuple[Array, Array]:
        """Inverted where the law that is inverted has the bias that the estimate has.

        That law puts c q / 2a² on top of the true value, the sample its own bias: one is
        exchanged for the other, for the upper end only half where that would lower it. The
        variance of a fit's log-density over the rows the fit was made from is too small by
        about the share p / n of directions that were matched.
        """
        quantile = 0.5 + 0.5 * confidence
        wider = (self.reach(confidence) / float(ndtri(quantile))) ** 2
        step = self.scale() * wider / (2.0 * self.rate**2)
        bias = np.where(np.isfinite(self.bias), self.bias, step * self.features)
        moved = step * self.features - bias
        low, high = (
            step * noncentrality(np.maximum(self.value + by, 0.0) / step, self.features, p)
            for by, p in ((moved, quantile), (np.maximum(moved, 0.5 * moved), 1.0 - quantile))
        )
        high = np.maximum(high, self.value - bias)  # the best guess is never ruled out from above
        lean = self._lean(quantile)
        return np.maximum(low + np.minimum(lean, 0.0), 0.0), high + np.maximum(lean, 0.0)

    def _lean(self, quantile: float) -> Array:
        """How far an end moves out because rows of one side are rare, and large when they come.

        A sample that lacks them has too large a value and too small an error. Hall's term
        ``se γ (2z² + 1) / 6`` (JRSS B 54, 1992), γ the skewness of the sum, moves both ends; here
        only the one that it moves outward.
        """
        z = float(ndtri(quantile))
        return np.asarray(self.se * self.skew * (2.0 * z * z + 1.0) / 6.0)

    def scale(self) -> Array:
        """The c with Var(2 a² I) = 4 c (2 a² I) far from zero."""
        plain = self.se**2 * self.rate**2 / (2.0 * np.maximum(self.value, TINY))
        return np.asarray(np.where(plain > 0.0, plain, 1.0))


def noncentrality(seen: Array, q: Array, probability: float) -> Array:
    """δ with P(χ²_q(δ) <= seen) = probability; 0 when even δ = 0 has less below."""
    far = seen > _FAR
    near = chndtrinc(np.clip(seen, TINY, _FAR), q, probability)
    found = np.where(far, _far_noncentrality(np.where(far, seen, _FAR), q, probability), near)
    return np.where(chndtr(np.minimum(seen, _FAR), q, 0.0) > probability, found, 0.0)


def _far_noncentrality(seen: Array, q: Array, probability: float) -> Array:
    """The same far out, where the exact series is slow: Cornish and Fisher to their first term.

    ``x = q + δ + z s + (z² - 1) k`` with ``s² = 2q + 4δ`` and ``k = ⅔ (q + 3δ) / (q + 2δ)``, a
    quadratic in s once k, which hardly moves, is taken at ``δ = x - q``.
    """
    z = float(ndtri(probability))
    about = np.maximum(seen - q, 1.0)
    skew = (z * z - 1.0) * 2.0 / 3.0 * (q + 3.0 * about) / (q + 2.0 * about)
    s = 2.0 * (np.sqrt(np.maximum(z * z + seen - skew - 0.5 * q, 0.0)) - z)
    return np.maximum(0.25 * s * s - 0.5 * q, 0.0)


def disagreement(
    intervals: GapIntervals, level: int, verdict: Verdict, pvalue: float
) -> Diagnostic | None:
    """Why an interval begins at zero though its level is significant, or the other way round.

    ``pvalue`` is that of the level alone. None where they agree, or either is not known.
    """
    low, high = float(intervals.low[level - 1]), float(intervals.high[level - 1])
    if verdict is Verdict.UNJUDGED or np.isnan(low):
        return None
    data: dict[str, Any] = {"low": low, "high": high, "pvalue": pvalue}
    if verdict is Verdict.NOISE:
        if not low > 0.0 or intervals.near_zero[level - 1]:
            return None
        corrected = pvalue < LIKELY_BELOW
        code = "not_significant_when_corrected" if corrected else "interval_excludes_zero"
        return Diagnostic(code, level, data)
    if low > 0.0:
        return None
    resting = [one for one in intervals.diagnostics if one.level == level]
    if any(one.code == "interval_rests_on_unit" for one in resting):
        return Diagnostic("significant_with_deciding_unit", level, data)
    return Diagnostic("significant_with_wide_interval", level, data)


@dataclass(frozen=True, eq=False, repr=False)
class SplitIntervals(LevelFrame):
    """Intervals for gaps about what other rows chose, over several splits.

    The gap that a split estimates is the one about its own choice. What is given holds the values
    that most of the splits cannot exclude: each is asked at the confidence 1 - αk / K, with K
    splits and k = ⌊K/2⌋ + 1, and an end is the median of theirs. By the argument of `SplitTests` a
    value that all splits share is missed with probability α at most (a majority vote; Gasparin and
    Ramdas, arXiv:2401.09379); with one split these are its own intervals.

    Attributes
    ----------
    levels : array of int, (L,)
        1..L.
    confidence : float
        1 - α.
    gaps, debiased, low, high : arrays, (L,)
        Medians over the splits of I in nats and of I less its bias, and the interval.
    deficit_low, deficit_high : arrays, (L,)
        For D, in the same way.
    splits : tuple of GapIntervals
        The intervals of each split, at the confidence that the vote needs.
    """

    _columns: ClassVar[tuple[str, ...]] = (
        "gaps",
        "debiased",
        "low",
        "high",
        "deficit_low",
        "deficit_high",
    )

    confidence: float
    splits: tuple[GapIntervals, ...]

    @property
    def levels(self) -> IntArray:
        """1..L."""
        return self.splits[0].levels

    @property
    def gaps(self) -> Array:
        """Medians of I over the splits, (L,)."""
        return np.median([one.gaps for one in self.splits], axis=0)

    @property
    def debiased(self) -> Array:
        """Medians of I less its bias, (L,)."""
        return np.median([one.debiased for one in self.splits], axis=0)

    @property
    def low(self) -> Array:
        """Lower ends, (L,)."""
        return voted(np.array([(one.low, one.high) for one in self.splits]))[0]

    @property
    def high(self) -> Array:
        """Upper ends, (L,)."""
        return voted(np.array([(one.low, one.high) for one in self.splits]))[1]

    @property
    def deficit_low(self) -> Array:
        """Lower ends for D, (L,)."""
        return voted(np.array([(one.deficit_low, one.deficit_high) for one in self.splits]))[0]

    @property
    def deficit_high(self) -> Array:
        """Upper ends for D, (L,)."""
        return voted(np.array([(one.deficit_low, one.deficit_high) for one in self.splits]))[1]

    def __repr__(self) -> str:
        ends = zip(self.low, self.high, strict=True)
        shown = ", ".join(f"[{low:.4g}, {high:.4g}]" for low, high in ends)
        return f"SplitIntervals({self.confidence:.0%}, {len(self.splits)} splits: {shown} nats)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        names = ("levels", "gaps", "debiased", "low", "high", "deficit_low", "deficit_high")
        return {
            "confidence": self.confidence,
            **{name: getattr(self, name).tolist() for name in names},
            "splits": [one.to_dict() for one in self.splits],
        }

    def __str__(self) -> str:
        first = self.splits[0]
        lines = [
            f"{self.confidence:.0%} intervals, nats, about what other rows chose: what most of "
            f"{len(self.splits)} splits allow",
            f"design {first.design}: {first.sentence}",
            "",
            *Table(
                Column("level", self.levels, width=5),
                Column("median I", self.gaps, ".5f", 10),
                Column("debiased", self.debiased, ".5f", 10),
                Column("low", self.low, ".5f", 10),
                Column("high", self.high, ".5f", 10),
                Column("D low", self.deficit_low, ".5f", 10),
                Column("D high", self.deficit_high, ".5f", 10),
            ).lines(),
        ]
        return "\n".join(lines)


def voted(ends: Array) -> Array:
    """Ends (2, L) between which lies what most of K intervals (K, 2, L) hold; NaN without any.

    A value is held by K - k + 1 of them, so it is above the (K - k + 1)-th smallest lower end and
    below the k-th smallest upper one. An end that is not known excludes nothing.
    """
    count = len(ends)
    k = majority(count)
    low = np.sort(np.where(np.isnan(ends[:, 0]), -np.inf, ends[:, 0]), axis=0)[count - k]
    high = np.sort(np.where(np.isnan(ends[:, 1]), np.inf, ends[:, 1]), axis=0)[k - 1]
    out = np.array([low, high])
    return np.where(np.isfinite(out), out, np.nan)


def combined_intervals(
    confidence: float, count: int, intervals: Callable[[float], tuple[GapIntervals, ...]]
) -> SplitIntervals:
    """Intervals of ``count`` splits together; ``intervals`` gives those of each at a confidence."""
    confidence = open_share(confidence, "confidence", 0.95)
    each = 1.0 - (1.0 - confidence) * majority(count) / count
    return SplitIntervals(confidence, intervals(each))
