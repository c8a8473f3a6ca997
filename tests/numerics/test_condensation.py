"""Few nodes with the sums of many points."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.spheres.condensation import condensed_on_circle, condensed_on_sphere
from steradian.numerics.spheres.harmonics import circle_harmonics, sphere_harmonics


def points(d: int, n: int, seed: int) -> np.ndarray:
    x = np.random.default_rng(seed).normal(size=(n, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    x[: 2 * d] = np.concatenate([np.eye(d), -np.eye(d)])  # poles and the date line
    return np.asarray(x)


@pytest.mark.parametrize(("d", "condensed", "harmonics"), [
    (2, condensed_on_circle, circle_harmonics),
    (3, condensed_on_sphere, sphere_harmonics),
])  # fmt: skip
def test_sums_of_harmonics_are_those_of_the_points(d, condensed, harmonics) -> None:  # type: ignore[no-untyped-def]
    degree = 16
    x = points(d, 3000, 1)
    w = np.random.default_rng(2).exponential(size=len(x))
    nodes, masses = condensed(x, w, degree)
    np.testing.assert_allclose(np.linalg.norm(nodes, axis=1), 1.0, rtol=1e-14)
    expected, seen = w @ harmonics(x, degree), masses @ harmonics(nodes, degree)
    np.testing.assert_allclose(seen[0], expected, atol=1e-10 * w.sum())
    low = harmonics(x[:1], 3 * degree // 4).shape[1]
    np.testing.assert_allclose(seen[1, :low], expected[:low], atol=1e-10 * w.sum())
    np.testing.assert_allclose(seen[1, low:], 0.0, atol=1e-10 * w.sum())


def test_smooth_functions_too() -> None:
    x, w = points(3, 2000, 3), np.full(2000, 1.0 / 2000.0)
    nodes, masses = condensed_on_sphere(x, w, 48)
    f = np.array([1.0, -2.0, 0.5])
    np.testing.assert_allclose(masses @ np.exp(nodes @ f), w @ np.exp(x @ f), rtol=1e-10)
