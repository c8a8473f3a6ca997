"""Steps with one factor, and what is learned from them."""

from __future__ import annotations

import numpy as np

from steradian.families.grids.quasi_newton import QuasiNewton
from steradian.numerics.arrays import Array
from steradian.numerics.scratch import Scratch

SIZE = 6


def second_moments() -> Array:
    """Of (1, φ) over a hundred points, (SIZE + 1, SIZE + 1)."""
    rows = np.random.default_rng(1).normal(size=(100, SIZE + 1))
    rows[:, 0] = 1.0
    return np.asarray(rows.T @ rows / 100.0)


def test_a_new_factor_solves_with_the_covariance() -> None:
    """The condition is below 10: a hundred roundings are allowed."""
    second = second_moments()
    mean = second[0, 1:]
    covariance = second[1:, 1:] - np.outer(mean, mean)
    model = QuasiNewton.of(second, np.empty_like(second))
    assert model is not None
    gradient = np.arange(1.0, SIZE + 1.0)
    np.testing.assert_allclose(covariance @ model.step(gradient), gradient, atol=1e-13)
    inverse = np.abs(np.linalg.inv(covariance)).sum(axis=0).max()
    exact = np.abs(covariance).sum(axis=0).max() * inverse
    assert 0.3 * exact <= model.condition(np.empty_like(second)) <= exact * (1.0 + 1e-12)


def test_the_last_step_is_answered_as_it_was_seen() -> None:
    """The secant condition: what moved the mean by y was s."""
    model = QuasiNewton.of(second_moments(), np.empty((SIZE + 1, SIZE + 1)))
    assert model is not None
    rng = np.random.default_rng(2)
    for _ in range(3):
        step = rng.normal(size=SIZE)
        moved = 2.0 * step + 0.1 * rng.normal(size=SIZE)
        model.learn(step, moved)
        np.testing.assert_allclose(model.step(moved), step, atol=1e-12)
    before = model.step(moved)
    model.forget()
    assert np.abs(model.step(moved) - before).max() > 0.1


def test_singular_matrices_have_no_factor() -> None:
    assert QuasiNewton.of(np.ones((3, 3)) - np.eye(3), np.empty((3, 3))) is None


def test_room_is_lent_to_one_at_a_time_and_kept() -> None:
    scratch = Scratch()
    with scratch.lent(2, 4) as one, scratch.lent(2, 4) as other:
        assert one.shape == other.shape == (2, 4, 4)
        assert not np.shares_memory(one, other)
    with scratch.lent(1, 3) as again:
        assert np.shares_memory(again, one) or np.shares_memory(again, other)
