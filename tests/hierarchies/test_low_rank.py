"""A few coordinates of unit vectors: Fisher-Bingham, brute force, existence, draws."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product

import numpy as np
import pytest

import steradian as sr
from steradian.conformance import check_hierarchy
from steradian.hierarchies import hierarchy_from_dict
from steradian.hierarchies.low_rank import LowRank
from steradian.numerics.arrays import Array
from steradian.numerics.heights.bessel import von_mises_fisher


def basis(d: int, k: int, seed: int = 0) -> Array:
    return np.linalg.qr(np.random.default_rng(seed).normal(size=(d, k)))[0]


def quadratic_law(u: Array, size: float, seed: int = 1) -> sr.FisherBingham:
    """A Fisher-Bingham law of the coordinates along the columns ``u`` alone."""
    rng, k = np.random.default_rng(seed), u.shape[1]
    form = rng.normal(size=(k, k))
    return sr.FisherBingham(u @ (size * rng.normal(size=k)), u @ (size * (form + form.T) / 2) @ u.T)


def rows(d: int, k: int, size: float, n: int, seed: int = 2) -> Array:
    """Draws of such a law, the last third of them mirrored: no level is enough for them."""
    x = quadratic_law(basis(d, k), size).sample(n, seed)
    x[: n // 3] -= 2.0 * np.outer(x[: n // 3] @ basis(d, k)[:, 0], basis(d, k)[:, 0])
    return x


def monomials(y: Array, level: int) -> Array:
    powers = [n for n in product(range(level + 1), repeat=y.shape[1]) if 1 <= sum(n) <= level]
    return np.stack([np.prod(y ** np.array(n), axis=1) for n in powers], axis=1)


def population(hierarchy: LowRank, law: sr.FisherBingham) -> Array:
    """E φ of a law from its mean and covariance: features of level 2 are quadratics of y."""
    u = np.array(hierarchy.basis)
    mean = u.T @ law.mean()
    second = u.T @ law.covariance() @ u + np.outer(mean, mean)

    def at(y: Array) -> Array:
        rest = np.sqrt(np.maximum(1.0 - y @ y, 0.0))
        return hierarchy.features((u @ y + rest * across(u))[None])[0]

    eye = np.eye(len(mean))
    constant, half = at(0.0 * mean), np.sqrt(0.5)
    odd = np.array([at(e) - at(-e) for e in eye]) / 2.0
    even = np.array([at(e) + at(-e) for e in eye]) / 2.0 - constant
    out = constant + mean @ odd + np.diag(second) @ even
    for i, j in product(range(len(mean)), repeat=2):
        if i < j:  # of half the sum of both squares and twice their product
            mixed = at(half * (eye[i] + eye[j])) - at(half * (eye[i] - eye[j]))
            out = out + second[i, j] * (mixed - np.sqrt(2.0) * odd[j])
    return np.asarray(out)


def across(u: Array) -> Array:
    return np.linalg.svd(u, full_matrices=True)[0][:, -1]


# --- against other ways to the same number ----------------------------------------------------


@pytest.mark.parametrize("size", [1.0, 30.0, 1e3, 1e4, 1e5])
@pytest.mark.parametrize(("d", "k"), [(5, 1), (5, 2), (5, 3), (64, 2), (64, 3), (384, 1), (384, 3)])
def test_level_two_is_fisher_bingham(d: int, k: int, size: float) -> None:
    """Rounding of the moments moves the deficit by λ times it, and the density by far more.

    With S the covariance of y and δ a rounding of E yyᵀ the log-density moves by about
    wᵀ(S^{-1/2} δ S^{-1/2})w, w = S^{-1/2}(y - m), so by |w|² δ over the least eigenvalue of S. At
    the edge of the ball, where the length of y hardly varies, that is the square of the size.
    """
    u = basis(d, k)
    hierarchy, law = sr.LowRank(u, 2), quadratic_law(u, size)
    found = sr.profile(sr.Moments.from_expectations(hierarchy, population(hierarchy, law)))
    assert abs(found.deficits[1] - law.deficit) < 1e-10 + 64.0 * np.finfo(float).eps * size
    x = law.sample(20, 0)
    least = np.linalg.eigvalsh(u.T @ law.covariance() @ u)[0]
    slack = 1e-9 + 128.0 * np.finfo(float).eps / least
    np.testing.assert_allclose(found.fits[2].logpdf(x), law.logpdf(x), rtol=0.0, atol=slack)


@pytest.mark.parametrize(("d", "k"), [(5, 1), (5, 2), (5, 3), (64, 1), (64, 3), (384, 2)])
def test_two_modes(d: int, k: int) -> None:
    """exp(η·y + κ y₁² - κ y₂² …): both ends of one axis, or two places off it."""
    for kappa, lean in product((1.0, 60.0, 3000.0, 1e5), (0.0, 0.7)):
        u, form = basis(d, k), np.diag([kappa] + [-0.5 * kappa] * (k - 1))
        eta = np.append(np.zeros(k - 1), lean * kappa if k > 1 else 1e-3 * lean)
        law, hierarchy = sr.FisherBingham(u @ eta, u @ form @ u.T), sr.LowRank(u, 2)
        found = sr.profile(sr.Moments.from_expectations(hierarchy, population(hierarchy, law)))
        assert abs(found.deficits[1] - law.deficit) < 1e-10 + 64.0 * np.finfo(float).eps * kappa


def test_two_narrow_groups_of_rows() -> None:
    """Far apart in three coordinates of 64: density, draws and tests."""
    u, rng = basis(64, 3), np.random.default_rng(4)
    centres = np.where(rng.random(400)[:, None] < 0.4, [[0.9, 0.2, 0.0]], [[-0.5, 0.7, 0.1]])
    y = centres + 0.02 * rng.normal(size=(400, 3))
    rest = rng.normal(size=(400, 64))
    rest -= rest @ u @ u.T
    rest *= np.sqrt((1.0 - (y * y).sum(axis=1)) / (rest * rest).sum(axis=1))[:, None]
    p = sr.profile(y @ u.T + rest, hierarchy=sr.LowRank(u, 2))
    fit = p.fits[2]
    drawn = fit.sample(4000, 1)
    phi = fit.hierarchy.features(drawn)
    apart = (phi.mean(axis=0) - fit.moments) / (phi.std(axis=0) / np.sqrt(4000))
    assert (np.abs(apart) < 5.0).all()
    value = fit.logpdf(drawn)
    assert abs(value.mean() - fit.deficit) < 5.0 * value.std() / np.sqrt(4000)
    assert p.tests().pvalue[1] < 1e-6


@pytest.mark.parametrize(("d", "k", "size"), [(3, 2, 10.0), (6, 2, 40.0), (5, 3, 4.0)])
def test_means_of_higher_polynomials_under_level_two(d: int, k: int, size: float) -> None:
    """Exact on the contour, and by brute force on the ball."""
    u, wide = basis(d, k), sr.LowRank(basis(d, k), 6)
    lam = sr.profile(rows(d, k, size, 200), hierarchy=wide.up_to(2)).fits[2].lam
    points, weights = ball_rule(d, k, 160 if k == 2 else 36)
    across_it = np.sqrt(1.0 - (points * points).sum(axis=1))[:, None] * across(u)
    phi = wide.features(points @ u.T + across_it)
    mass = weights * np.exp(phi[:, : len(lam)] @ lam)
    psi, mass = np.log(mass.sum()), mass / mass.sum()
    np.testing.assert_allclose(wide.family(2).expectations(lam[None], wide)[0], mass @ phi,
                               rtol=0.0, atol=1e-9)  # fmt: skip
    ours, mean, covariance = (part[0] for part in wide.family(2).log_partition(lam[None]))
    some = phi[:, : len(lam)]
    assert abs(ours - psi) < 1e-10
    np.testing.assert_allclose(mean, mass @ some, rtol=0.0, atol=1e-9)
    wanted = (some - mean).T @ (mass[:, None] * (some - mean))
    np.testing.assert_allclose(covariance, wanted, rtol=0.0, atol=1e-8)


def test_a_cluster_too_sharp_for_level_three_is_refused_in_words() -> None:
    u = basis(3, 2)
    x = sr.FisherBingham(1e3 * u[:, 0], np.zeros((3, 3))).sample(200, 1)
    with pytest.raises(sr.ResolutionError, match=r"within 0\.03 of one point") as caught:
        sr.profile(x, hierarchy=sr.LowRank(u, 3))
    assert caught.value.level == 3


@pytest.mark.parametrize("d", [3, 64, 768])
def test_one_axis_is_zonal(d: int) -> None:
    x, axis = rows(d, 1, 2.0 * d, 120), basis(d, 1)[:, 0] + 0.1 * np.eye(d)[0]
    ours = sr.profile(x, hierarchy=sr.LowRank(axis[:, None], 4))
    theirs = sr.profile(x, hierarchy=sr.Zonal(axis, 4))
    np.testing.assert_allclose(ours.deficits, theirs.deficits, rtol=0.0, atol=1e-10)


@pytest.mark.parametrize("d", [3, 40, 4096])
def test_level_one_is_von_mises_fisher(d: int) -> None:
    exact = von_mises_fisher(d, 5.0 * np.sqrt(d))
    mean = float(exact.ratio) * np.array([0.6, 0.8]) * np.sqrt(d)
    found = sr.profile(sr.Moments.from_expectations(sr.LowRank(np.eye(d)[:, :2], 1), mean))
    assert abs(found.deficits[0] - float(exact.deficit)) < 1e-10
    drawn = found.fits[1].logpdf(np.eye(d)[:2])
    wanted = 5.0 * np.sqrt(d) * np.array([0.6, 0.8]) - float(exact.psi)
    np.testing.assert_allclose(drawn, wanted, rtol=0.0, atol=1e-8)


def ball_rule(d: int, k: int, count: int) -> tuple[Array, Array]:
    """Points of the ball and weights, by radius, height and azimuth: none of the package's rules.

    The radius is sin ρ, of density cos^{d-k-1} ρ sin^{k-1} ρ.
    """
    at, weight = np.polynomial.legendre.leggauss(count)
    rho = 0.25 * np.pi * (at + 1.0)
    radial = weight * np.cos(rho) ** (d - k - 1) * np.sin(rho) ** (k - 1)
    azimuth = 2.0 * np.pi * np.arange(2 * count) / (2 * count)
    circle = np.stack([np.cos(azimuth), np.sin(azimuth)], axis=1)
    if k == 2:
        around, share = circle, np.ones(2 * count)
    else:
        ring = np.sqrt(1.0 - at * at)[:, None, None] * circle
        height = np.broadcast_to(at[:, None, None], (count, 2 * count, 1))
        around = np.concatenate([ring, height], axis=2).reshape(-1, 3)
        share = np.repeat(weight, 2 * count)
    points = np.sin(rho)[:, None, None] * around
    weights = radial[:, None] * share
    return points.reshape(-1, k), weights.ravel() / weights.sum()


def brute_deficit(y: Array, points: Array, weights: Array, level: int) -> float:
    """max λ·E f - log ∫ exp(λ·f) over monomials f, standardised by the data, by Newton's method."""
    centre, scale = y.mean(axis=0), y.std(axis=0)
    seen = monomials((y - centre) / scale, level).mean(axis=0)
    f = monomials((points - centre) / scale, level) - seen
    lam, step = np.zeros(f.shape[1]), 1.0

    def value(at: Array) -> float:
        exponent = f @ at
        return float(exponent.max() + np.log(weights @ np.exp(exponent - exponent.max())))

    for _ in range(300):
        exponent = f @ lam
        mass = weights * np.exp(exponent - exponent.max())
        mass /= mass.sum()
        gradient = mass @ f
        hessian = (f - gradient).T @ (mass[:, None] * (f - gradient))
        move = np.linalg.lstsq(hessian, gradient, rcond=1e-14)[0]
        if gradient @ move < 1e-24:
            break
        step = 1.0
        while value(lam - step * move) > value(lam) - 1e-4 * step * (gradient @ move) + 1e-15:
            step *= 0.5
            if step < 1e-8:
                return -value(lam)
        lam = lam - step * move
    return -value(lam)


@pytest.mark.parametrize(("d", "k", "size", "levels"), [
    (3, 2, 2.0, 4), (4, 2, 6.0, 4), (4, 3, 2.0, 2),
    pytest.param(3, 2, 20.0, 4, marks=pytest.mark.slow),
    pytest.param(4, 3, 2.0, 3, marks=pytest.mark.slow),
    pytest.param(4, 3, 4.0, 4, marks=pytest.mark.slow),
    pytest.param(12, 2, 20.0, 4, marks=pytest.mark.slow),
])  # fmt: skip
def test_against_brute_force(d: int, k: int, size: float, levels: int) -> None:
    x, u = rows(d, k, size, 150), basis(d, k)
    found = sr.profile(x, hierarchy=sr.LowRank(u, levels)).deficits
    points, weights = ball_rule(d, k, 160 if k == 2 else 44)
    for level in range(2, levels + 1):
        assert abs(found[level - 1] - brute_deficit(x @ u, points, weights, level)) < 1e-9


def test_in_space_two_coordinates_are_not_all() -> None:
    """The sign of what lies across is not seen, so that harmonics hold more."""
    x = rows(3, 2, 3.0, 200)
    ours, full = sr.profile(x, hierarchy=sr.LowRank(basis(3, 2), 3)), sr.profile(x, levels=3)
    assert (ours.deficits < full.deficits + 1e-10).all()
    wide = sr.profile(rows(40, 2, 30.0, 400), levels=2).deficits
    assert (sr.profile(rows(40, 2, 30.0, 400), hierarchy=sr.LowRank(basis(40, 2), 2)).deficits
            < wide).all()  # fmt: skip


# --- symmetries -------------------------------------------------------------------------------


@pytest.mark.parametrize(("d", "k"), [pytest.param(3, 2, marks=pytest.mark.slow), (50, 2)])
def test_the_basis_of_a_span_does_not_matter(d: int, k: int) -> None:
    x, u = rows(d, k, 5.0 * np.sqrt(d), 150), basis(d, k)
    mixed = u @ np.array([[1.0, 3.0], [-2.0, 1.0]])
    base = sr.profile(x, hierarchy=sr.LowRank(u, 4)).deficits
    np.testing.assert_allclose(sr.profile(x, hierarchy=sr.LowRank(mixed, 4)).deficits, base,
                               rtol=0.0, atol=1e-9)  # fmt: skip
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(d, d)))[0]
    both = sr.profile(x @ turn.T, hierarchy=sr.LowRank(turn @ u, 4)).deficits
    np.testing.assert_allclose(both, base, rtol=0.0, atol=1e-9)
    moved = sr.profile(x @ turn.T, hierarchy=sr.LowRank(u, 1)).deficits
    assert abs(moved[0] - base[0]) > 1e-3


@pytest.mark.parametrize(("d", "k", "levels"), [(3, 2, 6), (4, 3, 3), (300, 2, 4), (4096, 3, 2)])
def test_features_are_orthonormal(d: int, k: int, levels: int) -> None:
    hierarchy = sr.LowRank(np.eye(d)[:, :k], levels)
    nodes = hierarchy.nodes(3)
    phi = np.column_stack([np.ones(len(nodes)), nodes.phi])
    gram = phi.T @ (nodes.weights[:, None] * phi)
    np.testing.assert_allclose(gram, np.eye(phi.shape[1]), rtol=0.0, atol=1e-10)


# --- draws, stacks, moments -------------------------------------------------------------------


@pytest.mark.parametrize(("d", "k", "size"), [
    (2, 1, 3.0), (3, 2, 10.0), (12, 2, 40.0), (6, 3, 8.0),
    pytest.param(500, 2, 800.0, marks=pytest.mark.slow),
])  # fmt: skip
def test_draws_have_the_moments_they_were_fitted_to(d: int, k: int, size: float) -> None:
    hierarchy = sr.LowRank(basis(d, k), 3 if k < 3 else 2)
    fit = sr.profile(rows(d, k, size, 400), hierarchy=hierarchy).fits[-1]
    n = 8000
    drawn = fit.sample(n, 4)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=1), 1.0, rtol=0.0, atol=1e-12)
    phi = fit.hierarchy.features(drawn)[:, : len(fit.lam)]
    apart = (phi.mean(axis=0) - fit.moments) / (phi.std(axis=0) / np.sqrt(n))
    assert (np.abs(apart) < 5.0).all()
    value = fit.logpdf(drawn)
    assert abs(value.mean() - fit.deficit) < 5.0 * value.std() / np.sqrt(n)
    rest = drawn @ across(basis(d, k))  # symmetric about the subspace
    assert abs(rest.mean()) < 5.0 * rest.std() / np.sqrt(n)


def test_moments_of_fits_are_those_of_their_draws() -> None:
    hierarchy = sr.LowRank(basis(6, 2), 2)
    fit = sr.profile(rows(6, 2, 6.0, 300), hierarchy=hierarchy).fits[2]
    law = hierarchy.moments_of(fit.lam[None], np.zeros((1, 6)))
    drawn = fit.sample(40_000, 1)
    np.testing.assert_allclose(law.scatter[0], np.cov(drawn.T), rtol=0.0, atol=0.01)
    np.testing.assert_allclose(law.features[0], hierarchy.features(drawn).mean(axis=0), atol=0.05)


def test_shrinkage_and_stacks() -> None:
    x, hierarchy = rows(30, 2, 40.0, 80), sr.LowRank(basis(30, 2), 3)
    weights = np.random.default_rng(0).gamma(1.0, size=(4, 80))
    weights[3, :40] = 0.0  # another law than the others
    stack = sr.profiles(x, weights=weights, hierarchy=hierarchy)
    for row in range(4):
        one = sr.profile(sr.Directions(x, weights[row]), hierarchy=hierarchy)
        np.testing.assert_allclose(stack.gaps[row], one.gaps, rtol=0.0, atol=1e-9)
    plain = sr.profile(x, hierarchy=hierarchy)
    below = sr.profile(x, hierarchy=hierarchy, shrinkage=sr.Shrinkage(0.2, "below"))
    assert abs(below.deficits[0] - plain.deficits[0]) < 1e-12
    assert below.gaps[1] < plain.gaps[1]


# --- existence ----------------------------------------------------------------------------------


def on_ball(*points: tuple[float, float]) -> Array:
    """Rows of R^4 of these first two coordinates, three of each."""
    y = np.repeat(np.array(points), 3, axis=0)
    angle = np.arange(float(len(y)))
    rest = np.sqrt(np.maximum(1.0 - (y * y).sum(axis=1), 0.0))
    return np.column_stack([y, rest * np.cos(angle), rest * np.sin(angle)])


CIRCLE = [(0.5 * np.cos(a), 0.5 * np.sin(a)) for a in np.arange(9.0)]
EDGE = [(float(np.cos(a)), float(np.sin(a))) for a in np.arange(9.0)]


@pytest.mark.parametrize(("points", "level", "words"), [
    ([(1.0, 0.0)], 1, "in the subspace itself"),
    ([(0.3, 0.1)], 2, "at one point in the subspace"),
    ([(0.3, 0.1), (0.5, 0.3), (0.1, -0.1)], 2, "on a line in the subspace"),
    (EDGE, 2, "in the subspace itself"),
    (CIRCLE, 4, "on a curve of degree 2 in the subspace"),
    ([*EDGE, (0.1, 0.2), (0.3, 0.3)], 4, "on a curve of degree 1 in the subspace"),
])  # fmt: skip
def test_where_no_fit_exists(points: list[tuple[float, float]], level: int, words: str) -> None:
    hierarchy = sr.LowRank(np.eye(4)[:, :2], level)
    with pytest.raises(sr.BoundaryError, match=words) as caught:
        sr.profile(on_ball(*points), hierarchy=hierarchy)
    assert caught.value.level == level


def test_where_fits_exist() -> None:
    """A triangle has level 2, a circle and points off it level 4."""
    triangle = on_ball((0.5, 0.0), (-0.3, 0.4), (-0.3, -0.5))
    assert sr.profile(triangle, hierarchy=sr.LowRank(np.eye(4)[:, :2], 2)).gaps[1] > 0.0
    more = on_ball(*CIRCLE, (0.0, 0.1), (0.7, 0.1), (-0.2, 0.6), (0.1, -0.7))
    assert len(sr.profile(more, hierarchy=sr.LowRank(np.eye(4)[:, :2], 4)).gaps) == 4


# --- what it is -------------------------------------------------------------------------------


@pytest.mark.slow
def test_p_values_when_there_is_nothing() -> None:
    """Von Mises-Fisher within the subspace: of 100 samples at most 13 fall below 5 % at level 2."""
    rng, hierarchy = np.random.default_rng(7), sr.LowRank(np.eye(8)[:, :2], 2)
    law = sr.FisherBingham(4.0 * np.eye(8)[1], np.zeros((8, 8)))
    found = [sr.profile(law.sample(80, rng), hierarchy=hierarchy).tests() for _ in range(100)]
    assert sum(each.pvalue[1] < 0.05 for each in found) <= 13


def test_written_and_read_again() -> None:
    for made in (np.eye(5)[:, 1:3], np.random.default_rng(0).normal(size=(30, 3))):
        hierarchy = sr.LowRank(made, 3)
        again = hierarchy_from_dict(hierarchy.to_dict())
        assert again == hierarchy
        assert hash(again) == hash(hierarchy)
        assert hierarchy.up_to(2).wider(3) == hierarchy
    assert hierarchy.wider(7) is None
    assert "3 axes of R^30" in repr(hierarchy)


@pytest.mark.slow
@pytest.mark.parametrize("hierarchy", [sr.LowRank(np.eye(4)[:, :3], 2), sr.LowRank(basis(20, 3), 2),
                                       sr.LowRank(basis(3, 2), 4)], ids=repr)  # fmt: skip
def test_more_that_keep_the_contract(hierarchy: LowRank) -> None:
    assert check_hierarchy(hierarchy).kept


@pytest.mark.parametrize(("make", "words"), [
    (lambda: sr.LowRank([0.0, 0.0, 1.0], 2), "as columns"),  # type: ignore[list-item]
    (lambda: sr.LowRank(np.eye(5)[:, :4], 2), "4 columns"),
    (lambda: sr.LowRank(np.eye(3), 2), r"sr.Harmonics\(3, levels\)"),
    (lambda: sr.LowRank(np.eye(2), 2), r"sr.Harmonics\(2, levels\)"),
    (lambda: sr.LowRank(np.eye(5000)[:, :1], 2), "at most 4096"),
    (lambda: sr.LowRank([[1.0, 2.0], [1.0, 2.0], [0.0, 0.0]], 2), "column 1 depends"),
    (lambda: sr.LowRank([[1.0, 0.0], [1.0, 0.0], [0.0, 0.0]], 2), "column 1 must be finite"),
    (lambda: sr.LowRank([[1.0, np.nan], [1.0, 0.0], [0.0, 0.0]], 2), "basis"),
    (lambda: sr.LowRank("up", 2), "basis"),  # type: ignore[arg-type]
    (lambda: sr.LowRank(np.eye(3)[:, :2], 0), "levels is 0"),
    (lambda: sr.LowRank(np.eye(3)[:, :2], 7), "at most 6 are possible"),
])  # fmt: skip
def test_bad_bases(make: Callable[[], object], words: str) -> None:
    with pytest.raises(sr.SteradianError, match=words):
        make()
