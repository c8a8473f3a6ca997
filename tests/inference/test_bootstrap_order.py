"""Bootstraps that draw as the design says, the choice of order, and many samples at once."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import i0, i0e, i1e
from scipy.stats import chi2

import steradian as sr
from coded import coded, codes
from steradian.designs.base import Units
from steradian.errors import DesignError, InvalidDirections
from steradian.inference.bootstrap import resampled_weights
from steradian.numerics.arrays import Array
from steradian.paper import sample_tests


def circle(theta: Array) -> Array:
    return np.stack([np.cos(theta), np.sin(theta)], axis=-1)


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


N = 240
RNG = np.random.default_rng(17)
X = unit(RNG.normal([0.4, 0.0, 0.6], 1.0, (N, 3)))
W = RNG.gamma(3.0, size=N)
IDS = np.arange(N) // 4
STRATA = np.arange(N) % 3
PSU = np.arange(N) // 12
DESIGNS: dict[str, tuple[sr.designs.Design, bool]] = {
    "iid": (sr.designs.IID(), False),
    "fixed": (sr.designs.FixedWeights(), True),
    "importance": (sr.designs.Importance(), True),
    "clusters": (sr.designs.Clusters(IDS), True),
    "chain": (sr.designs.Chain(batch=4), True),
    "survey": (sr.designs.Survey(PSU, STRATA), True),
    "finite survey": (sr.designs.Survey(PSU, STRATA, np.array([0.2, 0.6, 0.4])[STRATA]), True),
}
DRAWS = 4000


def units_of(name: str) -> Units:
    design, weighted = DESIGNS[name]
    return design.units(sr.Directions(X, W if weighted else None))


# --- weights drawn again ------------------------------------------------------------------


@pytest.mark.parametrize("name", DESIGNS)
def test_drawn_weights_are_weights(name: str) -> None:
    drawn = resampled_weights(units_of(name), 50, np.random.default_rng(0))
    assert drawn.shape == (50, N)
    assert (drawn >= 0.0).all()
    np.testing.assert_allclose(drawn.sum(axis=1), 1.0, rtol=1e-12)
    assert (np.ptp(drawn, axis=0) > 0.0).all()


@pytest.mark.parametrize("name", DESIGNS)
def test_drawn_moments_have_the_observed_mean(name: str) -> None:
    """The law drawn from is the sample as it is weighted: its moments are the fitted ones."""
    units = units_of(name)
    phi = sr.Harmonics(3, 2).features(X)
    moments = resampled_weights(units, DRAWS, np.random.default_rng(1)) @ phi
    error = moments.std(axis=0) / np.sqrt(DRAWS)
    away = moments.mean(axis=0) - units.weights @ phi
    bias = 0.05 * moments.std(axis=0)  # of a ratio, of second order
    assert (np.abs(away) < 5.0 * error + bias).all()


@pytest.mark.parametrize("name", DESIGNS)
def test_drawn_moments_have_the_covariance_of_the_units(name: str) -> None:
    """Up to (count - 1) / count, which a plain draw of as many units leaves out."""
    units = units_of(name)
    phi = sr.Harmonics(3, 2).features(X)
    moments = resampled_weights(units, DRAWS, np.random.default_rng(2)) @ phi
    g = units.contributions(phi, units.weights @ phi)
    want = g.T @ (np.broadcast_to(units.factor, units.count)[:, None] * g)
    got = np.cov(moments.T)
    scale = np.sqrt(np.outer(np.diag(want), np.diag(want)))
    np.testing.assert_allclose(got / scale, want / scale, atol=0.25)
    assert np.trace(got) / np.trace(want) == pytest.approx(1.0, abs=0.12)


def test_rows_of_a_unit_stay_together() -> None:
    for name, labels in (("clusters", IDS), ("chain", IDS), ("survey", STRATA * 20 + PSU)):
        times = resampled_weights(units_of(name), 20, np.random.default_rng(3)) / W
        for unit_label in np.unique(labels)[:10]:
            inside = times[:, labels == unit_label]
            np.testing.assert_allclose(inside, inside[:, :1] * np.ones(inside.shape[1]))


def test_strata_keep_their_share() -> None:
    """With equal weights and equal units each stratum's total is not random."""
    units = sr.designs.Survey(PSU, STRATA).units(sr.Directions(X))
    drawn = resampled_weights(units, 200, np.random.default_rng(4))
    for stratum in range(3):
        np.testing.assert_allclose(drawn[:, stratum == STRATA].sum(axis=1), 1.0 / 3.0, rtol=1e-12)
    plain = sr.designs.Clusters(STRATA * 20 + PSU).units(sr.Directions(X))
    loose = resampled_weights(plain, 200, np.random.default_rng(4))
    assert np.ptp(loose[:, STRATA == 0].sum(axis=1)) > 0.05


def test_strata_of_unequal_size_keep_their_share() -> None:
    strata = np.digitize(np.arange(N), [2, 5, 40])  # 2, 3, 35 and 200 units of one row
    units = sr.designs.Survey(strata=strata).units(sr.Directions(X))
    drawn = resampled_weights(units, 200, np.random.default_rng(4))
    for stratum, size in enumerate((2, 3, 35, 200)):
        share = drawn[:, stratum == strata].sum(axis=1)
        np.testing.assert_allclose(share, size / N, rtol=1e-12)


def test_two_units_in_a_stratum() -> None:
    """Rao and Wu then take one of the two, twice."""
    strata = np.repeat(np.arange(N // 2), 2)
    units = sr.designs.Survey(strata=strata).units(sr.Directions(X))
    drawn = resampled_weights(units, 100, np.random.default_rng(5)) * N
    assert set(np.unique(drawn.round(9)).tolist()) == {0.0, 2.0}
    np.testing.assert_allclose(drawn.reshape(100, -1, 2).sum(axis=2), 2.0)


# --- Bootstrap ----------------------------------------------------------------------------


def profile_of(name: str, levels: int = 2) -> sr.results.Profile:
    design, weighted = DESIGNS[name]
    return sr.profile(X, weights=W if weighted else None, levels=levels, design=design)


@pytest.mark.parametrize("name", DESIGNS)
def test_gaps_are_those_of_the_drawn_weights(name: str) -> None:
    p = profile_of(name)
    got = sr.bootstrap(p, replicates=5, seed=6)
    drawn = resampled_weights(units_of(name), 5, np.random.default_rng(6))
    want = [sr.profile(X, weights=w, levels=2).gaps for w in drawn]
    np.testing.assert_allclose(got.gaps, want, rtol=1e-8)
    np.testing.assert_allclose(got.observed, p.gaps)
    assert got.kind == "design"
    assert not got.under_null


@pytest.mark.parametrize("kind", ["design", "parametric", "multiplier"])
def test_seeds(kind: Literal["design", "parametric", "multiplier"]) -> None:
    p = profile_of("iid")
    one, same, other = (sr.bootstrap(p, kind, replicates=20, seed=s) for s in (3, 3, 4))
    assert one.gaps.shape == (20, 2)
    assert one.gaps.tolist() == same.gaps.tolist()
    assert not np.isclose(one.gaps, other.gaps).any()


def test_summaries_of_replicates() -> None:
    got = sr.bootstrap(profile_of("iid"), replicates=60, seed=1)
    np.testing.assert_allclose(got.se, np.std(got.gaps, axis=0, ddof=1))
    np.testing.assert_allclose(got.bias, got.gaps.mean(axis=0) - got.observed)
    low, high = got.interval(0.9)
    ends = np.quantile(got.gaps, [0.05, 0.95], axis=0)
    np.testing.assert_allclose(low, np.maximum(2.0 * got.observed - ends[1], 0.0))
    np.testing.assert_allclose(high, 2.0 * got.observed - ends[0])
    assert repr(got) == "Bootstrap(design, 60 replicates, 2 levels)"
    assert got.to_dict()["gaps"] == got.gaps.tolist()
    assert got.to_dict()["seed"] == 1
    with pytest.raises(DesignError, match="for p-values use kind='parametric' or 'multiplier'"):
        _ = got.pvalue
    for confidence in (0.0, 1.0, 95.0):
        with pytest.raises(ValueError, match=f"confidence is {confidence}; give a number between"):
            got.interval(confidence)
    kinds: tuple[Literal["parametric", "multiplier"], ...] = ("parametric", "multiplier")
    for kind in kinds:
        with pytest.raises(DesignError, match="a gap of zero; for intervals use kind='design'"):
            sr.bootstrap(profile_of("iid"), kind, replicates=5).interval()


WEAK = circle(np.random.default_rng(21).vonmises(0.0, 0.2, 150))


def test_parametric_pvalues() -> None:
    p = sr.profile(WEAK, levels=2)
    got = sr.bootstrap(p, "parametric", replicates=400)
    counted = (1 + (got.gaps >= p.gaps).sum(axis=0)) / 401.0
    np.testing.assert_allclose(got.pvalue, counted, rtol=1e-12)
    np.testing.assert_allclose(got.pvalue, chi2.sf(300.0 * p.gaps, 2), atol=0.07)
    np.testing.assert_allclose(got.gaps.mean(axis=0), 1.0 / 150.0, rtol=0.2)  # q / 2n


def test_multiplier_pvalues() -> None:
    p = sr.profile(WEAK, levels=2)
    got = sr.bootstrap(p, "multiplier", replicates=3000)
    tested = p.tests(covariance="damped")
    np.testing.assert_allclose(got.observed, tested.score_statistic / 150.0, rtol=1e-10)
    np.testing.assert_allclose(got.pvalue, tested.pvalue, atol=0.035)
    for k in range(2):
        mean = float(tested.coefficients[k].sum()) / 150.0
        assert got.gaps[:, k].mean() == pytest.approx(mean, rel=0.08)


@pytest.mark.parametrize("name", ["clusters", "chain", "survey", "finite survey"])
def test_multipliers_have_the_spread_of_the_tests(name: str) -> None:
    """The median of ½ |r*|² is that of the law the default test refers it to."""
    p = profile_of(name, 1)
    got = sr.bootstrap(p, "multiplier", replicates=3000)
    tested = p.tests()
    np.testing.assert_allclose(got.observed, tested.score_statistic / tested.rate**2, rtol=1e-9)
    median = float(np.median(got.gaps[:, 0])) * tested.rate**2
    draws = np.random.default_rng(1).chisquare(1.0, (100_000, 3)) @ tested.coefficients[0]
    assert median == pytest.approx(float(np.median(draws)), rel=0.15)


def test_bootstraps_that_make_no_sense() -> None:
    p = profile_of("iid")
    kind: Any = "jackknife"
    with pytest.raises(
        ValueError, match="kind is 'jackknife'; choose 'design', 'parametric' or 'multi"
    ):
        sr.bootstrap(p, kind)
    with pytest.raises(ValueError, match="replicates is 1; give 2 or more"):
        sr.bootstrap(p, replicates=1)
    for name in ("importance", "clusters", "chain", "survey"):
        with pytest.raises(DesignError, match=r"independent rows, not a .* sample"):
            sr.bootstrap(profile_of(name), "parametric", replicates=5)
    sums = sr.profile(sr.Moments.from_directions(sr.Directions(X), sr.Harmonics(3, 2)))
    with pytest.raises(DesignError, match="made from moments, and what was asked for needs the"):
        sr.bootstrap(sums)


def test_parametric_samples_keep_fixed_weights() -> None:
    """One weight holds nearly everything, so the gaps are those of one point: large."""
    w = np.full(N, 1e-3)
    w[0] = 1.0
    heavy = sr.profile(X, weights=w, levels=1, design="fixed")
    light = profile_of("iid", 1)
    a, b = (sr.bootstrap(p, "parametric", replicates=50).gaps[:, 0] for p in (heavy, light))
    assert np.nanmin(a) > 10.0 * np.max(b)


def test_high_dimension() -> None:
    x = unit(np.random.default_rng(3).standard_normal((400, 6)))
    p = sr.profile(x, levels=2)
    drawn = sr.bootstrap(p, replicates=20)
    assert drawn.gaps.shape == (20, 2)
    null = sr.bootstrap(p, "parametric", replicates=60)
    np.testing.assert_allclose(null.gaps.mean(axis=0), [6.0 / 800.0, 20.0 / 800.0], rtol=0.25)
    signs = sr.bootstrap(p, "multiplier", replicates=400)
    np.testing.assert_allclose(signs.gaps.mean(axis=0), [6.0 / 800.0, 20.0 / 800.0], rtol=0.15)


# --- order --------------------------------------------------------------------------------


def rejected(density: Callable[[Array], Array], d: int, n: int, seed: int) -> Array:
    """Draws of a density (up to a factor) by rejection from the uniform law."""
    rng = np.random.default_rng(seed)
    pool = unit(rng.standard_normal((40 * n, d)))
    value = density(pool)
    return pool[rng.uniform(size=len(pool)) < value / value.max()][:n]


def fisher_bingham(seed: int = 0) -> Array:
    return rejected(lambda x: np.exp(1.5 * x[:, 2] + 2.0 * x[:, 0] ** 2), 3, 2000, seed)


LAWS: dict[str, tuple[Callable[[], Array], int]] = {
    "uniform circle": (lambda: rejected(lambda x: np.ones(len(x)), 2, 1000, 1), 0),
    "von Mises": (lambda: rejected(lambda x: np.exp(1.5 * x[:, 0]), 2, 1000, 5), 1),
    "three modes": (
        lambda: rejected(lambda x: np.exp(np.cos(3.0 * np.arctan2(x[:, 1], x[:, 0]))), 2, 1000, 3),
        3,
    ),
    "Fisher-Bingham": (fisher_bingham, 2),
}


@pytest.mark.parametrize("law", LAWS)
def test_the_true_order_is_chosen(law: str) -> None:
    make, true = LAWS[law]
    x = make()
    assert len(x) in {1000, 2000}
    got = sr.choose_order(sr.profile(x, levels=4))
    assert got.levels.tolist() == [0, 1, 2, 3, 4]
    wanted = {"residual", "bic", "holm"}
    assert {name: got.chosen[name] for name in wanted} == dict.fromkeys(wanted, true)
    for name in ("aic", "tic", "held_out"):  # these err on the side of more
        order = got.chosen[name]
        assert order is not None
        assert order >= true


def test_the_criteria_are_what_they_say() -> None:
    x = fisher_bingham()
    p = sr.profile(x, levels=3)
    got = sr.choose_order(p)
    deficits = np.concatenate([[0.0], p.deficits])
    features = np.array([0.0, 3.0, 8.0, 15.0])
    np.testing.assert_allclose(got.aic, 2000.0 * deficits - features, rtol=1e-12)
    np.testing.assert_allclose(
        got.bic, 2000.0 * deficits - 0.5 * features * np.log(2000.0), rtol=1e-12
    )
    assert np.isnan(got.holm_pvalue[0])
    np.testing.assert_allclose(got.holm_pvalue[1:], p.tests().pvalue_holm, rtol=1e-12)
    for name in ("aic", "bic", "tic", "held_out"):
        assert got.chosen[name] == int(np.argmax(getattr(got, name)))
    assert got.chosen["residual"] == int(np.argmax(got.residual_pvalue >= 0.05))


def test_tic_is_aic_where_the_model_is_right() -> None:
    got = sr.choose_order(sr.profile(fisher_bingham(), levels=3))
    penalty = got.aic - got.tic  # trace less the number of features
    np.testing.assert_allclose(penalty[2:], 0.0, atol=1.0)
    assert got.tic[0] == 0.0


def test_tic_by_its_trace() -> None:
    """Level 1 on the circle: J of a von Mises law against the covariance of the rows."""
    theta = np.random.default_rng(2).vonmises(0.0, 30.0, 300)
    theta[::4] = np.linspace(0.0, 2.0 * np.pi, 75)
    x = circle(theta)
    p = sr.profile(x, levels=1)
    nodes = circle(2.0 * np.pi * np.arange(200) / 200)
    law = np.exp(p.fits[1].logpdf(nodes)) / 200.0
    j = (law[:, None] * nodes).T @ nodes - np.outer(law @ nodes, law @ nodes)
    trace = np.trace(np.linalg.solve(j, np.cov(x.T, bias=True)))
    assert abs(trace - 2.0) > 0.05
    got = sr.choose_order(p)
    assert got.tic[1] == pytest.approx(300.0 * p.deficits[0] - trace, rel=1e-9)


def test_held_out_scores_leaving_one_out() -> None:
    theta = np.random.default_rng(4).vonmises(0.0, 1.0, 40)
    x = circle(theta)
    got = sr.choose_order(sr.profile(x, levels=1), folds=40)
    logs = []
    for k in range(40):
        mean = np.delete(x, k, axis=0).mean(axis=0)
        length = float(np.linalg.norm(mean))
        kappa = brentq(lambda v, r=length: i1e(v) / i0e(v) - r, 1e-9, 50.0)
        logs.append(kappa * float(x[k] @ mean) / length - np.log(i0(kappa)))
    assert got.held_out[0] == 0.0
    assert got.held_out[1] == pytest.approx(np.mean(logs), rel=1e-8)
    best = int(np.argmax(got.held_out))
    assert got.held_out_se[best] == 0.0
    assert got.held_out_se[1 - best] == pytest.approx(np.std(logs) / np.sqrt(40.0), rel=1e-8)


def test_whole_units_are_held_out() -> None:
    """Ten copies of each row: folds of single rows would see their own copies."""
    x = np.repeat(X[:40], 10, axis=0)
    ids = np.repeat(np.arange(40), 10)
    copies = sr.profile(x, levels=2, design=sr.designs.Clusters(ids))
    together = sr.choose_order(copies, folds=40).held_out
    alone = sr.choose_order(sr.profile(X[:40], levels=2), folds=40).held_out
    np.testing.assert_allclose(together, alone, rtol=1e-8)
    apart = sr.choose_order(sr.profile(x, levels=2), folds=40).held_out
    assert apart[2] > alone[2] + 0.01


def test_the_residual_test() -> None:
    """From the uniform law, 50 rows: ten white features through degree 5, so χ²."""
    x = circle(np.random.default_rng(9).vonmises(0.0, 0.3, 50))
    theta = np.arctan2(x[:, 1], x[:, 0])
    phi = np.sqrt(2.0) * np.hstack([circle(k * theta) for k in range(1, 6)])
    p = sr.profile(x, levels=1)
    got = sr.choose_order(p, folds=5)
    want = float(chi2.sf(50.0 * float(np.sum(phi.mean(axis=0) ** 2)), 10))
    assert got.residual_pvalue[0] == pytest.approx(want, rel=1e-8)
    assert got.residual_pvalue[1] == p.residuals().pvalue[0]


@pytest.mark.parametrize("name", ["mcmurdo", "turtles"])
def test_one_residual_everywhere(name: str) -> None:
    """The order's residual is that of residuals(), to the digit, by every default."""
    p = sr.profile(sr.examples.load(name), levels=2)
    order = sr.choose_order(p)
    np.testing.assert_array_equal(order.residual_pvalue[1:], p.residuals().pvalue)
    if name == "mcmurdo":
        assert (order.residual_pvalue < 1e-8).all()
        assert order.chosen["residual"] is None


def test_structure_that_tests_see_is_not_left_to_level_2() -> None:
    """Two hundred rows about four poles: level 3 is clear, so level 2 is not chosen."""
    rng = np.random.default_rng(8)
    poles = np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]) / np.sqrt(3.0)
    x = unit(poles[rng.integers(0, 4, 208)] + 0.35 * rng.normal(size=(208, 3)))
    p = sr.profile(x, levels=3)
    assert p.tests().pvalue[2] < 1e-6
    assert p.residuals().pvalue[1] < 1e-8
    assert sr.choose_order(p).chosen["residual"] not in {0, 1, 2}


def test_nobody_complains_about_folds_that_nobody_gave() -> None:
    rng = np.random.default_rng(5)
    few = sr.profile(circle(rng.vonmises(0.0, 1.0, 9)), levels=1)
    np.testing.assert_array_equal(
        sr.choose_order(few).held_out, sr.choose_order(few, folds=9).held_out
    )
    many = sr.profile(circle(rng.vonmises(0.0, 1.0, 50)), levels=1)
    np.testing.assert_array_equal(
        sr.choose_order(many).held_out, sr.choose_order(many, folds=10).held_out
    )


@pytest.mark.parametrize("kind", ["rotations", "angles"])
def test_the_order_and_the_tests_have_one_p_value(kind: str) -> None:
    """3e-26 stood here for dependent angles that tests() gives .02."""
    rng = np.random.default_rng(3)
    if kind == "rotations":
        q = np.hstack([np.ones((200, 1)), rng.normal(0.0, 0.2, (200, 3))])
        p = sr.profile(sr.Directions.from_quaternions(q, normalize=True))
    else:
        first = rng.vonmises(-1.1, 4.0, 120)
        second = rng.vonmises(-0.7 + 0.8 * (first + 1.1), 4.0)
        angles = sr.Directions.from_dihedrals(first, second)
        p = sr.profile(angles, hierarchy=sr.Interactions(2, 1))
    got = sr.choose_order(p, folds=2)
    np.testing.assert_array_equal(got.holm_pvalue[1:], p.tests().pvalue_holm)
    assert "corrected_pvalue_left_open" not in codes(got)


def test_order_of_noise_in_many_dimensions() -> None:
    x = unit(np.random.default_rng(0).standard_normal((900, 60)))
    p = sr.profile(x)
    got = sr.choose_order(p)
    assert got.chosen["residual"] == got.chosen["holm"] == got.chosen["held_out"] == 0
    np.testing.assert_array_equal(got.holm_pvalue[1:], p.tests().pvalue_holm)


def test_an_order_whose_p_values_take_long_is_left_open(monkeypatch: pytest.MonkeyPatch) -> None:
    """Never another test under the same name."""
    monkeypatch.setattr("steradian.inference.order.WAITING", 0.0)
    p = sr.profile(unit(np.random.default_rng(0).standard_normal((200, 6))), levels=2)
    got = sr.choose_order(p, folds=2)
    assert got.chosen["holm"] is None
    assert np.isnan(got.holm_pvalue).all()
    why = coded(got, "corrected_pvalue_left_open").data["why"]
    assert (why["code"], why["data"]["call"]) == ("not_computed", "tests()")
    assert got.to_dict()["diagnostics"] == [one.to_dict() for one in got.diagnostics]
    p.tests()
    again = sr.choose_order(p, folds=2)
    np.testing.assert_array_equal(again.holm_pvalue[1:], p.tests().pvalue_holm)


def test_weighted_designs_choose_too() -> None:
    x = fisher_bingham()[:900]
    w = np.random.default_rng(5).uniform(0.5, 1.5, 900)
    for design in ("fixed", "importance", sr.designs.Clusters(np.arange(900) // 3)):
        got = sr.choose_order(sr.profile(x, weights=w, levels=3, design=design))
        assert got.chosen["bic"] == 2
        assert got.chosen["residual"] == 2


def test_order_in_high_dimension() -> None:
    x = unit(np.random.default_rng(6).normal(0.0, [1, 1, 1, 1, 2.0, 2.0], (800, 6)))
    got = sr.choose_order(sr.profile(x, levels=2), folds=4)
    assert got.chosen["bic"] == got.chosen["held_out"] == 2
    assert np.isnan(got.tic[2])
    assert np.isnan(got.residual_pvalue[2])
    assert got.residual_pvalue[1] < 1e-6


def test_the_table() -> None:
    got = sr.choose_order(sr.profile(fisher_bingham(), levels=3), alpha=0.01)
    lines = str(got).splitlines()
    assert lines[0] == "Order by each criterion (tests at 0.01); * marks the choice"
    assert len(lines) == 2 + 4
    assert sum(line.count("*") for line in lines[2:]) == 6
    assert [line.split()[0] for line in lines[2:]] == ["0", "1", "2", "3"]
    assert repr(got).startswith("OrderChoice(residual: 2, holm: 2")
    assert got.to_dict()["chosen"] == got.chosen
    assert got.to_dict()["bic"] == got.bic.tolist()


def test_choices_that_make_no_sense() -> None:
    p = sr.profile(X, levels=1)
    for alpha in (0.0, 1.0, 5.0):
        with pytest.raises(ValueError, match=f"alpha is {alpha}; give a number between 0 and 1"):
            sr.choose_order(p, alpha=alpha)
    for folds in (1, N + 1):
        with pytest.raises(ValueError, match=f"folds is {folds}; give 2 to {N}, the number of"):
            sr.choose_order(p, folds=folds)
    clusters = sr.profile(X, levels=1, design=sr.designs.Clusters(IDS))
    with pytest.raises(ValueError, match="give 2 to 60"):
        sr.choose_order(clusters, folds=61)
    ties = circle(np.array([0.0] * 8 + [2.0, 4.0]))  # three places, two without the last row
    got = sr.choose_order(sr.profile(ties, levels=2), folds=10)
    assert coded(got, "fold_without_fit").data["of_level"] == 2
    assert np.isnan(got.held_out).all()
    assert got.chosen["held_out"] is None
    assert got.chosen["aic"] is not None, "the other criteria stay"


# --- many samples -------------------------------------------------------------------------


SAMPLES = {
    2: circle(np.random.default_rng(30).vonmises(0.0, np.linspace(0.1, 3.0, 6)[:, None], (6, 150))),
    3: unit(np.random.default_rng(31).normal([0.0, 0.3, 0.5], [1.0, 0.8, 0.9], (6, 150, 3))),
}
MANY = np.random.default_rng(32).gamma(3.0, size=(6, 150))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"covariance": "null"},
        {"covariance": "empirical"},
        {"statistic": "gap"},
        {"null": "model"},
        {"null": "model", "statistic": "gap"},
    ],
)
@pytest.mark.parametrize("design", ["iid", "fixed", "importance"])
@pytest.mark.parametrize("d", [2, 3])
def test_many_samples_as_one_at_a_time(d: int, design: Any, options: dict[str, Any]) -> None:
    w = None if design == "iid" else MANY
    if design == "importance" and options.get("null") == "model":
        with pytest.raises(DesignError, match="null='model' has no law for importance samples"):
            sample_tests(SAMPLES[d], weights=w, design=design, **options)
        return
    got = sample_tests(SAMPLES[d], weights=w, levels=2, design=design, **options)
    assert repr(got) == "SampleTests(6 samples, 2 levels)"
    for k in range(6):
        p = sr.profile(SAMPLES[d][k], weights=None if w is None else w[k], levels=2, design=design)
        one = p.tests(**options)
        np.testing.assert_allclose(got.gaps[k], p.gaps, rtol=1e-8, atol=1e-12)
        np.testing.assert_allclose(got.gap_statistic[k], one.gap_statistic, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(got.score_statistic[k], one.score_statistic, rtol=1e-8)
        assert got.judged[k].tolist() == one.judged.tolist()
        again = [method.recalibrated for method in one.methods]
        assert not got.pvalue[k][np.logical_and(again, ~got.rough[k])].size
        plain = ~np.array(again)
        np.testing.assert_allclose(got.pvalue[k][plain], one.pvalue[plain], rtol=1e-7)
        for level in range(2):
            np.testing.assert_allclose(
                got.coefficients[level][k], one.coefficients[level], rtol=1e-7
            )


@pytest.mark.parametrize("name", ["clusters", "survey"])
def test_many_samples_of_clusters_as_one_at_a_time(name: str) -> None:
    rng = np.random.default_rng(41)
    ids = np.sort(rng.integers(0, 30, 150))
    design: Any = sr.designs.Clusters(ids)
    if name == "survey":
        design = sr.designs.Survey(psu=ids, strata=ids // 10)
    got = sample_tests(SAMPLES[2], weights=MANY, levels=2, design=design)
    for k in range(6):
        one = sr.profile(SAMPLES[2][k], weights=MANY[k], levels=2, design=design).tests()
        np.testing.assert_allclose(got.score_statistic[k], one.score_statistic, rtol=1e-8)
        np.testing.assert_allclose(got.gap_statistic[k], one.gap_statistic, rtol=1e-8, atol=1e-9)
        np.testing.assert_allclose(got.pvalue[k], one.pvalue, rtol=1e-7)
        assert got.judged[k].tolist() == one.judged.tolist()


def test_many_samples_are_calibrated_as_one_at_a_time() -> None:
    """Rows of high leverage; every sample has its own seed."""
    x = circle(np.random.default_rng(6).vonmises(0.0, 10.0, (8, 120)))
    w = np.random.default_rng(7).lognormal(0.0, 0.7, (8, 120))
    for weights, design in ((None, None), (w, "fixed")):
        got = sample_tests(x, weights=weights, levels=2, design=design, replicates=99)
        assert got.rough[:, 1].sum() >= 6
        assert "samples_rough" not in codes(got)
        for k in range(8):
            row = None if weights is None else weights[k]
            p = sr.profile(x[k], weights=row, levels=2, design=design)
            one = p.tests(replicates=99, seed=k)
            np.testing.assert_allclose(got.pvalue[k], one.pvalue, rtol=1e-7)
    quick = sample_tests(x, levels=2)
    assert "samples_rough" in codes(quick)


def test_one_weighting_for_all_samples() -> None:
    shared = sample_tests(SAMPLES[2], weights=MANY[0], design="fixed")
    each = sample_tests(SAMPLES[2], weights=np.tile(7.0 * MANY[0], (6, 1)), design="fixed")
    np.testing.assert_allclose(shared.pvalue, each.pvalue, rtol=1e-10)


def test_a_sample_without_a_fit_spoils_no_other() -> None:
    x = SAMPLES[2].copy()
    x[2] = np.array([1.0, 0.0])
    got, want = sample_tests(x, levels=3), sample_tests(SAMPLES[2], levels=3)
    others = [0, 1, 3, 4, 5]
    np.testing.assert_allclose(got.pvalue[others], want.pvalue[others], rtol=1e-9)
    assert np.isnan(got.gaps[2]).all()
    assert np.isnan(got.pvalue[2, 1:]).all()


def test_samples_that_cannot_be() -> None:
    x = SAMPLES[2]
    with pytest.raises(InvalidDirections, match=r"x has shape \(150, 2\); give \(B, n, 2\)"):
        sample_tests(x[0])
    with pytest.raises(InvalidDirections, match=r"x has shape \(1, 5, 4\)"):
        sample_tests(np.ones((1, 5, 4)) / 2.0)
    with pytest.raises(InvalidDirections, match="not unit vectors"):
        sample_tests(1.1 * x)
    with pytest.raises(InvalidDirections, match="not unit vectors"):
        sample_tests(np.full((2, 9, 2), np.nan))
    for weights, design, match in (
        (MANY, None, "say how the weights arose"),
        (MANY, "iid", "design 'iid' means equal weights"),
        (None, "importance", "needs weights"),
        (MANY, "clusters", "design 'clusters' needs data"),
        (None, sr.designs.Chain(), "finds other units in every sample; test them one at a time"),
    ):
        chosen: Any = design
        with pytest.raises(DesignError, match=match):
            sample_tests(x, weights=weights, design=chosen)
    for bad in (-MANY, np.zeros((6, 150)), np.full((6, 150), np.nan)):
        with pytest.raises(InvalidDirections, match="finite, not negative, and not all zero"):
            sample_tests(x, weights=bad, design="fixed")


def test_intervals_of_replicates_are_never_turned_round() -> None:
    x = circle(np.random.default_rng(0).uniform(0.0, 2.0 * np.pi, 60))
    low, high = sr.bootstrap(sr.profile(x, levels=2), replicates=99).interval()
    assert (low >= 0.0).all()
    assert (high >= low).all()


@pytest.mark.parametrize(("x", "options", "match"), [
    (np.ones((1, 1, 2)) / np.sqrt(2.0), {}, "two rows at least"),
    (np.zeros((0, 9, 2)), {}, "two rows at least"),
    ([[1, 2], [3]], {}, "ragged"),
    (SAMPLES[2], {"weights": ["a"] * 150, "design": "fixed"}, "give real numbers"),
    (SAMPLES[2], {"weights": np.ones(3), "design": "fixed"}, r"shape \(3,\)"),
    (SAMPLES[2], {"replicates": -1}, "give 0 or more"),
    (SAMPLES[2], {"weights": MANY, "design": "iid"}, "means equal weights"),
])  # fmt: skip
def test_stacks_that_make_no_sense(x: object, options: dict[str, object], match: str) -> None:
    with pytest.raises(sr.SteradianError, match=match):
        sample_tests(x, **options)  # type: ignore[arg-type]


def test_replicates_that_take_hours_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("steradian.inference.bootstrap._LONG", 1e-3)
    p = profile_of("iid")
    words = r"999 replicates of \d+ rows take some 0 minutes; give replicates=999 if you mean it"
    with pytest.raises(sr.DesignError, match=words):
        sr.bootstrap(p)
    assert len(sr.bootstrap(p, replicates=3).gaps) == 3
