"""Maps of the sphere and of the torus: places, masses, orientation, and what mplstereonet draws."""

from __future__ import annotations

import tracemalloc
import warnings
from typing import Any

import numpy as np
import pytest
from matplotlib.axes import Axes
from matplotlib.figure import Figure

import steradian as sr
from picture_checks import mesh_mass
from steradian import plots
from steradian.plots.projections import Disc, Mollweide, mollweide_angle
from steradian.plots.scene import binned
from steradian.plots.sphere_maps import density_on

RNG = np.random.default_rng(20)
LON, LAT = RNG.uniform(0.0, 360.0, 40), np.rad2deg(np.arcsin(RNG.uniform(-1.0, 1.0, 40)))


@pytest.fixture
def ax() -> Axes:
    return Figure(figsize=(3.5, 3.5), layout="constrained").subplots()


def offsets(ax: Axes) -> np.ndarray[Any, Any]:
    return np.asarray(ax.collections[-1].get_offsets())


# --- places -------------------------------------------------------------------------------


@pytest.mark.parametrize("equal_angle", [False, True])
def test_the_net_is_that_of_mplstereonet(ax: Axes, equal_angle: bool) -> None:
    """Poles of planes and lines, point for point; its rim has another radius."""
    peer = pytest.importorskip("mplstereonet")
    from mplstereonet.stereonet_transforms import LambertTransform, StereographicTransform

    kind = StereographicTransform if equal_angle else LambertTransform
    project = kind(0.0, 0.0, 75)
    strike, dip = LON, np.abs(LAT)
    trend, plunge = LON[::-1], np.abs(LAT)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a library written for an older NumPy
        rim = np.linalg.norm(project.transform(np.stack(peer.line(0.0, 30.0), axis=1)))
        poles = project.transform(np.stack(peer.pole(strike, dip), axis=1))
        lines = project.transform(np.stack(peer.line(plunge, trend), axis=1))
    plots.stereonet(sr.Directions.from_strike_dip(strike, dip), ax, equal_angle=equal_angle)
    np.testing.assert_allclose(_lower(offsets(ax)), poles / rim, atol=1e-12)
    other = Figure().subplots()
    made = sr.Directions.from_trend_plunge(trend, plunge)
    plots.stereonet(made, other, equal_angle=equal_angle)
    np.testing.assert_allclose(_lower(offsets(other)), lines / rim, atol=1e-12)


def _lower(places: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The points of the lower hemisphere, in the order of the rows."""
    return places[:40]


def test_mollweide_is_that_of_matplotlib() -> None:
    from matplotlib.projections.geo import MollweideAxes

    project = MollweideAxes.MollweideTransform(75)
    lon, lat = np.deg2rad((LON + 180.0) % 360.0 - 180.0), np.deg2rad(LAT)
    theirs = project.transform(np.stack([lon, lat], axis=1)) / np.sqrt(2.0)
    panel = Mollweide(np.eye(3)[[1, 2, 0]])
    mine, seen = panel.places(sr.Directions.from_lonlat(LON, LAT).x)
    assert seen.all()
    np.testing.assert_allclose(mine, theirs, atol=2e-3)  # its iteration stops there


def test_mollweide_solves_its_equation() -> None:
    sine = np.concatenate([np.linspace(-1.0, 1.0, 2001), [-1.0, 1.0, 0.999999]])
    t = mollweide_angle(sine)
    np.testing.assert_allclose(2.0 * t + np.sin(2.0 * t), np.pi * sine, atol=1e-9)


@pytest.mark.parametrize("kind", ["equal area", "equal angle", "orthographic"])
def test_middles_of_cells_are_drawn_where_they_are(kind: Any) -> None:
    frame = np.linalg.qr(RNG.standard_normal((3, 3)))[0]
    panel = Disc(frame, kind, shift=0.7)
    mesh = panel.mesh(20)
    places, seen = panel.places(mesh.points.reshape(-1, 3))
    assert seen.all()
    np.testing.assert_allclose(places, mesh.middles.reshape(-1, 2), atol=1e-12)
    np.testing.assert_allclose(mesh.shares.sum(), 0.5, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(mesh.points, axis=-1), 1.0, rtol=1e-12)


def test_cells_of_mollweide_are_drawn_where_they_are() -> None:
    panel = Mollweide(np.linalg.qr(RNG.standard_normal((3, 3)))[0])
    mesh = panel.mesh(20)
    places, _ = panel.places(mesh.points.reshape(-1, 3))
    np.testing.assert_allclose(places, mesh.middles.reshape(-1, 2), atol=1e-9)
    np.testing.assert_allclose(mesh.shares.sum(), 1.0, rtol=1e-12)


# --- orientation --------------------------------------------------------------------------


def test_azimuths_turn_clockwise_and_plunge_inwards(ax: Axes) -> None:
    made = sr.Directions.from_trend_plunge([0.0, 90.0, 45.0], [0.0, 30.0, 90.0])
    plots.stereonet(made, ax)
    radius = np.sqrt(2.0) * np.sin(np.deg2rad(30.0))
    np.testing.assert_allclose(offsets(ax), [[0.0, 1.0], [radius, 0.0], [0.0, 0.0]], atol=1e-12)
    names = {text.get_text(): text.get_position() for text in ax.texts}
    assert names["E"][0] > 0.9
    assert names["N"][1] > 0.9


def test_what_points_up_is_open(ax: Axes) -> None:
    plots.stereonet(sr.Directions.from_declination_inclination([10.0, 20.0], [60.0, -60.0]), ax)
    filled, hollow = ax.collections[-2:]
    np.testing.assert_allclose(np.asarray(hollow.get_facecolor())[0, :3], 1.0)
    assert np.asarray(filled.get_facecolor())[0, :3].max() < 0.3
    inclined = np.linalg.norm(np.asarray(filled.get_offsets()), axis=1)
    np.testing.assert_allclose(np.linalg.norm(np.asarray(hollow.get_offsets()), axis=1), inclined)


def test_right_ascension_runs_to_the_left(ax: Axes) -> None:
    plots.mollweide(sr.Directions.from_radec([170.0, 190.0], [10.0, 10.0]), ax)
    assert offsets(ax)[0, 0] > 0.0 > offsets(ax)[1, 0]
    assert ax.get_xlabel() == "right ascension (°, to the left)"
    assert ax.get_ylabel() == "declination (°)"
    other = Figure().subplots()
    plots.mollweide(sr.Directions.from_lonlat([-10.0, 10.0], [10.0, 10.0]), other)
    assert offsets(other)[0, 0] < 0.0 < offsets(other)[1, 0]


def test_both_sides_of_a_globe_are_there(ax: Axes) -> None:
    x = sr.Directions(np.vstack([np.eye(3), -np.eye(3)]))
    plots.globe(x, ax, view=(30.0, 35.0))
    shown = [len(np.asarray(part.get_offsets())) for part in ax.collections[-2:]]
    assert sum(shown) == 6
    names = [text.get_text() for text in ax.texts]
    assert names == ["from (30°, 35°)", "from (210°, −35°)"]


# --- masses -------------------------------------------------------------------------------


@pytest.mark.parametrize("level", [1, 4])
def test_densities_drawn_integrate_to_one(ax: Axes, level: int) -> None:
    profile = sr.profile(sr.examples.load("mcmurdo"))
    plots.stereonet(profile, ax, level=level)
    assert mesh_mass(ax) == pytest.approx(1.0, abs=2e-3)
    other = Figure().subplots()
    plots.mollweide(profile, other, level=level)
    assert mesh_mass(other) == pytest.approx(1.0, abs=2e-3)


def test_the_density_of_a_globe_integrates_to_one(ax: Axes) -> None:
    profile = sr.profile(sr.examples.load("mcmurdo"), levels=2)
    plots.globe(profile, ax, view=(15.0, -80.0))
    mass = 0.0
    for mesh, centre in zip(ax.collections[:2], (-1.28, 1.28), strict=True):
        corners = np.asarray(mesh.get_coordinates())  # type: ignore[attr-defined]
        radius = np.linalg.norm(corners[:, 0] - [centre, 0.0], axis=1)
        ring = -0.5 * np.diff(np.sqrt(np.maximum(1.0 - radius**2, 0.0)))  # of the sphere
        values = np.asarray(mesh.get_array()).reshape(len(ring), -1)
        mass += float(ring @ values.mean(axis=1))
    assert mass == pytest.approx(1.0, abs=2e-3)


def test_the_density_of_axes_integrates_to_one(ax: Axes) -> None:
    planes = sr.Directions.from_strike_dip(RNG.normal(40.0, 12.0, 80), RNG.normal(60.0, 8.0, 80))
    plots.stereonet(sr.profile(planes), ax)
    assert mesh_mass(ax) == pytest.approx(1.0, abs=2e-3)


def test_sharp_densities_get_finer_cells() -> None:
    panels: list[Any] = [Mollweide(np.eye(3)[[1, 2, 0]])]
    cells = []
    for width in (0.3, 0.004):
        near = np.array([0.6, 0.0, 0.8]) + width * RNG.standard_normal((200, 3))
        profile = sr.profile(sr.Directions(near, normalize=True), levels=1)
        meshes, _, mass = density_on(profile.fits[1], panels)
        assert mass == pytest.approx(1.0, abs=0.01)
        cells.append(meshes[0].shares.size)
    assert cells[1] > cells[0]


@pytest.mark.slow
def test_a_peak_that_is_finer_than_paper_is_said(ax: Axes) -> None:
    near = np.array([1.0, 0.0, 0.0]) + 1e-4 * RNG.standard_normal((200, 3))
    profile = sr.profile(sr.Directions(near, normalize=True), levels=1)
    plots.mollweide(profile, ax, data="none")
    assert "its peak is finer than this picture" in ax.get_title(loc="left").replace("\n", " ")


def test_torus_density_and_margins_integrate_to_one(ax: Axes) -> None:
    made = sr.Directions.from_dihedrals(RNG.vonmises(-1.1, 8.0, 400), RNG.vonmises(2.4, 5.0, 400))
    profile = sr.profile(made)
    plots.ramachandran(profile, ax)
    assert mesh_mass(ax) == pytest.approx(1.0, abs=1e-6)
    above, beside = ax.child_axes[-2:]
    for side, along in ((above, 1), (beside, 0)):
        curve = np.asarray(side.lines[0].get_data()[along], dtype=float)
        assert curve.mean() == pytest.approx(1.0, abs=1e-6)
    points = np.asarray(ax.collections[-1].get_offsets())
    angles = np.rad2deg(np.stack([np.arctan2(made.x[:, k + 1], made.x[:, k]) for k in (0, 2)], 1))
    np.testing.assert_allclose(points, angles, atol=1e-12)
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("φ (°)", "ψ (°)")


# --- many points --------------------------------------------------------------------------


def test_bins_count_every_row_once() -> None:
    """Against the bins of each row, found one by one from the pixel centres of HEALPix."""
    x = sr.Sphere().uniform(4000, RNG)
    weights = RNG.random(4000)
    bins = binned(sr.Directions(x, weights), axial=False)
    centres = bins.base.pix2vec(np.arange(len(bins.density)))
    inside = np.bincount(bins.base.vec2pix(x), weights=weights, minlength=len(centres))
    np.testing.assert_allclose(bins.density / len(centres), inside / weights.sum(), rtol=1e-12)
    nearest = np.argmax(x[:300] @ centres.T, axis=1)
    assert np.mean(nearest == bins.base.vec2pix(x[:300])) > 0.8  # bins are not Voronoi's
    assert bins.density.mean() == pytest.approx(1.0, rel=1e-12)


def test_axes_count_at_both_ends() -> None:
    x = sr.Sphere().uniform(4000, RNG)
    bins = binned(sr.Directions(x, axial=True), axial=True)
    np.testing.assert_array_equal(bins.at(x), bins.at(-x))


def test_many_points_are_bins_with_the_fit_as_lines(ax: Axes) -> None:
    x = sr.Sphere().uniform(5000, RNG) + np.array([0.0, 0.0, 0.8])
    profile = sr.profile(sr.Directions(x, normalize=True), levels=2)
    plots.mollweide(profile, ax)
    assert mesh_mass(ax) == pytest.approx(1.0, abs=0.02)
    bar = ax.child_axes[-1]
    assert "5,000 directions in bins (uniform = 1)" in bar.get_xlabel()
    assert any(text.get_text() == "uniform" for text in bar.texts)


def test_the_fullest_bin_is_told_by_its_middle(ax: Axes) -> None:
    """Not by a corner of it, which may be a pole."""
    lon, lat = RNG.uniform(55.0, 60.0, 30), RNG.uniform(38.0, 42.0, 30)
    made = sr.Directions.from_lonlat(lon, lat)
    plots.mollweide(made, ax, data="bins")
    bins = binned(made, axial=False)
    x, y, z = bins.base.pix2vec(np.array([bins.density.argmax()]))[0]
    said = ax.get_title(loc="left").replace("\n", " ").replace("\u00a0", " ")
    found = [float(part.split("°")[0].split(" ")[-1]) for part in said.split(": ")[1].split(", ")]
    assert found[0] == pytest.approx(np.rad2deg(np.arctan2(y, x)) % 360.0, abs=6.0)
    assert found[1] == pytest.approx(np.rad2deg(np.arcsin(z)), abs=6.0)  # middles of area


def test_binning_takes_no_more_memory_for_more_rows() -> None:
    peaks = []
    for n in (300_000, 1_200_000):
        directions = sr.Directions(sr.Sphere().uniform(n, RNG))
        tracemalloc.start()
        binned(directions, axial=False)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.5 * peaks[0] + 2**20


def test_areas_are_weights(ax: Axes) -> None:
    weights = np.array([1.0, 2.0, 5.0])
    plots.mollweide(sr.Directions.from_lonlat([0, 90, 200], [0, 10, 20], weights=weights), ax)
    areas = np.asarray(ax.collections[-1].get_sizes())  # type: ignore[attr-defined]
    np.testing.assert_allclose(areas / areas[0], weights, rtol=1e-12)


# --- refusals -----------------------------------------------------------------------------


def test_what_has_no_picture_is_refused_in_words() -> None:
    turns = sr.Directions.from_quaternions(sr.Rotations().uniform(30, RNG))
    with pytest.raises(sr.InvalidArgument) as caught:
        plots.density(turns)
    assert str(caught.value) == (
        "there is no picture of its points (space: rotations); plot() draws the gaps"
    )
    with pytest.raises(sr.InvalidArgument, match="level is 7; give 0 to 2"):
        plots.stereonet(sr.profile(sr.examples.load("mcmurdo"), levels=2), level=7)
    with pytest.raises(sr.InvalidArgument, match="is no profile, fit or set of directions"):
        plots.stereonet([1.0, 2.0])
