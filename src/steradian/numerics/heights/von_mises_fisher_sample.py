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


def turned(x: Array, mode: Array) -> Array:
    """Points (n, d) about the first axis as points about ``mode`` (d,): one reflection."""
    sign = 1.0 if mode[0] >= 0.0 else -1.0
    normal = sign * mode
    normal[0] += 1.0  # of the mirror that takes the first axis to -sign · mode
    x[:, 0] *= -sign
    x -= np.outer(x @ normal, (2.0 / (normal @ normal)) * normal)
    return x


def _heights(d: int, kappa: float, n: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """x_1 and (1 - x_1²)^½ of ``n`` draws, without a difference of numbers of the size of κ."""
    half = 0.5 * (d - 1.0)
    b = half / (kappa + np.hypot(kappa, half))  # (-2κ + (4κ² + (d-1)²)^½) / (d-1)
    mode, least = (1.0 - b) / (1.0 + b), 2.0 * b / (1.0 + b)  # and 1 - mode
    below = np.empty(0)  # 1 - x_1
    while len(below) < n:
        z = rng.beta(half, half, n - len(below) + 16)
        depth = 2.0 * b * z / (1.0 - (1.0 - b) * z)
        stretch = (least + mode * depth) / (least * (1.0 + mode))
        log = kappa * (least - depth) + (d - 1.0) * np.log(stretch)
        below = np.append(below, depth[np.log(rng.random(len(z))) < log])
    below = below[:n]
    return 1.0 - below, np.sqrt(below * (2.0 - below))
