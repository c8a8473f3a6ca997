"""Samples from seeds, made by plain NumPy: nothing of the library can move them.

Normal numbers are quantiles of `Generator.random`, whose stream does not change with the version
of NumPy, as those of `normal` may.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from steradian.numerics.arrays import AnyArray, Array

Rng = np.random.Generator


def generator(*seed: int) -> Rng:
    """The one source of randomness here."""
    return np.random.Generator(np.random.PCG64(list(seed)))


def normal(rng: Rng, *shape: int) -> Array:
    """Standard normal numbers by inversion."""
    return np.asarray(ndtri(rng.random(shape) + 2.0**-54))


def unit(rows: Array) -> Array:
    """Rows of length one."""
    return np.asarray(rows / np.linalg.norm(rows, axis=-1, keepdims=True))


def cloud(d: int, n: int, pull: float, seed: int) -> Array:
    """One cluster about the last axis: normal rows moved by ``pull`` and projected."""
    rows = normal(generator(seed, d, n), n, d)
    rows[:, -1] += pull
    return unit(rows)


def tight(d: int, n: int, spread: float, seed: int) -> Array:
    """A cluster of the given spread about an oblique direction."""
    rng = generator(seed, d, n)
    return unit(unit(normal(rng, d)) + spread * normal(rng, n, d))


def stretched(d: int, n: int, factor: float, seed: int) -> Array:
    """Rows along the last axis, both ways (a girdle where ``factor`` is below one)."""
    rows = normal(generator(seed, d, n), n, d)
    rows[:, -1] *= factor
    return unit(rows)


def two_clusters(d: int, n: int, spread: float, seed: int) -> Array:
    """Two clusters at right angles, the second of a third of the rows."""
    rng = generator(seed, d, n)
    centres = np.eye(d)[np.where(np.arange(n) % 3 == 0, 0, d - 1)]
    return unit(centres + spread * normal(rng, n, d))


def two_sided(d: int, n: int, spread: float, seed: int) -> Array:
    """Normal and reversed: one axis from either end, a third of the rows reversed."""
    rng = generator(seed, d, n)
    sign = np.where(np.arange(n) % 3 == 0, -1.0, 1.0)
    return unit(sign[:, None] * np.eye(d)[-1] + spread * normal(rng, n, d))


def small_circle(n: int, height: float, spread: float, seed: int) -> Array:
    """Rows of S² near one latitude."""
    rng = generator(seed, n)
    turn = 2.0 * np.pi * rng.random(n)
    level = np.full(n, height) + spread * normal(rng, n)
    flat = np.sqrt(1.0 - height**2)
    return unit(np.stack([flat * np.cos(turn), flat * np.sin(turn), level], axis=1))


def great_circle(n: int, seed: int) -> Array:
    """Rows of S² on a great circle to rounding."""
    turn = 2.0 * np.pi * generator(seed, n).random(n)
    return np.stack([np.cos(turn), np.sin(turn), np.zeros(n)], axis=1)


def lattice(n: int, step: float, seed: int) -> Array:
    """Angles of the circle in whole steps of degrees, more about the first: ties."""
    rng = generator(seed, n)
    steps = np.rint(normal(rng, n) * 70.0 / step)
    angle = np.deg2rad(step * steps)
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def duplicates(d: int, n: int, distinct: int, seed: int) -> Array:
    """Few directions, each many times."""
    rng = generator(seed, d, n)
    points = unit(normal(rng, distinct, d))
    return np.asarray(points[(rng.random(n) * distinct).astype(int)])


def poles(d: int, n: int, seed: int) -> Array:
    """A cloud, and both ends of every coordinate axis."""
    return np.concatenate([cloud(d, n, 0.5, seed), np.eye(d), -np.eye(d)])


def with_dead_coordinate(d: int, n: int, seed: int) -> Array:
    """Rows of the subsphere on which the first coordinate is zero."""
    return np.concatenate([np.zeros((n, 1)), cloud(d - 1, n, 1.0, seed)], axis=1)


def angles(k: int, n: int, width: float, seed: int) -> Array:
    """Angles of a torus, (n, k), each following the first."""
    made = width * normal(generator(seed, k, n), n, k)
    made[:, 1:] += 0.5 * made[:, :1]
    return np.asarray(np.mod(made, 2.0 * np.pi))


def on_torus(k: int, n: int, width: float, seed: int) -> Array:
    """Points of a torus: cosines and sines of the angles, pair by pair."""
    turn = angles(k, n, width, seed)
    return np.asarray(np.stack([np.cos(turn), np.sin(turn)], axis=-1).reshape(n, 2 * k))


def quaternions(n: int, spread: float, seed: int) -> Array:
    """Rotations near the identity, as quaternions of either sign."""
    rng = generator(seed, n)
    near = unit(np.eye(4)[0] + spread * normal(rng, n, 4))
    return np.asarray(np.where(rng.random((n, 1)) < 0.5, -near, near))


# --- weights and the units of designs -------------------------------------------------------


def gentle(n: int, seed: int) -> Array:
    """Weights between 1 and 4."""
    return np.asarray(1.0 + 3.0 * generator(seed, n).random(n))


def uneven(n: int, seed: int) -> Array:
    """Log-normal weights."""
    return np.asarray(np.exp(1.5 * normal(generator(seed, n), n)))


def one_heavy(n: int, share: float) -> Array:
    """Weights of one, and a row with ``share`` of all of the weight."""
    weights = np.ones(n)
    weights[n // 2] = (n - 1) * share / (1.0 - share)
    return weights


def some_zero(n: int, seed: int) -> Array:
    """Weights of which a third are zero."""
    made = gentle(n, seed)
    made[::3] = 0.0
    return made


WEIGHTS: dict[str, Callable[[int], Array]] = {
    "gentle": lambda n: gentle(n, 1),
    "uneven": lambda n: uneven(n, 2),
    "one-heavy": lambda n: one_heavy(n, 0.9),
    "zeros": lambda n: some_zero(n, 3),
    "tiny": lambda n: 1e-200 * gentle(n, 4),
}


def blocks(n: int, size: int) -> AnyArray:
    """Which cluster each row is of: ``size`` rows in each."""
    return np.arange(n) // size


def shared_within(x: Array, ids: AnyArray, pull: float, seed: int) -> Array:
    """Rows of one cluster moved together, so that they are alike."""
    moves = normal(generator(seed, len(x)), int(ids.max()) + 1, x.shape[1])
    return unit(x + pull * moves[ids.astype(int)])


def wandering(d: int, n: int, memory: float, seed: int) -> Array:
    """An autoregressive path of rows about the last axis."""
    steps, here = normal(generator(seed, d, n), n, d), np.zeros(d)
    rows = np.empty((n, d))
    for k in range(n):
        here = memory * here + np.sqrt(1.0 - memory**2) * steps[k]
        rows[k] = here
    rows[:, -1] += 1.0
    return unit(rows)
