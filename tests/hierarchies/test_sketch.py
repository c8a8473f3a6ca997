"""Sketches: random axes, an exact level 2, and what they leave out."""

from __future__ import annotations

import json

import numpy as np
import pytest

import steradian as sr
from oracles_polynomials import polar_rule
from steradian.hierarchies import hierarchy_from_dict
from steradian.numerics.arrays import Array
from steradian.paper import sketches


def rows(d: int, n: int, seed: int) -> Array:
    z = np.random.default_rng(seed).standard_normal((n, d))
    z[:, 0] += 0.4 * z[:, 1] ** 2
    z[:, -1] += 0.5
    return z / np.linalg.norm(z, axis=1, keepdims=True)


@pytest.mark.parametrize(("d", "size", "levels"), [(4, 5, 4), (4, 20, 3), (5, 7, 3)])
def test_features_are_orthonormal_and_among_the_harmonics(d: int, size: int, levels: int) -> None:
    sketch, full = sr.Sketch(d, size, levels, 3), sr.Harmonics(d, levels)
    points, weights = polar_rule(d, levels + 1)
    phi, all_of_them = sketch.features(points), full.features(points)
    gram = phi.T @ (weights[:, None] * phi)
    np.testing.assert_allclose(gram, np.eye(len(gram)), atol=1e-7)
    within = all_of_them.T @ (weights[:, None] * phi)
    np.testing.assert_allclose(all_of_them @ within, phi, atol=1e-7)
    first = 0
    for level, (taken, there) in enumerate(zip(sketch.dims, full.dims, strict=True), 1):
        assert taken == min(there, d if level == 1 else size)
        assert np.abs(within[:first, first : first + taken]).max(initial=0.0) < 1e-9
        first += there


def test_axes_are_those_of_the_seed() -> None:
    one = sr.Sketch(6, 4, 3, 1)
    assert np.abs(one.axes(2) - one.axes(3)).max() > 0.1
    assert np.abs(one.axes(3) - sr.Sketch(6, 4, 3, 2).axes(3)).max() > 0.1
    again = hierarchy_from_dict(json.loads(json.dumps(one.to_dict())))
    assert again == one
    x = rows(6, 5, 0)
    np.testing.assert_array_equal(one.up_to(2).features(x), one.features(x)[:, : one.q(2)])


@pytest.mark.parametrize("seed", range(3))
def test_no_more_than_all_harmonics(seed: int) -> None:
    """D of the sketch <= D of everything, and equal where the sketch has everything."""
    x = rows(4, 400, seed)
    full = sr.profile(x, hierarchy=sr.Harmonics(4, 3))
    some = sr.profile(x, hierarchy=sr.Sketch(4, 5, 3, seed))
    slack = full.numerics.quadrature + some.numerics.quadrature + 1e-10
    assert (some.deficits <= full.deficits + slack).all()
    assert some.deficits[1] < full.deficits[1] - 1e-4
    whole = sr.profile(x, hierarchy=sr.Sketch(4, 30, 3, seed))
    assert tuple(whole.dims) == tuple(full.dims)
    np.testing.assert_allclose(whole.deficits, full.deficits, atol=1e-7)


@pytest.mark.parametrize("d", [4, 12])
def test_level_two_is_exact(d: int) -> None:
    """All axes of a degree together are all quadratics, whose fit is another program's."""
    x = rows(d, 600, d)
    size = d * (d + 1) // 2 + 5
    found = sr.profile(x, hierarchy=sr.Sketch(d, size, 2, 0))
    np.testing.assert_allclose(found.deficits, sr.profile(x, levels=2).deficits, atol=1e-8)
    assert found.dims[1] == d * (d + 1) // 2 - 1


def test_rotation_changes_a_sketch_and_not_its_law() -> None:
    x = rows(4, 300, 1)
    turn = sr.Harmonics(4, 1).space.symmetry(np.random.default_rng(0))
    here, there = (sr.profile(y, hierarchy=sr.Sketch(4, 3, 2, 0)).gaps for y in (x, x @ turn.T))
    assert abs(here[0] - there[0]) < 1e-12
    assert abs(here[1] - there[1]) > 1e-4


def test_repeated_sketches() -> None:
    found = sketches(rows(4, 300, 2), size=3, levels=2, repeats=5, seed=7)
    assert found.gaps.shape == found.pvalues.shape == (5, 2)
    alone = sr.profile(rows(4, 300, 2), hierarchy=sr.Sketch(4, 3, 2, 9))
    np.testing.assert_array_equal(found.gaps[2], alone.gaps)
    np.testing.assert_array_equal(found.pvalues[2], alone.tests().pvalue)
    wanted = np.minimum(1.0, 2.0 * np.sort(found.pvalues, axis=0)[2])
    np.testing.assert_allclose(found.pvalue, wanted)
    assert (found.pvalue_holm >= found.pvalue).all()
    assert found.spread[0] < 1e-12 < found.spread[1]
    text = str(found)
    assert "is not rotation invariant" in text.replace("\n", " ")
    assert "invariant in distribution" in text.replace("\n", " ")
    assert "twice the median" in text
    json.loads(json.dumps(found.to_dict()))


def test_without_inference_there_are_no_pvalues() -> None:
    weighted = sr.Directions(rows(4, 100, 3), np.linspace(1.0, 2.0, 100))
    found = sketches(weighted, size=2, levels=2, repeats=2)
    assert np.isnan(found.pvalue).all()
    assert found.design == "descriptive"


@pytest.mark.parametrize(("arguments", "words"), [
    ((3, 4, 2, 0), "d is 3; sketches are for 4 dimensions and more"),
    ((5, 0, 2, 0), "size is 0"),
    ((5, 3, 6, 0), "levels is 6; at most 5 are possible"),
    ((5, 3, 2, -1), "seed is -1"),
    ((5, 1500, 3, 0), "more than the 2000 features"),
    ((4000, 3, 2, 0), "more than the 2000 features"),
    ((1900, 50, 2, 0), "do not fit in memory"),
])  # fmt: skip
def test_wrong_arguments(arguments: tuple[int, int, int, int], words: str) -> None:
    with pytest.raises(sr.InvalidArgument, match=words):
        sr.Sketch(*arguments)
