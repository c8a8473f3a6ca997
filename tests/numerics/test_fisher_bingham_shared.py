"""Fisher-Bingham laws of groups with one B: stacks of samples, and products along many directions.

The oracle of one sample is Newton's method on the arrow of all features (`fitting.grouped`), which
shares no code with the conjugate gradients in centred coordinates.
"""

from __future__ import annotations

import numpy as np
import pytest

from steradian.families.quadratics.fisher_bingham import FisherBinghamFamily
from steradian.fitting.grouped import SharedProblem
from steradian.hierarchies import Harmonics
from steradian.numerics.fisher_bingham.fit import fit_fisher_bingham
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.quadratics import features_to_matrix, matrix_to_features
from steradian.spaces import unit_sphere

SHARES = np.array([0.2, 0.5, 0.3])


def moments(d: int, samples: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Rows (S, G, n, d) of groups about means of their own, their means and covariances."""
    rng = np.random.default_rng(d)
    centres = rng.normal(size=(3, d))
    x = rng.normal(size=(samples, 3, 12 * d, d)) * np.linspace(1.0, 1.5, d)
    x += centres[:, None, :]
    x /= np.linalg.norm(x, axis=-1, keepdims=True)
    mean = x.mean(axis=2)
    away = x - mean[:, :, None, :]
    return x, mean, np.swapaxes(away, 2, 3) @ away / x.shape[2]


@pytest.mark.parametrize("d", [4, 7])
def test_deficits_of_many_samples_against_newton_on_all_features(d: int) -> None:
    x, mean, scatter = moments(d, 3)
    hierarchy = Harmonics(d, 2)
    family = FisherBinghamFamily(unit_sphere(d))
    features = np.array([[hierarchy.features(rows).mean(axis=0) for rows in one] for one in x])
    problem = SharedProblem(family, SHARES, d)
    exact = problem.solve(features, np.zeros_like(features))
    assert (exact.status == 0).all()
    fits = fit_fisher_bingham(mean, scatter, SHARES)
    assert fits.deficit == pytest.approx(exact.deficit, abs=1e-10)
    assert fits.psi - fits.beta.mean(axis=1)[:, None] == pytest.approx(exact.psi, abs=1e-8)
    roughly = problem.approached(features, exact.lam + 0.01)
    assert np.abs(roughly - exact.lam).max() < 1e-6
    reached = np.array([family.log_partition(lam)[1] for lam in roughly])
    assert problem.mismatch(features, reached).max() < 1e-6


@pytest.mark.parametrize("d", [10, 40])
def test_deficits_of_many_samples_are_those_of_each(d: int) -> None:
    _, mean, scatter = moments(d, 5)
    together = fit_fisher_bingham(mean, scatter, SHARES).deficit
    for row in range(5):
        one = fit_fisher_bingham(mean[row][None], scatter[row][None], SHARES)
        assert together[row] == pytest.approx(float(one.deficit[0]), abs=1e-12)


def test_products_along_many_directions_are_those_along_each() -> None:
    d = 6
    rng = np.random.default_rng(1)
    eta, quadratic = rng.normal(size=(9, d)), rng.normal(size=(9, d, d))
    quadratic += quadratic.swapaxes(1, 2)
    law = FisherBinghamLaw.of(2.0 * eta[0], 0.5 * quadratic[0])
    change, second = law.hessian_product(eta, quadratic)
    for k in range(9):
        one = law.hessian_product(eta[k], quadratic[k])
        np.testing.assert_allclose(change[k], one[0], atol=1e-13)
        np.testing.assert_allclose(second[k], one[1], atol=1e-13)


def test_matrices_of_stacks_of_parameters() -> None:
    lam = np.random.default_rng(2).normal(size=(4, 3, 14))
    matrices = features_to_matrix(lam, 5)
    assert matrices.shape == (4, 3, 5, 5)
    np.testing.assert_allclose(matrices[2, 1], features_to_matrix(lam[2, 1], 5), atol=1e-15)
    np.testing.assert_allclose(matrix_to_features(matrices), lam, atol=1e-13)
