"""How much sampling alone adds to an estimated gap.

``E Î_L - I_L ≈ (1 / 2a²) {tr(J_L⁻¹ Σ_L) - tr(J_{L-1}⁻¹ Σ_{L-1})}``, and where numerator and
denominator of the moments vary together also ``-γ_L · Σ_i w_i² (φ_i - m̂)``. Where a level
has so many features that its matrices are never formed, the bias is seen from halves of the
sample, where it is twice as large.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.stacks import MomentStack
from steradian.designs.base import Units
from steradian.errors import ResolutionError, SteradianError
from steradian.fitting.nested import fit_levels
from steradian.inference.effort import of_fits
from steradian.inference.sample import Sample
from steradian.numerics.arrays import Array, IntArray
from steradian.numerics.tolerances import COLLINEAR, SPREADLESS
from steradian.progress import tracked


def model_noise(sample: Sample) -> Array:
    """Mean gaps of samples of this size with nothing to find, (L,), nats.

    To first order (q_L - q_{L-1}) / 2a², a² = n without weights. Where there are many features for
    the rows the gap runs ahead of that, and a family that knows by how much is asked. No matrix is
    formed.
    """
    rows = sample.rate**2
    levels = range(1, len(sample.nested.solutions) + 1)
    return np.diff([_of_level(sample, level, rows) for level in levels], prepend=0.0)


def _of_level(sample: Sample, level: int, rows: float) -> float:
    """Of the deficit of one level."""
    plain = 0.5 * sample.hierarchy.q(level) / rows
    known = sample.hierarchy.family(level).noise(rows)
    return plain if math.isnan(known) else known


_SPLITS = 4  # random splits into halves
_OF_FIT, _OF_SQUARE, _OF_CUBE = 2e4, 1e-3, 0.04  # work of a level of a half, by n d² and d³
_OF_MATRIX, _OF_PRODUCT = 0.02, 3e-3  # and of a covariance, by q³ and n q²
_QUICK = 2e9  # multiplications that nobody notices
_QUICK_FEATURES = 300  # whose curvature is formed unasked


def noise_floor(sample: Sample) -> Array:
    """What noise alone adds to each gap on average, (L,), nats; NaN where it is not soon known.

    Rows of one law: see `model_noise`, in any dimension. Other designs: the estimated bias of the
    gap, where the matrices of all levels are small.
    """
    levels = len(sample.nested.solutions)
    unknown = np.full(levels, np.nan)
    if not sample.design.defines_inference:
        return unknown
    try:
        if sample.design.rows_of_one_law:
            return model_noise(sample)
        q = sample.hierarchy.q(levels)
        soon = q <= _QUICK_FEATURES and sample.moments.n * q * q <= _QUICK
        formed = sample.formed_levels == levels
        return gap_bias(sample) if soon and formed else unknown
    except SteradianError:  # too few units, or sums that do not tell
        return unknown


def gap_bias(sample: Sample) -> Array:
    """Estimated bias of the gaps, (L,), nats."""
    if sample.formed_levels < len(sample.nested.solutions):
        return _from_halves(sample)
    return 0.5 * np.diff(information_traces(sample), prepend=0.0) - _ratio_term(sample)


def information_traces(sample: Sample) -> Array:
    """tr(J⁻¹ Σ) / a² of every level, (L,): features / n when the fits are right.

    Where the features are collinear under a fit it is taken to be just that. NaN from the first
    level on whose matrices are not formed.
    """
    traces = np.full(len(sample.nested.solutions), np.nan)
    if not sample.formed_levels:
        return traces
    known = moment_errors(sample)
    for k, curvature in enumerate(known.curvatures):
        p = sample.nested.solutions[k].lam.shape[1]
        traces[k] = p / sample.rate**2
        if curvature is not None:
            traces[k] = np.trace(np.linalg.solve(curvature, known.variance[:p, :p]))
    return traces


@dataclass(frozen=True, slots=True, eq=False)
class MomentErrors:
    """How much the feature means vary, and how a change of them changes the fits."""

    variance: Array  # (p, p) of the means of all features, so Σ / a²
    curvatures: tuple[Array | None, ...]  # J of every level, (p, p); None where it is not known


def moment_errors(sample: Sample) -> MomentErrors:
    """Those of the levels that form matrices of their features, of which there is one at least."""
    return sample.memo.once("moment errors", lambda: _moment_errors(sample))


def _moment_errors(sample: Sample) -> MomentErrors:
    formed = sample.formed_levels
    variance = _moment_variance(sample, formed)
    return MomentErrors(variance, tuple(_curvature(sample, k + 1) for k in range(formed)))


def _curvature(sample: Sample, level: int) -> Array | None:
    """J of a level, (p, p).

    None where parameters do not hold the law, it is too sharp for the rules that integrate it, its
    features are collinear under it, or one varies so little that the second moments of the sample,
    less the squares of its mean, show nothing of that.
    """
    if not sample.held_by_parameters(level):
        return None
    try:
        lam = sample.nested.solutions[level - 1].lam
        _, mean, curvature = sample.served(level, level).log_partition(lam)
    except ResolutionError:
        return None
    found, second = np.asarray(curvature[0]), curvature[0].diagonal() + mean[0] ** 2
    hidden = np.linalg.eigvalsh(found)[0] <= SPREADLESS * float(second.max())
    return None if hidden or np.linalg.cond(found) > COLLINEAR else found


def _moment_variance(sample: Sample, levels: int) -> Array:
    """Variance of the feature means of the highest level, (p, p)."""
    if not sample.has_rows:
        return sample.covariance(levels) / sample.rate**2
    units = sample.units
    if units.labels is None and sample.design.from_sums:
        found = sample.covariance_of_sums(levels)
        if found is not None:
            return found / sample.rate**2
    phi = sample.features(sample.hierarchy.up_to(levels))
    if phi is None:
        phi = sample.hierarchy.up_to(levels).features(sample.rows.x)
    return units.covariance(phi, units.weights @ phi) / sample.own_share


def _ratio_term(sample: Sample) -> Array:
    """γ_L · Σ_u (share of u) g_u, what a random denominator adds, (L,)."""
    if not sample.has_rows:
        return _ratio_term_from_sums(sample)
    if sample.units.fixed_weights:
        return np.zeros(len(sample.nested.solutions))
    units = sample.units
    steps = np.diff(sample.log_densities, axis=1)
    g = units.contributions(steps, units.weights @ steps)
    return np.asarray(units.unit_weights @ g)


def _ratio_term_from_sums(sample: Sample) -> Array:
    out = np.zeros(len(sample.nested.solutions))
    m = sample.moments
    summed = len(m.total) >= sample.hierarchy.q(len(out))
    if not (sample.design.random_weights and summed):
        return out
    squares = (m.total_sq - m.weight_sq * m.features) / m.weight**2  # Σ w² (φ - m̂)
    below = 0.0
    for k, solution in enumerate(sample.nested.solutions):
        lam = solution.lam[0]
        whole = float(lam @ squares[: len(lam)])
        out[k], below = whole - below, whole
    return out


def bias_work(sample: Sample) -> float:
    """Work of `gap_bias`: covariances of the features, or fits of halves."""
    levels, n, d = len(sample.nested.solutions), sample.moments.n, sample.hierarchy.space.d
    if sample.formed_levels < levels and sample.has_rows:
        fit = _OF_FIT + _OF_SQUARE * n * d**2 + _OF_CUBE * d**3
        return 2.0 * _SPLITS * (levels * fit + of_fits(sample, levels))
    if not sample.formed_levels:
        return 0.0
    q = float(sample.hierarchy.q(sample.formed_levels))
    summed = not sample.has_rows or (sample.units.labels is None and sample.design.from_sums)
    return _OF_MATRIX * q**3 + (0.0 if summed else _OF_PRODUCT * n * q**2)


def _from_halves(sample: Sample) -> Array:
    """Gaps of random halves of the units less those of the whole, averaged."""
    if not sample.has_rows:
        return np.full(len(sample.nested.solutions), np.nan)
    splits = tracked(range(_SPLITS), _SPLITS, "fits of halves")
    gaps = np.concatenate([_gaps_of_halves(sample, split) for split in splits])
    return np.asarray(gaps.mean(axis=0) - sample.nested.gaps[0])


def _gaps_of_halves(sample: Sample, split: int) -> Array:
    """Of both halves of one random split of the units, (2, L)."""
    units, rng = sample.units, np.random.default_rng(0)
    order = [rng.permutation(units.count) for _ in range(split + 1)][-1]
    hierarchy = sample.moments.hierarchy.up_to(len(sample.nested.solutions))
    stacks = [
        Moments.from_directions(_of_units(sample.rows, units, half), hierarchy).stack()
        for half in np.array_split(order, 2)
    ]
    return fit_levels(hierarchy, MomentStack.concatenated(stacks)).gaps


def _of_units(rows: Directions, units: Units, some: IntArray) -> Directions:
    """The rows of some units."""
    chosen = np.zeros(units.count, dtype=bool)
    chosen[some] = True
    pick = chosen if units.labels is None else chosen[units.labels]
    return rows.take(pick)
