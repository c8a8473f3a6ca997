"""What was once wrong, by public names alone: run on an older version, the file shows it there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import steradian as sr
from coded import codes
from steradian.paper import sample_tests

Rng = np.random.Generator


def on_circle(angles: Any) -> Any:
    return np.stack([np.cos(angles), np.sin(angles)], axis=-1)


def unit(x: Any) -> Any:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


# --- p-values and error bars ------------------------------------------------------------------


def judged(profile: sr.results.Profile, level: int) -> float:
    """The p-value of a level, NaN where the tests say that it is not testable."""
    found = profile.tests()
    return float(found.pvalue[level - 1]) if found.judged[level - 1] else float("nan")


def unequal_clusters(rng: Rng, largest: int) -> sr.results.Profile:
    """Thirty clusters of five rows but one, each with one direction of its own; uniform."""
    sizes = np.r_[np.full(29, 5), largest]
    labels = np.repeat(np.arange(30), sizes)
    angles = rng.uniform(-np.pi, np.pi, 30)[labels] + 0.3 * rng.normal(size=len(labels))
    return sr.profile(on_circle(angles), levels=1, design=sr.designs.Clusters(labels))


def lognormal_ratios(rng: Rng, n: int) -> sr.results.Profile:
    x = on_circle(rng.uniform(-np.pi, np.pi, n))
    return sr.profile(x, weights=rng.lognormal(0.0, 1.5, n), levels=1, design="importance")


NULLS: dict[str, Callable[[Rng], sr.results.Profile]] = {
    "one of 30 clusters has 60 rows": lambda rng: unequal_clusters(rng, 60),
    "one of 30 clusters has half of the rows": lambda rng: unequal_clusters(rng, 145),
    "50 lognormal importance weights": lambda rng: lognormal_ratios(rng, 50),
}


@pytest.mark.parametrize("null", NULLS)
def test_true_nulls_are_not_rejected(null: str) -> None:
    """At 5 %, 200 samples: more than 22 have a chance of 1e-4 (binomial) where the size is .05."""
    found = [judged(NULLS[null](np.random.default_rng([11, k])), 1) for k in range(200)]
    assert np.sum(np.array(found) <= 0.05) <= 22


def test_one_cluster_of_three_quarters_is_no_evidence() -> None:
    rng = np.random.default_rng(0)
    labels = np.r_[np.zeros(63, int), np.arange(1, 21).repeat(1), np.arange(1, 2)]
    angles = np.where(labels == 0, 0.0, rng.uniform(-np.pi, np.pi, len(labels)))
    angles = angles + 0.1 * rng.normal(size=len(labels))
    rows = on_circle(angles)
    assert np.isnan(judged(sr.profile(rows, levels=1, design=sr.designs.Clusters(labels)), 1))


def test_stacks_of_heavy_ratios_are_not_sure() -> None:
    """Lognormal(2) weights of uniform rows gave p-values down to 3e-76."""
    rng = np.random.default_rng(1)
    x = on_circle(rng.uniform(-np.pi, np.pi, (500, 100)))
    w = rng.lognormal(0.0, 2.0, (500, 100))
    found = sample_tests(x, weights=w, levels=1, design="importance")
    told = found.pvalue[getattr(found, "judged", np.ones_like(found.pvalue, dtype=bool))]
    assert np.sum(told <= 0.05) <= 43, "500 samples of size .05: chance 1e-4"


def test_concentrated_circles_keep_their_size() -> None:
    """Von Mises(30) at level 2, n = 60: .09 at 5 %; of 3,000 samples 195 are 1.3 times nominal."""
    angles = np.random.default_rng(2).vonmises(0.0, 30.0, (3000, 60))
    found = sample_tests(on_circle(angles), levels=2)
    assert np.sum(found.pvalue[:, 1] <= 0.05) <= 195


@pytest.mark.slow
def test_intervals_of_a_deficit_cover_it() -> None:
    """Ten dimensions, n = 100: .77 of 95 % intervals; 120 of .935 fall below 103 in 1/1000."""
    law = sr.FisherBingham(5.0 * np.eye(10)[0], np.zeros((10, 10)))
    hits = 0
    for k in range(120):
        x = law.sample(100, np.random.default_rng([3, k]))
        found = sr.profile(x, levels=2).intervals()
        hits += bool(found.deficit_low[1] <= law.deficit <= found.deficit_high[1])
    assert hits >= 103


def test_a_narrow_proposal_is_warned_of() -> None:
    """Ratios of vM(1) to vM(4): a heavy tail from k = .5, not .7."""
    said = 0
    for k in range(20):
        angles = np.random.default_rng([4, k]).vonmises(0.0, 4.0, 200)
        w = np.exp(-3.0 * np.cos(angles))
        found = sr.profile(on_circle(angles), weights=w, levels=1, design="importance").tests()
        said += "heavy_tail" in codes(found)
    assert said >= 15


def test_one_word_has_one_meaning() -> None:
    """`choose_order` and `residuals` speak of the same p-value."""
    rng = np.random.default_rng(5)
    p = sr.profile(unit(rng.normal(size=(150, 3)) * [1.0, 1.0, 2.5] + [0.0, 0.4, 0.0]), levels=3)
    chosen = sr.choose_order(p).residual_pvalue
    np.testing.assert_allclose(chosen[1:], p.residuals().pvalue, rtol=1e-6)


def test_noise_in_high_dimension_is_called_noise() -> None:
    x = unit(np.random.default_rng(6).normal(size=(600, 100)))
    assert "noise" in str(sr.profile(x, levels=2).trust())


# --- numbers ----------------------------------------------------------------------------------

TIGHT = np.random.default_rng(1).normal(size=2000) / 100.0
TIGHT_DEFICIT = 5.0177153859  # level 3, by 70-digit arithmetic


def test_tight_clusters_on_the_circle_have_the_right_deficit() -> None:
    p = sr.profile(on_circle(TIGHT), levels=3)
    assert p.deficits[2] == pytest.approx(TIGHT_DEFICIT, abs=2e-9)


@pytest.mark.parametrize("spread", [0.4, 0.13])
def test_tight_clusters_do_not_depend_on_how_they_are_given(spread: float) -> None:
    """The same rows twice, and other scales of the weights: the same level 3."""
    x = on_circle(TIGHT * spread)
    one = sr.profile(x, levels=3).deficits[2]
    assert sr.profile(np.vstack([x, x]), levels=3).deficits[2] == pytest.approx(one, abs=1e-8)
    weighed = sr.profile(x, weights=np.full(2000, 3.7), levels=3).deficits[2]
    assert weighed == pytest.approx(one, abs=1e-8)


def test_tight_clusters_on_the_sphere_are_fitted() -> None:
    x = np.eye(3)[2] + np.random.default_rng(8).normal(size=(500, 3)) / 100.0
    p = sr.profile(unit(x), levels=3)
    assert p.gaps.shape == (3,)
    assert (p.gaps >= 0.0).all()


def test_the_mean_log_density_is_the_deficit() -> None:
    """Twelve points of spread 1e-3: 15.16768 and 15.16813 once."""
    x = on_circle(np.random.default_rng(9).normal(size=12) / 1000.0)
    p = sr.profile(x, levels=2)
    assert p.fits[2].logpdf(x).mean() == pytest.approx(p.deficits[1], abs=1e-8)


def test_sharp_laws_are_drawn_from() -> None:
    flat = sr.FisherBingham([0.0, 0.0, 0.0], np.diag([-1e9, 0.0, 0.0])).sample(20, 0)
    assert np.abs(flat[:, 0]).max() < 1e-3


def test_laws_out_of_range_are_refused() -> None:
    with pytest.raises(sr.SteradianError):
        _ = sr.FisherBingham([1e100, 0.0], np.zeros((2, 2))).deficit


@pytest.mark.parametrize("small", [1e-8, 1e-10])
def test_deficits_near_uniform_keep_their_digits(small: float) -> None:
    law = sr.FisherBingham([0.0, 0.0, small], np.zeros((3, 3)))
    assert law.deficit == pytest.approx(small**2 / 6.0, rel=1e-6, abs=0.0)


# --- errors of our own ------------------------------------------------------------------------

ROWS = unit(np.random.default_rng(10).normal((0.0, 0.0, 1.0), size=(30, 3)))
PROFILE = sr.profile(ROWS, levels=2)
ODD: dict[str, Callable[[], Any]] = {
    "bootstrap(replicates=2.5)": lambda: sr.bootstrap(PROFILE, replicates=2.5),  # type: ignore[arg-type]
    "sample(2.5)": lambda: PROFILE.fits[1].sample(2.5, 0),  # type: ignore[arg-type]
    "intervals('a')": lambda: PROFILE.intervals("a"),  # type: ignore[arg-type]
    "seed='a'": lambda: PROFILE.tests(method="bootstrap", seed="a"),  # type: ignore[arg-type]
    "choose_order(array)": lambda: sr.choose_order(ROWS),
    "counts=10**15": lambda: sr.Directions(ROWS, counts=np.full(30, 10**15)),
    "from_angles([1e20])": lambda: sr.Directions.from_angles([1e20]),
    "levels=10**9": lambda: sr.profile(ROWS, levels=10**9),
}


@pytest.mark.parametrize("call", ODD)
def test_odd_arguments_are_refused_in_words(call: str) -> None:
    with pytest.raises(sr.SteradianError) as refused:
        ODD[call]()
    assert str(refused.value).strip()


def dominated() -> sr.results.Profile:
    w = np.ones(30)
    w[0] = 1e12
    return sr.profile(ROWS, weights=w, levels=2, design="fixed")


@pytest.mark.parametrize("call", ["tests", "choose_order"])
def test_one_dominating_weight_is_answered_in_words(call: str) -> None:
    p = dominated()
    found = p.tests() if call == "tests" else sr.choose_order(p)
    assert found.diagnostics


def test_the_largest_weights_scale_as_the_smallest_do() -> None:
    w = np.random.default_rng(11).random(30)
    stacks = [np.array([w, w[::-1]]) * scale for scale in (1e308, 1e-308)]
    large, small = (sr.profiles(ROWS, weights=stack, levels=2).gaps for stack in stacks)
    np.testing.assert_allclose(large, small, rtol=1e-9)


def test_nobody_gave_folds() -> None:
    """`choose_order` of nine rows answers with as many folds as there can be."""
    assert sr.choose_order(sr.profile(ROWS[:9], levels=1)).levels.tolist() == [0, 1]


# --- fits that exist --------------------------------------------------------------------------


def test_two_tight_clusters_have_a_fourth_level() -> None:
    rng = np.random.default_rng(12)
    centres = np.eye(3)[[0, 2]].repeat(100, axis=0)
    p = sr.profile(unit(centres + rng.normal(size=(200, 3)) / 100.0), levels=4)
    assert p.gaps.shape == (4,)


@pytest.mark.slow
def test_the_tenth_level_of_mcmurdo_exists() -> None:
    """It took over a minute and was then refused: 120 features of 133 rows."""
    p = sr.profile(sr.examples.load("mcmurdo"), levels=10)
    assert p.deficits[9] == pytest.approx(3.03848337, abs=1e-6)
