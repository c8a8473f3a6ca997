"""Standard errors of gaps and deficits over very many rows, in one pass over blocks of them.

The log-density of level L at a row is ``λ_L·φ - ψ_L``, so those of all levels are one product of
matrices; of their differences from D_L, which is their mean, only the sums of second, third and
fourth powers are kept.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import SWEPT_BLUR, TINY, TINY_ROOT
from steradian.significance.many_rows.feature_blocks import MANY_ROWS, FeatureBlocks
from steradian.significance.sample import Sample

_FEWEST_DOF = 3.0


def error_of(spread: Array, skew: Array, fourth: Array, count: int) -> Array:
    """Standard errors, their degrees of freedom and the skewness, (3, k).

    From the roots of Σ g² over ``count`` units, the skewness of Σ g and Σ g⁴, (k,) each.
    """
    noise = fourth - spread**4 / count
    dof = 2.0 * spread**4 / np.maximum(noise, TINY)
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
