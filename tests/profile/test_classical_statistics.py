"""`Profile.classical`: textbook numbers as data, against other people's code and by coverage."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import circmean, circstd, directional_stats

import steradian as sr
from steradian.numerics.arrays import Array


def cloud(eta: list[float], b: list[float], n: int, seed: int) -> Array:
    return sr.FisherBingham(eta, np.diag(b)).sample(n, seed)


def test_the_mean_and_its_length_are_those_of_scipy() -> None:
    x = cloud([0.0, 3.0, 4.0], [0.0, 0.0, 0.0], 80, 1)
    got, want = sr.profile(x, levels=2).classical(), directional_stats(x)
    assert got.mean is not None
    np.testing.assert_allclose(got.mean, want.mean_direction, atol=1e-14)
    assert got.resultant == pytest.approx(float(want.mean_resultant_length), abs=1e-14)
    assert got.n == 80
    assert got["Fisher's k̂"] == pytest.approx(79.0 / (80.0 * (1.0 - got.resultant)), rel=1e-12)


def test_angles_are_told_as_they_were_given() -> None:
    theta = np.random.default_rng(3).vonmises(2.0, 3.0, 60)
    got = sr.profile(sr.Directions.from_angles(np.degrees(theta), degrees=True)).classical()
    (angle,) = got.mean_coordinates.values()
    assert angle == pytest.approx(float(np.degrees(circmean(theta))), abs=1e-9)
    assert got["circular standard deviation"] == pytest.approx(np.degrees(circstd(theta)), rel=1e-9)
    assert got.kappa == pytest.approx(sr.profile(sr.Directions.from_angles(theta)).kappa)


def test_axes_are_eigenvectors_in_the_coordinates_of_the_data() -> None:
    data = sr.examples.load("mcmurdo")
    got = sr.profile(data).classical()
    second = data.x.T @ data.x / data.n
    for axis in got.axes:
        np.testing.assert_allclose(second @ axis.direction, axis.eigenvalue * axis.direction)
        back = sr.Directions.from_declination_inclination(
            *([axis.coordinates[name]] for name in ("declination", "inclination")), degrees=True
        )
        np.testing.assert_allclose(back.x[0], axis.direction, atol=1e-12)
    assert sum(axis.eigenvalue for axis in got.axes) == pytest.approx(1.0)
    assert [axis.eigenvalue for axis in got.axes] == sorted(
        (axis.eigenvalue for axis in got.axes), reverse=True
    )


def test_fishers_cone_where_his_distribution_describes_the_rows_and_a_bootstrap_elsewhere() -> None:
    round_cloud = sr.profile(cloud([0.0, 0.0, 20.0], [0.0, 0.0, 0.0], 60, 4), levels=2).classical()
    assert round_cloud.cone is not None
    assert round_cloud.cone.method == "fisher"
    assert round_cloud.cone.angle == pytest.approx(round_cloud["α95"], rel=1e-12)
    oval = sr.profile(cloud([0.0, 0.0, 20.0], [8.0, -8.0, 0.0], 60, 4), levels=2).classical()
    assert oval.cone is not None
    assert oval.cone.method == "bootstrap"
    wide = sr.profile(cloud([0.0, 0.0, 20.0], [8.0, -8.0, 0.0], 60, 4)).classical(confidence=0.99)
    assert wide.cone is not None
    assert wide.cone.angle > oval.cone.angle
    again = sr.profile(cloud([0.0, 0.0, 20.0], [8.0, -8.0, 0.0], 60, 4), levels=2).classical()
    assert again.cone == oval.cone


def test_the_bootstrap_and_its_limit_of_many_units_agree(monkeypatch: pytest.MonkeyPatch) -> None:
    x = cloud([0.0, 0.0, 5.0], [2.0, -2.0, 0.0], 2000, 6)
    drawn = sr.profile(x, levels=2).classical(draws=4000)
    monkeypatch.setattr("steradian.classical._MOST_UNITS", 10)
    normal = sr.profile(x, levels=2).classical(draws=4000)
    assert drawn.cone is not None
    assert normal.cone is not None
    # a quantile at .95 of 4,000 draws is known to 3 %: three standard errors of the difference
    assert normal.cone.angle == pytest.approx(drawn.cone.angle, rel=0.12)


def test_clusters_widen_the_cone() -> None:
    x = np.repeat(cloud([0.0, 0.0, 5.0], [0.0, 0.0, 0.0], 40, 8), 5, axis=0)
    alone = sr.profile(x, levels=1).classical().cone
    together = sr.profile(x, levels=1, design=sr.designs.Clusters(np.arange(200) // 5))
    cone = together.classical().cone
    assert alone is not None
    assert cone is not None
    assert cone.method == "bootstrap"
    # √5 in the limit; the quantile of 999 draws is known to a tenth
    assert 1.8 < cone.angle / alone.angle < 2.8
    assert not together.classical().values


def test_what_there_is_not_is_none() -> None:
    axes = sr.profile(sr.examples.load("laths")).classical()
    assert axes.mean is None
    assert axes.cone is None
    assert np.isnan(axes.resultant)
    weighted = sr.profile(cloud([0.0, 1.0], [0.0, 0.0], 30, 2), weights=np.arange(1.0, 31.0))
    assert weighted.classical().cone is None
    assert weighted.classical().mean is not None
    json.dumps(axes.to_dict(), allow_nan=False)
    assert json.loads(json.dumps(weighted.to_dict()))["classical"]["cone"] is None


def test_every_number_is_in_frame_text_and_json() -> None:
    got = sr.profile(sr.examples.load("mcmurdo")).classical()
    frame = got.to_frame().set_index("statistic")
    assert frame.loc["Rayleigh", "value"] == got["Rayleigh"]
    for name in frame.index:
        assert name in str(got)
    assert {one["name"] for one in got.to_dict()["values"]} <= set(frame.index)


@pytest.mark.parametrize(
    ("argument", "message"),
    [({"confidence": 1.5}, "confidence"), ({"draws": 0}, "draws"), ({"seed": -1}, "seed")],
)
def test_bad_arguments_are_named(argument: dict[str, float], message: str) -> None:
    p = sr.profile(sr.examples.load("turtles"))
    with pytest.raises(sr.InvalidArgument, match=message):
        p.classical(**argument)  # type: ignore[arg-type]


@pytest.mark.slow
@pytest.mark.parametrize(("n", "b"), [(30, 0.0), (30, 4.0), (100, 4.0)])
def test_cones_cover(n: int, b: float) -> None:
    """.950, .955 and .942 of 400 samples when this was written; standard error .011."""
    law, held = sr.FisherBingham([0.0, 0.0, 10.0], np.diag([b, -b, 0.0])), []
    for seed in range(400):
        x = law.sample(n, np.random.default_rng([seed, n]))
        found = sr.profile(x, levels=2).classical(draws=299, seed=seed)
        assert found.mean is not None
        assert found.cone is not None
        away = np.degrees(np.arccos(min(found.mean[2], 1.0)))
        held.append(away <= found.cone.angle)
    assert np.mean(held) >= 0.95 - 3.0 * 0.011
