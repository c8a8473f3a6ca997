"""Rough eigenbases of nearly diagonal matrices, against LAPACK."""

from __future__ import annotations

import numpy as np
import pytest

from steradian.numerics.linalg import on_diagonal
from steradian.numerics.nearly_diagonal import orthonormal, rough_eigenbases

SINGLE = 4e-6  # some roundings of single precision


def near_diagonal(values: np.ndarray, size: float, seed: int) -> np.ndarray:
    """diag(values) with a rest of this size in units of the values."""
    rng = np.random.default_rng(seed)
    rest = rng.standard_normal((6, len(values), len(values)))
    scale = np.sqrt(values[:, None] * values)
    matrices = size * scale * (rest + rest.swapaxes(1, 2)) / len(values)
    on_diagonal(matrices)[...] = values
    return matrices


@pytest.mark.parametrize("d", [2, 5, 32])
@pytest.mark.parametrize("spread", [1.0, 8.0])
def test_small_rests_are_taken_off_the_diagonal(d: int, spread: float) -> None:
    """Of eigenvalues of one scale and of many."""
    matrices = near_diagonal(np.exp(spread * np.linspace(-1.0, 1.0, d)), 1e-3, d)
    values, turn, left = rough_eigenbases(matrices)
    exact = orthonormal(turn.astype(np.float64))
    turned = exact.swapaxes(1, 2) @ matrices @ exact
    diagonal = on_diagonal(turned).copy()
    on_diagonal(turned)[...] = 0.0
    scaled = turned / np.sqrt(diagonal[:, :, None] * diagonal[:, None, :])
    found = np.sqrt(0.5 * (scaled**2).sum(axis=(1, 2)))
    assert found.max() < SINGLE
    assert left.max() < SINGLE
    expected = np.linalg.eigvalsh(matrices)
    np.testing.assert_allclose(np.sort(values, axis=1), expected, rtol=SINGLE)


@pytest.mark.parametrize("apart", [0.0, 1e-6, 1e-2])
def test_two_close_eigenvalues_are_told_apart(apart: float) -> None:
    """Their angle is large, and beside it others are small."""
    matrices = near_diagonal(np.array([1.0, 1.0 + apart, 2.0, 3.0]), 1e-2, 3)
    values, _, left = rough_eigenbases(matrices)
    assert left.max() < 1e-4
    expected = np.linalg.eigvalsh(matrices)
    np.testing.assert_allclose(np.sort(values, axis=1), expected, rtol=1e-4)


def test_many_equal_eigenvalues_are_not_believed() -> None:
    """All angles are large then, and no two of them commute."""
    left = rough_eigenbases(near_diagonal(np.ones(32), 1e-3, 1))[2]
    assert not (left < 1e-5).any()


def test_matrices_far_from_diagonal_say_so() -> None:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((4, 20, 30))
    assert not (rough_eigenbases(x @ x.swapaxes(1, 2))[2] < 1e-2).any()


def test_no_matrix_looks_at_another() -> None:
    matrices = near_diagonal(np.linspace(1.0, 2.0, 9), 0.01, 1)
    spoilt = matrices.copy()
    spoilt[0] = np.nan
    for whole, rest in zip(rough_eigenbases(matrices), rough_eigenbases(spoilt), strict=True):
        np.testing.assert_array_equal(whole[1:], rest[1:])


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_bases_become_orthogonal_to_rounding(kind: type) -> None:
    rng = np.random.default_rng(2)
    bases = np.linalg.qr(rng.standard_normal((5, 12, 12)))[0]
    bases = (bases + 1e-3 * rng.standard_normal(bases.shape)).astype(kind)
    found = orthonormal(bases)
    assert found.dtype == kind
    missing = found.swapaxes(1, 2) @ found - np.eye(12)
    assert np.abs(missing).max() < 20 * np.finfo(kind).eps
    assert np.abs(found - bases).max() < 0.02
