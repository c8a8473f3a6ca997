"""Integrals of three harmonics against quadrature, and what they turn moments into."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.gaunt import circle_gaunt, sphere_gaunt
from steradian.numerics.harmonics import circle_harmonics, sphere_harmonics
from steradian.spaces import Circle, Sphere
from steradian.spaces.products import products, second_moments

SPACES = [Circle(), Sphere()]


@pytest.mark.parametrize("space", SPACES, ids=lambda s: s.name)
@pytest.mark.parametrize("level", [1, 2, 5])
def test_integrals_are_those_of_an_exact_rule(space: Circle | Sphere, level: int) -> None:
    grid = space.exact_grid(4 * level)
    small, large = (space.harmonics(grid.points, k) for k in (level, 2 * level))
    wanted = np.einsum("n,ni,nj,nk->ijk", grid.weights, small, small, large)
    found = (circle_gaunt if isinstance(space, Circle) else sphere_gaunt)(level).toarray()
    np.testing.assert_allclose(found.reshape(wanted.shape), wanted, rtol=0, atol=1e-13)


@pytest.mark.parametrize("space", SPACES, ids=lambda s: s.name)
@pytest.mark.parametrize("level", [3, 9, 14])
def test_second_moments_of_points(space: Circle | Sphere, level: int) -> None:
    """Features of level 14 are as large as 5.4, and their products are sums of some thirty."""
    x = np.random.default_rng(level).normal(size=(30, space.d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    small, large = (space.harmonics(x, k) for k in (level, 2 * level))
    found = second_moments(space, level, large.mean(axis=0)[None])[0]
    np.testing.assert_allclose(found, small.T @ small / len(x), rtol=0, atol=3e-12)


def test_nearly_all_integrals_are_zero_and_are_not_kept() -> None:
    found = products(Sphere(), 10)
    assert not isinstance(found, np.ndarray)
    assert found.nnz < 0.02 * np.prod(found.shape)
    assert isinstance(products(Sphere(), 3), np.ndarray)


def test_orders_of_the_columns() -> None:
    """The product of the two coordinates z and x has one harmonic of degree two, and no other."""
    x = np.random.default_rng(0).normal(size=(50, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    row = sphere_gaunt(1).toarray().reshape(4, 4, 9)[1, 2]
    np.testing.assert_allclose(sphere_harmonics(x, 2) @ row, 3.0 * x[:, 2] * x[:, 0], atol=1e-14)
    angle = np.linspace(0.0, 6.0, 40)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    row = circle_gaunt(1).toarray().reshape(3, 3, 5)[1, 2]
    both = 2.0 * np.cos(angle) * np.sin(angle)
    np.testing.assert_allclose(circle_harmonics(points, 2) @ row, both, atol=1e-14)
