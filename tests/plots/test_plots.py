"""Plots: what is on the axes is what the results say, and nothing else."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle
from scipy.integrate import trapezoid

import steradian as sr
from steradian import plots
from steradian.paper import drawing
from steradian.plots import canvas, palette
from steradian.text.numbers import digits, pvalue_words

INSTALL = "plots need matplotlib; install it with: pip install 'steradian[plots]'"


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    mpl.use("Agg")
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


@pytest.fixture
def ax() -> Axes:
    return Figure().subplots()


def legend(ax: Axes) -> list[str]:
    found = ax.get_legend()
    assert found is not None
    return [text.get_text() for text in found.get_texts()]


# --- the gaps -----------------------------------------------------------------------------


def test_bars_are_the_gaps(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=3)
    assert profile.plot(ax) is ax
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    np.testing.assert_array_equal([bar.get_height() for bar in bars], profile.gaps)
    np.testing.assert_allclose([bar.get_x() + 0.28 for bar in bars], [1, 2, 3])
    assert [to_hex(bar.get_facecolor()).upper() for bar in bars] == list(palette.LEVELS[:3])
    pvalues = profile.tests().pvalue_holm
    shown = [text.get_text().splitlines() for text in ax.texts[:3]]
    assert shown == [
        [digits(gap), pvalue_words(p)] for gap, p in zip(profile.gaps, pvalues, strict=True)
    ]
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert ticks == ["1\nmean\ndirection", "2\ntwo-fold axis", "3\nthree-fold"]
    assert ax.get_ylabel() == "information gap $I_L$ (nats)"
    assert ax.get_title(loc="left").replace("\n", " ") == (
        "Mean direction (level 1) holds 60% of 0.444 nats; levels 1 and 2 are clear"
    )


def test_every_bar_has_its_interval_and_noise(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=3)
    plots.gaps(profile, ax)
    upright = [c.get_segments() for c in ax.collections if hasattr(c, "get_segments")]
    whiskers = np.array([s for group in upright for s in group if s[0][0] == s[1][0]])
    intervals = profile.intervals()
    np.testing.assert_array_equal(whiskers[:, 0, 1], intervals.low)
    np.testing.assert_array_equal(whiskers[:, 1, 1], intervals.high)
    flat = np.array([s for group in upright for s in group if s[0][1] == s[1][1]])
    assert set(profile.noise) <= set(flat[:, 0, 1])


def test_bars_share_a_scale_when_asked(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    plots.gaps(profile, ax, top=10.0, compact=True)
    assert ax.get_ylim() == pytest.approx((0.0, 13.0))
    assert ax.get_title(loc="left") == ""
    assert [text.get_text() for text in ax.texts] == [digits(g) for g in profile.gaps]


def test_no_bar_stands_without_an_interval(ax: Axes) -> None:
    x = sr.examples.load("turtles").x
    profile = sr.profile(x, weights=np.linspace(1.0, 2.0, len(x)), levels=2)
    plots.gaps(profile, ax)
    assert not ax.patches
    assert "no interval or p-value is defined" in ax.texts[-1].get_text().replace("\n", " ")


def test_uniform_data_have_an_axis_too(ax: Axes) -> None:
    square = sr.Directions.from_angles([0, 90, 180, 270], degrees=True)
    sr.profile(square, levels=1).plot(ax)
    assert ax.get_ylim()[1] > 0.0
    assert "noise" in ax.get_title(loc="left") or "No level" in ax.get_title(loc="left")


def test_what_are_no_axes_is_refused() -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=1)
    with pytest.raises(sr.InvalidArgument) as caught:
        profile.plot("here")
    assert str(caught.value) == "ax is 'here'; give the axes of a figure, or nothing"


@pytest.mark.parametrize("make", [canvas.new_axes, lambda: canvas.new_figure(1, 1), canvas.require])
def test_a_missing_matplotlib_is_named(monkeypatch: pytest.MonkeyPatch, make: object) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert callable(make)
    with pytest.raises(sr.MissingExtra) as caught:
        make()
    assert str(caught.value) == INSTALL


def test_importing_the_plots_does_not_need_matplotlib() -> None:
    code = "import sys; sys.modules['matplotlib'] = None; import steradian.plots, steradian.paper"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (0, b"")


# --- the cloud ----------------------------------------------------------------------------


def test_the_near_side_is_seen_from_the_eye(ax: Axes) -> None:
    x = sr.Directions([[1, 0, 0], [0, 1, 0], [0, 0, 1], [-1, 0, 0], [0, 0, -1]])
    drawing.sphere_cloud(x, ax, view=(0.0, 30.0))
    far, near = (np.asarray(part.get_offsets()) for part in ax.collections)
    half, root = 0.5, 0.75**0.5  # x towards the eye but 30° below: seen low in the middle
    np.testing.assert_allclose(near, [[0.0, -half], [1.0, 0.0], [0.0, root]], atol=1e-15)
    np.testing.assert_allclose(far, [[0.0, half], [0.0, -root]], atol=1e-15)
    alphas = [float(part.get_alpha() or 1.0) for part in ax.collections]
    assert alphas[0] < alphas[1]
    assert ax.get_aspect() == 1.0


def test_every_point_is_drawn_inside_the_outline(ax: Axes) -> None:
    x = sr.examples.load("mcmurdo")
    drawing.sphere_cloud(x, ax)
    drawn = np.concatenate([np.asarray(part.get_offsets()) for part in ax.collections])
    assert len(drawn) == x.n
    assert np.linalg.norm(drawn, axis=1).max() <= 1.0 + 1e-12
    for line in ax.lines:
        assert np.nanmax(np.linalg.norm(np.asarray(line.get_xydata()), axis=1)) <= 1.0 + 1e-12


# --- angles -------------------------------------------------------------------------------


def test_densities_are_those_of_the_fits(ax: Axes) -> None:
    """In degrees, as the file has them; each integrates to one from what is drawn."""
    profile = sr.profile(sr.examples.load("turtles"), levels=3)
    plots.circle_densities(profile, ax, levels=(1, 2, 3))
    assert legend(ax) == ["data", "$p_{1}$", "$p_{2}$", "$p_{3}$", "uniform"]
    for level, line in enumerate(ax.lines[:3], start=1):
        degrees, density = (np.asarray(v, dtype=float) for v in line.get_data())
        assert trapezoid(density, degrees) == pytest.approx(1.0, abs=1e-10)
        at = sr.Directions.from_angles(degrees, degrees=True)
        expected = profile.fits[level].pdf(at) / 360.0
        np.testing.assert_allclose(density, expected, rtol=1e-12)
        assert to_hex(line.get_color()).upper() == palette.LEVELS[level - 1]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("angle (°)", "density (per degree)")


def test_data_in_bins_integrate_to_one(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=1)
    plots.circle_densities(profile, ax)
    values, edges, _ = ax.patches[0].get_data()  # type: ignore[attr-defined]
    assert float((values * np.diff(edges)).sum()) == pytest.approx(1.0, abs=1e-12)


def test_radians_stay_radians(ax: Axes) -> None:
    rng = np.random.default_rng(0)
    profile = sr.profile(sr.Directions.from_angles(rng.vonmises(0.0, 2.0, 40)), levels=2)
    smooth = np.linspace(0.0, 2.0 * np.pi, 50), np.full(50, 0.5 / np.pi)
    plots.circle_densities(profile, ax, levels=(1, 2), empirical=smooth)
    assert legend(ax) == ["data, smoothed", "$p_{1}$", "$p_{2}$", "uniform"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("angle (rad)", "density (per rad)")
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert ticks == ["0", "π/3", "2π/3", "π", "4π/3", "5π/3", "2π"]
    theta, density = (np.asarray(v, dtype=float) for v in ax.lines[0].get_data())
    expected = profile.fits[1].pdf(sr.Directions.from_angles(theta), measure="surface")
    np.testing.assert_allclose(density, expected, rtol=1e-12)


def test_axes_have_half_a_turn(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("laths"))
    plots.circle_densities(profile, ax)
    assert ax.get_xlim() == (0.0, 180.0)
    degrees, density = (np.asarray(v, dtype=float) for v in ax.lines[0].get_data())
    assert trapezoid(density, degrees) == pytest.approx(1.0, abs=1e-10)


def test_angles_need_a_circle(ax: Axes) -> None:
    with pytest.raises(sr.InvalidArgument) as caught:
        plots.circle_densities(sr.profile(sr.examples.load("mcmurdo"), levels=1), ax)
    assert str(caught.value) == "the sphere is drawn on maps of the sphere, not on roses"


@pytest.mark.parametrize(
    ("orientation", "east"), [("compass", (0.0, 1.0)), ("mathematical", (1.0, 0.0))]
)
def test_a_rose_has_true_areas(ax: Axes, orientation: str, east: tuple[float, float]) -> None:
    """Half the integral of the squared radius is π for every density, the disc of uniform."""
    profile = sr.profile(sr.examples.load("turtles"), levels=3)
    plots.rose(profile, ax, levels=(1, 2, 3), orientation=orientation)  # type: ignore[arg-type]
    curves = [line for line in ax.lines if str(line.get_label()).startswith("$p")]
    assert len(curves) == 3
    for level, line in enumerate(curves, start=1):
        x, y = (np.asarray(v, dtype=float) for v in line.get_data())
        area = 0.5 * np.abs(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1]))
        assert area == pytest.approx(np.pi, rel=1e-4)
        zero = np.sqrt(profile.fits[level].pdf([[1.0, 0.0]])[0])
        np.testing.assert_allclose([x[0], y[0]], np.multiply(zero, east), atol=1e-12)


def test_bearings_and_times_turn_clockwise(ax: Axes) -> None:
    plots.rose(sr.Directions.from_azimuth([90.0]), ax)
    np.testing.assert_allclose(np.asarray(ax.collections[0].get_offsets())[0, 1], 0.0, atol=1e-9)
    assert np.asarray(ax.collections[0].get_offsets())[0, 0] > 0.0
    names = {text.get_text(): text.get_position() for text in ax.texts}
    assert names["E"][0] > 0.0 > names["W"][0]
    other = Figure().subplots()
    plots.rose(sr.Directions.from_times([6.0]), other)
    names = {text.get_text(): text.get_position() for text in other.texts}
    assert names["06:00"][0] > 0.0 > names["18:00"][0]
    assert names["00:00"][1] > 0.0 > names["12:00"][1]


# --- p-values and local forms -------------------------------------------------------------


def test_the_ecdf_steps_at_the_pvalues(ax: Axes) -> None:
    drawing.pvalue_ecdf({"one": [0.7, 0.2], "two": np.array([0.5])}, ax)
    diagonal, one, two = ax.lines
    np.testing.assert_array_equal(diagonal.get_xydata(), [[0, 0], [1, 1]])
    assert diagonal.get_linestyle() == ":"
    np.testing.assert_array_equal(one.get_xydata(), [[0.2, 0.0], [0.2, 0.5], [0.7, 1.0]])
    np.testing.assert_array_equal(two.get_xydata(), [[0.5, 0.0], [0.5, 1.0]])
    assert legend(ax) == ["uniform", "one", "two"]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("p-value", "empirical distribution function")
    assert one.get_color() != two.get_color()
    assert one.get_linestyle() != two.get_linestyle()


def test_local_forms_stand_against_identity(ax: Axes) -> None:
    path = np.array([0.1, 0.2]), np.array([0.1, 0.3])
    drawing.local_form({"d = 3": path}, ax, level=2)
    curve, identity = ax.lines
    np.testing.assert_array_equal(curve.get_data(), path)
    np.testing.assert_array_equal(identity.get_data(), [[0, 0.3], [0, 0.3]])
    assert identity.get_linestyle() == "--"
    assert legend(ax) == ["d = 3", "identity"]
    assert ax.get_xlabel() == "local form of $I_2$ (nats)"
    assert ax.get_ylabel() == "exact gap $I_2$ (nats)"


# --- the palette --------------------------------------------------------------------------


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def rgb(colour: str) -> list[float]:
    return [int(to_hex(colour)[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]


def test_colours_are_six_and_show_on_white() -> None:
    chosen = {canvas.colour(k) for k in range(12)}
    assert len(chosen) == 6
    assert all(1.05 / (_luminance(c) + 0.05) > 1.9 for c in chosen)


def test_levels_and_groups_share_no_colour() -> None:
    levels = {palette.level_colour(k) for k in range(1, 12)}
    groups = {palette.group_colour(k) for k in range(6)}
    assert len(levels) == 11
    assert len(groups) == 6
    assert not levels & groups


def test_densities_grow_darker() -> None:
    shades = [_luminance(to_hex(c)) for c in palette.density_map()(np.linspace(0.0, 1.0, 33))]
    assert (np.diff(shades) < 0.0).all()


def test_a_gap_whose_interval_begins_at_zero_is_not_clear_of_it() -> None:
    rng = np.random.default_rng(3)
    x = np.concatenate([rng.normal([0, 0.5, 3], 1, (2, 3)), rng.normal([0, -2, -1.5], 0.8, (3, 3))])
    found = sr.profile(sr.Directions(x, normalize=True), levels=1).intervals()
    assert found.low[0] == 0.0
    assert not found.clear_of_zero.any()
    title = found.plot().get_title(loc="left").replace("\n", " ")
    assert title == f"No gap is clear of zero: at most {found.high[0]:.2f} nats"
    sure = sr.profile(sr.examples.load("turtles"), levels=2).intervals()
    assert sure.clear_of_zero[0]
    assert "clear of zero at level" in sure.plot().get_title(loc="left").replace("\n", " ")
