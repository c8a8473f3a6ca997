"""Roots of squares: squares of their level, vanishing where they should, and quick to tell."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.existence.placement import Verdict
from steradian.existence.squares import HasSquares, squares_vanish
from steradian.existence.vanishing import place_support
from steradian.families.nodes.rules import Nodes
from steradian.hierarchies.relative import Against
from steradian.numerics.paths import great_circles

HIERARCHIES = [
    sr.Interactions(2, 1),
    sr.Interactions(2, 3),
    sr.Interactions(3, 1),
    sr.TorusHarmonics(1, 3),
    sr.TorusHarmonics(2, 3),
    sr.TorusHarmonics(3, 2),
    sr.TorusHarmonics(3, 3),
    sr.Axial(2, 3),
    sr.Axial(3, 3),
    sr.Axial(4, 3),
    sr.Axial.on(sr.Rotations(), 2),
    sr.Harmonics(2, 4),
    sr.Harmonics(3, 5),
    sr.Harmonics(4, 3),
    sr.Harmonics(5, 4),
    Against.of(sr.Harmonics(3, 3), sr.Mask(bands=[(-20, 20)]).on(sr.Sphere())),
]


@pytest.mark.parametrize("hierarchy", HIERARCHIES, ids=repr)
def test_squares_are_functions_of_their_level(hierarchy: sr.Harmonics) -> None:
    """|g|² of any combination g, times what is spared, is a sum of features: least squares fit."""
    rng = np.random.default_rng(0)
    x = hierarchy.space.uniform(3 * hierarchy.q(hierarchy.levels) + 50, rng)
    for level in range(1, hierarchy.levels + 1):
        phi = hierarchy.features(x)[:, : hierarchy.q(level)]
        columns = np.column_stack([np.ones(len(x)), phi])
        assert hierarchy.roots(level)
        for roots in hierarchy.roots(level):
            values = roots.function(x)
            mix = rng.standard_normal(values.shape[-1])
            square = (np.abs(values @ mix) ** 2).reshape(len(x), -1).sum(axis=1)
            if roots.spared:
                square *= 1.0 - x @ x[0]
            left = square - columns @ np.linalg.lstsq(columns, square, rcond=None)[0]
            assert np.abs(left).max() <= 1e-10 * square.max()
            rank = np.linalg.matrix_rank(values.reshape(-1, values.shape[-1]))
            assert rank == values.shape[-1]  # so that counting them says something


def never(rung: int) -> Nodes:
    raise AssertionError(f"the nodes of rule {rung} are not needed")


@pytest.mark.parametrize("hierarchy", HIERARCHIES, ids=repr)
def test_too_few_rows_are_counted(hierarchy: sr.Harmonics) -> None:
    """One row fewer than the largest set of roots is on the boundary, and no node is looked at."""
    rng = np.random.default_rng(1)
    level = hierarchy.levels
    one = hierarchy.space.uniform(1, rng)
    sets = hierarchy.roots(level)
    most = max(roots.function(one).shape[-1] - 1 + roots.spared for roots in sets)
    x = hierarchy.space.uniform(most, rng)
    assert place_support(hierarchy, level, never, x).verdict is Verdict.OUTSIDE
    wide = more(hierarchy, most)
    assert not any(squares_vanish(roots, wide, hierarchy.paths) for roots in sets)


def more(hierarchy: sr.Harmonics, most: int) -> np.ndarray:
    """One row more than that, or as many as there are roots and one is spared."""
    return hierarchy.space.uniform(most + 2, np.random.default_rng(2))


def test_rows_on_the_zeros_of_a_root_are_shown_however_many() -> None:
    """A hundred rotations about one axis: two of the four numbers of a quaternion are zero."""
    angle = np.random.default_rng(3).uniform(0.0, np.pi, 100)
    zero = np.zeros(100)
    q = np.column_stack([np.cos(angle), zero, zero, np.sin(angle)])
    hierarchy = sr.Axial.on(sr.Rotations(), 2)
    assert isinstance(hierarchy, HasSquares)
    assert squares_vanish(hierarchy.roots(2)[0], q, hierarchy.paths)


@pytest.mark.parametrize("spread", 10.0 ** -np.arange(0.0, 14.0))
@pytest.mark.parametrize("clusters", [1, 2, 3])
def test_tight_clusters_are_not_taken_for_zeros(spread: float, clusters: int) -> None:
    """Values of a root fall as powers of the spread, below rounding, though none vanishes."""
    rng = np.random.default_rng(4)
    centres = rng.standard_normal((clusters, 3))
    x = centres[rng.integers(0, clusters, 400)] + spread * rng.standard_normal((400, 3))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    for level in (2, 4, 6, 8):
        assert not squares_vanish(sr.Harmonics(3, 8).roots(level)[0], x, great_circles)


def test_a_refusal_of_few_angles_searches_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two rows of three angles, where a search among pieces of the torus took five seconds."""
    import steradian.families.nodes.family as nodes

    def search(*_: object) -> None:
        raise AssertionError("searched")

    monkeypatch.setattr(nodes, "solve_angles", search)
    monkeypatch.setattr(nodes.NodeFamily, "_climb", search)
    angles = np.random.default_rng(5).uniform(-3.0, 3.0, (6, 3))
    data = sr.Directions.from_dihedrals(angles)
    with pytest.raises(sr.BoundaryError, match="level 1"):
        sr.profile(sr.Directions.from_dihedrals(angles[:1]), hierarchy=sr.TorusHarmonics(3, 2))
    placed = place_support(sr.TorusHarmonics(3, 2), 2, never, data.x)
    assert placed.verdict is Verdict.OUTSIDE
