"""Moments of a million points on the two-sphere, against scipy's spherical harmonics."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import sph_harm_y

import steradian as sr
from samples import mixture
from timing import Limit, Result, agree, interleaved, one_thread, quantity, show

Array = NDArray[np.float64]

POINTS = 1_000_000
DEGREE = 8
REPEATS = 3
TARGET = 20.0


def by_feature_matrix(x: Array, weights: Array) -> Array:
    """Σ w φ for the real orthonormal harmonics of degree 1..8, through all their values.

    Orders m >= 0 hold the negative ones too: real and imaginary parts are the cosine and
    sine features. They are normalised for the uniform law of mass one.
    """
    colatitude = np.arccos(np.clip(x[:, 2], -1.0, 1.0))
    longitude = np.arctan2(x[:, 1], x[:, 0])
    features = np.empty(((DEGREE + 1) ** 2 - 1, len(x)))
    row = 0
    for ell in range(1, DEGREE + 1):
        features[row] = np.sqrt(4.0 * np.pi) * sph_harm_y(ell, 0, colatitude, longitude).real
        row += 1
        for m in range(1, ell + 1):
            values = sph_harm_y(ell, m, colatitude, longitude)
            scale = (-1.0) ** m * np.sqrt(8.0 * np.pi)
            np.multiply(values.real, scale, out=features[row])
            np.multiply(values.imag, scale, out=features[row + 1])
            row += 2
    return features @ weights


def run() -> list[Result]:
    """Moments hold twice the level: `Harmonics(3, 8)` degree 16, `Harmonics(3, 4)` the peer's 8."""
    rng = np.random.default_rng(3)
    x = rng.permutation(mixture(POINTS, rng))
    weights = np.full(POINTS, 1.0 / POINTS)
    hierarchies = [sr.Harmonics(3, DEGREE), sr.Harmonics(3, DEGREE // 2)]
    print(f"{POINTS} points, degree up to {DEGREE}")
    expected = by_feature_matrix(x, weights)
    good = True
    for hierarchy in hierarchies:
        found = sr.Moments.from_directions(sr.Directions(x), hierarchy).features
        difference = float(np.abs(found[: len(expected)] - expected).max())
        good &= agree(f"scipy, {hierarchy}, feature means", difference, 1e-11)
    *ours, peer, once = interleaved(
        [
            lambda _: sr.Moments.from_directions(sr.Directions(x), hierarchies[0]),
            lambda _: sr.Moments.from_directions(sr.Directions(x), hierarchies[1]),
            lambda _: by_feature_matrix(x, weights),
            lambda _: weights @ x,
        ],
        REPEATS,
    )
    results = []
    for hierarchy, seconds in zip(hierarchies, ours, strict=True):
        label = f"moments, 10⁶ points, S², L={hierarchy.levels}, vs scipy degree {DEGREE}"
        least = Limit("one pass over the points", once)
        results.append(Result(label, seconds, peer, TARGET, agrees=good, limit=least))
        print(f"  {hierarchy}: {quantity(seconds, 's')}, scipy {quantity(peer, 's')}")
    return results


if __name__ == "__main__":
    one_thread()
    show(run())
