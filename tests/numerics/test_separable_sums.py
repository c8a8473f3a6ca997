"""Sums by products of powers and Chebyshev polynomials, against extended precision."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.spheres.harmonics import sphere_harmonics, sphere_sums
from steradian.numerics.spheres.separable_sums import MOST_DEGREES, separable_sphere_sums

POLES = np.array([[0.0, 0, 1], [0, 0, -1], [-1, 0, 0], [-1, -1e-300, 0], [0, 1, 0]])


def points(n: int, offset: float) -> Array:
    x = np.random.default_rng(n).standard_normal((n, 3)) + offset * np.array([0.3, -0.5, 0.7])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[: len(POLES)] = POLES[:n]
    return x


@pytest.mark.parametrize("degree", [0, 1, 2, 5, 8, MOST_DEGREES])
@pytest.mark.parametrize(("n", "offset"), [(1, 0.0), (300, 0.0), (9000, 2.0), (9000, 1000.0)])
def test_the_sums_of_extended_precision(degree: int, n: int, offset: float) -> None:
    x = points(n, offset)
    w = np.random.default_rng(1).gamma(0.5, size=n)
    got = separable_sphere_sums(x, w, degree)
    want = (w.astype(np.longdouble) @ sphere_harmonics(x.astype(np.longdouble), degree)).astype(
        float
    )
    # A harmonic of degree l is at most √(2l + 1) and changes by l of that over a radian: rounded
    # coordinates move it by 12·5 u. Its expansion sums up to Σ|c_k| |T_k| sin^m, tens of it.
    assert np.abs(got - want).max() <= 200 * ROUNDOFF * w.sum()


def test_the_transform_agrees_beyond_one_block() -> None:
    x, w = points(20_000, 1.0), np.random.default_rng(2).uniform(size=20_000)
    difference = separable_sphere_sums(x, w, 8) - sphere_sums(x, w, 8)
    assert (
        np.abs(difference).max() < 1e-12 * w.sum()
    )  # the accuracy asked of it, and ten times more
