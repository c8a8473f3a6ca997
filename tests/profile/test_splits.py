"""Some rows choose, the others are profiled: which rows, what is reported, what is refused."""

from __future__ import annotations

import json
from collections.abc import Callable
from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest

import steradian as sr
from steradian.hierarchies import Hierarchy, OnSplits, Split
from steradian.hierarchies.chosen import About, MeanAxis, mean_direction, principal_axes
from steradian.inference.gap_tests import combined
from steradian.inference.intervals import voted
from steradian.numerics.arrays import Array

D = sr.designs
N = 120
ONCE = Split(0.5, repeats=1)


def rows(d: int = 4, n: int = N, seed: int = 0, shift: float = 0.5) -> Array:
    x = np.random.default_rng(seed).standard_normal((n, d))
    x[:, -1] += shift
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


X = rows()


class Seen:
    """A recipe that remembers the rows which chose."""

    words = "what was seen"

    def __init__(self, levels: int = 2) -> None:
        self.parts: list[sr.Directions] = []
        self.levels = levels

    def from_data(self, directions: sr.Directions) -> Hierarchy:
        self.parts.append(directions)
        return MeanAxis(self.levels).from_data(directions)

    def to_dict(self) -> dict[str, Any]:
        return {"kind": "Seen"}


def numbers(part: sr.Directions | None, x: Array = X) -> list[int]:
    """Which rows of ``x`` a part has."""
    assert part is not None
    found = [int(np.flatnonzero((np.abs(x - one) < 1e-15).all(axis=1))[0]) for one in part.x]
    assert len(set(found)) == len(found)
    return found


# --- who chooses -----------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.2, 0.5, 0.8])
def test_every_row_is_on_one_side_of_every_split(share: float) -> None:
    recipe = Seen()
    p = sr.profile(X, hierarchy=OnSplits(recipe, Split(share, repeats=3)))
    for part, one in zip(recipe.parts, p.splits, strict=True):
        chose, rest = numbers(part), numbers(one.directions)
        assert sorted(chose + rest) == list(range(N))
        assert len(chose) == round(share * N)
        assert one.moments.hierarchy == MeanAxis(2).from_data(part)
    assert len({tuple(numbers(part)) for part in recipe.parts}) == 3


def test_splits_are_seeded() -> None:
    def gaps(seed: int, repeats: int) -> Array:
        split = Split(0.5, repeats=repeats, seed=seed)
        return sr.profile(X, hierarchy=sr.Zonal("mean", 2, split=split)).split_gaps

    np.testing.assert_array_equal(gaps(3, 4), gaps(3, 4))
    np.testing.assert_array_equal(gaps(3, 4)[:2], gaps(3, 2))
    assert not np.allclose(gaps(3, 2), gaps(4, 2))


def test_clusters_go_whole_to_one_side() -> None:
    ids = np.array([f"c{k}" for k in np.arange(N) % 20])
    recipe = Seen()
    p = sr.profile(X, hierarchy=OnSplits(recipe, Split(repeats=4)), design=D.Clusters(ids))
    for part, one in zip(recipe.parts, p.splits, strict=True):
        chose, rest = ids[numbers(part)], ids[numbers(one.directions)]
        assert not set(chose) & set(rest)
        assert len(set(chose)) == 10
        assert one.as_sample().units.count == 10
        names = one.as_sample().units.names
        assert names is not None
        assert set(names) == set(rest)


def test_what_is_left_of_a_chain_is_a_stretch_of_it() -> None:
    x, ids = rows(3, 1200), np.arange(1200) % 2
    recipe = Seen(1)
    p = sr.profile(x, hierarchy=OnSplits(recipe, Split(repeats=3)), design=D.Chain(ids))
    for part, one in zip(recipe.parts, p.splits, strict=True):
        rest = np.array(numbers(one.directions, x))
        assert len(numbers(part, x)) == 600
        for chain in (0, 1):
            assert (np.diff(rest[ids[rest] == chain]) == 2).all()
            assert (ids[rest] == chain).sum() == 300


def test_strata_keep_two_units_each_and_their_fraction_falls() -> None:
    strata, psu = np.arange(N) // 30, np.arange(N) // 3  # ten units in each of four strata
    design = D.Survey(psu=psu, strata=strata, fraction=0.2)
    recipe = Seen(1)
    p = sr.profile(X, hierarchy=OnSplits(recipe, Split(0.6, repeats=2)), design=design)
    for one in p.splits:
        rest = numbers(one.directions)
        assert {len({psu[k] for k in rest if strata[k] == s}) for s in range(4)} == {4}
        np.testing.assert_allclose(one.design.fraction, 0.2 * 4 / 10)  # type: ignore[attr-defined]
    few = D.Survey(psu=np.arange(N) // 15, strata=strata)  # two units a stratum
    with pytest.raises(sr.DesignError, match="2 must be left of every stratum"):
        sr.profile(X, hierarchy=sr.Zonal("mean", 1, split=0.5), design=few)


def test_weights_travel_with_their_rows() -> None:
    w = np.random.default_rng(1).gamma(2.0, size=N)
    recipe = Seen()
    choice = OnSplits(recipe, Split(repeats=2))
    p = sr.profile(X, weights=w, hierarchy=choice, design="importance")
    for part, one in zip(recipe.parts, p.splits, strict=True):
        for side in (part, one.directions):
            own = w[numbers(side)]
            np.testing.assert_allclose(side.weights, own / own.sum(), rtol=1e-14)  # type: ignore[union-attr]
    assert sr.profile(X, weights=w, hierarchy=choice).design.name == "descriptive"


def test_columns_of_a_table_are_split_too() -> None:
    pd = pytest.importorskip("pandas")
    x = rows(3)
    table = pd.DataFrame({"x": x[:, 0], "y": x[:, 1], "z": x[:, 2], "site": np.arange(N) // 4})
    p = sr.profile(table, hierarchy=sr.Zonal("mean", 1, split=ONCE), design=D.Clusters("site"))
    assert p.splits[0].as_sample().units.count == 15


# --- what is chosen --------------------------------------------------------------------------


def test_the_mean_direction_is_weighted() -> None:
    w = np.random.default_rng(2).gamma(1.0, size=N)
    mean = sum(weight * row for weight, row in zip(w, X, strict=True))
    np.testing.assert_allclose(
        mean_direction(sr.Directions(X, w)), mean / np.linalg.norm(mean), atol=1e-15
    )


@pytest.mark.parametrize(("n", "d"), [(60, 5), (6, 9)])
def test_principal_axes_hold_most_of_the_squared_length(n: int, d: int) -> None:
    x, w = rows(d, n, 3), np.random.default_rng(3).gamma(2.0, size=n)
    data = sr.Directions(x, w)
    basis = principal_axes(data, 2, "pca")
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-14)
    held = float(data.weights @ ((x @ basis) ** 2).sum(axis=1))
    other = np.random.default_rng(4)
    for step in (1e-3, 0.1, 10.0):  # no plane near it or anywhere holds more
        for _ in range(20):
            plane = np.linalg.qr(basis + step * other.standard_normal((d, 2)))[0]
            assert float(data.weights @ ((x @ plane) ** 2).sum(axis=1)) < held
    about = principal_axes(data, 2, "mean+pca")
    np.testing.assert_allclose(about[:, 0], mean_direction(data), atol=1e-15)
    across = x - np.outer(x @ about[:, 0], about[:, 0])
    held = float(data.weights @ (across @ about[:, 1]) ** 2)
    for _ in range(20):
        one = other.standard_normal(d)
        one -= (one @ about[:, 0]) * about[:, 0]
        assert float(data.weights @ (x @ one / np.linalg.norm(one)) ** 2) <= held


@pytest.mark.parametrize("basis", ["pca", "mean+pca"])
def test_a_basis_that_other_rows_chose(basis: About) -> None:
    x = sr.Directions(rows(6, 600, 8))
    p = sr.profile(x, hierarchy=sr.LowRank(basis, 2, k=2, split=Split(repeats=2)))
    assert p.dims.tolist() == [2, 3]
    assert (p.tests().pvalue <= 1.0).all()
    assert "principal axes" in str(p)
    (one,) = sr.profile(x, hierarchy=sr.LowRank(basis, 1, k=1, split=ONCE)).splits
    again = sr.profile(x, hierarchy=sr.Zonal("mean", 1, split=ONCE)).splits[0]
    if basis == "mean+pca":  # one axis, the mean: the same hierarchy by another name
        np.testing.assert_allclose(one.gaps, again.gaps, atol=1e-9)
    same = sr.profile(x, hierarchy=sr.LowRank(basis, 2, k=2))
    assert isinstance(same, sr.results.Profile)
    with pytest.raises(sr.DesignError, match="of these same rows"):
        same.tests()


def test_with_a_strong_mean_both_ways_begin_there() -> None:
    data = sr.Directions(rows(6, 400, 5, shift=9.0))
    mean = mean_direction(data)
    first = principal_axes(data, 2, "pca")
    assert abs(first[:, 0] @ mean) > 0.999
    inside = np.linalg.svd(first.T @ principal_axes(data, 2, "mean+pca"))[1]
    assert inside.min() > 0.99


# --- what is reported ------------------------------------------------------------------------


def test_medians_over_the_splits() -> None:
    p = sr.profile(X, hierarchy=sr.Zonal("mean", 3, split=Split(repeats=5)), levels=2)
    assert p.levels.tolist() == [1, 2]
    each = np.array([one.gaps for one in p.splits])
    np.testing.assert_array_equal(p.gaps, np.sort(each, axis=0)[2])
    np.testing.assert_array_equal(p.uncertainty, np.exp(-p.deficits))
    tests, first = p.tests(), p.splits[0].tests()
    np.testing.assert_array_equal(tests.pvalues[0], first.pvalue)
    np.testing.assert_allclose(
        tests.pvalue, np.minimum(np.sort(tests.pvalues, axis=0)[2] * 5 / 3, 1.0)
    )
    assert json.loads(json.dumps(p.to_dict())) == p.to_dict()
    assert json.loads(json.dumps(tests.to_dict())) == tests.to_dict()
    text = str(p)
    assert "Chosen from other rows than are profiled: the axis is the mean direction." in text
    assert "60 choose and 60 are profiled" in text
    assert max(len(line) for line in text.splitlines()) <= 80
    assert "5 splits" in str(tests)
    assert "5 splits" in repr(tests)


@pytest.mark.parametrize(("n", "levels", "few"), [(3, 1, True), (12, 1, True), (40, 1, False)])
def test_splits_of_few_rows_say_so(n: int, levels: int, few: bool) -> None:
    p = sr.profile(rows(3, n, shift=2.0), hierarchy=sr.Zonal("mean", levels, split=0.5))
    said = "\n".join(line for line in str(p).splitlines() if line.startswith("!"))
    assert bool(p.diagnostics) == bool(said) == few
    if few:
        choose = n - p.splits[0].n
        known = p.diagnostics[0].data
        assert (known["choosing"], known["profiled"], known["features"]) == (choose, n - choose, 1)
    assert p.to_dict()["diagnostics"] == [one.to_dict() for one in p.diagnostics]


def test_one_split_is_the_profile_of_what_it_left() -> None:
    p = sr.profile(X, hierarchy=sr.Zonal("mean", 2, split=ONCE))
    (one,) = p.splits
    np.testing.assert_array_equal(p.tests().pvalue, one.tests().pvalue)
    own, ours = one.intervals(0.9), p.intervals(0.9)
    for name in ("low", "high", "deficit_low", "deficit_high", "debiased"):
        np.testing.assert_array_equal(getattr(ours, name), getattr(own, name))


def test_intervals_are_what_most_splits_allow() -> None:
    p = sr.profile(X, hierarchy=sr.Zonal("mean", 2, split=Split(repeats=5)))
    ours = p.intervals(0.9)
    each = [one.intervals(1.0 - 0.1 * 3 / 5) for one in p.splits]
    np.testing.assert_allclose(ours.low, np.median([one.low for one in each], axis=0))
    np.testing.assert_allclose(ours.high, np.median([one.high for one in each], axis=0))
    assert json.loads(json.dumps(ours.to_dict())) == ours.to_dict()
    assert "what most of 5 splits allow" in str(ours)


@pytest.mark.parametrize("count", [1, 2, 3, 4, 5])
def test_combined_p_values_are_p_values_whatever_ties_them(count: int) -> None:
    """No joint law of uniform p-values gives more than α below α: a linear programme of one α.

    Of each p-value only counts whether it is below αk/K. The worst law makes either none or exactly
    k of them so small; it is one here, and no other pattern has as much per unit of its margins.
    """
    alpha, k = Fraction(1, 20), count // 2 + 1
    small = alpha * k / count
    worst = Fraction(0)
    for pattern in product([0, 1], repeat=count):
        p = np.array([[float(small) if one else 1.0] for one in pattern])
        if combined(p)[0] <= float(alpha) * (1.0 + 1e-12):
            worst = max(worst, Fraction(1, sum(pattern)))  # rejections per small p-value
    assert worst * count * small == alpha


def test_what_no_split_can_tell_is_not_told() -> None:
    p = np.array([[np.nan, 0.01, np.nan], [np.nan, np.nan, 0.02], [np.nan, 0.02, 0.01]])
    np.testing.assert_allclose(combined(p), [np.nan, 0.03, 0.03])
    ends = np.array([[[0.1, 0.2], [np.nan, 0.5]], [[0.2, 0.1], [0.9, 0.7]], [[np.nan] * 2] * 2])
    np.testing.assert_allclose(voted(ends), [[0.1, 0.1], [np.nan, 0.7]])


# --- the same rows ---------------------------------------------------------------------------


@pytest.mark.parametrize("design", [None, "iid", D.Clusters(np.arange(N) // 4)])
def test_on_the_same_rows_nothing_is_inferred(design: D.Design | None) -> None:
    p = sr.profile(X, hierarchy=sr.Zonal("mean", 2), design=design)
    assert isinstance(p, sr.results.Profile)
    assert p.moments.hierarchy == MeanAxis(2).from_data(sr.Directions(X))
    asked: list[Callable[[], object]] = [
        p.tests, p.intervals, p.uniformity, lambda: p.residuals().pvalue,
        lambda: sr.choose_order(p), lambda: sr.bootstrap(p, "design"),
    ]  # fmt: skip
    for ask in asked:
        with pytest.raises(sr.DesignError, match=r"of these same rows.*give split=0\.5"):
            ask()
    text = str(p)
    assert "Chosen from these same rows: the axis is the mean direction." in text
    assert "p =" not in text
    assert "p <" not in text
    assert p.to_dict()["design"] == "descriptive"
    assert "these same rows" in p.to_dict()["design_sentence"]
    shrunk = sr.profile(X, hierarchy=sr.Zonal("mean", 2), design=design, shrinkage=0.1)
    assert "Chosen from these same rows" in str(shrunk)


def test_a_level_that_does_not_exist_says_so_about_the_same_rows() -> None:
    with pytest.raises(sr.BoundaryError) as caught:
        sr.profile(np.eye(3)[[0, 1]], hierarchy=sr.Zonal("mean", 3))
    assert caught.value.level == 2
    assert caught.value.profile is not None
    with pytest.raises(sr.DesignError, match="same rows"):
        caught.value.profile.tests()


# --- what is refused -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sr.Zonal("median", 2, split=0.5), "axis is 'median'; choose 'mean'"),
        (lambda: sr.Zonal("mean", 0, split=0.5), "levels is 0"),
        (lambda: sr.Zonal("mean", 2, split=1.0), "split is 1.0; give a number between 0 and 1"),
        (lambda: sr.Zonal("mean", 2, split=True), "split is True; give the share of rows"),
        (lambda: sr.Zonal("mean", 2, split="half"), "split is 'half'; give"),  # type: ignore[call-overload]
        (lambda: sr.Zonal([0.0, 1.0], 2, split=0.5), "leave out"),  # type: ignore[call-overload]
        (lambda: sr.LowRank("svd", 2, split=0.5), "basis is 'svd'; choose 'pca'"),  # type: ignore[call-overload]
        (lambda: sr.LowRank("pca", 7, split=0.5), "levels is 7; at most 6"),
        (lambda: sr.LowRank("pca", 2, k=4, split=0.5), "k is 4; give 1 to 3 axes"),
        (lambda: sr.LowRank(np.eye(4)[:, :2], 2, k=2), "leave out split= and k="),  # type: ignore[call-overload]
        (lambda: Split(0.5, repeats=0), "repeats is 0"),
        (lambda: Split(0.5, repeats=10**9), "at most 10000"),
        (lambda: Split(0.5, seed=-1), "seed is -1"),
    ],
)
def test_arguments(call: Callable[[], object], words: str) -> None:
    with pytest.raises(sr.InvalidArgument, match=words):
        call()


def split(data: Any, **options: Any) -> object:
    return sr.profile(data, hierarchy=sr.Zonal("mean", 1, split=ONCE), **options)


OPPOSITE = np.concatenate([X, -X])
WEIGHTLESS = np.concatenate([np.ones(1), np.zeros(N - 1)])
MOMENTS = sr.Moments.from_directions(sr.Directions(X), sr.Harmonics(4, 2))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: sr.profile(OPPOSITE, hierarchy=sr.Zonal("mean", 1)), "points nowhere; give an"),
        (lambda: split(sr.Directions(X, axial=True)), "axes of R.4 have no mean direction"),
        (lambda: split(MOMENTS), "moments hold no rows that could choose"),
        (lambda: split(X[:2]), "2 independent units cannot be split"),
        (lambda: split(X, design=D.Clusters(np.arange(N) % 2)), "2 independent units cannot"),
        (lambda: split(X, weights=WEIGHTLESS), "in one split have zero weight"),
        (lambda: split(X, design=D.Known(np.eye(1), 9.0)), "they cannot be split"),
        (lambda: sr.profiles(X, weights=np.ones((2, N)), hierarchy=sr.Zonal("mean", 1)),  # type: ignore[arg-type]
         "is chosen from data, which sr.profile does"),
        (lambda: principal_axes(sr.Directions(np.eye(3)), 2, "pca"), "equally long"),
        (lambda: principal_axes(sr.Directions(X), 4, "pca"), "fewer axes than the 4 dimensions"),
        (lambda: principal_axes(sr.Directions(X[:1]), 2, "pca"), "equally long"),
    ],
)  # fmt: skip
def test_data_that_cannot_be_split_or_cannot_choose(call: Callable[[], object], words: str) -> None:
    with pytest.raises(sr.SteradianError, match=words):
        call()
