"""Designs: units, rates, covariances by their formulas, and what is refused."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from numpy.typing import NDArray

import steradian as sr
from steradian.designs import as_design
from steradian.designs.base import Units, unit_labels, unit_names
from steradian.errors import DesignError, InvalidDirections
from steradian.numerics.arrays import Array, IntArray

N = 90
RNG = np.random.default_rng(11)
X = RNG.normal([0.4, 0.0, 0.8], 1.0, (N, 3))
X /= np.linalg.norm(X, axis=1, keepdims=True)
W = RNG.gamma(1.5, size=N)
IDS = RNG.integers(0, 17, N)
PHI = np.hstack([X, X[:, :1] * X, X[:, 1:2] ** 2, np.exp(X[:, 2:])])  # any columns will do


def rows(weights: Array | None = None) -> sr.Directions:
    return sr.Directions(X, weights)


def moment_variance(units: Units, values: Array) -> Array:
    """Σ_u c_u g_u g_uᵀ."""
    g = units.contributions(values, units.weights @ values)
    return np.asarray(g.T @ (np.broadcast_to(units.factor, units.count)[:, None] * g))


def check_variances(units: Units, want: Array) -> None:
    """The whole matrix, and the diagonal as `Units.variance` gives it."""
    np.testing.assert_allclose(moment_variance(units, PHI), want, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(units.variance(PHI), np.diag(want), rtol=1e-11)


# --- units, rates and covariances ---------------------------------------------------------


def test_iid() -> None:
    units = sr.designs.IID().units(rows())
    assert (units.count, units.labels) == (N, None)
    assert units.rate == pytest.approx(np.sqrt(N))
    assert units.fixed_weights
    assert not units.random_weights
    np.testing.assert_allclose(units.weights, 1.0 / N)
    check_variances(units, np.cov(PHI.T, bias=True) / N)


def test_iid_takes_weights_that_are_all_equal() -> None:
    units = sr.designs.IID().units(rows(np.full(N, 0.3)))
    assert units.rate == pytest.approx(np.sqrt(N))
    np.testing.assert_allclose(units.weights, 1.0 / N, rtol=1e-14)


def test_fixed_weights() -> None:
    units = sr.designs.FixedWeights().units(rows(W))
    w = W / W.sum()
    away = PHI - w @ PHI
    assert (units.count, units.labels, units.fixed_weights) == (N, None, True)
    assert units.rate == pytest.approx((w**2).sum() ** -0.5, rel=1e-13)
    sigma = np.einsum("i,ij,ik->jk", w**2, away, away) / (w**2).sum()
    check_variances(units, sigma / units.rate**2)


def test_fixed_weights_that_are_equal_are_iid() -> None:
    fixed = sr.designs.FixedWeights().units(rows())
    assert fixed.rate == pytest.approx(np.sqrt(N), rel=1e-13)
    check_variances(fixed, np.cov(PHI.T, bias=True) / N)


def test_importance() -> None:
    units = sr.designs.Importance().units(rows(W))
    w = W / W.sum()
    away = PHI - w @ PHI
    assert units.count == N
    assert units.rate == pytest.approx(np.sqrt(N))
    assert units.random_weights
    sigma = np.einsum("i,ij,ik->jk", (N * w) ** 2, away, away) / N
    check_variances(units, sigma / N)


def cluster_sums(ids: Any, w: Array, values: Array) -> dict[Any, Array]:
    away = w[:, None] * (values - w @ values)
    return {name: away[np.asarray(ids) == name].sum(axis=0) for name in np.unique(ids)}


@pytest.mark.parametrize("weighted", [False, True])
def test_clusters(weighted: bool) -> None:
    w = W / W.sum() if weighted else np.full(N, 1.0 / N)
    units = sr.designs.Clusters(IDS).units(rows(W if weighted else None))
    count = len(np.unique(IDS))
    assert (units.count, units.dof, units.random_weights) == (count, count - 1, True)
    assert units.rate == pytest.approx(np.sqrt(count))
    sums = np.array(list(cluster_sums(IDS, w, PHI).values()))
    check_variances(units, count / (count - 1.0) * sums.T @ sums)
    weight = [w[np.unique(IDS)[k] == IDS].sum() for k in range(count)]
    np.testing.assert_allclose(units.unit_weights, weight, rtol=1e-12)


NAMES = np.array([f"site {k}" for k in IDS])


@pytest.mark.parametrize(
    "ids",
    [
        NAMES,
        NAMES.tolist(),
        NAMES.astype(object),
        IDS * 1.5,
        pd.Series(NAMES),
        pd.Series(NAMES, dtype="category"),
        pl.Series(NAMES.tolist()),
        np.array("2026-01-01", dtype="datetime64[D]") + IDS,
    ],
)
def test_ids_of_any_type(ids: Any) -> None:
    want = sr.designs.Clusters(IDS).units(rows(W))
    got = sr.designs.Clusters(ids).units(rows(W))
    assert got.count == want.count
    np.testing.assert_allclose(got.variance(PHI), want.variance(PHI), rtol=1e-12)


@pytest.mark.parametrize("batch", [3, 4])
def test_chain_batches(batch: int) -> None:
    units = sr.designs.Chain(batch=batch).units(rows(W))
    w = W / W.sum()
    away = w[:, None] * (PHI - w @ PHI)
    count = N // batch
    edges = [-(-k * N // count) for k in range(count + 1)]  # stretches as even as can be
    means = np.array([away[a:b].sum(axis=0) for a, b in itertools.pairwise(edges)])
    assert min(np.diff(edges)) >= batch
    assert (units.count, units.dof) == (count, count - 1)
    assert units.rate == pytest.approx(np.sqrt(N))
    check_variances(units, count / (count - 1.0) * means.T @ means)


def test_chains_are_never_cut_across() -> None:
    chains = np.arange(N) % 3  # three chains, interleaved
    units = sr.designs.Chain(chains, batch=4).units(rows())
    assert units.labels is not None
    assert units.count == 3 * (30 // 4)
    for unit in range(units.count):
        members = np.flatnonzero(units.labels == unit)
        assert len(members) >= 4
        assert len(set(chains[members])) == 1
        assert (np.diff(members) == 3).all()


def test_the_default_batch_grows_with_the_dependence() -> None:
    """An autoregressive angle of time constant (1 + ρ) / (1 - ρ) = 39 against white noise."""
    noise = np.random.default_rng(5).standard_normal(20_000)
    steps = np.zeros(20_000)
    for k in range(1, 20_000):
        steps[k] = 0.95 * steps[k - 1] + 0.2 * noise[k]
    slow = sr.designs.Chain().units(sr.Directions.from_angles(steps))
    fast = sr.designs.Chain().units(sr.Directions.from_angles(noise))
    slow_length, fast_length = 20_000 / slow.count, 20_000 / fast.count
    assert 100 < slow_length < 400  # about five times 39
    assert fast_length < 40
    batch_variance = slow.variance(np.sin(steps)[:, None])[0]
    want = 39.0 * np.var(np.sin(steps)) / 20_000  # sin is nearly linear here
    assert 0.6 < batch_variance / want < 1.5


def survey_variance(psu: Any, strata: Any, fraction: Array | float, w: Array) -> Array:
    """Linearised, between primary units within strata, stratum by stratum."""
    away = w[:, None] * (PHI - w @ PHI)
    share = np.broadcast_to(fraction, len(w))
    total = np.zeros((PHI.shape[1], PHI.shape[1]))
    for stratum in np.unique(strata):
        inside = np.asarray(strata) == stratum
        names = np.unique(np.asarray(psu)[inside])
        sums = np.array([away[inside & (np.asarray(psu) == k)].sum(axis=0) for k in names])
        sums -= sums.mean(axis=0)
        size = len(names)
        total += (1.0 - share[inside][0]) * size / (size - 1.0) * sums.T @ sums
    return total


STRATA = np.array(["north", "south", "west"])[np.arange(N) % 3]
PSU = np.arange(N) // 9  # the same numbers occur in every stratum and mean different units


@pytest.mark.parametrize("fraction", [None, 0.25, "by stratum"])
def test_survey(fraction: Any) -> None:
    shares = {"north": 0.1, "south": 0.5, "west": 0.0}
    given = np.array([shares[s] for s in STRATA]) if fraction == "by stratum" else fraction
    units = sr.designs.Survey(PSU, STRATA, given).units(rows(W))
    assert (units.count, units.dof) == (30, 27)
    assert units.rate == pytest.approx(np.sqrt(30))
    want = survey_variance(PSU, STRATA, 0.0 if given is None else given, W / W.sum())
    check_variances(units, want)


def test_survey_without_strata_is_clusters() -> None:
    units = sr.designs.Survey(psu=IDS).units(rows(W))
    count = len(np.unique(IDS))
    assert (units.count, units.dof) == (count, count - 1)
    np.testing.assert_allclose(
        units.variance(PHI), sr.designs.Clusters(IDS).units(rows(W)).variance(PHI), rtol=1e-11
    )


def test_survey_of_single_rows() -> None:
    units = sr.designs.Survey(strata=STRATA).units(rows(W))
    assert (units.count, units.dof) == (N, N - 3)
    check_variances(units, survey_variance(np.arange(N), STRATA, 0.0, W / W.sum()))


@pytest.mark.parametrize(
    "design",
    [
        "fixed",
        "importance",
        sr.designs.Clusters(IDS),
        sr.designs.Chain(batch=3),
        sr.designs.Survey(PSU, STRATA),
    ],
)
def test_the_scale_of_weights_does_not_matter(design: Any) -> None:
    plain, scaled = (sr.profile(X, weights=k * W, levels=2, design=design) for k in (1.0, 1e7))
    np.testing.assert_allclose(plain.intervals().se, scaled.intervals().se, rtol=1e-8)


# --- refusals -----------------------------------------------------------------------------


def refuse(design: Any, match: str, weights: Array | None = None) -> None:
    with pytest.raises(DesignError, match=match):
        sr.profile(X, weights=weights, levels=1, design=design)


@pytest.mark.parametrize(
    "make",
    [
        sr.designs.Clusters,
        sr.designs.Chain,
        sr.designs.Survey,
        lambda ids: sr.designs.Survey(strata=ids),
    ],
)
def test_ids_that_cannot_be(make: Callable[[Any], Any]) -> None:
    refuse(make(IDS[:-1]), rf"ids have shape \({N - 1},\); give one per row, \({N},\)")
    refuse(make(np.stack([IDS, IDS], axis=1)), rf"ids have shape \({N}, 2\)")
    missing: list[Any] = NAMES.tolist()
    missing[7] = None
    refuse(make(missing), "row 7 has no .* id; give every row one")
    floats = IDS.astype(float)
    floats[4] = np.nan
    refuse(make(floats), "row 4 has no .* id")
    refuse(make(pd.Series(missing)), "row 7 has no .* id")
    refuse(make("site"), "'site' names a column, but the data are not a table; pass ids")


def test_a_nan_among_strings_is_missing() -> None:
    """In a plain list; NumPy alone makes it the string 'nan' (known failure)."""
    missing: list[Any] = NAMES.tolist()
    missing[7] = float("nan")
    refuse(sr.designs.Clusters(missing), "row 7 has no cluster id")


@pytest.mark.parametrize(
    "ids",
    [
        pd.array([*IDS[:-1].tolist(), None], dtype="Int64"),
        pd.array([*NAMES[:-1].tolist(), None], dtype="string"),
        pd.array([*NAMES[:-1].tolist(), pd.NA], dtype="object"),
    ],
)
def test_a_missing_value_of_pandas_is_missing(ids: Any) -> None:
    refuse(sr.designs.Clusters(pd.Series(ids)), f"row {N - 1} has no cluster id")
    frame = pd.DataFrame({"x": X[:, 0], "y": X[:, 1], "z": X[:, 2], "site": ids})
    with pytest.raises(DesignError, match=f"row {N - 1} has no cluster id"):
        sr.profile(frame, levels=1, design=sr.designs.Clusters("site"))


def test_a_missing_date_is_missing() -> None:
    dates = np.array("2026-01-01", dtype="datetime64[D]") + IDS
    dates[3] = np.datetime64("NaT")
    refuse(sr.designs.Clusters(dates), "row 3 has no cluster id")


def test_too_few_units() -> None:
    refuse(sr.designs.Clusters(np.zeros(N)), "only one cluster.*give finer clusters")
    lonely = np.where(PSU == 0, "islands", "land")
    refuse(
        sr.designs.Survey(PSU, lonely),
        "stratum islands has a single primary unit.*merge it with a similar stratum",
    )
    refuse(sr.designs.Survey(np.zeros(N)), "stratum has a single primary unit")
    refuse(sr.designs.Chain(batch=10), "hold only 9 stretches of 10; run the chain longer")


@pytest.mark.parametrize("batch", [0, -2, N // 2 + 1])
def test_impossible_batches(batch: int) -> None:
    refuse(sr.designs.Chain(batch=batch), f"batch is {batch}; give 1 to half the {N} rows")


@pytest.mark.parametrize("fraction", [-0.1, 1.0, np.nan, np.full(N - 1, 0.5)])
def test_impossible_fractions(fraction: Any) -> None:
    refuse(
        sr.designs.Survey(PSU, STRATA, fraction), f"fraction: give {N} numbers from 0 up to, not"
    )


def test_a_named_fraction_without_a_table() -> None:
    refuse(sr.designs.Survey(PSU, STRATA, "share"), "'share' names a column")


def test_weights_and_designs_that_disagree() -> None:
    refuse("iid", "means equal weights.*'fixed', 'importance', Clusters", W)
    refuse("importance", "needs weights: the ratios target / proposal")


@pytest.mark.parametrize(
    ("weighted", "design", "match"),
    [(True, "iid", "means equal weights"), (False, "importance", "needs weights")],
)
def test_weights_and_designs_that_disagree_in_sums(weighted: bool, design: str, match: str) -> None:
    """Sums tell too whether the weights were equal (known failure: nothing is checked)."""
    moments = sr.Moments.from_directions(rows(W if weighted else None), sr.Harmonics(3, 2))
    with pytest.raises(DesignError, match=match):
        sr.profile(moments, design=design).tests()


def test_negative_weights() -> None:
    bad = W.copy()
    bad[5] = -0.5
    with pytest.raises(InvalidDirections, match=r"row 5 is -0\.5; weights must not be negative"):
        sr.profile(X, weights=bad, design="fixed")


def test_names() -> None:
    refuse("bayes", "design is 'bayes'; choose iid, fixed, importance, chain, descriptive, clus")
    refuse("clusters", r"design 'clusters' needs data: pass sr\.designs\.Clusters\(ids\)")
    refuse("survey", r"needs data: pass sr\.designs\.Survey\(psu=\.\.\., strata=\.\.\.\)")
    refuse("known", r"needs data: pass sr\.designs\.Known\(covariance, rate\)")
    for name in ("iid", "fixed", "importance", "chain", "descriptive"):
        assert as_design(name, weighted=True).name == name
        assert as_design(name, weighted=True).sentence
    with pytest.raises(DesignError, match="choose"):
        sr.profile(sr.Moments.from_directions(rows(), sr.Harmonics(3, 1)), design="nonsense")


@pytest.mark.parametrize(
    ("covariance", "rate", "match"),
    [
        (np.eye(8)[:7], 3.0, r"shape \(7, 8\); give a finite square matrix"),
        (np.ones(8), 3.0, r"shape \(8,\)"),
        (np.full((8, 8), np.nan), 3.0, "finite square matrix"),
        (np.eye(8) + np.triu(np.ones((8, 8)), 1), 3.0, "not symmetric"),
        (np.diag([1.0] * 7 + [-0.1]), 3.0, "negative eigenvalue"),
        (np.eye(8), 0.0, "rate is 0; give a_n > 0"),
        (np.eye(8), -1.0, "rate is -1"),
        (np.eye(8), np.nan, "rate is nan"),
        (np.eye(8), "x", "rate is 'x'; give a_n > 0"),
        (np.zeros((8, 8)), 3.0, "covariance is zero"),
    ],
)
def test_known_covariances_are_checked(covariance: Array, rate: float, match: str) -> None:
    refuse(sr.designs.Known(covariance, rate), match)


def test_a_known_covariance_of_another_size() -> None:
    design = sr.designs.Known(np.eye(5), 3.0)
    moments = sr.Moments.from_directions(rows(), sr.Harmonics(3, 2))
    for data in (X, moments):
        with pytest.raises(DesignError, match="covariance has 5 rows; the 2 levels have 8 feat"):
            sr.profile(data, levels=2, design=design)


def test_a_known_covariance_where_fewer_levels_exist() -> None:
    """Four places on the circle: level 4 would be the default, level 3 is the last that exists."""
    theta = np.repeat([0.0, 1.0, 2.5, 4.0], 30)
    x = np.stack([np.cos(theta), np.sin(theta)], axis=1)
    p = sr.profile(x, design=sr.designs.Known(np.eye(8), 11.0))
    assert len(p.levels) < 4
    assert p.tests().pvalue.shape == p.gaps.shape


def test_a_known_covariance_has_no_units() -> None:
    p = sr.profile(X, levels=2, design=sr.designs.Known(np.eye(8), 3.0))
    for ask in (lambda: sr.bootstrap(p), lambda: sr.choose_order(p)):
        with pytest.raises(DesignError, match=f"says nothing about single rows .n = {N}."):
            ask()
    for options in ({"covariance": "tilted"}, {"method": "bootstrap"}):
        with pytest.raises(DesignError, match="need the rows of a design with units"):
            p.tests(**options)  # type: ignore[arg-type]
    assert p.tests().rate == 3.0


def test_a_known_covariance_in_higher_dimension() -> None:
    """Four dimensions: 4 + 9 features, of which level 2 is tested in another basis."""
    x = np.random.default_rng(2).standard_normal((400, 4))
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    p = sr.profile(x, levels=2, design=sr.designs.Known(np.eye(13), 20.0))
    with pytest.raises(
        DesignError, match="too many features for matrices of them: it is tested from the rows"
    ):
        p.tests()
    one = sr.profile(x, levels=1, design=sr.designs.Known(np.eye(4), 20.0)).tests()
    plain = sr.profile(x, levels=1).tests(null="model")
    np.testing.assert_allclose(one.pvalue, plain.pvalue, rtol=1e-8)
    got = p.intervals(method="wald")  # unit covariance: se = |γ| / a
    first, second = p.fits[1].lam, p.fits[2].lam
    step = second - np.concatenate([first, np.zeros(9)])
    np.testing.assert_allclose(
        got.se, [np.linalg.norm(first) / 20.0, np.linalg.norm(step) / 20.0], rtol=1e-9
    )


# --- descriptive and defaults -------------------------------------------------------------


@pytest.mark.parametrize("given", [None, "descriptive", sr.designs.Descriptive()])
def test_descriptive_defines_no_errors_and_names_the_choices(given: Any) -> None:
    p = sr.profile(X, weights=W, levels=2, design=given)
    assert p.design.name == "descriptive"
    asks: list[Callable[[], Any]] = [
        p.tests, p.intervals, p.uniformity,
        lambda: sr.bootstrap(p), lambda: sr.bootstrap(p, "parametric"),
        lambda: sr.choose_order(p),
    ]  # fmt: skip
    for ask in asks:
        with pytest.raises(DesignError, match="defines no p-value or standard error") as caught:
            ask()
        for name in ("'iid'", "'fixed'", "'importance'", "'chain'", "Clusters", "Survey", "Known"):
            assert name in str(caught.value)


def test_descriptive_moments() -> None:
    moments = sr.Moments.from_directions(rows(W), sr.Harmonics(3, 2))
    p = sr.profile(moments)
    for ask in (p.tests, p.intervals, p.uniformity, lambda: sr.bootstrap(p)):
        with pytest.raises(DesignError, match="defines no p-value"):
            ask()


def test_defaults() -> None:
    assert sr.profile(X, levels=1).design.name == "iid"
    assert sr.profile(X, weights=W, levels=1).design.name == "descriptive"
    assert sr.profile(rows(W), levels=1).design.name == "descriptive"
    h = sr.Harmonics(3, 1)
    assert sr.profile(sr.Moments.from_directions(rows(), h)).design.name == "iid"
    assert sr.profile(sr.Moments.from_directions(rows(W), h)).design.name == "descriptive"
    report = sr.profile(X, levels=1, design=sr.designs.Clusters(IDS)).to_dict()
    assert report["design"] == "clusters"
    assert "G / (G - 1)" in report["design_sentence"]


@pytest.mark.parametrize(
    "design", [sr.designs.Clusters(IDS), sr.designs.Chain(), sr.designs.Survey(PSU, STRATA)]
)
def test_sums_cannot_serve_designs_of_rows(design: Any) -> None:
    moments = sr.Moments.from_directions(rows(), sr.Harmonics(3, 2))
    with pytest.raises(DesignError, match=r"needs the rows, and these are moments; profile the"):
        sr.profile(moments, design=design)


def test_sums_have_no_rows_to_draw_again() -> None:
    p = sr.profile(sr.Moments.from_directions(rows(), sr.Harmonics(3, 2)))
    for ask in (lambda: sr.bootstrap(p), lambda: sr.choose_order(p)):
        with pytest.raises(DesignError, match=r"made from moments.*profile the directions instead"):
            ask()


# --- tables -------------------------------------------------------------------------------


def table(library: Any) -> Any:
    return library.DataFrame(
        {
            "x": X[:, 0],
            "y": X[:, 1],
            "z": X[:, 2],
            "site": NAMES.tolist(),
            "w": W,
            "stratum": STRATA.tolist(),
            "psu": PSU,
            "share": np.where(STRATA == "west", 0.5, 0.1),
        }
    )


@pytest.mark.parametrize("library", [pd, pl])
def test_columns_are_found_by_name(library: Any) -> None:
    frame = table(library)
    got = sr.profile(frame, weights="w", levels=2, design=sr.designs.Clusters("site"))
    want = sr.profile(X, weights=W, levels=2, design=sr.designs.Clusters(IDS))
    np.testing.assert_allclose(got.intervals().se, want.intervals().se, rtol=1e-12)
    named = sr.designs.Survey("psu", "stratum", "share")
    units = sr.profile(frame, weights="w", levels=1, design=named).design.units(rows(W))
    share = np.where(STRATA == "west", 0.5, 0.1)
    check_variances(units, survey_variance(PSU, STRATA, share, W / W.sum()))
    chains = sr.profile(frame, levels=1, design=sr.designs.Chain("stratum", batch=4)).design
    assert chains.units(rows()).count == 3 * 7


def test_columns_that_are_not_there() -> None:
    with pytest.raises(InvalidDirections, match="no column 'place'; the table has x, y, z, site"):
        sr.profile(table(pd), levels=1, design=sr.designs.Clusters("place"))


def test_ids_beside_a_table() -> None:
    got = sr.profile(table(pd), levels=1, design=sr.designs.Clusters(IDS))
    want = sr.profile(X, levels=1, design=sr.designs.Clusters(IDS))
    np.testing.assert_allclose(got.tests().pvalue, want.tests().pvalue, rtol=1e-12)


def labels_of(units: Units) -> IntArray:
    assert units.labels is not None
    return units.labels


def test_gather_adds_within_units() -> None:
    units = sr.designs.Clusters(IDS).units(rows())
    sums = units.gather(PHI)
    for unit in range(units.count):
        np.testing.assert_allclose(sums[unit], PHI[labels_of(units) == unit].sum(axis=0))


@pytest.mark.parametrize("design", [["iid"], {}, 3])
def test_what_is_no_design_is_refused_in_words(design: object) -> None:
    with pytest.raises(DesignError, match=r"give a name or an object of sr\.designs"):
        sr.profile(X, design=design)  # type: ignore[call-overload]


@pytest.mark.parametrize("batch", ["a", 2.5])
def test_lengths_of_stretches_are_whole_numbers(batch: object) -> None:
    with pytest.raises(sr.InvalidArgument, match=r"batch is .*; give a whole number"):
        sr.profile(X, levels=1, design=sr.designs.Chain(batch=batch))  # type: ignore[arg-type]


def test_a_chain_is_cut_by_the_slowest_of_the_features_that_are_asked_about() -> None:
    """A walk on the triple angle, thrown to any of three symmetric places: x forgets at once."""
    rng = np.random.default_rng(3)
    walk = np.cumsum(rng.normal(0.0, 0.3, 3000)) / 3.0
    angle = walk + 2.0 * np.pi / 3.0 * rng.integers(0, 3, 3000)
    chain = sr.Directions.from_angles(angle)
    design = sr.designs.Chain()
    low = design.units_for(chain, sr.Harmonics(2, 2).features)
    high = design.units_for(chain, sr.Harmonics(2, 3).features)
    assert design.units(chain).count == low.count
    assert high.count < low.count / 4
    p = sr.profile(chain, levels=1, design="chain")
    assert p.as_sample().units.count == high.count, "residuals look at degree 3 too"


def test_a_chain_in_many_dimensions_is_cut_by_its_axis() -> None:
    """Signs are drawn afresh, so x forgets at once and xxᵀ does not."""
    rng = np.random.default_rng(4)
    steps = rng.normal(size=(3000, 9))
    for k in range(1, 3000):
        steps[k] = 0.97 * steps[k - 1] + rng.normal(size=9)
    x = rng.choice([-1.0, 1.0], (3000, 1)) * steps
    rows = sr.Directions(x, normalize=True)
    with pytest.raises(DesignError, match="so dependent that 3000 of them hold only"):
        sr.designs.Chain().units(rows)


@pytest.mark.parametrize(
    "ids",
    [
        np.array([7, -3, 7, 9, -3]),
        np.array([200, 3, 3, 255], dtype=np.uint8),
        np.array([2**62, -(2**62), 0]),
        np.array(["b", "a", "b"]),
    ],
)
def test_labels_are_numbered_in_order(ids: NDArray[Any]) -> None:
    labels = unit_labels(ids, len(ids), "group")
    seen, codes = np.unique(ids, return_inverse=True)
    np.testing.assert_array_equal(labels, codes)
    np.testing.assert_array_equal(unit_names(ids, labels), seen)
