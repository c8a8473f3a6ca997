"""Features of M × {z} are white under the smaller space, whatever functions of z span it."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.inference.basis_whitening import BasisStep, BasisWhitening, basis_whitening
from steradian.numerics.arrays import Array, IntArray

CIRCLE = sr.Harmonics(2, 2)
SHARES = np.array([0.1, 0.4, 0.2, 0.3])  # of four values of z
Z = np.array([-1.0, 0.0, 0.5, 2.0])


def basis(degree: int) -> Array:
    """Powers of z, of mean zero."""
    powers = Z[:, None] ** np.arange(1, degree + 1)
    return np.asarray(powers - SHARES @ powers)


def laws(own: int) -> Array:
    """Parameters (1, N, q), of which the first ``own`` follow z."""
    rng = np.random.default_rng(own)
    lam = np.broadcast_to(0.3 * rng.normal(size=4), (len(Z), 4)).copy()
    lam[:, :own] += 0.4 * rng.normal(size=(len(Z), own))
    return lam[None]


def white_features(step: BasisStep, lam: Array) -> tuple[BasisWhitening, Array, Array, IntArray]:
    """ζ of rows at all nodes of a rule and all values of z, their masses, and which value."""
    family = CIRCLE.family(2)
    angle = 2.0 * np.pi * np.arange(256) / 256
    phi = CIRCLE.features(np.column_stack([np.cos(angle), np.sin(angle)]))
    psi, mean, _ = family.log_partition(lam[0])
    white = basis_whitening(family, step, lam, mean[None])
    z = np.repeat(np.arange(len(Z)), len(phi))
    mass = SHARES[z] * np.exp(np.einsum("nq,nq->n", np.tile(phi, (len(Z), 1)), lam[0, z]) - psi[z])
    return white, white.rows(np.tile(phi, (len(Z), 1))[None], z)[0], mass / 256, z


@pytest.mark.parametrize("degree", [1, 2, 3])
@pytest.mark.parametrize("own", [0, 2])
def test_features_of_a_covariate_are_white(own: int, degree: int) -> None:
    step = BasisStep(own, 2, SHARES, basis(degree))
    white, zeta, mass, _ = white_features(step, laws(own))
    assert white.below == degree + 4 + degree * own
    assert white.added == 2 * degree
    np.testing.assert_allclose(mass @ zeta, 0.0, atol=1e-12)
    np.testing.assert_allclose(zeta.T @ (mass[:, None] * zeta), np.eye(zeta.shape[1]), atol=1e-11)


@pytest.mark.parametrize("own", [0, 2])
def test_any_basis_of_a_space_has_the_same_scores(own: int) -> None:
    """Four labels, and all polynomials of degree 3 at four values, are one space."""
    tilt = np.exp(0.2 * np.random.default_rng(3).normal(size=256 * len(Z)))
    lengths = []
    for step in (BasisStep.labels(own, 2, SHARES), BasisStep(own, 2, SHARES, basis(3))):
        _, zeta, mass, _ = white_features(step, laws(own))
        lengths.append(float(np.square((mass * tilt) @ zeta[:, -6:]).sum()))
    assert lengths[0] > 1e-4
    assert lengths[1] == pytest.approx(lengths[0], rel=1e-9)


def test_means_at_values_of_z_are_what_maps_say() -> None:
    step = BasisStep(2, 2, SHARES, basis(2))
    white, zeta, mass, z = white_features(step, laws(2))
    weights = mass * (1.0 + 0.3 * np.cos(np.arange(len(mass))))
    weights *= (SHARES / np.bincount(z, weights))[z]
    angle = 2.0 * np.pi * np.arange(256) / 256
    phi = np.tile(CIRCLE.features(np.column_stack([np.cos(angle), np.sin(angle)])), (len(Z), 1))
    away = [weights[z == k] @ phi[z == k] / SHARES[k] - white.mean[0, k] for k in range(len(Z))]
    maps = white.mean_maps(4)
    np.testing.assert_allclose(
        weights @ zeta, np.einsum("npq,nq->p", maps, np.array(away)), atol=1e-12
    )
