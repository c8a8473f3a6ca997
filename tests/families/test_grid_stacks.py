"""Stacks on grids: first steps in single precision, a grid for each row, honest errors."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.families.grids.approach import approach_side_by_side, coarse_grid
from steradian.families.grids.densities import density_on
from steradian.families.grids.ladder import GridLadder
from steradian.families.grids.stacks import aliasing_bound, reach_for
from steradian.numerics.arrays import Array
from steradian.spaces import Circle, Sphere

ROWS, WEIGHTINGS = 60, 12
SPACES: dict[int, Circle | Sphere] = {2: Circle(), 3: Sphere()}


def sample(d: int, sharp: float, seed: int) -> tuple[Array, Array]:
    """Points all over the space and weightings that look one way each."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    axes = rng.standard_normal((WEIGHTINGS, d))
    return x, np.exp(sharp * axes @ x.T)


@pytest.mark.parametrize(("d", "levels", "sharp"), [(2, 6, 1.0), (3, 2, 2.5), (3, 5, 0.7)])
def test_stack_equals_single(d: int, levels: int, sharp: float) -> None:
    x, w = sample(d, sharp, levels)
    found = sr.profiles(x, weights=w, levels=levels)
    for row, weights in enumerate(w):
        one = sr.profile(x, weights=weights, levels=levels)
        # both state errors of ψ of at most 1e-11 and end within 1e-11 of the largest dual
        np.testing.assert_allclose(found.deficits[row], one.deficits, rtol=0.0, atol=1e-10)
    assert not found.failures
    assert np.nanmax(found.quadrature) <= 1e-10
    assert np.nanmax(found.residual) <= 1e-10


@pytest.mark.parametrize(("d", "level"), [(2, 2), (2, 5), (3, 1), (3, 2), (3, 4)])
def test_side_by_side_ends_where_newton_does(d: int, level: int) -> None:
    """From starts near and far: one of them overflows in single precision, and harms no other."""
    x, w = sample(d, 1.0, level)
    space = SPACES[d]
    m = (w / w.sum(axis=1, keepdims=True)) @ space.harmonics(x, level)[:, 1:]
    start = np.zeros_like(m)
    start[1], start[2], start[3] = 0.3, -0.3, 200.0
    near, _ = approach_side_by_side(coarse_grid(space, level, 30), m, start)
    grid, ladder = space.exact_grid(30), GridLadder(space, level)
    found = ladder.solve_on(grid, m, np.zeros_like(m))
    dual = np.einsum("bq,bq->b", near, m) - density_on(grid, near)[0]
    arrived = np.arange(len(m)) != 3
    # the last step is taken at a decrement of 2e-3, and ½ of its square is all there is to gain
    np.testing.assert_allclose(dual[arrived], found.deficit[arrived], rtol=0.0, atol=2e-6)


@pytest.mark.parametrize("d", SPACES)
def test_what_is_left_after_the_last_step(d: int) -> None:
    """The last step is not looked at: a finer grid sees no more mismatch than is stated."""
    x, w = sample(d, 1.5, 3)
    space, level = SPACES[d], 3
    w /= w.sum(axis=1, keepdims=True)
    m = w @ space.harmonics(x, level)[:, 1:]
    ladder = GridLadder(space, level)
    found, doubtful = ladder.solve(m, np.zeros_like(m), np.full(len(m), 5))
    assert not doubtful.any()
    psi, mean, _ = ladder.integrals(space.grid(7), found.lam)
    rounding = 1e-13 * (1.0 + np.abs(found.lam).sum(axis=1))
    assert (np.abs(m - mean).max(axis=1) <= found.residual + rounding).all()
    assert (np.abs(psi - found.psi) <= found.quadrature + rounding).all()


@pytest.mark.parametrize("d", SPACES)
def test_aliasing_bound_is_one(d: int) -> None:
    space, rng = SPACES[d], np.random.default_rng(d)
    lam = rng.standard_normal((40, space.size(3) - 1)) * rng.uniform(0.1, 1.2, (40, 1))
    exact, _ = density_on(space.grid(9), lam)
    for rung in range(5):
        grid = space.grid(rung)
        error = np.abs(density_on(grid, lam)[0] - exact)
        bound = aliasing_bound(space, lam, exact, grid.reach)
        known = bound < 0.1  # beyond it the logarithm is no longer linear
        rounding = 1e-14 * (1.0 + np.abs(lam).sum(axis=1))
        assert (error[known] <= bound[known] + rounding[known]).all()
        enough = reach_for(space, lam, exact) <= grid.reach
        np.testing.assert_array_equal(enough, bound <= 1e-12)


@pytest.mark.parametrize(("d", "level"), [(2, 2), (2, 6), (3, 2), (3, 4)])
def test_many_laws_have_the_integrals_of_each(d: int, level: int) -> None:
    """On rungs of their own, known or not, beside some that are collinear or too sharp."""
    h, rng = sr.Harmonics(d, level), np.random.default_rng(level)
    lam = rng.standard_normal((30, h.q(level))) * rng.uniform(0.1, 1.0, (30, 1))
    lam[3], lam[7, 0] = 0.0, 300.0
    family = h.family(level)
    each = [
        np.concatenate(part) for part in zip(*map(family.log_partition, lam[:, None]), strict=True)
    ]
    rung = next(k for k in range(12) if SPACES[d].grid(k).reach > 150)
    for many in (family, family.resolved_by(rung)):
        kept = slice(None) if many is family else np.arange(30) != 7
        for found, wanted in zip(many.log_partition(lam[kept]), each, strict=True):
            # two rules that state 1e-12 each, of exponents that round at 1e-14 of their size
            np.testing.assert_allclose(found, wanted[kept], rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("d", SPACES)
def test_a_known_rung_says_what_it_resolves(d: int) -> None:
    h = sr.Harmonics(d, 2)
    family = h.family(2).resolved_by(2)
    gentle = 0.2 * np.eye(h.q(2))
    psi, mean, covariance = family.log_partition(gentle)
    assert family.resolves(gentle, psi)
    sharp = 80.0 * np.eye(h.q(2))
    assert not family.resolves(sharp, h.family(2).log_partition(sharp)[0])
    rough = family.roughly()
    assert rough is not None
    for found, wanted in zip(rough.log_partition(gentle), (psi, mean, covariance), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0.0, atol=1e-5)  # single precision


def test_rows_fail_alone() -> None:
    x, w = sample(3, 1.0, 9)
    sound = [row for row in range(WEIGHTINGS) if row not in (2, 5, 7)]
    alone = sr.profiles(x, weights=w[sound], levels=4)
    w[2], w[5], w[7] = 0.0, np.nan, 5e-324 * np.eye(ROWS)[0]
    w[9] *= 1e-304 / w[9].max()  # whose inverse is no finite number, less some powers of two
    w[10] *= 1e300 / w[10].max()
    found = sr.profiles(x, weights=w, levels=4)
    assert sorted(found.failures) == [2, 5, 7]
    np.testing.assert_allclose(found.gaps[sound], alone.gaps, rtol=0.0, atol=1e-11)
