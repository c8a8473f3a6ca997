"""Every hierarchy, space and design of the package keeps its contract, and the docs' skeleton."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from conformance.skeleton import Mirrored
from steradian.conformance import check_design, check_hierarchy, check_space
from steradian.families.relative import nodes as relative_nodes
from steradian.hierarchies import Hierarchy
from steradian.hierarchies.registry import is_shipped
from steradian.numerics.arrays import Array
from steradian.spaces import SHIPPED_SPACES, Circle, Hypersphere, Space, Sphere

D = sr.designs
LINES = 35  # of the contract of a hierarchy
N = 240  # rows that a design is checked on


def linear(x: Array) -> Array:
    return x


def squares(x: Array) -> Array:
    return x * x


HIERARCHIES: list[Hierarchy] = [
    sr.Harmonics(2, 3),
    sr.Harmonics(3, 3),
    sr.Harmonics(5, 2),
    sr.Harmonics(4, 3),
    sr.Axial(2, 2),
    sr.Axial(3, 2),
    sr.Axial(6, 1),
    sr.Axial.on(sr.Rotations(), 1),
    sr.Interactions(2, 1),
    sr.Zonal([0.0, 2.0], 3),
    sr.Zonal([1.0, 2.0, -1.0], 3),
    sr.Sketch(4, 6, 3, seed=1),
    sr.LowRank(np.ones((6, 1)), 3),
    sr.LowRank(np.eye(3)[:, 1:], 2),
    sr.Zonal([1.0, 2.0, -1.0], 3, features="bounded", kappa=4.0),
    sr.Diagonal(2),
    sr.Diagonal(5),
    sr.Blocks([2, 1]),
    sr.Quadratics(4, [range(4), (0, 0, 1, 1), (0, 0, 0, 0)]),
    sr.TorusHarmonics(2, 2),
    sr.Stacked([sr.Quadratics(3, [range(3), [0] * 3]), sr.Zonal([0.0, 1.0, 2.0], 3)]),
    sr.Custom(Sphere(), [linear, squares]),
    sr.Custom(sr.Torus(2), [linear]),
]
# The same classes in more dimensions, which every line of the contract asks again.
LARGER: list[Hierarchy] = [
    sr.Harmonics(10, 2),
    sr.Axial(4, 1),
    sr.Zonal(np.ones(20), 2),
    sr.LowRank(np.eye(20)[:, :2], 2),
    sr.Zonal(np.ones(64), 3, features="bounded", kappa=300.0),
    sr.Blocks([3, 2, 1]),
]
SPACES: list[Space] = [
    Circle(),
    Sphere(),
    *(Hypersphere(d) for d in (4, 5, 10)),
    *(sr.Torus(k) for k in (1, 2, 3, 6)),
    *(sr.Axes(d) for d in (2, 3, 4, 7)),
    sr.Rotations(),
]
DESIGNS: list[D.Design] = [
    D.IID(),
    D.FixedWeights(),
    D.Importance(),
    D.Clusters(np.arange(N) // 6),
    D.Chain(),
    D.Survey(),
    D.Survey(psu=np.arange(N) // 4, strata=np.arange(N) // 120, fraction=0.1),
    D.Known(np.eye(3), 15.0),
    D.Descriptive(),
]


ALL = [*HIERARCHIES, *(pytest.param(h, marks=pytest.mark.slow) for h in LARGER)]


@pytest.mark.parametrize("hierarchy", ALL, ids=repr)
def test_hierarchies(hierarchy: Hierarchy) -> None:
    report = check_hierarchy(hierarchy)
    assert len(report.kept) + len(report.not_offered) == LINES
    assert is_shipped(hierarchy) != isinstance(hierarchy, sr.Custom), "functions are the user's"


@pytest.mark.slow
@pytest.mark.parametrize("hierarchy", [sr.Sketch(6, 3, 3, seed=1), sr.Harmonics(6, 3)], ids=repr)
def test_levels_on_quasi_random_nodes(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same contract; an eighth of the nodes serves."""
    monkeypatch.setattr(relative_nodes, "_MOST", 13)
    relative_nodes._relative_nodes.cache_clear()
    test_hierarchies(hierarchy)
    relative_nodes._relative_nodes.cache_clear()


def test_a_hierarchy_from_outside() -> None:
    report = check_hierarchy(Mirrored(3))
    assert len(report.kept) + len(report.not_offered) == LINES
    assert not is_shipped(Mirrored(3))
    absent = " ".join(report.not_offered)
    for name in ("second_moments", "coordinates", "turned", "zonal"):
        assert f"`{name}`" in absent
    assert "`wider`" not in absent


@pytest.mark.parametrize("space", SPACES, ids=lambda space: space.name)
def test_spaces(space: Space) -> None:
    report = check_space(space)
    assert len(report.not_offered) == (0 if space.rules() else 3)


def test_every_kind_of_space_is_among_them() -> None:
    assert {type(space) for space in SPACES} == set(SHIPPED_SPACES)


@pytest.mark.parametrize("design", DESIGNS, ids=lambda design: design.name)
def test_designs(design: D.Design) -> None:
    report = check_design(design)
    assert len(report.kept) + len(report.not_offered) == 10


def test_every_kind_of_design_is_among_them() -> None:
    named = {getattr(D, name) for name in D.__all__} - {D.Design}
    assert {type(design) for design in DESIGNS} == named


def test_a_design_is_checked_on_the_rows_it_is_for() -> None:
    rows = sr.Directions.from_angles(np.linspace(0.0, 4.0, 60), weights=np.arange(1.0, 61.0))
    assert "Clusters" in str(check_design(D.Clusters(np.arange(60) // 3), rows))
