"""Some of the quadratics: against all of them, against quadrature, and where fits exist."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import steradian as sr
from coded import coded
from steradian.hierarchies import hierarchy_from_dict
from steradian.numerics.arrays import Array
from steradian.numerics.fisher_bingham.law import FisherBinghamLaw
from steradian.numerics.heights.polar_angle import PolarAngle
from steradian.numerics.heights.polar_quadratics import PolarTensors
from steradian.spaces import Sphere


def sample(d: int, n: int = 200, seed: int = 0) -> Array:
    rng = np.random.default_rng([d, seed])
    x = rng.normal(size=(n, d)) @ (np.eye(d) + 0.3 * rng.normal(size=(d, d)))
    x[:, 0] += 0.7
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize("d", [2, 3, 4, 7, 20])
def test_one_block_is_the_full_fit(d: int) -> None:
    x = sample(d, 40 * d)
    full = sr.profile(x, levels=2)
    one = sr.profile(x, hierarchy=sr.Blocks([d]))
    np.testing.assert_allclose(one.deficits, full.deficits, rtol=1e-10, atol=1e-11)


@pytest.mark.parametrize("d", [3, 4, 6])
def test_squares_are_all_where_products_have_nothing_to_say(d: int) -> None:
    """Rows in all reflections that leave the mean: products of coordinates average to zero."""
    x = sample(d, 12)
    for k in range(1, d):
        x = np.concatenate([x, x * np.where(np.arange(d) == k, -1.0, 1.0)])
    squares = sr.profile(x, hierarchy=sr.Diagonal(d))
    np.testing.assert_allclose(squares.deficits, sr.profile(x, levels=2).deficits, rtol=1e-10)
    more = sr.profile(x, hierarchy=sr.Quadratics(d, [range(d), (0,) * d]))
    assert abs(more.gaps[2]) < 1e-11


PRODUCTS: dict[str, tuple[sr.Quadratics, Callable[[Array], Array]]] = {
    "squares": (sr.Diagonal(3), lambda x: x * x),
    "blocks": (sr.Blocks([2, 1]), lambda x: np.column_stack([x * x, x[:, 0] * x[:, 1]])),
    "apart": (
        sr.Quadratics(3, [(0, 1, 0)]),
        lambda x: np.column_stack([x * x, x[:, 0] * x[:, 2]]),
    ),
}


@pytest.mark.parametrize("name", list(PRODUCTS))
def test_against_quadrature(name: str) -> None:
    """The same functions on the rules of the sphere, which know nothing of contours."""
    hierarchy, products = PRODUCTS[name]
    x = sample(3, 80)
    ours = sr.profile(x, hierarchy=hierarchy)
    theirs = sr.profile(x, hierarchy=sr.Custom(Sphere(), [lambda y: y, products]))
    np.testing.assert_allclose(ours.deficits, theirs.deficits, rtol=0.0, atol=1e-9)
    mean = ours.fits[2].logpdf(x).mean()
    assert abs(mean - ours.deficits[1]) < 1e-12


def test_levels_that_grow_from_squares_to_everything() -> None:
    x = sample(6, 300)
    chain = sr.Quadratics(6, [range(6), (0, 0, 0, 1, 1, 1), (0,) * 6])
    found = sr.profile(x, hierarchy=chain)
    assert chain.dims == (6, 5, 6, 9)
    assert (found.gaps > 0).all()
    full = sr.profile(x, levels=2)
    assert abs(found.deficits[-1] - full.deficits[-1]) < 1e-12
    for level, one in ((2, sr.Diagonal(6)), (3, sr.Blocks([3, 3]))):
        alone = sr.profile(x, hierarchy=one).deficits[1]
        assert abs(found.deficits[level - 1] - alone) < 1e-12
        assert alone < full.deficits[1]
    for level, fit in enumerate(found.fits[1:], 1):
        below = found.fits[level - 1]
        drawn = fit.sample(20_000, level)
        ratio = fit.logpdf(drawn) - below.logpdf(drawn)
        assert abs(ratio.mean() - found.gaps[level - 1]) < 5.0 * ratio.std() / np.sqrt(20_000)


def test_what_changes_nothing() -> None:
    x, rng = sample(5, 150), np.random.default_rng(1)
    blocks = sr.Blocks([3, 2])
    turn = np.zeros((5, 5))
    for part in (slice(0, 3), slice(3, 5)):
        size = part.stop - part.start
        turn[part, part] = np.linalg.qr(rng.normal(size=(size, size)))[0]
    base = sr.profile(x, hierarchy=blocks).deficits
    np.testing.assert_allclose(sr.profile(x @ turn.T, hierarchy=blocks).deficits, base, rtol=1e-11)
    everywhere = np.linalg.qr(rng.normal(size=(5, 5)))[0]
    turned = sr.profile(x @ everywhere.T, hierarchy=blocks).deficits
    assert abs(turned[0] - base[0]) < 1e-12
    assert abs(turned[1] - base[1]) > 1e-3, "groups are counted along the axes"
    signs = rng.choice([-1.0, 1.0], 5)
    one, other = (sr.profile(r, hierarchy=sr.Diagonal(5)).deficits for r in (x, x * signs))
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_fewer_rows_than_dimensions() -> None:
    """All quadratics do not exist for so few rows; squares do, unless a coordinate is constant."""
    x = sample(30, 12)
    with pytest.raises(sr.BoundaryError, match="12 distinct directions cannot fill 30"):
        sr.profile(x, levels=2)
    found = sr.profile(x, hierarchy=sr.Diagonal(30))
    assert found.gaps[1] > 0
    pairs = sr.profile(x, hierarchy=sr.Blocks([2] * 15))
    assert pairs.gaps[1] > found.gaps[1]
    with pytest.raises(sr.BoundaryError, match="a combination of coordinates 1, 2, 3, 4"):
        sr.profile(x, hierarchy=sr.Blocks([15, 15]))
    y = x.copy()
    y[:, 4] = 0.25
    y[:, np.arange(30) != 4] *= np.sqrt((1 - 0.25**2) / (1 - x[:, 4] ** 2))[:, None]
    with pytest.raises(sr.BoundaryError, match="coordinate 5 is the same for all") as caught:
        sr.profile(y, hierarchy=sr.Diagonal(30))
    certificate = caught.value.certificate
    assert certificate is not None
    assert np.abs(certificate(y)).max() < 1e-12
    assert certificate(sample(30, 500, 3)).min() >= -1e-12


@pytest.mark.slow
def test_p_values_of_squares_when_there_is_nothing() -> None:
    """Von Mises-Fisher in six dimensions: 80 samples, of which 1 to 11 may fall below 5 %."""
    law = sr.FisherBingham(np.array([2.0, 1.0, 0, 0, 0, 0]), np.zeros((6, 6)))
    rng = np.random.default_rng(5)
    below = 0
    for _ in range(80):
        tests = sr.profile(law.sample(150, rng), hierarchy=sr.Diagonal(6)).tests()
        below += int(tests.pvalue[1] < 0.05)
    assert 1 <= below <= 11


def test_what_squares_leave_over_is_seen() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 5))
    x[:, 1] += 0.8 * x[:, 0]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    found = sr.profile(x, hierarchy=sr.Diagonal(5))
    left = found.residuals()
    assert left.pvalue[-1] < 1e-6, "a product of two coordinates is above the level"
    full = sr.profile(x, hierarchy=sr.Quadratics(5, [range(5), (0,) * 5]))
    assert full.tests().pvalue[2] < 1e-6


@pytest.mark.parametrize("hierarchy", [sr.Diagonal(4), sr.Blocks([1, 3]), PRODUCTS["apart"][0]])
def test_written_and_read_again(hierarchy: sr.Quadratics) -> None:
    again = hierarchy_from_dict(hierarchy.to_dict())
    assert again == hierarchy
    assert hash(again) == hash(hierarchy)
    assert type(again) is type(hierarchy)


def test_groups_are_counted_as_they_appear() -> None:
    one, other = sr.Quadratics(4, [(7, 7, 2, 2)]), sr.Quadratics(4, [[3, 3, 0, 0]])
    assert one == other
    assert sr.Blocks([2, 2]).sizes == (2, 2)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sr.Diagonal(1), "d is 1; directions need at least two"),
        (lambda: sr.Diagonal("a"), "d is 'a'"),  # type: ignore[arg-type]
        (lambda: sr.Diagonal(1 << 13), "at most 4096 are possible"),
        (lambda: sr.Blocks([]), "give the size of each block"),
        (lambda: sr.Blocks("23"), "size of each block"),  # type: ignore[arg-type]
        (lambda: sr.Blocks([2, 0]), "sizes is 0"),
        (lambda: sr.Blocks([700]), "at most 200000 are held"),
        (lambda: sr.Blocks([10**12]), "at most 4096 dimensions are possible"),
        (lambda: sr.Quadratics(3, [(0, 1)]), "level 2 has 2 coordinates in groups, not 3"),
        (lambda: sr.Quadratics(3, [(0, 0, 1), (0, 1, 1)]), "level 3 does not join groups"),
        (lambda: sr.Quadratics(3, [(0, 0, 1), (0, 0, 1)]), "levels must grow"),
        (lambda: sr.Quadratics(3, 2), "give the groups of each level"),  # type: ignore[arg-type]
        (lambda: sr.Quadratics(3, ["abc"]), "no groups of coordinates"),  # type: ignore[list-item]
    ],
)
def test_bad_groups(make: Callable[[], object], words: str) -> None:
    with pytest.raises(sr.SteradianError, match=words):
        make()


@pytest.mark.parametrize(("d", "kappa"), [(2, 1.0), (3, 3.0), (3, 1e4), (5, 0.0), (12, 1e3)])
def test_tensors_about_an_axis(d: int, kappa: float) -> None:
    """Against the derivatives of the contour integral."""
    eta = np.random.default_rng(d).normal(size=d)
    eta *= kappa / np.linalg.norm(eta)
    pairs = np.triu_indices(d)
    tensors, law = PolarTensors.of(eta), FisherBinghamLaw.of(eta, np.zeros((d, d)))
    m, count = law.mean(), d + len(pairs[0])
    second = law.covariance() + np.outer(m, m)
    np.testing.assert_allclose(
        tensors.means(pairs), np.concatenate([m, second[pairs]]), rtol=0, atol=1e-13
    )
    exact = np.empty((count, count))
    for k in range(count):
        linear, quadratic = np.zeros(d), np.zeros((d, d))
        if k < d:
            linear[k] = 1.0
        else:
            i, j = pairs[0][k - d], pairs[1][k - d]
            quadratic[i, j] += 0.5
            quadratic[j, i] += 0.5
        change = law.hessian_product(linear, quadratic)
        exact[k] = np.concatenate([change[0], change[1][pairs]])
    np.testing.assert_allclose(tensors.covariance(pairs), exact, rtol=0, atol=1e-13)


@pytest.mark.parametrize("d", [2, 3, 59, 768])
def test_polar_angles_of_any_concentration(d: int) -> None:
    """No warning at the ends: 59 dimensions and one row of nearly all weight had one."""
    kappa = np.array([0.0, 1e-8, 1.0, 1e3, 1e8, 1e16, 1e30])
    angle = PolarAngle.of(d, kappa)
    np.testing.assert_allclose(angle.weight.sum(axis=1), 1.0, rtol=1e-12)
    across = angle.mean(angle.sine**2)
    assert (across > 0).all()
    sharp = kappa > 1e3 * d
    np.testing.assert_allclose(across[sharp] * kappa[sharp], d - 1.0, rtol=1e-2)


def test_sharp_laws_are_not_tested_by_rounding() -> None:
    """Before, the score of a cluster of κ = 10⁶ off the axes was a thousandth of what it is."""
    rng = np.random.default_rng(1)
    angle = 0.3 + rng.normal(size=200) / 1e3
    x = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    tests = sr.profile(x, hierarchy=sr.Diagonal(2)).tests()
    assert np.isnan(tests.pvalue[1])
    assert coded(tests, "no_fit", 2).data["error"] == "ResolutionError"


def test_stated_errors_of_clusters_off_the_axes() -> None:
    """Squares alone know nothing of |x| = 1 across coordinates: their fits feel more rounding."""
    rng = np.random.default_rng(34)
    for kappa in (1e3, 1e5, 6e7):
        mu = rng.normal(size=3)
        x = mu / np.linalg.norm(mu) + rng.normal(size=(30, 3)) / np.sqrt(kappa)
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        runs = [sr.profile(x[rng.permutation(30)], hierarchy=sr.Diagonal(3)) for _ in range(4)]
        stated = [r.numerics.quadrature + r.numerics.moment_rounding for r in runs]
        spread = np.ptp([r.deficits[1] for r in runs])
        assert spread <= 2.0 * min(error[1] for error in stated) + 1e-14


@pytest.mark.parametrize("d", [26, 27, 99])
def test_residuals_where_all_quadratics_are_too_many(d: int) -> None:
    x = sample(d, 6 * d)
    left = sr.profile(x, hierarchy=sr.Diagonal(d)).residuals()
    assert np.isfinite(left.pvalue[0])
    assert np.isfinite(left.pvalue[1]) == (d <= 26)
