"""The data of the benchmarks: the paper's laws in random positions, and weightings."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SHARPNESS = 6.0  # inverse temperature of query weights


def unit(x: Array) -> Array:
    """Rows scaled to length one."""
    return x / np.linalg.norm(x, axis=1, keepdims=True)


def turned(x: Array, rng: np.random.Generator) -> Array:
    """Rows under one random rotation (or reflection), of length one to rounding."""
    rotation = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    return unit(x @ rotation)


def from_heights(z: Array, rng: np.random.Generator) -> Array:
    """Points of the sphere at heights ``z`` and uniform longitudes, (n, 3)."""
    angle = rng.uniform(0.0, 2.0 * np.pi, len(z))
    radius = np.sqrt(1.0 - z * z)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)


def vmf(n: int, kappa: float, rng: np.random.Generator) -> Array:
    """Von Mises-Fisher draws about the third axis, by inversion."""
    z = 1.0 + np.log(rng.uniform(np.exp(-2.0 * kappa), 1.0, n)) / kappa
    return from_heights(z, rng)


def cloud(n: int, rng: np.random.Generator) -> Array:
    """One von Mises-Fisher cloud, concentration 8."""
    return turned(vmf(n, 8.0, rng), rng)


def antipodal(n: int, rng: np.random.Generator) -> Array:
    """Two opposite clouds of concentration 12."""
    return turned(vmf(n, 12.0, rng) * rng.choice([-1.0, 1.0], n)[:, None], rng)


def girdle(n: int, rng: np.random.Generator) -> Array:
    """A band about a great circle."""
    return turned(from_heights(np.clip(rng.normal(0.0, 0.195, n), -0.85, 0.85), rng), rng)


def mixture(n: int, rng: np.random.Generator) -> Array:
    """Three clouds of different sizes and concentrations on a uniform background."""
    kappas = (2.0, 5.0, 10.0, 1e-3)
    sizes = rng.multinomial(n, [0.4, 0.2, 0.15, 0.25])
    return np.concatenate(
        [turned(vmf(size, kappa, rng), rng) for size, kappa in zip(sizes, kappas, strict=True)]
    )


LAWS = {"vMF": cloud, "antipodal": antipodal, "girdle": girdle, "mixture": mixture}


def circle_mixture(n: int, rng: np.random.Generator) -> Array:
    """Two von Mises clouds on a uniform background, on the circle, (n, 2)."""
    centre = rng.choice([0.3, 2.6], n)
    angle = rng.vonmises(centre, rng.choice([0.0, 2.0, 6.0], n))
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def replicates(x: Array, count: int, rng: np.random.Generator) -> Array:
    """Bootstrap replicates: how often each point is drawn, (count, n)."""
    n = len(x)
    return rng.multinomial(n, np.full(n, 1.0 / n), count).astype(np.float64)


def attention(x: Array, count: int, rng: np.random.Generator, *, sharpness: float) -> Array:
    """Query weights exp(sharpness · cos(x, query)) of random queries, (count, n)."""
    queries = unit(rng.standard_normal((count, x.shape[1])))
    return np.exp(sharpness * queries @ x.T)


WEIGHTINGS_BY_KIND: dict[str, Callable[[Array, int, np.random.Generator], Array]] = {
    "bootstrap": replicates,
    "attention": partial(attention, sharpness=2.0),
    "sharp attention": partial(attention, sharpness=SHARPNESS),
}
