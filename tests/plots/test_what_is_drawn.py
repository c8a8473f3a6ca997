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
    assert title(p.plot().figure.axes[0]) == ("No level is significant; level 4 is drawn")


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


def axial(n: int) -> sr.results.Profile:
    """Bearings of two opposite ways: level 2 is there, levels 3 and 4 are noise."""
    rng = np.random.default_rng(7)
    angle = np.degrees(rng.vonmises(0.35, 6.0, n)) + 180.0 * rng.integers(2, size=n)
    return sr.profile(bearings(np.mod(angle, 360.0)), levels=4)


def test_pictures_by_themselves_draw_what_was_found_unless_told_otherwise() -> None:
    p = axial(60)
    for draw in (sr.plots.rose, sr.plots.circle_densities, sr.plots.density):
        assert title(draw(p)).startswith("Level 2 has 2 peaks")
    assert title(sr.plots.rose(p, levels=(4,))).startswith("Level 4 has")
    assert title(sr.plots.density(p, level=3)).startswith("Level 3 has")
    sites = sr.profile(vmf(80, np.array([0.3, 0.2, 1.0]), 5.0, np.random.default_rng(1)), levels=3)
    assert sites.tests().told == (1,)
    for draw in (sr.plots.stereonet, sr.plots.mollweide, sr.plots.globe):
        assert title(draw(sites)).startswith("Level 1 (mean direction) peaks")
        assert title(draw(sites, level=3)).startswith("Level 3 (three-fold) peaks")


def test_pictures_by_themselves_say_when_nothing_was_found() -> None:
    rng = np.random.default_rng(5)
    said = "No level is significant; level 2 is drawn"
    flat = sr.profile(bearings(rng.uniform(0.0, 360.0, 80)), levels=2)
    even = sr.profile(sr.Sphere().uniform(80, rng), levels=2)
    pair = sr.profile(sr.Directions.from_dihedrals(*rng.uniform(-np.pi, np.pi, (2, 80))))
    for draw, p in (
        (sr.plots.rose, flat),
        (sr.plots.mollweide, even),
        (sr.plots.ramachandran, pair),
    ):
        assert p.tests().told == ()
        assert title(draw(p)) == said
    assert title(sr.plots.mollweide(even, level=2)) != said


def test_a_comparison_says_why_it_has_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    c = sr.compare(bearings(np.arange(60) * 5.0), by=np.arange(60) % 2, levels=1)

    def refuse(*_: object) -> None:
        raise sr.DesignError("too many rows; compare moments")

    monkeypatch.setattr(type(c), "intervals", refuse)
    ax = sr.plots.between(c, plt.subplots()[1])
    words = " ".join(" ".join(text.get_text() for text in ax.texts).split())
    assert "p with Holm's correction; no interval: too many rows; compare moments" in words
    assert "no interval or p-value is defined" not in words


def test_a_title_says_once_how_sure_it_is() -> None:
    rng = np.random.default_rng(3)
    mu = np.array([0.3, 0.2, 1.0])
    c = sr.compare({"a": vmf(200, mu, 20.0, rng), "b": vmf(200, mu[::-1], 3.0, rng)}, levels=1)
    assert c.headline == "The groups differ clearly in direction and concentration"


def test_replicates_far_below_the_gap_are_seen() -> None:
    drawn = np.random.default_rng(0).chisquare(2, (200, 2)) / 1e5
    far = sr.results.Bootstrap("parametric", drawn, np.array([0.2, 1e-5]), 0, ())
    near = sr.results.Bootstrap("parametric", drawn, np.array([1e-4, 1e-5]), 0, ())
    ax = far.plot()
    assert ax.get_xscale() == "log"
    assert ax.get_xlabel() == "information gap $I_L$ (nats)"
    assert near.plot().get_xscale() == "linear"


def test_lines_over_bins_of_two_angles_are_told() -> None:
    rng = np.random.default_rng(0)
    pairs = sr.Directions.from_dihedrals(rng.vonmises(-1.1, 4.0, 4000), rng.vonmises(1, 3.0, 4000))
    labels = [axes.get_xlabel() for axes in sr.plots.ramachandran(sr.profile(pairs)).child_axes]
    assert any("lines: the fit at 2, 4, 8" in words for words in labels)


def test_hours_of_a_net_are_called_hours() -> None:
    rows = sr.Directions.from_radec([1.0, 5.0, 9.0], [10.0, 50.0, -20.0], hours=True)
    words = " ".join(sr.plots.stereonet(rows).get_xlabel().split())
    assert words.startswith("right ascension (h) round the pole, declination (°) outwards")
