"""Axial and torus fits against independent normalisers, quadrature and doubled angles."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, optimize, special
from scipy.spatial.transform import Rotation

import steradian as sr
from steradian.data.stacks import MomentStack
from steradian.families.nodes.family import NodeFamily
from steradian.families.quadratics.bingham import BinghamFamily
from steradian.fitting.nested import NestedFits, fit_levels
from steradian.numerics.arrays import Array
from steradian.spaces.rotations import as_quaternions


def fits(hierarchy: Any, x: Array) -> NestedFits:
    w = np.full(len(x), 1.0 / len(x))
    return fit_levels(hierarchy, hierarchy.stack(x[None], w[None]), lambda _: (x, w))


def scaled_axes(n: int, scale: list[float], seed: int = 0) -> Array:
    x = np.random.default_rng(seed).standard_normal((n, len(scale))) * scale
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


# --- axes ---------------------------------------------------------------------------------


def bingham_psi(beta: Array) -> float:
    """log E exp(Σ β_i x_i²) on S²: a Bessel function over the azimuth, then quadrature in z."""
    mean, half = 0.5 * (beta[0] + beta[1]), 0.5 * (beta[0] - beta[1])

    def inner(z: float) -> float:
        ring = 1.0 - z * z
        return float(np.exp(ring * mean + beta[2] * z * z) * special.i0(half * ring))

    return float(np.log(integrate.quad(inner, 0.0, 1.0, epsabs=1e-14, epsrel=1e-13)[0]))


@pytest.mark.parametrize("scale", [[1.0, 1.3, 2.0], [1.0, 1.0, 0.3], [0.5, 1.0, 3.0]])
def test_level_1_on_the_sphere_is_bingham(scale: list[float]) -> None:
    x = scaled_axes(400, scale)
    values = np.linalg.eigvalsh(x.T @ x / len(x))

    def negative_dual(beta: Array) -> float:
        full = np.append(beta, 0.0)
        return bingham_psi(full) - float(full @ values)

    options = {"xatol": 1e-8, "fatol": 1e-14, "maxiter": 4000, "maxfev": 4000}
    best = optimize.minimize(negative_dual, np.zeros(2), method="Nelder-Mead", options=options)
    found = fits(sr.Axial(3, 1), x)
    assert found.deficits[0, 0] == pytest.approx(-best.fun, abs=1e-9)


def matrix_fisher_psi(singular: Array) -> float:
    """log E exp(tr FᵀR) for the signed singular values of F, over rotations.

    The density of a rotation about one column leaves two Bessel functions in one variable:
    ∫₋₁¹ ½ I₀(½(s₁-s₂)(1-u)) I₀(½(s₁+s₂)(1+u)) e^{s₃u} du (Khatri & Mardia 1977; Prentice 1986).
    """
    first, second, third = singular

    def inner(u: float) -> float:
        bessel = special.i0(0.5 * (first - second) * (1.0 - u))
        return float(
            0.5 * bessel * special.i0(0.5 * (first + second) * (1.0 + u)) * np.exp(third * u)
        )

    return float(np.log(integrate.quad(inner, -1.0, 1.0, epsabs=1e-14, epsrel=1e-13)[0]))


@pytest.mark.parametrize("singular", [[0.3, 0.2, 0.1], [5.0, 2.0, -1.0], [20.0, 8.0, 3.0]])
def test_level_1_on_rotations_is_matrix_fisher(singular: list[float]) -> None:
    """Both normalisers, and the deficit s·∂ψ/∂s - ψ of the law from its exact moments."""
    values = np.array(singular)
    # tr FᵀR of the quaternion (x, y, z, w) with F = diag(s): a diagonal quadratic form
    signs = np.array([[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, 1]])
    beta = signs @ values
    hierarchy = sr.Axial.on(sr.Rotations(), 1)
    family = BinghamFamily(hierarchy)
    turns = Rotation.random(20, random_state=3)
    quaternion = as_quaternions(turns)
    trace = np.einsum("i,nii->n", values, turns.as_matrix())
    np.testing.assert_allclose(quaternion**2 @ beta, trace, atol=1e-13)

    lam = family.features_of(np.zeros(4), np.diag(beta)) * 2.0 / (4.0 * 6.0)
    np.testing.assert_allclose(family.exponent(quaternion, lam), trace, atol=1e-12)
    psi, mean, _ = family.log_partition(lam[None])
    assert psi[0] == pytest.approx(matrix_fisher_psi(values), abs=1e-9)

    second = family.law(lam).covariance()
    stack = MomentStack(mean, np.zeros((1, 4)), second[None])
    found = fit_levels(hierarchy, stack)
    slopes = [_slope(values, k) for k in range(3)]
    expected = float(values @ slopes) - matrix_fisher_psi(values)
    assert found.deficits[0, 0] == pytest.approx(expected, abs=1e-9)
    assert found.deficits[0, 0] == pytest.approx(float(lam @ mean[0] - psi[0]), abs=1e-9)


def _slope(values: Array, k: int) -> float:
    """∂ψ/∂s_k by a symmetric difference of sixth order."""
    step = 1e-2
    unit = step * np.eye(3)[k]
    parts = [
        matrix_fisher_psi(values + j * unit) - matrix_fisher_psi(values - j * unit)
        for j in (1, 2, 3)
    ]
    return (45.0 * parts[0] - 9.0 * parts[1] + parts[2]) / (60.0 * step)


@pytest.mark.parametrize("levels", [1, 3])
def test_axes_of_the_plane_are_doubled_angles(levels: int) -> None:
    x = scaled_axes(300, [1.0, 2.0])
    doubled = np.stack([x[:, 0] ** 2 - x[:, 1] ** 2, 2.0 * x[:, 0] * x[:, 1]], axis=1)
    doubled /= np.linalg.norm(doubled, axis=1, keepdims=True)
    ours, theirs = fits(sr.Axial(2, levels), x), fits(sr.Harmonics(2, levels), doubled)
    np.testing.assert_allclose(ours.deficits, theirs.deficits, rtol=0, atol=1e-11)


@pytest.mark.parametrize(
    "hierarchy", [sr.Axial(2, 3), sr.Axial(3, 3), sr.Axial(4, 2), sr.Axial(9, 1)], ids=repr
)
def test_signs_change_nothing_to_the_last_digit(hierarchy: sr.Axial) -> None:
    x = scaled_axes(200, list(np.linspace(1.0, 2.0, hierarchy.d)))
    flipped = x * np.random.default_rng(1).choice([-1.0, 1.0], len(x))[:, None]
    np.testing.assert_array_equal(fits(hierarchy, x).deficits, fits(hierarchy, flipped).deficits)
    np.testing.assert_array_equal(hierarchy.sums(x, None), hierarchy.sums(flipped, None))


def test_nodes_agree_with_the_contour() -> None:
    for hierarchy in (sr.Axial(3, 2), sr.Axial.on(sr.Rotations(), 2)):
        lam = np.linspace(-0.6, 0.8, hierarchy.dims[0])[None]
        on_nodes = NodeFamily(hierarchy, 1).log_partition(lam)
        for ours, exact in zip(on_nodes, BinghamFamily(hierarchy).log_partition(lam), strict=True):
            np.testing.assert_allclose(ours, exact, rtol=0, atol=1e-11)


# --- torus --------------------------------------------------------------------------------


def bivariate(model: str, nodes: int = 400) -> tuple[Array, Array]:
    """Angles (N, 2) of a rule of its own and log-density there, up to a constant."""
    turn = (np.arange(nodes) + 0.37) * (2.0 * np.pi / nodes)
    a, b = (part.ravel() for part in np.meshgrid(turn, turn))
    first, second = a - 0.4, b + 1.1
    coupling = np.sin(first) * np.sin(second) if model == "sine" else -np.cos(first - second)
    return np.stack([a, b], axis=1), 2.0 * np.cos(first) + 1.5 * np.cos(second) + 1.2 * coupling


def marginal_deficit(density: Array) -> float:
    """Of the von Mises law with the mean of a density at equispaced angles."""
    turn = (np.arange(len(density)) + 0.37) * (2.0 * np.pi / len(density))
    length = abs(np.mean(density * np.exp(1j * turn)))
    kappa = optimize.brentq(
        lambda k: special.i1e(k) / special.i0e(k) - length, 1e-9, 100, xtol=1e-15
    )
    return float(kappa * length - np.log(special.i0e(kappa)) - kappa)


@pytest.mark.parametrize("model", ["sine", "cosine"])
def test_dependence_of_a_bivariate_von_mises_law(model: str) -> None:
    """Both models lie in level 2 of degree 1, so its deficit is the law's own divergence."""
    angles, exponent = bivariate(model)
    density = np.exp(exponent) / np.mean(np.exp(exponent))
    full = float(np.mean(density * np.log(density)))
    grid = density.reshape(400, 400)
    alone = marginal_deficit(grid.mean(axis=0)) + marginal_deficit(grid.mean(axis=1))
    hierarchy = sr.Interactions(2, 1)
    x = sr.Torus(2).points(angles)
    stack = hierarchy.stack(x[None], density[None] / len(density))
    found = fit_levels(hierarchy, stack)
    assert found.deficits[0] == pytest.approx([alone, full], abs=1e-9)
    by_degree = sr.TorusHarmonics(2, 2)
    again = fit_levels(by_degree, by_degree.stack(x[None], density[None] / len(density)))
    assert again.deficits[0] == pytest.approx([alone, full], abs=1e-9)


def test_independent_angles_have_a_second_gap_of_noise() -> None:
    n, samples = 400, 40
    rng = np.random.default_rng(5)
    hierarchy = sr.Interactions(2, 1)
    x = np.stack([sr.Torus(2).points(rng.vonmises(0.0, 2.0, (n, 2))) for _ in range(samples)])
    found = fit_levels(hierarchy, hierarchy.stack(x, np.full((samples, n), 1.0 / n)))
    statistic = 2.0 * n * found.gaps[:, 1].mean()  # mean of χ² with four degrees of freedom
    assert statistic == pytest.approx(4.0, abs=4.0 * np.sqrt(8.0 / samples))


# --- draws and boundaries -----------------------------------------------------------------


@pytest.mark.parametrize(
    "hierarchy",
    [
        sr.Axial(3, 2),
        sr.Axial.on(sr.Rotations(), 2),
        sr.Interactions(2, 1),
        sr.TorusHarmonics(2, 2),
    ],
    ids=repr,
)
def test_fit_sample_fit(hierarchy: Any) -> None:
    rng = np.random.default_rng(2)
    x = hierarchy.space.uniform(200, rng)
    x = x[hierarchy.features(x)[:, 0] > -0.5]
    found = fits(hierarchy, x)
    lam = found.solutions[-1].lam[0]
    level, n = hierarchy.levels, 20_000
    drawn = hierarchy.family(level).sample(lam, n, rng)
    assert drawn.shape == (n, hierarchy.space.d)
    assert hierarchy.space.refusal(drawn) == ""
    _, mean, covariance = hierarchy.family(level).log_partition(lam[None])
    away = (hierarchy.features(drawn).mean(axis=0) - mean[0]) * np.sqrt(n / np.diag(covariance[0]))
    assert np.abs(away).max() < 4.5
    again = fits(hierarchy, drawn)
    assert again.deficits[0, -1] == pytest.approx(found.deficits[0, -1], abs=0.1)


def test_sharp_laws_are_not_drawn_from_uniform_proposals() -> None:
    family = sr.Interactions(3, 1).family(1)
    with pytest.raises(sr.ResolutionError, match="too sharp to draw from"):
        family.sample(np.full(6, 60.0), 10, np.random.default_rng(0))


def test_boundaries_are_named() -> None:
    one = sr.Torus(2).points([[0.3, 1.0]])
    failure = fits(sr.Interactions(2, 1), one).failures[0]
    assert isinstance(failure.error(), sr.BoundaryError)
    assert "nowhere negative vanishes on all data, one point" in str(failure.error())
    turn = np.linspace(0.0, 6.0, 50)
    for level, second in ((1, np.full(50, 0.4)), (2, turn)):  # an angle at rest, two that agree
        x = sr.Torus(2).points(np.column_stack([turn, second]))
        failure = fits(sr.Interactions(2, 1), x).failures[0]
        assert failure.level == level
        assert isinstance(failure.error(), sr.BoundaryError)
    two = scaled_axes(2, [1.0, 1.0, 1.0])
    with pytest.raises(sr.BoundaryError, match="2 distinct rows span 2 of 3 dimensions"):
        raise fits(sr.Axial(3, 2), two).failures[0].error()


def test_white_features_are_white() -> None:
    hierarchy = sr.Interactions(2, 1)
    lam = np.array([[0.5, -0.3, 0.2, 0.7]])
    family = hierarchy.family(2)
    padded = np.append(lam[0], np.zeros(4))
    points, mass = family.rule(padded, 2)
    zeta = family.whitening(lam).rows(points[None])[0]
    np.testing.assert_allclose(mass @ zeta, 0.0, atol=1e-12)
    np.testing.assert_allclose((mass[:, None] * zeta).T @ zeta, np.eye(8), atol=1e-12)


def test_deficits_on_other_rules() -> None:
    hierarchy = sr.Interactions(2, 1)
    x = sr.Torus(2).points(np.random.default_rng(0).vonmises(0.0, 2.0, (200, 2)))
    solution = fits(hierarchy, x).solutions[1]
    family, m = hierarchy.family(2), hierarchy.features(x).mean(axis=0)
    for reach in (1.0, 1.5, 2.0):
        served = family.resolved_by(int(solution.rungs[0]))
        other = served.deficit_on(reach, m, solution.lam[0])
        assert other == pytest.approx(float(solution.deficit[0]), abs=1e-11)
    assert np.isnan(family.resolved_by(0).deficit_on(0.5, m, solution.lam[0]))
    assert np.isnan(family.deficit_on(1.0, m, solution.lam[0]))  # no rule is known to have served
