"""Bounded functions of the height: against other quadratures, sharp laws, their own basis."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.polynomial import Chebyshev, legendre
from scipy.special import gammaln

import steradian as sr
from steradian.hierarchies import Split, hierarchy_from_dict
from steradian.hierarchies.base import basis_law, uniform_features
from steradian.hierarchies.zonal import BoundedZonal
from steradian.numerics.arrays import Array
from steradian.numerics.heights.bessel import concentration, von_mises_fisher
from steradian.numerics.heights.height_law import height_law

LENGTHS = [0.1, 0.5, 0.9, 0.99]
DIMENSIONS = [3, 64, 384, 768]
ENDS = [3, 768, *(pytest.param(d, marks=pytest.mark.slow) for d in (64, 384))]


def kappa_of(d: int, length: float) -> float:
    return float(concentration(d, length, 1.0 - length * length).kappa)


def rows(d: int, length: float, n: int = 150, seed: int = 0) -> Array:
    """Mean heights 0.7 standard deviations apart on either side, so that no level is empty."""
    rng, kappa = np.random.default_rng(seed), kappa_of(d, length)
    spread = np.sqrt(1.0 - length**2 - (d - 1.0) * length / kappa)  # A' = 1 - A² - (d - 1) A / κ
    angle = np.linspace(0.0, np.pi, 200_002)[1:-1]
    drawn = []
    for sign in (-1.0, 1.0):
        exponent = Oracle(d, kappa_of(d, abs(length + 0.7 * sign * spread))).exponent(angle)
        mass = np.cumsum(np.exp(exponent - exponent.max()))
        drawn.append(np.interp(rng.random(n // 2), mass / mass[-1], angle))
    theta, across = np.concatenate(drawn), rng.standard_normal((2 * (n // 2), d))
    across[:, 0] = 0.0
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    across *= np.sin(theta)[:, None]
    across[:, 0] = np.cos(theta)
    return np.asarray(across)


@dataclass(frozen=True)
class Oracle:
    """Fits of {t, P_2(2F - 1), …} by Newton on one Gauss rule, F by a global Chebyshev series."""

    d: int
    kappa: float

    def exponent(self, angle: Array) -> Array:
        return self.kappa * np.cos(angle) + (self.d - 2.0) * np.log(np.sin(angle))

    def window(self) -> tuple[float, float]:
        angle = np.linspace(0.0, np.pi, 400_002)[1:-1]
        value = self.exponent(angle)
        inside = angle[value > value.max() - 60.0]
        return float(inside[0]), float(inside[-1])

    def functions(self, angle: Array, levels: int) -> Array:
        ends = self.window()
        top = float(self.exponent(np.linspace(*ends, 10_000)).max())
        density = Chebyshev.interpolate(
            lambda a: np.exp(self.exponent(a) - top), 400, domain=list(ends)
        )
        mass = density.integ(lbnd=ends[0])
        cdf = 1.0 - mass(np.clip(angle, *ends)) / mass(ends[1])
        ranks = legendre.legvander(2.0 * cdf - 1.0, levels)[:, 1:]
        ranks[:, 0] = np.cos(angle)
        return np.asarray(ranks)

    def deficits(self, x: Array, levels: int) -> list[float]:
        mean = self.functions(np.arccos(x[:, 0]), levels).mean(axis=0)
        low, high = self.window()
        width = high - low
        low, high = max(low - width, 1e-9), min(high + width, np.pi - 1e-9)
        at, weight = legendre.leggauss(1500)
        angle = low + 0.5 * (high - low) * (at + 1.0)
        area = gammaln(0.5 * self.d) - gammaln(0.5 * (self.d - 1.0)) - 0.5 * np.log(np.pi)
        log_weight = np.log(0.5 * (high - low) * weight) + area
        log_weight += (self.d - 2.0) * np.log(np.sin(angle))
        phi, lam, out = self.functions(angle, levels) - mean, np.array([self.kappa]), []
        for level in range(1, levels + 1):
            lam = np.concatenate([lam, np.zeros(level - len(lam))])
            out.append(newton(phi[:, :level], log_weight, lam))
        return out


def newton(phi: Array, log_weight: Array, lam: Array) -> float:
    """Deficit -ψ at its maximum, of functions less their mean over the rows, from ``lam``."""
    for _ in range(60):
        value = phi @ lam + log_weight
        mass = np.exp(value - value.max())
        psi = float(np.log(mass.sum()) + value.max())
        mass /= mass.sum()
        gradient = mass @ phi
        away = phi - gradient
        step = np.linalg.solve(away.T @ (mass[:, None] * away), gradient)
        lam -= step / max(1.0, float(np.sqrt(abs(gradient @ step))))
    return -psi


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("d", ENDS)
def test_fits_converge_and_agree_with_another_quadrature(d: int, length: float) -> None:
    x, kappa = rows(d, length), kappa_of(d, length)
    p = sr.profile(x, hierarchy=sr.Zonal(np.eye(d)[0], 6, features="bounded", kappa=kappa))
    wanted = np.array(Oracle(d, kappa).deficits(x, 6))
    # the oracle's angles are arccos of heights, good to u / sin θ, times a slope of 1 / sd
    np.testing.assert_allclose(p.deficits, wanted, rtol=1e-12, atol=1e-9)
    assert p.numerics.condition.max() < 60.0
    assert (p.gaps > -1e-11).all()


@pytest.mark.parametrize("d", DIMENSIONS)
@pytest.mark.parametrize("length", LENGTHS)
def test_level_one_is_von_mises_fisher(d: int, length: float) -> None:
    x = rows(d, length, 60)
    ours = sr.profile(x, hierarchy=sr.Zonal(np.eye(d)[0], 1, features="bounded", kappa=3.0))
    theirs = sr.profile(x, hierarchy=sr.Zonal(np.eye(d)[0], 1))
    height = abs(float(x[:, 0].mean()))
    exact = concentration(d, height, 1.0 - height * height)
    for found in (ours, theirs):
        np.testing.assert_allclose(found.deficits[0], float(exact.deficit), rtol=1e-11, atol=1e-12)
    np.testing.assert_allclose(ours.fits[1].logpdf(x), theirs.fits[1].logpdf(x), atol=1e-7)


@pytest.mark.parametrize("d", [3, 64])
def test_no_basis_changes_the_first_level_and_all_spaces_are_nested(d: int) -> None:
    """Levels above depend on the law that ranks are taken under; the first does not."""
    x, kappa = rows(d, 0.9), kappa_of(d, 0.9)
    fits = [
        sr.profile(x, hierarchy=sr.Zonal(np.eye(d)[0], 3, features="bounded", kappa=c * kappa))
        for c in (0.95, 1.0, 1.05)
    ]
    for p in fits:
        np.testing.assert_allclose(p.deficits[0], fits[0].deficits[0], rtol=1e-12)
        assert (p.gaps > -1e-11).all()


@pytest.mark.parametrize(("d", "kappa"), [(3, 0.0), (3, 100.0), (20, 30.0), (768, 38_000.0)])
def test_features_are_white_under_their_own_law(d: int, kappa: float) -> None:
    hierarchy = BoundedZonal(np.eye(d)[0], 8, kappa)
    law = basis_law(hierarchy)
    assert law is not None
    phi = hierarchy.features(law.sample(4000, np.random.default_rng(0)))
    assert np.abs(phi.mean(axis=0)).max() < 5.0 / np.sqrt(4000)
    assert np.abs(phi.T @ phi / 4000 - np.eye(8)).max() < 0.25
    _, mean, covariance = hierarchy.family(8).log_partition(
        np.concatenate([hierarchy.basis_lam, np.zeros(7)])[None]
    )
    np.testing.assert_allclose(mean[0], 0.0, atol=1e-10)
    np.testing.assert_allclose(covariance[0], np.eye(8), atol=1e-10)


@pytest.mark.parametrize("kappa", [0.0, 0.7, 30.0, 400.0])
def test_the_distribution_function_in_space(kappa: float) -> None:
    """For d = 3 it is elementary: (e^{κt} - e^{-κ}) / (e^κ - e^{-κ})."""
    angle = np.linspace(0.0, np.pi, 501)
    t = np.cos(angle)
    wanted = 0.5 * (1.0 + t)
    if kappa:
        wanted = (np.exp(kappa * (t - 1.0)) - np.exp(-2.0 * kappa)) / -np.expm1(-2.0 * kappa)
    np.testing.assert_allclose(height_law(3, kappa).height_cdf(angle), wanted, atol=1e-13)


@pytest.mark.parametrize(("d", "kappa"), [(3, 5.0), (64, 3000.0), (4096, 2e5)])
def test_the_mean_height(d: int, kappa: float) -> None:
    exact = von_mises_fisher(d, kappa)
    assert height_law(d, kappa).mean == pytest.approx(float(exact.ratio), rel=1e-13)


def test_far_modes_do_not_come_up() -> None:
    """Where polynomials raise mass far from all rows, bounded functions do not."""
    d, x = 64, rows(64, 0.9, 200)
    axis, low = np.eye(d)[0], float(x[:, 0].min())
    bounded = sr.profile(x, hierarchy=sr.Zonal(axis, 6, features="bounded", kappa=kappa_of(d, 0.9)))
    nodes, mass = bounded.moments.hierarchy.family(6).rule(bounded.fits[6].lam, 6)
    assert mass[nodes[:, 0] < low - 0.3].sum() < 1e-12


def test_mixing_in_the_uniform_law() -> None:
    """The uniform law has features of its own there, which are not zero."""
    x = rows(5, 0.5, 80)
    hierarchy = sr.Zonal(np.eye(5)[0], 3, features="bounded", kappa=4.0)
    n, share = 400_000, 0.2
    uniform = hierarchy.features(hierarchy.space.uniform(n, np.random.default_rng(1)))
    assert np.abs(uniform.mean(axis=0) - uniform_features(hierarchy)).max() < 0.02
    mixed = sr.profile(x, hierarchy=hierarchy, shrinkage=share)
    wanted = (1.0 - share) * hierarchy.features(x).mean(axis=0) + share * uniform.mean(axis=0)
    np.testing.assert_allclose(mixed.fits[3].moments, wanted, atol=0.01)
    assert (mixed.deficits < sr.profile(x, hierarchy=hierarchy).deficits).all()


def test_uniform_rows_look_uniform() -> None:
    rng, found = np.random.default_rng(3), []
    hierarchy = sr.Zonal(np.eye(4)[0], 2, features="bounded", kappa=1.0)
    for _ in range(40):
        p = sr.profile(hierarchy.space.uniform(200, rng), hierarchy=hierarchy)
        found.append([p.tests().pvalue[0], *p.uniformity().pvalue])
    below = (np.array(found) < 0.1).sum(axis=0)
    assert (below <= 11).all()  # of 40 at 10 %: more is one in a thousand
    assert (np.array(found).mean(axis=0) > 0.3).all()


class WrongLaw(BoundedZonal):
    """Says that its features are white under another law than they are."""

    __slots__ = ()

    @property
    def basis_lam(self) -> Array:
        return 1.5 * super().basis_lam

    def up_to(self, levels: int) -> WrongLaw:
        return WrongLaw(self.axis, levels, self.kappa)


@pytest.mark.parametrize("axis", [np.eye(3)[0], np.ones(12)])
def test_a_declared_law_is_believed_only_when_it_is_true(axis: Array) -> None:
    with pytest.raises(sr.conformance.ConformanceError, match="or the one that is declared"):
        sr.profile(rows(len(axis), 0.5), hierarchy=WrongLaw(axis, 2, 5.0))


def test_the_concentration_that_rows_choose() -> None:
    x, axis = rows(6, 0.7, 300), np.eye(6)[0]
    p = sr.profile(x, hierarchy=sr.Zonal(axis, 3, features="bounded"))
    chosen: Any = p.moments.hierarchy
    height = float(x[:, 0].mean())
    assert chosen.kappa == pytest.approx(kappa_of(6, height), rel=1e-12)
    about = sr.profile(x, hierarchy=sr.Zonal(-axis, 3, features="bounded"))
    np.testing.assert_allclose(about.gaps, p.gaps, atol=1e-11)
    with pytest.raises(sr.DesignError, match="of these same rows"):
        p.tests()
    split = sr.profile(x, hierarchy=sr.Zonal("mean", 3, features="bounded", split=Split(repeats=2)))
    assert split.tests().pvalue[0] < 1e-10


def test_written_and_read_again() -> None:
    hierarchy = sr.Zonal([1.0, 2.0, 2.0], 3, features="bounded", kappa=7.0)
    again = hierarchy_from_dict(hierarchy.to_dict())
    assert again == hierarchy
    assert hash(again) == hash(hierarchy)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"kappa": -1.0}, "turn the axis round"),
        ({"kappa": np.nan}, "kappa is nan"),
        ({"kappa": 1e9}, "up to 1e.06"),
        ({"kappa": 1.0, "split": 0.5}, "leave out split="),
        ({"kappa": 1.0, "axis": "mean"}, "kappa belongs to an axis that is given"),
        ({"kappa": 1.0, "axis": [1.0, 0.0]}, "on the circle"),
        ({"kappa": 1.0, "levels": 0}, "levels is 0"),
        ({"features": "spline"}, "features is 'spline'"),
        ({"features": "polynomial", "kappa": 2.0}, "polynomials have none"),
        ({"axis": [0.0, 0.0, 0.0]}, "axis must be finite and not zero"),
    ],
)
def test_bad_arguments(options: dict[str, Any], words: str) -> None:
    make: Any = sr.Zonal
    with pytest.raises(sr.InvalidArgument, match=words):
        make(**{"axis": [0.0, 0.0, 1.0], "levels": 2, "features": "bounded", **options})
