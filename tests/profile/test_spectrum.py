"""The information spectrum, levels that choose themselves, and tables that fit a screen."""

from __future__ import annotations

import json

import numpy as np
import pytest
from scipy.special import eval_legendre

import steradian as sr
from steradian.decomposition import carried
from steradian.errors import DesignError, InvalidArgument
from steradian.hierarchies import harmonics
from steradian.text.numbers import digits


@pytest.fixture(scope="module")
def lattice() -> sr.results.Profile:
    """Rows of the law 1 + 0.9 P_3, to level 6."""
    rng = np.random.default_rng(3)
    x = sr.Sphere().uniform(20_000, rng)
    height = x[:, 2] * (5.0 * x[:, 2] ** 2 - 3.0) / 2.0
    kept = x[rng.uniform(size=len(x)) < 0.5 * (1.0 + 0.9 * height)]
    return sr.profile(kept, levels=6)


def test_one_degree_stands_out(lattice: sr.results.Profile) -> None:
    """I of 1 + 0.9 P_3 is close to 0.81 / 14 nats, by the second order of x log x."""
    s = lattice.spectrum()
    np.testing.assert_array_equal(s.gaps, lattice.gaps)
    np.testing.assert_array_equal(s.debiased, lattice.gaps - lattice.noise)
    np.testing.assert_allclose(s.scales, 180.0 / np.arange(1, 7))
    assert s.stands_out[2]
    assert s.carrying == 3
    assert s.debiased[2] == pytest.approx(0.81 / 14.0, rel=0.25)
    assert s.low[2] < s.gaps[2] < s.high[2]
    assert "degrees up to 3, scales of 60° and more" in s.finding


def test_it_is_data_and_text(lattice: sr.results.Profile) -> None:
    s = lattice.spectrum()
    record = json.loads(json.dumps(s.to_dict()))
    assert record["degrees"] == [1, 2, 3, 4, 5, 6]
    assert record["gaps"] == lattice.gaps.tolist()
    frame = s.to_frame()
    assert frame["level"].tolist() == [1, 2, 3, 4, 5, 6]
    assert frame["scale"].tolist() == s.scales.tolist()
    assert "60.00°" in str(s)
    assert s.finding in repr(s)


def test_weights_that_tell_nothing_have_no_intervals() -> None:
    rng = np.random.default_rng(0)
    p = sr.profile(sr.Sphere().uniform(300, rng), weights=rng.gamma(2.0, size=300), levels=3)
    assert np.isnan(p.spectrum().low).all()
    assert p.spectrum().words
    assert p.spectrum().words in str(p.spectrum())
    assert p.spectrum().to_dict()["low"] == [None] * 3


def test_levels_of_other_hierarchies_have_no_scale() -> None:
    rng = np.random.default_rng(1)
    p = sr.profile(sr.Directions(sr.Sphere().uniform(500, rng), axial=True))
    assert len(p.spectrum().scales) == 0
    assert "level" in str(p.spectrum())


def test_auto_ends_where_the_law_ends(lattice: sr.results.Profile) -> None:
    assert lattice.directions is not None
    found = sr.profile(lattice.directions, levels="auto")
    assert len(found.levels) == carried(lattice) == 6  # log(1 + 0.9 P_3) has P_3², of degree 6
    np.testing.assert_allclose(found.gaps, lattice.gaps, rtol=0, atol=1e-11)


def test_auto_of_noise_keeps_one_level() -> None:
    x = sr.Sphere().uniform(500, np.random.default_rng(5))
    found = sr.profile(x, levels="auto")
    assert len(found.levels) == 1
    assert found.chosen == 0
    assert found.to_dict()["chosen_levels"] == 0
    assert "Chosen: 0 levels" in str(found)
    assert sr.profile(x, levels=1).chosen is None


def test_no_more_levels_are_advised_than_can_be_fitted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Structure of degree 2, 5, 8 and 10 where at most eight levels are fitted."""
    monkeypatch.setitem(harmonics._MOST_FITTED, 3, 8)
    rng = np.random.default_rng(6)
    z, t = rng.uniform(-1.0, 1.0, 20_000), rng.uniform(0.0, 2.0 * np.pi, 20_000)
    bumps = sum(eval_legendre(degree, z) for degree in (2, 5, 8, 10))
    kept = rng.random(20_000) < 0.2 + 0.2 * bumps
    z, t = z[kept], t[kept]
    s = np.sqrt(1.0 - z * z)
    found = sr.profile(np.stack([s * np.cos(t), s * np.sin(t), z], axis=1), levels="auto")
    said = " ".join(str(found).split())
    assert found.chosen == len(found.levels) == 8
    assert "at most 8 can be fitted" in said
    assert "levels above 8 cannot be fitted here" in said
    assert "try" not in said


def test_auto_climbs_past_the_default_on_the_circle() -> None:
    """Nine petals: eight levels say nothing and the ninth all."""
    rng = np.random.default_rng(2)
    theta = (rng.vonmises(0.0, 3.0, 4000) + 2.0 * np.pi * rng.integers(9, size=4000)) / 9.0
    x = sr.Directions.from_angles(theta)
    few = sr.profile(x, levels="auto")
    assert len(few.levels) <= 9  # a lull of eight levels is longer than the climb waits
    mixed = np.concatenate([theta, (rng.vonmises(0.0, 3.0, 4000)) / 3.0, rng.vonmises(1, 1, 4000)])
    assert len(sr.profile(sr.Directions.from_angles(mixed), levels="auto").levels) >= 9


def test_auto_says_what_it_needs() -> None:
    rng = np.random.default_rng(0)
    x, w = sr.Sphere().uniform(200, rng), rng.gamma(2.0, size=200)
    with pytest.raises(DesignError, match="levels='auto' asks what noise gives"):
        sr.profile(x, weights=w, levels="auto")
    assert len(sr.profile(x, weights=w, levels="auto", design="fixed").levels) >= 1
    with pytest.raises(InvalidArgument, match="give a whole number of levels, or 'auto'"):
        sr.profile(x, levels="all")
    with pytest.raises(InvalidArgument, match="with hierarchy= or shrinkage="):
        sr.profile(x, levels="auto", shrinkage=0.1)


def test_twenty_four_levels_fit_a_screen() -> None:
    theta = np.random.default_rng(4).vonmises(0.0, 1.0, 5000)
    p = sr.profile(sr.Directions.from_angles(theta), levels=24)
    lines = str(p).splitlines()
    assert len(lines) <= 40
    assert max(len(line) for line in lines) <= 80
    shared = next(line.split() for line in lines if line.strip().startswith("9–"))
    low, high = (int(part) for part in shared[0].split("–"))
    assert digits(float(p.gaps[low - 1 : high].sum())) in shared
    assert len(str(p.spectrum()).splitlines()) <= 40
