"""No level is said not to exist without a proof; what has one is said to, however it was put."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.existence.body import examine_sphere
from steradian.existence.face import nowhere_negative
from steradian.existence.placement import Verdict
from steradian.existence.squares import sphere_roots
from steradian.numerics.arrays import Array
from steradian.numerics.spheres.harmonics import sphere_harmonics
from steradian.numerics.spheres.spinors import spin_functions
from steradian.spaces import Sphere

NOT_COMPUTED = (sr.ConvergenceError, sr.ResolutionError)


def unit(x: Array) -> Array:
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def generic(n: int, d: int, *seed: int) -> Array:
    return unit(np.random.default_rng([n, d, *seed]).normal(size=(n, d)))


def ring(n: int, thickness: float, d: int = 3) -> Array:
    """About a great circle, or a great sphere of one dimension less."""
    rng = np.random.default_rng(n)
    away = thickness * rng.standard_normal((n, 1))
    return unit(np.hstack([unit(rng.standard_normal((n, d - 1))), away]))


def status(data: Any, **options: Any) -> str:
    try:
        sr.profile(data, **options)
    except sr.BoundaryError as error:
        return f"none {error.level}"
    except NOT_COMPUTED:
        return "not computed"
    return "fit"


# --- what was said not to exist, and does ---------------------------------------------------


def test_six_rows_have_a_third_level_relative_to_any_law() -> None:
    x = unit(np.random.default_rng([6, 4, 1]).normal(size=(6, 3)))
    found = sr.profile(x, levels=3).deficits
    np.testing.assert_allclose(found, [0.29404183, 0.51042077, 4.74550242], rtol=0, atol=1e-7)
    assert status(x, levels=3, reference=lambda v: np.ones(len(v))) in ("fit", "not computed")


def test_one_axis_may_have_a_fit_of_some_features() -> None:
    """Its squared coordinates lie within the triangle of all, so that some density has them."""
    axis = sr.Directions([[0.06, -0.064, 0.99615]], normalize=True, axial=True)
    hierarchy = sr.Custom(sr.Axes(3), [lambda x: x[:, :2] ** 2])
    assert status(axis, hierarchy=hierarchy) in ("fit", "not computed")


@pytest.mark.parametrize("thickness", [1e-6, 1e-8, 1e-10, 1e-12])
def test_nearly_on_a_plane_is_not_on_it(thickness: float) -> None:
    assert not status(ring(40, thickness), levels=2).startswith("none")
    x = ring(40, thickness, 5)
    assert not status(x, levels=2).startswith("none")
    assert not status(x, hierarchy=sr.Diagonal(5)).startswith("none")
    assert not status(sr.Directions(x, space=sr.Axes(5)), levels=1).startswith("none")


def test_what_is_on_a_plane_to_rounding_is_on_it() -> None:
    turn = np.linalg.qr(np.random.default_rng(0).normal(size=(5, 5)))[0]
    assert status(ring(40, 0.0) @ np.linalg.qr(turn[:3, :3])[0], levels=2) == "none 2"
    assert status(ring(40, 0.0, 5) @ turn, levels=2) == "none 2"
    assert status(ring(40, 0.0, 5), hierarchy=sr.Diagonal(5)) == "none 2"
    assert status(sr.Directions(ring(40, 0.0, 5) @ turn, space=sr.Axes(5)), levels=1) == "none 1"


@pytest.mark.parametrize("spread", [1e-4, 1e-5, 1e-6])
@pytest.mark.parametrize("level", [4, 6, 7])
def test_two_tight_clusters_lie_on_no_curve(spread: float, level: int) -> None:
    """A square of high order is below rounding on all of them, and vanishes on none."""
    rng = np.random.default_rng(level)
    x = unit(generic(2, 3)[rng.integers(0, 2, 300)] + spread * rng.standard_normal((300, 3)))
    assert examine_sphere(x, np.full(300, 1 / 300), level).verdict is not Verdict.OUTSIDE


@pytest.mark.parametrize("away", [1e-5, 1e-7, 1e-9])
def test_a_ring_and_a_point_that_is_not_quite_one(away: float) -> None:
    x = np.vstack([ring(40, away), [[0.0, 0.6, 0.8]]])
    weights = np.full(41, 1 / 41)
    assert examine_sphere(x, weights, 3).verdict is not Verdict.OUTSIDE
    exact = np.vstack([ring(40, 0.0), [[0.0, 0.6, 0.8]]])
    assert examine_sphere(exact, weights, 3).verdict is Verdict.OUTSIDE


def test_axes_are_judged_as_both_of_their_ends() -> None:
    """Level L of axes is what is even of level 2L of directions."""
    for seed in range(12):
        x = generic(11 + seed % 10, 3, seed)
        both = status(np.vstack([x, -x]), levels=6)
        assert not (status(sr.Directions(x, axial=True), levels=3).startswith("none"))
        assert both == "fit"


def test_heights_that_differ_by_little_are_two() -> None:
    t = np.array([0.1, 0.1 + 1e-8, 0.5])
    x = np.column_stack([np.sqrt(1.0 - t * t), np.zeros(3), t])
    assert not status(x, hierarchy=sr.Zonal([0.0, 0.0, 1.0], 4)).startswith("none")


def test_moments_alone_do_not_show_a_boundary() -> None:
    """A cluster so tight that its covariance is singular to the rounding of sums has a fit."""
    x = ring(40, 1e-9, 5)
    moments = sr.Moments.from_directions(sr.Directions(x), sr.Harmonics(5, 2))
    with pytest.raises(sr.ResolutionError, match="rounding of the moments"):
        sr.profile(moments, levels=2)


# --- what has a proof -----------------------------------------------------------------------


@pytest.mark.parametrize(("level", "count"), [(3, 5), (5, 11), (7, 19), (9, 29)])
def test_squares_of_spinors_count_for_odd_levels(level: int, count: int) -> None:
    """(L + 1)(L + 3)/4 of them: one row fewer is on the boundary wherever the rows are."""
    assert sphere_roots(level).function(generic(1, 3)).shape[-1] == count + 1
    for seed in range(3):
        x = generic(count, 3, seed)
        found = examine_sphere(x, np.full(count, 1 / count), level)
        assert found.verdict is Verdict.OUTSIDE
        f = found.certificate
        assert f is not None
        assert np.abs(f(x)).max() < 1e-10 * max(1.0, float(np.abs(f.lam).max()))
        assert f(generic(2000, 3, 99)).min() > -1e-10


@pytest.mark.parametrize("level", [1, 3, 5])
def test_spin_functions_are_orthonormal_and_have_no_phase(level: int) -> None:
    grid = Sphere().exact_grid(2 * level)
    values = spin_functions(grid.points, level)
    gram = np.einsum("n,nmp,nmq->pq", grid.weights, values.conj(), values)
    np.testing.assert_allclose(gram, np.eye(len(gram)), rtol=0, atol=1e-12)
    lon = np.array([[1e-9], [-1e-9]])  # across the equator, where the larger component changes
    x = unit(np.hstack([np.full((2, 2), 0.5), lon]))
    assert np.abs(np.diff(spin_functions(x, level), axis=0)).max() < 1e-7


def coefficients(values: Array, level: int) -> Array:
    """Of a function given on an exact grid."""
    return np.asarray(Sphere().exact_grid(2 * level).analyze(values[None], level)[0])


def test_a_function_that_dips_by_little_is_not_proven() -> None:
    """A square plus a constant: as far below zero as it is, at points that no grid holds."""
    x = Sphere().exact_grid(8).points
    g = sphere_harmonics(x, 2) @ np.random.default_rng(3).standard_normal(9)
    none = np.empty((0, 3))
    for lift, proven in ((1e-3, True), (1e-5, True), (-1e-9, False), (-1e-4, False)):
        assert nowhere_negative(coefficients(g * g + lift, 4), none, 4) is proven


def test_isolated_zeros_are_proven_and_others_not() -> None:
    """(1 - x·a)(1 - x·b) touches zero at a and b; less a little of x·c it dips beside them."""
    a, b = generic(2, 3, 5)
    x = Sphere().exact_grid(4).points
    f = coefficients((1.0 - x @ a) * (1.0 - x @ b), 2)
    zeros = np.stack([a, b])
    assert nowhere_negative(f, zeros, 2)
    assert not nowhere_negative(f, zeros[:1], 2)  # one of its zeros is not known
    tilted = f + 1e-7 * coefficients((x @ a - 1.0) * (x @ b), 2)
    assert not nowhere_negative(tilted, zeros[1:], 2)


@pytest.mark.parametrize(("rows", "options", "wanted"), [
    (generic(2, 2), {"levels": 2}, "none 2"),
    (generic(3, 2), {"levels": 2}, "fit"),
    (generic(3, 3), {"levels": 2}, "none 2"),
    (generic(5, 3), {"levels": 3}, "none 3"),
    (generic(8, 3), {"levels": 4}, "none 4"),
    (generic(20, 40), {"levels": 2}, "none 2"),
    (generic(5, 4), {"levels": 3}, "none 3"),
    (generic(9, 4), {"hierarchy": sr.Axial.on(sr.Rotations(), 2)}, "none 2"),
    (generic(5, 3), {"hierarchy": sr.Axial(3, 2)}, "none 2"),
    (generic(2, 3), {"hierarchy": sr.Axial(3, 1)}, "none 1"),
    (generic(9, 3), {"levels": 3, "reference": sr.Mask(bands=[(-90, -89)])}, "fit"),
])  # fmt: skip
def test_statuses(rows: Array, options: dict[str, Any], wanted: str) -> None:
    space = getattr(options.get("hierarchy"), "space", None)
    data = sr.Directions(np.abs(rows) if "reference" in options else rows, space=space)
    assert status(data, **options) == wanted


@pytest.mark.parametrize("mask", [
    sr.Mask(bands=[(-90, 60)]), sr.Mask(caps=[(0, -90, 150)]),
])  # fmt: skip
def test_rows_on_the_edge_of_what_was_looked_at(mask: sr.Mask) -> None:
    """Their distance from its plane is nowhere negative there; a little inside it is no zero."""
    lon = np.linspace(0.0, 300.0, 40)
    on_edge = sr.Directions.from_lonlat(lon, np.full(40, 60.0))
    assert status(on_edge, levels=1, reference=mask) == "none 1"
    inside = sr.Directions.from_lonlat(lon, np.full(40, 60.001))
    assert not status(inside, levels=1, reference=mask).startswith("none")


# --- what is not decided does not take long ---------------------------------------------------


def test_the_last_search_does_a_tenth_of_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where neither the first search nor data among the nodes found a fit there is hardly one."""
    from steradian.families.meshes import rows
    from steradian.families.meshes.search import Search

    allowed: list[float] = []

    def nothing(mesh: Any, at: Any, most: float, **_: Any) -> Search:
        allowed.append(most)
        return Search(mesh, replace(at, lost=True), 0, 0.0)

    monkeypatch.setattr(rows, "search", nothing)
    monkeypatch.setattr(rows, "anchored", lambda mesh, at, _: Search(mesh, at, 0, 0.0))
    rows.solve_rows(Sphere(), 3, generic(30, 3), np.full(30, 1 / 30))
    assert len(allowed) == 2
    assert allowed[1] <= 0.1 * allowed[0]


def test_a_singular_covariance_on_nodes_leaves_the_law_as_it_was() -> None:
    """A law that has hardly a node to itself was an error of LAPACK's, not one of ours."""
    from steradian.families.relative.nodes import _fits

    start = np.ones((1, 2))
    root = np.array([[0.0, 1.0], [0.0, 1.0]])
    nodes: Any = None  # not asked
    np.testing.assert_array_equal(_fits(nodes, root, np.zeros((1, 2)), start), start)
