"""Tilts exist where zero is a mean of the units, which linear programming decides."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from steradian.inference.scores import tilt
from steradian.numerics.arrays import Array


def room(h: Array) -> float:
    """The largest share that every unit can have in a law under which h (U, p) has mean zero."""
    units, p = h.shape
    equal = np.vstack([np.column_stack([h.T, h.sum(axis=0)]), np.append(np.ones(units), units)])
    found = linprog(np.append(np.zeros(units), -1.0), A_eq=equal, b_eq=np.append(np.zeros(p), 1.0))
    return float(-found.fun) if found.status == 0 else -1.0


@pytest.mark.parametrize(("units", "p"), [(6, 2), (12, 5), (15, 8), (40, 12)])
def test_which_exist(units: int, p: int) -> None:
    rng = np.random.default_rng(units)
    h = rng.normal(size=(40, units, p)) + 0.5 * rng.normal(size=(40, 1, p))
    base = rng.random((40, units)) + 0.05
    base /= base.sum(axis=1, keepdims=True)
    weights, found = tilt(h, base)
    rooms = np.array([room(each) for each in h])
    assert found[rooms > 1e-3].all()
    assert not found[rooms < 0.0].any()
    assert (rooms < 0.0).any()
    np.testing.assert_array_equal(weights[~found], base[~found])
    assert weights.sum(axis=1) == pytest.approx(1.0)
    means = np.einsum("bu,bup->bp", weights, h)[found]
    assert np.abs(means).max(initial=0.0) < 1e-6


def test_a_unit_of_little_weight_may_carry_it_all() -> None:
    """Far from the base, but it exists: the bound on divergences is that of the lightest unit."""
    h = np.array([[[1.0], [1.1], [0.9], [-50.0]]])
    base = np.array([[0.4, 0.3, 0.3 - 1e-8, 1e-8]])
    weights, found = tilt(h, base)
    assert found.all()
    assert float(weights[0] @ h[0, :, 0]) == pytest.approx(0.0, abs=1e-6)
