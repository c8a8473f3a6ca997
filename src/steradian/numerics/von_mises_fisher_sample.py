"""Draws of von Mises-Fisher laws in any dimension, about the first axis."""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import Array


def von_mises_fisher_draws(d: int, kappa: float, n: int, rng: np.random.Generator) -> Array:
    """``n`` exact draws of exp(κ x_1) on the sphere of R^d, d > 2: (n, d).

    The height is drawn by rejection from a transformed beta law (Wood, Communications in
    Statistics - Simulation 23, 1994), the rest is uniform across it.
    """
    across = rng.standard_normal((n, d - 1))
    across /= np.sqrt(np.einsum("ij,ij->i", across, across))[:, None]
    height, radius = _heights(d, kappa, n, rng)
    out = np.empty((n, d))
    out[:, 0] = height
    np.multiply(across, radius[:, None], out=out[:, 1:])
    return out


def _heights(d: int, kappa: float, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """x_1 and (1 - x_1²)^½ of ``n`` draws; the latter keeps its digits near the pole."""
    half = 0.5 * (d - 1.0)
    b = half / (kappa + np.hypot(kappa, half))  # (-2κ + (4κ² + (d-1)²)^½) / (d-1)
    mode = (1.0 - b) / (1.0 + b)
    least = kappa * mode + (d - 1.0) * np.log1p(-mode * mode)
    below = np.empty(0)  # 1 - x_1
    while len(below) < n:
        z = rng.beta(half, half, n - len(below) + 16)
        depth = 2.0 * b * z / (1.0 - (1.0 - b) * z)
        log = kappa * (1.0 - depth) + (d - 1.0) * np.log(1.0 - mode + mode * depth) - least
        below = np.append(below, depth[np.log(rng.random(len(z))) < log])
    below = below[:n]
    return 1.0 - below, np.sqrt(below * (2.0 - below))
