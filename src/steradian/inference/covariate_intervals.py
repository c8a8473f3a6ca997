"""Intervals along a covariate: of what depends on it, and of the curve of the fit.

By the delta method the error of C_l is to first order that of the mean over the rows of
(λ_l - λ_{l-1})(z_i)·(φ_i - E[φ | z_i]), the values of z as they are; noise adds

    ½ tr(I_l⁻¹ V_l) - ½ tr(I_{l-1}⁻¹ V_{l-1})

on average, I the information of the free parameters θ and V the variance of their moments between
units: about q_l K / 2n. The parameters have variance I⁻¹ V I⁻¹, and so have bands what their.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.special import chdtri, ndtri

from steradian.arguments import open_share
from steradian.errors import DesignError
from steradian.fitting.nested import fit_levels
from steradian.inference.covariate_tests import CovariateSample
from steradian.inference.group_intervals import BetweenIntervals
from steradian.inference.intervals import Estimates, errors_of_means
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import TINY, VERIFIED_AIM

_NOTHING = np.array([[0.0], [np.inf], [0.0]])  # no error, known for sure, not skew


def along_noise(sample: CovariateSample) -> Array:
    """What noise alone adds to each C on average, (L,), nats."""
    traces = [np.trace(_solved(sample, level)[0]) for level in range(sample.hierarchy.levels + 1)]
    return np.asarray(0.5 * np.diff(traces))


def _solved(sample: CovariateSample, level: int) -> tuple[Array, Array]:
    """I⁻¹ V and I (p, p) of the free parameters of W_level."""
    levels, hierarchy = sample.levels, sample.hierarchy
    theta = levels.fits[level].theta
    problem = levels.at(hierarchy.q(level) if level else 0)
    _, _, covariance = problem.laws(theta)
    information = problem.information(covariance)[0]
    r = sample.features - sample.means(theta[0])
    a, j = np.nonzero(problem.free)
    v = sample.units.covariance(levels.rows.b[:, a] * r[:, j], 0.0)
    return np.linalg.solve(information, v), information


def along_intervals(sample: CovariateSample, confidence: float, on: str) -> BetweenIntervals:
    """Intervals for every level, and for all together."""
    confidence = open_share(confidence, "confidence", 0.95)
    sample.check_inference()
    levels, hierarchy = sample.levels, sample.hierarchy
    value, bias = levels.between, along_noise(sample)
    features = sample.functions * np.array(hierarchy.dims, dtype=np.float64)
    matched = np.cumsum(features) + hierarchy.q(hierarchy.levels)
    b, thetas = levels.rows.b, [fit.theta[0] for fit in levels.fits]
    values = np.column_stack([
        np.einsum("nq,nq->n", b @ (above - below), sample.features - sample.means(above))
        for below, above in pairwise(thetas)
    ])  # fmt: skip
    errors = errors_of_means(sample.units, values)
    whole = errors_of_means(sample.units, values.sum(axis=1, keepdims=True))
    total = value.sum(keepdims=True)
    for found, of in ((value, errors), (total, whole)):
        of[:, found <= VERIFIED_AIM] = _NOTHING  # rounding has no error of its own
    rate, kish = sample.units.rate, sample.kish
    each = Estimates(value, errors, bias, features, matched, rate, kish)
    of_all = Estimates(
        total, whole, bias.sum(keepdims=True), features.sum(keepdims=True), matched[-1:], rate, kish
    )
    low, high = each.interval(confidence, "noncentral")
    total_low, total_high = of_all.interval(confidence, "noncentral")
    return BetweenIntervals(
        levels=np.arange(1, len(value) + 1),
        confidence=confidence,
        between=value,
        debiased=value - bias,
        se=each.se,
        low=low,
        high=high,
        total=float(total[0]),
        total_debiased=float((value - bias).sum()),
        total_se=float(of_all.se[0]),
        total_low=float(total_low[0]),
        total_high=float(np.fmax(total_high[0], high.max())),  # J is no less than any C
        of=f"what depends on {on}",
    )


@dataclass(frozen=True, eq=False)
class Curve:
    """The conditional fits of level L at values of the covariate.

    Attributes
    ----------
    z : array, (m,) or (m, 2)
    gaps : array, (m, L)
        I_l of p(x | z), nats.
    deficit, deficit_low, deficit_high : arrays, (m,)
        D_L of p(x | z), nats, and its pointwise band.
    mean : array, (m, d)
        E[x | z].
    resultant, resultant_low, resultant_high : arrays, (m,)
        |E[x | z]| and its pointwise band; NaN where level 1 is no vector, as of axes.
    angle_error : array, (m,)
        Radius of the confidence cone of the mean direction, radians; NaN likewise.
    """

    z: Array
    confidence: float
    gaps: Array
    deficit: Array
    deficit_low: Array
    deficit_high: Array
    mean: Array
    resultant: Array
    resultant_low: Array
    resultant_high: Array
    angle_error: Array
    lam: Array  # (m, q)


def along_curve(sample: CovariateSample, z: Array, confidence: float) -> Curve:
    """The curve at values ``z`` (m, k); bands are NaN where the design defines none."""
    confidence = open_share(confidence, "confidence", 0.95)
    levels, hierarchy = sample.levels, sample.hierarchy
    top, theta = hierarchy.levels, levels.fits[-1].theta[0]
    b = levels.rows.basis(z)
    lam = b @ theta
    psi, mean, covariance = levels.problem.family.log_partition(lam)
    deficit = np.einsum("mq,mq->m", lam, mean) - psi
    stack = hierarchy.moments_of(lam, _points(sample, mean))
    gaps = fit_levels(hierarchy, stack).gaps
    variance = _of_means(sample, b, covariance, top)
    half = float(ndtri(0.5 + 0.5 * confidence))
    se = np.sqrt(np.maximum(np.einsum("mq,mqr,mr->m", lam, variance, lam), 0.0))
    nothing = np.full(len(z), np.nan)
    resultant, error, cone = nothing, nothing, nothing
    if hierarchy.level_one_parts is not None:
        size = hierarchy.q(1)
        first, spread = mean[:, :size], variance[:, :size, :size]
        length = np.linalg.norm(first, axis=1)
        own = first / np.maximum(length, TINY)[:, None]
        along = np.einsum("mi,mij,mj->m", own, spread, own)
        project = np.eye(size) - own[:, :, None] * own[:, None, :]
        across = np.linalg.eigvalsh(np.nan_to_num(project @ spread @ project))[:, -1]
        reach = float(np.sqrt(chdtri(size - 1, 1.0 - confidence)))
        resultant, error = length / np.sqrt(size), half * np.sqrt(along / size)
        cone = np.arcsin(np.minimum(reach * np.sqrt(across) / np.maximum(length, TINY), 1.0))
        cone = np.where(np.isfinite(along), cone, np.nan)
    return Curve(
        z=z[:, 0] if z.shape[1] == 1 else z,
        confidence=confidence,
        gaps=gaps,
        deficit=deficit,
        deficit_low=np.maximum(deficit - half * se, 0.0),
        deficit_high=deficit + half * se,
        mean=stack.mean,
        resultant=resultant,
        resultant_low=np.maximum(resultant - error, 0.0),
        resultant_high=np.minimum(resultant + error, 1.0),
        angle_error=cone,
        lam=lam,
    )


def _points(sample: CovariateSample, mean: Array) -> Array:
    """E[x | z] (m, d) from E[φ | z] (m, q), where level 1 is x; else where the rows are."""
    hierarchy, directions = sample.hierarchy, sample.directions
    if hierarchy.level_one_parts is None:
        weights = directions.weights / directions.weights.sum()
        return np.repeat(hierarchy.space.centre(directions.x, weights)[None], len(mean), 0)
    first = np.asarray(hierarchy.features(np.eye(directions.d)))[:, : hierarchy.q(1)]
    return np.asarray(np.linalg.solve(first.T, mean[:, : hierarchy.q(1)].T).T)


def _of_means(sample: CovariateSample, b: Array, covariance: Array, level: int) -> Array:
    """Variance (m, q, q) of E[φ | z] for b (m, K + 1); NaN where the design defines none."""
    q = covariance.shape[1]
    try:
        sample.check_inference()
    except DesignError:
        return np.full((len(b), q, q), np.nan)
    solved, information = _solved(sample, level)
    theta = np.linalg.solve(information, solved.T).T  # all parameters of W_L are free
    size = b.shape[1]
    theta = theta.reshape(size, q, size, q)
    of_lam = np.einsum("ma,aibj,mb->mij", b, theta, b, optimize=True)
    return np.asarray(covariance @ of_lam @ covariance)
