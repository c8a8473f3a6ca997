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
from steradian.plots import canvas

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


# --- the fingerprint ----------------------------------------------------------------------


def test_bars_are_the_gaps(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=3)
    assert profile.plot(ax) is ax
    bars = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    np.testing.assert_array_equal([bar.get_height() for bar in bars], profile.gaps)
    np.testing.assert_allclose([bar.get_x() + 0.3 for bar in bars], [1, 2, 3])
    assert [text.get_text() for text in ax.texts] == [f"{gap:.3f}" for gap in profile.gaps]
    assert ax.get_xticks().tolist() == [1, 2, 3]
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("level L", "information gap $I_L$ (nats)")
    assert ax.get_ylim()[1] > profile.gaps.max()


def test_bars_share_a_scale_when_asked(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    plots.fingerprint(profile, ax, top=10.0)
    assert ax.get_ylim() == pytest.approx((0.0, 11.5))


def test_a_profile_makes_its_own_axes() -> None:
    first = sr.profile(sr.examples.load("turtles"), levels=2)
    mine, other = first.plot(), first.plot()
    assert isinstance(mine, Axes)
    assert mine is not other
    assert len(mine.patches) == 2


def test_uniform_data_have_an_axis_too(ax: Axes) -> None:
    square = sr.Directions.from_angles([0, 90, 180, 270], degrees=True)
    sr.profile(square, levels=1).plot(ax)
    assert ax.get_ylim()[1] > 0.0


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
    plots.sphere_cloud(x, ax, view=(0.0, 30.0))
    far, near = (np.asarray(part.get_offsets()) for part in ax.collections)
    half, root = 0.5, 0.75**0.5  # x towards the eye but 30° below: seen low in the middle
    np.testing.assert_allclose(near, [[0.0, -half], [1.0, 0.0], [0.0, root]], atol=1e-15)
    np.testing.assert_allclose(far, [[0.0, half], [0.0, -root]], atol=1e-15)
    alphas = [float(part.get_alpha() or 1.0) for part in ax.collections]
    assert alphas[0] < alphas[1]
    assert ax.get_aspect() == 1.0


def test_every_point_is_drawn_inside_the_outline(ax: Axes) -> None:
    x = sr.examples.load("mcmurdo")
    plots.sphere_cloud(x, ax)
    drawn = np.concatenate([np.asarray(part.get_offsets()) for part in ax.collections])
    assert len(drawn) == x.n
    assert np.linalg.norm(drawn, axis=1).max() <= 1.0 + 1e-12
    for line in ax.lines:
        assert np.nanmax(np.linalg.norm(np.asarray(line.get_xydata()), axis=1)) <= 1.0 + 1e-12


def test_a_cloud_needs_space(ax: Axes) -> None:
    with pytest.raises(sr.InvalidDirections) as caught:
        plots.sphere_cloud(sr.examples.load("turtles"), ax)
    assert str(caught.value) == "these directions have d = 2; the sphere has d = 3"


# --- the circle ---------------------------------------------------------------------------


def test_densities_are_those_of_the_fits(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("turtles"), levels=3)
    smooth = np.linspace(0.0, 2.0 * np.pi, 50), np.full(50, 0.5 / np.pi)
    plots.circle_densities(profile, ax, empirical=smooth)
    assert legend(ax) == ["data, smoothed", "$p_{1}$", "$p_{2}$", "$p_{3}$"]
    for level, line in enumerate(ax.lines, start=1):
        theta, density = (np.asarray(v, dtype=float) for v in line.get_data())
        assert trapezoid(density, theta) == pytest.approx(1.0, abs=1e-10)
        at = sr.Directions.from_angles(theta)
        np.testing.assert_array_equal(density, profile.fits[level].pdf(at, measure="surface"))
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("angle θ (rad)", "density (per rad)")
    ticks = [label.get_text() for label in ax.get_xticklabels()]
    assert ticks == ["0", "π/3", "2π/3", "π", "4π/3", "5π/3", "2π"]
    np.testing.assert_allclose(ax.get_xticks(), np.pi / 3.0 * np.arange(7))


def test_without_data_there_is_only_the_hierarchy(ax: Axes) -> None:
    plots.circle_densities(sr.profile(sr.examples.load("turtles"), levels=2), ax)
    assert legend(ax) == ["$p_{1}$", "$p_{2}$"]
    assert not ax.collections


def test_densities_need_a_circle(ax: Axes) -> None:
    with pytest.raises(sr.InvalidDirections) as caught:
        plots.circle_densities(sr.profile(sr.examples.load("mcmurdo"), levels=1), ax)
    assert str(caught.value) == "this profile has d = 3; the circle has d = 2"


# --- p-values and local forms -------------------------------------------------------------


def test_the_ecdf_steps_at_the_pvalues(ax: Axes) -> None:
    plots.pvalue_ecdf({"one": [0.7, 0.2], "two": np.array([0.5])}, ax)
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
    plots.local_form({"d = 3": path}, ax, level=2)
    curve, identity = ax.lines
    np.testing.assert_array_equal(curve.get_data(), path)
    np.testing.assert_array_equal(identity.get_data(), [[0, 0.3], [0, 0.3]])
    assert identity.get_linestyle() == "--"
    assert legend(ax) == ["d = 3", "identity"]
    assert ax.get_xlabel() == "local form of $I_2$ (nats)"
    assert ax.get_ylabel() == "exact gap $I_2$ (nats)"


def _luminance(colour: str) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in rgb(colour)]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def rgb(colour: str) -> list[float]:
    return [int(to_hex(colour)[k : k + 2], 16) / 255.0 for k in (1, 3, 5)]


def test_colours_are_six_and_show_on_white() -> None:
    chosen = {canvas.colour(k) for k in range(12)}
    assert len(chosen) == 6
    assert all(1.05 / (_luminance(c) + 0.05) > 1.9 for c in chosen)
