"""What a reference that is itself a sample adds to the scores of a comparison.

With n₀ rows y in the place of p₀ the means of a fit p_g ∝ p₀ exp(λ_g·φ) are Σ_j φ(y_j) p_g/p₀ over
the rows. The score r of the features that a step adds is taken about them, and so gains

    Var_{p₀}( Σ_g π_g (p_g / p₀)(y) (ζ(y, g) - E_{p_g} ζ) ) / n₀,

ζ the white added features. It vanishes where all groups have one law below the step, so at level 1:
what the reference misses is then the same for all.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array
from steradian.references.base import reference_rows
from steradian.significance.grouped_sample import GroupedSample
from steradian.significance.label_whitening import LabelWhitening


def reference_spread(sample: GroupedSample, lam: Array, white: LabelWhitening) -> Array | None:
    """Covariance (k, k) of a r of the added features that a sampled reference adds.

    ``lam`` (G, q) are the laws of the groups below the step. None for a reference that is known.
    """
    space = sample.hierarchy.space
    rows = reference_rows(space)
    if np.isinf(rows):
        return None
    rule = space.rule(space.rules() - 1)
    phi = np.asarray(sample.hierarchy.features(rule.points))
    h = np.zeros((len(phi), white.added))
    for group, share in enumerate(sample.shares):
        exponent = phi @ lam[group]
        mass = rule.weights * np.exp(exponent - exponent.max())
        ratio = mass / mass.sum() / rule.weights
        zeta = white.rows(phi[None], np.full(len(phi), group))[0, :, white.below :]
        h += share * ratio[:, None] * (zeta - (rule.weights * ratio) @ zeta)
    h -= rule.weights @ h
    return np.asarray(sample.rate**2 / rows * (h.T @ (rule.weights[:, None] * h)))
