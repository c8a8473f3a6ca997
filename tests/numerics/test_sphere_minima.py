"""Minima and derivatives of harmonic expansions, against extended precision and known valleys."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
from oracles import Array, long
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.spheres.sphere_minima import cover, curvatures, dips, slopes, tangents

POLES = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]])


def everywhere(n: int, seed: int = 0) -> Array:
    x = np.random.default_rng(seed).standard_normal((n, 3))
    return np.vstack([POLES, x / np.linalg.norm(x, axis=1, keepdims=True)])


@pytest.mark.parametrize("degree", [1, 2, 5, 8])
def test_derivatives_along_great_circles(degree: int) -> None:
    """Against central differences in extended precision."""
    x = everywhere(10)
    u, v = tangents(x)
    along = (u + 2.0 * v) / np.sqrt(5.0)
    step = np.longdouble(1e-4)
    at = [np.cos(t) * long(x) + np.sin(t) * long(along) for t in (-step, 0 * step, step)]
    before, here, after = (oracles.harmonics(a, degree) for a in at)
    first, second = slopes(x, along, degree)
    scale = degree**2 * np.sqrt(2 * degree + 1)
    np.testing.assert_allclose(first[:, 0], 0.0, atol=1e-12)
    np.testing.assert_allclose(
        first[:, 1:], (after - before) / (2 * step), atol=1e-7 * degree * scale
    )
    np.testing.assert_allclose(
        second[:, 1:], (after - 2 * here + before) / step**2, atol=1e-7 * degree**2 * scale
    )


def test_tangents_are_orthonormal_and_touch_the_sphere() -> None:
    x = everywhere(20)
    u, v = tangents(x)
    frame = np.stack([x, u, v], axis=1)
    gram = frame @ np.swapaxes(frame, 1, 2)
    np.testing.assert_allclose(gram, np.broadcast_to(np.eye(3), gram.shape), atol=1e-15)


def test_curvatures_of_a_zonal_function() -> None:
    """z² has curvatures 2 (1 - 2 z²) along the meridian and -2 z² along the parallel."""
    coefficients = np.zeros(9)
    coefficients[0], coefficients[4] = 1.0 / 3.0, 2.0 / (3.0 * np.sqrt(5.0))
    x = everywhere(30)
    _, values, _, _ = curvatures(coefficients, x, 2)
    z = x[:, 2]
    expected = np.sort(np.stack([2.0 - 4.0 * z**2, -2.0 * z**2], axis=1), axis=1)
    np.testing.assert_allclose(values, expected, atol=1e-13)


@pytest.mark.parametrize("degree", [3, 4, 6])
def test_the_lowest_point_is_found(degree: int) -> None:
    """No point of a far finer grid lies lower, and the slope vanishes at every minimum."""
    rng = np.random.default_rng(degree)
    fine = np.asarray(oracles.sphere_rule(96).points, dtype=np.float64)
    harmonics = sphere_harmonics(fine, degree)
    for _ in range(5):
        coefficients = np.asarray(rng.standard_normal(harmonics.shape[1]))
        x, values = dips(coefficients, degree)
        assert values[0] <= (harmonics @ coefficients).min() + 1e-12
        np.testing.assert_allclose(np.linalg.norm(x, axis=1), 1.0, atol=1e-14)
        slope, curvature, _, _ = curvatures(coefficients, x[:1], degree)
        assert np.abs(slope).max() < 1e-6
        assert curvature.min() > 0.0


def test_a_second_dip_in_a_narrow_valley_is_seen() -> None:
    """A great circle on which the function only just falls below zero at four points."""
    degree = 6
    grid = np.asarray(oracles.sphere_rule(30).points, dtype=np.float64)
    weights = np.asarray(oracles.sphere_rule(30).weights, dtype=np.float64)
    wave = ((grid[:, 0] + 1j * grid[:, 1]) ** 4).real
    function = 5.0 * grid[:, 2] ** 2 + 1e-5 * wave
    coefficients = (weights * function) @ sphere_harmonics(grid, degree)
    x, values = dips(coefficients, degree)
    corners = np.array([[a, b, 0.0] for a in (1, -1) for b in (1, -1)]) / np.sqrt(2.0)
    away = np.linalg.norm(x[:, None, :] - corners, axis=2)
    assert away.min(axis=0).max() < 1e-6
    assert values[0] == pytest.approx(-1e-5, rel=1e-6)


def test_the_cover_is_even() -> None:
    nodes = cover(4)
    near = np.einsum("nd,nkd->nk", nodes.points, nodes.points[nodes.neighbours])
    angle = np.arccos(near)
    assert angle.max() < 2.0 * nodes.spacing
    assert angle.min() > 0.5 * nodes.spacing
