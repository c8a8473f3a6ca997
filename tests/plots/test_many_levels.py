"""Pictures of many levels: no word over another, on paper of a page, what was found first."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import steradian as sr
from picture_checks import complaints
from steradian import plots
from steradian.plots import level_layout, palette
from steradian.text.numbers import pvalue_words

Draw = Callable[[sr.results.Profile], Axes]
MANY = 64


@cache
def chosen_order(profile: sr.results.Profile) -> sr.results.OrderChoice:
    return sr.choose_order(profile, folds=2)


@cache
def residuals_of(profile: sr.results.Profile) -> Any:
    return profile.residuals()


PICTURES: dict[str, Draw] = {
    "gaps": plots.gaps,
    "page": lambda p: p.plot(),
    "rose": lambda p: plots.rose(p, levels=level_layout.levels_up_to(MANY)),
    "line": lambda p: plots.circle_densities(p, levels=level_layout.levels_up_to(MANY)),
    "tests": lambda p: p.tests(replicates=19).plot(),
    "intervals": lambda p: p.intervals().plot(),
    "residuals": lambda p: residuals_of(p).plot(),
    "sensitivity": lambda p: p.sensitivity(rotations=1).plot(),
    "order": lambda p: chosen_order(p).plot(),
}


@pytest.fixture(autouse=True)
def no_window(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    mpl.use("Agg")
    monkeypatch.setattr(level_layout, "_PATIENCE", 1e7)
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture(scope="module")
def many() -> sr.results.Profile:
    angles = np.random.default_rng(1).vonmises(0.0, 0.5, 1500)
    return sr.profile(sr.Directions.from_angles(angles), levels=MANY)


@pytest.fixture(scope="module")
def axes() -> sr.results.Profile:
    x = np.random.default_rng(5).normal(0.0, 0.16, (120, 3)) + np.array([1.0, 0.3, 0.5])
    return sr.profile(sr.Directions(x, normalize=True, axial=True), levels=2)


@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_many_levels_reads_well(name: str, many: sr.results.Profile) -> None:
    ax = PICTURES[name](many)
    assert complaints(ax) == []
    width, height = ax.figure.get_size_inches()  # type: ignore[union-attr]
    assert width <= palette.PAGE
    assert height <= 9.0


# --- the gaps -----------------------------------------------------------------------------


def test_levels_that_are_told_apart_have_their_p_value(many: sr.results.Profile) -> None:
    ax = plots.gaps(many)
    tests = level_layout.gap_tests(many)
    assert tests is not None
    assert tests.told == (1,)
    assert [text.get_text() for text in ax.texts[:-1]] == [
        pvalue_words(float(tests.pvalue_holm[0]))
    ]
    words = ax.texts[-1].get_text().replace("\n", " ")
    assert "p after Holm, of significant levels" in words


def test_of_many_clear_neighbours_the_surest_are_named() -> None:
    ax = plots.gaps(sr.profile(sr.examples.load("turtles"), levels=1))
    p = np.full(MANY, 1e-4)
    p[10] = 1e-9
    kept = plots.gap_bars.numbered(ax, np.ones(MANY), p)
    assert 10 in kept
    assert len(kept) > 10
    assert np.diff(kept).min() >= level_layout.lines_apart(ax, MANY, upright=True)
    few = plots.gap_bars.numbered(ax, np.ones(8), np.full(8, np.nan))
    assert few.tolist() == list(range(8))
    one = np.where(np.arange(MANY) == 3, 1.0, 0.01)
    assert plots.gap_bars.numbered(ax, one, None).tolist() == [3]


# --- rows ---------------------------------------------------------------------------------


def test_rows_that_are_told_apart_are_named_first() -> None:
    told = np.isin(np.arange(1, MANY + 1), [1, 4, 63])
    ax = plots.level_rows.row_axes(None, np.arange(1, MANY + 1), told)
    named = np.asarray(ax.get_yticks())
    assert {1, 4, 63} <= set(named)
    assert 20 < len(named) < MANY
    assert plots.level_rows.unnamed(ax, np.arange(1, MANY + 1)) == (
        f"; numbers of {len(named)} of 64 levels"
    )


@pytest.mark.parametrize("count", [1, 8, 13, 24, 40, 50])
def test_rows_of_a_page_are_all_named(count: int) -> None:
    levels = np.arange(1, count + 1)
    ax = plots.level_rows.row_axes(None, levels)
    assert list(ax.get_yticks()) == levels.tolist()
    assert plots.level_rows.unnamed(ax, levels) == ""


# --- levels that are told apart -----------------------------------------------------------


@pytest.mark.parametrize("top", [9, 16, 25, 64])
def test_levels_drawn_together_have_colours_of_their_own(top: int) -> None:
    levels = level_layout.levels_up_to(top)
    assert levels[-1] == top
    assert len({palette.level_colour(level) for level in levels}) == len(levels) == 4


def test_few_levels_are_drawn_as_they_were() -> None:
    assert level_layout.levels_up_to(0) == (0,)
    assert level_layout.levels_up_to(8) == (5, 6, 7, 8)


def test_the_axis_of_residuals_ends_above_what_is_drawn(many: sr.results.Profile) -> None:
    found = residuals_of(many)
    ax = found.plot()
    highest = max(float(np.max(line.get_ydata())) for line in ax.lines)
    assert ax.get_ylim() == pytest.approx((0.0, 1.1 * highest))
    colours = [to_hex(line.get_color()).upper() for line in ax.lines]
    assert colours == [palette.level_colour(k).upper() for k in (1, 2, 4, 64)]


@pytest.mark.parametrize("levels", [2, 4])
def test_no_point_of_residuals_is_under_their_legend(levels: int) -> None:
    ax = sr.profile(sr.examples.load("turtles"), levels=levels).residuals().plot()
    assert complaints(ax) == []
    legend = ax.get_legend()
    assert legend is not None
    assert len(legend.get_texts()) == levels
    assert legend.get_window_extent().y1 < ax.xaxis.label.get_window_extent().y0 + 1.0


@pytest.mark.parametrize("levels", [3, 5, 6, 7, 8])
def test_curves_of_a_mixture_are_named_on_the_paper(levels: int) -> None:
    p = sr.profile(sr.examples.load("turtles"), levels=levels)
    ax = p.sensitivity(rotations=1).plot()
    assert complaints(ax) == []
    words = [text.get_text() for text in ax.get_legend().get_texts()]
    assert words[-2:] == ["with uniform", "with the level below"]
    assert ("$I_{5}$ to $I_{8}$" in words) == (levels == 8)


def test_a_table_of_criteria_has_every_choice(many: sr.results.Profile) -> None:
    found = chosen_order(many)
    ax = found.plot()
    shown = [int(label.get_text()) for label in ax.get_xticklabels()]
    assert shown == sorted(shown)
    assert len(shown) == 10
    assert {0, MANY, *(level for level in found.chosen.values() if level is not None)} <= set(shown)
    assert "10 of 65 levels" in ax.texts[-1].get_text().replace("\n", " ")


# --- names --------------------------------------------------------------------------------


def test_names_of_residuals_stand_in_lines_of_their_own(axes: sr.results.Profile) -> None:
    ax = axes.residuals().plot()
    assert complaints(ax) == []
    assert ax.get_xticklabels()[0].get_text() == "1\naxis or\ngirdle"


def test_names_without_room_are_left_out() -> None:
    ax = plots.gaps(sr.profile(sr.examples.load("turtles"), levels=1))
    assert level_layout.names_that_fit(ax, ["mean rotation", "degree four"]) == [
        "mean rotation",
        "degree four",
    ]
    assert level_layout.names_that_fit(ax, ["unbreakable"] * 12) == []
    assert level_layout.names_that_fit(ax, []) == []


def test_a_title_does_not_run_into_the_panel_beside_it(axes: sr.results.Profile) -> None:
    right = axes.plot()
    figure = right.figure
    assert figure is not None
    left = figure.axes[0]
    figure.draw_without_rendering()
    box = left._left_title.get_window_extent()
    assert 0.0 <= box.x0 < box.x1 < right._left_title.get_window_extent().x0
    assert complaints(left) == []
