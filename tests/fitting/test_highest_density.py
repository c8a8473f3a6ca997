"""`MaxEntFit.hpd`: thresholds and areas against closed forms, fine grids and draws."""

from __future__ import annotations

import numpy as np
import pytest

import steradian as sr
from steradian.numerics.arrays import Array


def circle(theta: Array) -> Array:
    return np.column_stack([np.cos(theta), np.sin(theta)])


@pytest.mark.parametrize("kappa", [0.5, 5.0, 1e3, 1e5])
@pytest.mark.parametrize("mass", [0.5, 0.95])
def test_the_cap_of_a_von_mises_fisher_fit_is_that_of_the_closed_form(
    kappa: float, mass: float
) -> None:
    """On the sphere t = x·μ has density κ e^{κt} / 2 sinh κ: caps of mass m end at a known t."""
    x = sr.FisherBingham([0.0, 0.0, kappa], np.zeros((3, 3))).sample(400, 3)
    fit = sr.profile(x, levels=1).fits[1]
    k = fit.kappa
    down = -np.log1p(-mass * -np.expm1(-2.0 * k)) / k  # 1 - t at the edge
    found = fit.hpd(mass)
    height = 2.0 * k * np.exp(-k * down) / -np.expm1(-2.0 * k)
    # nodes of rings stand apart by 1e-2 of the spread of the law at most
    assert found.area == pytest.approx(0.5 * down, rel=0.02)
    assert found.threshold == pytest.approx(height, rel=0.05)


def test_two_modes_on_the_circle_against_a_fine_grid() -> None:
    fit = sr.profile(sr.examples.load("turtles"), levels=2).fits[2]
    nodes = 200_000
    density = fit.pdf(circle((np.arange(nodes) + 0.5) * 2.0 * np.pi / nodes))
    falling = np.sort(density)[::-1]
    for mass in (0.1, 0.5, 0.9, 0.99):
        k = int(np.searchsorted(np.cumsum(falling) / nodes, mass))
        found = fit.hpd(mass)
        assert found.threshold == pytest.approx(falling[k], rel=2e-3)
        assert found.area == pytest.approx((k + 1) / nodes, rel=2e-3)


def test_draws_lie_inside_as_often_as_asked() -> None:
    fit = sr.profile(sr.examples.load("mcmurdo")).fits[4]
    found = fit.hpd(0.9)
    inside = found.inside(fit.sample(20_000, 1))
    assert abs(inside.mean() - 0.9) < 5.0 * np.sqrt(0.09 / 20_000)


def test_axes_and_tori_have_regions_and_many_dimensions_say_that_they_have_none() -> None:
    axes = sr.profile(sr.examples.load("laths"), levels=1).fits[1].hpd(0.5)
    assert 0.0 < axes.area < 0.5
    torus = sr.Torus(2)
    points = sr.Directions(torus.uniform(60, np.random.default_rng(1)), space=torus)
    assert 0.0 < sr.profile(points, levels=1).fits[1].hpd(0.5).area < 0.5
    five = sr.profile(sr.Hypersphere(5).uniform(60, np.random.default_rng(2)), levels=1)
    with pytest.raises(sr.InvalidArgument, match="no rule integrates level 1"):
        five.fits[1].hpd(0.5)
    with pytest.raises(sr.InvalidArgument, match="mass"):
        five.fits[1].hpd(1.5)
