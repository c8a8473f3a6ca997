"""The laws of the paper's experiments, drawn by inversion: nothing of the library draws them."""

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
    """Unit vectors (n, 3), von Mises-Fisher about e₃."""

    def draw(n: int, rng: Rng) -> Array:
        u = rng.random(n)
        z = 1.0 + np.log(u + (1.0 - u) * np.exp(-2.0 * kappa)) / kappa
        return at_heights(np.clip(z, -1.0, 1.0), rng)

    return draw


def vmf_mixture(centres: Array, kappa: float) -> Draw:
    """Unit vectors (n, 3), an equal mixture of von Mises-Fisher laws about unit ``centres``."""

    def draw(n: int, rng: Rng) -> Array:
        x = vmf(kappa)(n, rng)
        chosen = centres[rng.integers(0, len(centres), n)]
        mirror = chosen - np.array([0.0, 0.0, 1.0])  # the reflection that takes e₃ to the centre
        length = np.einsum("ni,ni->n", mirror, mirror)
        along = np.einsum("ni,ni->n", mirror, x)
        return x - mirror * (2.0 * along / np.where(length > 0.0, length, 1.0))[:, None]

    return draw


def girdle(n: int, rng: Rng) -> Array:
    """Unit vectors (n, 3) about the equator: heights N(0, 0.195²), clipped to ±0.85."""
    return at_heights(np.clip(rng.normal(0.0, 0.195, n), -0.85, 0.85), rng)


def uniform(n: int, rng: Rng) -> Array:
    """Unit vectors (n, 3), uniform."""
    return at_heights(rng.uniform(-1.0, 1.0, n), rng)


def at_heights(z: Array, rng: Rng) -> Array:
    """Unit vectors (n, 3) at these heights and uniform longitudes."""
    longitude = rng.uniform(0.0, 2.0 * np.pi, len(z))
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(longitude), radius * np.sin(longitude), z], axis=1)
