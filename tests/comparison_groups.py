"""Groups of directions to be compared, drawn without the library."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import steradian as sr

Array = NDArray[np.float64]
Rng = np.random.Generator


def unit(x: Array) -> Array:
    """Rows scaled to length one."""
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def vmf(n: int, mu: Array, kappa: float, rng: Rng) -> Array:
    """von Mises-Fisher on the two-sphere by inversion of its height."""
    u = rng.random(n)
    t = 1.0 + np.log(u + (1.0 - u) * np.exp(-2.0 * kappa)) / kappa
    angle = 2.0 * np.pi * rng.random(n)
    s = np.sqrt(np.maximum(1.0 - t * t, 0.0))
    x = np.stack([s * np.cos(angle), s * np.sin(angle), t], axis=1)
    return np.asarray(x @ frame_to(mu))


def frame_to(mu: Array) -> Array:
    """Orthonormal rows of which the last is ``mu``."""
    axes = np.linalg.svd(unit(mu[None]))[2]
    return np.vstack([axes[1:], unit(mu[None])])


def gaussian(n: int, mean: Array, scales: Array, rng: Rng) -> Array:
    """Normal vectors scaled to length one."""
    return unit(rng.normal(size=(n, len(mean))) * scales + mean)


def spaces(rng: Rng) -> dict[str, list[sr.Directions]]:
    """Three groups on every kind of space, of different sizes."""
    sizes = (90, 140, 200)
    circle = [
        sr.Directions.from_angles(rng.vonmises(0.4 * k, 1.5 + k, n)) for k, n in enumerate(sizes)
    ]
    sphere = [
        sr.Directions(gaussian(n, np.array([0.3 * k, 0.2, 1.0]), np.array([1.0, 0.6, 0.8]), rng))
        for k, n in enumerate(sizes)
    ]
    torus = [
        sr.Directions.from_dihedrals(rng.vonmises(0.3 * k, 2, n), rng.vonmises(1, 1 + 0.5 * k, n))
        for k, n in enumerate(sizes)
    ]
    turns = [
        sr.Directions.from_quaternions(
            rng.normal(size=(n, 4)) + np.array([0, 0.4 * k, 0, 1.5]), normalize=True
        )
        for k, n in enumerate(sizes)
    ]
    ten = [
        sr.Directions(gaussian(n, 0.4 * k * np.eye(10)[0] + 0.3, np.linspace(1, 1.5, 10), rng))
        for k, n in enumerate(sizes)
    ]
    many = [
        sr.Directions(gaussian(n, 0.5 * k * np.eye(128)[0] + 0.1, np.linspace(1, 1.6, 128), rng))
        for k, n in enumerate((300, 420, 360))
    ]
    kinds = {"circle": circle, "sphere": sphere, "torus": torus, "rotations": turns}
    return {**kinds, "ten": ten, "many": many}
