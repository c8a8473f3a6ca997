"""The one solver on grids: fits on grids twice as fine, stacks and samples, errors that hold."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

import steradian as sr
from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.stacks import MomentStack
from steradian.families.grids.grid_newton import grid_newton
from steradian.families.grids.laws import GridLaws, density_on, psi_on
from steradian.families.grids.solver import GridSolver
from steradian.fitting.nested import fit_levels
from steradian.fitting.newton import judge, newton
from steradian.fitting.solution import DualSolution, Status
from steradian.hierarchies.harmonics import Harmonics
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import MISMATCH_ROUNDING, VERIFIED_AIM
from steradian.spaces import Circle, Grid, Sphere

SHIFTS = (0.0, 0.03, 0.3, 1.0, 2.0, 4.0)  # from nearly uniform to concentrated
ROWS, WEIGHTINGS = 60, 12
SPACES: dict[int, Circle | Sphere] = {2: Circle(), 3: Sphere()}


def problem(d: int, level: int, shift: float, seed: int = 0) -> MomentStack:
    """Moments of a few hundred directions of uneven weights about one or two axes."""
    rng = np.random.default_rng([d, level, seed, int(100 * shift)])
    x = rng.normal(size=(400, d))
    x[:, 0] += shift
    x[: 100 * (seed % 2), 1] -= 1.5 * shift
    rows = Directions(x, rng.gamma(0.7, size=400), normalize=True)
    return Moments.from_directions(rows, Harmonics(d, max(level, 2))).stack()


def fits(d: int, level: int, moments: MomentStack) -> DualSolution:
    start = np.zeros((len(moments), SPACES[d].size(level) - 1))
    return GridSolver(SPACES[d], level).solve(moments, start)


def on_one_grid(laws: GridLaws, grid: Grid, m: Array, lam: Array) -> DualSolution:
    """Newton's method to its end, on one grid."""
    path = newton(lambda one, _: laws.on(grid, one), m, lam)
    return judge(path, m, laws.on(grid, path.lam))


@pytest.mark.parametrize(
    ("d", "level"), [(2, 2), (2, 3), (2, 5), (2, 20), (3, 2), (3, 3), (3, 4), (3, 5), (3, 9)]
)
def test_the_same_fit_on_a_grid_twice_as_fine(d: int, level: int) -> None:
    """Equal to what is stated, and rounding; what the last step leaves is no more than stated."""
    space, laws = SPACES[d], GridLaws(SPACES[d], level)
    for shift, seed in product(SHIFTS if level < 5 else SHIFTS[:4], range(2)):
        moments = problem(d, level, shift, seed)
        found, m = fits(d, level, moments), moments.features[:, : laws.q]
        assert found.status[0] == Status.CONVERGED
        if found.rungs[0] < 0:
            continue  # by the contour, or on pieces
        grid = space.exact_grid(2 * space.grid(int(found.rungs[0])).reach)
        assert grid.nodes > found.nodes[0] == space.grid(int(found.rungs[0])).nodes
        there = on_one_grid(laws, grid, m, found.lam)
        rounding = 64.0 * ROUNDOFF * (1.0 + float(np.abs(found.lam).sum())) + 1e-13
        stated = float(found.quadrature[0] + 0.5 * found.decrement[0] ** 2)
        assert found.deficit[0] == pytest.approx(float(there.deficit[0]), abs=stated + rounding)
        assert found.psi[0] == pytest.approx(psi_on(grid, found.lam)[0], abs=stated + rounding)
        mismatch = np.abs(m - laws.on(grid, found.lam).mean).max()
        assert mismatch <= found.residual[0] + MISMATCH_ROUNDING + rounding
        estimated = 0.01 if there.condition[0] < 1e6 else 0.9  # its digits go with it
        assert found.condition[0] == pytest.approx(float(there.condition[0]), rel=estimated)
        assert found.residual[0] <= 1e-10
        assert found.decrement[0] <= 1e-5
        assert found.quadrature[0] <= max(VERIFIED_AIM, ROUNDOFF * np.abs(found.lam).sum())


@pytest.mark.parametrize(("d", "level"), [(2, 2), (2, 4), (2, 9), (3, 2), (3, 4), (3, 6)])
def test_rows_of_a_stack_are_those_of_one(d: int, level: int) -> None:
    """λ as far as its covariance determines it, D to what both state."""
    stack = MomentStack.concatenated([problem(d, level, shift) for shift in SHIFTS[:4]])
    both = fits(d, level, stack)
    for row in range(len(stack)):
        one = fits(d, level, stack.take(np.array([row])))
        assert one.status[0] == both.status[row] == Status.CONVERGED
        known = 1e-9 * (1.0 + float(both.condition[row]))
        np.testing.assert_allclose(one.lam[0], both.lam[row], rtol=0.0, atol=known)
        stated = float(one.quadrature[0] + both.quadrature[row]) + 1e-13
        assert one.deficit[0] == pytest.approx(float(both.deficit[row]), abs=stated)


def on_the_boundary(d: int, level: int, seed: int) -> Directions:
    """Directions without a fit of a level, which have fits of those below it."""
    rng = np.random.default_rng([d, level, seed])
    if d == 2:
        return Directions(rng.normal(size=(level, d)), normalize=True)  # as few as its degree
    great_circle = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    return Directions(rng.normal(size=(200, 2)) @ great_circle.T, normalize=True)


@pytest.mark.parametrize(("d", "level"), [(2, 2), (2, 3), (2, 4), (3, 2), (3, 5)])
def test_nothing_is_found_where_there_is_no_fit(d: int, level: int) -> None:
    for seed in range(3):
        rows = on_the_boundary(d, level, seed)
        m = Moments.from_directions(rows, Harmonics(d, level)).stack().features
        m = m[:, : SPACES[d].size(level) - 1]
        newton, start = grid_newton(SPACES[d], level), np.zeros_like(m)
        found = newton.fit(m, start, newton.first_rungs(np.ones(1), start))
        assert found.status[0] != Status.CONVERGED


def test_sharp_laws_get_the_nodes_they_ask_for() -> None:
    """Two clusters of some four degrees."""
    rng = np.random.default_rng(4)
    x = np.vstack([rng.normal(0.0, 0.07, (400, 3)) + axis for axis in np.eye(3)[:2]])
    rows = Directions(x, normalize=True)
    profile = sr.profile(Moments.from_directions(rows, Harmonics(3, 5)))
    assert (np.diff(profile.deficits) > 0.0).all()
    assert profile.numerics.nodes[-1] > 10_000


@pytest.mark.parametrize(("d", "levels", "sharp"), [(2, 6, 1.0), (3, 2, 2.5), (3, 5, 0.7)])
def test_weightings_are_fitted_as_profiles(d: int, levels: int, sharp: float) -> None:
    x, w = weightings(d, sharp, levels)
    found = sr.profiles(x, weights=w, levels=levels)
    for row, weights in enumerate(w):
        one = sr.profile(x, weights=weights, levels=levels)
        # both state errors of ψ of at most 1e-11 and end within 1e-11 of the largest dual
        np.testing.assert_allclose(found.deficits[row], one.deficits, rtol=0.0, atol=1e-10)
    assert not found.failures
    assert np.nanmax(found.quadrature) <= 1e-10
    assert np.nanmax(found.residual) <= 1e-10


def weightings(d: int, sharp: float, seed: int) -> tuple[Array, Array]:
    """Points all over the space and weightings that look one way each."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((ROWS, d))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    axes = rng.standard_normal((WEIGHTINGS, d))
    return x, np.exp(sharp * axes @ x.T)


def test_rows_fail_alone() -> None:
    x, w = weightings(3, 1.0, 9)
    sound = [row for row in range(WEIGHTINGS) if row not in (2, 5, 7)]
    alone = sr.profiles(x, weights=w[sound], levels=4)
    w[2], w[5], w[7] = 0.0, np.nan, 5e-324 * np.eye(ROWS)[0]
    w[9] *= 1e-304 / w[9].max()  # whose inverse is no finite number, less some powers of two
    w[10] *= 1e300 / w[10].max()
    found = sr.profiles(x, weights=w, levels=4)
    assert sorted(found.failures) == [2, 5, 7]
    np.testing.assert_allclose(found.gaps[sound], alone.gaps, rtol=0.0, atol=1e-11)


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
    assert family.resolves(gentle, family.log_partition(gentle)[0])
    sharp = 80.0 * np.eye(h.q(2))
    assert not family.resolves(sharp, family.log_partition(sharp)[0])


def test_densities_have_a_total_of_one() -> None:
    grid, lam = Sphere().grid(4), np.random.default_rng(0).normal(size=(3, 15))
    psi, density = density_on(grid, lam)
    np.testing.assert_allclose(density @ grid.weights, 1.0, rtol=0.0, atol=1e-14)
    np.testing.assert_allclose(psi, psi_on(grid, lam), rtol=1e-14)


# Many levels of the circle


def circle_sample(law: str, n: int, *, weighted: bool = False) -> Directions:
    rng = np.random.default_rng(n)
    if law == "uniform":
        angle = rng.uniform(0.0, 2.0 * np.pi, n)
    elif law == "mixture":
        angle = np.asarray(rng.normal(0.0, 0.5, n) + rng.choice([0.0, 2.5, 4.0], n))
    else:
        angle = rng.vonmises(1.0, {"one mode": 2.0, "narrow": 20.0}[law], n)
    weights = np.random.default_rng(7).gamma(2.0, size=n) if weighted else None
    return Directions.from_angles(angle, weights=weights)


@pytest.mark.parametrize(("law", "n", "weighted"), [
    ("uniform", 300, False),
    ("uniform", 20_000, True),
    ("one mode", 1_000, True),
    ("mixture", 5_000, False),
])  # fmt: skip
def test_many_levels_of_the_circle(law: str, n: int, weighted: bool) -> None:
    moments = Moments.from_directions(circle_sample(law, n, weighted=weighted), Harmonics(2, 24))
    found = fit_levels(moments.hierarchy, moments.stack()).solutions
    for level in (2, 3, 5, 8, 13, 21, 24):
        one, laws = found[level - 1], GridLaws(Circle(), level)
        grid = Circle().exact_grid(2 * Circle().grid(int(one.rungs[0])).reach)
        there = on_one_grid(laws, grid, moments.stack().features[:, : 2 * level], one.lam)
        rounding = 64.0 * ROUNDOFF * (1.0 + float(np.abs(one.lam).sum()))
        allowed = 2.0 * float(one.quadrature[0]) + rounding + 1e-12
        assert one.deficit[0] == pytest.approx(float(there.deficit[0]), abs=allowed)
        assert one.residual[0] <= 1e-10
        assert one.quadrature[0] <= 1e-11


def test_levels_of_a_stack_end_where_each_has_no_fit() -> None:
    hierarchy = Harmonics(2, 9)
    few = Directions.from_angles(np.arange(6.0))  # no fit from level 6 on
    stacks = [
        Moments.from_directions(rows, hierarchy).stack()
        for rows in (circle_sample("mixture", 500), few, circle_sample("one mode", 500))
    ]
    both = fit_levels(hierarchy, type(stacks[0]).concatenated(stacks))
    assert both.failures[1].level == 6
    assert both.failures[1].status == Status.TOUCHING  # moments alone prove nothing
    assert set(both.failures) == {1}
    for row in (0, 2):
        alone = fit_levels(hierarchy, stacks[row]).deficits[0]
        np.testing.assert_allclose(both.deficits[row], alone, rtol=0, atol=1e-11)


def test_shrinkage_toward_the_level_below_changes_each_level() -> None:
    """Then no level is known before the one below it."""
    rows = circle_sample("mixture", 500)
    mixed = sr.profile(rows, levels=8, shrinkage=sr.Shrinkage(0.05, toward="below"))
    plain = sr.profile(rows, levels=8)
    assert (mixed.deficits[1:] < plain.deficits[1:]).all()
