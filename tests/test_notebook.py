"""Every result shows itself in a notebook as text that does nothing, and tables are frames."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import steradian as sr

X = np.random.default_rng(0).normal([1.0, 0.3, 0.0], 1.0, (150, 3))
P = sr.profile(sr.Directions(X, normalize=True), levels=2)
RESULTS: dict[str, Any] = {
    "profile": lambda: P,
    "tests": P.tests,
    "intervals": P.intervals,
    "uniformity": P.uniformity,
    "residuals": lambda: P.residuals(degree=4, method="exact"),
    "beyond": P.beyond,
    "sensitivity": lambda: P.sensitivity(rotations=1),
    "boundary": lambda: sr.boundary(X / np.linalg.norm(X, axis=1)[:, None], levels=2),
    "bootstrap": lambda: sr.bootstrap(P, "multiplier", replicates=19),
    "left_out": lambda: sr.profile(
        sr.Directions(X, normalize=True), hierarchy=sr.Zonal([0, 0, 1], 1)
    ).left_out(sr.Harmonics(3, 1)),
    "profiles": lambda: sr.profiles(P.directions.x[:20], weights=np.ones((2, 20)), levels=1),  # type: ignore[union-attr]
}


@pytest.mark.parametrize("name", RESULTS)
def test_results_are_frames_and_show_themselves(name: str) -> None:
    result = RESULTS[name]()
    html = result._repr_html_()
    assert html.startswith("<")
    assert "<script" not in html
    frame = result.to_frame()
    assert isinstance(frame, pd.DataFrame)
    assert len(frame) >= len(getattr(result, "levels", [1]))


def test_numbers_of_a_frame_are_those_of_the_result() -> None:
    tests = P.tests()
    frame = tests.to_frame()
    assert frame["level"].tolist() == tests.levels.tolist()
    assert frame["pvalue_holm"].tolist() == tests.pvalue_holm.tolist()
    assert P.intervals().to_frame().set_index("level").loc[2, "low"] == P.intervals().low[1]


def test_a_result_answers_by_level() -> None:
    tests, intervals = P.tests(), P.intervals()
    assert tests[2].pvalue_holm == tests.pvalue_holm[1]
    assert tests[1].verdict is tests.verdicts[0]
    assert tests[2].method is tests.methods[1]
    assert (intervals[1].gap, intervals[1].high) == (intervals.gaps[0], intervals.high[0])
    assert str(tests[1]).startswith("level 1: dof 3, ")
    for wrong in (0, 3, "2", True):
        with pytest.raises(sr.InvalidArgument, match="give 1 to 2"):
            _ = tests[wrong]  # type: ignore[index]


def test_a_profile_shows_findings_before_its_table() -> None:
    html = P._repr_html_()
    assert html.index("Clear: level 1 (mean direction)") < html.index("<table>")
    assert html.index("<table>") < html.index("Are the numbers right?")


def test_text_is_text() -> None:
    x = sr.Directions(X, normalize=True)
    shown = sr.profile(x, levels=1).trust()._repr_html_()
    assert "&lt;" not in sr.boundary(x, levels=1)._repr_html_()
    assert shown.count("<pre") == 1
    weighted = sr.profile(x.x, weights=np.arange(1.0, 151.0), levels=1)
    frame = weighted.residuals(degree=3).to_frame()
    assert frame["pvalue"].isna().all()  # the design defines none
