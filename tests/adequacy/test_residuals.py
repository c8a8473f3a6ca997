"""Residuals and MMD against brute force, the paper's illustration, and the rules about p-values."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import oracles
import steradian as sr
from coded import MULTIPLIER, PARAMETRIC, coded, codes, tail
from oracles import Array
from steradian.adequacy.leftover import GriddedLeftover, PolarLeftover, Served
from steradian.adequacy.mmd import forms_of
from steradian.adequacy.trust import Answer
from steradian.diagnostics import Verdict
from steradian.families.quadratics.polar_whitening import polar_whitening
from steradian.inference.effort import Patience, TakesLong
from steradian.paper import ridge

RULES = {2: oracles.circle_rule(512), 3: oracles.sphere_rule(24)}


def sample(d: int, n: int = 150, seed: int = 4) -> Array:
    """A lopsided mixture with a point on each pole and at the date line."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=(n, d)) + rng.integers(0, 2, (n, 1)) * np.linspace(1.5, -1.0, d)
    x = np.vstack([x, np.eye(d), -np.eye(d)])
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def trimodal(seed: int, n: int = 500) -> sr.Directions:
    rng = np.random.default_rng(seed)
    centre = rng.integers(0, 3, n) * (2.0 * np.pi / 3.0)
    return sr.Directions.from_angles(centre + rng.vonmises(0.0, 5.5, n))


def masses(fit: sr.results.MaxEntFit) -> tuple[Array, Array]:
    """Nodes and masses of a fit on an independent rule."""
    rule = RULES[fit.space.d]
    points = np.asarray(rule.points, dtype=np.float64)
    mass = np.asarray(rule.weights, dtype=np.float64) * fit.pdf(
        sr.Directions(points, normalize=True)
    )
    assert mass.sum() == pytest.approx(1.0, abs=1e-10)
    return points, mass


def test_the_paper_s_trimodal_illustration() -> None:
    """R_{L,8} = 0.421, 0.420, 0.083 in the paper, raw normalisation, one sample of 500."""
    found = np.array([sr.profile(trimodal(s), levels=3).residuals(degree=8).raw for s in range(40)])
    spread = found.std(axis=0, ddof=1)
    np.testing.assert_array_less(np.abs(found.mean(axis=0) - [0.421, 0.420, 0.083]), 3.0 * spread)
    assert (spread < [0.03, 0.03, 0.03]).all()


def test_orthonormal_is_root_two_of_raw_on_the_circle_and_raw_on_the_sphere() -> None:
    r = sr.profile(trimodal(1), levels=3).residuals(degree=8)
    np.testing.assert_allclose(r.values, np.sqrt(2.0) * r.raw, rtol=1e-14)
    s = sr.profile(sample(3), levels=2).residuals()
    np.testing.assert_array_equal(s.values, s.raw)


@pytest.mark.parametrize("d", [2, 3])
def test_values_and_contributions_against_brute_force(d: int) -> None:
    x = sample(d)
    weights = np.linspace(0.2, 3.0, len(x))
    p = sr.profile(x, weights=weights, levels=3)
    a = np.array([9.0, 9.0, 9.0, 0.0, 2.0, 0.5, 1.0])
    r = p.residuals(degree=7, weights=a)
    seen = np.asarray(oracles.sample_moments(x, 7, weights), dtype=np.float64)
    for level in (1, 2, 3):
        points, mass = masses(p.fits[level])
        expected = mass @ np.asarray(oracles.harmonics(points, 7), dtype=np.float64)
        squares = (seen - expected[-len(seen) :]) ** 2
        ends = [oracles.size(d, degree) for degree in range(8)]
        by_degree = [squares[ends[k] : ends[k + 1]].sum() for k in range(7)]
        wanted = a * by_degree * (np.arange(1, 8) > level)
        np.testing.assert_allclose(r.contributions[level - 1], wanted, atol=1e-9)
        assert r.values[level - 1] == pytest.approx(np.sqrt(wanted.sum()), abs=1e-9)


@pytest.mark.parametrize("d", [2, 3])
def test_named_weights(d: int) -> None:
    p = sr.profile(sample(d), levels=2)
    assert p.residuals(degree=5).degree_weights.tolist() == [1.0] * 5
    ell = np.arange(1, 6)
    sobolev = p.residuals(degree=5, weights="sobolev")
    np.testing.assert_allclose(sobolev.degree_weights, (1.0 + ell * (ell + d - 2)) ** (-d / 2))
    unit = p.residuals(degree=5).contributions
    np.testing.assert_allclose(sobolev.contributions, unit * sobolev.degree_weights, rtol=1e-12)


KERNELS: dict[str, tuple[sr.kernels.Kernel, Callable[[Array, int], Array]]] = {
    "poisson": (
        sr.kernels.Poisson(0.4),
        lambda t, d: (1.0 - 0.16) / (1.16 - 0.8 * t) ** (d / 2),
    ),
    "vmf": (sr.kernels.VonMisesFisherKernel(3.0), lambda t, _: np.exp(3.0 * (t - 1.0))),
    "heat": (sr.kernels.Heat(0.2), lambda t, d: _heat(t, d, 0.2)),
}


def _heat(t: Array, d: int, time: float) -> Array:
    """The heat kernel by its series in Chebyshev or Legendre polynomials."""
    terms = np.arange(60.0)
    decay = np.exp(-time * terms * (terms + d - 2.0))
    if d == 2:
        return np.polynomial.chebyshev.chebval(t, decay * np.where(terms > 0, 2.0, 1.0))
    return np.asarray(np.polynomial.legendre.legval(t, decay * (2.0 * terms + 1.0)))


@pytest.mark.parametrize("d", [2, 3])
@pytest.mark.parametrize("name", KERNELS)
def test_mmd_is_the_double_sum_of_the_kernel(d: int, name: str) -> None:
    x = sample(d, 40)
    w = np.linspace(1.0, 2.0, len(x))
    p = sr.profile(x, weights=w, levels=2)
    kernel, closed = KERNELS[name]
    found = p.mmd(kernel)
    w /= w.sum()
    for level in (1, 2):
        points, mass = masses(p.fits[level])
        mean = closed(x @ points.T, d) @ mass  # E k(x_i, Y)
        some = mass > 1e-18
        both = mass[some] @ closed(points[some] @ points[some].T, d) @ mass[some]
        gram = closed(x @ x.T, d)
        biased = w @ gram @ w - 2.0 * w @ mean + both
        centred = gram - mean[:, None] - mean[None, :] + both
        np.fill_diagonal(centred, 0.0)
        unbiased = w @ centred @ w / (1.0 - w @ w)
        assert found.squared[level - 1] == pytest.approx(biased, rel=1e-8, abs=1e-11)
        assert found.unbiased[level - 1] == pytest.approx(unbiased, rel=1e-8, abs=1e-11)
    np.testing.assert_allclose(found.values**2, found.squared)


@pytest.mark.parametrize("d", [2, 3])
def test_kernel_weights_are_those_of_the_closed_form(d: int) -> None:
    """b_l = ∫ k(t) P_l(t): Gauss quadrature of the closed kernel against each degree."""
    if d == 3:
        t, mass = np.polynomial.legendre.leggauss(200)
        mass /= 2.0
        zonal = np.polynomial.legendre.legvander(t, 6)
    else:
        theta = 2.0 * np.pi * np.arange(400) / 400
        t, mass = np.cos(theta), np.full(400, 1.0 / 400)
        zonal = np.cos(np.outer(theta, np.arange(7)))
    for kernel, closed in KERNELS.values():
        expected = (mass * closed(t, d)) @ zonal
        np.testing.assert_allclose(kernel.weights(d, 6), expected[1:], rtol=1e-10)


@pytest.mark.parametrize("d", [2, 3])
def test_covariance_of_the_leftover_by_brute_force(d: int) -> None:
    p = sr.profile(sample(d), levels=3)
    points, mass = masses(p.fits[2])
    phi = np.asarray(oracles.harmonics(points, 5), dtype=np.float64)
    phi = phi[:, -oracles.size(d, 5) :]
    below = oracles.size(d, 2)
    phi = phi - mass @ phi
    joint = phi.T @ (mass[:, None] * phi)
    schur = joint[below:, below:] - joint[below:, :below] @ np.linalg.solve(
        joint[:below, :below], joint[:below, below:]
    )
    left = GriddedLeftover.of(sr.Harmonics(d, 5), 2, p.fits[2].lam, np.ones(5))
    np.testing.assert_allclose(left.covariance, schur, atol=1e-9)
    np.testing.assert_allclose(left.coefficients, np.linalg.eigvalsh(schur)[::-1], atol=1e-9)


@pytest.mark.parametrize("kappa", [0.0, 0.7, 12.0])
def test_closed_form_in_any_dimension_agrees_with_quadrature_on_the_sphere(kappa: float) -> None:
    h = sr.Harmonics(3, 2)
    axis = np.array([2.0, -1.0, 0.5]) / np.linalg.norm([2.0, -1.0, 0.5])
    eta = kappa * axis
    lam = np.linalg.lstsq(h.features(np.eye(3))[:, :3], eta, rcond=None)[0]
    gridded = GriddedLeftover.of(h, 1, lam, np.array([1.0, 0.7]))
    polar = PolarLeftover(
        h,
        polar_whitening(3, eta[None] / np.sqrt(3.0)),
        0.7,
        np.zeros(5),
    )
    # on the two-sphere itself the trapezoidal rule of the closed form ends in corners
    np.testing.assert_allclose(polar.coefficients, gridded.coefficients, rtol=1e-6)


def test_degree_two_above_dimension_three() -> None:
    rng = np.random.default_rng(2)
    x = rng.normal(size=(400, 6)) + 1.2 * np.eye(6)[2]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    p = sr.profile(x)
    r = p.residuals()
    q = x.T @ x / len(x)
    draws = p.fits[1].sample(60_000, 3)
    away = q - draws.T @ draws / len(draws)
    assert r.values[0] == pytest.approx(np.sqrt(0.5 * 6 * 8 * (away**2).sum()), rel=0.06)
    assert np.isnan(r.values[1])
    assert r.diagnostics[0].code == "nothing_above"
    by_draws = p.residuals(method="bootstrap", replicates=299).pvalue[0]
    assert abs(by_draws - r.pvalue[0]) < 0.1
    with pytest.raises(ValueError, match="give at most 2 in dimension 6"):
        p.residuals(degree=3)


@pytest.mark.parametrize("design", ["iid", "fixed", "importance"])
def test_exact_and_bootstrap_agree_in_large_samples(design: str) -> None:
    rng = np.random.default_rng(8)
    theta = rng.vonmises(0.4, 2.0, 1500)
    w = {"iid": None, "fixed": rng.uniform(0.5, 2.0, 1500), "importance": None}[design]
    if design == "importance":
        w = np.exp(np.cos(theta - 0.4))  # target von Mises(3)
    p = sr.profile(sr.Directions.from_angles(theta, weights=w), levels=2, design=design)
    exact = p.residuals(degree=5, method="exact").pvalue
    drawn = p.residuals(degree=5, method="bootstrap", seed=3)
    np.testing.assert_allclose(exact, drawn.pvalue, atol=0.07)
    assert drawn.methods == (MULTIPLIER,) * 2


def test_same_seed_same_pvalue_and_clusters_need_their_units() -> None:
    rng = np.random.default_rng(5)
    theta = np.repeat(rng.vonmises(0.0, 1.0, 60), 15)
    rows = sr.Directions.from_angles(theta)
    p = sr.profile(rows, levels=1, design=sr.designs.Clusters(np.repeat(np.arange(60), 15)))
    one, same, other = (p.residuals(degree=4, seed=s).pvalue[0] for s in (1, 1, 2))
    assert one == same != other
    naive = sr.profile(rows, levels=1).residuals(degree=4).pvalue[0]
    assert naive < 1e-3
    assert one > 0.05


def test_too_few_units_are_refused_with_the_count() -> None:
    rows = sr.Directions(sample(3, 100))
    ids = np.arange(rows.n) % 7
    p = sr.profile(rows, levels=2, design=sr.designs.Clusters(ids))
    r = p.residuals()
    assert np.isfinite(r.pvalue[0])
    assert np.isnan(r.pvalue[1])
    few = {"units": 7, "what": "cluster", "features": 8}
    assert coded(r, "few_units_for_residuals", 2).data == few
    assert p.trust().data.answer is Answer.NO


def test_structure_above_the_level_is_seen_and_named() -> None:
    p = sr.profile(trimodal(3), levels=3)
    r = p.residuals(degree=8)
    assert r.pvalue[0] < 1e-20
    assert r.pvalue[2] > 0.01
    assert int(np.argmax(r.contributions[0])) + 1 == 3
    text = str(r)
    assert "Residuals through degree 8; design iid" in text
    assert "raw Δ" in text
    assert "3 (9" in text
    assert p.mmd().pvalue[0] < 1e-15


def test_descriptive_data_have_values_but_no_pvalues() -> None:
    p = sr.profile(sample(3), weights=np.arange(1.0, 157.0), levels=2)
    r, m = p.residuals(degree=4), p.mmd()
    assert np.isfinite(r.values).all()
    assert np.isfinite(m.values).all()
    for result in (r, m):
        with pytest.raises(sr.DesignError, match="defines no p-value"):
            _ = result.pvalue
        assert result.to_dict()["pvalue"] == [None, None]


def test_moments_alone_offer_what_their_sums_support() -> None:
    rows = sr.Directions(sample(3, 400))
    moments = sr.Moments.from_directions(rows, sr.Harmonics(3, 3))
    p, q = sr.profile(moments, levels=2, design="iid"), sr.profile(rows, levels=2)
    np.testing.assert_allclose(p.residuals(degree=4).values, q.residuals(degree=4).values)
    exact = q.residuals(degree=4, method="exact").pvalue
    np.testing.assert_allclose(p.residuals(degree=4).pvalue, exact, rtol=1e-6)
    with pytest.raises(sr.DesignError, match="hold degree 4, not 7"):
        p.residuals(degree=7)
    with pytest.raises(sr.DesignError, match="bootstraps need the rows"):
        p.residuals(degree=4, method="bootstrap")


def test_known_covariance_reaches_its_own_degree() -> None:
    x = sample(2, 300)
    phi = sr.Harmonics(2, 4).features(x)
    known = sr.designs.Known(np.cov(phi.T, bias=True), np.sqrt(len(x)))
    p = sr.profile(x, levels=4, design=known)
    r = p.residuals(degree=4)
    units = sr.profile(x, levels=4).residuals(degree=4, method="exact")
    assert r.methods[0] == tail("known")
    assert 0.0 <= r.pvalue[0] <= 1.0
    np.testing.assert_allclose(r.values, units.values)
    beyond = p.residuals(degree=6)
    assert np.isnan(beyond.pvalue).all()
    limits = coded(beyond, "covariances_to_degree").data
    assert (limits["held"], limits["asked"]) == (4, 6)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"degree": 1}, "give a whole number above 1"),
        ({"degree": 2.5}, "give a whole number above 1"),
        ({"degree": 4, "weights": "flat"}, "choose 'unit', 'sobolev' or 4 numbers"),
        ({"degree": 4, "weights": [1.0, 2.0]}, r"shape \(2,\); give 4 numbers, one per degree"),
        ({"degree": 4, "weights": [1.0, 1.0, 1.0, -1.0]}, "give finite numbers >= 0, not all zero"),
        ({"degree": 4, "weights": [0.0] * 4}, "not all zero"),
        ({"degree": 2000}, "give at most 1000 in dimension 2"),
        ({"method": "magic"}, "choose 'exact' or 'bootstrap'"),
        ({"replicates": 3}, "give 19 or more"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, object], message: str) -> None:
    p = sr.profile(sample(2), levels=2)
    with pytest.raises(ValueError, match=message):
        p.residuals(**arguments)  # type: ignore[arg-type]


def test_wrong_kernels_are_named() -> None:
    p = sr.profile(sample(3), levels=2)
    with pytest.raises(ValueError, match="choose 'heat', 'poisson', 'vmf'"):
        p.mmd("gauss")
    with pytest.raises(ValueError, match="too narrow"):
        p.mmd(sr.kernels.Poisson(0.99))
    for kernel, wrong in (
        (sr.kernels.Poisson, 1.0),
        (sr.kernels.Heat, 0.0),
        (sr.kernels.VonMisesFisherKernel, -1.0),
    ):
        with pytest.raises(ValueError, match="give a"):
            kernel(wrong)


def test_level_that_reaches_the_degree_has_nothing_left() -> None:
    r = sr.profile(sample(3), levels=3).residuals(degree=3)
    assert np.isfinite(r.values[:2]).all()
    assert np.isnan(r.values[2])
    assert r.diagnostics[-1].code == "nothing_above"


def test_shrunk_profiles_are_refused() -> None:
    p = sr.profile(sample(3), levels=2, shrinkage=0.1)
    with pytest.raises(sr.DesignError, match="without shrinkage"):
        p.residuals()


def test_dictionaries_are_complete() -> None:
    p = sr.profile(sample(2), levels=2)
    r, m = p.residuals(degree=4).to_dict(), p.mmd("vmf").to_dict()
    assert {"values", "raw", "pvalue", "contributions", "degree_weights", "design"} <= set(r)
    assert {"values", "squared", "unbiased", "pvalue", "kernel", "design"} <= set(m)
    assert "MMD between data and fits, kernel VonMisesFisherKernel(kappa=2.828)" in str(
        p.mmd("vmf")
    )


@pytest.mark.parametrize("level", [1, 2])
def test_mmd_in_any_dimension_is_that_of_the_sphere_there(level: int) -> None:
    """Contours in one and two variables on one side, harmonics on the other."""
    x = sample(3, 60)
    p = sr.profile(x, levels=2)
    weights = np.full(len(x), 1.0 / len(x))
    found = forms_of(sr.Harmonics(3, 2), p.fits[level].lam, 3.0, x, weights)
    wanted = p.mmd(sr.kernels.VonMisesFisherKernel(3.0))
    assert found.biased == pytest.approx(wanted.squared[level - 1], abs=1e-11)
    assert found.unbiased == pytest.approx(wanted.unbiased[level - 1], abs=1e-11)


def test_mmd_above_dimension_three() -> None:
    rng = np.random.default_rng(1)
    skew = rng.exponential(size=(60, 5)) - 1.0  # all of it above degree 2
    even = rng.normal(size=(60, 5))
    skewed, plain = (sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True)) for x in (skew, even))
    found = skewed.mmd(replicates=19)
    assert found.pvalue.tolist() == [0.05, 0.05]
    assert found.methods == (PARAMETRIC,) * 2
    calm = plain.mmd(replicates=19)
    assert calm.pvalue.min() > 0.05
    assert codes(calm) == ["fit_too_sharp"] * 2
    assert coded(calm, "fit_too_sharp", 2).data == pytest.approx({"rows": 60.0, "features": 19})
    with pytest.raises(
        ValueError, match="too narrow for the fit in dimension 5; choose a smaller one"
    ):
        plain.mmd(sr.kernels.VonMisesFisherKernel(60.0))
    with pytest.raises(ValueError, match="only the kernel 'vmf' has a closed form"):
        skewed.mmd("heat")
    with pytest.raises(sr.DesignError, match="use method='bootstrap'"):
        skewed.mmd(method="exact")


@pytest.mark.parametrize("d", [2, 3])
def test_concentration_does_not_turn_rounding_into_structure(d: int) -> None:
    """Gaussian clouds of any width are Fisher-Bingham; below rounding there is no answer."""
    for width in (1e-1, 1e-2, 3e-3, 1e-3, 1e-4):
        rng = np.random.default_rng(5)
        x = np.hstack([np.ones((1000, 1)), width * rng.normal(size=(1000, d - 1))])
        x /= np.linalg.norm(x, axis=1, keepdims=True)
        found = sr.profile(x, levels=2).residuals(method="exact").pvalue
        assert not (found < 1e-3).any(), width


def test_sharper_than_any_grid_is_said() -> None:
    theta = 1e-4 * np.random.default_rng(5).normal(size=1000)
    r = sr.profile(sr.Directions.from_angles(theta), levels=1).residuals()
    assert np.isnan(r.values[0])
    assert r.diagnostics[0].data["error"] == "ResolutionError"


def test_stratified_surveys_count_their_degrees_of_freedom() -> None:
    rows = sr.Directions(sample(3, 154), np.ones(160))
    ids = np.arange(160) // 10
    plan = sr.designs.Survey(psu=ids, strata=ids % 8)
    p = sr.profile(rows, levels=2, design=plan)
    r = p.residuals(replicates=99)
    assert np.isfinite(r.pvalue[0])
    few = {"units": 16, "what": "primary unit", "features": 8}
    assert coded(r, "few_units_for_residuals", 2).data == few
    assert "few_units_for_residuals" in codes(p.trust().structure.reasons)
    assert p.to_dict()["trust"]["data"]["answer"] == "with_care"


@pytest.mark.parametrize(
    "kernel",
    [sr.kernels.Heat(3.0), sr.kernels.Poisson(1e-4), sr.kernels.VonMisesFisherKernel(1e-3)],
)
def test_wide_kernels_still_look_above_the_level(kernel: sr.kernels.Kernel) -> None:
    found = sr.profile(sample(3, 400), levels=4).mmd(kernel, method="exact")
    assert (found.squared > 0.0).all()
    assert ((found.pvalue > 0.0) & (found.pvalue <= 1.0)).all()


def test_records_are_json_and_whole_numbers_may_be_numpy_s() -> None:
    p = sr.profile(sample(3), levels=3)
    degree: Any = np.int64(3)
    for result in (p.residuals(degree), p.mmd(method="exact"), p.sensitivity(), p):
        json.dumps(result.to_dict(), allow_nan=False)
    json.dumps(ridge(np.eye(3), 0.01, levels=3).to_dict(), allow_nan=False)


def test_defaults_ask_for_what_moments_and_designs_hold() -> None:
    rows = sr.Directions(sample(3, 300))
    of_sums = sr.profile(sr.Moments.from_directions(rows, sr.Harmonics(3, 2)))
    assert of_sums.residuals().degree == 4
    known = sr.designs.Known(np.eye(8), 10.0)
    assert sr.profile(rows, levels=2, design=known).residuals().degree == 2


@pytest.mark.parametrize("level", [1, 2, 5])
def test_leftover_by_moments_is_that_of_the_nodes(
    level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The condition here is below 1e4: of 16 digits, twelve are left, and a margin of ten."""
    profile = sr.profile(sample(3, 400), levels=5)
    lam, weights = profile.fits[level].lam, np.ones(8)
    both = []
    monkeypatch.setattr("steradian.families.grids.gridded._FEW_FEATURES", 0)
    for work in (0.0, np.inf):
        monkeypatch.setattr("steradian.families.grids.gridded._LONG_PRODUCTS", work)
        both.append(GriddedLeftover.of(sr.Harmonics(3, 8), level, lam, weights))
    assert not np.array_equal(both[0].covariance, both[1].covariance)
    for name in ("mean", "slope", "covariance"):
        one, other = (getattr(each, name) for each in both)
        np.testing.assert_allclose(one, other, atol=1e-11 * np.abs(other).max())


@pytest.mark.parametrize("level", [1, 3])
def test_leftover_by_blocks_of_nodes_is_that_of_all(
    level: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Conditions are below 1e4 here: of 16 digits, twelve are left, and a margin of ten."""
    profile = sr.profile(sample(3, 400), levels=3)
    lam, weights, wide = profile.fits[level].lam, np.array([1.0, 0.5, 2.0, 0.7, 1.0]), 5
    points, mass = sr.Harmonics(3, level).family(level).rule(lam, 2 * wide)
    phi = sr.Harmonics(3, wide).features(points)
    phi = phi - mass @ phi
    j, u = phi.T @ (mass[:, None] * phi), len(lam)
    slope = np.linalg.solve(j[:u, :u], j[:u, u:])
    scale = np.sqrt(np.repeat(weights, [3, 5, 7, 9, 11]))[u:]
    expected = scale[:, None] * (j[u:, u:] - j[u:, :u] @ slope) * scale
    for entries in (1, 1 << 40):
        monkeypatch.setattr("steradian.adequacy.leftover._BLOCK_ENTRIES", entries)
        left = GriddedLeftover.of(sr.Harmonics(3, wide), level, lam, weights)
        np.testing.assert_allclose(left.slope, slope, atol=1e-11 * np.abs(slope).max())
        np.testing.assert_allclose(left.covariance, expected, atol=1e-11 * expected.max())


def test_what_takes_long_to_integrate_is_left_to_those_who_ask() -> None:
    profile = sr.profile(sample(3, 60), levels=3)
    lam, weights = profile.fits[3].lam, np.ones(5)
    served = Served(patience=Patience(1e3, "residuals()"))
    with pytest.raises(TakesLong, match=r"level 3: not computed .*; call `residuals"):
        GriddedLeftover.of(sr.Harmonics(3, 5), 3, lam, weights, served)


def test_a_summary_does_not_wait_for_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steradian.adequacy.trust._SOON", 10.0)
    profile = sr.profile(sample(3, 60), levels=3, design="iid")
    structure = profile.trust().structure
    assert structure.answer is Verdict.OPEN
    assert structure.words == "Not computed (about 1 s); call `residuals()`."
    found = profile.residuals()
    assert np.isfinite(found.values[-1])
    later = profile.trust().structure
    assert later.answer is not Verdict.OPEN
    assert later.reasons[0].data["pvalue"] == found.pvalue[-1]
