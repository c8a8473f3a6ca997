"""Second moments of harmonics from moments of twice their degree, against sums and exact rules."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.spheres.gaunt import (
    circle_second_moments,
    sphere_gaunt,
    sphere_second_moments,
)
from steradian.numerics.spheres.harmonics import circle_harmonics, sphere_harmonics
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import SecondMoments, second_moments

SPACES = [Circle(), Sphere()]


@pytest.mark.parametrize("level", [1, 2, 5])
def test_integrals_are_those_of_an_exact_rule(level: int) -> None:
    grid = Sphere().exact_grid(4 * level)
    small, large = (sphere_harmonics(grid.points, k) for k in (level, 2 * level))
    wanted = np.einsum("n,ni,nj,nk->ijk", grid.weights, small, small, large)
    j, i = np.tril_indices(small.shape[1])
    found = sphere_gaunt(level).toarray()
    np.testing.assert_allclose(found, wanted[i, j], rtol=0, atol=1e-13)


@pytest.mark.parametrize("space", SPACES, ids=lambda s: s.name)
@pytest.mark.parametrize("level", [1, 3, 4, 5, 9, 14, 17, 22])
def test_second_moments_of_points(space: Circle | Sphere, level: int) -> None:
    """Features of level 22 are as large as 6.7, and their products are sums of some sixty."""
    x = np.random.default_rng(level).normal(size=(30, space.d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    small, large = (space.harmonics(x, k) for k in (level, 2 * level))
    wanted, moments = small.T @ small / len(x), large.mean(axis=0)
    found = second_moments(space, level, np.stack([moments, 2.0 * moments]))
    np.testing.assert_allclose(found[0], wanted, rtol=0, atol=3e-12)
    np.testing.assert_allclose(found[1], 2.0 * wanted, rtol=0, atol=6e-12)


@pytest.mark.parametrize("level", [6, 10])
def test_three_ways_on_the_sphere(level: int) -> None:
    """The corner of a larger table, the table of the level itself, and products over rings."""
    moments = np.random.default_rng(level).normal(size=Sphere().size(2 * level))
    by_rings = sphere_second_moments(moments, level)
    j, i = np.tril_indices(len(by_rings))
    np.testing.assert_allclose(sphere_gaunt(level) @ moments, by_rings[i, j], rtol=0, atol=1e-11)
    of_corner = second_moments(Sphere(), level, moments[None])[0]
    np.testing.assert_allclose(of_corner, by_rings, rtol=0, atol=1e-11)


@pytest.mark.parametrize("space", SPACES, ids=lambda s: s.name)
@pytest.mark.parametrize("level", [2, 6, 17])
def test_quadratic_forms_of_features_are_features(space: Circle | Sphere, level: int) -> None:
    """φᵀ A φ with A of order one: each of (q + 1)² products of features up to 6."""
    rng = np.random.default_rng(level)
    count = space.size(level)
    a = rng.normal(size=(count, count)) / count
    x = space.uniform(20, rng)
    phi = space.harmonics(x, level)
    wanted = np.einsum("ni,ij,nj->n", phi, a + a.T, phi)
    found = space.harmonics(x, 2 * level) @ SecondMoments(space, level).expanded(a + a.T)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-10)


def test_nearly_all_integrals_are_zero_and_are_not_kept() -> None:
    found = sphere_gaunt(10)
    assert found.nnz < 0.02 * np.prod(found.shape)


def test_orders_of_the_columns() -> None:
    """The product of the two coordinates z and x has one harmonic of degree two, and no other."""
    x = np.random.default_rng(0).normal(size=(50, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    row = sphere_gaunt(1).toarray()[1 + 2 * 3 // 2]
    np.testing.assert_allclose(sphere_harmonics(x, 2) @ row, 3.0 * x[:, 2] * x[:, 0], atol=1e-14)
    angle = np.linspace(0.0, 6.0, 40)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    both = circle_second_moments(circle_harmonics(points, 2), 1)[:, 1, 2]
    np.testing.assert_allclose(both, 2.0 * np.cos(angle) * np.sin(angle), atol=1e-14)
