"""The printed profile: what was found in words, every number there, and it fits a screen."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest

import steradian as sr
from coded import PARAMETRIC, coded, codes
from steradian.cli.output import profile_record
from steradian.diagnostics import NOT_COMPUTED, Diagnostic, Verdict
from steradian.inference.effort import SOON
from steradian.inference.gap_tests import holm
from steradian.numerics.arrays import Array
from steradian.report.profile_page import level_rows
from steradian.text.levels import LevelTable, findings
from steradian.text.numbers import digits, pvalue_number

JARGON = "moment body", "condition", "nodes", "margin", "residual", "quad.err"


def profile_of(name: str, levels: int | None = None) -> sr.results.Profile:
    return sr.profile(sr.examples.load(name), levels=levels)


@cache
def with_pvalues(name: str) -> sr.results.Profile:
    """One whose p-values are all known; it remembers them."""
    profile = profile_of(name)
    profile.tests()
    return profile


def stopped_profile() -> sr.results.Profile:
    """Three points on a circle: levels 1 and 2 exist, level 3 does not."""
    return sr.profile(sr.Directions.from_angles([0, 90, 200], degrees=True))


def rows(text: str) -> list[list[str]]:
    """The cells of the lines that begin with a level number."""
    lines = [line for line in text.splitlines() if re.match(r" {1,5}\d+ ", line)]
    return [re.split(r"\s{2,}", line.strip()) for line in lines]


def large_profile() -> sr.results.Profile:
    profile = profile_of("mcmurdo", 2)
    moments = dataclasses.replace(profile.moments, n=1_000_000, weight_sq=0.0177)
    return dataclasses.replace(profile, moments=moments)


def narrow_profile() -> sr.results.Profile:
    """A concentration of many digits."""
    return sr.profile(sr.Directions.from_angles(1.0 + 1e-3 * np.arange(-3.0, 4.0)), levels=1)


def crowded() -> sr.results.Profile:
    """More than a hundred nats of noise, and long numbers beside them."""
    x = np.random.default_rng(0).normal(size=(240, 200))
    return sr.profile(sr.Directions(x, normalize=True))


def eight_dimensional() -> sr.results.Profile:
    return sr.profile(sr.Harmonics(8, 1).space.uniform(200, np.random.default_rng(0)), levels=2)


def long_names() -> sr.results.Profile:
    x = np.random.default_rng(0).normal([1.0, 0.5, 0.0, 0.0, 0.0, 0.0], 1.0, (300, 6))
    hierarchy = sr.LowRank(np.eye(6)[:, :2], 3)
    return sr.profile(sr.Directions(x, normalize=True), hierarchy=hierarchy)


def noise_profile(n: int = 300) -> sr.results.Profile:
    return sr.profile(sr.Sphere().uniform(n, np.random.default_rng(0)))


def test_it_fits_a_screen() -> None:
    lines = profile_of("turtles").summary().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) <= 25


@pytest.mark.parametrize(
    "make",
    [
        lambda: profile_of("mcmurdo"),
        large_profile,
        stopped_profile,
        narrow_profile,
        eight_dimensional,
        crowded,
        long_names,
    ],
)
def test_it_fits_eighty_columns(make: Callable[[], sr.results.Profile]) -> None:
    assert max(map(len, make().summary().splitlines())) <= 80


def test_the_header_names_the_space_and_the_unit() -> None:
    lines = profile_of("mcmurdo", 1).summary().splitlines()
    read = "read 133 rows of mcmurdo.csv: declination `declination`, inclination `inclination`, "
    assert " ".join(lines[:2]) == f"{read}degrees; weights none"
    assert lines[3] == "Geometric information profile on the sphere (d = 3), in nats"
    plain = sr.profile(np.eye(3), levels=1).summary()  # rows of an array were not read
    assert plain.startswith("Geometric information profile on the sphere (d = 3), in nats\n")
    assert "on the circle (d = 2), in nats" in profile_of("turtles", 1).summary()
    five = sr.profile(np.vstack([np.eye(5), -np.eye(5)[:2]]))
    assert "on the sphere in R^5 (d = 5), in nats" in five.summary()


def test_the_head_counts_and_labels() -> None:
    x = sr.examples.load("mcmurdo").x
    w = np.linspace(1.0, 5.0, len(x))
    profile = sr.profile(x, weights=w, levels=1)
    head = profile.summary().split("level")[0]
    ess = w.sum() ** 2 / (w @ w)
    length = float(np.linalg.norm(w @ x / w.sum()))
    assert "n = 133 " in head
    assert f"ESS = {ess:.1f} (weight concentration)" in head
    assert f"R = {digits(length)} (mean resultant length)" in head
    assert f"von Mises-Fisher κ = {digits(profile.kappa)}" in " ".join(head.split())
    assert "classical" not in head  # textbooks weigh all rows alike
    assert "ESS" not in profile_of("mcmurdo", 1).summary()


def test_classical_numbers_stand_beside_ours_under_their_names() -> None:
    head = " ".join(profile_of("mcmurdo", 2).summary().split("level")[0].split())
    assert "classical: Fisher's k̂ 1.26, α95 24.0°, Rayleigh 17.6 (p = 5e-4), Bingham 431" in head
    circle = " ".join(profile_of("turtles", 2).summary().split())
    assert "circular standard deviation 67.7°, Rayleigh 37.6 (p = 7e-9)" in circle
    axes = " ".join(profile_of("laths").summary().split())
    assert "classical: Bingham 6.74 (p = 0.034)" in axes


def test_an_axis_that_the_mean_hides_is_told() -> None:
    text = " ".join(str(profile_of("mcmurdo", 2)).split())
    assert "principal axis: declination 187.2°, inclination 81.0° (mean cos² 0.870), " in text
    x = sr.examples.load("mcmurdo").x
    axis = np.linalg.svd(x)[2][0]
    down = int((x @ axis * np.sign(axis[2]) > 0.0).sum())
    assert f"{down} rows one way and {133 - down} the other" in text
    one = sr.Directions.from_lonlat([10, 12, 14, 9.0], [40, 42, 41, 45.0])
    assert "principal axis" not in str(sr.profile(one, levels=1))


def test_a_girdle_is_told_by_its_pole() -> None:
    """Poles of a fold lie about a great circle, whose pole is the fold's axis."""
    dip = np.repeat(np.arange(5.0, 85.0, 8.0), 4)
    strike = np.tile([25.0, 35.0, 205.0, 215.0], 10)  # two limbs, 5° to either side
    text = " ".join(
        sr.profile(sr.Directions.from_strike_dip(strike, dip), levels=1).summary().split()
    )
    assert re.search(
        r"girdle: strike (120|300)\.0°, dip 90\.0°; its pole: trend (30|210)\.0°", text
    )
    assert "principal axis" not in text
    ring = sr.Directions.from_lonlat(np.arange(0.0, 360.0, 7.0), 8.0 * np.cos(np.arange(52.0)))
    text = " ".join(sr.profile(ring, levels=2).summary().split())
    assert "girdle, with its pole at longitude" in text
    even = sr.Directions.from_azimuth(np.arange(0.0, 360.0, 9.0) % 345.0)
    assert "principal axis" not in str(sr.profile(even, levels=1))  # every circle has one


@pytest.mark.parametrize("n", [8, 60])
def test_lines_of_one_hemisphere_are_asked_for_their_sign(n: int) -> None:
    x = np.random.default_rng(4).normal(size=(n, 3))
    trend = np.rad2deg(np.arctan2(x[:, 1], x[:, 0])) % 360.0
    plunge = np.rad2deg(np.arcsin(np.abs(x[:, 2]) / np.linalg.norm(x, axis=1)))
    plunge[0] = 0.0
    asks = "Do these lines have a sign?"
    text = sr.profile(sr.Directions.from_trend_plunge(trend, plunge), levels=1).summary()
    assert asks in text
    assert text.index("level  what it adds") < text.index(asks) < text.index("Are the numbers")
    plunge[1] = -20.0
    up = sr.Directions.from_trend_plunge(trend, plunge)
    assert asks not in sr.profile(up, levels=1).summary()
    lines = sr.Directions.from_trend_plunge(trend, np.abs(plunge), axial=True)
    assert asks not in sr.profile(lines, levels=1).summary()


def test_textbook_statistics_are_of_rows_that_are_units() -> None:
    x = sr.Directions(np.random.default_rng(4).normal(size=(300, 3)) + 0.4, normalize=True)
    assert "Rayleigh" in sr.profile(x, levels=1).summary()
    outcrops = sr.designs.Clusters(np.arange(300) // 6)
    for design in (outcrops, sr.designs.Chain()):
        assert "Rayleigh" not in sr.profile(x, levels=1, design=design).summary()


def test_an_interval_that_too_few_rows_would_make_is_not_given() -> None:
    """Of three rows it would rule out both zero and the estimate."""
    few = sr.profile(np.eye(3), levels=1)
    found = few.intervals()
    assert np.isnan([found.low[0], found.high[0], found.deficit_low[0]]).all()
    few_rows = {"units": 3.0, "what": "row", "features": 3, "least": 5}
    assert found.diagnostics[-1] == Diagnostic("too_few_for_interval", 1, few_rows)
    assert "levels_without_interval" in codes(findings(LevelTable.of(few, SOON)))
    x = np.random.default_rng(0).normal(size=(5, 3)) + 1.0
    assert np.isfinite(sr.profile(sr.Directions(x, normalize=True), levels=1).intervals().high[0])


def test_the_row_that_makes_an_interval_wide_is_named() -> None:
    """A test of uniformity is sure of a cluster with one outlier; the nats are not known well."""
    angle = np.append(np.random.default_rng(0).vonmises(1.0, 40.0, 30), -2.1)
    p = sr.profile(sr.Directions.from_angles(angle), levels=1)
    text = " ".join(p.summary().split())
    assert "Clear: level 1" in text
    assert "the interval rests on one unit: row 30 (counted from 0) carries" in text
    clean = sr.profile(sr.Directions.from_angles(angle[:30]), levels=1)
    assert "rests on one unit" not in clean.summary()


def test_a_sky_asks_whether_all_of_it_was_seen() -> None:
    ra, dec = np.random.default_rng(0).uniform(0.0, 60.0, (2, 80))
    sky = sr.Directions.from_radec(ra, dec)
    assert "Was the whole sky seen evenly?" in str(sr.profile(sky, levels=1))
    mask = sr.Mask(bands=[(-90, -1)])
    assert "Was the whole sky" not in str(sr.profile(sky, levels=1, reference=mask))


@pytest.mark.parametrize("name", ["mcmurdo", "turtles"])
def test_each_level_has_its_numbers(name: str) -> None:
    profile = with_pvalues(name)
    tests, intervals = profile.tests(), profile.intervals()
    table = rows(profile.summary())
    assert len(table) == len(profile.levels) == 4
    names = profile.moments.hierarchy.level_names
    for k, cells in enumerate(table):
        level, said, gap, noise, interval, pvalue, share = cells
        assert (level, said) == (str(k + 1), names[k])
        assert gap == digits(profile.gaps[k])
        assert noise == digits(profile.dims[k] / (2 * profile.n), 2)
        assert interval == f"{digits(intervals.low[k])} to {digits(intervals.high[k])}"
        assert pvalue == pvalue_number(tests.pvalue_holm[k])
        assert share == f"{100 * profile.gaps[k] / profile.deficits[-1]:.1f}%"


def test_it_explains_its_columns() -> None:
    text = profile_of("turtles", 2).summary()
    heads = next(line for line in text.splitlines() if line.startswith("level"))
    columns = ["level", "what it adds", "nats", "noise", "95% interval", "p (Holm)", "share"]
    assert re.split(r"\s{2,}", heads) == columns
    said = "All levels: 0.427 nats from uniform. noise: what chance alone gives."
    assert said in " ".join(text.split())


def test_three_questions_come_in_their_order() -> None:
    text = profile_of("turtles", 2).summary()
    asked = [line for line in text.splitlines() if re.match(r"(Are|Is) .*\?", line)]
    assert [line.split("?")[0] for line in asked] == [
        "Are the numbers right",
        "Are there enough data",
        "Is there more structure",
    ]


def test_jargon_is_for_those_who_ask() -> None:
    profile = profile_of("turtles")
    assert not [word for word in JARGON if word in profile.summary()]
    verbose = profile.summary(verbose=True)
    assert not [word for word in JARGON if word not in " ".join(verbose.split())]
    assert verbose.startswith(profile.summary().split("Are the numbers")[0])
    table = [line.split() for line in verbose.splitlines() if re.match(r" +\d+ +\d", line)]
    assert [row[2] for row in table] == [f"{d:.5f}" for d in profile.deficits]
    for k, row in enumerate(table):
        assert float(row[5]) == pytest.approx(profile.numerics.residual[k], rel=0.6)
        assert float(row[6]) == pytest.approx(profile.numerics.quadrature[k], rel=0.6)


def test_findings_use_one_vocabulary() -> None:
    profile = with_pvalues("mcmurdo")
    text = " ".join(profile.summary().split())
    assert "Clear: level 2 (axis or girdle), 1.63 nats (83%)." in text
    likely = "Likely: level 4 (four-fold), 0.110 nats (5.6%); level 1 (mean direction), 0.0669 nats"
    assert likely in text
    assert "Level 3 (three-fold) is not significant (p = 0.081)." in text


def test_pure_noise_says_so() -> None:
    profile = noise_profile()
    text = " ".join(profile.summary().split())
    total, noise = digits(profile.deficits[-1], 2), digits(24 / 600, 2)
    assert f"No level is significant ({total} nats, noise level {noise})." in text


def test_what_takes_long_is_left_to_tests_and_shown_when_it_is_known() -> None:
    profile = eight_dimensional()
    text = profile.summary(patience=0.0)
    assert rows(text)[1][-2] == "not computed"
    assert "not computed (about 1 s); call `tests()`." in " ".join(text.split())
    assert profile.tests_within(0.0).methods == (NOT_COMPUTED, NOT_COMPUTED)
    table = LevelTable.of(profile, 0.0)
    assert profile_record(profile, 0.0)["inference"]["verdict"] == ["not_computed"] * 2
    assert [row[-1] for row in level_rows(table).rows] == ["not computed"] * 2
    tests = profile.tests()
    again = profile.summary(patience=0.0)
    assert rows(again)[1][-2] == pvalue_number(tests.pvalue_holm[1])
    assert "`tests()`" not in again


def test_while_a_level_is_not_computed_no_other_number_stands_under_its_name() -> None:
    """P-values before a correction that waits; verdicts where it can only say one thing."""
    profile = profile_of("mcmurdo")
    text = profile.summary(patience=2e6)
    table, found = rows(text), profile.tests_within(2e6)
    assert found.later == [4]
    assert np.isnan(found.pvalue_holm).all()
    assert "p (uncorrected)" in text
    assert "p (Holm)" not in text
    known = with_pvalues("mcmurdo").tests()
    np.testing.assert_array_equal(found.pvalue[:3], known.pvalue[:3])
    assert [row[-2] for row in table] == [*map(pvalue_number, known.pvalue[:3]), "not computed"]
    for now, then in zip(found.verdicts, known.verdicts, strict=True):
        assert now in {then, Verdict.OPEN}
    assert found.verdicts == (Verdict.LIKELY, Verdict.CLEAR, Verdict.NOISE, Verdict.OPEN)
    assert "not computed (about" in " ".join(text.split())


def test_a_verdict_that_hangs_on_what_is_not_computed_waits() -> None:
    found = profile_of("mcmurdo").tests_within(2e6)
    bare = dataclasses.replace(found, pvalue=np.array([0.02, 1e-9, 0.2, np.nan]))
    assert bare.verdicts == (Verdict.OPEN, Verdict.CLEAR, Verdict.NOISE, Verdict.OPEN)
    assert holm(np.array([0.02, 1e-9, 0.2, 1e-4]))[0] == pytest.approx(0.04)  # likely
    assert holm(np.array([0.02, 1e-9, 0.2, 0.9]))[0] == pytest.approx(0.06)  # noise


def test_levels_that_cannot_be_judged_say_why() -> None:
    x = sr.Sphere().uniform(500, np.random.default_rng(0))
    profile = sr.profile(x, design=sr.designs.Clusters(np.arange(500) // 10))
    why = profile.tests_within(SOON).reason(4)
    assert why is not None
    assert (why.code, why.data["worth"]["code"]) == ("uneven_weights", "worth_of_all")
    assert "evel 4 (four-fold) is not testable: " in " ".join(profile.summary().split())


def test_levels_with_different_troubles_are_told_apart_and_have_no_p() -> None:
    """A row that decides level 2 is no reason why level 4 is not judged."""
    rng = np.random.default_rng(7)
    x = rng.normal([0.0, 0.0, 30.0], 1.0, (200, 3))
    x[17] = [12.0, 0.0, 30.0]
    profile = sr.profile(sr.Directions(x, normalize=True), levels=2)
    tests = profile.tests()
    assert tests.judged.tolist() == [True, False]
    text = " ".join(profile.summary().split())
    assert "Level 2 (axis or girdle) is not testable: row 17 (counted from 0) carries" in text
    assert rows(profile.summary())[1][-2] == "–"


def test_descriptive_and_shrunk_data_are_described() -> None:
    x = sr.examples.load("mcmurdo").x
    weighted = " ".join(sr.profile(x, weights=np.arange(1.0, 134.0), levels=2).summary().split())
    assert "The largest is level 2 (axis or girdle), " in weighted
    assert "Not tested: design descriptive defines no p-values." in weighted
    assert "noise and p-values need design=." in weighted
    shrunk = " ".join(sr.profile(x, levels=2, shrinkage=0.1).summary().split())
    assert "Not tested: the fits are of shrunk data" in shrunk


def test_a_tiny_negative_gap_is_not_clipped() -> None:
    profile = profile_of("turtles", 2)
    first, second = profile.nested.solutions
    lower = dataclasses.replace(
        second, deficit=first.deficit - 2e-5, gap=np.full(1, np.nan), lam=second.lam
    )
    nested = dataclasses.replace(profile.nested, solutions=(first, lower))
    changed = dataclasses.replace(profile, nested=nested)
    assert changed.gaps[1] == pytest.approx(-2e-5)
    assert re.search(r"two-fold axis +-2e-5 .* -0\.0%\n", changed.summary())


@pytest.mark.parametrize("deficit", [0.0, 1e-30, 9e-13])
def test_uniform_data_have_no_shares(deficit: float) -> None:
    profile = sr.profile(sr.Directions.from_angles(np.arange(8) * 45.0, degrees=True), levels=1)
    assert rows(profile.summary())[0][-1] == "–"
    only = dataclasses.replace(
        profile.nested.solutions[0], deficit=np.array([deficit]), gap=np.array([deficit])
    )
    flat = dataclasses.replace(
        profile, nested=dataclasses.replace(profile.nested, solutions=(only,))
    )
    assert rows(flat.summary())[0][-1] == "–"


def test_the_stopped_line_says_why_and_what_is_sound() -> None:
    profile = stopped_profile()
    text = " ".join(profile.summary().split())
    assert profile.levels.tolist() == [1, 2]
    assert str(profile.stopped) == (
        "level 3 does not exist: no density has these moments "
        "(the support is only 3 distinct points, and level 3 needs at least 4); "
        "ask for fewer levels (levels=2 is sound)"
        ", or mix in a little of the uniform law (shrinkage=0.01)"
        ", which nothing tests against noise"
    )
    assert f"Stopped: {profile.stopped}. Are the numbers right?" in text
    assert "Are there enough data? No: 3 rows for 4 fitted parameters" in text
    assert coded(profile.trust().data.reasons, "level_does_not_exist").data == {"of_level": 3}


def test_no_stopped_line_without_a_stop() -> None:
    profile = profile_of("turtles", 2)
    assert profile.stopped is None
    assert "Stopped" not in profile.summary()


def test_rounding_is_reported_when_it_matters() -> None:
    profile = profile_of("turtles", 2)
    assert "Rounding" not in profile.summary()
    first, second = profile.nested.solutions
    coarse = dataclasses.replace(second, moment_rounding=np.array([3e-9]))
    nested = dataclasses.replace(profile.nested, solutions=(first, coarse))
    text = dataclasses.replace(profile, nested=nested).summary()
    assert "Rounding of the moments moves D by up to 3e-09 nats." in text


def test_printing_is_the_summary() -> None:
    profile = profile_of("turtles", 2)
    assert str(profile) == profile.summary()


def test_the_places_that_a_mean_hides_are_told() -> None:
    """Two times of the day, of which the mean is neither."""
    rng = np.random.default_rng(7)
    hours = np.concatenate([rng.normal(5.5, 0.8, 150), rng.normal(19.0, 1.0, 150)]) % 24.0
    p = sr.profile(sr.Directions.from_times(hours), levels=2)
    text = " ".join(str(p).split())
    found = re.search(
        r"Level 2 is densest at (\d+):(\d+) \(.* × uniform\) and (\d+):(\d+) \(", text
    )
    assert found is not None
    first, second = (int(h) + int(m) / 60.0 for h, m in (found.groups()[:2], found.groups()[2:]))
    np.testing.assert_allclose(sorted([first, second]), [5.5, 19.0], atol=0.6)
    ends = re.search(r"principal axis: (\d+):(\d+) and (\d+):(\d+) ", text)
    assert ends is not None
    assert abs(int(ends[1]) - int(ends[3])) == 12
    assert ends[2] == ends[4]


def test_a_peak_at_the_mean_is_no_news() -> None:
    assert "densest" not in str(profile_of("turtles", 2))
    ring = sr.Directions.from_lonlat(np.arange(0.0, 360.0, 3.0), 8.0 * np.cos(np.arange(120.0)))
    assert "densest" not in str(sr.profile(ring, levels=2))


def test_a_place_below_uniform_is_not_called_densest() -> None:
    """Months with one high season: the fit has a low top half a year away."""
    counts = [77, 75, 52, 54, 75, 185, 319, 290, 140, 70, 71, 72]
    p = sr.profile(sr.Directions.from_times(np.arange(12.0), 12, counts=counts))
    first, second = p.fits[2].modes()
    assert 0.25 * first.density < second.density < 1.0
    text = " ".join(str(p).split())
    assert "Clear: level 1 (mean direction)" in text
    assert "0.684" not in text


def test_a_place_below_the_reference_is_not_called_densest() -> None:
    """Relative to a law with two tops, of which the rows lower one: it is above uniform still."""

    def two_tops(x: Array) -> Array:
        return np.exp(2.0 * (x[:, 0] ** 2 - x[:, 1] ** 2))

    def rows_law(angle: Array) -> Array:
        tilt = 0.4 * np.cos(angle) + 0.4 * np.cos(2.0 * (angle - 0.6))
        return np.exp(2.0 * np.cos(2.0 * angle) + tilt)

    rng = np.random.default_rng(5)
    drawn = rng.uniform(0.0, 2.0 * np.pi, 60_000)
    angle = drawn[rng.uniform(0.0, 20.0, 60_000) < rows_law(drawn)][:4000]
    p = sr.profile(sr.Directions.from_angles(angle), levels=2, reference=two_tops)
    first, second = p.fits[2].modes()
    assert 1.0 < second.density > 0.25 * first.density
    assert p.fits[2].pdf(second.point[None], measure="reference")[0] < 1.0
    assert (p.tests().pvalue_holm < 0.001).all()
    assert f"({digits(second.density)} ×)" not in str(p)


def test_sets_of_planes_on_a_girdle_are_told() -> None:
    """Two upright sets at right angles: a girdle to level 1 of axes, and two places to level 2."""
    rng = np.random.default_rng(0)
    strike = np.concatenate([rng.normal(30.0, 6.0, 100), rng.normal(120.0, 6.0, 100)])
    dip = np.minimum(rng.normal(85.0, 4.0, 200), 90.0)
    text = " ".join(str(sr.profile(sr.Directions.from_strike_dip(strike, dip))).split())
    assert "girdle: strike" in text
    found = re.search(
        r"Level 2 is densest at strike ([\d.]+)°, dip 8\d\.\d° \([\d.]+ × uniform\) and "
        r"strike ([\d.]+)°, dip 8",
        text,
    )
    assert found is not None
    np.testing.assert_allclose(sorted(map(float, found.groups())), [30.0, 120.0], atol=3.0)


def test_a_band_that_a_high_level_sharpens_has_no_places() -> None:
    """An even band of axes, sharper than Bingham's law: level 2 is clear, and a ring."""
    rng = np.random.default_rng(0)
    tilt = np.where(rng.random(4000) < 0.5, 1.0, 25.0) * rng.standard_normal(4000)
    strike, dip = rng.uniform(0.0, 360.0, 4000), 90.0 - np.abs(np.clip(tilt, -80.0, 80.0))
    p = sr.profile(sr.Directions.from_strike_dip(strike, dip))
    assert p.tests().pvalue[1] < 1e-6
    assert "girdle" in str(p)
    assert "densest" not in str(p)


def test_the_smallest_pvalue_of_a_bootstrap_is_said_to_be_it() -> None:
    x = np.random.default_rng(1).normal(size=(8, 6))
    x[:, 0] += 8.0
    p = sr.profile(sr.Directions(x, normalize=True), levels=1)
    tests = p.tests()
    assert tests.methods[0] == PARAMETRIC
    assert tests.pvalue[0] == 1e-3
    text = " ".join(p.summary(patience=np.inf).split())
    assert "none of 999 draws was as extreme; tests(replicates=9999)" in text
