"""The quick way of one sample is the Newton of a stack: the same fits and stated errors."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from steradian.data.directions import Directions
from steradian.data.moments import Moments
from steradian.data.stacks import MomentStack
from steradian.families.grids.densities import density_on
from steradian.families.grids.ladder import GridLadder
from steradian.families.grids.stacks import GridStack
from steradian.fitting.nested import fit_levels
from steradian.fitting.solution import DualSolution, Status
from steradian.hierarchies.harmonics import Harmonics
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.numerics.tolerances import QUADRATURE_TOLERANCE
from steradian.spaces import unit_sphere

SHIFTS = (0.0, 0.03, 0.3, 1.0, 2.0, 4.0, 8.0)  # from nearly uniform to concentrated


def problem(d: int, level: int, shift: float, seed: int) -> MomentStack:
    """Moments of a few hundred directions of uneven weights about one or two axes."""
    rng = np.random.default_rng([d, level, seed, int(100 * shift)])
    x = rng.normal(size=(400, d))
    x[:, 0] += shift
    x[: 100 * (seed % 2), 1] -= 1.5 * shift
    rows = Directions(x, rng.gamma(0.7, size=400), normalize=True)
    return Moments.from_directions(rows, Harmonics(d, max(level, 2))).stack()


@pytest.mark.parametrize("level", range(1, 5))
@pytest.mark.parametrize("d", [2, 3])
def test_one_newton(d: int, level: int, monkeypatch: pytest.MonkeyPatch) -> None:
    ladder = GridLadder(unit_sphere(d), level)  # type: ignore[arg-type]
    taken = 0
    for shift, seed in product(SHIFTS, range(2)):
        m = problem(d, level, shift, seed).features[:, : ladder.q]
        rung = ladder.space.rung_for(np.array([shift**2]), level)
        start = np.zeros_like(m)
        quick = ladder.solve_single(int(rung[0]), m[0], start[0])
        if quick is None:
            continue  # left to the stack solver, whatever it finds
        taken += 1
        with monkeypatch.context() as without:
            without.setattr(GridLadder, "solve_single", lambda *_: None)
            stacked, doubtful = ladder.solve(m, start, rung)
        assert not doubtful.any()
        agree(quick, stacked, m[0])
        errors(ladder, quick)
    assert taken >= len(SHIFTS)  # most go the quick way, or this would hold nothing


def on_the_boundary(d: int, level: int, seed: int) -> Directions:
    """Directions without a fit of a level, which have fits of those below it."""
    rng = np.random.default_rng([d, level, seed])
    if level == 1:
        return Directions(np.tile(rng.normal(size=d), (5, 1)), normalize=True)
    if d == 2:
        return Directions(rng.normal(size=(level, d)), normalize=True)  # as few as its degree
    great_circle = np.linalg.qr(rng.normal(size=(d, 2)))[0]
    return Directions(rng.normal(size=(200, 2)) @ great_circle.T, normalize=True)


@pytest.mark.parametrize(("d", "level"), [(2, 1), (2, 2), (2, 3), (2, 4), (3, 1), (3, 2)])
def test_no_plain_fit_where_there_is_none(d: int, level: int) -> None:
    """Existence is not examined before a plain fit, so that none may be found on the boundary."""
    hierarchy = Harmonics(d, level)
    for seed in range(6):
        rows = on_the_boundary(d, level, seed)
        moments = Moments.from_directions(rows, hierarchy).stack()
        below = fit_levels(hierarchy.up_to(level - 1), moments).solutions[-1] if level > 1 else None
        family = hierarchy.family(level)
        assert family.plain_fit(moments, below) is None


def agree(quick: DualSolution, stacked: DualSolution, m: Array) -> None:
    """To rounding: λ as far as its covariance determines it, ψ and D to the digits of λ·φ."""
    assert quick.status[0] == stacked.status[0] == Status.CONVERGED
    size, condition = float(np.abs(stacked.lam).sum()), float(stacked.condition[0])
    known = 1e-13 * (1.0 + size) * max(condition, 1.0) + 2e-10 * condition
    np.testing.assert_allclose(quick.lam, stacked.lam, rtol=0.0, atol=known)
    rounding = 64.0 * ROUNDOFF * (1.0 + size) + 1e-13
    assert quick.deficit[0] == pytest.approx(float(stacked.deficit[0]), abs=rounding)
    assert quick.psi[0] == pytest.approx(
        float(stacked.psi[0]), abs=rounding + float(np.abs((quick.lam - stacked.lam)[0] @ m))
    )
    assert quick.nodes[0] <= stacked.nodes[0]  # fewer where a bound proves what a spectrum doubts
    assert quick.rungs[0] <= stacked.rungs[0]
    assert quick.moment_rounding[0] == pytest.approx(float(stacked.moment_rounding[0]), rel=1e-6)
    assert quick.condition[0] == pytest.approx(condition, rel=1e-3)
    assert max(quick.quadrature[0], stacked.quadrature[0]) <= QUADRATURE_TOLERANCE
    for found in (quick, stacked):
        assert found.residual[0] <= 1e-10
        assert found.decrement[0] <= 1e-5


def errors(ladder: GridLadder, quick: DualSolution) -> None:
    """The stated error bounds that of ψ on the grid, and is what a stack or a spectrum says."""
    space, level, rung = ladder.space, ladder.level, int(quick.rungs[0])
    stated, grid = float(quick.quadrature[0]), space.grid(rung)
    psi, finer = (density_on(each, quick.lam)[0][0] for each in (grid, space.grid(rung + 3)))
    rounding = 64.0 * ROUNDOFF * (1.0 + float(np.abs(quick.lam).sum()))
    assert abs(psi - finer) <= stated + rounding
    known = GridStack(space, level, grid).quadrature(quick.lam, quick.psi)[0]
    spectrum = grid.unresolved(density_on(grid, quick.lam)[1], level)[0]
    expected = known if space.d == 3 else spectrum
    assert stated == pytest.approx(float(expected), rel=1e-3, abs=1e-14)
