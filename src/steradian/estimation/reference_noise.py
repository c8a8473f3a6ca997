"""What a reference that is itself a sample adds to the variance of deficits and gaps.

With n₀ rows in the place of p₀ the log-partition of a fit is log Σ_j exp(λ·φ(y_j)) / n₀, whose
error is that of the mean of p_L / p₀ over the rows: D_L gains the variance Var_{p₀}(p_L / p₀) / n₀,
and I_L gains Var_{p₀}((p_L - p_{L-1}) / p₀) / n₀.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.references.base import reference_rows
from steradian.significance.groups.grouped_sample import GroupedSample
from steradian.significance.sample import Sample


def reference_variance(sample: Sample) -> tuple[Array, Array]:
    """Of the gaps and of the deficits, (L,) each; nothing where the reference is known."""
    levels, space = len(sample.nested.solutions), sample.hierarchy.space
    rows = reference_rows(space)
    if np.isinf(rows):
        return np.zeros(levels), np.zeros(levels)
    rule = space.rule(space.rules() - 1)
    phi = np.asarray(sample.hierarchy.features(rule.points))
    ratios = [np.ones(len(phi))]
    for solution in sample.nested.solutions:
        lam = solution.lam[0]
        ratios.append(np.exp(phi[:, : len(lam)] @ lam - solution.psi[0]))
    ratio = np.column_stack(ratios)
    steps = np.diff(ratio, axis=1)
    return _variance(rule.weights, steps) / rows, _variance(rule.weights, ratio[:, 1:]) / rows


def between_variance(sample: GroupedSample) -> tuple[Array, float]:
    """Of C_l (L,) and of J = Σ C_l: Var_{p₀}(Σ_g π_g (p_{l,g} - p_{l-1,g}) / p₀) / n₀.

    p_{l,g} are the laws of the groups in W_l (`fitting.label_levels`), whose Σ_g π_g ψ_g the rows
    of the reference change by the mean of Σ_g π_g p_{l,g} / p₀ over them.
    """
    space, fits = sample.hierarchy.space, sample.levels.fits
    rows = reference_rows(space)
    if np.isinf(rows):
        return np.zeros(len(fits) - 1), 0.0
    rule = space.rule(space.rules() - 1)
    phi = np.asarray(sample.hierarchy.features(rule.points))
    ratio = np.column_stack([
        np.exp(phi @ fit.lam[0].T - fit.psi[0]) @ sample.shares for fit in fits
    ])  # fmt: skip
    steps, whole = np.diff(ratio, axis=1), ratio[:, -1:] - ratio[:, :1]
    return _variance(rule.weights, steps) / rows, float(_variance(rule.weights, whole)[0] / rows)


def _variance(weights: Array, values: Array) -> Array:
    """Of the columns of ``values`` (n, k) under weights (n,) of sum one: (k,)."""
    away = values - weights @ values
    return np.asarray(weights @ (away * away))
