"""The picture of a spectrum shows the numbers of the result, and computes none."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.errors import InvalidArgument
from steradian.plots import nats_per_degree
from steradian.plots.canvas import new_figure


def drawn(levels: int, weighted: bool) -> tuple[sr.results.Spectrum, object]:
    rng = np.random.default_rng(levels)
    theta, w = rng.vonmises(0.0, 1.0, 800), rng.gamma(2.0, size=800)
    p = sr.profile(sr.Directions.from_angles(theta, weights=w if weighted else None), levels=levels)
    return p.spectrum(), nats_per_degree(p.spectrum(), new_figure(5, 3).add_subplot())


@pytest.mark.parametrize("weighted", [False, True])
def test_axes_and_points(weighted: bool) -> None:
    s, ax = drawn(8, weighted)
    assert ax.get_yscale() == "log"  # type: ignore[attr-defined]
    assert ax.get_title(loc="left").split() == s.finding.rstrip(".").split()  # type: ignore[attr-defined]
    assert ("debiased" in ax.get_ylabel()) != weighted  # type: ignore[attr-defined]
    values = s.gaps if weighted else s.debiased
    points = np.concatenate([line.get_ydata() for line in ax.lines])  # type: ignore[attr-defined]
    for value in values[values > 0.0]:
        assert np.isclose(points, value, rtol=1e-12).any()
    scales = [axis for axis in ax.child_axes if axis.get_xlabel().startswith("angular scale")]  # type: ignore[attr-defined]
    assert scales[0].get_xticklabels()[0].get_text() == "180°"


def test_one_level_has_a_whole_degree_and_all_that_its_legend_names() -> None:
    x = sr.Sphere().uniform(5, np.random.default_rng(3))
    s = sr.profile(x, levels=1).spectrum()
    ax = s.plot()
    assert ax.get_xticks().tolist() == [1.0]
    low, high = ax.get_ylim()
    heights = np.concatenate([line.get_ydata() for line in ax.lines])
    assert ((low < heights) & (heights < high)).all()
    assert not s.stands_out.any()
    named = {text.get_text() for text in ax.get_legend().get_texts()}
    assert named <= {"noise, on average", "not significant", "at most (95%)"}


def test_many_degrees_are_written_at_round_numbers() -> None:
    _, ax = drawn(30, False)
    assert ax.get_xticks().tolist() == [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]  # type: ignore[attr-defined]


def test_axes_of_no_figure_are_refused() -> None:
    s, _ = drawn(2, False)
    with pytest.raises(InvalidArgument, match="give the axes of a figure"):
        s.plot("here")
