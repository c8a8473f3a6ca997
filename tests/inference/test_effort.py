"""What may be begun: work that follows from sizes alone, and what is said of the rest."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.diagnostics import NOT_COMPUTED, Verdict
from steradian.inference import bias, effort
from steradian.inference.effort import Patience, TakesLong
from steradian.inference.intervals import interval_work
from steradian.progress import drawn_chunks


def test_work_beyond_what_is_left_is_not_begun() -> None:
    patience = Patience(effort.SOON)
    patience.begin(1, 0.75 * effort.SOON)
    with pytest.raises(TakesLong, match=r"level 3: not computed \(about 40 s\); call `tests\(\)`"):
        patience.begin(3, 4e8)
    patience.begin(4, 0.25 * effort.SOON)  # a lower level that is too long costs no higher one
    with pytest.raises(TakesLong):
        patience.begin(5, 1.0)
    Patience().begin(1, 1e30)  # who asks waits


def test_what_is_not_computed_says_how_much_work_it_is() -> None:
    found = effort.beyond(2, 4e8, "residuals()").diagnostic
    assert (found.code, found.level) == ("not_computed", 2)
    assert found.data == {"work": 4e8, "seconds": 40.0, "call": "residuals()", "shared": ""}
    both = effort.together([found, effort.beyond(3, 1e8, "residuals()").diagnostic])
    assert both.data["work"] == 5e8
    alike = [effort.beyond(k, 3e8, "tests()", "one pass").diagnostic for k in (2, 3)]
    assert effort.together(alike).data["work"] == 3e8


def stacked(n: int = 60) -> sr.results.Profile:
    d = 4
    rng = np.random.default_rng(1)
    x = sr.Directions(rng.normal(size=(n, d)) + np.eye(d)[0], normalize=True)
    parts = [sr.Quadratics(d, [tuple(range(d)), (0,) * d]), sr.Zonal(np.eye(d)[0], 3)]
    return sr.profile(x, hierarchy=sr.Stacked(parts))


def test_a_smaller_budget_gives_the_same_numbers_or_none() -> None:
    whole = stacked().tests()
    assert not whole.later
    open_levels = set()
    for budget in (0.0, 1e4, 1e6, 3e6, 1e7, 1e8):
        profile = stacked()
        found = profile.tests_within(budget)
        later = np.isin(found.levels, found.later)
        open_levels.add(len(found.later))
        np.testing.assert_array_equal(found.pvalue[~later], whole.pvalue[~later])
        assert np.isnan(found.pvalue[later]).all()
        assert [found.methods[level - 1] for level in found.later] == [NOT_COMPUTED] * later.sum()
        assert str(profile.summary(patience=budget)).count("not computed") >= later.any()
        for now, then in zip(found.verdicts, whole.verdicts, strict=True):
            assert now in {then, Verdict.OPEN}
        expected = np.full(len(later), np.nan) if later.any() else whole.pvalue_holm
        np.testing.assert_array_equal(found.pvalue_holm, expected)
    assert len(open_levels) > 2


def test_intervals_by_long_fits_are_left_to_those_who_ask() -> None:
    profile = stacked()
    work = interval_work(profile.as_sample())
    with pytest.raises(TakesLong, match=r"not computed \(about .*\); call `intervals\(\)`"):
        profile.intervals_within(0.5 * work)
    shown = profile.summary(patience=0.5 * work)
    assert "95% interval" not in shown
    assert "Intervals: not computed (about 1 s); call `intervals()`." in " ".join(shown.split())
    profile.intervals()
    assert "95% interval" in profile.summary(patience=0.5 * work)


def test_work_does_not_fall_with_rows_features_or_nodes() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal([0.5, 0.0, 0.0], 1.0, (400, 3))
    few, many = (
        sr.profile(sr.Directions(x[:n], normalize=True), levels=4).as_sample() for n in (100, 400)
    )
    of_levels = [effort.of_draws(many, level, 10.0) for level in range(1, 5)]
    assert of_levels == sorted(of_levels)
    assert all(effort.of_draws(few, k, 10.0) < effort.of_draws(many, k, 10.0) for k in range(1, 5))
    assert effort.of_draws(many, 3, 20.0) == pytest.approx(2.0 * effort.of_draws(many, 3, 10.0))
    assert interval_work(few) < interval_work(many)


def test_draws_come_in_pieces_of_bounded_size() -> None:
    pieces = drawn_chunks(10**12, 4, "draws", first=10)
    sizes = [piece.stop - piece.start for piece, _ in zip(pieces, range(40), strict=False)]
    assert sizes[:3] == [10, 20, 40]
    assert max(sizes) == 100_000


@pytest.mark.parametrize("given", [{"method": "simulate"}, {"method": "bootstrap"}], ids=str)
def test_a_billion_draws_can_be_interrupted(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between two pieces, each of bounded size; nothing as large as all of them is held."""
    seen: list[int] = []

    def interrupted(count: int, per_draw: int, what: str, *, first: int = 0) -> Iterator[slice]:
        for piece in drawn_chunks(count, per_draw, what, first=first):
            seen.append(piece.stop - piece.start)
            if len(seen) > 2:
                raise KeyboardInterrupt
            yield piece

    name = "steradian.inference.null_samples.drawn_chunks"
    monkeypatch.setattr(name, interrupted)
    p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    with pytest.raises(KeyboardInterrupt):
        p.tests(replicates=10**9, **given)
    assert max(seen) <= 400_000


@pytest.mark.parametrize(
    ("method", "what"), [("simulate", "draws of the tail"), ("bootstrap", "random signs")]
)
def test_draws_are_shown_as_they_come(
    method: Any, what: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bar is told of every draw: see `tests/test_progress.py` for what it shows."""
    told: dict[str, list[int]] = {}

    @contextlib.contextmanager
    def metered(total: int, name: str, unit: str = "") -> Iterator[Any]:
        told[name] = [total, 0]

        def advance(amount: int) -> None:
            told[name][1] += amount

        yield advance

    monkeypatch.setattr("steradian.progress.metered", metered)
    p = sr.profile(sr.examples.load("mcmurdo"), levels=1)
    p.tests(method=method, replicates=9_999, covariance="null")
    assert told == {what: [9_999, 9_999]}


_BILLION = """
import steradian as sr
p = sr.profile(sr.examples.load("mcmurdo"), levels=2)
print("begun", flush=True)
try:
    p.tests(method="simulate", replicates=10**9)
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_is_answered_at_once() -> None:
    command = [sys.executable, "-c", _BILLION]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(2.0)  # it draws
        process.send_signal(signal.SIGINT)
        said, _ = process.communicate(timeout=60.0)
    assert said == "interrupted\n"
    assert process.returncode == 0


@pytest.mark.slow
def test_halves_are_those_of_one_stack() -> None:
    """Fits of one split after the other are the fits of all together."""
    sample = stacked().as_sample()

    def halves() -> Iterator[np.ndarray]:
        rng = np.random.default_rng(0)
        for _ in range(4):
            yield from np.array_split(rng.permutation(sample.units.count), 2)

    gaps = [sr.profile(sample.rows.take(k), hierarchy=sample.hierarchy).gaps for k in halves()]
    expected = np.mean(gaps, axis=0) - sample.nested.gaps[0]
    np.testing.assert_allclose(bias.gap_bias(sample), expected, rtol=1e-6, atol=1e-9)
