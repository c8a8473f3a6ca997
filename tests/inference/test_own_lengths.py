"""Groups that point far apart are equally concentrated where their own means are equally long."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from comparison_groups import vmf
from steradian.diagnostics import MethodCode
from steradian.inference.group_tests import own_lengths

Rng = np.random.Generator


def circle(
    angles: tuple[float, ...], kappas: tuple[float, ...], n: int, rng: Rng
) -> sr.results.Comparison:
    """Von Mises groups at so many degrees."""
    return sr.compare({
        str(k): sr.Directions.from_angles(rng.vonmises(np.radians(angle), kappa, n))
        for k, (angle, kappa) in enumerate(zip(angles, kappas, strict=True))
    })  # fmt: skip


def test_equal_concentrations_are_not_called_different_because_directions_are() -> None:
    rng = np.random.default_rng(77)
    found = [circle((0.0, 100.0, 170.0), (5.0,) * 3, 100, rng).tests() for _ in range(6)]
    pvalues = np.array([tests.parts["concentration"] for tests in found])
    assert np.median(pvalues) > 0.1  # 3e-5 and less, when the part along the pooled mean was tested
    assert pvalues.min() > 0.005
    for tests in found:
        assert tests.far_apart
        assert tests.part_methods["concentration"].of_own_lengths
        assert tests.parts["direction"] < 1e-6


def test_different_concentrations_are_seen_where_directions_are_far_apart() -> None:
    c = circle((0.0, 90.0), (3.0, 8.0), 100, np.random.default_rng(3))
    assert c.tests().parts["concentration"] < 0.01
    text = " ".join(str(c).split())
    assert "in concentration (mean resultant lengths 0." in text
    assert "their own mean resultant lengths are compared" in text


def test_nats_of_groups_far_apart_are_named_by_what_they_are() -> None:
    rng = np.random.default_rng(5)
    ways = (np.array([0.0, 0.0, 1.0]), np.array([1.0, 0.0, 0.0]), np.array([1.0, 1.0, 0.0]))
    c = sr.compare({str(k): vmf(120, way, 6.0, rng) for k, way in enumerate(ways)})
    rows = [line for line in str(c).splitlines() if line.startswith("    ")]
    assert [row[4:26].strip() for row in rows] == [
        "across the pooled mean", "along the pooled mean", "concentration",
    ]  # fmt: skip
    assert sum(c.level1.values()) == pytest.approx(float(c.between[0]), abs=1e-12)
    assert "not in concentration" in " ".join(str(c).split())


def test_groups_that_point_the_same_way_are_tested_along_the_pooled_mean() -> None:
    tests = circle((0.0, 5.0), (4.0, 4.0), 80, np.random.default_rng(2)).tests()
    assert not tests.far_apart
    assert tests.part_methods["concentration"].code is MethodCode.SCORE_TAIL


def test_lengths_are_those_of_the_rows_and_their_law_is_that_of_welch() -> None:
    from scipy import stats

    rng = np.random.default_rng(12)
    c = circle((0.0, 110.0), (3.0, 5.0), 150, rng)
    own = own_lengths(c.sample)
    assert own is not None
    parts = [c.groups[name].directions for name in c.names]
    x = [np.asarray(part.x) for part in parts if part is not None]
    assert own.resultants == pytest.approx([np.linalg.norm(one.mean(axis=0)) for one in x])
    along = [one @ one.mean(axis=0) / np.linalg.norm(one.mean(axis=0)) for one in x]
    welch = stats.ttest_ind(*along, equal_var=False).pvalue
    assert own.judged()[1] == pytest.approx(welch, rel=0.15)  # noise across is taken off besides


def test_a_group_without_spread_has_no_such_test() -> None:
    rng = np.random.default_rng(8)
    same = sr.Directions.from_angles(np.full(60, 2.0) + 1e-9 * rng.normal(size=60))
    wide = sr.Directions.from_angles(rng.vonmises(0.0, 3.0, 60))
    own = own_lengths(sr.compare({"same": same, "wide": wide}, levels=1).sample)
    assert own is not None
    assert not own.felt
