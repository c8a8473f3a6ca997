"""Binned and rounded angles: degrees that their values do not tell apart are not judged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import steradian as sr
from coded import codes
from steradian.diagnostics import Diagnostic, Verdict

COUNTS = [778, 997, 542, 182, 61, 40, 101, 299]  # of von Mises, κ = 1.5
COARSE = Diagnostic(
    "coarse_values", data={"step": 45.0, "values": 8.0, "kind": "degrees", "first": 4}
)


@pytest.fixture(scope="module")
def bins() -> sr.Directions:
    return sr.Directions.from_azimuth(45.0 * np.arange(8), degrees=True, counts=COUNTS)


def one_line(text: object) -> str:
    return " ".join(str(text).split())


def test_nothing_is_found_above_what_the_bins_tell(bins: sr.Directions) -> None:
    p = sr.profile(bins)
    structure = p.trust().structure
    assert structure.answer is Verdict.UNJUDGED
    assert structure.reasons == (COARSE,)
    assert f"Level 4 (four-fold) is not testable: {COARSE.words}." in one_line(p)
    assert "try" not in one_line(p)


def test_a_degree_that_is_another_one_again_is_not_called_clear(bins: sr.Directions) -> None:
    p = sr.profile(bins, levels=7)
    found = p.tests()
    assert p.gaps[6] > 0.4  # degree 7 is degree 1 again
    np.testing.assert_array_equal(found.judged, [True] * 3 + [False] * 4)
    assert np.isnan(found.pvalue[3:]).all()
    assert np.isfinite(found.pvalue[:3]).all()
    assert found.diagnostics[-1] == replace(COARSE, level=7) == found.reason(7)
    assert "Clear: level 1 (mean direction), 0.403 nats (45%)." in one_line(p)


def test_rounded_headings_without_counts_are_recognised() -> None:
    angles = np.random.default_rng(1).vonmises(0.7, 1.5, 300)
    rounded = 45.0 * np.round(np.rad2deg(angles) / 45.0)
    p = sr.profile(sr.Directions.from_azimuth(rounded, degrees=True))
    assert p.trust().structure.reasons == (COARSE,)
    whole = sr.profile(sr.Directions.from_azimuth(np.round(np.rad2deg(angles)), degrees=True))
    assert "multiples" not in one_line(whole)


def test_what_bins_tell_is_still_looked_at() -> None:
    """Twelve months tell degree 5, above the four levels."""
    middles = 30.0 * np.arange(12) + 15.0
    density = 1.0 + 0.3 * np.cos(np.deg2rad(5.0 * middles))
    counts = np.round(300.0 * density).astype(int)
    p = sr.profile(sr.Directions.from_angles(middles, degrees=True, counts=counts))
    structure = p.trust().structure
    assert structure.answer is Verdict.CLEAR
    assert codes(structure.reasons) == ["found_above", "try_levels", "coarse_values"]
    assert structure.reasons[0].data["size"]["data"]["through"] == "degree 5"
    assert structure.reasons[1].data == {"levels": 5}
    assert (structure.reasons[2].data["values"], structure.reasons[2].data["first"]) == (12, 6)
    weighted = sr.Directions.from_angles(np.repeat(middles, 2), degrees=True, weights=[1.0] * 24)
    assert sr.profile(weighted).trust().structure.reasons[-1].data["values"] == 12


def test_auto_levels_and_every_order_stay_below(bins: sr.Directions) -> None:
    assert len(sr.profile(bins, levels="auto").levels) == 1
    order = sr.choose_order(sr.profile(bins, levels=7))
    assert all(level is not None and level <= 3 for level in order.chosen.values())
    assert order.diagnostics[0] == COARSE


def test_residuals_kernels_and_uniformity_do_not_judge_them(bins: sr.Directions) -> None:
    p = sr.profile(bins, levels=3)
    assert p.residuals().degree == 3
    asked = p.residuals(degree=8)
    assert np.isnan(asked.pvalue).all()
    assert replace(COARSE, level=1) in asked.diagnostics
    assert np.isnan(p.mmd().pvalue).all()
    through = sr.profile(bins, levels=5).uniformity()
    np.testing.assert_array_equal(through.judged, [True, True, True, False, False])


def test_axes_of_the_plane_count_levels() -> None:
    strikes = np.repeat(30.0 * np.arange(6), [90, 50, 20, 10, 20, 50])
    p = sr.profile(sr.Directions.from_angles(strikes, degrees=True, axial=True), levels=3)
    assert p.tests().judged.tolist() == [True, True, False]
    assert "30° apart (6 values), so levels from 3 on" in one_line(p)
