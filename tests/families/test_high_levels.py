"""High levels: errors that are stated hold, and circles go on where moments leave digits open."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from oracles import circle_rule, maximum_entropy, rotation, sample_moments
from steradian.families.meshes.rows import solve_rows
from steradian.fitting.solution import Status
from steradian.numerics.arrays import Array
from steradian.spaces import Sphere


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


def test_mcmurdo_has_a_tenth_level() -> None:
    """Plain steps creep there: a guarded start and longer steps find it."""
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=10)
    assert profile.deficits[-1] == pytest.approx(3.03848337, abs=1e-8)
