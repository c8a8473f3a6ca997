"""A residual that rests on one or two units says neither yes nor no, and names them."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from coded import coded
from oracles import Array
from steradian.diagnostics import Verdict


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=-1, keepdims=True))


def bent(n: int, kappa: float, seed: int, far: float, count: int) -> Array:
    """An arc of angular size κ^-½, which no level 1 or 2 law describes, and events far from it."""
    rng = np.random.default_rng(seed)
    rng.normal(size=(n, 2))
    t = 1.5 * rng.normal(size=n)
    x = np.ones((n, 3))
    x[:, 0] = t / np.sqrt(kappa)
    x[:, 1] = (0.6 * t * t + 0.3 * rng.normal(size=n)) / np.sqrt(kappa)
    x[n - count :, :2] = far * rng.normal(size=(count, 2))
    return unit(x)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("far", [0.05, 0.3])
@pytest.mark.parametrize(("n", "kappa"), [(829, 1e5), (300, 1e5), (200, 1e4)])
@pytest.mark.parametrize("seed", [0, *(pytest.param(k, marks=pytest.mark.slow) for k in (1, 2))])
def test_far_events_earn_no_yes(n: int, kappa: float, seed: int, far: float, count: int) -> None:
    x = bent(n, kappa, seed, far, count)
    without = sr.profile(x[: n - count], levels=2).residuals().pvalue[1]
    assert without < 1e-6
    p = sr.profile(x, levels=2)
    verdict = p.trust().structure
    assert verdict.answer is not Verdict.NOISE
    r = p.residuals(method="exact")
    if r.pvalue[1] >= 0.01:
        assert verdict.answer is Verdict.UNJUDGED
        why = coded(verdict.reasons, "left_above_rests_on_few")
        assert why.data["of_level"] == 2
        units = why.data["why"]["data"]["units"]
        assert {unit["name"] for unit in units} & set(range(n - count, n))
        assert coded(r, "rests_by_variance", 2).data["units"] == units


@pytest.mark.parametrize(
    ("seed", "far", "count", "level"),
    [(6, 0.019, 1, 2), (15, 0.019, 1, 2), (6, 0.019, 2, 2), (6, 0.038, 1, 1), (6, 0.038, 2, 1)],
)
def test_what_one_event_hides(seed: int, far: float, count: int, level: int) -> None:
    """p = .07 to .7 with the events, below 1e-5 without: it said yes, nothing found."""
    x = bent(300, 1e5, seed, far, count)
    assert sr.profile(x[: 300 - count], levels=level).residuals().pvalue[-1] < 1e-5
    p = sr.profile(x, levels=level)
    r = p.residuals()
    assert r.pvalue[-1] > 0.05
    resting = r.judged[-1].resting
    assert resting is not None
    assert 300 - count in [unit["name"] for unit in resting.data["units"]]
    assert r.to_dict()["resting"][-1] == resting.to_dict()
    assert p.trust().structure.answer is Verdict.UNJUDGED
    assert f"row {300 - count}" in " ".join(str(p).split())
    assert sr.choose_order(p).chosen["residual"] is None


def test_mmd_has_the_same_guard() -> None:
    p = sr.profile(bent(300, 1e5, 6, 0.3, 1), levels=1)
    assert coded(p.mmd(), "rests_by_variance", 1).data["units"][0]["name"] == 299


def test_a_dominating_cluster_is_named_by_a_row_of_it() -> None:
    rng = np.random.default_rng(3)
    theta = np.concatenate([rng.vonmises(0.0, 2.0, 90), rng.vonmises(1.0, 50.0, 60)])
    ids = np.concatenate([np.arange(90), np.full(60, 90)])
    rows = sr.Directions.from_angles(theta)
    p = sr.profile(rows, levels=1, design=sr.designs.Clusters(ids))
    resting = p.residuals(method="exact").judged[0].resting
    assert resting is not None
    assert [unit["name"] for unit in resting.data["units"]] == [str(ids[90])]


@pytest.mark.parametrize("kappa", [1.0, 5.0, 100.0, 1e4])
@pytest.mark.parametrize("n", [100, 829])
def test_clean_clouds_are_judged(kappa: float, n: int) -> None:
    """The guard is silent in at least 18 of 20 clean samples."""
    silent = 0
    for seed in range(20):
        rng = np.random.default_rng([seed, n])
        z = 1.0 + np.log1p(-rng.random(n) * -np.expm1(-2.0 * kappa)) / kappa
        turn = rng.uniform(0.0, 2.0 * np.pi, n)
        radius = np.sqrt(np.maximum(1.0 - z * z, 0.0))
        x = unit(np.stack([radius * np.cos(turn), radius * np.sin(turn), z], axis=1))
        silent += sr.profile(x, levels=1).residuals(method="exact").judged[0].resting is None
    assert silent >= 18


def test_of_very_many_rows_the_farthest_are_seen() -> None:
    x = bent(600_000, 1e5, 4, 0.5, 2)
    found = sr.profile(x, levels=2).residuals(method="exact").judged[1].resting
    assert found is not None
    assert all(unit["name"] >= 599_990 for unit in found.data["units"])


def test_in_high_dimension_too() -> None:
    rng = np.random.default_rng(5)
    x = np.zeros((200, 6))
    x[:, 0] = 1.0
    x[:, 1:] = 1e-3 * rng.normal(size=(200, 5))
    x[17, 1] = 0.8
    found = sr.profile(unit(x), levels=1).residuals(method="exact").judged[0]
    assert found.resting is not None
    assert [unit["name"] for unit in found.resting.data["units"]] == [17]
