"""What a print waits for: work that was said, and not much longer by the processor's clock."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest

import steradian as sr
from steradian.estimation import bias
from steradian.fitting.nested import fit_levels
from steradian.significance import effort
from steradian.significance.effort import LATER, Patience, TakesLong


class Clock:
    """A processor whose time goes on when it is told."""

    def __init__(self) -> None:
        self.now = 0.0

    def process_time(self) -> float:
        return self.now

    def work(self, seconds: float) -> Callable[[], None]:
        def done() -> None:
            self.now += seconds

        return done


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    one = Clock()
    monkeypatch.setattr(effort, "time", one)
    monkeypatch.setattr(bias, "time", one)
    return one


def test_a_slow_draw_is_not_begun_with(clock: Clock) -> None:
    patience = Patience(effort.SOON)  # a second
    patience.try_one(3, clock.work(0.03))
    with pytest.raises(TakesLong, match=r"level 3: its p-value takes a while; tests\(\) finds it"):
        patience.try_one(3, clock.work(0.05))
    Patience().try_one(3, clock.work(1e9))  # who asks waits


def test_work_that_takes_much_longer_is_left_off(clock: Clock) -> None:
    patience = Patience(effort.SOON)
    done: list[int] = []

    def run() -> None:
        for step in patience.watched(2, range(10)):
            done.append(step)
            clock.work(0.4)()

    with pytest.raises(TakesLong):
        run()
    assert done == [0, 1]  # two more such steps would end after a second and a half
    assert list(Patience().watched(2, range(10))) == list(range(10))
    last = [clock.work(5.0)() for _ in Patience(effort.SOON).watched(2, range(1))]
    assert len(last) == 1  # what is done is done


def stacked(n: int = 60) -> sr.Profile:
    d = 4
    rng = np.random.default_rng(1)
    x = sr.Directions(rng.normal(size=(n, d)) + np.eye(d)[0], normalize=True)
    parts = [sr.Quadratics(d, [tuple(range(d)), (0,) * d]), sr.Zonal(np.eye(d)[0], 3)]
    return sr.profile(x, hierarchy=sr.Stacked(parts))


def test_draws_that_are_fitted_one_by_one_are_tried_first(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile, asked = stacked(), []

    def slow(_patience: Patience, level: int, _draw: object) -> None:
        asked.append(level)
        raise TakesLong("later")

    monkeypatch.setattr(Patience, "try_one", slow)
    found = profile.tests_within(effort.SOON)
    assert asked
    assert all(found.methods[level - 1] == LATER for level in asked)
    assert str(profile).count("tests()") >= len(set(asked))
    assert clock.now == 0.0


@pytest.mark.slow
def test_intervals_by_long_fits_are_left_to_those_who_ask(
    clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    profile = stacked()
    fits = fit_levels

    def slow(*given: object) -> object:
        clock.now += 1.0
        return fits(*given)  # type: ignore[arg-type]

    monkeypatch.setattr(bias, "fit_levels", slow)
    shown = str(profile)
    assert clock.now == 1.0  # one split of four told
    assert "95% interval" not in shown
    assert "Intervals take a while: intervals() in Python finds them." in shown
    profile.intervals()
    assert clock.now == 4.0  # which was kept
    again = str(profile)
    assert "95% interval" in again
    assert "Intervals take a while" not in again


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
