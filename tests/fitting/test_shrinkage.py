"""Shrinkage keeps every identity of the theory; sensitivity shows what matters and what not."""

from __future__ import annotations

import numpy as np
import pytest

import oracles
import steradian as sr
from oracles import Array
from own_spaces import Slab
from steradian.data.stacks import MomentStack
from steradian.fitting.shrinkage import Target
from steradian.spaces import Axes, Circle, Hypersphere, Rotations, Sphere, Torus

EPSILON = 0.07
CASES = [(d, n, to) for d, n in ((2, 4), (3, 3), (6, 2)) for to in ("uniform", "below")]


def boundary_sample(d: int) -> Array:
    """Few points: on the boundary from level 2 on above the circle, from level 3 on there."""
    x = np.random.default_rng(d).normal(size=(3, d))
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def nodes_of(d: int) -> tuple[Array, Array]:
    rule = oracles.circle_rule(2048) if d == 2 else oracles.sphere_rule(64)
    points = np.asarray(rule.points, dtype=np.float64)
    return points / np.linalg.norm(points, axis=1, keepdims=True), np.asarray(
        rule.weights, dtype=np.float64
    )


@pytest.mark.parametrize(("d", "levels", "toward"), CASES)
def test_moments_are_shrunk_exactly(d: int, levels: int, toward: Target) -> None:
    """Uniform: m_ε = (1 - ε) m. Below: Q_L = (1 - ε) Q_{L-1} + ε p_{L-1}, each from the last."""
    x = boundary_sample(d)
    p = sr.profile(x, levels=levels, shrinkage=sr.Shrinkage(EPSILON, toward))
    mixed = sr.Harmonics(d, levels).features(x).mean(axis=0)
    for level in range(1, levels + 1):
        fit = p.fits[level]
        q = len(fit.lam)
        wanted = (1.0 - EPSILON) * mixed if toward == "uniform" else mixed
        law = _expectations(fit, levels)
        np.testing.assert_allclose(law[:q], wanted[:q], atol=1e-9)
        np.testing.assert_allclose(fit.moments, wanted[:q], atol=1e-9)
        if toward == "below":
            mixed = (1.0 - EPSILON) * mixed + EPSILON * law


def _expectations(fit: sr.results.MaxEntFit, levels: int) -> Array:
    """E φ of all levels under a fit, by quadrature or from its closed-form moments."""
    d = fit.space.d
    if d <= 3:
        points, weights = nodes_of(d)
        features = sr.Harmonics(d, levels).features(points)
        return np.asarray((weights * fit.pdf(points)) @ features)
    eta, b = np.zeros(d), np.zeros((d, d))
    if fit.level == 1:
        eta = fit.kappa * fit.mean() / np.linalg.norm(fit.mean())
        law = sr.FisherBingham(eta, b)
    else:
        assert isinstance(fit, sr.FisherBingham)
        law = fit
    return law.moments


@pytest.mark.parametrize(("d", "levels", "toward"), CASES)
def test_gaps_are_divergences_and_not_negative(d: int, levels: int, toward: Target) -> None:
    p = sr.profile(boundary_sample(d), levels=levels, shrinkage=sr.Shrinkage(EPSILON, toward))
    assert (p.gaps >= 0.0).all()
    np.testing.assert_allclose(p.gaps.sum(), p.deficits[-1], rtol=1e-12)
    if d > 3:
        return  # no rule to integrate over
    points, weights = nodes_of(d)
    for level in range(1, levels + 1):
        high, low = (p.fits[k].logpdf(points) for k in (level, level - 1))
        divergence = float(weights @ (np.exp(high) * (high - low)))
        assert p.gaps[level - 1] == pytest.approx(divergence, abs=1e-9)


@pytest.mark.parametrize(("d", "levels", "toward"), CASES)
def test_rotations_do_not_matter(d: int, levels: int, toward: Target) -> None:
    x = boundary_sample(d)
    shrinkage = sr.Shrinkage(EPSILON, toward)
    still = sr.profile(x, levels=levels, shrinkage=shrinkage)
    for seed in range(2):
        turn = oracles.rotation(d, np.random.default_rng(seed))
        turned = sr.profile(x @ turn.T, levels=levels, shrinkage=shrinkage)
        np.testing.assert_allclose(turned.gaps, still.gaps, atol=1e-9)
    if d != 3:  # there the same takes seconds
        assert still.sensitivity().rotation_change < 1e-9


def test_below_leaves_level_one_and_lowers_level_two() -> None:
    x = np.random.default_rng(1).normal(size=(80, 3)) + 1.5 * np.eye(3)[0]
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    exact = sr.profile(x, levels=2)
    s = exact.sensitivity()
    np.testing.assert_allclose(s.below[:, 0], exact.gaps[0], rtol=1e-12)
    assert (s.below[:, 1] <= (1.0 - s.epsilon) * exact.gaps[1] + 1e-12).all()


@pytest.mark.parametrize("d", [2, 3])
def test_grids_and_rotations_move_nothing(d: int) -> None:
    x = np.random.default_rng(3).normal(size=(60, d)) + np.eye(d)[0]
    p = sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True), levels=4)
    s = p.sensitivity(rotations=4, seed=1)
    assert s.quadrature.shape == (5, 4)
    assert s.rotated.shape == (4, 4)
    assert s.quadrature_change < 1e-10
    assert s.rotation_change < 1e-10
    np.testing.assert_allclose(s.quadrature[s.reach == 1.0][0], p.gaps, atol=1e-10)
    coarse = np.abs(s.quadrature[0] - p.gaps)
    assert np.nanmax(coarse) > s.quadrature_change, "half the grid is worse than twice the grid"
    text = str(s)
    assert "grid    2 times as fine" in text
    assert "4 random rotations" in text
    assert s.to_dict()["rotation_change"] == s.rotation_change


def test_closed_forms_have_no_grid() -> None:
    x = np.random.default_rng(3).normal(size=(200, 7)) + np.eye(7)[0]
    s = sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True)).sensitivity()
    assert np.isnan(s.quadrature).all()
    assert "times as fine" not in str(s)
    assert s.rotation_change < 1e-10


def test_shares_outside_zero_and_one_are_refused() -> None:
    for wrong in (0.0, 1.0, -0.1, np.nan):
        with pytest.raises(ValueError, match="give a number between 0 and 1"):
            sr.Shrinkage(wrong)
    with pytest.raises(ValueError, match="choose 'uniform' or 'below'"):
        sr.Shrinkage(0.1, "above")  # type: ignore[arg-type]


@pytest.mark.parametrize("space", [
    Axes(4), Rotations(), Torus(3), Circle(), Sphere(), Hypersphere(5), Slab(), Slab(False)
], ids=lambda space: f"{space.name} {space.rules()}")  # fmt: skip
def test_the_uniform_law_of_every_space_is_mixed_in(space: sr.Space) -> None:
    """Moments of (1 - ε) P + ε ν are those of rows of P and draws of ν, weighted so."""
    rng = np.random.default_rng(4)
    x, far = space.uniform(5, rng), space.uniform(200_000, rng)
    rows = np.vstack([x, far])
    weights = np.repeat([(1.0 - EPSILON) / len(x), EPSILON / len(far)], [len(x), len(far)])
    stack = MomentStack(np.zeros((1, 2)), *about_centre(space, x, np.full(len(x), 1.0 / len(x))))
    mixed = stack.toward_uniform(EPSILON, space)
    mean, scatter = about_centre(space, rows, weights)
    np.testing.assert_allclose(mixed.mean, mean, atol=1e-3)
    np.testing.assert_allclose(mixed.scatter, scatter, atol=1e-3)


def about_centre(space: sr.Space, x: Array, weights: Array) -> tuple[Array, Array]:
    centre = space.centre(x, weights)
    away = x - centre
    return centre[None], (away.T @ (weights[:, None] * away))[None]
