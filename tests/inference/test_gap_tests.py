"""Tests of zero gaps: every statistic and null law against a brute-force one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import roots_chebyu
from scipy.stats import chi2, ortho_group

import steradian as sr
from coded import MULTIPLIER, PARAMETRIC, coded, codes, tail
from oracles_mixture import contour_tail
from steradian.designs.rows import pareto_shape
from steradian.diagnostics import REFUSED, MethodCode, PvalueMethod, Recalibration
from steradian.errors import DesignError
from steradian.families.quadratics.polar_whitening import PolarWhitening
from steradian.inference import level_tests
from steradian.inference.gap_tests import holm
from steradian.numerics.arrays import Array, IntArray
from steradian.paper import sample_tests

Kind = Literal["damped", "tilted", "null", "empirical"]
KINDS: tuple[Kind, ...] = ("damped", "tilted", "null", "empirical")
RNG = np.random.default_rng(0)


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def circle(theta: Array) -> Array:
    return np.stack([np.cos(theta), np.sin(theta)], axis=-1)


THETA = RNG.vonmises(0.3, 1.3, 250)
CIRCLE = circle(THETA)
SPHERE = unit(RNG.normal([0.5, 0.2, 0.6], [1.0, 0.8, 0.6], (260, 3)))
FOUR = unit(RNG.normal([0.5, 0.2, 0.6, 0.0], [1.0, 0.8, 0.9, 1.2], (420, 4)))
DATA = {2: CIRCLE, 3: SPHERE, 4: FOUR}
WEIGHTS = {d: np.random.default_rng(d).gamma(2.0, size=len(x)) for d, x in DATA.items()}


# --- brute force: monomials, a grid, and a general optimiser ------------------------------


def features(x: Array, level: int) -> list[Array]:
    """Per level, columns that span what it adds: polynomials, not the package's harmonics."""
    d = x.shape[1]
    if d == 2:
        theta = np.arctan2(x[:, 1], x[:, 0])
        return [np.stack([np.cos(k * theta), np.sin(k * theta)], axis=1) for k in _to(level)]
    squares = [x[:, i] * x[:, j] for i in range(d) for j in range(i, d)][:-1]
    spans = [x, np.stack(squares, axis=1)]
    if level > 2:
        a, b, c = x.T
        cubes = [a * b * c, a**3, b**3, c**3, a * a * b, b * b * c, c * c * a]
        spans.append(np.stack(cubes, axis=1))
    return spans[:level]


def _to(level: int) -> range:
    return range(1, level + 1)


def grid(d: int) -> tuple[Array, Array]:
    """Nodes and weights (of sum one) for the uniform law on the unit sphere of R^d."""
    if d == 2:
        return circle(2.0 * np.pi * np.arange(1024) / 1024), np.full(1024, 1.0 / 1024)
    z, w = np.polynomial.legendre.leggauss(40) if d == 3 else roots_chebyu(40)
    y, v = (circle(2.0 * np.pi * np.arange(80) / 80), np.full(80, 1.0 / 80)) if d == 3 else grid(3)
    ring = np.sqrt(1.0 - z * z)[:, None, None] * y[None]
    nodes = np.concatenate([ring, np.broadcast_to(z[:, None, None], (*ring.shape[:2], 1))], axis=2)
    return nodes.reshape(-1, d), np.outer(w / w.sum(), v).ravel()


def exponential_tilt(phi: Array, base: Array, target: Array) -> Array:
    """Weights ∝ base · exp(φ τ) with mean ``target``, by scipy on the convex dual."""
    away = phi - target

    def parts(tau: Array) -> tuple[float, Array]:
        exponent = away @ tau
        t = base * np.exp(exponent - exponent.max())
        return float(np.log(t.sum()) + exponent.max()), t / t.sum()

    def hessian(tau: Array) -> Array:
        t = parts(tau)[1]
        mean = t @ away
        return np.asarray((t[:, None] * away).T @ away - np.outer(mean, mean))

    found = minimize(
        lambda tau: parts(tau)[0],
        np.zeros(phi.shape[1]),
        jac=lambda tau: parts(tau)[1] @ away,
        hess=hessian,
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    tau = found.x - np.linalg.solve(hessian(found.x), parts(found.x)[1] @ away)
    t = parts(tau)[1]
    assert np.abs(t @ away).max() < 1e-12
    return t


@dataclass
class Brute:
    """The null of one level: N0 (φ - μ0) of the rows, S, and all features about μ0."""

    w: Array
    z: Array
    schur: Array
    away: Array

    @classmethod
    def of(cls, x: Array, w: Array | None, level: int) -> Brute:
        weights = np.full(len(x), 1.0 / len(x)) if w is None else w / w.sum()
        nodes, base = grid(x.shape[1])
        spans, at_rows = features(nodes, level), features(x, level)
        below = sum(s.shape[1] for s in spans[:-1])
        phi, rows = np.hstack(spans), np.hstack(at_rows)
        law = base
        if below:
            law = exponential_tilt(phi[:, :below], base, weights @ rows[:, :below])
        mu = law @ phi
        j = (law[:, None] * (phi - mu)).T @ (phi - mu)
        slope = np.linalg.solve(j[:below, :below], j[:below, below:]).T
        away = rows - mu
        z = away[:, below:] - away[:, :below] @ slope.T
        return cls(weights, z, j[below:, below:] - slope @ j[:below, below:], away)

    def score(self, rate: float) -> float:
        r = self.w @ self.z
        return float(0.5 * rate**2 * r @ np.linalg.solve(self.schur, r))

    def omega(self, covariance: Array) -> Array:
        """Eigenvalues of ½ S^{-1/2} Ω S^{-1/2}."""
        root = np.linalg.inv(np.linalg.cholesky(self.schur))
        return np.asarray(np.linalg.eigvalsh(0.5 * root @ covariance @ root.T)[::-1], np.float64)


def damped(base: Array, tilted: Array, u: Array, schur: Array, c: float) -> Array:
    """What is left of a tilt when units of high leverage keep their weight, of no fixed sum."""
    q, count = u.shape[1], np.count_nonzero(base)
    white = u @ np.linalg.inv(np.linalg.cholesky(schur)).T
    leverage = np.sum(white * np.linalg.solve(white.T @ white, white.T).T, axis=1)
    excess = np.clip((leverage - q / count) / (1.0 - q / count), 0.0, 1.0)
    ratio = tilted / np.where(base > 0.0, base, 1.0)
    return base * (ratio + np.maximum(1.0 - ratio, 0.0) * np.minimum(1.0, c * excess))


def fixed_law(x: Array, w: Array | None, level: int, kind: Kind) -> tuple[float, Array, float]:
    """Statistic, coefficients and degrees of freedom for rows with fixed (or equal) weights."""
    b = Brute.of(x, w, level)
    square = b.w**2
    rate = float(square.sum() ** -0.5)
    z, total = b.z, None
    if kind in {"damped", "tilted"}:
        law = exponential_tilt(b.away, b.w, np.zeros(b.away.shape[1]))
        if kind == "damped":
            law, total = damped(b.w, law, b.w[:, None] * z, b.schur, 0.5), square.sum()
        square = b.w * law
    if kind == "empirical":
        z = z - b.w @ z
    sigma = np.einsum("i,ij,ik->jk", square / (total or square.sum()), z, z)
    return b.score(rate), b.omega(sigma), np.inf


def unit_law(
    x: Array, w: Array | None, level: int, kind: Kind, labels: IntArray, correction: float = 1.0
) -> tuple[float, Array, float]:
    """The same for U units (clusters, or rows drawn with their ratios) of rate √U."""
    b = Brute.of(x, w, level)
    count, p = len(np.unique(labels)), b.away.shape[1]
    member = (labels[None, :] == np.unique(labels)[:, None]).astype(float)
    centre = b.w @ b.z if kind == "empirical" else 0.0
    g = member @ (b.w[:, None] * (b.z - centre))
    even = law = np.full(count, 1.0 / count)
    if kind in {"damped", "tilted"}:
        whole = count * member @ (b.w[:, None] * b.away)
        law = exponential_tilt(whole, even, np.zeros(p))
    if kind == "damped":
        law = damped(even, law, g, b.schur, 2.0)
    sigma = count**2 * np.einsum("i,ij,ik->jk", law, g, g)
    dof = count - 1 - (p - b.z.shape[1])  # less the features of the levels below
    small = correction * (count - 1.0) / dof
    found = b.omega(small * sigma)
    return b.score(np.sqrt(count)), found, np.inf if kind == "damped" else dof


def check(got: sr.results.GapTests, level: int, want: tuple[float, Array, float]) -> None:
    score, omega, dof = want
    assert got.score_statistic[level - 1] == pytest.approx(score, rel=1e-7, abs=1e-10)
    np.testing.assert_allclose(got.coefficients[level - 1], omega, rtol=1e-7)
    how = got.methods[level - 1].recalibration
    if how is Recalibration.DRAWS:
        return
    chance = float(contour_tail(score, omega.tolist(), 9, dof))
    if how is Recalibration.UNITS:
        assert got.pvalue[level - 1] >= chance * (1.0 - 1e-6)
    else:
        assert got.pvalue[level - 1] == pytest.approx(chance, rel=1e-6)


LEVELS = {2: 3, 3: 2}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3])
def test_equal_weights(d: int, kind: Kind) -> None:
    got = sr.profile(DATA[d], levels=LEVELS[d]).tests(covariance=kind)
    assert got.rate == pytest.approx(np.sqrt(len(DATA[d])))
    for level in _to(LEVELS[d]):
        check(got, level, fixed_law(DATA[d], None, level, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3])
def test_fixed_weights(d: int, kind: Kind) -> None:
    p = sr.profile(DATA[d], weights=WEIGHTS[d], levels=LEVELS[d], design="fixed")
    got = p.tests(covariance=kind)
    for level in _to(LEVELS[d]):
        check(got, level, fixed_law(DATA[d], WEIGHTS[d], level, kind))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3])
def test_importance_ratios(d: int, kind: Kind) -> None:
    p = sr.profile(DATA[d], weights=WEIGHTS[d], levels=LEVELS[d], design="importance")
    got = p.tests(covariance=kind)
    assert got.rate == pytest.approx(np.sqrt(len(DATA[d])))
    for level in _to(LEVELS[d]):
        each = np.arange(len(DATA[d]))
        check(got, level, unit_law(DATA[d], WEIGHTS[d], level, kind, each))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [2, 3])
def test_clusters(d: int, kind: Kind) -> None:
    ids = np.random.default_rng(8).integers(0, 45, len(DATA[d]))
    x = np.where(np.arange(len(ids))[:, None] % 3 == 0, -1.0, 1.0) * DATA[d]
    p = sr.profile(x, weights=WEIGHTS[d], levels=2, design=sr.designs.Clusters(ids))
    got = p.tests(covariance=kind)
    for level in (1, 2):
        count = len(np.unique(ids))
        check(got, level, unit_law(x, WEIGHTS[d], level, kind, ids, count / (count - 1.0)))


@pytest.mark.parametrize("kind", ["null", "empirical"])
def test_strata(kind: Kind) -> None:
    """Contributions about the null (or the sample's own) mean, less their stratum's mean."""
    strata = np.arange(len(CIRCLE)) % 3
    w = WEIGHTS[2] * (1.0 + strata)
    p = sr.profile(CIRCLE, weights=w, levels=2, design=sr.designs.Survey(strata=strata))
    got = p.tests(covariance=kind)
    for level in (1, 2):
        b = Brute.of(CIRCLE, w, level)
        g = b.w[:, None] * (b.z - (b.w @ b.z if kind == "empirical" else 0.0))
        total = np.zeros((2, 2))
        for stratum in range(3):
            part = g[strata == stratum]
            total += len(part) * np.cov(part.T)
        n, below = len(w), b.away.shape[1] - b.z.shape[1]
        dof = n - 3 - below
        omega = b.omega(n * total * (n - 3) / dof)
        parts = [b.w[strata == stratum] for stratum in range(3)]
        v = np.array([len(w) / (len(w) - 1.0) * (w @ w) for w in parts])
        known = v.sum() ** 2 / sum(v**2 / [len(w) - 1.0 for w in parts])  # Satterthwaite
        check(got, level, (b.score(np.sqrt(n)), omega, min(dof, known)))


def test_strata_are_not_tilted() -> None:
    p = sr.profile(CIRCLE, levels=2, design=sr.designs.Survey(strata=np.arange(250) % 3))
    assert all(method.covariance == "null" for method in p.tests().methods)
    for kind in ("damped", "tilted"):
        with pytest.raises(DesignError, match="strata cannot be tilted as a whole"):
            p.tests(covariance=kind)


@pytest.mark.parametrize("kind", KINDS)
def test_four_dimensions(kind: Kind) -> None:
    """Where the white features come in closed form about the mean direction."""
    got = sr.profile(FOUR, levels=2).tests(covariance=kind)
    for level in (1, 2):
        check(got, level, fixed_law(FOUR, None, level, kind))


def test_cubic_features_on_the_sphere() -> None:
    got = sr.profile(SPHERE, levels=3).tests(covariance="null")
    check(got, 3, fixed_law(SPHERE, None, 3, "null"))


@pytest.mark.parametrize("design", ["iid", "fixed"])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_model_null(d: int, design: str) -> None:
    w = None if design == "iid" else WEIGHTS[d]
    p = sr.profile(DATA[d], weights=w, levels=2, design=design)
    got = p.tests(null="model")
    by_gap = p.tests(null="model", statistic="gap")
    for level in (1, 2):
        score = fixed_law(DATA[d], w, level, "null")[0]
        q = int(p.dims[level - 1])
        assert got.score_statistic[level - 1] == pytest.approx(score, rel=1e-7)
        assert got.pvalue[level - 1] == pytest.approx(float(chi2.sf(2.0 * score, q)), rel=1e-6)
        assert got.coefficients[level - 1].tolist() == [0.5] * q
        gap = got.rate**2 * float(p.gaps[level - 1])
        assert by_gap.gap_statistic[level - 1] == pytest.approx(gap, rel=1e-12)
        assert by_gap.pvalue[level - 1] == pytest.approx(float(chi2.sf(2.0 * gap, q)), rel=1e-9)


@pytest.mark.parametrize("kind", ["null", "empirical"])
def test_the_fitted_gap_against_the_same_law(kind: Kind) -> None:
    p = sr.profile(CIRCLE, levels=2)
    got = p.tests(statistic="gap", covariance=kind)
    for level in (1, 2):
        _, omega, _ = fixed_law(CIRCLE, None, level, kind)
        value = 250.0 * float(p.gaps[level - 1])
        chance = float(contour_tail(value, omega.tolist(), 9))
        assert got.statistic[level - 1] == pytest.approx(value, rel=1e-12)
        assert got.pvalue[level - 1] == pytest.approx(chance, rel=1e-6)
    assert p.tests(statistic="gap").methods[0] == tail("null")


def quantile_points(n: int) -> Array:
    """Quantiles of the density 1 + 0.8 cos 4θ: its distribution is (θ + 0.2 sin 4θ) / 2π."""
    target = 2.0 * np.pi * (np.arange(n) + 0.5) / n
    theta = target.copy()
    for _ in range(60):
        theta = theta - 0.5 * (theta + 0.2 * np.sin(4.0 * theta) - target)
    return circle(theta)


@pytest.mark.parametrize("kind", KINDS)
def test_four_modes_have_coefficients_seven_and_three_tenths(kind: Kind) -> None:
    got = sr.profile(quantile_points(4000), levels=2).tests(covariance=kind)
    np.testing.assert_allclose(got.coefficients[0], [0.5, 0.5], atol=1e-6)
    np.testing.assert_allclose(got.coefficients[1], [0.7, 0.3], atol=1e-6)
    assert got.pvalue[1] == pytest.approx(1.0, abs=1e-6)


# --- other ways to the same number --------------------------------------------------------


@pytest.mark.parametrize("kind", ["null", "empirical"])
@pytest.mark.parametrize("design", ["iid", "fixed", "importance"])
@pytest.mark.parametrize("d", [2, 3])
def test_sums_give_what_rows_give(d: int, design: str, kind: Kind) -> None:
    w = None if design == "iid" else WEIGHTS[d]
    rows = sr.profile(DATA[d], weights=w, levels=2, design=design)
    sums = sr.profile(
        sr.Moments.from_directions(sr.Directions(DATA[d], w), sr.Harmonics(d, 2)), design=design
    )
    a, b = rows.tests(covariance=kind), sums.tests(covariance=kind)
    assert a.rate == pytest.approx(b.rate, rel=1e-12)
    np.testing.assert_allclose(a.score_statistic, b.score_statistic, rtol=1e-9)
    for one, other in zip(a.coefficients, b.coefficients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-9)
    np.testing.assert_allclose(a.pvalue, b.pvalue, rtol=1e-8)


def test_sums_say_that_nothing_was_tilted() -> None:
    sums = sr.profile(sr.Moments.from_directions(sr.Directions(CIRCLE), sr.Harmonics(2, 2)))
    got = sums.tests()
    assert codes(got) == ["sums_cannot_be_tilted"]
    np.testing.assert_allclose(got.pvalue, sums.tests(covariance="null").pvalue)
    assert not sums.tests(covariance="null").diagnostics
    for options in ({"covariance": "tilted"}, {"method": "bootstrap"}):
        with pytest.raises(DesignError, match="tilting and bootstraps need the rows"):
            sums.tests(**options)  # type: ignore[arg-type]


def test_sums_in_high_dimension_are_refused() -> None:
    sums = sr.profile(sr.Moments.from_directions(sr.Directions(FOUR), sr.Harmonics(4, 2)))
    with pytest.raises(DesignError, match=r"hold no covariance of level \d, which needs the rows"):
        sums.tests()
    rows = sr.profile(FOUR, levels=2).tests(null="model")
    np.testing.assert_allclose(sums.tests(null="model").pvalue, rows.pvalue, rtol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("design", ["fixed", "importance"])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_rotations_change_nothing(d: int, design: str, kind: Kind) -> None:
    if (d, design, kind) == (4, "fixed", "damped"):
        pytest.skip("draws of the fit, which are not turned with the sample")
    turn = ortho_group(d, seed=4).rvs()
    plain, turned = (
        sr.profile(x, weights=WEIGHTS[d], levels=2, design=design).tests(covariance=kind)
        for x in (DATA[d], DATA[d] @ turn)
    )
    np.testing.assert_allclose(turned.score_statistic, plain.score_statistic, rtol=1e-8)
    for one, other in zip(plain.coefficients, turned.coefficients, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-8)
    alike = [not method.recalibrated for method in plain.methods]  # draws are not turned
    np.testing.assert_allclose(turned.pvalue[alike], plain.pvalue[alike], rtol=1e-7)


def test_a_known_covariance() -> None:
    """Given the sandwich itself, the test from it is the sandwich test."""
    hierarchy = sr.Harmonics(3, 2)
    phi = hierarchy.features(SPHERE)
    sigma = np.cov(phi.T, bias=True)
    root = float(np.sqrt(len(SPHERE)))
    known = sr.profile(SPHERE, levels=2, design=sr.designs.Known(sigma, root)).tests()
    want = sr.profile(SPHERE, levels=2).tests(covariance="empirical")
    np.testing.assert_allclose(known.pvalue, want.pvalue, rtol=1e-8)
    assert known.methods == (tail("known"),) * 2
    assert not known.diagnostics


def test_too_many_rows_to_tilt(monkeypatch: pytest.MonkeyPatch) -> None:
    p = sr.profile(CIRCLE, levels=2)
    want = p.tests(covariance="null")
    simulated = p.tests(covariance="null", method="simulate", seed=5, replicates=99)
    monkeypatch.setattr(level_tests, "MOST_ENTRIES", 10)
    got = p.tests()
    np.testing.assert_allclose(got.pvalue, want.pvalue, rtol=1e-8)
    assert coded(got, "too_many_rows_to_tilt", 1) == got.diagnostics[0]
    again = p.tests(method="simulate", seed=5, replicates=99)
    np.testing.assert_allclose(again.pvalue, simulated.pvalue, rtol=1e-12)
    w = np.ones(250)
    w[33] = 500.0
    heavy = sr.profile(CIRCLE, weights=w, levels=1, design="importance").tests()
    assert not heavy.judged[0]
    assert coded(heavy, "outweighed_by_evidence", 1).data["unit"]["name"] == 33


# --- Holm, simulations and bootstraps -----------------------------------------------------


@pytest.mark.parametrize(
    ("given", "want"),
    [
        ([0.01, 0.04, 0.03], [0.03, 0.06, 0.06]),
        ([0.2, 0.001, 0.015, 0.03], [0.2, 0.004, 0.045, 0.06]),
        ([0.9, 0.6], [1.0, 1.0]),
        ([0.02, np.nan, 0.04], [0.04, np.nan, 0.04]),
        ([0.5], [0.5]),
        ([0.01, 0.01], [0.02, 0.02]),
    ],
)
def test_holm(given: list[float], want: list[float]) -> None:
    np.testing.assert_allclose(holm(np.array(given)), want, rtol=1e-14)


def test_holm_of_a_profile() -> None:
    got = sr.profile(CIRCLE, levels=3).tests()
    assert got.pvalue_holm[0] == pytest.approx(3.0 * got.pvalue[0])
    assert got.pvalue_holm.max() <= 1.0
    assert (got.pvalue_holm >= got.pvalue).all()


WEAK = circle(np.random.default_rng(21).vonmises(0.0, 0.2, 300))


@pytest.mark.parametrize("kind", KINDS)
def test_simulated_tails_are_the_exact_ones(kind: Kind) -> None:
    p = sr.profile(WEAK, levels=3)
    exact = p.tests(covariance=kind)
    got = p.tests(covariance=kind, method="simulate", replicates=40_000)
    error = np.sqrt(exact.pvalue * (1.0 - exact.pvalue) / 40_000)
    assert (np.abs(got.pvalue - exact.pvalue) < 4.0 * error + 5e-5).all()
    assert got.methods == (tail(kind, simulated=True),) * 3
    again = p.tests(covariance=kind, method="simulate", replicates=40_000)
    assert again.pvalue.tolist() == got.pvalue.tolist()
    other = p.tests(covariance=kind, method="simulate", replicates=40_000, seed=1)
    assert other.pvalue.tolist() != got.pvalue.tolist()


@pytest.mark.parametrize("kind", ["null", "empirical"])
def test_simulated_tails_of_few_units_too(kind: Kind) -> None:
    """Six clusters: the covariance is estimated with few degrees of freedom."""
    rng, cluster = np.random.default_rng(5), np.repeat(np.arange(6), 6)
    degrees = rng.normal(0, 60, 6)[cluster] + rng.normal(0, 20, 36)
    p = sr.profile(circle(np.radians(degrees)), levels=1, design=sr.designs.Clusters(cluster))
    exact = float(p.tests(covariance=kind).pvalue[0])
    got = float(p.tests(covariance=kind, method="simulate", replicates=40_000).pvalue[0])
    assert abs(got - exact) < 4.0 * np.sqrt(exact * (1.0 - exact) / 40_000) + 5e-5


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("design", ["iid", "fixed", "importance"])
def test_multipliers_follow_the_law_of_the_covariance(design: str, kind: Kind) -> None:
    w = None if design == "iid" else np.random.default_rng(3).uniform(0.5, 1.5, 300)
    p = sr.profile(WEAK, weights=w, levels=2, design=design)
    exact = p.tests(covariance=kind).pvalue
    got = p.tests(covariance=kind, method="bootstrap", replicates=8000)
    np.testing.assert_allclose(got.pvalue, exact, atol=0.025)
    assert got.methods == (replace(MULTIPLIER, covariance=kind),) * 2
    if kind == "damped":
        assert got.pvalue.tolist() == p.tests(method="bootstrap", replicates=8000).pvalue.tolist()


@pytest.mark.parametrize("statistic", ["score", "gap"])
def test_samples_of_the_model_follow_chi_square(statistic: Literal["score", "gap"]) -> None:
    p = sr.profile(WEAK[:150], levels=2)
    exact = p.tests(null="model", statistic=statistic).pvalue
    got = p.tests(null="model", statistic=statistic, method="bootstrap", replicates=800)
    errors = exact * np.sqrt((1.0 - exact) / 50.0)  # drawing stops at fifty as extreme
    assert (np.abs(got.pvalue - exact) <= 4.0 * errors).all()
    assert got.methods == (PARAMETRIC,) * 2
    drawn = p.tests(null="model", statistic=statistic, method="simulate", replicates=20_000)
    np.testing.assert_allclose(drawn.pvalue, exact, atol=0.015)


def test_the_add_one_correction() -> None:
    """A statistic beyond every replicate has p = 1 / (B + 1)."""
    narrow = circle(np.random.default_rng(2).vonmises(0.0, 3.0, 200))
    p = sr.profile(narrow, levels=1)
    for method in ("simulate", "bootstrap"):
        got = p.tests(covariance="null", method=method, replicates=49)
        assert got.pvalue[0] == pytest.approx(1.0 / 50.0)


def test_few_rows_per_feature_are_recalibrated() -> None:
    p = sr.profile(WEAK[:30], levels=2)  # 30 rows for 4 features
    got = p.tests()
    plain = sample_tests(WEAK[None, :30], levels=2, covariance="tilted")
    assert got.methods == (tail("damped"), tail("damped", redrawn=True))
    many = [p.tests(seed=seed).pvalue[1] for seed in range(40)]
    assert np.median(many) == pytest.approx(plain.pvalue[0, 1], abs=0.15)
    assert plain.rough.tolist() == [[False, True]]
    assert p.tests().pvalue.tolist() == got.pvalue.tolist()
    assert p.tests(seed=1).pvalue[1] != got.pvalue[1]


def test_recalibration_stops_at_ten() -> None:
    """Besag and Clifford: 10 / samples, or (1 + fewer) / (all + 1)."""
    p = sr.profile(WEAK[:30], levels=2)
    samples = 10.0 / p.tests().pvalue[1]
    assert samples == pytest.approx(round(samples), abs=1e-9)
    assert 10.0 <= samples <= 999.0
    theta = np.random.default_rng(3).vonmises(0.0, 2.0, 30)  # stretched, so that p is small
    few = sr.profile(circle(theta * np.where(np.abs(theta) < 0.5, 0.3, 1.0)), levels=2)
    stopped = few.tests(replicates=49, seed=2)
    assert stopped.methods[1].recalibrated
    below = stopped.pvalue[1] * 50.0
    assert below == pytest.approx(round(below), abs=1e-9) or stopped.pvalue[1] >= 10.0 / 49.0


def test_a_row_of_high_leverage_is_recalibrated() -> None:
    """Few rows at the far side of a concentrated law hold most of the second level."""
    x = circle(np.random.default_rng(12).vonmises(0.0, 10.0, 200))
    p = sr.profile(x, levels=2)
    assert p.tests().methods[1] == tail("damped", redrawn=True)
    assert sample_tests(x[None], levels=2).rough.tolist() == [[False, True]]
    said = coded(p.tests(method="bootstrap"), "leverage_not_calibrated", 2)
    assert said.data["leverage"] > 0.3


def test_uneven_fixed_weights_count_as_fewer_rows() -> None:
    """300 rows worth less than forty of equal weight."""
    w = np.random.default_rng(3).lognormal(0.0, 1.8, 300)
    w = np.sort(w)[::-1]
    assert 8.0 < w.sum() ** 2 / (w @ w) < 40.0
    got = sr.profile(WEAK, weights=w, levels=2, design="fixed").tests()
    assert got.methods[1] == tail("damped", redrawn=True)


# --- options ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"statistic": "gap", "covariance": "tilted"}, "does not follow the tilted law"),
        ({"statistic": "gap", "covariance": "damped"}, "does not follow the tilted law"),
        ({"null": "model", "covariance": "null"}, "null='model' brings its own covariance"),
        ({"null": "strict"}, "null is 'strict'; choose 'moment', 'model'"),
        ({"statistic": "wald"}, "statistic is 'wald'; choose 'score', 'gap'"),
        ({"covariance": "robust"}, "covariance is 'robust'; choose 'damped'"),
        ({"method": "magic"}, "method is 'magic'; choose 'exact', 'simulate', 'bootstrap'"),
        ({"replicates": 18}, "replicates is 18; give 19 or more"),
    ],
)
def test_options_that_make_no_sense(options: dict[str, Any], match: str) -> None:
    with pytest.raises(ValueError, match=match):
        sr.profile(CIRCLE, levels=1).tests(**options)


def test_the_model_null_needs_rows_of_one_law() -> None:
    ids = np.arange(250) // 5
    for design in ("importance", sr.designs.Clusters(ids)):
        p = sr.profile(CIRCLE, weights=WEIGHTS[2], levels=1, design=design)
        with pytest.raises(DesignError, match="for designs 'iid' and 'fixed' only"):
            p.tests(null="model")


def test_shrunk_profiles_are_refused() -> None:
    p = sr.profile(CIRCLE, levels=2, shrinkage=0.1)
    asks: list[Callable[[], Any]] = [
        p.tests, p.intervals, p.uniformity, lambda: sr.bootstrap(p), lambda: sr.choose_order(p)
    ]  # fmt: skip
    for ask in asks:
        with pytest.raises(DesignError, match="profile them without shrinkage"):
            ask()


def test_too_few_units_for_the_features() -> None:
    ids = np.arange(250) % 7
    p = sr.profile(CIRCLE, levels=2, design=sr.designs.Clusters(ids))
    got = p.tests()
    assert got.methods[1] == REFUSED
    assert 0.0 < got.pvalue[0] < 1.0
    assert coded(got, "too_few_units", 2).data == {"units": 7, "features": 4}
    assert got.reason(2) == coded(got, "too_few_units", 2)
    assert np.isnan(got.pvalue[1])
    assert np.isnan(got.coefficients[1]).all()
    assert got.pvalue_holm[0] == got.pvalue[0]
    options: list[dict[str, Any]] = [{"covariance": "null"}, {"method": "exact"}]
    for asked in options:
        with pytest.raises(DesignError, match="level 2: 7 units for 4 features: too few"):
            p.tests(**asked)


@pytest.mark.parametrize("kind", KINDS)
def test_rows_of_weight_zero_do_not_count(kind: Kind) -> None:
    """With fixed weights; importance ratios of zero do count."""
    w = WEIGHTS[2].copy()
    w[::4] = 0.0
    p = sr.profile(CIRCLE, weights=w, levels=2, design="fixed")
    q = sr.profile(CIRCLE[w > 0.0], weights=w[w > 0.0], levels=2, design="fixed")
    one, other = p.tests(covariance=kind), q.tests(covariance=kind)
    assert one.methods == other.methods
    alike = [not method.recalibrated for method in one.methods]
    np.testing.assert_allclose(one.pvalue[alike], other.pvalue[alike], rtol=1e-6)
    for a, b in zip(one.coefficients, other.coefficients, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-6)
    few = np.where(np.arange(250) < 7, 1.0, 0.0)
    seven = sr.profile(CIRCLE, weights=few, levels=2, design="fixed").tests(replicates=19)
    assert seven.methods[1] == PARAMETRIC
    assert coded(seven, "bootstrap_for_few_units", 2).data == {"units": 7, "features": 4}


def test_reports() -> None:
    got = sr.profile(CIRCLE, levels=2).tests()
    text, record = str(got), got.to_dict()
    assert "Tests of zero gaps; null: the level's moments are those of the fit below" in text
    assert "exact tail, damped" in text
    assert record["design"] == "iid"
    assert record["covariance"] == "damped"
    assert record["judged"] == [True, True]
    assert record["pvalue"] == got.pvalue.tolist()
    assert record["pvalue_holm"] == got.pvalue_holm.tolist()
    assert [len(c) for c in record["coefficients"]] == [2, 2]
    assert got.statistic is got.score_statistic
    model = sr.profile(CIRCLE, levels=2).tests(null="model", statistic="gap")
    assert "the model of the level below is right" in str(model)
    assert model.to_dict()["covariance"] == "model"
    assert model.statistic is model.gap_statistic


# --- warnings -----------------------------------------------------------------------------


def warned(p: sr.results.Profile, code: str, **options: Any) -> bool:
    return code in codes(p.tests(**options))


def test_sound_samples_raise_no_warning() -> None:
    assert not sr.profile(WEAK, levels=2).tests().diagnostics
    w = np.random.default_rng(3).uniform(0.5, 1.5, 300)
    for design in ("fixed", "importance"):
        assert not sr.profile(WEAK, weights=w, levels=2, design=design).tests().diagnostics
    assert not sr.profile(WEAK, levels=2).tests(null="model").diagnostics


def test_one_heavy_weight() -> None:
    w = np.ones(300)
    w[4] = 30.0
    ratio = 30.0 / np.sqrt(900.0 + 299.0)
    p = sr.profile(WEAK, weights=w, levels=1, design="fixed")
    assert coded(p.tests(), "dominant_row").data["largest"] == pytest.approx(ratio)
    w[4] = 15.0  # 15 / √(225 + 299) = 0.66; at 9.9 below a half
    assert warned(sr.profile(WEAK, weights=w, levels=1, design="fixed"), "dominant_row")
    w[4] = 9.9
    light = sr.profile(WEAK, weights=w, levels=1, design="fixed")
    assert not warned(light, "dominant_row")


def test_few_points_carry_the_variance() -> None:
    theta = np.concatenate([np.random.default_rng(0).vonmises(0.0, 200.0, 200), [2.5, 3.1, -2.7]])
    p = sr.profile(circle(theta), levels=2)
    few = coded(p.tests(covariance="null"), "few_units_decide_pvalue", 2)
    assert {unit["name"] for unit in few.data["units"]} == {200, 201, 202}
    assert coded(p.tests(covariance="null"), "few_carriers_of_form", 2).data["features"] == 4
    assert warned(p, "model_spread", null="model")


def test_heavy_importance_ratios() -> None:
    u = np.random.default_rng(5).uniform(size=300)
    heavy = sr.profile(WEAK, weights=1.0 / u, levels=1, design="importance")
    no_variance = sr.profile(WEAK, weights=u**-0.3, levels=1, design="importance")
    light = sr.profile(WEAK, weights=u**-0.1, levels=1, design="importance")
    assert warned(heavy, "heavy_tail")
    assert 0.5 < pareto_shape(u**-0.3) < 0.7
    assert coded(no_variance.tests(), "heavy_tail").data["limit"] == 0.5
    assert not warned(light, "heavy_tail")
    for p in (heavy, no_variance):
        assert "heavy_tail" in codes(p.uniformity())
        assert "heavy_tail" in codes(sr.bootstrap(p, replicates=5))


@pytest.mark.parametrize("shape", [0.2, 0.5, 1.0])
def test_the_pareto_shape_is_found(shape: float) -> None:
    w = np.random.default_rng(6).uniform(size=200_000) ** -shape
    assert pareto_shape(w) == pytest.approx(shape, abs=0.12)
    assert pareto_shape(np.ones(1000)) < 0.0
    assert np.isnan(pareto_shape(w[:50]))


def test_a_sample_without_a_tilt() -> None:
    """On less than half the circle no weighting has mean zero."""
    theta = np.random.default_rng(7).uniform(-1.2, 1.2, 200)
    got = sr.profile(circle(theta), levels=1).tests()
    assert "null_centred" in codes(got, 1)
    _, omega, _ = fixed_law(circle(theta), None, 1, "null")
    np.testing.assert_allclose(got.coefficients[0], omega, rtol=1e-9)


def test_few_rows_for_a_chi_square() -> None:
    p = sr.profile(WEAK[:30], levels=2)
    found = p.tests(null="model")
    assert coded(found, "few_rows_chi_square", 2).data == {"rows": pytest.approx(30), "features": 4}
    assert "few_rows_chi_square" not in codes(found, 1)


# --- high dimension -----------------------------------------------------------------------


def polar(d: int, kappa: float) -> PolarWhitening:
    axis = unit(np.random.default_rng(d).standard_normal(d))
    white = sr.Harmonics(d, 2).family(2).whitening((kappa / np.sqrt(d) * axis)[None])
    assert isinstance(white, PolarWhitening)
    return white


def von_mises_fisher(d: int, kappa: float, n: int) -> Array:
    """Draws of the law whose axis `polar` takes, by rejection of the polar angle (Wood 1994)."""
    rng = np.random.default_rng([d, n])
    axis = unit(np.random.default_rng(d).standard_normal(d))
    b = (-2.0 * kappa + np.sqrt(4.0 * kappa**2 + (d - 1.0) ** 2)) / (d - 1.0)
    x0 = (1.0 - b) / (1.0 + b)
    c = kappa * x0 + (d - 1.0) * np.log(1.0 - x0 * x0)
    kept = np.zeros(0)
    while len(kept) < n:
        z = rng.beta((d - 1.0) / 2.0, (d - 1.0) / 2.0, n)
        t = (1.0 - (1.0 + b) * z) / (1.0 - (1.0 - b) * z)
        good = kappa * t + (d - 1.0) * np.log(1.0 - x0 * t) - c >= np.log(rng.uniform(size=n))
        kept = np.concatenate([kept, t[good]])
    t = kept[:n, None]
    y = rng.standard_normal((n, d))
    y = unit(y - (y @ axis)[:, None] * axis)
    return t * axis + np.sqrt(1.0 - t * t) * y


@pytest.mark.parametrize("kappa", [0.0, 0.7, 9.0])
def test_white_features_in_four_dimensions(kappa: float) -> None:
    white = polar(4, kappa)
    nodes, base = grid(4)
    axis = unit(np.random.default_rng(4).standard_normal(4))
    law = base * np.exp(kappa * nodes @ axis)
    law /= law.sum()
    zeta = white.rows(nodes[None])[0]
    assert zeta.shape[1] == white.below + white.q == 13
    np.testing.assert_allclose(law @ zeta, 0.0, atol=1e-10)
    np.testing.assert_allclose((law[:, None] * zeta).T @ zeta, np.eye(13), atol=1e-10)


@pytest.mark.parametrize(("d", "kappa", "n"), [(8, 6.0, 40_000), (60, 40.0, 4000)])
def test_white_features_under_the_fit(d: int, kappa: float, n: int) -> None:
    white = polar(d, kappa)
    zeta = white.rows(von_mises_fisher(d, kappa, n)[None])[0]
    p = zeta.shape[1]
    assert p == d + d * (d + 1) // 2 - 1
    assert n * (zeta.mean(axis=0) ** 2).sum() == pytest.approx(p, abs=5.0 * np.sqrt(2.0 * p))
    np.testing.assert_allclose((zeta**2).mean(axis=0), 1.0, atol=6.0 * np.sqrt(14.0 / n))
    covariance = zeta.T @ zeta / n
    off = covariance - np.diag(np.diag(covariance))
    spread = np.sqrt((zeta**4).mean(axis=0))
    expected = (np.outer(spread, spread).sum() - (spread**2).sum()) / n  # at most this
    assert 0.5 * p * (p - 1) / n < (off**2).sum() < 1.1 * expected
    assert np.abs(off).max() < 7.0 * np.sqrt(3.0 * 3.0 / n) + 0.05


@pytest.mark.parametrize(("d", "kappa"), [(4, 2.0), (8, 6.0), (60, 40.0)])
def test_the_score_needs_only_mean_and_second_moments(d: int, kappa: float) -> None:
    white = polar(d, kappa)
    x = unit(np.random.default_rng(1).standard_normal((300, d)) + 0.1)
    w = np.random.default_rng(2).gamma(1.0, size=300)
    w /= w.sum()
    added = w @ white.rows(x[None])[0, :, white.below :]
    moments = sr.Harmonics(d, 2).stack(x[None], w[None])
    assert white.score(moments)[0] == pytest.approx(float(added @ added), rel=1e-10)


def test_the_null_law_of_rows_in_eight_dimensions() -> None:
    x = von_mises_fisher(8, 4.0, 1500)
    got = sr.profile(x, levels=2).tests()
    assert all(
        (how.code, how.covariance) == (MethodCode.EXACT_TAIL, "damped") for how in got.methods
    )
    model = sr.profile(x, levels=2).tests(null="model")
    np.testing.assert_allclose(got.score_statistic, model.score_statistic, rtol=1e-9)
    assert got.pvalue[1] == pytest.approx(model.pvalue[1], abs=0.15)
    assert got.coefficients[1].mean() == pytest.approx(0.5, abs=0.03)


def test_too_many_dimensions_for_a_chi_square() -> None:
    """60² / (6 · 300) = 2 standard deviations; level 1 stands."""
    x = von_mises_fisher(60, 20.0, 300)
    p = sr.profile(x, levels=2)
    for method in ("exact", "simulate"):
        with pytest.raises(DesignError, match="law is off by about 2 standard deviations"):
            p.tests(null="model", method=method, replicates=19)
    got = p.tests(null="model", replicates=19)
    products = PvalueMethod(MethodCode.OFF_DIAGONAL)
    assert got.methods == (PvalueMethod(MethodCode.CHI_SQUARE), products)
    assert p.tests().methods[1] == products
    assert 0.001 < p.tests().pvalue[1] < 1.0
    gap = p.tests(null="model", statistic="gap", replicates=19)
    assert gap.methods[1] == PARAMETRIC
    assert "bootstrap_for_dimension" in codes(gap, 2)
    with pytest.raises(DesignError, match="use null='model', method='bootstrap'"):
        p.tests(method="exact", replicates=19)


# --- uniformity ---------------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 4])
def test_uniformity_contains_rayleigh_and_bingham(d: int) -> None:
    x = unit(np.random.default_rng(9).standard_normal((300, d)) + 0.08)
    p = sr.profile(x, levels=2)
    got = p.uniformity()
    dof = np.cumsum(p.dims)
    np.testing.assert_allclose(got.statistic, 600.0 * p.deficits, rtol=1e-12)
    np.testing.assert_allclose(got.pvalue, chi2.sf(600.0 * p.deficits, dof), rtol=1e-9)
    second = x.T @ x / 300.0
    rayleigh = 300.0 * d * float(np.sum(x.mean(axis=0) ** 2))
    bingham = 150.0 * d * (d + 2.0) * (float(np.sum(second**2)) - 1.0 / d)
    np.testing.assert_allclose(got.classical, [rayleigh, bingham], rtol=1e-9)
    np.testing.assert_allclose(
        got.classical_pvalue, chi2.sf([rayleigh, bingham], p.dims), rtol=1e-8
    )
    assert "Rayleigh" in str(got)
    assert got.to_dict()["pvalue"] == got.pvalue.tolist()


def test_uniformity_of_ratios() -> None:
    """The score form against the law of the test of all features at once."""
    w = np.random.default_rng(3).gamma(2.0, size=300)
    p = sr.profile(WEAK, weights=w, levels=2, design="importance")
    got = p.uniformity()
    phi = np.sqrt(2.0) * np.hstack(features(WEAK, 2))
    share = w / w.sum()
    sums = sr.profile(
        sr.Moments.from_directions(sr.Directions(WEAK, w), sr.Harmonics(2, 2)), design="importance"
    )
    for k in (0, 1):
        part = share[:, None] * phi[:, : 2 * k + 2]
        even = np.full(300, 1.0 / 300.0)
        tilted = exponential_tilt(300.0 * part, even, np.zeros(2 * k + 2))
        law = damped(even, tilted, part, np.eye(2 * k + 2), 2.0)
        value = 150.0 * float(np.sum(part.sum(axis=0) ** 2))
        assert got.statistic[k] == pytest.approx(2.0 * value, rel=1e-8)
        omega = np.linalg.eigvalsh(0.5 * 300.0**2 * part.T @ (law[:, None] * part))
        tail = float(contour_tail(value, omega.tolist(), 9))
        assert got.pvalue[k] == pytest.approx(tail, rel=1e-7)
        sandwich = np.linalg.eigvalsh(0.5 * 300.0 * part.T @ part)
        tail = float(contour_tail(value, sandwich.tolist(), 9))
        assert sums.uniformity().pvalue[k] == pytest.approx(tail, rel=1e-7)


def test_uniformity_of_few_rows_is_drawn() -> None:
    """Where the score form stands among uniform samples made here; the seed alone decides it."""
    degrees = np.arange(1, 5)[:, None]

    def score(theta: Array) -> Array:
        """2 n R_k², added up over the degrees: (…, 4) of angles (…, n)."""
        lengths = np.abs(np.exp(1j * degrees * theta[..., None, :]).mean(axis=-1))
        return np.cumsum(60.0 * lengths**2, axis=-1)

    theta = np.random.default_rng(41).vonmises(0.0, 0.5, 30)
    p = sr.profile(circle(theta), levels=4)
    got, null = (
        p.uniformity(),
        score(np.random.default_rng(1).uniform(0.0, 2.0 * np.pi, (4000, 30))),
    )
    assert got.pvalue[0] == pytest.approx(chi2.sf(60.0 * p.deficits[0], 2), rel=1e-9)
    np.testing.assert_allclose(got.statistic[1:], score(theta)[1:], rtol=1e-10)
    for k in (1, 2, 3):
        share = float((null[:, k] >= score(theta)[k]).mean())
        error = np.sqrt(share * (1.0 - share) / 4000.0 + got.pvalue[k] ** 2 / 100.0)
        assert abs(got.pvalue[k] - share) < 4.0 * error
    rows = sr.Directions(circle(theta))
    sums = sr.profile(sr.Moments.from_directions(rows, sr.Harmonics(2, 4)))
    np.testing.assert_array_equal(sums.uniformity().pvalue[1:], got.pvalue[1:])
    assert p.uniformity(seed=1).pvalue[3] != got.pvalue[3]
    assert p.uniformity(replicates=19).pvalue[3] >= 0.05


# --- what cannot be judged ----------------------------------------------------------------


def named(names: list[str], sizes: list[int]) -> Array:
    return np.repeat(np.array(names), sizes)


def test_a_cluster_of_three_quarters_is_named() -> None:
    """21 clusters of which one holds 75 %: no p-value from them is evidence."""
    rng = np.random.default_rng(31)
    ids = named(["Great", *(f"c{k}" for k in range(20))], [300, *[5] * 20])
    centre = rng.uniform(-np.pi, np.pi, 21)
    theta = np.repeat(centre, [300, *[5] * 20]) + rng.normal(0.0, 0.6, 400)
    p = sr.profile(circle(theta), levels=2, design=sr.designs.Clusters(ids))
    got = p.tests()
    assert got.judged.tolist() == [False, False]
    assert got.pvalue[0] > 0.01
    why = coded(got, "outweighed_by_evidence", 1)
    assert (why.data["unit"]["what"], why.data["unit"]["name"]) == ("cluster", "Great")
    assert why.data["share"] >= 0.9
    assert why == got.reason(1) == got.diagnostics[0]
    assert "cluster Great" in str(got)
    assert got.to_dict()["judged"] == [False, False]
    assert got.to_dict()["diagnostics"][0]["code"] == why.code
    plain = p.tests(covariance="tilted")
    assert plain.pvalue[0] < 1e-6
    assert plain.judged.tolist() == [False, False]
    uniform = p.uniformity()
    assert uniform.judged.tolist() == [False, False]
    assert uniform.pvalue[0] > 0.01
    assert "cluster Great" in str(uniform)
    signs = sr.bootstrap(p, "multiplier", replicates=199)
    assert coded(signs, "outweighed_by_evidence", 1).data["unit"]["name"] == "Great"
    assert signs.pvalue[0] > 0.01
    drawn = p.tests(method="bootstrap", replicates=199)
    assert drawn.pvalue[0] > 0.01
    assert drawn.judged.tolist() == [False, False]


def test_a_row_is_named_by_its_number() -> None:
    w = np.ones(300)
    w[17] = 40.0
    for design in ("fixed", "importance"):
        got = sr.profile(WEAK, weights=w, levels=1, design=design).tests()
        assert not got.judged[0]
        why = got.reason(1)
        assert why is not None
        assert why.data["unit"]["name"] == 17
        assert got.pvalue[0] > 0.01
    stack = sample_tests(WEAK[None], weights=w, levels=1, design="importance")
    assert not stack.judged[0, 0]
    assert coded(stack, "samples_not_testable", 1).data == {"count": 1, "total": 1}


def test_weights_worth_too_few_rows() -> None:
    """No single row outweighs the rest, but they are worth five."""
    w = np.full(300, 1e-3)
    w[:5] = 1.0
    got = sr.profile(WEAK, weights=w, levels=2, design="importance").tests()
    assert not got.judged[1]
    why = got.reason(2)
    assert why is not None
    assert 5.0 <= why.data["worth"]["data"]["worth"] < 6.0


@pytest.mark.parametrize("heavy", [1e2, 1e6, 1e10, 1e15])
@pytest.mark.parametrize("design", ["fixed", "importance"])
@pytest.mark.parametrize("d", [2, 3, 5])
def test_one_dominating_weight_is_an_answer_or_our_error(d: int, design: str, heavy: float) -> None:
    x = unit(np.random.default_rng(d).standard_normal((60, d)))
    w = np.ones(60)
    w[7] = heavy
    options: list[dict[str, Any]] = [
        {}, {"method": "bootstrap", "replicates": 19}, {"statistic": "gap"},
        {"null": "model"}, {"covariance": "tilted"},
    ]  # fmt: skip
    for levels in (1, 2):
        try:
            p = sr.profile(x, weights=w, levels=levels, design=design)
        except sr.SteradianError:
            continue
        for chosen in options:
            try:
                got = p.tests(**chosen)
            except sr.SteradianError:
                continue
            assert not got.judged.any()
            assert any(
                one.data["unit"]["name"] == 7 for one in got.diagnostics if "unit" in one.data
            )


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("sizes", [[60, *[5] * 29], [150, *[5] * 29], [90, 90, *[4] * 23]])
def test_unequal_clusters_never_give_tiny_pvalues(sizes: list[int], seed: int) -> None:
    """Nests that face any way, birds of a nest alike: nothing to find between nests."""
    rng = np.random.default_rng([seed, len(sizes), sizes[0]])
    ids = np.repeat(np.arange(len(sizes)), sizes)
    theta = rng.uniform(-np.pi, np.pi, len(sizes))[ids] + rng.normal(0.0, 0.5, len(ids))
    p = sr.profile(circle(theta), levels=1, design=sr.designs.Clusters(ids))
    assert p.tests().pvalue[0] > 0.003
    assert p.uniformity().pvalue[0] > 0.003
    together = sample_tests(circle(theta)[None], levels=1, design=sr.designs.Clusters(ids))
    assert together.pvalue[0, 0] == pytest.approx(p.tests().pvalue[0], rel=1e-8)


def test_unrelated_importance_weights_never_give_tiny_pvalues() -> None:
    """Lognormal(2) ratios of uniform directions; the plain tilt gave p = 3e-76."""
    rng = np.random.default_rng(77)
    x = circle(rng.uniform(-np.pi, np.pi, (500, 100)))
    w = rng.lognormal(0.0, 2.0, (500, 100))
    got = sample_tests(x, weights=w, levels=1, design="importance")
    plain = sample_tests(x, weights=w, levels=1, design="importance", covariance="tilted")
    assert np.mean(got.pvalue[:, 0] < 0.05) < 0.05 + 3.0 * np.sqrt(0.05 * 0.95 / 500)
    assert np.nanmin(got.pvalue) > 1e-4
    assert np.mean(plain.pvalue[:, 0] < 0.05) > 0.2
    assert np.nanmin(plain.pvalue) < 1e-8
    assert not got.judged.all()


def test_stretches_of_a_chain_are_named_by_their_rows() -> None:
    rng = np.random.default_rng(4)
    theta = rng.uniform(-np.pi, np.pi, 400)
    w = np.ones(400)
    w[100:110] = 1000.0
    design = sr.designs.Chain(batch=10)
    got = sr.profile(circle(theta), weights=w, levels=1, design=design).tests()
    assert not got.judged[0]
    why = got.reason(1)
    assert why is not None
    named = {"what": "stretch", "name": 10, "counted": True, "rows": [100, 109]}
    assert why.data["unit"] == named
