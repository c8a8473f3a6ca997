"""Linear and quadratic features as η and B: ``lam · φ(x) = η·x + xᵀBx`` with B of trace zero.

The degree-two harmonics are ``φ_k(x) = xᵀM_k x`` with traceless symmetric M_k. Orthonormality
makes the map to parameters explicit: ``B = Σ lam_k M_k`` and
``lam_k = 2 tr(M_k B) / (d (d + 2))``. Above dimension 3 the M_k are never formed: the diagonal
ones are Helmert contrasts and the others single entries (`numerics.quadratics`).
"""

from __future__ import annotations

from functools import cache

import numpy as np
from scipy.linalg import lapack

from steradian.numerics.arrays import Array
from steradian.numerics.linalg import inverses
from steradian.numerics.quadratics import features_to_matrix, matrix_to_features
from steradian.spaces import HarmonicSpace, unit_sphere


def _linear(space: HarmonicSpace) -> Array:
    """φ of degree one is ``x @ linear``; linear linearᵀ = d I."""
    return linear_features(space.d)


def _forms(space: HarmonicSpace) -> Array:
    """The matrices M_k, (k, d, d), of a space of low dimension."""
    return _forms_in(space.d)


@cache
def linear_features(d: int) -> Array:
    """φ of degree one is ``x @`` this, (d, d)."""
    return np.asarray(unit_sphere(d).harmonics(np.eye(d), 1)[:, 1:])


@cache
def linear_axes(d: int) -> tuple[int, ...]:
    """Which coordinate each linear feature is."""
    return tuple(int(k) for k in np.argmax(linear_features(d), axis=0))


@cache
def _gaussian_map(d: int) -> Array:
    """From S⁻¹m and S⁻¹, one row (S⁻¹m, S⁻¹)_i after the other, to all parameters."""
    forms = _forms_in(d)
    out = np.zeros((d, d + 1, d + len(forms)))
    out[:, 0, :d] = linear_features(d) / d
    out[:, 1:, d:] = np.moveaxis(forms, 0, -1) / -(d * (d + 2.0))
    return out.reshape(d * (d + 1), -1)


@cache
def _beside_identity(d: int) -> Array:
    """(0, 1), (d, d + 1)."""
    return np.eye(d, d + 1, 1)


@cache
def _forms_in(d: int) -> Array:
    space = unit_sphere(d)
    pairs = (np.eye(d)[:, None, :] + np.eye(d)[None, :, :]).reshape(-1, d)
    unit = pairs / np.linalg.norm(pairs, axis=1, keepdims=True)
    values = space.harmonics(unit, 2)[:, 1 + d :].T.reshape(-1, d, d)
    diagonal = np.einsum("kii->ki", values)
    mixed = values - 0.5 * (diagonal[:, :, None] + diagonal[:, None, :])
    forms = mixed.copy()
    index = np.arange(d)
    forms[:, index, index] = diagonal
    return forms


def natural_parameters(space: HarmonicSpace, lam: Array) -> tuple[Array, Array]:
    """(η, B) of the parameters ``lam`` (…, q) of level-1 or level-2 laws."""
    d = space.d
    eta = lam[..., :d] @ _linear(space).T
    if lam.shape[-1] == d:
        return eta, np.zeros((*lam.shape[:-1], d, d))
    if d <= 3:
        return eta, np.tensordot(lam[..., d:], _forms(space), axes=1)
    return eta, features_to_matrix(lam[..., d:], d)


def feature_parameters(space: HarmonicSpace, eta: Array, quadratic: Array) -> Array:
    """The inverse of `natural_parameters` at level 2; ``quadratic`` is symmetric. Stacks too."""
    d = space.d
    linear = eta @ _linear(space) / d
    if d <= 3:
        forms = np.tensordot(quadratic, _forms(space), axes=((-2, -1), (1, 2)))
        forms *= 2.0 / (d * (d + 2.0))
    else:
        forms = matrix_to_features(quadratic)
    return np.concatenate([linear, forms], axis=-1)


def gaussian_parameters(space: HarmonicSpace, mean: Array, scatter: Array) -> Array:
    """Parameters of exp{-½ (x - m)ᵀ S⁻¹ (x - m)} for stacks m (B, d), S (B, d, d); d <= 3."""
    d = space.d
    if len(mean) == 1:  # S⁻¹ (m, 1) by one call
        right = _beside_identity(d).copy()
        right[:, 0] = mean[0]
        _, both, failed = lapack.dposv(scatter[0], right)
        if not failed:
            return both.reshape(1, -1).dot(_gaussian_map(d))
    precision = inverses(scatter)
    both = np.concatenate([precision @ mean[:, :, None], precision], axis=2)  # S⁻¹m beside S⁻¹
    return np.asarray(both.reshape(len(mean), -1) @ _gaussian_map(d))


def feature_moments(space: HarmonicSpace, mean: Array, second: Array) -> Array:
    """E φ (…, q) of levels 1 and 2 from E x (…, d) and E xxᵀ (…, d, d)."""
    d = space.d
    linear = mean @ _linear(space)
    if d <= 3:
        squares = np.tensordot(second, _forms(space), axes=((-2, -1), (1, 2)))
        return np.concatenate([linear, squares], axis=-1)
    squares = 0.5 * d * (d + 2.0) * matrix_to_features(second)
    return np.concatenate([linear, squares], axis=-1)


def coordinates(d: int, features: Array) -> Array:
    """x, or E x, from φ of degree 1 on, (…, >= d): linear features are coordinates, scaled."""
    return np.asarray(features[..., :d] @ (_linear(unit_sphere(d)).T / d))


def low_moments(d: int, features: Array) -> tuple[Array, Array]:
    """E x and E xxᵀ on the circle or the two-sphere from E φ of degree 1 and 2, (…, >= q)."""
    space = unit_sphere(d)
    count = space.size(2) - 1
    mean = coordinates(d, features)
    # φ_k = xᵀM_k x with orthonormal φ: the traceless part of E xxᵀ is Σ E φ_k · 2 M_k / (d (d + 2))
    forms = 2.0 * _forms(space) / (d * (d + 2.0))
    second = np.tensordot(features[..., d:count], forms, axes=1) + np.eye(d) / d
    return np.asarray(mean), np.asarray(second)
