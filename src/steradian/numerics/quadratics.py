"""Orthonormal traceless quadratics in any dimension, without forming their matrices.

Against the uniform law on the unit sphere of R^d, ``E x_i² x_j² = 1/(d(d+2))`` for i ≠ j, so
``√(d(d+2)) x_i x_j`` (i < j, row by row) and ``√(d(d+2)/2) Σ c_i x_i²`` with orthonormal
contrasts c (Helmert) are orthonormal. Order: the d - 1 contrasts, then the pairs: all of them, or
those that are named.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.linalg import on_diagonal

Pairs = tuple[IntArray, IntArray]
"""Coordinates i and j of products x_i x_j."""


def quadratic_size(d: int) -> int:
    """Number of traceless quadratics, d(d+1)/2 - 1."""
    return d * (d + 1) // 2 - 1


@cache
def all_pairs(d: int) -> Pairs:
    """Every pair i < j, row by row."""
    first, second = np.triu_indices(d, 1)
    first.flags.writeable = second.flags.writeable = False
    return first, second


def quadratic_features(x: AnyArray, pairs: Pairs | None = None) -> AnyArray:
    """Their values at ``x`` (n, d): (n, d(d+1)/2 - 1), or as many as there are pairs."""
    d = x.shape[1]
    upper = all_pairs(d) if pairs is None else pairs
    norm = np.sqrt(np.asarray(d * (d + 2), dtype=x.dtype))
    squares = norm / np.sqrt(np.asarray(2, dtype=x.dtype)) * contrasts(x * x)
    return np.hstack([squares, norm * x[:, upper[0]] * x[:, upper[1]]])


def matrix_to_features(matrix: Array, pairs: Pairs | None = None) -> Array:
    """Parameters lam (…, q) with ``Σ lam_k φ_k(x) = xᵀ matrix x`` up to the trace, of (…, d, d)."""
    d = matrix.shape[-1]
    norm = np.sqrt(d * (d + 2.0))
    upper = all_pairs(d) if pairs is None else pairs
    diagonals = np.diagonal(matrix, axis1=-2, axis2=-1)
    squares = np.sqrt(2.0) / norm * contrasts(diagonals.reshape(-1, d))
    squares = squares.reshape(*matrix.shape[:-2], d - 1)
    return np.concatenate([squares, 2.0 / norm * matrix[..., upper[0], upper[1]]], axis=-1)


def features_to_matrix(lam: Array, d: int, pairs: Pairs | None = None) -> Array:
    """The traceless symmetric matrices (…, d, d) of parameters ``lam`` (…, q)."""
    norm = np.sqrt(d * (d + 2.0))
    upper = all_pairs(d) if pairs is None else pairs
    matrix = np.zeros((*lam.shape[:-1], d, d))
    matrix[..., upper[0], upper[1]] = 0.5 * norm * lam[..., d - 1 :]
    matrix += matrix.swapaxes(-1, -2)
    diagonals = _uncontrast(lam[..., : d - 1].reshape(-1, d - 1))
    on_diagonal(matrix)[...] = norm / np.sqrt(2.0) * diagonals.reshape(*lam.shape[:-1], d)
    return matrix


def contrasts(values: AnyArray) -> AnyArray:
    """Helmert contrasts of the rows: (Σ_{i<=k} v_i - k v_{k+1}) / √(k(k+1)), k = 1..d-1."""
    k = np.arange(1, values.shape[1], dtype=values.dtype)
    return (np.cumsum(values, axis=1)[:, :-1] - k * values[:, 1:]) / np.sqrt(k * (k + 1))


def _uncontrast(found: AnyArray) -> AnyArray:
    """The rows of sum zero with these contrasts (the transpose of `contrasts`)."""
    k = np.arange(1, found.shape[1] + 1, dtype=found.dtype)
    scaled = found / np.sqrt(k * (k + 1))
    values = np.zeros((len(found), found.shape[1] + 1), dtype=found.dtype)
    values[:, :-1] = np.cumsum(scaled[:, ::-1], axis=1)[:, ::-1]
    values[:, 1:] -= k * scaled
    return values
