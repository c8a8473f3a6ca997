"""Concentrated laws on the two-sphere: cells that follow them, against brute force."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

import oracles
import oracles_concentrated as brute
import steradian as sr
from steradian.families.meshes.cell_tree import CELL_NODES, CellTree
from steradian.spaces.pieces import piece_masses, sphere_cells

Array = NDArray[np.float64]

KAPPA = 1e4
RINGS = 1000  # of the brute-force rule: 7.5 √κ and some more
PROMISE = 1e-8


def unit(x: Array) -> Array:
    return x / np.linalg.norm(x, axis=-1, keepdims=True)


def vmf(n: int, kappa: float, centre: Array, rng: np.random.Generator) -> Array:
    """Von Mises-Fisher draws by inversion, (n, 3)."""
    drop = -np.log1p(rng.random(n) * np.expm1(-2.0 * kappa)) / kappa
    angle = rng.uniform(0.0, 2.0 * np.pi, n)
    radius = np.sqrt(drop * (2.0 - drop))
    frame = np.linalg.svd(centre[None])[2][1:]
    flat = np.cos(angle)[:, None] * frame[0] + np.sin(angle)[:, None] * frame[1]
    return unit(radius[:, None] * flat + (1.0 - drop)[:, None] * centre)


def clusters(centres: Array, sizes: Sequence[int], kappas: Sequence[float], seed: int) -> Array:
    rng = np.random.default_rng(seed)
    parts = zip(centres, sizes, kappas, strict=True)
    return np.concatenate([vmf(n, kappa, centre, rng) for centre, n, kappa in parts])


def generic(count: int, seed: int) -> Array:
    return unit(np.random.default_rng(seed).standard_normal((count, 3)))


TETRAHEDRON = unit(np.array([[1, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1.0]]))
CUBE = unit(np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], dtype=float))


def assert_exact(
    found: sr.results.Profile, x: Array, weights: Array | None = None, rings: int = RINGS
) -> None:
    """Gaps against the optimum of the dense rule, to the promise."""
    levels = len(found.levels)
    moments = oracles.sample_moments(x, levels, weights)
    deficits = [0.0]
    for level in range(1, levels + 1):
        q = oracles.size(3, level)
        best = brute.optimum(level, rings, found.fits[level].lam, moments[:q])
        assert best.decrement < 1e-6, "the reference itself did not converge"
        deficits.append(best.deficit)
    np.testing.assert_allclose(found.gaps, np.diff(deficits), rtol=0, atol=PROMISE)


CASES = {
    "tetrahedron": clusters(TETRAHEDRON, [500] * 4, [KAPPA] * 4, 1),
    "generic": clusters(generic(4, 0), [500] * 4, [KAPPA] * 4, 1),
    "unequal": clusters(generic(4, 3), [900, 500, 300, 60], [KAPPA] * 4, 2),
    "five": clusters(generic(5, 4), [300] * 5, [KAPPA] * 5, 3),
    "six": clusters(generic(6, 5), [200] * 6, [KAPPA] * 6, 4),
    "cube": clusters(CUBE, [200] * 8, [KAPPA] * 8, 5),
    "with a broad one": clusters(generic(5, 6), [400] * 5, [KAPPA] * 4 + [3.0], 6),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CASES)
def test_several_clusters_at_level_four(name: str) -> None:
    x = CASES[name]
    began = time.perf_counter()
    found = sr.profile(x, levels=4)
    spent = time.perf_counter() - began
    print(f"{name}: {found.numerics.nodes.tolist()} nodes, {spent:.2f} s")
    assert found.numerics.nodes.max() < 420_000  # ridges between clusters at level 3
    assert_exact(found, x)


@cache
def four_clusters() -> sr.results.Profile:
    return sr.profile(CASES["generic"], levels=4)


@pytest.mark.slow
def test_four_clusters_need_few_nodes() -> None:
    """Level 4 against the dense rule; the levels below it are among the several clusters."""
    found = four_clusters()
    assert found.numerics.nodes.max() < 100_000
    assert (found.numerics.quadrature <= 1e-11).all()
    moments = oracles.sample_moments(CASES["generic"], 4)
    best = brute.optimum(4, RINGS, found.fits[4].lam, moments)
    assert best.decrement < 1e-6, "the reference itself did not converge"
    assert found.deficits[3] == pytest.approx(best.deficit, rel=0, abs=PROMISE)


@pytest.mark.slow
def test_weights_matter() -> None:
    x = CASES["tetrahedron"]
    weights = np.random.default_rng(7).exponential(size=len(x)) * np.repeat([1, 2, 3, 4], 500)
    assert_exact(sr.profile(x, weights=weights, levels=4), x, weights)


@pytest.mark.parametrize("kappa", [1e3, 1e4, 1e5])
def test_one_cluster_known_by_its_moments_has_one_level(kappa: float) -> None:
    """The von Mises-Fisher law: D_1 in closed form, no further gaps as far as moments tell.

    Their features are so nearly collinear above that the rounding of the moments hides 2e-5 nats
    of level 4, about 1e-6 of level 3 and .5 of level 3; a sample on the circle with the same
    mismatch hid 1.4e-3. Which of two levels is the first to be hidden is for rounding to say.
    """
    mean = unit(np.array([0.3, -0.5, 0.6]))
    ratios = [oracles.degree_ratio(3, k, kappa) for k in range(1, 5)]
    at_mean = oracles.harmonics(mean[None], 4)[0]
    blocks = [at_mean[k * k - 1 : (k + 1) ** 2 - 1] for k in range(1, 5)]
    moments = np.concatenate([oracles.long(r) * b for r, b in zip(ratios, blocks, strict=True)])
    features = moments.astype(np.float64)
    found = sr.profile(sr.Moments.from_expectations(sr.Harmonics(3, 4), features))
    exact = float(oracles.von_mises_fisher(3, kappa).deficit)
    assert 2 <= len(found.gaps) <= 3
    zeros = np.zeros(len(found.gaps) - 1)
    np.testing.assert_allclose(found.gaps, [exact, *zeros], rtol=0, atol=PROMISE)
    assert found.stopped is not None
    assert found.stopped.level == len(found.gaps) + 1


def test_moments_alone_say_what_they_lack() -> None:
    """Rows determine level 3 of a tight cluster; its moments in double precision do not."""
    x = clusters(generic(1, 8), [500], [1e6], 9)
    sound = sr.profile(x, levels=3)
    moments = sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(3, 3))
    with pytest.raises(sr.ResolutionError, match=r"levels=2 is sound") as caught:
        sr.profile(moments, levels=3)
    assert "the rounding of the moments" in str(caught.value)
    assert caught.value.profile is not None
    np.testing.assert_allclose(caught.value.profile.deficits, sound.deficits[:2], atol=1e-9)


def streak(seed: int, n: int = 400) -> Array:
    """A narrow, bent streak."""
    rng = np.random.default_rng(seed)
    along, across = rng.standard_normal((2, n))
    return unit(np.column_stack([0.12 * along, 0.02 * across + 0.06 * along**2, np.ones(n)]))


@pytest.mark.slow
def test_a_mode_far_from_all_data_is_seen() -> None:
    """The level-3 fit to a streak keeps its third moments by a mode of its own elsewhere."""
    x = streak(5)
    found = sr.profile(x, levels=3)
    moments = oracles.sample_moments(x, 3)
    best = brute.optimum(3, RINGS, found.fits[3].lam, moments)
    nearest = np.array([(x @ p).max() for p in brute.points(3, RINGS, best.mass > 1e-12)])
    far = best.mass[best.mass > 1e-12][nearest < np.cos(np.radians(20.0))].sum()
    assert far > 1e-5, "this sample was meant to grow a far mode"
    assert_exact(found, x)


def test_cells_cover_the_sphere() -> None:
    cells = sphere_cells(2)
    mixed = cells.take(slice(5)).parts().followed_by(cells.take(slice(5, None)))
    for some in (cells, mixed, sphere_cells(3)):
        points, weights = some.nodes()
        np.testing.assert_allclose(np.linalg.norm(points, axis=2), 1.0, atol=1e-15)
        phi = oracles.harmonics(points.reshape(-1, 3), 6).astype(np.float64)
        weight = weights.ravel()
        assert abs(weight.sum() - 1.0) < 1e-14
        np.testing.assert_allclose(weight @ phi, 0.0, atol=1e-13)
        np.testing.assert_allclose(phi.T @ (weight[:, None] * phi), np.eye(48), atol=1e-13)


@pytest.mark.parametrize("kappa", [1.0, 30.0, 300.0, 3e3, 3e4])
def test_the_error_of_a_cell_is_not_underestimated(kappa: float) -> None:
    """Peaks anywhere in a cell, between the nodes too, against its own fine subdivision."""
    rng = np.random.default_rng(int(kappa))
    cell = sphere_cells(2).take(slice(7, 8))
    fine = cell
    for _ in range(5):
        fine = fine.parts()
    points, weights = cell.nodes()
    fine_points, fine_weights = fine.nodes()
    for peak in points[0][rng.integers(CELL_NODES, size=6)] + 0.05 * rng.standard_normal((6, 3)):
        centre = unit(peak)
        coarse = piece_masses(kappa * (points @ centre - 1.0), weights)
        exact = (fine_weights * np.exp(kappa * (fine_points @ centre - 1.0))).sum()
        claimed = float((coarse.share * np.exp(coarse.log_height))[0])
        missed = abs(float(np.exp(coarse.log_mass)[0]) - exact)
        assert missed <= claimed + 1e-15 * exact


def test_cells_refine_only_where_the_law_is() -> None:
    """Sixteen times the concentration, two more halvings."""
    at = oracles.harmonics(unit(np.array([[0.2, 0.7, -0.4]])), 1)[0].astype(np.float64)
    nodes = []
    for kappa in (1e3, 1.6e4, 2.56e5):
        law = CellTree(2).law(np.concatenate([kappa * at / 3.0, np.zeros(5)]))
        exact = oracles.von_mises_fisher(3, kappa)
        assert abs(law.psi - float(exact.psi)) < 1e-12 + 4e-16 * kappa
        assert law.error <= 1e-12
        nodes.append(law.nodes)
    assert nodes[2] - nodes[1] < 2.0 * (nodes[1] - nodes[0]) + 40 * CELL_NODES
    assert nodes[2] < 60_000


def test_laws_beyond_the_ladder_have_moments_and_draws() -> None:
    """Inference, shrinkage and sampling meet the same sharp laws."""
    fit = four_clusters().fits[4]
    family = sr.Harmonics(3, 4).family(4)
    psi, mean, covariance = family.log_partition(np.stack([fit.lam, 1e-3 * fit.lam]))
    assert abs(psi[0] - fit.psi) < 1e-10
    np.testing.assert_allclose(mean[0], fit.moments, atol=1e-10)
    rule = brute.dense(4, RINGS)
    _, mass = rule.law(oracles.long(fit.lam))
    expected = brute.covariance(rule, mass)
    np.testing.assert_allclose(covariance[0], expected, atol=1e-10)
    draws = fit.sample(2000, 1)
    offset = np.abs(sr.Harmonics(3, 4).features(draws).mean(axis=0) - fit.moments)
    assert (offset < 5.0 * np.sqrt(np.diag(expected) / 2000)).all()
