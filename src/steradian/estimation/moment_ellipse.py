"""How much larger a gap may be within what is known of the moments.

A standard error of I_L sees how the moments vary along the gradient of I_L at the sample. Where
the gradient is short and happens to lie across the way in which they vary most (the mean of two
opposite clusters, when both hold about half of the rows) it says far too little. So the upper end
of an interval is also asked of the ellipse of moments m̂ + δ with ``δᵀ V⁻¹ δ <= z²``, V the
variance of m̂. With the curvature ``K = J_L⁻¹ - J_{L-1}⁻¹`` of I_L and its gradient γ the rise is

    max { γᵀδ + ½ δᵀK δ : δᵀ V⁻¹ δ <= z² } = min { ½ μ z² + ½ Σ_j b_j² / (μ - m_j) : μ >= m_j, 0 }

with m_j the eigenvalues of V^½ K V^½ and b the coordinates of V^½ γ in its axes (the dual of a
trust-region problem, which has no gap). Of one parameter this is the interval of the profile
likelihood: z belongs to one degree of freedom.
"""

from __future__ import annotations

import numpy as np

from steradian.estimation.bias import MomentErrors, moment_errors
from steradian.numerics.arrays import Array
from steradian.numerics.tolerances import ELLIPSE_EDGE, TINY
from steradian.significance.sample import Sample

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
