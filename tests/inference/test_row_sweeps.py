"""Tests of very many rows by passes over blocks: the same as row by row."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from coded import codes
from steradian.inference import row_sweeps, scores
from steradian.inference.gap_tests import GapTests
from steradian.inference.row_sweeps import FeatureBlocks, Tilts, WhiteLevels
from steradian.numerics.arrays import Array

ROWS = 12_000


def bent(n: int, seed: int, offset: float = 1.0) -> Array:
    """A cloud with three different variances, brought to the two-sphere."""
    x = np.random.default_rng(seed).normal(size=(n, 3)) * [1.0, 1.4, 0.9] + [0.0, 0.2, offset]
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def angles(n: int, seed: int) -> Array:
    t = np.random.default_rng(seed).vonmises(0.3, 1.1, n)
    return np.stack([np.cos(t), np.sin(t)], axis=1)


def by_rows(monkeypatch: pytest.MonkeyPatch, profile: sr.results.Profile) -> GapTests:
    """The tests of another profile of the same rows, each looked at, with a tilt to rounding."""
    with monkeypatch.context() as patch:
        patch.setattr(row_sweeps, "MANY_ROWS", 1 << 60)
        patch.setattr(scores, "TILT_LAST_STEP", 1e-7)
        again = sr.profile(profile.directions, hierarchy=profile.moments.hierarchy,
                           design=profile.design)  # fmt: skip
        return again.tests()


def swept(profile: sr.results.Profile) -> dict[int, row_sweeps.SweptLevel]:
    """The levels that passes over blocks have settled."""
    profile.tests()
    levels = range(1, len(profile.levels) + 1)
    found = {k: row_sweeps.swept_level(profile.as_sample(), k) for k in levels}
    return {k: one for k, one in found.items() if one is not None}


def assert_same(one: GapTests, other: GapTests) -> None:
    assert one.methods == other.methods
    assert one.diagnostics == other.diagnostics
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-9)
    np.testing.assert_allclose(one.pvalue, other.pvalue, rtol=1e-8, atol=1e-290)
    for ours, theirs in zip(one.coefficients, other.coefficients, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


@pytest.mark.parametrize("offset", [0.0, 1.0])
def test_the_same_as_row_by_row_on_the_sphere(
    monkeypatch: pytest.MonkeyPatch, offset: float
) -> None:
    profile = sr.profile(bent(ROWS, 1, offset), levels=3)
    assert set(swept(profile)) == {1, 2, 3}
    assert_same(profile.tests(), by_rows(monkeypatch, profile))


def test_the_same_on_the_circle_and_for_axes(monkeypatch: pytest.MonkeyPatch) -> None:
    for profile in (
        sr.profile(angles(ROWS, 2), levels=4),
        sr.profile(bent(ROWS, 3, 0.0), hierarchy=sr.Axial(3, 2)),
    ):
        assert set(swept(profile)) == set(profile.levels.tolist())
        assert_same(profile.tests(), by_rows(monkeypatch, profile))


def test_the_same_with_fixed_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    weights = np.random.default_rng(4).gamma(2.0, size=ROWS)
    weights[::50] = 0.0
    profile = sr.profile(bent(ROWS, 4), weights=weights, levels=2, design="fixed")
    assert set(swept(profile)) == {1, 2}
    assert_same(profile.tests(), by_rows(monkeypatch, profile))


def test_rows_on_one_side_have_no_tilt(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = sr.profile(bent(ROWS, 5, 6.0), levels=1)
    assert not swept(profile)[1].tilted
    assert_same(profile.tests(), by_rows(monkeypatch, profile))
    assert codes(profile.tests())[0] == "null_centred"


def test_a_heavy_row_is_left_to_the_scores(monkeypatch: pytest.MonkeyPatch) -> None:
    """One row with more than half of the squared weight: no bound excludes it, and it is named."""
    weights = np.ones(ROWS)
    weights[17] = 150.0
    profile = sr.profile(bent(ROWS, 7), weights=weights, levels=1, design="fixed")
    assert_same(profile.tests(), by_rows(monkeypatch, profile))
    assert not profile.tests().judged[0]
    why = profile.tests().reason(1)
    assert why is not None
    assert why.data["unit"]["name"] == 17


def test_bounds_are_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    profile = sr.profile(bent(ROWS, 8), levels=3)
    sample = profile.as_sample()
    for level, one in swept(profile).items():
        white = sample.whitening(level)
        each = scores.scores_of(sample.rows, sample.units, white)
        assert one.added_leverage == pytest.approx(float(each.leverage.max()), rel=1e-6)
        assert one.leverage >= float(each.top_leverage[0]) * (1.0 - 1e-9)
        assert one.carried >= float(each.carried("damped").max()) * (1.0 - 1e-9)
        assert one.added_leverage >= float(each.contributed.max()) * (1.0 - 1e-9)


def test_tilts_of_all_levels_are_those_of_each() -> None:
    profile = sr.profile(bent(ROWS, 9), levels=3)
    sample = profile.as_sample()
    whites = [sample.whitening(level).formed for level in (1, 2, 3)]
    levels = WhiteLevels([white for white in whites if white is not None])
    rows = FeatureBlocks(sample.hierarchy, sample.rows, sample.units.weights)
    tilts = Tilts.search(levels, rows)
    assert tilts.found.all()
    phi = sample.hierarchy.features(sample.rows.x)
    for k, white in enumerate(whites):
        assert white is not None
        zeta = white.of_features(phi[None, :, : levels.sizes[k]])[0]
        t = np.exp(zeta @ tilts.tau[k, : levels.sizes[k]])
        np.testing.assert_allclose(t.mean(), np.exp(tilts.log_total[k]), rtol=1e-10)
        assert np.abs((t / t.sum()) @ zeta).max() < 1e-10


def test_sums_that_nodes_do_not_have_are_taken_over_the_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Nodes of degree 48 do not have the tilts of a law so sharp; passes move them."""
    rng = np.random.default_rng(10)
    x = np.array([0.0, 0.0, 1.0]) + 0.15 * rng.normal(size=(ROWS, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    profile = sr.profile(x, levels=2)
    assert set(swept(profile)) == {1, 2}
    assert_same(profile.tests(), by_rows(monkeypatch, profile))
