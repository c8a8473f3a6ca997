"""Harmonics of degree three and more above dimension 3: features, rules, and deficits."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from oracles_polynomials import deficit_by_monomials, monomials, polar_rule
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.fisher_bingham.polynomials import polynomial_means
from steradian.spaces import Hypersphere


def skewed(d: int, n: int, seed: int) -> Array:
    """Rows with a mean, unequal axes and a skewness that two levels do not hold."""
    z = np.random.default_rng(seed).standard_normal((n, d))
    z[:, 0] += 0.3 * z[:, 1] ** 2
    z[:, -1] += 0.5
    return z / np.linalg.norm(z, axis=1, keepdims=True)


@pytest.mark.parametrize(("d", "degree"), [(4, 5), (5, 4), (6, 3)])
def test_features_are_orthonormal_harmonics(d: int, degree: int) -> None:
    """Under another rule; each is a polynomial of its degree, and harmonic: Δf = 0 in space."""
    hierarchy = sr.Harmonics(d, degree)
    points, weights = polar_rule(d, degree + 1)
    phi = hierarchy.features(points)
    gram = phi.T @ (weights[:, None] * phi)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-12)
    np.testing.assert_allclose(weights @ phi, 0.0, atol=1e-12)
    x, h = 0.7 * np.random.default_rng(0).standard_normal((5, d)), 1e-3
    laplace = -2.0 * d * hierarchy.features(x)
    for axis in np.eye(d):
        laplace += hierarchy.features(x + h * axis) + hierarchy.features(x - h * axis)
    scale = np.abs(hierarchy.features(x)).max()
    assert np.abs(laplace).max() / h**2 < 1e-3 * max(1.0, scale)
    scaled = hierarchy.features(2.0 * x) / hierarchy.features(x)
    power = np.repeat(2.0 ** np.arange(1, degree + 1), hierarchy.dims)
    np.testing.assert_allclose(scaled, np.broadcast_to(power, scaled.shape), rtol=1e-9)


def test_the_first_two_levels_are_those_of_two() -> None:
    x = skewed(5, 300, 0)
    np.testing.assert_array_equal(
        sr.Harmonics(5, 3).features(x)[:, :19], sr.Harmonics(5, 2).features(x)
    )
    both = [sr.profile(x, hierarchy=sr.Harmonics(5, levels)) for levels in (2, 3)]
    np.testing.assert_array_equal(both[0].gaps, both[1].gaps[:2])


@pytest.mark.parametrize("rung", [0, 2, 5])
@pytest.mark.parametrize(("d", "nodes"), [(4, (12, 24, 48)), (5, (12, 20, 32))])
def test_rules_are_exact_below_their_degree(d: int, nodes: tuple[int, ...], rung: int) -> None:
    """Means of monomials x^k of even powers: Π (k_i - 1)!! over d (d + 2) … (d + |k| - 2)."""
    rule = Hypersphere(d).rule(rung)
    degree = dict(zip((0, 2, 5), nodes, strict=True))[rung] - 2
    for first in (0, degree // 2 // 2 * 2, degree):
        powers = np.zeros(d, dtype=int)
        powers[0], powers[-1] = first, degree - first
        odd = [np.prod(np.arange(k - 1, 0, -2, dtype=float)) for k in powers]
        exact = np.prod(odd) / np.prod(np.arange(d, d + degree - 1, 2, dtype=float))
        found = float(rule.weights @ np.prod(rule.points**powers, axis=1))
        assert found == pytest.approx(exact, rel=1e-11)


@pytest.mark.parametrize(("d", "degree"), [(4, 3), (4, 5), (5, 4)])
def test_means_of_polynomials_under_fisher_bingham_laws(d: int, degree: int) -> None:
    """By the contour against a rule with another basis of polynomials."""
    rng = np.random.default_rng(d)
    form = rng.standard_normal((d, d))
    law = FisherBinghamLaw.of(2.0 * rng.standard_normal(d), form + form.T)
    points, weights = polar_rule(d, 24 if d == 4 else 20)
    mass = weights * np.exp(law.logpdf(points))

    def raised(x: Array) -> Array:
        return monomials(x, degree)

    assert mass.sum() == pytest.approx(1.0, abs=1e-9)
    np.testing.assert_allclose(
        polynomial_means(law, raised, degree), mass @ raised(points), atol=1e-9
    )


@pytest.mark.parametrize(("d", "levels", "nodes", "bound"), [
    (4, 3, 22, 1e-9),
    (5, 3, 12, 1e-4),
    pytest.param(4, 4, 40, 1e-9, marks=pytest.mark.slow),
    pytest.param(5, 3, 22, 1e-6, marks=pytest.mark.slow),
])  # fmt: skip
def test_deficits_against_another_rule_and_basis(
    d: int, levels: int, nodes: int, bound: float
) -> None:
    x = skewed(d, 800, d)
    found = sr.profile(x, hierarchy=sr.Harmonics(d, levels))
    assert abs(found.deficits[-1] - deficit_by_monomials(x, levels, nodes)) < bound
    assert found.numerics.quadrature[-1] < max(1e-9, 0.1 * bound)


def test_gaps_do_not_change_under_rotation() -> None:
    x = skewed(4, 500, 7)
    turned = x @ Hypersphere(4).symmetry(np.random.default_rng(1)).T
    h = sr.Harmonics(4, 3)
    np.testing.assert_allclose(
        sr.profile(turned, hierarchy=h).gaps, sr.profile(x, hierarchy=h).gaps, atol=1e-9
    )
