"""The laws of the paper's experiments. Nothing of the library draws them.

The paper states its seed, not its code. NumPy's default generator with that seed, consumed in
the order written here, gives the paper's own samples: every printed digit comes out.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from steradian.numerics.arrays import Array

SEED = 123
Rng = np.random.Generator
Draw = Callable[[int, Rng], Array]

TETRAHEDRON = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)


def von_mises(modes: int, kappa: float) -> Draw:
    """Angles (n,) of an equal mixture of von Mises laws about 2πj/modes."""
    return lambda n, rng: rng.vonmises(2.0 * np.pi * rng.integers(0, modes, n) / modes, kappa)


def pareto(n: int, rng: Rng) -> Array:
    """Raw weights (n,) with Pr(W > t) = t^{-1.5} for t ≥ 1."""
    return 1.0 + rng.pareto(1.5, n)


def vmf(kappa: float) -> Draw:
    """Unit vectors (n, 3), von Mises-Fisher about e₃, by inversion."""

    def draw(n: int, rng: Rng) -> Array:
        u = rng.random(n)
        z = 1.0 + np.log(u + (1.0 - u) * np.exp(-2.0 * kappa)) / kappa
        return on_sphere(np.clip(z, -1.0, 1.0), rng.uniform(0.0, 2.0 * np.pi, n))

    return draw


def vmf_mixture(centres: Array, kappa: float) -> Draw:
    """Unit vectors (n, 3), an equal mixture of von Mises-Fisher laws about unit ``centres``."""

    def draw(n: int, rng: Rng) -> Array:
        label = rng.integers(0, len(centres), n)
        x = np.empty((n, 3))
        for k, centre in enumerate(centres):
            own = label == k
            x[own] = _mirrored(vmf(kappa)(int(own.sum()), rng), centre)
        return x

    return draw


def _mirrored(x: Array, centre: Array) -> Array:
    """Reflect ``x`` so that e₃ goes to ``centre``."""
    normal = centre - np.array([0.0, 0.0, 1.0])
    square = float(normal @ normal)
    return x if square == 0.0 else x - np.outer(x @ normal, 2.0 / square * normal)


def girdle(n: int, rng: Rng) -> Array:
    """Unit vectors (n, 3) about the equator: heights N(0, 0.195²), clipped to ±0.85."""
    longitude = rng.uniform(0.0, 2.0 * np.pi, n)
    return on_sphere(np.clip(rng.normal(0.0, 0.195, n), -0.85, 0.85), longitude)


def uniform(n: int, rng: Rng) -> Array:
    """Unit vectors (n, 3), uniform."""
    x = rng.standard_normal((n, 3))
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def on_sphere(z: Array, longitude: Array) -> Array:
    """Unit vectors (n, 3) at heights and longitudes."""
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(longitude), radius * np.sin(longitude), z], axis=1)
