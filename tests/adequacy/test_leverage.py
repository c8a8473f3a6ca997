"""A residual that rests on one or two units says neither yes nor no, and names them."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from oracles import Array


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
    assert verdict.answer != "not told apart from noise"
    r = p.residuals(method="exact")
    if r.pvalue[1] >= 0.01:
        assert verdict.answer == "cannot be judged"
        assert "what level 2 leaves over cannot be judged: row" in verdict.reasons[0]
        assert any(str(row) in verdict.reasons[0] for row in range(n - count, n))
        assert any("what it leaves over cannot be judged" in w for w in r.warnings)


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
    assert str(300 - count) in r.judged[-1].resting
    assert r.to_dict()["resting"][-1] == r.judged[-1].resting
    assert p.trust().structure.answer == "cannot be judged"
    assert "cannot be judged: row" in " ".join(str(p).split())
    assert sr.choose_order(p).chosen["residual"] is None


def test_mmd_has_the_same_guard() -> None:
    p = sr.profile(bent(300, 1e5, 6, 0.3, 1), levels=1)
    assert any(
        "row 299 (counted from 0) carries" in w and "cannot be judged" in w
        for w in p.mmd().warnings
    )


def test_a_dominating_cluster_is_named_by_a_row_of_it() -> None:
    rng = np.random.default_rng(3)
    theta = np.concatenate([rng.vonmises(0.0, 2.0, 90), rng.vonmises(1.0, 50.0, 60)])
    ids = np.concatenate([np.arange(90), np.full(60, 90)])
    rows = sr.Directions.from_angles(theta)
    p = sr.profile(rows, levels=1, design=sr.designs.Clusters(ids))
    assert (
        "the unit of row 90 (counted from 0) carries"
        in p.residuals(method="exact").judged[0].resting
    )


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
        silent += not sr.profile(x, levels=1).residuals(method="exact").judged[0].resting
    assert silent >= 18


def test_of_very_many_rows_the_farthest_are_seen() -> None:
    x = bent(600_000, 1e5, 4, 0.5, 2)
    found = sr.profile(x, levels=2).residuals(method="exact").judged[1].resting
    assert found.startswith("row")
    assert "59999" in found


def test_in_high_dimension_too() -> None:
    rng = np.random.default_rng(5)
    x = np.zeros((200, 6))
    x[:, 0] = 1.0
    x[:, 1:] = 1e-3 * rng.normal(size=(200, 5))
    x[17, 1] = 0.8
    found = sr.profile(unit(x), levels=1).residuals(method="exact").judged[0]
    assert found.resting.startswith("row 17 (counted from 0) carries")
