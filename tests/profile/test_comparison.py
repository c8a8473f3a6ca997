"""What `compare` promises: identities, bounds, invariances, refusals, and words."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import steradian as sr
from coded import codes
from comparison_groups import gaussian, spaces, unit, vmf
from steradian.diagnostics import REFUSED, MethodCode, Verdict
from steradian.text.differences import differences

NAMES = ("circle", "sphere", "torus", "rotations", "ten", "many")


@pytest.fixture(scope="module")
def groups() -> dict[str, list[sr.Directions]]:
    return spaces(np.random.default_rng(3))


def compared(parts: list[sr.Directions], **said: object) -> sr.results.Comparison:
    named = {f"g{k}": part for k, part in enumerate(parts)}
    return sr.compare(named, **said)  # type: ignore[arg-type]


# D is good to 1e-10 (NUMERICS); sums of a few of them to 1e-9
@pytest.mark.parametrize("name", NAMES)
def test_gaps_add_up_to_the_between_group_information(
    groups: dict[str, list[sr.Directions]], name: str
) -> None:
    parts = groups[name]
    c = compared(parts)
    shares = np.array([part.n for part in parts]) / sum(part.n for part in parts)
    own = [sr.profile(part, hierarchy=c.hierarchy).deficits[-1] for part in parts]
    whole = sr.Directions(np.concatenate([p.x for p in parts]), space=parts[0].space)
    pooled = sr.profile(whole, hierarchy=c.hierarchy)
    assert c.between.sum() == pytest.approx(c.total, abs=1e-9)
    assert c.total == pytest.approx(float(shares @ own - pooled.deficits[-1]), abs=1e-9)
    assert (c.between > -1e-12).all()
    # mean Kullback-Leibler divergence to the pooled fit: E log p_g is that of the data's moments
    fit = pooled.fits[-1]
    divergence = sum(
        share * float(np.mean(sr.profile(part, hierarchy=c.hierarchy).fits[-1].logpdf(part.x)))
        - share * float(np.mean(fit.logpdf(part.x)))
        for share, part in zip(shares, parts, strict=True)
    )
    assert c.total == pytest.approx(divergence, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_a_point_tells_no_more_than_its_label(
    groups: dict[str, list[sr.Directions]], name: str
) -> None:
    c = compared(groups[name])
    known = c.label_information
    assert 0.0 <= known.value <= known.entropy + 1e-12
    assert known.value <= c.total + known.error + 1e-9  # J = JS + KL(mixture ‖ pooled)
    assert known.entropy == pytest.approx(-float(c.shares @ np.log(c.shares)))


def test_one_hundred_and_twenty_eight_dimensions() -> None:
    rng = np.random.default_rng(5)
    scales = np.linspace(1.0, 1.6, 128)
    parts = [
        sr.Directions(gaussian(n, 0.5 * k * np.eye(128)[0] + 0.1, scales, rng))
        for k, n in enumerate((300, 400))
    ]
    c = compared(parts)
    own = [sr.profile(part, levels=2) for part in parts]
    whole = sr.profile(np.concatenate([p.x for p in parts]), levels=2)
    expected = float(c.shares @ [p.deficits[-1] for p in own] - whole.deficits[-1])
    assert c.between.sum() == pytest.approx(expected, abs=1e-9)
    # mean Kullback-Leibler divergence to the pooled fit
    apart = [
        p.fits[2].logpdf(x.x) - whole.fits[2].logpdf(x.x) for p, x in zip(own, parts, strict=True)
    ]
    assert c.total == pytest.approx(float(c.shares @ [a.mean() for a in apart]), abs=1e-9)
    assert (c.between > 0.0).all()
    assert c.label_information.value <= c.label_information.entropy
    # W_1 obeys its own conditions: means of each group, second moments of the pooled sample
    fit = c.fits.fits[1]
    laws = [c.hierarchy.family(2).expectations(lam[None], c.hierarchy)[0] for lam in fit.lam[0]]
    d = 128
    assert np.abs(np.array(laws)[:, :d] - c.fits.means[:, :d]).max() < 1e-9
    assert np.abs(c.shares @ (np.array(laws) - c.fits.means)).max() < 1e-9


def test_opposite_clusters_by_brute_force() -> None:
    """J and JS of two opposite von Mises-Fisher laws against integrals on a line."""
    kappa = 10.0
    t, w = np.polynomial.legendre.leggauss(400)
    density = kappa * np.exp(kappa * (t - 1.0)) / (1.0 - np.exp(-2.0 * kappa)) * 2.0  # uniform: 1
    mixture = 0.5 * (density + density[::-1])
    js = float(0.5 * w @ (density * np.log(density / mixture)))
    mean = np.cosh(kappa) / np.sinh(kappa) - 1.0 / kappa
    h = sr.Harmonics(3, 1)
    second = float(0.5 * w @ (density * t * t))
    legendre = np.sqrt(5.0) * (1.5 * second - 0.5)
    up = np.zeros(8)
    x = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]])
    heights = sr.Harmonics(3, 2).features(x)  # which feature is the height, and its square
    up[int(np.argmax(heights[0, :3]))] = np.sqrt(3.0) * mean
    up[3 + int(np.argmax(heights[0, 3:]))] = legendre
    down = up.copy()
    down[:3] *= -1.0
    moments = {
        "up": sr.Moments.from_expectations(h, up, n=100),
        "down": sr.Moments.from_expectations(h, down, n=100),
    }
    c = sr.compare(moments)
    deficit = kappa * mean - np.log(np.sinh(kappa) / kappa)
    assert c.total == pytest.approx(deficit, abs=1e-10)  # the pooled fit is uniform
    assert c.label_information.value == pytest.approx(js, abs=1e-9)
    assert c.total > np.log(2.0) > c.label_information.value


@pytest.mark.parametrize("name", NAMES)
def test_the_same_rows_twice_do_not_differ(
    groups: dict[str, list[sr.Directions]], name: str
) -> None:
    part = groups[name][1]
    c = compared([part, part])
    # differences of deficits of order one, whose rounding is a few 1e-16
    assert np.abs(c.between).max() < 1e-12
    assert c.label_information.value == pytest.approx(0.0, abs=1e-9 + c.label_information.error)


def test_one_group_has_nothing_between() -> None:
    rng = np.random.default_rng(0)
    c = sr.compare(sr.Directions(unit(rng.normal(size=(60, 3)) + 1.0)), by=["all"] * 60)
    assert c.between.tolist() == [0.0, 0.0]
    assert c.total == 0.0
    assert c.label_information.value == 0.0
    assert "one group" in str(c).lower()
    with pytest.raises(sr.DesignError, match="one group only"):
        c.tests()


@pytest.mark.parametrize("name", NAMES)
def test_merging_identical_groups_changes_nothing(
    groups: dict[str, list[sr.Directions]], name: str
) -> None:
    a, b, _ = groups[name]
    twice = sr.Directions(np.concatenate([b.x, b.x]), space=b.space)
    split, merged = compared([a, b, b]), compared([a, twice])
    assert split.between == pytest.approx(merged.between, abs=1e-10)
    if name in {"ten", "many"}:  # a mean over draws, of the groups that there are
        return
    assert split.label_information.value == pytest.approx(merged.label_information.value, abs=1e-9)


@pytest.mark.parametrize("name", ["circle", "ten", "many"])
def test_a_common_rotation_changes_nothing_in_any_dimension(
    groups: dict[str, list[sr.Directions]], name: str
) -> None:
    parts = groups[name]
    turn = np.linalg.qr(np.random.default_rng(17).normal(size=(parts[0].d, parts[0].d)))[0]
    there = compared([sr.Directions(unit(p.x @ turn.T)) for p in parts])
    here = compared(parts)
    assert there.between == pytest.approx(here.between, abs=1e-9)
    assert there.total == pytest.approx(here.total, abs=1e-9)


def test_a_common_rotation_changes_nothing(groups: dict[str, list[sr.Directions]]) -> None:
    turn = Rotation.from_euler("xyz", [0.3, 1.1, -2.0]).as_matrix()
    parts = groups["sphere"]
    here = compared(parts)
    there = compared([sr.Directions(unit(p.x @ turn.T)) for p in parts])
    assert there.between == pytest.approx(here.between, abs=1e-9)
    assert list(there.level1.values()) == pytest.approx(list(here.level1.values()), abs=1e-9)
    few = {"replicates": 19, "permutations": 19}
    scores = [c.tests(**few).statistic for c in (here, there)]  # type: ignore[arg-type]
    assert scores[0] == pytest.approx(scores[1], rel=1e-6)
    # statistics of shuffles round differently: a tie more or less in 9,999
    assert there.tests().any_pvalue == pytest.approx(here.tests().any_pvalue, abs=2e-4)


def test_direction_and_concentration_add_up_and_mean_what_they_say() -> None:
    rng = np.random.default_rng(8)
    z, tilted = np.array([0.0, 0.0, 1.0]), np.array([0.0, 0.5, 1.0])
    a = vmf(150, z, 8.0, rng)
    turned, wider = vmf(150, tilted, 8.0, rng), vmf(150, z, 3.0, rng)
    direction = compared([sr.Directions(a), sr.Directions(turned)])
    concentration = compared([sr.Directions(a), sr.Directions(wider)])
    for c in (direction, concentration):
        assert sum(c.level1.values()) == pytest.approx(float(c.between[0]), abs=1e-12)
        assert min(c.level1.values()) > -1e-12
    assert direction.tests().parts["direction"] < 1e-6 < direction.tests().parts["concentration"]
    assert concentration.tests().parts["concentration"] < 1e-6
    assert concentration.tests().parts["direction"] > 0.01
    found = {one.name: one.sure for one in differences(direction, direction.tests())}
    assert found["direction"] is Verdict.CLEAR


def test_a_pooled_mean_of_no_direction_is_not_split() -> None:
    rng = np.random.default_rng(9)
    up = vmf(300, np.array([0.0, 0.0, 1.0]), 8.0, rng)
    c = compared([sr.Directions(up), sr.Directions(-up)])
    assert c.level1 == {}
    assert "level_one_not_split" in codes(c.tests())


def test_many_groups_are_the_loop() -> None:
    rng = np.random.default_rng(2)
    x = unit(rng.normal(size=(80 * 30, 3)) + 0.7)
    by = np.repeat(np.arange(80), 30)
    c = sr.compare(sr.Directions(x), by=by)
    loop = [sr.profile(x[by == g], levels=2).deficits for g in map(int, c.names)]
    assert c.sample.groups.deficits == pytest.approx(np.array(loop), abs=1e-10)
    assert c.between.sum() == pytest.approx(c.total, abs=1e-9)
    assert np.isfinite(c.tests().any_pvalue)
    order = rng.permutation(len(x))  # groups whose rows lie anywhere, of any sizes
    mixed = sr.compare(sr.Directions(x[order]), by=by[order])
    assert mixed.between == pytest.approx(c.between, abs=1e-10)
    uneven = sr.compare(sr.Directions(x[17:]), by=by[17:])
    assert uneven.sample.groups.deficits[1:] == pytest.approx(np.array(loop[1:]), abs=1e-10)


def test_moments_and_rows_tell_the_same() -> None:
    rng = np.random.default_rng(4)
    parts = {
        "a": sr.Directions(vmf(300, np.array([0.0, 0.0, 1.0]), 4.0, rng)),
        "b": sr.Directions(vmf(200, np.array([0.0, 0.3, 1.0]), 4.0, rng)),
    }
    h = sr.Harmonics(3, 2)
    rows = sr.compare(parts, hierarchy=h)
    sums = sr.compare([sr.Moments.from_directions(p, h) for p in parts.values()])
    assert sums.between == pytest.approx(rows.between, abs=1e-10)
    assert sums.noise == pytest.approx(rows.noise, rel=1e-6)
    assert sums.intervals().se == pytest.approx(rows.intervals().se, rel=1e-6)
    assert np.isnan(sums.tests().any_pvalue)
    assert sums.tests().overall_method == REFUSED
    # the same score, referred to an empirical covariance instead of a tilted one
    assert sums.tests().statistic == pytest.approx(rows.tests().statistic, rel=1e-6)
    assert (
        (sums.tests().pvalue < 1e-3).tolist()
        == (rows.tests().pvalue < 1e-3).tolist()
        == [True, False]
    )


def test_equal_shares_forget_sizes() -> None:
    rng = np.random.default_rng(6)
    a = sr.Directions(vmf(100, np.array([0.0, 0.0, 1.0]), 4.0, rng))
    b = sr.Directions(vmf(300, np.array([0.0, 1.0, 1.0]), 4.0, rng))
    more = sr.Directions(np.concatenate([b.x, b.x]))
    here, there = compared([a, b], shares="equal"), compared([a, more], shares="equal")
    assert here.shares.tolist() == [0.5, 0.5]
    assert there.between == pytest.approx(here.between, abs=1e-10)
    assert compared([a, more]).between != pytest.approx(compared([a, b]).between, rel=1e-3)


def test_groups_too_small_are_named_and_left_out() -> None:
    rng = np.random.default_rng(1)
    x = unit(rng.normal(size=(202, 3)) + 0.5)
    by = ["big"] * 100 + ["other"] * 100 + ["tiny"] * 2
    c = sr.compare(sr.Directions(x), by=by)
    assert c.names == ("big", "other")
    assert c.left_out["tiny"].level == 2
    assert "tiny is left out" in str(c)
    assert c.shares.tolist() == [0.5, 0.5]


def test_what_is_not_valid_is_refused_with_the_reason() -> None:
    rng = np.random.default_rng(1)
    x, by = sr.Directions(unit(rng.normal(size=(200, 3)) + 0.5)), ["a"] * 100 + ["b"] * 100
    c = sr.compare(x, by=by)
    with pytest.raises(sr.DesignError, match="supposes that the groups do not differ"):
        c.tests("permutation")
    assert np.isfinite(sr.compare(x, by=by, levels=1).tests("permutation").pvalue).all()
    weighted = sr.compare(sr.Directions(x.x, rng.random(200)), by=by)
    with pytest.raises(sr.DesignError, match="descriptive"):
        weighted.tests()
    assert np.isfinite(weighted.between).all()
    assert "design=" in str(weighted)
    with pytest.raises(sr.InvalidArgument, match="names a column"):
        sr.compare(x, by="season")
    with pytest.raises(sr.InvalidArgument, match="give rows with by="):
        sr.compare(x)
    with pytest.raises(sr.DesignError, match=r"one per row, \(200,\)"):
        sr.compare(x, by=["a", "b"])
    with pytest.raises(sr.InvalidArgument, match="shares is 'even'"):
        sr.compare(x, by=by, shares="even")


def test_clusters_of_several_groups_are_compared_within_themselves() -> None:
    rng = np.random.default_rng(7)
    x = sr.Directions(unit(rng.normal(size=(240, 3)) + 0.5))
    ids = np.arange(240) // 4  # two rows of each group in every cluster
    c = sr.compare(x, by=np.tile(["a", "a", "b", "b"], 60), design=sr.designs.Clusters(ids))
    tests = c.tests()
    assert tests.any_pvalue > 0.001
    assert tests.overall_method.code is MethodCode.PERMUTATION_WITHIN
    assert {method.code for method in tests.methods} == {MethodCode.SIGNS_WITHIN}
    assert np.isfinite(tests.pvalue).all()


def test_pairs_frames_and_records(groups: dict[str, list[sr.Directions]]) -> None:
    c = compared(groups["sphere"])
    pairs = c.pairs()
    assert pairs.distance == pytest.approx(pairs.distance.T)
    assert (pairs.distance <= np.sqrt(np.log(2.0))).all()
    assert (np.diag(pairs.distance) == 0.0).all()
    assert (pairs.pvalue_holm[0, 1:] >= pairs.pvalue[0, 1:]).all()
    record = json.loads(json.dumps(c.to_dict()))
    assert record["between"] == c.between.tolist()
    assert record["label_information"]["share"] <= 1.0
    frame = c.to_frame()
    assert frame["between"].tolist() == c.between.tolist()
    assert "pvalue_holm" in frame
    assert list(c.groups) == ["g0", "g1", "g2"]
    assert c.groups["g1"].n == 140
    with pytest.raises(KeyError):
        c.groups["nobody"]
    lines = str(c).splitlines()
    assert len(lines) <= 40
    assert max(map(len, lines)) <= 80


def test_gaps_do_not_feel_a_rotation_of_one_group() -> None:
    rng = np.random.default_rng(12)
    a = vmf(300, np.array([0.0, 0.0, 1.0]), 5.0, rng)
    turned = sr.Directions(a @ Rotation.from_euler("x", 1.0).as_matrix().T)
    found = compared([sr.Directions(a), turned], levels=2).gap_differences()
    assert np.abs(found.difference).max() < 1e-9
    sharper = sr.Directions(vmf(300, np.array([0.0, 0.0, 1.0]), 20.0, rng))
    found = compared([sr.Directions(a), sharper]).gap_differences()
    assert found.pvalue[0, 0] < 1e-6
    assert found.pairs == (("g0", "g1"),)


def test_a_table_with_a_label_column() -> None:
    pd = pytest.importorskip("pandas")
    rng = np.random.default_rng(13)
    lon = np.concatenate([rng.normal(20, 10, 100), rng.normal(40, 10, 120)])
    table = pd.DataFrame(
        {"lon": lon, "lat": rng.normal(0, 10, 220), "kind": ["a"] * 100 + ["b"] * 120}
    )
    c = sr.compare(table, by="kind")
    assert c.names == ("a", "b")
    assert c.sizes.tolist() == [100, 120]
    assert c.tests().parts["direction"] < 1e-6


def test_the_picture_says_what_it_shows(groups: dict[str, list[sr.Directions]]) -> None:
    plt = pytest.importorskip("matplotlib.pyplot")
    c = compared(groups["sphere"])
    ax = c.plot()
    assert "C_l" in ax.get_ylabel()
    assert ax.get_title(loc="left")
    other = ax.figure.axes[1]
    assert other.get_legend().get_texts()[0].get_text().startswith("g0")
    assert c.plot(ax) is ax
    plt.close("all")


def test_groups_that_are_strata_have_nothing_to_shuffle() -> None:
    """P-values of shuffles that are all the same were decided by the rounding of sums."""
    rng, region = np.random.default_rng(2), np.repeat(["north", "south", "east"], 40)
    rows = sr.Directions.from_angles(rng.vonmises(0, 1, 120), weights=np.ones(120))
    design = sr.designs.Survey(np.arange(120), strata=region)
    found = sr.compare(rows, by=region.tolist(), levels=2, design=design).tests()
    assert np.isnan(found.any_pvalue)
    assert "strata_of_one_group" in codes(found)
    assert np.isfinite(found.pvalue).all()


def test_two_strata_of_one_group_beside_others_leave_their_pair_open() -> None:
    rng, groups = np.random.default_rng(2), np.repeat(["a", "b", "c"], 30)
    strata = np.repeat([0, 1, 2, 1], [30, 15, 15, 30])  # a alone; b with c and alone
    rows = sr.Directions.from_angles(rng.vonmises(0, 1, 90), weights=np.ones(90))
    design = sr.designs.Survey(np.arange(90), strata=strata)
    pairs = sr.compare(rows, by=groups.tolist(), levels=1, design=design).pairs()
    a, b, c = (pairs.names.index(name) for name in "abc")
    assert np.isnan([pairs.pvalue[a, b], pairs.pvalue_holm[a, b]]).all()
    assert np.isfinite(pairs.pvalue_holm[b, c])


def test_means_of_groups_in_one_plane_are_compared_within_it() -> None:
    rng = np.random.default_rng(1)
    lon = np.r_[rng.normal(0, 20, 12), rng.normal(90, 20, 12)]
    labels = ["A"] * 12 + ["B"] * 12
    flat = sr.compare(
        sr.Directions.from_lonlat(lon, np.zeros(24), degrees=True), by=labels, levels=1
    )
    plane = sr.compare(sr.Directions.from_angles(lon, degrees=True), by=labels, levels=1)
    np.testing.assert_allclose(flat.tests().pvalue, plane.tests().pvalue, rtol=1e-9)


def test_a_group_of_two_values_has_no_covariance_in_any_frame() -> None:
    angles = np.array([90, 180, 90, 180, 180, 0, 45, 0, 45, 45.0])
    for turn in (0.0, 20.0, 40.0):
        rows = sr.Directions.from_angles(angles + turn, degrees=True)
        found = sr.compare(rows, by=["A"] * 5 + ["B"] * 5, levels=1).tests()
        assert np.isnan(found.pvalue[0])
        assert "group_without_spread" in codes(found, 1)
