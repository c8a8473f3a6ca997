"""Orthonormal traceless quadratics in any dimension, without forming their matrices.

Against the uniform law on the unit sphere of R^d, ``E x_i² x_j² = 1/(d(d+2))`` for i ≠ j, so
``√(d(d+2)) x_i x_j`` (i < j, row by row) and ``√(d(d+2)/2) Σ c_i x_i²`` with orthonormal
contrasts c (Helmert) are orthonormal. Order: the d - 1 contrasts, then the pairs.
"""

from __future__ import annotations

import numpy as np

from steradian.numerics.arrays import AnyArray, Array


def quadratic_size(d: int) -> int:
    """Number of traceless quadratics, d(d+1)/2 - 1."""
    return d * (d + 1) // 2 - 1


def quadratic_features(x: AnyArray) -> AnyArray:
    """Their values at ``x`` (n, d): (n, d(d+1)/2 - 1)."""
    d = x.shape[1]
    upper = np.triu_indices(d, 1)
    norm = np.sqrt(np.asarray(d * (d + 2), dtype=x.dtype))
    contrasts = norm / np.sqrt(np.asarray(2, dtype=x.dtype)) * _contrast(x * x)
    return np.hstack([contrasts, norm * x[:, upper[0]] * x[:, upper[1]]])


def matrix_to_features(matrix: Array) -> Array:
    """Parameters lam with ``Σ lam_k φ_k(x) = xᵀ matrix x`` up to its trace."""
    d = len(matrix)
    norm = np.sqrt(d * (d + 2.0))
    upper = np.triu_indices(d, 1)
    contrasts = np.sqrt(2.0) / norm * _contrast(np.diagonal(matrix)[None])[0]
    return np.concatenate([contrasts, 2.0 / norm * matrix[upper]])


def features_to_matrix(lam: Array, d: int) -> Array:
    """The traceless symmetric matrix of parameters ``lam``."""
    norm = np.sqrt(d * (d + 2.0))
    matrix = np.zeros((d, d))
    matrix[np.triu_indices(d, 1)] = 0.5 * norm * lam[d - 1 :]
    matrix += matrix.T
    matrix[np.diag_indices(d)] = norm / np.sqrt(2.0) * _uncontrast(lam[None, : d - 1])[0]
    return matrix


def _contrast(values: AnyArray) -> AnyArray:
    """Helmert contrasts of the rows: (Σ_{i<=k} v_i - k v_{k+1}) / √(k(k+1)), k = 1..d-1."""
    k = np.arange(1, values.shape[1], dtype=values.dtype)
    return (np.cumsum(values, axis=1)[:, :-1] - k * values[:, 1:]) / np.sqrt(k * (k + 1))


def _uncontrast(contrasts: AnyArray) -> AnyArray:
    """The rows of sum zero with these contrasts (the transpose of `_contrast`)."""
    k = np.arange(1, contrasts.shape[1] + 1, dtype=contrasts.dtype)
    scaled = contrasts / np.sqrt(k * (k + 1))
    values = np.zeros((len(contrasts), contrasts.shape[1] + 1), dtype=contrasts.dtype)
    values[:, :-1] = np.cumsum(scaled[:, ::-1], axis=1)[:, ::-1]
    values[:, 1:] -= k * scaled
    return values
