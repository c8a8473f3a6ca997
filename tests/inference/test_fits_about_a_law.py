"""Fits of samples drawn from one known law: of the level below alone, as nested ones are."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from coded import codes
from oracles import Array
from steradian.errors import ResolutionError
from steradian.families.whitening import ReferenceWhitening, Whitening
from steradian.inference import score_tests as stacked
from steradian.inference.null_samples import SETTLED, FitsBelow, sound_whitening
from steradian.numerics.arrays import BoolArray
from steradian.paper import sample_tests

N, DRAWN = 120, 12


def drawn(d: int, level: int) -> tuple[sr.results.Profile, Array, Array]:
    """A profile to the level below, and samples of its highest fit with their weights."""
    rng = np.random.default_rng([d, level])
    x = rng.normal(size=(N, d)) + 0.8 * np.eye(d)[0]
    p = sr.profile(sr.Directions(x, normalize=True), levels=level - 1)
    samples = p.fits[level - 1].sample(DRAWN * N, rng).reshape(DRAWN, N, d)
    return p, samples, np.full((DRAWN, N), 1.0 / N)


@pytest.mark.parametrize(("d", "level"), [(2, 3), (2, 6), (2, 15), (3, 3), (3, 5)])
def test_they_are_the_nested_fits(d: int, level: int) -> None:
    p, x, weights = drawn(d, level)
    hierarchy = sr.Harmonics(d, level)
    stack = hierarchy.stack(x, weights)
    nested = FitsBelow.of(hierarchy, level, stack, (x, weights))
    near = FitsBelow.of(hierarchy, level, stack, (x, weights), p.fits[level - 1].lam)
    both = np.intersect1d(nested.rows, near.rows)
    assert len(both) > DRAWN // 2
    assert set(nested.rows.tolist()) <= set(near.rows.tolist())
    order = [np.searchsorted(each.rows, both) for each in (nested, near)]
    expected, found = (each.lam[k] for each, k in zip((nested, near), order, strict=True))
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    again = FitsBelow(near.family, both, found, nested.gone)
    once = FitsBelow(near.family, both, expected, nested.gone)
    np.testing.assert_allclose(again.squares(stack), once.squares(stack), rtol=1e-4, atol=1e-12)


def test_circles_of_many_levels_lose_what_no_grid_finds(monkeypatch: pytest.MonkeyPatch) -> None:
    p, x, weights = drawn(2, 15)
    hierarchy = sr.Harmonics(2, 15)
    stack = hierarchy.stack(x, weights)
    nowhere = np.zeros((DRAWN, 28)), np.zeros(DRAWN, dtype=bool)
    refits = type(hierarchy.family(14).refits(p.fits[14].lam))
    monkeypatch.setattr(refits, "parameters", lambda *_: nowhere)
    lost = FitsBelow.of(hierarchy, 15, stack, (x, weights), p.fits[14].lam)
    assert not len(lost.rows)
    assert len(lost.gone) == DRAWN  # inside their moment body, so they count against the sample


class Sharp:
    """A family that refuses stacks with a parameter above one, and has NaN above a half."""

    q = 1

    def whitening(self, below: Array) -> Whitening:
        if (below > 1.0).any():
            raise ResolutionError(2, "is too sharp", "ask for fewer levels")
        return Halved(lambda x: x, 1, len(below), below[:, 0] <= 0.5)


class Halved(ReferenceWhitening):
    """White features some of which are not sound."""

    def __init__(self, features: object, q: int, count: int, sound: BoolArray) -> None:
        super().__init__(features, q, count)  # type: ignore[arg-type]
        object.__setattr__(self, "_kept", sound)

    @property
    def sound(self) -> BoolArray:
        return self._kept  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("below", "sound"),
    [
        ([0.1, 0.2], [True, True]),
        ([0.1, 2.0, 0.7, 0.3], [True, False, False, True]),
        ([2.0, 3.0, 0.7], None),
        ([], None),
    ],
)
def test_one_that_is_refused_takes_no_other_with_it(
    below: list[float], sound: list[bool] | None
) -> None:
    found = sound_whitening(Sharp(), np.array(below).reshape(-1, 1))  # type: ignore[arg-type]
    if sound is None:
        assert found is None
    else:
        assert found is not None
        assert found[1].tolist() == sound


@pytest.mark.parametrize("design", ["iid", "importance"])
def test_samples_without_a_draw_that_can_be_tested_are_not_judged(
    design: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(7)
    x = rng.normal(size=(6, 40, 3))
    x /= np.linalg.norm(x, axis=2, keepdims=True)
    w = rng.exponential(size=(6, 40)) if design == "importance" else None
    plain = sample_tests(x, weights=w, levels=2, design=design)
    monkeypatch.setattr(
        stacked, "recalibrated_pvalues", lambda _f, p, _r, _s: np.full(len(p), np.nan)
    )
    monkeypatch.setattr(stacked, "DOUBTED", 1.0)
    found = sample_tests(x, weights=w, levels=2, design=design, replicates=99)
    asked = found.rough & (found.pvalue > SETTLED)
    assert asked.any()
    assert not found.judged[asked].any()
    np.testing.assert_array_equal(found.pvalue, plain.pvalue)
    assert "samples_not_testable" in codes(found)
