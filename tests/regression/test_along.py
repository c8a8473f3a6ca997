"""Tests, intervals and the curve along a covariate."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.stats import chi2

import steradian as sr
from steradian.diagnostics import MethodCode
from steradian.errors import DesignError
from steradian.inference.covariate_tests import studentised
from steradian.numerics.arrays import Array
from steradian.regression import Regression


def turning(n: int, slope: float, seed: int = 1, levels: int = 2) -> Regression:
    """Angles about slope · z."""
    rng = np.random.default_rng(seed)
    z = rng.uniform(size=n)
    return sr.regress(sr.Directions.from_angles(rng.vonmises(slope * z, 2.0)), on=z, levels=levels)


def test_a_turn_is_direction_and_nothing_else() -> None:
    r = turning(400, 1.2)
    found = r.tests()
    assert found.any_pvalue == 1e-4
    assert found.pvalue_holm[0] < 1e-6
    assert found.parts["direction"] < 1e-6
    assert found.parts["concentration"] > 0.01
    assert found.pvalue[1] > 0.01
    assert all(how.code is MethodCode.SCORE_TAIL for how in found.methods)
    codes = [one["code"] for one in r.to_dict()["verdict"]]
    assert codes == ["depends_but_not", "any_clear", "simplest_basis"]
    assert 0.0 < r.simplest <= r.total


def test_few_rows_are_permuted_and_drawn() -> None:
    found = turning(60, 0.0).tests(permutations=199, replicates=99)
    assert found.methods[0].code is MethodCode.STUDENTISED_PERMUTATION
    assert found.methods[1].code is MethodCode.COVARIATE_BOOTSTRAP
    assert (found.pvalue > 0.01).all()
    assert found.any_pvalue > 0.01


def test_labels_have_the_score_tests_of_a_comparison() -> None:
    rng = np.random.default_rng(2)
    labels = rng.integers(0, 3, 1_200)
    x = sr.Directions.from_angles(rng.vonmises(0.2 * (labels == 1), 2.0))
    one, other = sr.regress(x, on=labels, basis="labels").tests(), sr.compare(x, by=labels).tests()
    np.testing.assert_allclose(one.statistic, other.statistic, rtol=1e-8)
    np.testing.assert_allclose(one.pvalue, other.pvalue, rtol=1e-7)
    assert one.parts["direction"] == pytest.approx(other.parts["direction"], rel=1e-7)


def test_studentised_statistic_by_hand() -> None:
    """Against explicit sums, and under independence χ² of its dimension."""
    rng = np.random.default_rng(3)
    b, y = rng.normal(size=(40, 2)), rng.normal(size=(40, 3))
    y -= y.mean(axis=0)
    order = rng.permutation(40)
    centred = b[order] - b.mean(axis=0)
    s = np.array([np.kron(one, other) for one, other in zip(centred, y, strict=True)])
    expected = s.sum(axis=0) @ np.linalg.solve(s.T @ s, s.sum(axis=0))
    assert studentised(b, y, None, order[None])[0] == pytest.approx(expected, rel=1e-9)
    along = rng.uniform(0.5, 1.5, 40)
    centred = b[order] - along @ b[order] / along.sum()
    s = np.array([np.kron(one, other) for one, other in zip(centred, y, strict=True)])
    expected = s.sum(axis=0) @ np.linalg.solve(s.T @ s, s.sum(axis=0))
    assert studentised(b, y, along, order[None])[0] == pytest.approx(expected, rel=1e-9)
    many = np.array([rng.permutation(40) for _ in range(500)])
    assert np.mean(studentised(b, y, None, many) > chi2.ppf(0.95, 6)) < 0.12


def test_score_does_not_feel_the_basis_nor_a_rotation() -> None:
    rng = np.random.default_rng(4)
    z = rng.exponential(size=600)
    x = rng.normal(size=(600, 3)) + np.array([0.0, 0.0, 1.0])
    x /= np.linalg.norm(x, axis=1)[:, None]
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    first = sr.regress(x, on=z, basis=2).tests(permutations=99)
    for other in (
        sr.regress(x @ turn.T, on=z, basis=2),
        sr.regress(x, on=z, basis=lambda v: np.column_stack([v + 1.0, v**2 - 3.0 * v])),
    ):
        found = other.tests(permutations=99)
        np.testing.assert_allclose(found.statistic, first.statistic, rtol=1e-6)
        np.testing.assert_allclose(found.pvalue, first.pvalue, rtol=1e-6)


def test_uneven_weights_are_centred_at_the_null() -> None:
    rng = np.random.default_rng(5)
    z, w = rng.uniform(size=500), rng.lognormal(0.0, 0.7, 500)
    x = sr.Directions.from_angles(rng.vonmises(z, 2.0), weights=w)
    found = sr.regress(x, on=z, design="fixed").tests(permutations=99)
    assert [how.covariance for how in found.methods] == ["null", "null"]


def test_units_that_hold_their_covariate_are_permuted_whole() -> None:
    rng = np.random.default_rng(6)
    ids = np.repeat(np.arange(200), 4)
    z = rng.uniform(size=200)[ids]
    own = rng.normal(0.0, 0.4, 200)[ids]
    x = sr.Directions.from_angles(rng.vonmises(own, 4.0))
    design = sr.designs.Clusters(ids)
    found = sr.regress(x, on=z, design=design).tests(permutations=199)
    assert found.any_pvalue > 0.01
    within = sr.regress(x, on=rng.uniform(size=800), design=design).tests(permutations=199)
    assert np.isnan(within.any_pvalue)
    assert "covariate_within_units" in {one.code for one in within.diagnostics}
    assert np.isfinite(within.pvalue).all()


def test_intervals_hold_their_values() -> None:
    r = turning(400, 1.2)
    found = r.intervals()
    assert (found.low <= found.debiased + 1e-12).all()
    assert (found.high >= found.debiased - 1e-12).all()
    assert found.total_high >= found.high.max()
    assert found.total == pytest.approx(r.total)
    json.dumps(r.to_dict(), allow_nan=False)


def test_intervals_are_as_wide_as_samples_differ() -> None:
    values = [turning(300, 1.0, seed).between[0] for seed in range(60)]
    error = turning(300, 1.0, 99).intervals().se[0]
    assert error == pytest.approx(np.std(values), rel=0.35)


def test_descriptive_weights_have_no_test() -> None:
    rng = np.random.default_rng(7)
    x = sr.Directions.from_angles(rng.vonmises(0.0, 1.0, 80), weights=rng.uniform(size=80))
    r = sr.regress(x, on=rng.uniform(size=80))
    with pytest.raises(DesignError):
        r.tests()
    assert np.isnan(r.noise).all()
    assert r.to_dict()["verdict"][0]["code"] == "most_along"
    assert np.isnan(r.curve().deficit_low).all()
    print(r)


def reference_curve(z: Array) -> tuple[Array, Array]:
    """Mean direction and length of angles about z with κ = 4 on the circle."""
    from scipy.special import i0e, i1e

    return z, np.full_like(z, i1e(4.0) / i0e(4.0))


def test_curve_follows_the_law_within_its_bands() -> None:
    rng = np.random.default_rng(8)
    z = rng.uniform(size=4_000)
    r = sr.regress(sr.Directions.from_angles(rng.vonmises(z, 4.0)), on=z, levels=1)
    at = np.linspace(0.1, 0.9, 9)
    c = r.curve(at)
    angle, length = reference_curve(at)
    away = np.abs(np.arctan2(c.mean[:, 1], c.mean[:, 0]) - angle)
    assert (away < 2.0 * c.angle_error).all()
    assert (c.angle_error < 0.06).all()
    assert (np.abs(c.resultant - length) < c.resultant_high - c.resultant_low).all()
    np.testing.assert_allclose(np.linalg.norm(c.mean, axis=1), c.resultant, atol=1e-9)
    np.testing.assert_allclose(c.gaps.sum(axis=1), c.deficit, atol=1e-9)


def test_bands_are_as_wide_as_samples_differ() -> None:
    found = [turning(300, 1.0, seed, levels=1).curve([0.3]) for seed in range(60)]
    angles = [np.arctan2(c.mean[0, 1], c.mean[0, 0]) for c in found]
    errors = np.array([c.angle_error[0] for c in found]) / 1.959964
    assert np.median(errors) == pytest.approx(np.std(angles), rel=0.3)
    lengths = [c.resultant[0] for c in found]
    half = np.array([c.resultant_high[0] - c.resultant[0] for c in found]) / 1.959964
    assert np.median(half) == pytest.approx(np.std(lengths), rel=0.3)


@pytest.mark.parametrize("space", ["axes", "torus", "five"])
def test_other_spaces(space: str) -> None:
    rng = np.random.default_rng(9)
    z = np.repeat(np.linspace(0.0, 1.0, 10), 60)
    x = rng.normal(size=(600, 5 if space == "five" else 3)) + np.eye(5 if space == "five" else 3)[0]
    x[:, 1] += z
    x /= np.linalg.norm(x, axis=1)[:, None]
    if space == "torus":
        angles = rng.vonmises(np.column_stack([z, 0.0 * z]), 2.0)
        data = sr.Directions.from_dihedrals(angles)
    else:
        data = sr.Directions(x, space=sr.Axes(3)) if space == "axes" else sr.Directions(x)
    r = sr.regress(data, on=z, basis="ranks:1", levels=1 if space == "five" else None)
    c = r.curve()
    np.testing.assert_allclose(c.gaps.sum(axis=1), c.deficit, atol=1e-7)
    assert np.isfinite(c.deficit_high).all()
    assert r.tests(permutations=199, replicates=99).any_pvalue < 0.02
    assert "depends" in str(r)


def test_names_and_frames() -> None:
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(10)
    hour = rng.uniform(0.0, 24.0, 200)
    bearing = np.degrees(rng.vonmises(np.sin(2.0 * np.pi * hour / 24.0), 3.0)) % 360.0
    table = pandas.DataFrame({"azimuth": bearing, "hour": hour})
    r = sr.regress(table, on="hour", period=24.0)
    assert r.on == "hour"
    assert r.basis.words == "fourier:2, period 24"
    assert "on hour" in str(r)
    assert list(r.to_frame().columns)[:3] == ["level", "name", "features"]
    np.testing.assert_allclose(r.curve([25.0]).lam, r.curve([1.0]).lam, atol=1e-9)
