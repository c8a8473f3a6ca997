"""The printed profile: every number is there, and it fits a screen."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable

import numpy as np
import pytest

import steradian as sr


def profile_of(name: str, levels: int | None = None) -> sr.Profile:
    return sr.profile(sr.examples.load(name), levels=levels)


def stopped_profile() -> sr.Profile:
    """Three points on a circle: levels 1 and 2 exist, level 3 does not."""
    return sr.profile(sr.Directions.from_angles([0, 90, 200], degrees=True))


def rows(text: str) -> list[list[str]]:
    """The cells of the lines that begin with a level number."""
    return [line.split() for line in text.splitlines() if re.match(r" +\d+ ", line)]


def large_profile() -> sr.Profile:
    profile = profile_of("mcmurdo", 2)
    moments = dataclasses.replace(profile.moments, n=1_000_000, weight_sq=0.0177)
    return dataclasses.replace(profile, moments=moments)


def test_it_fits_a_screen() -> None:
    lines = profile_of("turtles").summary().splitlines()
    assert max(map(len, lines)) <= 80
    assert len(lines) < 24


def narrow_profile() -> sr.Profile:
    """A concentration of many digits."""
    return sr.profile(sr.Directions.from_angles(1.0 + 1e-3 * np.arange(-3.0, 4.0)), levels=1)


def crowded() -> sr.Profile:
    """More than a hundred nats of noise, and long numbers beside them."""
    x = np.random.default_rng(0).normal(size=(240, 200))
    return sr.profile(sr.Directions(x, normalize=True))


def eight_dimensional() -> sr.Profile:
    return sr.profile(sr.Harmonics(8, 1).space.uniform(200, np.random.default_rng(0)), levels=2)


@pytest.mark.parametrize(
    "make",
    [
        lambda: profile_of("mcmurdo"),
        large_profile,
        stopped_profile,
        narrow_profile,
        eight_dimensional,
        crowded,
    ],
)
def test_it_fits_eighty_columns(make: Callable[[], sr.Profile]) -> None:
    assert max(map(len, make().summary().splitlines())) <= 80


def test_the_header_names_the_space_and_the_unit() -> None:
    lines = profile_of("mcmurdo", 1).summary().splitlines()
    read = "read 133 rows of mcmurdo.csv: declination `declination`, inclination `inclination`, "
    assert " ".join(lines[:2]) == f"{read}degrees; weights none"
    assert lines[3] == "Geometric information profile on the sphere (d = 3), in nats"
    plain = sr.profile(np.eye(3), levels=1).summary()  # rows of an array were not read
    assert plain.startswith("Geometric information profile on the sphere (d = 3), in nats\n")
    assert "on the circle (d = 2), in nats" in profile_of("turtles", 1).summary()
    five = sr.profile(np.vstack([np.eye(5), -np.eye(5)[:2]]))
    assert "on the sphere in R^5 (d = 5), in nats" in five.summary()


def test_the_head_counts_and_labels() -> None:
    x = sr.examples.load("mcmurdo").x
    w = np.linspace(1.0, 5.0, len(x))
    profile = sr.profile(x, weights=w, levels=1)
    head = profile.summary().split("level")[0]
    ess = w.sum() ** 2 / (w @ w)
    length = np.linalg.norm(w @ x / w.sum())
    assert "n = 133 " in head
    assert f"ESS = {ess:.1f} (weight concentration)" in head
    assert f"mean resultant length R = {length:.4f}" in head
    assert f"vMF kappa = {profile.kappa:.4g}" in head
    assert ess < 120


@pytest.mark.parametrize("name", ["mcmurdo", "turtles"])
def test_each_level_has_its_numbers(name: str) -> None:
    profile = profile_of(name)
    table = rows(profile.summary())
    assert len(table) == len(profile.levels) == 4
    total = profile.deficits[-1]
    for k, cells in enumerate(table):
        level, features, deficit, gap, noise, uncertainty, share, residual, error = cells
        assert (level, features) == (str(k + 1), str(profile.dims[k]))
        assert deficit == f"{profile.deficits[k]:.5f}"
        assert gap == f"{profile.gaps[k]:.5f}"
        assert noise == f"{profile.dims[k] / (2 * profile.n):.2g}"
        assert uncertainty == f"{np.exp(-profile.deficits[k]):.4f}"
        assert share == f"{100 * profile.gaps[k] / total:.1f}%"
        assert float(residual) == pytest.approx(profile.numerics.residual[k], rel=0.6)
        assert float(error) == pytest.approx(profile.numerics.quadrature[k], rel=0.6)


def test_it_explains_its_columns() -> None:
    lines = profile_of("turtles", 2).summary().splitlines()
    names = ["level", "features", "D", "I", "noise", "U", "share", "residual", "quad.err"]
    assert names in [line.split() for line in lines]
    explained = lines.index(next(line for line in lines if line.startswith("D deficit")))
    assert lines[explained].startswith("D deficit from uniform, I information the level's features")
    assert lines[explained + 1] == (
        "Design iid. Noise: what I is on average with nothing to find; see tests()."
    )


def test_it_ends_with_three_verdicts() -> None:
    text = profile_of("turtles", 2).summary()
    _, verdicts = text.split("Can it be trusted?\n")
    assert re.fullmatch(
        r"statistically: .+\nnumerically: .+\nstructurally: .+", verdicts, re.DOTALL
    )


def test_a_tiny_negative_gap_is_not_clipped() -> None:
    profile = profile_of("turtles", 2)
    first, second = profile.nested.solutions
    lower = dataclasses.replace(
        second, deficit=first.deficit - 2e-5, gap=np.full(1, np.nan), lam=second.lam
    )
    nested = dataclasses.replace(profile.nested, solutions=(first, lower))
    changed = dataclasses.replace(profile, nested=nested)
    assert changed.gaps[1] == pytest.approx(-2e-5)
    cells = rows(changed.summary())[1]
    assert cells[3] == "-0.00002"
    assert cells[6].startswith("-")


@pytest.mark.parametrize("deficit", [0.0, 1e-30, 9e-13])
def test_uniform_data_have_no_shares(deficit: float) -> None:
    profile = sr.profile(sr.Directions.from_angles(np.arange(8) * 45.0, degrees=True), levels=1)
    none = ["0.00000", "0.00000", "0.12", "1", "–"]
    assert rows(profile.summary())[0][2:7] == none
    only = dataclasses.replace(
        profile.nested.solutions[0], deficit=np.array([deficit]), gap=np.array([deficit])
    )
    flat = dataclasses.replace(
        profile, nested=dataclasses.replace(profile.nested, solutions=(only,))
    )
    assert rows(flat.summary())[0][2:7] == none


def test_the_stopped_line_says_why_and_what_is_sound() -> None:
    profile = stopped_profile()
    text = " ".join(profile.summary().split())
    assert profile.levels.tolist() == [1, 2]
    assert profile.stopped == (
        "level 3 does not exist: the moments lie on the boundary of the moment body "
        "(the support is only 3 distinct points, and level 3 needs at least 4); "
        "ask for fewer levels (levels=2 is sound)"
        ", or mix in a little of the uniform law (shrinkage=0.01)"
    )
    assert f"Stopped: {profile.stopped}. Can it be trusted?" in text
    assert "structurally: with care; there is no level 3" in text


def test_no_stopped_line_without_a_stop() -> None:
    profile = profile_of("turtles", 2)
    assert profile.stopped == ""
    assert "Stopped" not in profile.summary()


def test_rounding_is_reported_when_it_matters() -> None:
    profile = profile_of("turtles", 2)
    assert "Rounding" not in profile.summary()
    first, second = profile.nested.solutions
    coarse = dataclasses.replace(second, moment_rounding=np.array([3e-9]))
    nested = dataclasses.replace(profile.nested, solutions=(first, coarse))
    text = dataclasses.replace(profile, nested=nested).summary()
    assert "Rounding of the moments moves D by up to 3e-09 nats." in text


def test_printing_is_the_summary() -> None:
    profile = profile_of("turtles", 2)
    assert str(profile) == profile.summary()
