"""Batches of weightings: every form of them, level 2 together, shrinkage, flags, shuffles."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import steradian as sr
from oracles import Array
from steradian import batches
from steradian.data.stacks import SharedPoints, moments_of_weightings
from steradian.hierarchies import Hierarchy

CLOSE = 1e-9  # the stated error of a fit, with room for the rounding of moments
SAME = 1e-12  # the same numbers by sums in another order


def points(n: int, d: int, seed: int = 0) -> Array:
    """Unequal axes about a mean."""
    x = np.random.default_rng(seed).standard_normal((n, d)) * np.linspace(0.5, 1.5, d) + 0.2
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


def softmax(x: Array, rows: int, sharp: float, seed: int = 1) -> Array:
    logits = sharp * np.random.default_rng(seed).standard_normal((rows, x.shape[1])) @ x.T
    w = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(w / w.sum(axis=1, keepdims=True))


@pytest.mark.parametrize(
    ("d", "n", "sharp"), [(4, 60, 1.0), (4, 60, 8.0), (5, 2000, 0.1), (9, 200, 3.0), (24, 150, 1.0)]
)
def test_level_two_is_that_of_each_row(d: int, n: int, sharp: float) -> None:
    """Also with few effective rows, and with gaps below a hundredth of a nat."""
    x = points(n, d)
    w = softmax(x, 8, sharp)
    many = sr.profiles(x, weights=w, levels=2)
    for row, weights in enumerate(w):
        if row in many.failures:
            with pytest.raises(type(many.failures[row])):
                sr.profile(x, weights=weights, levels=2)
            continue
        one = sr.profile(x, weights=weights, levels=2)
        np.testing.assert_allclose(many.gaps[row], one.gaps, rtol=0.0, atol=CLOSE)
        np.testing.assert_allclose(many.deficits[row], one.deficits, rtol=0.0, atol=CLOSE)
    assert len(many.failures) < len(w)


@pytest.mark.parametrize("sharp", [0.5, 3.0, 8.0])
def test_axes_in_three_dimensions_are_those_of_each_row(sharp: float) -> None:
    """Bingham's law, whose stack is fitted together."""
    x = points(90, 3)
    w = softmax(x, 8, sharp)
    many = sr.profiles(x, weights=w, hierarchy=sr.Axial(3, 1))
    ones = [sr.profile(x, weights=each, hierarchy=sr.Axial(3, 1)) for each in w]
    np.testing.assert_allclose(many.gaps, [one.gaps for one in ones], rtol=0.0, atol=CLOSE)


def test_parameters_of_stacked_fits_are_those_of_single_ones() -> None:
    x = points(100, 6)
    w = softmax(x, 5, 2.0)
    family = sr.Harmonics(6, 2).family(2)
    stack = moments_of_weightings(x, w, sr.Harmonics(6, 2))
    many = family.solve(stack, np.zeros((5, family.q)))
    for row in range(5):
        one = family.solve(stack.take(np.array([row])), np.zeros((1, family.q)))
        scale = 1.0 + np.abs(one.lam[0]).max()
        np.testing.assert_allclose(many.lam[row], one.lam[0], rtol=0.0, atol=1e-6 * scale)
        assert many.psi[row] == pytest.approx(one.psi[0], abs=1e-6 * scale)
        assert many.deficit[row] == pytest.approx(one.deficit[0], abs=CLOSE)
        assert abs(many.deficit[row] - one.deficit[0]) <= many.quadrature[row] + SAME


FORMS: dict[str, Callable[[Array, Path], Any]] = {
    "float32": lambda w, _: w.astype(np.float32),
    "columns first": lambda w, _: np.asfortranarray(w.astype(np.float32)),
    "csr": lambda w, _: sparse.csr_array(w.astype(np.float32)),
    "csc": lambda w, _: sparse.csc_matrix(w.astype(np.float32)),
    "coo": lambda w, _: sparse.coo_array(w.astype(np.float32)),
    "blocks": lambda w, _: (part for part in np.array_split(w.astype(np.float32), 3)),
    "sparse blocks": lambda w, _: iter([sparse.csr_array(w[:4].astype(np.float32)), w[4:]]),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("d", "levels"), [(2, 3), (3, 2), (6, 1), (6, 2)])
def test_every_form_of_weights_gives_the_same(
    d: int, levels: int, form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In several blocks, so that their seams are seen."""
    monkeypatch.setattr(batches, "_ENTRIES", 2000)
    monkeypatch.setattr(batches, "_STACK_ENTRIES", 300)
    monkeypatch.setattr(batches, "_READ_ENTRIES", 100)
    x = points(50, d)
    w = softmax(x, 11, 2.0)
    w[w < np.quantile(w, 0.3)] = 0.0
    w = w.astype(np.float32).astype(np.float64)
    monkeypatch.setattr("os.cpu_count", lambda: 1)
    plain = sr.profiles(x, weights=w, levels=levels)
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    found = sr.profiles(x, weights=FORMS[form](w, tmp_path), levels=levels)
    np.testing.assert_allclose(found.gaps, plain.gaps, rtol=0.0, atol=SAME)
    np.testing.assert_allclose(found.ess, plain.ess, rtol=1e-12)
    assert found.failures.keys() == plain.failures.keys()


@pytest.mark.parametrize("power", [-1060, -400, 400, 1010])
def test_weights_of_any_scale_give_the_same(power: int) -> None:
    """Powers of two, with which sums of squares would vanish or overflow, in one row of them."""
    rng = np.random.default_rng(3)
    x = rng.standard_normal((40, 2))
    w = 2.0 ** rng.integers(0, 4, (10, 40))
    plain = sr.profiles(x / np.linalg.norm(x, axis=1, keepdims=True), weights=w, levels=3)
    w[4] = np.ldexp(w[4], power)
    found = sr.profiles(x / np.linalg.norm(x, axis=1, keepdims=True), weights=w, levels=3)
    np.testing.assert_array_equal(found.gaps, plain.gaps)
    np.testing.assert_array_equal(found.ess, plain.ess)


def test_memory_maps_are_read_in_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    x = points(64, 3)
    w = softmax(x, 500, 2.0).astype(np.float32)
    path = tmp_path / "weights.f32"
    w.tofile(path)
    mapped = np.memmap(path, dtype=np.float32, mode="r", shape=w.shape)
    monkeypatch.setattr(batches, "_ENTRIES", 20_000)
    monkeypatch.setattr(batches, "_STACK_ENTRIES", 6400)
    rows = batches.WeightedFits(x, sr.Sphere(), sr.Harmonics(3, 2), None, None).rows_at_once
    assert 1 < rows < 200
    found = sr.profiles(x, weights=mapped, levels=2)
    np.testing.assert_allclose(found.gaps, sr.profiles(x, weights=w, levels=2).gaps, atol=SAME)


def test_an_iterator_may_use_its_memory_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("os.cpu_count", lambda: 3)
    x, room = points(40, 3), np.empty((6, 40))
    w = softmax(x, 48, 2.0)

    def parts() -> Iterator[Array]:
        for first in range(0, 48, 6):
            room[:] = w[first : first + 6]
            yield room

    found = sr.profiles(x, weights=parts(), levels=2)
    np.testing.assert_allclose(found.gaps, sr.profiles(x, weights=w, levels=2).gaps, atol=SAME)


@pytest.mark.parametrize("hierarchy", [sr.Harmonics(3, 2), sr.Axial(3, 1)])
def test_points_too_many_to_keep_are_summed_in_parts(
    hierarchy: Hierarchy, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = points(90, 3)
    w = softmax(x, 7, 2.0)
    whole = moments_of_weightings(x, w, hierarchy)
    monkeypatch.setattr("steradian.data.stacks._SHARED_ENTRIES", 400)
    assert not SharedPoints(x, hierarchy).held
    for each in (w, sparse.csr_array(w)):
        parts = moments_of_weightings(x, each, hierarchy)
        for name in ("features", "mean", "scatter"):
            np.testing.assert_allclose(getattr(parts, name), getattr(whole, name), atol=1e-14)


def test_level_one_forms_no_matrices() -> None:
    """Of B d × d matrices, and of n pairs of coordinates, there would be gigabytes."""
    x = points(50, 300)
    w = softmax(x, 4, 5.0)
    stack = moments_of_weightings(x, w, sr.Harmonics(300, 1))
    assert stack.scatter.shape == (4, 1, 1)
    away = x - (w @ x)[:, None, :]
    exact = np.einsum("bn,bni,bni->b", w, away, away)
    np.testing.assert_allclose(stack.scatter[:, 0, 0], exact, rtol=1e-11)
    many = sr.profiles(x, weights=w, levels=1)
    for row in range(4):
        one = sr.profile(x, weights=w[row], levels=1)
        np.testing.assert_allclose(many.gaps[row], one.gaps, rtol=1e-9)


@pytest.mark.parametrize("kappa", [1e3, 1e6, 1e9])
def test_tight_rows_keep_their_digits(kappa: float) -> None:
    rng = np.random.default_rng(2)
    centre = points(1, 40)
    near = centre + rng.standard_normal((60, 40)) / np.sqrt(kappa)
    x = np.vstack([near / np.linalg.norm(near, axis=1, keepdims=True), points(40, 40)])
    w = np.zeros((2, 100))
    w[0, :60], w[1] = rng.uniform(0.5, 1.5, 60), 1.0
    many = sr.profiles(x, weights=w, levels=1)
    one = sr.profile(x, weights=w[0], levels=1)
    np.testing.assert_allclose(many.gaps[0], one.gaps, rtol=1e-9)


@pytest.mark.parametrize("mixing", [0.1, sr.Shrinkage(0.2), sr.Shrinkage(0.2, "below")])
@pytest.mark.parametrize(("d", "n", "levels"), [(2, 30, 3), (3, 30, 2), (7, 30, 1), (7, 5, 2)])
def test_shrinkage_is_that_of_profile(
    d: int, n: int, levels: int, mixing: sr.Shrinkage | float
) -> None:
    """Also where there are fewer points than dimensions."""
    x = points(n, d)
    w = softmax(x, 4, 1.5)
    many = sr.profiles(x, weights=w, levels=levels, shrinkage=mixing)
    assert not many.failures
    for row, weights in enumerate(w):
        one = sr.profile(x, weights=weights, levels=levels, shrinkage=mixing)
        np.testing.assert_allclose(many.gaps[row], one.gaps, rtol=0.0, atol=CLOSE)
    assert np.isnan(many.debiased).all()
    assert "Shrunk: the data were mixed with" in str(many)


def test_small_effective_sizes_are_flagged() -> None:
    """One that looks at two points has a large gap of noise; equal weights do not."""
    x = points(400, 3)
    w = np.full((3, 400), 1e-4)
    w[0], w[1, :2], w[2, :12] = 1.0, 1.0, 1.0
    found = sr.profiles(x, weights=w, levels=2)
    np.testing.assert_allclose(found.noise, [[3 / (2 * e), 5 / (2 * e)] for e in found.ess])
    assert found.ess[1] == pytest.approx(2.0, rel=0.1)
    assert found.enough.tolist() == [[True, True], [False, False], [True, True]]
    assert found.flagged.tolist() == [1]
    assert found.gaps[1, 1] > 1.0
    np.testing.assert_allclose(found.debiased[0], found.gaps[0] - found.noise[0])
    assert np.isnan(found.debiased[1]).all()
    assert "1 rows are worth fewer rows than a level has features" in str(found)


def test_dictionary_and_frame() -> None:
    pytest.importorskip("pandas")
    x = points(40, 3)
    w = softmax(x, 3, 1.0)
    w[1] = 0.0
    found = sr.profiles(x, weights=w, levels=2)
    record = json.loads(json.dumps(found.to_dict()))
    assert record["gaps"][1] == [None, None]
    np.testing.assert_allclose(record["gaps"][0], found.gaps[0])
    assert "zero everywhere" in record["failures"]["1"]
    frame = found.to_frame()
    frame = frame.set_index(["row", "level"])
    assert frame.loc[(2, 2), "gap"] == found.gaps[2, 1]
    assert frame.loc[(2, 1), "ess"] == found.ess[2]
    assert frame["features"].tolist() == [3, 5] * 3
    assert max(map(len, str(found).splitlines())) <= 80


# --- shuffles -----------------------------------------------------------------------------


def test_shuffles_find_weights_that_follow_directions() -> None:
    x = points(80, 3)
    rng = np.random.default_rng(5)
    w = np.exp(np.stack([3.0 * x[:, 0], 2.5 * x[:, 1] ** 2, rng.standard_normal(80)]))
    found = sr.profiles(x, weights=w, levels=2, null=sr.Permutation(39, seed=1))
    assert found.pvalue[0, 0] == pytest.approx(1 / 40)
    assert found.pvalue[2].min() > 0.05
    assert found.null_mean.shape == (3, 2)
    assert (found.null_mean[0] > 0).all()
    again = sr.profiles(x, weights=w, levels=2, null=sr.Permutation(39, seed=1))
    np.testing.assert_array_equal(found.pvalue, again.pvalue)
    assert "by 39 shuffles" in str(found).replace("\n", " ")


def test_shuffles_are_of_the_points_of_each_row() -> None:
    """Against weights shuffled one row at a time, by the same orders."""
    x = points(30, 4)
    w = softmax(x, 3, 2.0)
    null = sr.Permutation(19, seed=3)
    found = sr.profiles(x, weights=w, levels=2, null=null)
    drawn = np.array([sr.profiles(x[order], weights=w, levels=2).gaps for order in null.orders(30)])
    reached = 1 + ~(drawn < found.gaps - 1e-10)
    np.testing.assert_allclose(found.pvalue, (1 + (reached - 1).sum(axis=0)) / 20)
    np.testing.assert_allclose(found.null_mean, np.nanmean(drawn, axis=0), atol=CLOSE)


def test_equal_weights_are_like_every_shuffle_of_them() -> None:
    found = sr.profiles(points(40, 3), weights=np.ones((1, 40)), null=sr.Permutation(19))
    np.testing.assert_array_equal(found.pvalue, [[1.0, 1.0]])


def test_pvalues_are_uniform_when_weights_have_nothing_to_do_with_directions() -> None:
    """Each of 19 + 1 ranks is as likely; 150 independent weightings of independent points.

    A p-value of rank r has mean 10.5 / 20 and standard deviation 5.77 / 20; means over 150 rows
    leave five standard errors of 0.024 with probability 6e-7. Rows of one set of points share
    shuffles, so that each set gives one row only.
    """
    rng = np.random.default_rng(11)
    values = []
    for seed in range(150):
        x = points(25, 3, seed)
        w = np.exp(rng.standard_normal((1, 25)))
        values.append(sr.profiles(x, weights=w, levels=1, null=sr.Permutation(19, seed)).pvalue[0])
    ranks = np.array(values) * 20
    np.testing.assert_allclose(ranks, np.round(ranks), atol=1e-9)
    assert abs(ranks.mean() / 20 - 0.525) < 5 * 0.2883 / np.sqrt(150)
    few = (ranks <= 2).mean()  # P = 0.1, standard error 0.0245
    assert abs(few - 0.1) < 5 * 0.0245


@pytest.mark.parametrize("null", ["shuffle", 3, True])
def test_unknown_nulls_are_named(null: Any) -> None:
    with pytest.raises(sr.InvalidArgument, match=r"null is .*; give 'permute', or sr.Permutation"):
        sr.profiles(points(10, 3), weights=np.ones((1, 10)), null=null)


def test_without_a_null_there_are_no_pvalues() -> None:
    found = sr.profiles(points(10, 3), weights=np.ones((1, 10)), levels=1)
    assert found.null is None
    assert np.isnan(found.pvalue).all()
    with pytest.raises(sr.InvalidArgument, match="replicates is 5; give 19 or more"):
        sr.Permutation(5)


def test_empty_iterators_are_named() -> None:
    with pytest.raises(sr.InvalidDirections, match=r"weights are empty; give \(B, 10\)"):
        sr.profiles(points(10, 3), weights=iter([]), levels=1)


def test_broad_rows_of_a_batch_end_on_their_grids(monkeypatch: pytest.MonkeyPatch) -> None:
    """A last step too early left one row in a thousand to the contour, a sixth of all time."""
    rng = np.random.default_rng(17)
    x = rng.standard_normal((512, 3)) * [0.5, 1.0, 1.5] + 0.1
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    w = np.exp(2.0 * rng.standard_normal((3000, 3)) @ x.T)
    sent = []

    def count(_: object, moments: object, *rest: object) -> None:
        sent.append((moments, rest))

    monkeypatch.setattr("steradian.families.grids.solver.FisherBinghamFamily.solve", count)
    assert np.isfinite(sr.profiles(x, weights=w, levels=2).gaps).all()
    assert not sent
