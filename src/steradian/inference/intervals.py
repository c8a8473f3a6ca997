"""Standard errors and intervals for deficits, gaps and uncertainties.

By the delta method the error of I_L is, to first order, the error of the mean of
``log p_L(x) - log p_{L-1}(x)``, whose variance the design knows; nothing larger than a column per
level is ever formed. Near zero the gap is a quadratic form instead: ``2 a² I / c`` is close to a
non-central χ² with q degrees of freedom and non-centrality ``2 a² I / c``, c chosen so that its
variance is the delta method's. Inverting that law gives intervals that go over into the normal
ones far from zero, stay above zero, and cover near it. The variance being estimated too, c is
inflated as Student's t would, with the degrees of freedom of the variance estimate.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import chndtr
from scipy.stats import chi2, norm
from scipy.stats import t as student

from steradian.inference import concerns
from steradian.inference.bias import gap_bias
from steradian.inference.sample import Sample
from steradian.numerics.arrays import Array, BoolArray, IntArray

IntervalMethod = Literal["noncentral", "sqrt", "wald"]
METHODS: tuple[IntervalMethod, ...] = ("noncentral", "sqrt", "wald")
_BISECTIONS = 80
_FEWEST_DOF = 3.0


@dataclass(frozen=True, eq=False, repr=False)
class GapIntervals:
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
        D in nats, by the same method.
    uncertainty_low, uncertainty_high : arrays, (L,)
        For U = exp(-D): the interval of D on the log scale.
    warnings : tuple of str
    """

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
    warnings: tuple[str, ...]
    design: str
    sentence: str

    def __repr__(self) -> str:
        shown = ", ".join(
            f"[{low:.4g}, {high:.4g}]" for low, high in zip(self.low, self.high, strict=True)
        )
        return f"GapIntervals({self.confidence:.0%}: {shown} nats)"

    def to_dict(self) -> dict[str, Any]:
        """Everything as plain lists, ready for JSON."""
        out: dict[str, Any] = {}
        for name in self.__dataclass_fields__:
            value = getattr(self, name)
            out[name] = value.tolist() if isinstance(value, np.ndarray) else value
        return {**out, "warnings": list(self.warnings)}

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
            lines.append("near zero: no normal law describes the error there; see tests()")
        return "\n".join([*lines, *(f"! {w}" for w in self.warnings)])


def gap_intervals(sample: Sample, confidence: float, method: IntervalMethod) -> GapIntervals:
    """Intervals for every level of a sample."""
    if not 0.0 < confidence < 1.0:
        raise ValueError(f"confidence is {confidence}; give a number between 0 and 1, like 0.95")
    if method not in METHODS:
        raise ValueError(f"method is {method!r}; choose {', '.join(METHODS)}")
    rate = sample.rate
    gaps, deficits = sample.nested.gaps[0], sample.nested.deficits[0]
    levels = len(gaps)
    dims = np.array(sample.hierarchy.dims[:levels], dtype=np.float64)
    se, dof, deficit_se, deficit_dof = _errors(sample)
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    low, high = _interval(gaps, se, dof, dims, rate, confidence, method)
    d_low, d_high = _interval(
        deficits, deficit_se, deficit_dof, np.cumsum(dims), rate, confidence, method
    )
    bias = gap_bias(sample)
    crowded = concerns.of_crowding(sample)
    if crowded:  # level 2 in too high a dimension: what sampling adds is not a small correction
        for values in (low, high, d_low, d_high):
            values[1] = np.nan
    # with nothing there 2 a² I is about χ²_q: up to its upper end the gap is not clear of zero
    scale = _scale(gaps, se, np.full(levels, np.inf), rate, confidence)
    near = 2.0 * rate**2 * gaps / scale <= chi2.ppf(0.5 + 0.5 * confidence, dims)
    return GapIntervals(
        levels=np.arange(1, levels + 1),
        confidence=confidence,
        method=method,
        gaps=gaps,
        debiased=gaps - bias,
        se=se,
        low=low,
        high=high,
        near_zero=np.asarray(near),
        wald_low=gaps - z * se,
        wald_high=gaps + z * se,
        deficits=deficits,
        deficit_se=deficit_se,
        deficit_low=d_low,
        deficit_high=d_high,
        uncertainty_low=np.exp(-d_high),
        uncertainty_high=np.exp(-d_low),
        warnings=(
            *concerns.of_weights(sample),
            *concerns.of_precision(sample, se),
            *crowded,
            *concerns.of_few_units(sample),
        ),
        design=sample.design.name,
        sentence=sample.sentence,
    )


def _errors(sample: Sample) -> tuple[Array, Array, Array, Array]:
    """Standard errors and their degrees of freedom for I and for D, (L,) each."""
    if not sample.has_rows:
        return _errors_from_sums(sample)
    x = sample.rows
    logs = np.stack([fit.logpdf(x) for fit in sample.fits], axis=1)
    steps = np.hstack([np.diff(logs, axis=1), logs[:, 1:]])
    variance, dof = _variance(sample, steps)
    levels = logs.shape[1] - 1
    return (
        np.sqrt(variance[:levels]),
        dof[:levels],
        np.sqrt(variance[levels:]),
        dof[levels:],
    )


def _variance(sample: Sample, values: Array) -> tuple[Array, Array]:
    """Variances of the weighted means of the columns, and their degrees of freedom."""
    units = sample.units
    squares = units.squares(values)
    total = squares.sum(axis=0)
    noise = np.einsum("uk,uk->k", squares, squares) - total**2 / units.count
    dof = 2.0 * total**2 / np.maximum(noise, 1e-300)
    return total, np.maximum(dof, _FEWEST_DOF)


def _errors_from_sums(sample: Sample) -> tuple[Array, Array, Array, Array]:
    top = len(sample.nested.solutions)
    sigma = sample.covariance(top) / sample.rate**2
    steps: list[float] = []
    wholes: list[float] = []
    below = np.zeros(len(sigma))
    for solution in sample.nested.solutions:
        lam = np.zeros(len(sigma))
        lam[: solution.lam.shape[1]] = solution.lam[0]
        gamma = lam - below
        steps.append(math.sqrt(max(float(gamma @ sigma @ gamma), 0.0)))
        wholes.append(math.sqrt(max(float(lam @ sigma @ lam), 0.0)))
        below = lam
    many = np.full(top, np.inf)
    return np.array(steps), many, np.array(wholes), many


def _interval(  # noqa: PLR0913, PLR0917 - one formula, seven numbers
    value: Array,
    se: Array,
    dof: Array,
    q: Array,
    rate: float,
    confidence: float,
    method: IntervalMethod,
) -> tuple[Array, Array]:
    z = float(norm.ppf(0.5 + 0.5 * confidence))
    if method == "wald":
        return value - z * se, value + z * se
    if method == "sqrt":
        root = np.sqrt(np.maximum(value, 0.0))
        half = 0.5 * z * se / np.maximum(root, 1e-150)
        return np.maximum(root - half, 0.0) ** 2, (root + half) ** 2
    scale = _scale(value, se, dof, rate, confidence)
    tail = 0.5 * (1.0 - confidence)
    seen = 2.0 * rate**2 * np.maximum(value, 0.0) / scale
    ends = [_noncentrality(seen, q, p) * scale / (2.0 * rate**2) for p in (1.0 - tail, tail)]
    return ends[0], np.maximum(ends[1], value)  # what was seen is never ruled out from above


def _scale(value: Array, se: Array, dof: Array, rate: float, confidence: float) -> Array:
    """The c with Var(2 a² I) = 4 c (2 a² I) far from zero, inflated for its own estimation."""
    quantile = 0.5 + 0.5 * confidence
    inflation = (student.ppf(quantile, dof) / norm.ppf(quantile)) ** 2
    plain = se**2 * rate**2 / (2.0 * np.maximum(value, 1e-300))
    return np.asarray(np.where(plain > 0.0, plain * inflation, 1.0))


def _noncentrality(seen: Array, q: Array, probability: float) -> Array:
    """δ with P(χ²_q(δ) <= seen) = probability; 0 when even δ = 0 has less below."""
    low = np.zeros_like(seen)
    high = seen + 40.0 * np.sqrt(seen + q) + 100.0
    for _ in range(_BISECTIONS):
        middle = 0.5 * (low + high)
        above = _cdf(seen, q, middle) > probability
        low, high = np.where(above, middle, low), np.where(above, high, middle)
    return np.asarray(0.5 * (low + high) * (_cdf(seen, q, np.zeros_like(seen)) > probability))


def _cdf(x: Array, q: Array, delta: Array) -> Array:
    """Non-central χ²; far out, where the exact series is slow, Sankaran's cube-root-like form."""
    far = delta > 1e4
    near = chndtr(x, q, np.where(far, 1.0, delta))
    if not far.any():
        return np.asarray(near)
    # (Sankaran 1963, via Johnson, Kotz and Balakrishnan, Continuous Univariate Distributions 2)
    h = 1.0 - 2.0 * (q + delta) * (q + 3.0 * delta) / (3.0 * (q + 2.0 * delta) ** 2)
    p = (q + 2.0 * delta) / (q + delta) ** 2
    m = (h - 1.0) * (1.0 - 3.0 * h)
    mean = 1.0 + h * p * (h - 1.0 - 0.5 * (2.0 - h) * m * p)
    spread = h * np.sqrt(2.0 * p) * (1.0 + 0.5 * m * p)
    return np.where(far, norm.cdf(((x / (q + delta)) ** h - mean) / spread), near)
