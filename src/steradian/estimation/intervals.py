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
no smaller than the largest value over the ellipse of moments (`estimation.moment_ellipse`), less
the bias, which matters where the gradient lies across the way in which the sample varies.
tests/coverage_study.py measures what each is worth.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.special import chndtr, chndtrinc, gammaincinv, ndtri, stdtrit

from steradian.arguments import one_of, open_share
from steradian.designs.units import Units
from steradian.diagnostics import Diagnostic
from steradian.estimation import interval_concerns
from steradian.estimation.bias import bias_work, gap_bias
from steradian.estimation.moment_ellipse import rises
from steradian.estimation.reference_noise import reference_variance
from steradian.estimation.swept_errors import error_of, swept_errors
from steradian.notebook import LevelFrame
from steradian.numerics.arrays import Array, BoolArray, IntArray
from steradian.numerics.tolerances import EXPONENT_ROUNDING, TINY, TINY_ROOT
from steradian.significance import concerns
from steradian.significance.many_rows.feature_blocks import MANY_ROWS
from steradian.significance.sample import Sample
from steradian.text.messages import TESTS

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
            f"{'level':>5} {'I':>10} {'debiased':>10} {'se':>9} {'low':>10} {'high':>10} "
            f"{'D low':>10} {'D high':>10}",
        ]
        for k, level in enumerate(self.levels):
            mark = "  near zero" if self.near_zero[k] else ""
            lines.append(
                f"{level:>5} {self.gaps[k]:>10.5f} {self.debiased[k]:>10.5f} {self.se[k]:>9.2g} "
                f"{self.low[k]:>10.5f} {self.high[k]:>10.5f} {self.deficit_low[k]:>10.5f} "
                f"{self.deficit_high[k]:>10.5f}{mark}"
            )
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
        high = np.fmax(high, gaps - bias + tops[0])
        d_high = np.fmax(d_high, deficits - np.cumsum(bias) + tops[1])
    # what sampling adds is not a small correction there, or nothing tells how much it varies
    for level in {*concerns.crowded(sample), *interval_concerns.without_spread(sample)}:
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
            *interval_concerns.of_spread(sample),
            *interval_concerns.of_lost_sums(of_gaps.se),
            *interval_concerns.of_deciding_units(sample),
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
