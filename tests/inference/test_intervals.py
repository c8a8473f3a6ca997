"""Standard errors, intervals and biases of gaps, against plain formulas and simulations."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest
from scipy.optimize import brentq, minimize
from scipy.special import i0, i1
from scipy.stats import chi2, ncx2, norm
from scipy.stats import t as student

import steradian as sr
from coded import coded, codes
from steradian.errors import DesignError
from steradian.inference.intervals import noncentrality as noncentrality_of
from steradian.inference.intervals import rise_within
from steradian.numerics.arrays import Array
from steradian.paper import sample_tests

Method = Literal["noncentral", "sqrt", "wald"]
N = 240
RNG = np.random.default_rng(3)
IDS = RNG.integers(0, 40, N)


def circle(theta: Array) -> Array:
    return np.stack([np.cos(theta), np.sin(theta)], axis=-1)


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


DATA = {
    2: circle(np.concatenate([RNG.vonmises(0.3, 4.0, 160), RNG.vonmises(2.8, 4.0, 80)])),
    3: unit(RNG.normal([0.5, 0.2, 0.6], [1.0, 0.6, 0.4], (N, 3))),
}
WEIGHTS = RNG.gamma(2.0, size=N)
DESIGNS: dict[str, Any] = {
    "iid": "iid",
    "fixed": "fixed",
    "importance": "importance",
    "clusters": sr.designs.Clusters(IDS),
}


def made(d: int, name: str, levels: int = 2) -> sr.results.Profile:
    w = None if name == "iid" else WEIGHTS
    return sr.profile(DATA[d], weights=w, levels=levels, design=DESIGNS[name])


# --- plain formulas -----------------------------------------------------------------------


def features(x: Array) -> Array:
    """Two levels, orthonormal under the uniform law."""
    if x.shape[1] == 2:
        a, b = x.T
        return np.sqrt(2.0) * np.stack([a, b, a * a - b * b, 2.0 * a * b], axis=1)
    a, b, c = x.T
    second = [1.5 * c * c - 0.5, *(np.sqrt(3.0) * v for v in (a * c, b * c, a * b))]
    second.append(np.sqrt(0.75) * (a * a - b * b))
    return np.hstack([np.sqrt(3.0) * x, np.sqrt(5.0) * np.stack(second, axis=1)])


def grid(d: int) -> tuple[Array, Array]:
    ring = circle(2.0 * np.pi * np.arange(100) / 100)
    if d == 2:
        return ring, np.full(100, 0.01)
    z, w = np.polynomial.legendre.leggauss(50)
    across = np.sqrt(1.0 - z * z)[:, None, None] * ring[None]
    x = np.concatenate([across, np.broadcast_to(z[:, None, None], (50, 100, 1))], axis=2)
    return x.reshape(-1, 3), np.repeat(w / 200.0, 100)


def maximum_entropy(d: int, target: Array) -> tuple[Array, Array]:
    """λ and the covariance J of its features, for the first len(target) features."""
    nodes, base = grid(d)
    phi = features(nodes)[:, : len(target)]

    def law(lam: Array) -> tuple[float, Array]:
        exponent = phi @ lam
        t = base * np.exp(exponent - exponent.max())
        return float(np.log(t.sum()) + exponent.max() - lam @ target), t / t.sum()

    def curvature(lam: Array) -> Array:
        t = law(lam)[1]
        return np.asarray((t[:, None] * phi).T @ phi - np.outer(t @ phi, t @ phi))

    found = minimize(
        lambda lam: law(lam)[0],
        np.zeros(len(target)),
        jac=lambda lam: law(lam)[1] @ phi - target,
        hess=curvature,
        method="trust-exact",
        options={"gtol": 1e-9},
    )
    lam = found.x - np.linalg.solve(curvature(found.x), law(found.x)[1] @ phi - target)
    return lam, curvature(lam)


def unit_sums(d: int, name: str) -> tuple[Array, Array, float]:
    """g_u of all features, the weight of each unit, and the factor c: Var m̂ = c Σ g gᵀ."""
    w = np.full(N, 1.0 / N) if name == "iid" else WEIGHTS / WEIGHTS.sum()
    phi = features(DATA[d])
    away = w[:, None] * (phi - w @ phi)
    if name != "clusters":
        return away, w, 1.0
    names = np.unique(IDS)
    g = np.array([away[k == IDS].sum(axis=0) for k in names])
    return g, np.array([w[k == IDS].sum() for k in names]), len(names) / (len(names) - 1.0)


def gammas(d: int, name: str) -> tuple[list[Array], list[Array], list[Array]]:
    """γ_L, λ_L (padded to all features) and J_L for L = 1, 2."""
    w = np.full(N, 1.0 / N) if name == "iid" else WEIGHTS / WEIGHTS.sum()
    mean = w @ features(DATA[d])
    steps, wholes, curvatures = [], [], []
    below = np.zeros(len(mean))
    for p in (d, len(mean)):
        lam, j = maximum_entropy(d, mean[:p])
        whole = np.concatenate([lam, np.zeros(len(mean) - p)])
        steps.append(whole - below)
        wholes.append(whole)
        curvatures.append(j)
        below = whole
    return steps, wholes, curvatures


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("d", [2, 3])
def test_standard_errors_are_the_delta_method(d: int, name: str) -> None:
    got = made(d, name).intervals()
    g, _, factor = unit_sums(d, name)
    sigma = factor * g.T @ g
    steps, wholes, _ = gammas(d, name)
    np.testing.assert_allclose(got.se, [np.sqrt(v @ sigma @ v) for v in steps], rtol=1e-7)
    np.testing.assert_allclose(got.deficit_se, [np.sqrt(v @ sigma @ v) for v in wholes], rtol=1e-7)


@pytest.mark.parametrize("name", DESIGNS)
@pytest.mark.parametrize("d", [2, 3])
def test_the_bias_is_the_formula(d: int, name: str) -> None:
    p = made(d, name)
    got = p.gaps - p.intervals().debiased
    g, unit_weight, factor = unit_sums(d, name)
    sigma = factor * g.T @ g
    steps, _, curvatures = gammas(d, name)
    traces = [0.0] + [float(np.trace(np.linalg.solve(j, sigma[: len(j), : len(j)])))
                      for j in curvatures]  # fmt: skip
    want = 0.5 * np.diff(traces)
    if name in {"importance", "clusters"}:  # numerator and denominator vary together
        want = want - np.array([v @ (unit_weight @ g) for v in steps])
    np.testing.assert_allclose(got, want, rtol=1e-6)


@pytest.mark.parametrize("name", DESIGNS)
def test_standard_errors_agree_with_the_bootstrap(name: str) -> None:
    """Of a law with clear gaps and enough rows that the normal law holds."""
    rng = np.random.default_rng(12)
    theta = np.where(np.arange(2000) % 3 == 0, 2.8, 0.3) + rng.vonmises(0.0, 4.0, 2000)
    design = sr.designs.Clusters(np.arange(2000) // 10) if name == "clusters" else DESIGNS[name]
    w = None if name == "iid" else rng.gamma(4.0, size=2000)
    p = sr.profile(circle(theta), weights=w, levels=2, design=design)
    drawn = sr.bootstrap(p, replicates=500, seed=1).se
    np.testing.assert_allclose(p.intervals().se, drawn, rtol=0.15)


# --- the three intervals ------------------------------------------------------------------


@pytest.mark.parametrize("d", [2, 3, 4])
def test_the_bias_of_rows_whose_spread_is_lost_in_their_second_moments(d: int) -> None:
    """Features over 2n: along the mean the variance is below the rounding of squares."""
    x = unit(np.eye(d)[0] + 1e-4 * np.random.default_rng(d).normal(size=(80, d)))
    found = sr.profile(x, levels=1).intervals()
    assert (found.gaps - found.debiased)[0] == pytest.approx(d / 160.0, rel=1e-9)


def test_rows_with_their_antipodes_have_one_interval_in_any_order() -> None:
    """The mean is nothing but rounding, whose spread and degrees of freedom mean nothing."""
    half = unit(np.random.default_rng(1).normal(size=(40, 3)) + 0.5)
    x = np.concatenate([half, -half])
    orders = [np.random.default_rng(seed).permutation(80) for seed in range(6)]
    highs = [sr.profile(x[order], levels=2).intervals().high for order in orders]
    np.testing.assert_allclose(highs, np.tile(highs[0], (6, 1)), rtol=1e-9)


def test_sums_that_lost_a_variance_give_no_interval() -> None:
    """With κ = 1e5 rounding of the sums is a thousand times the variance of level 2."""
    rng = np.random.default_rng(2)
    for spread, known in ((0.1, True), (0.003, False)):
        x = sr.Directions(np.eye(3)[2] + spread * rng.normal(size=(200, 3)), normalize=True)
        sums = sr.profile(sr.Moments.from_directions(x, sr.Harmonics(3, 2))).intervals()
        rows = sr.profile(x, levels=2).intervals()
        assert np.isnan([sums.se[1], sums.low[1], sums.high[1]]).tolist() == [not known] * 3
        last = 2 if known else 1
        np.testing.assert_allclose(sums.se[:last], rows.se[:last], rtol=0.01)


def noncentrality(seen: float, q: int, p: float) -> float:
    """δ with P(χ²_q(δ) <= seen) = p, with scipy's law and root finder; 0 where there is none."""
    if chi2.cdf(seen, q) <= p:
        return 0.0
    return float(brentq(lambda v: ncx2.cdf(seen, q, v) - p, 1e-12, 40.0 * seen + 400.0))


def noncentral(  # noqa: PLR0917 - the formula, written out
    value: float, bias: float, g: Array, share: float, q: int, rate: float, level: float
) -> list[float]:
    """Both ends, from the units' parts ``g`` of the value and the share p / n of matched features.

    c from Var = Σ g², Student's t and 1 + p / n; one bias for the other, for the upper end half
    of it where it would be lowered; Hall's term for skewness, outward.
    """
    tail, z = 0.5 * (1.0 - level), float(norm.ppf(0.5 + 0.5 * level))
    squares = g * g
    variance = float(squares.sum())
    noise = float((squares**2).sum()) / variance**2 - 1.0 / len(g)
    dof = min(2.0 / noise if noise > 1e-12 else np.inf, len(g) - 1.0)
    inflate = (student.ppf(1.0 - tail, max(dof, 3.0)) / z) ** 2 * (1.0 + share)
    c = variance * rate**2 / (2.0 * value) * inflate
    one = c / (2.0 * rate**2)
    by = one * q - bias
    low = one * noncentrality(max(value + by, 0.0) / one, q, 1.0 - tail)
    high = one * noncentrality(max(value + max(by, 0.5 * by), 0.0) / one, q, tail)
    lean = float((g**3).sum()) / variance * (2.0 * z * z + 1.0) / 6.0
    return [max(low + min(lean, 0.0), 0.0), max(high, value - bias) + max(lean, 0.0)]


def reach(g: Array, share: float, level: float) -> float:
    """Student's t of the error of units' parts ``g``, and 1 + p / n."""
    noise = float((g**4).sum()) / float((g**2).sum()) ** 2 - 1.0 / len(g)
    dof = min(2.0 / noise if noise > 1e-12 else np.inf, len(g) - 1.0)
    return float(student.ppf(0.5 + 0.5 * level, max(dof, 3.0))) * float(np.sqrt(1.0 + share))


def top_of_ellipse(variance: Array, slope: Array, curvature: Array, z: float) -> float:
    """The largest γᵀδ + ½ δᵀK δ with δᵀ V⁻¹ δ = z², by scipy over unit vectors."""
    root = np.linalg.cholesky(variance)

    def fall(v: Array) -> float:
        delta = z * root @ (v / np.linalg.norm(v))
        return -float(slope @ delta + 0.5 * delta @ curvature @ delta)

    starts = np.random.default_rng(0).standard_normal((8, len(slope)))
    found = [minimize(fall, v, method="BFGS", options={"gtol": 1e-10}) for v in starts]
    return -min(float(one.fun) for one in found)


def padded_inverse(curvature: Array, size: int) -> Array:
    """J⁻¹ with zeros for further features."""
    out = np.zeros((size, size))
    out[: len(curvature), : len(curvature)] = np.linalg.inv(curvature)
    return out


@pytest.mark.parametrize("confidence", [0.8, 0.95, 0.99])
@pytest.mark.parametrize("name", DESIGNS)
def test_the_noncentral_interval(name: str, confidence: float) -> None:
    p = made(2, name)
    got = p.intervals(confidence)
    assert got.method == "noncentral"
    g, unit_weight, factor = unit_sums(2, name)
    g, rate = np.sqrt(factor) * g, p.tests(covariance="null").rate
    units = 1.0 / float(unit_weight @ unit_weight)
    steps, wholes, curvatures = gammas(2, name)
    first, second = (padded_inverse(j, 4) for j in curvatures)
    bias = p.gaps - got.debiased
    for k, bent in enumerate((first, second - first)):
        share, part = (2 + 2 * k) / units, g @ steps[k]
        want = noncentral(p.gaps[k], bias[k], part, share, 2, rate, confidence)
        rise = top_of_ellipse(g.T @ g, steps[k], bent, reach(part, share, confidence))
        want[1] = max(want[1], max(p.gaps[k] - bias[k], 0.0) + rise)
        np.testing.assert_allclose([got.low[k], got.high[k]], want, rtol=1e-6, atol=1e-12)
    whole, part, share = float(bias.sum()), g @ wholes[1], 4.0 / units
    want = noncentral(p.deficits[1], whole, part, share, 4, rate, confidence)
    rise = top_of_ellipse(g.T @ g, wholes[1], second, reach(part, share, confidence))
    want[1] = max(want[1], max(p.deficits[1] - whole, 0.0) + rise)
    np.testing.assert_allclose([got.deficit_low[1], got.deficit_high[1]], want, rtol=1e-6)


def test_a_short_mean_that_lies_across_the_spread_has_a_wide_interval() -> None:
    """Two opposite clusters of equal size: I₁ is nearly 0, and could be 3.84 / n."""
    t = np.concatenate([np.zeros(50), np.full(50, np.pi)])
    t += 0.1 * np.random.default_rng(31).standard_normal(100) + np.repeat([0.03, -0.03], 50)
    p = sr.profile(circle(t), levels=2)
    got = p.intervals()
    assert got.se[0] < 1e-3
    assert 0.036 < got.high[0] < 0.044
    assert got.high[0] == pytest.approx(got.deficit_high[0], rel=1e-12)
    sums = sr.profile(sr.Moments.from_directions(sr.Directions(circle(t)), sr.Harmonics(2, 2)))
    assert 0.036 < sums.intervals().high[0] < 0.044
    assert p.intervals(method="wald").high[0] < 0.004


def test_where_the_ellipse_has_its_top_in_the_hard_case() -> None:
    """No slope along the longest axis: the top lies on either side of it."""
    variance, slope = np.diag([4.0, 1.0, 0.25]), np.array([0.0, 0.3, 0.2])
    for bent in (np.eye(3), np.diag([1.0, 3.0, -2.0]), -np.eye(3)):
        found = rise_within(np.diag([2.0, 1.0, 0.5]), slope, bent, 2.0)
        inside = top_of_ellipse(variance, slope, bent, 2.0)
        if bent[0, 0] < 0.0:  # the top is inside: K is -1, and V⁻¹ does not bind
            inside = max(inside, 0.5 * float(slope @ slope))
        assert found == pytest.approx(inside, rel=1e-6)


def test_the_first_level_has_one_interval() -> None:
    for name in DESIGNS:
        got = made(3, name).intervals()
        np.testing.assert_allclose(got.deficit_low[0], got.low[0], rtol=1e-12)
        np.testing.assert_allclose(got.deficit_high[0], got.high[0], rtol=1e-12)


@pytest.mark.parametrize("q", [2.0, 5.0, 65.0])
@pytest.mark.parametrize("probability", [0.005, 0.025, 0.5, 0.975, 0.995])
def test_far_out_the_expansion_meets_the_exact_law(q: float, probability: float) -> None:
    """On both sides of where one takes over from the other, against scipy's distribution."""
    for seen in (4.9e3, 5.1e3, 2e4):
        delta = float(noncentrality_of(np.array([seen]), np.array([q]), probability)[0])
        spread = np.sqrt(2.0 * q + 4.0 * delta)
        exact = brentq(lambda v, s=seen: ncx2.cdf(s, q, v) - probability, 0.5 * seen, 2.0 * seen)
        assert delta == pytest.approx(exact, abs=1e-3 * spread)
    none = noncentrality_of(np.array([0.0, 1e-8, 0.01]), np.full(3, q), 0.975)
    assert none.tolist() == [0.0, 0.0, 0.0]


def test_a_noncentral_interval_that_reaches_zero() -> None:
    x = circle(np.random.default_rng(4).uniform(0.0, 2.0 * np.pi, 300))
    p = sr.profile(x, levels=3)
    got = p.intervals()
    for k in range(3):
        assert got.low[k] == 0.0
        assert got.high[k] > max(got.debiased[k], 0.0)
        assert got.near_zero[k]
    assert "near zero: the error is not normal there; see tests()" in str(got)


@pytest.mark.parametrize("z_at", [(0.95, 1.959963984540054), (0.5, 0.6744897501960817)])
def test_the_square_root_and_wald_intervals(z_at: tuple[float, float]) -> None:
    confidence, z = z_at
    p = made(3, "fixed")
    root, wald = (p.intervals(confidence, method=m) for m in ("sqrt", "wald"))
    se = root.se
    for low, high, value, error in (
        (root.low, root.high, p.gaps, se),
        (root.deficit_low, root.deficit_high, p.deficits, root.deficit_se),
    ):
        half = 0.5 * z * error / np.sqrt(value)
        np.testing.assert_allclose(low, np.maximum(np.sqrt(value) - half, 0.0) ** 2, rtol=1e-12)
        np.testing.assert_allclose(high, (np.sqrt(value) + half) ** 2, rtol=1e-12)
    np.testing.assert_allclose(wald.low, p.gaps - z * se, rtol=1e-12)
    np.testing.assert_allclose(wald.high, p.gaps + z * se, rtol=1e-12)
    for one in (root, wald):
        np.testing.assert_allclose(one.wald_low, p.gaps - z * se, rtol=1e-12)
        np.testing.assert_allclose(one.wald_high, p.gaps + z * se, rtol=1e-12)


def test_far_from_zero_the_noncentral_interval_is_nearly_normal() -> None:
    x = circle(np.random.default_rng(4).vonmises(0.0, 3.0, 40_000))
    got = sr.profile(x, levels=1).intervals()
    np.testing.assert_allclose(got.low, got.wald_low, atol=0.05 * got.se[0])
    np.testing.assert_allclose(got.high, got.wald_high, atol=0.05 * got.se[0])


def test_more_rows_than_the_exact_law_can_take() -> None:
    """A non-centrality far above 10⁴: scipy's root finder on a normal law of its moments."""
    x = circle(np.random.default_rng(4).vonmises(0.0, 3.0, 100_000))
    p = sr.profile(x, levels=1)
    got = p.intervals(0.9)
    z = float(norm.ppf(0.95))
    c = got.se[0] ** 2 * 1e5 / (2.0 * p.gaps[0])
    seen = 2e5 * float(p.gaps[0]) / c
    assert seen > 3e4
    ends = []
    for sign in (1.0, -1.0):
        found = brentq(
            lambda v, s=sign: seen - (2 + v) - s * z * np.sqrt(2 * (2 + 2 * v)), 1.0, 9 * seen
        )
        ends.append(found * c / 2e5)
    np.testing.assert_allclose([got.low[0], got.high[0]], ends, atol=0.02 * got.se[0])


@pytest.mark.parametrize("level", [0.8, 0.95])
def test_near_zero_is_within_the_null_law(level: float) -> None:
    rng = np.random.default_rng(6)
    seen = set()
    for kappa in (0.0, 0.1, 0.2, 0.3, 0.5, 1.0):
        p = sr.profile(circle(rng.vonmises(0.0, kappa, 200)), levels=2)
        got = p.intervals(level)
        c = got.se**2 * 200.0 / (2.0 * p.gaps)
        want = 400.0 * p.gaps / c <= chi2.ppf(0.5 + 0.5 * level, 2)
        assert got.near_zero.tolist() == want.tolist()
        seen.update(got.near_zero.tolist())
    assert seen == {True, False}


# --- uncertainty --------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["iid", "importance"])
def test_the_interval_of_u_is_that_of_d(name: str) -> None:
    p = made(3, name)
    methods: tuple[Method, ...] = ("noncentral", "sqrt", "wald")
    for method in methods:
        got = p.intervals(method=method)
        np.testing.assert_allclose(got.uncertainty_low, np.exp(-got.deficit_high), rtol=1e-12)
        np.testing.assert_allclose(got.uncertainty_high, np.exp(-got.deficit_low), rtol=1e-12)
        assert (got.uncertainty_low < p.uncertainty).all()
        assert (got.uncertainty_high > p.uncertainty).all()
    z = float(norm.ppf(0.975))
    np.testing.assert_allclose(got.uncertainty_low, np.exp(-p.deficits - z * got.deficit_se))


def test_upper_ends_of_the_deficit_never_fall() -> None:
    """What a level may hold, all above it may; of seed 2 they once were .0045 and then .0042."""
    for seed in range(12):
        x = sr.Sphere().uniform(1000, np.random.default_rng(seed))
        i = sr.profile(x, levels=4).intervals()
        assert (np.diff(i.deficit_high) >= 0.0).all()
        np.testing.assert_array_equal(i.uncertainty_low, np.exp(-i.deficit_high))


def test_u_is_never_above_one() -> None:
    x = circle(np.random.default_rng(4).uniform(0.0, 2.0 * np.pi, 300))
    got = sr.profile(x, levels=2).intervals()
    assert (got.deficit_low >= 0.0).all()
    assert (got.uncertainty_high <= 1.0).all()


# --- bias by simulation -------------------------------------------------------------------


def test_the_bias_of_noise() -> None:
    """Uniform circle, n = 200: each gap is q / 2n = 0.005 too large."""
    rng = np.random.default_rng(8)
    x = circle(rng.uniform(0.0, 2.0 * np.pi, (150, 200)))
    made_up = [sr.profile(one, levels=2).intervals() for one in x]
    bias = np.mean([one.gaps - one.debiased for one in made_up], axis=0)
    mean = np.mean([one.gaps for one in made_up], axis=0)
    np.testing.assert_allclose(bias, 0.005, rtol=0.05)
    np.testing.assert_allclose(mean, 0.005, atol=4.0 * 0.005 / np.sqrt(150))


def test_the_bias_of_ratios() -> None:
    """Target von Mises of concentration 1, uniform proposal, n = 60."""
    rng = np.random.default_rng(9)
    theta = rng.uniform(0.0, 2.0 * np.pi, (3000, 60))
    x, w = circle(theta), np.exp(np.cos(theta))
    true = i1(1.0) / i0(1.0) - np.log(i0(1.0))
    many = sample_tests(x, weights=w, levels=1, design="importance", covariance="null")
    gaps = many.gaps[:, 0]
    estimates = []
    for k in range(100):
        p = sr.profile(x[k], weights=w[k], levels=1, design="importance")
        estimates.append(p.gaps[0] - p.intervals().debiased[0])
    bias, error = gaps.mean() - true, gaps.std() / np.sqrt(3000.0)
    assert bias > 5.0 * error
    assert np.mean(estimates) == pytest.approx(bias, abs=3.0 * error + 0.15 * bias)


def test_the_bias_in_high_dimension_is_seen_from_halves() -> None:
    """Uniform in eight dimensions: 8 and 35 features, n = 900."""
    rng = np.random.default_rng(10)
    got = [sr.profile(unit(rng.standard_normal((900, 8))), levels=2).intervals() for _ in range(4)]
    bias = np.mean([one.gaps - one.debiased for one in got], axis=0)
    np.testing.assert_allclose(bias, [8.0 / 1800.0, 35.0 / 1800.0], rtol=0.35)


# --- sums, known covariances, dimensions --------------------------------------------------


@pytest.mark.parametrize("name", ["iid", "fixed", "importance"])
@pytest.mark.parametrize("d", [2, 3])
def test_sums_give_what_rows_give(d: int, name: str) -> None:
    rows = made(d, name)
    moments = sr.Moments.from_directions(
        sr.Directions(DATA[d], None if name == "iid" else WEIGHTS), sr.Harmonics(d, 2)
    )
    sums = sr.profile(moments, design=name)
    for method in ("sqrt", "wald"):
        a, b = rows.intervals(method=method), sums.intervals(method=method)
        for field in ("se", "deficit_se", "debiased", "low", "high", "deficit_low", "deficit_high",
                      "uncertainty_low", "uncertainty_high"):  # fmt: skip
            np.testing.assert_allclose(getattr(a, field), getattr(b, field), rtol=1e-8)
        assert a.near_zero.tolist() == b.near_zero.tolist()
    rate = rows.tests(covariance="null").rate
    got = sums.intervals()  # sums do not tell how well the variance is known, nor how skew it is
    signs = np.tile([1e-3, -1e-3], 500_000)
    for k, q in enumerate(int(q) for q in rows.dims):
        share = float(rows.dims[: k + 1].sum()) / rows.ess
        bias = float(rows.gaps[k] - got.debiased[k])
        want = noncentral(rows.gaps[k], bias, got.se[k] * signs, share, q, rate, 0.95)
        np.testing.assert_allclose(got.low[k], want[0], rtol=4e-6)  # t of a million units
        assert want[1] * (1.0 - 1e-6) <= got.high[k] <= 1.3 * want[1]


def test_a_known_covariance() -> None:
    p = made(3, "iid")
    sigma = np.cov(sr.Harmonics(3, 2).features(DATA[3]).T, bias=True)
    known = sr.profile(
        DATA[3], levels=2, design=sr.designs.Known(sigma, float(np.sqrt(N)))
    ).intervals(method="wald")
    want = p.intervals(method="wald")
    for field in ("se", "low", "high", "deficit_se", "debiased"):
        np.testing.assert_allclose(getattr(known, field), getattr(want, field), rtol=1e-8)


def test_the_errors_in_four_dimensions() -> None:
    """From the log-densities of the fits at the rows."""
    x = unit(np.random.default_rng(1).normal([0.5, 0.0, 0.0, 0.0], [1.0, 1.0, 0.7, 1.3], (500, 4)))
    p = sr.profile(x, levels=2)
    first, second = p.fits[1].logpdf(x), p.fits[2].logpdf(x)
    want = [np.std(first), np.std(second - first)] / np.sqrt(500.0)
    np.testing.assert_allclose(p.intervals().se, want, rtol=1e-10)


@pytest.fixture(scope="module")
def crowded() -> sr.results.GapIntervals:
    x = np.random.default_rng(2).standard_normal((300, 60))
    x[:, 0] += 2.0
    return sr.profile(unit(x), levels=2).intervals()


def test_too_many_dimensions(crowded: sr.results.GapIntervals) -> None:
    for ends in (crowded.low, crowded.high, crowded.deficit_low, crowded.deficit_high):
        assert np.isfinite(ends[0])
        assert np.isnan(ends[1])
    assert np.isfinite(crowded.gaps).all()
    known = coded(crowded, "crowded").data
    assert known == pytest.approx({"features": 1829, "rate": np.sqrt(300.0)})


def test_too_many_dimensions_for_u_as_well(crowded: sr.results.GapIntervals) -> None:
    assert np.isfinite([crowded.uncertainty_low[0], crowded.uncertainty_high[0]]).all()
    assert np.isnan([crowded.uncertainty_low[1], crowded.uncertainty_high[1]]).all()


# --- options and reports ------------------------------------------------------------------


@pytest.mark.parametrize("confidence", [0.0, 1.0, 95.0, -0.1, np.nan])
def test_impossible_confidence(confidence: float) -> None:
    with pytest.raises(ValueError, match=f"confidence is {confidence}; give a number between 0"):
        made(2, "iid").intervals(confidence)


def test_unknown_methods() -> None:
    method: Any = "exact"
    with pytest.raises(
        ValueError, match="method is 'exact'; choose 'noncentral', 'sqrt' or 'wald'"
    ):
        made(2, "iid").intervals(method=method)


@pytest.mark.parametrize("method", ["noncentral", "sqrt", "wald"])
def test_more_confidence_is_wider(method: Method) -> None:
    p = made(3, "clusters")
    narrow, wide = p.intervals(0.6, method=method), p.intervals(0.99, method=method)
    assert (wide.low < narrow.low).all()
    assert (wide.high > narrow.high).all()
    assert (narrow.low < p.gaps).all()
    assert (narrow.high > p.gaps).all()


def test_warnings_about_weights() -> None:
    w = np.ones(N)
    w[0] = 60.0
    p = sr.profile(DATA[2], weights=w, levels=1, design="fixed")
    assert "dominant_row" in codes(p.intervals())
    assert not made(2, "fixed").intervals().diagnostics


def test_reports() -> None:
    got = made(2, "importance").intervals(0.9)
    text, record = str(got), got.to_dict()
    assert text.startswith("90% intervals, nats (noncentral); design importance:")
    assert record["se"] == got.se.tolist()
    assert record["near_zero"] == got.near_zero.tolist()
    assert record["diagnostics"] == []
    assert record["confidence"] == 0.9


def test_sums_of_high_dimension_are_refused() -> None:
    x = unit(np.random.default_rng(1).standard_normal((300, 4)))
    p = sr.profile(sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(4, 2)))
    with pytest.raises(DesignError, match=r"hold no covariance of level \d, which needs the rows"):
        p.intervals()


# --- strata -------------------------------------------------------------------------------


def test_strata_of_two_units_widen_intervals_to_their_degrees_of_freedom() -> None:
    """Of 200 samples at least 178 hold the truth: four binomial errors below 190.

    Strata of 2, 2 and 20 units of a third of the weight each: .873 of intervals of I1 before.
    """
    sizes, centres = (2, 2, 20), np.array([0.0, 2.0, 3.5])
    of_unit = np.repeat(np.arange(3), sizes)
    psu, strata = np.repeat(np.arange(24), 5), np.repeat(of_unit, 5)
    w = (1.0 / np.array(sizes, dtype=float))[strata]
    mean = abs(np.exp(1j * centres).mean()) * (i1(4.0) / i0(4.0)) * np.exp(-0.5 * 0.3**2)
    kappa = brentq(lambda k: i1(k) / i0(k) - mean, 1e-9, 50.0)
    truth = kappa * mean - np.log(i0(kappa))
    rng, held = np.random.default_rng(8), 0
    for _ in range(200):
        centre = centres[of_unit] + 0.3 * rng.normal(size=24)
        x = circle(centre[psu] + rng.vonmises(0.0, 4.0, len(psu)))
        design = sr.designs.Survey(psu=psu, strata=strata)
        found = sr.profile(x, weights=w, levels=1, design=design).intervals()
        held += bool(found.low[0] <= truth <= found.high[0])
    assert held >= 178
