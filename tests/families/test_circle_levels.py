"""Many levels of the circle side by side: the fits of one level alone, and as many as there are."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.families.grids.circle_corners import Factor
from steradian.families.grids.circle_levels import solve_levels
from steradian.families.grids.ladder import GridLadder
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import Status
from steradian.hierarchies.harmonics import Harmonics
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.spaces import Circle

LEVELS = 24


def angles(law: str, n: int) -> Array:
    rng = np.random.default_rng(n)
    if law == "uniform":
        return rng.uniform(0.0, 2.0 * np.pi, n)
    if law == "mixture":
        return np.asarray(rng.normal(0.0, 0.5, n) + rng.choice([0.0, 2.5, 4.0], n))
    return rng.vonmises(1.0, {"one mode": 2.0, "narrow": 20.0}[law], n)


def sample(law: str, n: int, *, weighted: bool = False) -> Directions:
    weights = np.random.default_rng(7).gamma(2.0, size=n) if weighted else None
    return Directions.from_angles(angles(law, n), weights=weights)


def features(rows: Directions, levels: int = LEVELS) -> Array:
    return Moments.from_directions(rows, Harmonics(2, levels)).features[: 2 * levels]


@pytest.mark.parametrize(("law", "n", "weighted"), [
    ("uniform", 300, False),
    ("uniform", 20_000, True),
    ("one mode", 1_000, True),
    ("mixture", 5_000, False),
])  # fmt: skip
def test_each_level_is_the_fit_on_a_grid_twice_as_fine(law: str, n: int, weighted: bool) -> None:
    """The stack's Newton on another grid: equal to what both state, and rounding."""
    m = features(sample(law, n, weighted=weighted))
    found = solve_levels(1, m, np.zeros(0))
    assert [len(one.lam[0]) for one in found] == list(range(2, 2 * LEVELS + 1, 2))
    for level in (1, 2, 3, 5, 8, 13, 21, LEVELS):
        one, q = found[level - 1], 2 * level
        grid = Circle().exact_grid(2 * Circle().grid(int(one.rungs[0])).reach)
        there = GridLadder(Circle(), level).solve_on(grid, m[None, :q], one.lam)
        rounding = 64.0 * ROUNDOFF * (1.0 + float(np.abs(one.lam).sum()))
        allowed = 2.0 * float(one.quadrature[0]) + rounding + 1e-12
        assert one.deficit[0] == pytest.approx(float(there.deficit[0]), abs=allowed)
        assert one.residual[0] <= 1e-10
        assert one.quadrature[0] <= 1e-11
        assert one.nodes[0] == Circle().grid(int(one.rungs[0])).nodes
        assert one.condition[0] == pytest.approx(float(there.condition[0]), rel=0.9)  # estimates


def test_one_factor_serves_many_levels_of_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    real = Factor.of

    def counted(means: Array, level: int) -> Factor | None:
        made.append(level)
        return real(means, level)

    monkeypatch.setattr(Factor, "of", counted)
    m = features(sample("uniform", 20_000), 60)
    assert len(solve_levels(5, m, solve_levels(1, m[:8], np.zeros(0))[-1].lam[0])) == 56
    assert len(made) < 15


def test_a_level_ends_where_moments_leave_it_open() -> None:
    """Narrow data: features of high levels are collinear, and what is given is still right."""
    m = features(sample("narrow", 400))
    found = solve_levels(1, m, np.zeros(0))
    assert 2 <= len(found) < LEVELS
    assert max(float(one.condition[0]) for one in found) <= 1e11
    assert all(one.residual[0] <= 1e-10 for one in found)


def test_rows_of_a_stack_are_those_of_one_and_fail_alone() -> None:
    hierarchy = Harmonics(2, 9)
    few = Directions.from_angles(np.arange(6.0))  # no fit from level 6 on
    stacks = [
        Moments.from_directions(rows, hierarchy).stack()
        for rows in (sample("mixture", 500), few, sample("one mode", 500))
    ]
    both = fit_levels(hierarchy, type(stacks[0]).concatenated(stacks))
    assert both.failures[1].level == 6
    assert both.failures[1].status == Status.TOUCHING  # moments alone prove nothing
    assert set(both.failures) == {1}
    for row in (0, 2):
        alone = fit_levels(hierarchy, stacks[row]).deficits[0]
        np.testing.assert_allclose(both.deficits[row], alone, rtol=0, atol=1e-12)


def test_shrinkage_toward_the_level_below_changes_each_level() -> None:
    """Then no level is known before the one below it."""
    rows = sample("mixture", 500)
    mixed = sr.profile(rows, levels=8, shrinkage=sr.Shrinkage(0.05, toward="below"))
    plain = sr.profile(rows, levels=8)
    assert (mixed.deficits[1:] < plain.deficits[1:]).all()
