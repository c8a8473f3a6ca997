"""Modes of fitted laws against closed forms, dense grids and their own symmetries."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.fitting.modes import modes_of
from steradian.numerics.arrays import Array


def clouds(n: int, *centres: tuple[float, float, float], spread: float = 1.0) -> Array:
    rng = np.random.default_rng(n)
    x = np.concatenate([rng.normal(c, spread, (n, 3)) for c in centres])
    return np.asarray(x / np.linalg.norm(x, axis=1, keepdims=True))


@pytest.mark.parametrize("height", [0.3, 3.0, 60.0, 1000.0])
def test_level_one_peaks_at_the_mean_direction(height: float) -> None:
    fit = sr.profile(clouds(200, (0.0, 0.2 * height, height)), levels=1).fits[1]
    mean = fit.mean() / np.linalg.norm(fit.mean())
    (mode,) = fit.modes()
    np.testing.assert_allclose(mode.point, mean, atol=1e-7)
    np.testing.assert_allclose(mode.density, fit.pdf(mean[None])[0], rtol=1e-9)
    np.testing.assert_allclose(fit.lowest, fit.pdf(-mean[None])[0], rtol=1e-9)


@pytest.mark.parametrize("level", [2, 3, 4])
def test_no_point_of_a_dense_grid_is_higher(level: int) -> None:
    fit = sr.profile(clouds(300, (0.0, 0.5, 3.0), (0.0, -2.0, -1.5)), levels=4).fits[level]
    rule = sr.Sphere().rule(sr.Sphere().rules() - 4)
    values = fit.pdf(rule.points)
    best = fit.modes()[0]
    assert values.max() <= best.density * (1.0 + 1e-12)
    assert values.max() >= best.density * (1.0 - 1e-3)
    assert values.min() >= fit.lowest * (1.0 - 1e-12)
    assert len(fit.modes()) >= 2
    slopes = _slopes(fit, np.array([mode.point for mode in fit.modes()]))
    assert np.abs(slopes).max() < 1e-5


def _slopes(fit: sr.results.MaxEntFit, at: Array) -> Array:
    """Along random tangents, by differences."""
    along = np.cross(at, np.random.default_rng(0).normal(size=at.shape))
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    step = 1e-5
    ends = [np.cos(step) * at + sign * np.sin(step) * along for sign in (1.0, -1.0)]
    return np.asarray((fit.logpdf(ends[0]) - fit.logpdf(ends[1])) / (2.0 * step))


def test_two_peaks_of_a_circle_are_counted_and_ranked() -> None:
    rng = np.random.default_rng(4)
    angle = np.concatenate([rng.vonmises(0.3, 9.0, 400), rng.vonmises(2.8, 9.0, 600)])
    fit = sr.profile(np.stack([np.cos(angle), np.sin(angle)], axis=1), levels=3).fits[3]
    high = [m for m in fit.modes() if m.density > 0.1 * fit.modes()[0].density]
    turns = [float(np.arctan2(m.point[1], m.point[0])) for m in high]
    np.testing.assert_allclose(turns, [2.8, 0.3], atol=0.1)


def test_axes_have_one_mode_in_their_one_form() -> None:
    x = clouds(200, (2.0, 0.1, -3.0))
    fit = sr.profile(sr.Directions(x, space=sr.Axes(3)), levels=1).fits[1]
    (mode,) = fit.modes()
    assert mode.point[2] > 0.0
    vectors = np.linalg.eigh(x.T @ x)[1][:, -1]
    np.testing.assert_allclose(abs(vectors @ mode.point), 1.0, atol=1e-12)


def test_two_angles_peak_where_each_does() -> None:
    rng = np.random.default_rng(5)
    first, second = rng.vonmises(-1.0, 9.0, 500), rng.vonmises(2.0, 3.0, 500)
    fit = sr.profile(sr.Directions.from_dihedrals(first, second), levels=1).fits[1]
    means = [np.angle(np.exp(1j * each).mean()) for each in (first, second)]
    x = fit.modes()[0].point
    found = np.arctan2(x[1::2], x[::2])
    np.testing.assert_allclose(found, means, atol=0.1)
    around = np.linspace(-np.pi, np.pi, 181)
    a, b = (part.ravel() for part in np.meshgrid(around, around))
    grid = np.stack([np.cos(a), np.sin(a), np.cos(b), np.sin(b)], axis=1)
    assert fit.pdf(grid).max() <= fit.modes()[0].density * (1.0 + 1e-12)


def test_a_density_that_ends_is_climbed_along_its_edge() -> None:
    """exp(3 z) below 40 degrees of latitude and nothing above: the peak is on the parallel."""

    def logpdf(x: Array) -> Array:
        return np.where(x[:, 2] <= np.sin(np.radians(40.0)), 3.0 * x[:, 2] + 0.1 * x[:, 0], -np.inf)

    best = modes_of(logpdf, sr.Sphere(), 3)[0]
    np.testing.assert_allclose(np.degrees(np.arcsin(best.point[2])), 40.0, atol=0.1)
    assert best.log_density <= 3.0 * np.sin(np.radians(40.0)) + 0.1


def test_what_a_reference_rules_out_has_no_density() -> None:
    seen = sr.Directions.from_lonlat(
        [10.0, 80.0, 200.0, 300.0, 90.0], [5.0, 30.0, 60.0, 10.0, 45.0]
    )
    northern = sr.Mask(bands=[(-90, 0)])
    fit = sr.profile(seen, levels=1, reference=northern).fits[0]
    assert fit.lowest == 0.0
    np.testing.assert_allclose(fit.modes()[0].density, 2.0, rtol=1e-12)


def test_spaces_without_a_picture_are_refused() -> None:
    x = np.random.default_rng(0).normal(size=(50, 5))
    fit = sr.profile(x / np.linalg.norm(x, axis=1, keepdims=True), levels=1).fits[1]
    with pytest.raises(sr.InvalidArgument, match="circle, sphere and torus"):
        _ = fit.modes()


def test_poles_of_a_law_that_is_equal_all_around_them() -> None:
    """The nodes of a polar ring tie; none of them is above the others."""
    rng = np.random.default_rng(1)
    latitude = np.r_[90 - np.abs(rng.normal(0, 15, 100)), -90 + np.abs(rng.normal(0, 15, 80))]
    rows = sr.Directions.from_lonlat(rng.uniform(0, 360, 180), latitude, degrees=True)
    fit = sr.profile(rows, hierarchy=sr.Zonal([0, 0, 1], levels=2)).fits[2]
    north, south = fit.modes()
    np.testing.assert_allclose(north.point, [0, 0, 1], atol=1e-6)
    np.testing.assert_allclose(south.point, [0, 0, -1], atol=1e-6)
    np.testing.assert_allclose(south.density, fit.pdf(np.array([[0.0, 0.0, -1.0]]))[0], rtol=1e-6)


def test_a_peak_midway_between_two_nodes() -> None:
    def logpdf(x: Array) -> Array:
        t = np.arctan2(x[:, 1], x[:, 0]) - np.pi / 1024
        return np.asarray(3.0 * np.cos(2 * t) + 0.1 * np.cos(t))

    assert len(modes_of(logpdf, sr.Circle(), 4)) == 2


def test_a_uniform_law_is_no_range_of_mountains() -> None:
    assert len(sr.profile(clouds(50, (0.0, 0.0, 1.0)), levels=1).fits[0].modes()) == 1
