"""Dense programmes by an interior-point method, against SciPy's simplex and closed forms."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from oracles import Array
from steradian.numerics.linear_programme import minimise


def polytope(seed: int, k: int, n: int) -> tuple[Array, Array, Array]:
    """A bounded programme: ``rows @ c >= floor`` around the origin, and a cost."""
    rng = np.random.default_rng(seed)
    rows = rng.standard_normal((n, k))
    rows = np.vstack([rows, np.eye(k), -np.eye(k)])
    floor = -rng.uniform(0.2, 1.0, len(rows))
    return rng.standard_normal(k), rows, floor


@pytest.mark.parametrize("k", [1, 3, 20])
@pytest.mark.parametrize("seed", range(4))
def test_the_optimum_is_that_of_the_simplex_method(k: int, seed: int) -> None:
    cost, rows, floor = polytope(seed, k, 60 * k)
    expected = linprog(cost, -rows, -floor, bounds=(None, None))
    found = minimise(cost, rows, floor, start=np.zeros(k), accuracy=1e-11)
    assert cost @ found.point == pytest.approx(expected.fun, abs=1e-9)
    assert (rows @ found.point - floor).min() > -1e-9


@pytest.mark.parametrize("accuracy", [1e-1, 1e-4, 1e-10])
def test_the_multipliers_bound_the_optimum_from_below(accuracy: float) -> None:
    """Whatever the accuracy: y >= 0 and |c| <= 1 in each coordinate."""
    cost, rows, floor = polytope(9, 10, 300)
    exact = linprog(cost, -rows, -floor, bounds=(None, None)).fun
    found = minimise(cost, rows, floor, start=np.zeros(10), accuracy=accuracy)
    y = found.multipliers
    assert (y > 0.0).all()
    lower = y @ floor - np.abs(cost - y @ rows).sum()
    assert lower <= exact + 1e-12
    assert exact - lower < 40.0 * accuracy + 1e-9


def test_a_start_outside_is_as_good() -> None:
    cost, rows, floor = polytope(3, 5, 100)
    inside = minimise(cost, rows, floor, start=np.zeros(5), accuracy=1e-11)
    outside = minimise(cost, rows, floor, start=np.full(5, 30.0), accuracy=1e-11)
    np.testing.assert_allclose(outside.point, inside.point, atol=1e-8)


def test_a_quadratic_term_that_no_condition_touches() -> None:
    """Wide conditions: the unconstrained minimum; a tight one: on its plane."""
    cost, rows, floor = polytope(5, 4, 50)
    rng = np.random.default_rng(5)
    root = rng.standard_normal((6, 4))
    bend = root.T @ root + np.eye(4)
    free = np.asarray(-np.linalg.solve(bend, cost), dtype=np.float64)
    found = minimise(cost, rows, 100.0 * floor, start=np.zeros(4), accuracy=1e-12, bend=bend)
    np.testing.assert_allclose(found.point, free, atol=1e-9)
    plane = np.ones((1, 4))
    height = float(free.sum()) + 2.0
    found = minimise(cost, plane, np.array([height]), start=free, accuracy=1e-12, bend=bend)
    towards = np.linalg.solve(bend, np.ones(4))
    np.testing.assert_allclose(found.point, free + 2.0 / towards.sum() * towards, atol=1e-8)
