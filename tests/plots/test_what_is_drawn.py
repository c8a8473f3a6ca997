"""Pictures draw and say what was found, in the words of the text."""

from __future__ import annotations

from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot as plt

import steradian as sr
from comparison_groups import vmf

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _close() -> Iterator[None]:
    yield
    plt.close("all")


def bearings(degrees: object, **rest: object) -> sr.Directions:
    return sr.Directions.from_azimuth(degrees, degrees=True, **rest)  # type: ignore[arg-type]


def title(ax: object) -> str:
    return " ".join(ax.get_title(loc="left").split())  # type: ignore[attr-defined]


def test_a_page_draws_the_highest_level_that_was_found() -> None:
    rng = np.random.default_rng(7)
    angle = np.degrees(rng.vonmises(0.35, 6.0, 60)) + 180.0 * rng.integers(2, size=60)
    p = sr.profile(bearings(np.mod(angle, 360.0)), levels=4)
    assert p.tests().told == (2,)
    left = p.plot().figure.axes[0]
    assert title(left).startswith("Level 2 has 2 peaks")
    assert [line.get_label() for line in left.get_lines() if "p_" in line.get_label()] == [
        "$p_{1}$", "$p_{2}$",
    ]  # fmt: skip


def test_a_page_says_when_nothing_was_found() -> None:
    rng = np.random.default_rng(5)
    p = sr.profile(bearings(rng.uniform(0.0, 360.0, 80)), levels=4)
    assert p.tests().told == ()
    assert title(p.plot().figure.axes[0]) == ("No level is told apart from noise; level 4 is drawn")


def test_words_of_a_reference_stay_on_the_paper() -> None:
    x = sr.Sphere().uniform(300, np.random.default_rng(0))
    seen = x[x[:, 2] > np.sin(np.radians(-20.0))]
    p = sr.profile(seen, levels=2, reference=sr.Mask(bands=[(-90, -20)]))
    for ax in (sr.plots.gaps(p), p.plot()):
        figure = ax.figure
        figure.canvas.draw()
        box = ax.xaxis.label.get_window_extent()
        assert 0.0 <= box.x0 < box.x1 <= figure.bbox.width


@pytest.mark.parametrize("first", [0.0, 15.0])
@pytest.mark.parametrize(("step", "petals"), [(30.0, 12), (10.0, 18), (45.0, 8)])
def test_petals_are_as_wide_as_the_bins_of_counts(first: float, step: float, petals: int) -> None:
    angles = np.arange(first, 360.0 + first, step)
    counts = np.arange(4, 4 + len(angles))
    counts[-1] += 100 - counts.sum() if counts.sum() < 100 else 0
    ax = sr.plots.rose(bearings(np.mod(angles, 360.0), counts=counts))
    drawn = [np.asarray(patch.get_path().vertices) for patch in ax.patches]
    reach = np.array([np.linalg.norm(corners, axis=1).max() for corners in drawn])
    assert len(drawn) == (petals if counts.sum() < 300 else len(angles))
    assert (reach > 0.0).all()


def test_angles_on_no_scale_have_the_usual_petals() -> None:
    rng = np.random.default_rng(1)
    assert len(sr.plots.rose(bearings(rng.uniform(0, 360, 100))).patches) == 24


def test_the_title_of_a_comparison_is_its_text() -> None:
    rng = np.random.default_rng(7)
    mu = np.array([0.3, 0.2, 1.0])
    c = sr.compare({"tight": vmf(100, mu, 20.0, rng), "wide": vmf(100, mu, 3.0, rng)})
    said = title(c.plot())
    assert said == c.headline == "The groups differ clearly in concentration"
    assert said in " ".join(str(c).split())
