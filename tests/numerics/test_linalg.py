"""Stacks of small positive definite systems: sizes and precisions have their ways, one answer."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.arrays import Array
from steradian.numerics.linalg import (
    all_positive,
    conditions,
    least_eigenvalues,
    solve_positive,
    solver,
)


def systems(count: int, q: int) -> tuple[Array, Array, Array]:
    """Matrices of eigenvalues 1 … 10, solutions, and what they solve."""
    rng = np.random.default_rng(q)
    axes = np.linalg.qr(rng.standard_normal((count, q, q)))[0]
    matrices = (axes * np.linspace(1.0, 10.0, q)) @ axes.swapaxes(1, 2)
    x = rng.standard_normal((count, q))
    return matrices, x, (matrices @ x[:, :, None])[:, :, 0]


@pytest.mark.parametrize("q", [3, 30])
@pytest.mark.parametrize("count", [1, 20, 300])
def test_solutions(count: int, q: int) -> None:
    matrices, x, right = systems(count, q)
    # condition 10 times the rounding of a product of q terms
    np.testing.assert_allclose(solve_positive(matrices, right), x, rtol=0.0, atol=1e-12)
    single = solve_positive(matrices.astype(np.float32), right)
    np.testing.assert_allclose(single, x, rtol=0.0, atol=1e-3)


@pytest.mark.parametrize("q", [3, 30])
def test_a_singular_system_fails_alone(q: int) -> None:
    matrices, x, right = systems(300, q)
    matrices[5] = 0.0
    for kind, close in ((np.float64, 1e-12), (np.float32, 1e-3)):
        found = solve_positive(matrices.astype(kind), right)
        assert not np.isfinite(found[5]).all()
        np.testing.assert_allclose(np.delete(found, 5, 0), np.delete(x, 5, 0), rtol=0.0, atol=close)


@pytest.mark.parametrize("q", [3, 30])
def test_conditions_are_bounds_from_below(q: int) -> None:
    matrices = systems(10, q)[0]
    matrices[3] *= np.outer(np.logspace(0, 3, q), np.logspace(0, 3, q))
    exact = np.linalg.cond(matrices, 1)
    found = conditions(matrices)
    assert (found <= 1.01 * exact).all()
    assert found[3] >= 0.1 * exact[3]


@pytest.mark.parametrize("q", [1, 3, 30])
@pytest.mark.parametrize("count", [1, 20, 300])
def test_factors_serve_several_solutions(count: int, q: int) -> None:
    matrices, x, right = systems(count, q)
    given = matrices.copy(), right.copy()
    found = solver(matrices)
    for times in (1.0, -3.0):
        np.testing.assert_allclose(found.solve(times * right), times * x, rtol=0.0, atol=1e-12)
    np.testing.assert_array_equal(found.solve(right), found.solve(right))
    for now, before in zip((matrices, right), given, strict=True):
        np.testing.assert_array_equal(now, before)
    expected = conditions(matrices)
    np.testing.assert_allclose(conditions(matrices, found), expected, rtol=1e-12)


@pytest.mark.parametrize("q", [3, 30])
def test_a_singular_system_of_several_solutions_fails_alone(q: int) -> None:
    matrices, x, right = systems(300, q)
    matrices[5] = 0.0
    systems_ = solver(matrices)
    found = systems_.solve(right)
    assert not np.isfinite(found[5]).all()
    np.testing.assert_allclose(np.delete(found, 5, 0), np.delete(x, 5, 0), rtol=0.0, atol=1e-12)
    assert np.isinf(conditions(matrices, systems_)[5])


@pytest.mark.parametrize("q", [2, 3, 4])
@pytest.mark.parametrize("count", [1, 40])
def test_least_eigenvalues(count: int, q: int) -> None:
    """Also where two or all of them are one, and of the zero matrix."""
    matrices, _, _ = systems(count, q)
    matrices[count // 2 :] -= 1.0 * np.eye(q)
    matrices[-1], matrices[0] = np.diag([2.0, *[1.0] * (q - 1)]), 0.0
    found = least_eigenvalues(matrices)
    np.testing.assert_allclose(found, np.linalg.eigvalsh(matrices)[:, 0], rtol=0.0, atol=1e-7)


@pytest.mark.parametrize("turn", [1.0, 1j])
@pytest.mark.parametrize("q", [2, 5, 30])
@pytest.mark.parametrize("count", [20, 300])
def test_one_eigenvalue_below_zero_is_seen(count: int, q: int, turn: complex) -> None:
    """Of symmetric matrices and of Hermitian ones, which have the same eigenvalues."""
    phases = np.real_if_close(turn ** np.arange(q))
    matrices = systems(count, q)[0] * (phases[:, None] * phases.conj())
    assert all_positive(matrices)
    least = np.linalg.eigvalsh(matrices)[-1, 0]
    for shift, positive in ((1.0 - 1e-9, True), (1.0 + 1e-9, False)):
        shifted = matrices.copy()
        shifted[-1] -= shift * least * np.eye(q)
        assert all_positive(shifted) is positive
