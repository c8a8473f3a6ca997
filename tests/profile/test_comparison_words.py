"""The words of a comparison are as sure as its numbers."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steradian as sr
from coded import codes
from comparison_groups import vmf
from steradian.diagnostics import Diagnostic, Verdict
from steradian.text.comparison_summary import level_table
from steradian.text.differences import differences, verdict
from steradian.text.places import girdle_in_words, strongest_axis


@pytest.fixture(scope="module")
def found() -> sr.results.Comparison:
    rng = np.random.default_rng(4)
    return sr.compare({
        name: vmf(80, np.array([t, 0.0, 1.0]), 8.0, rng) for name, t in (("a", 0.0), ("b", 0.4))
    })  # fmt: skip


@pytest.mark.parametrize(
    ("pvalue", "sure"), [(1e-4, "clear"), (0.029, "likely"), (0.4, "not_significant")]
)
def test_one_distribution_is_judged_as_levels_of_profiles_are(
    found: sr.results.Comparison, pvalue: float, sure: str
) -> None:
    said = verdict(found, replace(found.tests(), any_pvalue=pvalue))
    assert said[-1] == Diagnostic(f"one_distribution_{sure}", data={"pvalue": pvalue})


def test_a_level_that_one_row_carries_is_not_clear(found: sr.results.Comparison) -> None:
    assert found.intervals().low[1] == 0.0
    sure = replace(found.tests(), pvalue=np.array([1e-6, 1e-6]), diagnostics=())
    assert differences(found, sure)[-1].sure is Verdict.CLEAR
    unit = {"what": "row", "name": 7, "counted": True}
    heavy = Diagnostic("outweighed", 2, {"unit": unit})
    assert differences(found, replace(sure, diagnostics=(heavy,)))[-1].sure is Verdict.LIKELY
    part = Diagnostic("outweighed", 2, {"unit": unit, "part": "direction"})
    assert differences(found, replace(sure, diagnostics=(part,)))[-1].sure is Verdict.CLEAR


def test_a_part_is_never_surer_than_the_level_it_belongs_to(found: sr.results.Comparison) -> None:
    tests = replace(
        found.tests(),
        pvalue=np.array([0.06, 0.9]),
        parts={"direction": 0.014, "concentration": 0.6},
    )
    assert tests.parts_holm["direction"] == tests.pvalue_holm[0] == 0.12
    assert "groups_do_not_differ" in codes(verdict(found, tests))
    rows = {row[0].strip(): row[-1] for row in level_table(found, tests).rows}
    assert rows["direction"] == rows["1 mean direction"] == "0.12"


def test_intervals_of_groups_that_are_the_same_are_finite() -> None:
    rows = sr.Directions.from_angles(np.random.default_rng(1).vonmises(0.0, 1.0, 40))
    c = sr.compare({"a": rows, "b": rows})
    assert c.intervals().high.max() < 0.1  # 2e267, when rounding was scaled by its error


def test_an_interval_without_length_is_said_to_be_noise(
    found: sr.results.Comparison, monkeypatch: pytest.MonkeyPatch
) -> None:
    none = replace(found.intervals(), low=np.zeros(2), high=np.zeros(2))
    monkeypatch.setattr(sr.results.Comparison, "intervals", lambda _: none)
    ends = [row[3] for row in level_table(found, None).rows if row[3]]
    assert ends[:2] == ["not above noise"] * 2


def test_a_girdle_of_planes_has_one_name() -> None:
    rng = np.random.default_rng(6)
    strike = rng.normal(30.0, 4.0, 80) + 180.0 * rng.integers(2, size=80)
    dip = rng.uniform(5.0, 90.0, 80)
    planes = sr.Directions.from_strike_dip(strike, dip)
    profile = sr.profile(planes)
    words = strongest_axis(profile)
    assert words.startswith("girdle: strike")
    assert "; its pole: trend" in words
    assert girdle_in_words(profile).startswith(words)


def test_names_that_may_be_one_are_asked_about() -> None:
    x = vmf(90, np.array([0.0, 0.0, 1.0]), 5.0, np.random.default_rng(3))
    said = str(sr.compare(x, by=np.resize(["Sb", "sb ", "E"], 90)))
    asked = "! are 'Sb', 'sb ' one group? Their names differ only in how they are written"
    assert asked in said.replace("\n  ", " ")
    assert "one group?" not in str(sr.compare(x, by=np.resize(["Sb", "Sc", "-1", "+1", "1"], 90)))


def test_labels_that_are_a_measurement_are_told_so() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    data = sr.Directions(x, normalize=True)
    with pytest.raises(sr.InvalidArgument) as caught:
        sr.compare(data, by=range(60))
    assert str(caught.value) == (
        "by has 60 different labels for 60 rows, too few in each group for a fit: they look like a "
        "measurement rather than groups; cut it into a few ranges, such as "
        "by=np.digitize(values, edges), or give the column that names the groups"
    )
    with pytest.raises(sr.InvalidArgument, match="by has 59 different labels for 60 rows"):
        sr.compare(data, by=[0, *range(59)], levels=2)


def test_a_group_without_a_fit_is_named_where_none_has_one() -> None:
    x = np.eye(3)[[0, 0, 1, 1]]
    with pytest.raises(sr.BoundaryError, match="level 1 of group 'here' does not exist: no dens"):
        sr.compare(sr.Directions(x), by=["here", "here", "there", "there"])


def test_one_group_is_one() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    c = sr.compare(sr.Directions(x, normalize=True), by=["all"] * 60)
    assert str(c).startswith("Comparison of 1 group on the sphere (d = 3), in nats")


def _p1(x: np.ndarray) -> np.ndarray:
    return np.asarray(x[:, 2])


def _p2(x: np.ndarray) -> np.ndarray:
    return np.asarray(x[:, 2] ** 2)


def test_levels_of_ones_own_hierarchy_are_all_named_the_same_way() -> None:
    x = np.random.default_rng(0).normal(size=(60, 3))
    data, by = sr.Directions(x, normalize=True), np.arange(60) % 2
    own = sr.compare(data, by=by, hierarchy=sr.Custom(sr.Sphere(), [_p1, _p2]))
    assert " _p1 (p = " in str(own)
    assert " _p2 (p = " in str(own)
    assert "shape" not in str(own)
    assert "shape (axis or girdle)" in str(sr.compare(data, by=by)).replace("\n", " ")
