"""Ridge fits obey their own equation and cannot be mistaken for exact ones."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array
from steradian.paper import ridge


def sample(d: int, n: int = 80) -> Array:
    x = np.random.default_rng(d).normal(size=(n, d)) + np.linspace(1.0, 0.0, d)
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize(("d", "levels"), [(2, 3), (3, 3), (5, 2)])
@pytest.mark.parametrize("alpha", [1e-8, 1e-2, 1.0])
def test_the_equation_of_the_penalty(d: int, levels: int, alpha: float) -> None:
    """∇ψ(λ) + αλ = m, and the drop of entropy is λ·∇ψ(λ) - ψ(λ)."""
    x = sample(d)
    found = ridge(x, alpha, levels=levels)
    m = sr.Harmonics(d, levels).features(x).mean(axis=0)
    for level in range(1, levels + 1):
        lam = found.lam[level - 1]
        psi, mean, _ = sr.Harmonics(d, levels).family(level).log_partition(lam[None])
        np.testing.assert_allclose(mean[0] + alpha * lam, m[: len(lam)], atol=1e-9)
        assert found.entropy_drop[level - 1] == pytest.approx(lam @ mean[0] - psi[0], abs=1e-10)
        assert found.dual_value[level - 1] == pytest.approx(lam @ m[: len(lam)] - psi[0], abs=1e-10)
        missed = np.abs(m[: len(lam)] - mean[0]).max()
        assert found.mismatch[level - 1] == pytest.approx(missed, rel=1e-3, abs=1e-11)


def test_a_small_penalty_changes_little_and_a_large_one_breaks_the_theory() -> None:
    x = sample(3)
    exact = sr.profile(x, levels=3)
    small, large = ridge(x, 1e-8, levels=3), ridge(x, 0.5, levels=3)
    np.testing.assert_allclose(small.exact_gaps, exact.gaps)
    assert np.abs(small.change).max() < 1e-5
    assert large.mismatch.max() > 1e-2
    assert np.abs(large.change).max() > 1e-2


def test_steps_may_be_negative() -> None:
    """Thin clusters under a heavy penalty."""
    steps = []
    for seed in range(40):
        rng = np.random.default_rng(seed)
        theta = rng.vonmises(rng.uniform(0, 6, 3)[rng.integers(0, 3, 60)], 30.0)
        rows = sr.Directions.from_angles(theta)
        steps.append(ridge(rows, 0.05, levels=4).entropy_step)
    assert np.min(steps) < 0.0


def test_boundary_data_have_penalised_fits_but_no_gaps() -> None:
    found = ridge(np.eye(3), 1e-2, levels=3)
    assert np.isfinite(found.entropy_drop).all()
    assert np.isfinite(found.exact_gaps[0])
    assert np.isnan(found.exact_gaps[1:]).all()


def test_nobody_takes_it_for_exact() -> None:
    found = ridge(sample(3), 1e-4, levels=2)
    assert not isinstance(found, sr.results.Profile)
    assert type(found).__name__ == "RidgeNotExact"
    for name in ("gaps", "deficits", "uncertainty", "tests", "intervals", "fits"):
        assert not hasattr(found, name)
    assert "not exact GID" in repr(found)
    assert "NOT EXACT GID" in str(found).splitlines()[0]
    record = found.to_dict()
    assert record["exact_gid"] is False
    assert "not exact GID" in record["kind"]
    assert not {"gaps", "deficits"} & set(record)


def test_wrong_penalties_are_refused() -> None:
    for wrong in (0.0, -1.0, np.nan, np.inf):
        with pytest.raises(ValueError, match="give a positive number"):
            ridge(sample(3), wrong, levels=2)
    with pytest.raises(ValueError, match="offered up to 300; shrinkage works in any dimension"):
        ridge(sample(30, 600), 1e-4, levels=2)


def test_rotation_matters_to_ridge_only_beyond_rounding_of_the_same_features() -> None:
    """Orthonormal harmonics turn among themselves, so this ridge happens to be invariant."""
    x = sample(3)
    turn = oracles.rotation(3, np.random.default_rng(0))
    one, two = ridge(x, 0.1, levels=3), ridge(x @ turn.T, 0.1, levels=3)
    np.testing.assert_allclose(one.entropy_drop, two.entropy_drop, atol=1e-9)
