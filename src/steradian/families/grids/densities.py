"""Densities at the nodes of a grid, and their moments."""

from __future__ import annotations

import numpy as np

from steradian.data.stacks import blocks
from steradian.numerics.arrays import Array
from steradian.spaces import Grid

_NO_OVERFLOW = 300.0  # exponents that leave room for sums of exponentials
_ENTRIES = 1 << 15  # values at nodes that stay near the processor


def peaked(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """An exponent near the largest (B,), and the density over its value there (B, nodes)."""
    values = grid.synthesize(lam)
    with np.errstate(over="ignore"):  # of parameters on their way to nowhere
        most = lam.shape[1] * np.einsum("bq,bq->b", lam, lam).max(initial=0.0)
    if most < _NO_OVERFLOW**2:
        np.exp(values, out=values)
        return np.zeros(len(lam)), values  # |λ·φ|² <= q |λ|²: nothing to remove
    peak = values.max(axis=1)
    values -= peak[:, None]
    np.exp(values, out=values)
    return peak, values


def density_on(grid: Grid, lam: Array) -> tuple[Array, Array]:
    """ψ (B,) and the normalised density at the nodes (B, nodes)."""
    peak, values = peaked(grid, lam)
    total = values @ grid.weights
    values /= total[:, None]
    return np.log(total) + peak, values


def moments_on(grid: Grid, lam: Array, degree: int) -> tuple[Array, Array]:
    """ψ (B,) and E φ of laws ``lam`` (B, q) for degree 0..degree, (B, K); no density is kept."""
    parts = [_moments(grid, lam[rows], degree) for rows in blocks(len(lam), grid.nodes, _ENTRIES)]
    psi, moments = (np.concatenate(each) for each in zip(*parts, strict=True))
    return psi, moments


def _moments(grid: Grid, lam: Array, degree: int) -> tuple[Array, Array]:
    peak, values = peaked(grid, lam)
    moments = grid.analyze(values, degree)
    total = moments[:, 0].copy()
    moments /= total[:, None]
    return np.log(total) + peak, moments
