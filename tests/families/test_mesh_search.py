"""The search for a law on a mesh: by how much work, and that blocks of nodes change nothing."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.families.grids import curvature
from steradian.families.meshes import rows as mesh_rows
from steradian.families.meshes.mesh import Mesh
from steradian.numerics import primal_dual
from steradian.numerics.arrays import Array, BoolArray
from steradian.spaces.unit_vectors import random_rotation


def cluster_and_one_apart(kappa: float, seed: int) -> Array:
    """39 rows about the last axis and one anywhere."""
    rng = np.random.default_rng(seed)
    x = np.array([0.0, 0.0, 1.0]) + rng.standard_normal((39, 3)) / np.sqrt(kappa)
    x = np.vstack([x, rng.standard_normal((1, 3))])
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("kappa", "seed"),
    [(200.0, 2), pytest.param(1000.0, 1, marks=pytest.mark.slow),
     pytest.param(1000.0, 2, marks=pytest.mark.slow)],
)  # fmt: skip
def test_one_row_apart_asks_for_few_nodes(kappa: float, seed: int) -> None:
    """Before, meshes of 200,000 nodes were cut until they had the moments; the last was refused.

    At the fit the mean log-density of the rows is the deficit.
    """
    x = cluster_and_one_apart(kappa, seed)
    found = sr.profile(x, levels=4)
    told = found.numerics
    assert told.nodes[2:].max() < 60_000
    stated = told.quadrature + told.decrement**2 + told.moment_rounding
    means = [fit.logpdf(x).mean() for fit in found.fits[1:]]
    assert (np.abs(means - found.deficits) <= stated + 1e-12).all()


def test_what_two_meshes_differ_by_is_stated_with_a_margin() -> None:
    """The same sample turned is off by what its mesh misses, of which 1.01 were once stated."""
    rng = np.random.default_rng(3)
    x = rng.normal([0.0, 0.0, 8.0], 1.0, (30, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    w = rng.lognormal(size=30)
    turns = [random_rotation(3, rng) for _ in range(12)]
    found = [sr.profile(x @ turn, weights=w, levels=3) for turn in turns]
    stated = np.array([p.numerics.quadrature[2] for p in found])
    deficits = np.array([p.deficits[2] for p in found])
    off = np.abs(deficits - deficits[np.argmin(stated)])
    assert stated.max() > 3e-12
    assert (off <= 0.8 * stated + found[0].numerics.moment_rounding[2]).all()


@pytest.mark.slow
def test_rounding_beyond_use_ends_the_verification(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mesh is cut again and again for digits that a fit needs, not for one that has none."""
    verified = []
    on_parts = mesh_rows._on_parts

    def counted(mesh: Mesh, theta: Array, heavy: BoolArray) -> object:
        verified.append(mesh.basis.level)
        return on_parts(mesh, theta, heavy)

    monkeypatch.setattr(mesh_rows, "_on_parts", counted)
    with pytest.raises(sr.ResolutionError, match="rounding moves the deficit by"):
        sr.profile(cluster_and_one_apart(1e4, 1), levels=4)
    assert verified.count(4) == 1


@pytest.mark.parametrize("uneven", [1.0, 1e-7])
def test_rows_in_blocks_are_the_same_rows(uneven: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums to rounding, the factor to what the condition makes of it."""
    rng = np.random.default_rng(1)
    g = rng.standard_normal((500, 4)) * np.array([1.0, 1.0, uneven, 1.0])
    felt = np.flatnonzero(rng.random(500) < 0.8)
    dual, mass = rng.standard_normal(len(felt)), rng.exponential(size=len(felt))
    none = primal_dual._Factor(None, 1.0)
    whole = np.column_stack([np.ones(len(felt)), g[felt]])
    wanted = whole.T @ np.column_stack([mass, mass * dual])
    for size in (1 << 16, 64):
        monkeypatch.setattr(primal_dual, "_BLOCK", size)
        rows = primal_dual._Rows(g, felt, np.sqrt(mass))
        sums, factor = rows.factorised(dual, none)
        again = rows.factorised(dual, factor)[1]
        assert np.abs(sums - wanted.T).max() < 1e-10
        for root in (factor.root, again.root):
            assert root is not None
            white = np.sqrt(mass)[:, None] * np.linalg.solve(root.T, whole.T).T
            assert np.abs(white.T @ white - np.eye(5)).max() < 1e-8


@pytest.mark.parametrize("uneven", [1.0, 1e-7])
def test_a_covariance_in_blocks_is_the_same(uneven: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nodes without mass count for nothing."""
    rng = np.random.default_rng(2)
    phi = rng.standard_normal((300, 4)) * np.array([1.0, uneven, 1.0, 1.0])
    mass = rng.exponential(size=300) * (rng.random(300) < 0.7)
    mass /= mass.sum()
    centred = phi - mass @ phi
    for size in (1 << 16, 64):
        monkeypatch.setattr(curvature, "_BLOCK", size)
        mean, root = curvature.mean_and_root(mass, phi)
        assert np.abs(mean - mass @ phi).max() < 1e-14
        white = np.sqrt(mass)[:, None] * np.linalg.solve(root.T, centred.T).T
        assert np.abs(white.T @ white - np.eye(4)).max() < 1e-8
