"""High levels on grids that grow: the fits of the stack's Newton, and errors that are stated."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from oracles import circle_rule, maximum_entropy, rotation, sample_moments
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.families.grids.high_levels import solve_high
from steradian.families.grids.ladder import GridLadder
from steradian.families.meshes.rows import solve_rows
from steradian.fitting.solution import Status
from steradian.hierarchies.harmonics import Harmonics
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.spaces import Circle, Sphere


def moments(space: Circle | Sphere, level: int, shift: float, n: int = 2000) -> Array:
    """Of directions of uneven weights about two axes, on a quarter of uniform ones."""
    rng = np.random.default_rng([space.d, level, int(10 * shift)])
    x = rng.normal(size=(n, space.d))
    x[: n // 2, 0] += shift
    x[n // 2 : 3 * n // 4, 1] -= shift
    rows = Directions(x, rng.gamma(2.0, size=n), normalize=True)
    held = Moments.from_directions(rows, Harmonics(space.d, level)).stack()
    return held.features[:, : space.size(level) - 1]


@pytest.mark.parametrize("shift", [0.0, 1.0, 3.0])
@pytest.mark.parametrize(
    ("space", "level"), [(Circle(), 5), (Circle(), 20), (Sphere(), 5), (Sphere(), 9)]
)
def test_the_same_fit_on_a_grid_twice_as_fine(
    space: Circle | Sphere, level: int, shift: float
) -> None:
    """The stack's Newton from nothing, on another grid: equal to what both state, and rounding."""
    m = moments(space, level, shift)
    found = solve_high(space, level, m, np.zeros_like(m))
    assert found.status[0] == Status.CONVERGED
    grid = space.exact_grid(2 * space.grid(int(found.rungs[0])).reach)
    assert grid.nodes > found.nodes[0] == space.grid(int(found.rungs[0])).nodes
    there = GridLadder(space, level).solve_on(grid, m, found.lam)
    rounding = 64.0 * ROUNDOFF * (1.0 + float(np.abs(found.lam).sum()))
    allowed = 2.0 * float(found.quadrature[0]) + rounding + 1e-12
    assert found.deficit[0] == pytest.approx(float(there.deficit[0]), abs=allowed)
    assert found.residual[0] <= 1e-10
    assert found.decrement[0] <= 1e-5
    assert found.quadrature[0] <= 1e-11
    assert found.condition[0] == pytest.approx(
        float(there.condition[0]), rel=0.5
    )  # an estimate, by the last factor


def test_rows_of_a_stack_are_those_of_one() -> None:
    m = np.vstack([moments(Sphere(), 6, shift) for shift in (0.5, 2.0)])
    both = solve_high(Sphere(), 6, m, np.zeros_like(m))
    for row in range(2):
        one = solve_high(Sphere(), 6, m[row : row + 1], np.zeros_like(m[:1]))
        np.testing.assert_array_equal(one.lam[0], both.lam[row])


def test_moments_of_one_point_have_no_fit() -> None:
    x = np.array([[0.0, 0.6, 0.8]])
    m = Sphere().harmonics(x, 5)[:, 1:]
    assert solve_high(Sphere(), 5, m, np.zeros_like(m)).status[0] == Status.STALLED


def test_sharp_laws_get_the_nodes_they_ask_for() -> None:
    """Two clusters of some four degrees: grids of products end before, transforms do not."""
    rng = np.random.default_rng(4)
    x = np.vstack([rng.normal(0.0, 0.07, (400, 3)) + axis for axis in np.eye(3)[:2]])
    rows = Directions(x, normalize=True)
    m = Moments.from_directions(rows, Harmonics(3, 5)).stack().features
    lam, deficits = np.zeros((1, 0)), []
    for level in (1, 2, 3, 4, 5):
        q = Sphere().size(level) - 1
        start = np.zeros((1, q))
        start[:, : lam.shape[1]] = lam
        found = solve_high(Sphere(), level, m[:, :q], start)
        assert found.status[0] == Status.CONVERGED
        lam = found.lam
        deficits.append(float(found.deficit[0]))
    assert (np.diff(deficits) > 0.0).all()
    assert found.nodes[0] > 10_000


def on_circle(angle: Array) -> Array:
    return np.stack([np.cos(angle), np.sin(angle)], axis=1)


def circle_samples() -> dict[str, tuple[Array, Array | None]]:
    """Angles whose features are collinear under their fits above level 6."""
    rng = np.random.default_rng(1)
    two = np.concatenate([rng.vonmises(0, 30, 1000), rng.vonmises(2, 10, 1000)])
    one, wrapped = rng.vonmises(1, 6, 500), rng.normal(0, 0.5, 800)
    return {
        "two clusters": (on_circle(two), None),
        "one cluster": (on_circle(one), None),
        "weights": (on_circle(wrapped), rng.gamma(2.0, size=800)),
    }


@pytest.mark.parametrize("level", [8, 11])
@pytest.mark.parametrize("name", list(circle_samples()))
def test_stated_errors_hold_in_extended_precision(name: str, level: int) -> None:
    """Also where levels are left as the grid finds them, with conditions of 1e13."""
    x, weights = circle_samples()[name]
    profile = sr.profile(x, weights=weights, levels=level)
    rule, m = circle_rule(4096), sample_moments(x, level, weights)
    centred = rule.harmonics(level) - m
    start = centred @ np.asarray(profile.fits[level].lam, dtype=np.longdouble)
    exact = maximum_entropy(rule.weights, rule.harmonics(level), m, start).deficit
    n = profile.numerics
    stated = n.quadrature[-1] + n.moment_rounding[-1] + 0.5 * n.decrement[-1] ** 2
    assert stated < 1e-7
    assert abs(float(exact) - profile.deficits[-1]) <= stated + 1e-14


@pytest.mark.parametrize("seed", range(4))
def test_turned_copies_agree_to_what_both_state(seed: int) -> None:
    """Two grids that agree by chance would state less than is true."""
    rng = np.random.default_rng(seed)
    x = np.concatenate([rng.normal(size=(100, 3)) + 2.0 * rng.normal(size=3) for _ in range(3)])
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    one, other = (sr.profile(y, levels=8) for y in (x, x @ rotation(3, rng).T))
    stated = sum(
        n.quadrature + n.moment_rounding + 0.5 * n.decrement**2
        for n in (one.numerics, other.numerics)
    )
    assert (np.abs(one.deficits - other.deficits) <= stated + 1e-13).all()


def test_circles_go_on_above_level_twelve_where_their_grid_gives_up() -> None:
    """Two clusters were refused at level 15, which pieces of the circle resolve."""
    rng = np.random.default_rng(5)
    angle = np.concatenate([rng.vonmises(0, 30, 5000), rng.vonmises(2, 10, 5000)])
    profile = sr.profile(on_circle(angle), levels=16)
    assert (np.diff(profile.deficits) > 0.0).all()
    assert profile.numerics.residual.max() < 1e-8
    turned = sr.profile(on_circle(angle + 1.0), levels=16)
    np.testing.assert_allclose(profile.deficits, turned.deficits, rtol=0, atol=1e-7)


def test_a_search_from_the_level_below_ends_at_the_same_fit_in_fewer_steps() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(300, 3)) * 0.15 + [0.0, 0.6, 0.8]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    weights, space = np.full(300, 1.0 / 300), Sphere()
    below = solve_rows(space, 4, x, weights).lam[0]
    cold = solve_rows(space, 5, x, weights)
    warm = solve_rows(space, 5, x, weights, lambda y: space.harmonics(y, 4)[:, 1:] @ below)
    assert cold.status[0] == warm.status[0] == Status.CONVERGED
    assert warm.steps[0] < cold.steps[0]
    stated = cold.quadrature + warm.quadrature + cold.moment_rounding + warm.moment_rounding
    assert abs(cold.deficit[0] - warm.deficit[0]) <= stated[0] + 1e-12
