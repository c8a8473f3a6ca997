"""Modes where there are no data: a fit that misses one is no law, and none is given."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

import steradian as sr
from steradian.data.stacks import MomentStack
from steradian.families.nodes.rules import Nodes
from steradian.families.relative import nodes as relative_nodes
from steradian.families.relative.nodes import Laws
from steradian.fitting.solution import Status
from steradian.hierarchies.base import Hierarchy
from steradian.numerics.arrays import Array


def unit(z: Array) -> Array:
    return np.asarray(z / np.linalg.norm(z, axis=1)[:, None])


def clusters(seed: int) -> Array:
    """A large and a small one, of which the cubic of level 3 rises at the far side."""
    rng = np.random.default_rng(seed)
    centres = unit(rng.normal(size=(2, 6)) + 0.8)
    which = (rng.uniform(size=1000) < 0.15).astype(int)
    return unit(centres[which] + 0.15 * rng.normal(size=(1000, 6)))


def about_an_axis(heights: Array) -> tuple[Array, Array]:
    """Rows and weights whose level 3 depends on the height alone: a 5-design across."""
    corners = np.array(list(itertools.product((-1.0, 1.0), repeat=5))) / np.sqrt(5.0)
    across = np.concatenate([corners, np.eye(5), -np.eye(5)])
    weights = np.repeat([5 / 7 / 32, 2 / 7 / 10], [32, 10])
    radius = np.sqrt(1.0 - heights**2)
    rows = [np.insert(r * across, 0, t, axis=1) for t, r in zip(heights, radius, strict=True)]
    return np.concatenate(rows), np.tile(weights, len(heights))


def skewed() -> Array:
    return np.asarray(0.6 - 0.1 * np.random.default_rng(2).standard_gamma(1.5, 12))


def assert_is_a_law_or_refused(p: sr.results.Profile) -> None:
    """Its mean density over uniform draws is one, as far as they tell."""
    if len(p.levels) < 3:
        words = str(p.stopped)
        assert "has a mode where there are no data" in words or "noise gives" in words
        return
    x = unit(np.random.default_rng(1).normal(size=(100_000, 6)))
    density = np.exp(p.fits[3].logpdf(x))
    assert abs(density.mean() - 1.0) < 5.0 * density.std() / np.sqrt(len(x)) + 0.02


def as_far_as_it_goes(
    x: Array, hierarchy: Hierarchy, weights: Array | None = None
) -> sr.results.Profile:
    design = "iid" if weights is None else "fixed"
    try:
        return sr.profile(sr.Directions(x, weights), design=design, hierarchy=hierarchy)
    except sr.ResolutionError as error:
        if error.profile is None:
            raise
        return error.profile


@pytest.mark.parametrize(
    "hierarchy",
    [pytest.param(sr.Harmonics(6, 3), marks=pytest.mark.slow), sr.Sketch(6, 4, 3, seed=1)],
)
def test_what_is_given_is_a_law(hierarchy: Hierarchy) -> None:
    assert_is_a_law_or_refused(as_far_as_it_goes(clusters(0), hierarchy))


def test_no_deficit_is_off_by_more_than_is_stated() -> None:
    x, weights = about_an_axis(skewed())
    p = as_far_as_it_goes(x, sr.Harmonics(6, 3), weights)
    truth = as_far_as_it_goes(x, sr.Zonal(np.eye(6)[0], 3), weights).deficits
    assert_is_a_law_or_refused(p)
    off = np.abs(p.deficits - truth[: len(p.levels)])
    assert (off < p.numerics.quadrature + 1e-9).all()


def test_a_row_of_a_stack_fails_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    relative_nodes._relative_nodes.cache_clear()
    hierarchy = sr.Harmonics(6, 3)
    rng = np.random.default_rng(3)
    samples = [unit(rng.normal(size=(1000, 6)) + np.eye(6)[0]) for _ in range(9)]
    stacks = [
        sr.Moments.from_directions(sr.Directions(x), hierarchy).stack()
        for x in (*samples, clusters(0))
    ]
    family = hierarchy.family(3)
    for rows in (stacks, stacks[-2:]):  # about one law together, and each about its own
        together = MomentStack(
            np.concatenate([one.features for one in rows]),
            np.concatenate([one.mean for one in rows]),
            np.concatenate([one.scatter for one in rows]),
        )
        found = family.solve(together, np.zeros((len(rows), family.q)))
        assert not found.status[:-1].any()
        assert found.status[-1] in (Status.UNSEEN, Status.UNRESOLVED)
    relative_nodes._relative_nodes.cache_clear()


def test_no_law_is_made_of_what_nodes_do_not_see() -> None:
    """A cubic that rises opposite to where its quadratic part is."""
    hierarchy = sr.Harmonics(6, 3)
    zonal = sr.Zonal(np.eye(6)[0], 3)
    at_axis = hierarchy.features(np.eye(6)[:1])[0]
    per_height = np.array([5.5, -0.8, -6.0]) / np.sqrt(hierarchy.dims)
    lam = np.repeat(per_height, hierarchy.dims) * at_axis
    x = unit(np.random.default_rng(0).normal(size=(3, 6)))
    exponents = zonal.features(x) @ [5.5, -0.8, -6.0]
    np.testing.assert_allclose(hierarchy.features(x) @ lam, exponents, atol=1e-10)
    with pytest.raises(sr.ResolutionError, match="a mode where there are no data"):
        hierarchy.family(3).log_partition(lam[None])


def test_the_mass_of_a_mode_is_that_of_its_law() -> None:
    """κ = 60 along an axis is nearly normal; nodes of the other side see nothing of it."""
    hierarchy = sr.Harmonics(6, 3)
    axis = unit(np.arange(1.0, 7.0)[None])[0]
    lam = np.zeros((1, hierarchy.q(3)))
    lam[0, :6] = 60.0 * hierarchy.features(axis[None])[0, :6] / 6.0  # φ·φ = 6 on level 1
    psi = hierarchy.family(1).log_partition(lam[:, :6])[0]
    z = np.random.default_rng(0).normal(size=(4000, 6))
    there, away = unit(z / 8.0 + axis), unit(z / 8.0 - axis)
    laws = Laws(hierarchy, lam, psi, np.zeros_like(lam))
    seen, unseen = (
        laws.missed(Nodes(x, np.full(4000, 1 / 4000), hierarchy.features(x)), lam)[0]
        for x in (there, away)
    )
    assert seen == pytest.approx(0.0, abs=1e-5)
    assert np.exp(unseen) == pytest.approx(1.0 + 2.0, rel=0.1)  # twice its mass is counted
