"""Every picture, at every size: nothing overlaps, leaves the paper, is small or unnamed."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.axes import Axes

import steradian as sr
from picture_checks import complaints, mesh_mass
from steradian import plots

Draw = Callable[[int], Axes]


@pytest.fixture(autouse=True)
def no_window() -> Iterator[None]:
    mpl.use("Agg")
    yield
    from matplotlib import pyplot as plt

    plt.close("all")


def lonlat(n: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(n)
    lat = np.clip(rng.normal(40.0, 15.0, n), -89.0, 89.0)
    return rng.normal(100.0, 30.0, n) % 360.0, lat


def compass(n: int) -> sr.Directions:
    return sr.Directions.from_declination_inclination(*lonlat(n))


def sky(n: int) -> sr.Directions:
    return sr.Directions.from_radec(*lonlat(n))


def weighted(n: int) -> sr.Directions:
    weights = np.random.default_rng(n).random(n) + 0.1
    return sr.Directions.from_lonlat(*lonlat(n), weights=weights)


def planes(n: int) -> sr.Directions:
    strike, dip = lonlat(n)
    return sr.Directions.from_strike_dip(strike, np.abs(dip))


def plain(n: int) -> sr.Directions:
    return sr.Directions(sky(n).x)


def bearings(n: int) -> sr.Directions:
    return sr.Directions.from_azimuth(np.random.default_rng(n).normal(40.0, 50.0, n) % 360.0)


def times(n: int) -> sr.Directions:
    return sr.Directions.from_times(np.random.default_rng(n).normal(20.0, 3.0, n) % 24.0)


def dihedrals(n: int) -> sr.Directions:
    rng = np.random.default_rng(n)
    return sr.Directions.from_dihedrals(rng.vonmises(-1.1, 4.0, n), rng.vonmises(-0.8, 3.0, n))


def fitted(made: sr.Directions) -> sr.results.Profile:
    return sr.profile(made, levels=1 if made.n < 100 else 2)


def compared(n: int) -> sr.results.Comparison:
    return sr.compare(bearings(n), by=np.arange(n) % 2, levels=1)


def four_levels(n: int) -> sr.results.Comparison:
    return sr.compare(sky(n), by=np.arange(n) % 2, levels=1 if n < 100 else 4)


PICTURES: dict[str, Draw] = {
    "net": lambda n: plots.stereonet(fitted(compass(n))),
    "net of data": lambda n: plots.stereonet(compass(n), net="polar"),
    "net of poles": lambda n: plots.stereonet(planes(n), equal_angle=True),
    "net of the sky": lambda n: plots.stereonet(sky(n), data="bins"),
    "sky": lambda n: plots.mollweide(fitted(sky(n))),
    "weights": lambda n: plots.mollweide(weighted(n)),
    "globe": lambda n: plots.globe(fitted(plain(n))),
    "rose": lambda n: plots.rose(fitted(bearings(n))),
    "clock": lambda n: plots.rose(times(n)),
    "line": lambda n: plots.circle_densities(fitted(times(n))),
    "torus": lambda n: plots.ramachandran(fitted(dihedrals(n))),
    "gaps": lambda n: plots.gaps(fitted(bearings(n))),
    "page": lambda n: fitted(compass(n)).plot(),
    "tests": lambda n: fitted(bearings(n)).tests().plot(),
    "intervals": lambda n: fitted(bearings(n)).intervals().plot(),
    "spectrum": lambda n: fitted(compass(n)).spectrum().plot(),
    "residuals": lambda n: fitted(bearings(n)).residuals().plot(),
    "sensitivity": lambda n: fitted(bearings(n)).sensitivity(rotations=1).plot(),
    "order": lambda n: sr.choose_order(fitted(bearings(n)), folds=3).plot(),
    "groups": lambda n: plots.group_gaps(compared(n)),
    "comparison": lambda n: compared(n).plot(),
    "comparison of four levels": lambda n: four_levels(n).plot(),
}


LONG = "comparison of four levels"  # whose tests draw


@pytest.mark.parametrize(
    "name", [pytest.param(n, marks=[pytest.mark.slow] if n == LONG else []) for n in PICTURES]
)
def test_a_picture_reads_well(name: str) -> None:
    assert complaints(PICTURES[name](133)) == []


@pytest.mark.slow
@pytest.mark.parametrize("n", [5, 14_026])
@pytest.mark.parametrize("name", PICTURES)
def test_a_picture_of_few_and_of_many_rows_reads_well(name: str, n: int) -> None:
    assert complaints(PICTURES[name](n)) == []


def peak_of(ax: Axes) -> str:
    """What the title says of the peak, wherever its lines end."""
    words = ax.get_title(loc="left").replace("\n", " ")
    return words[words.index(" peak") :].removeprefix(" peaks at").strip()


def test_one_fit_has_one_peak_in_every_picture() -> None:
    one = fitted(plain(133))
    maps = (
        plots.stereonet(one, level=2),
        plots.mollweide(one, level=2),
        plots.globe(one, level=2),
        plots.mollweide(one.fits[2]),
    )
    assert len({peak_of(ax) for ax in maps}) == 1
    binned = plots.stereonet(one, level=2, data="bins"), plots.globe(one, level=2, data="none")
    assert {peak_of(ax) for ax in binned} == {peak_of(maps[0])}
    clock = fitted(times(133))
    assert peak_of(plots.rose(clock)) == peak_of(plots.circle_densities(clock))


def test_nobody_reads_a_negative_zero() -> None:
    x = sr.Directions(np.eye(3)[[2, 2, 2, 0, 1]] * 1.0 - 0.0)
    about_z = sr.Directions(
        np.array([[1e-3, -1e-3, 1.0], [-2e-3, 1e-3, 1.0], [0.3, 0, 1], [-0.3, 0, 1]]),
        normalize=True,
    )
    for data in (x, about_z):
        assert "−0.00" not in plots.globe(sr.profile(data, levels=1)).get_title(loc="left")


@pytest.mark.slow
def test_ten_million_rows_are_drawn() -> None:
    ax = plots.mollweide(sky(10_000_000))
    assert complaints(ax) == []
    assert mesh_mass(ax) == pytest.approx(1.0, abs=0.01)


@pytest.fixture(scope="module")
def turtles() -> sr.results.Profile:
    return sr.profile(sr.examples.load("turtles"), levels=3)


RESULTS: dict[str, Callable[[sr.results.Profile], Axes]] = {
    "residuals": lambda p: p.residuals().plot(),
    "sensitivity": lambda p: p.sensitivity(rotations=1).plot(),
    "bootstrap": lambda p: sr.bootstrap(p, replicates=49).plot(),
    "null": lambda p: sr.bootstrap(p, "parametric", replicates=49).plot(),
    "order": lambda p: sr.choose_order(p, folds=3).plot(),
    "page": plots.overview,
    "fit": lambda p: p.fits[2].plot(),
}


@pytest.mark.parametrize("name", RESULTS)
def test_every_result_draws_itself(name: str, turtles: sr.results.Profile) -> None:
    ax = RESULTS[name](turtles)
    assert complaints(ax) == []
    assert ax.get_ylabel() or name == "fit"


def test_weightings_are_drawn() -> None:
    rng = np.random.default_rng(0)
    x = sr.Directions(sr.Sphere().uniform(60, rng))
    for rows, null in ((3, "permute"), (6, None), (7, None), (40, None)):
        heads = np.exp(np.outer(rng.gamma(2.0, 2.0, rows), x.x[:, 0]))
        found = sr.profiles(x, weights=heads, levels=2, null=null)
        ax = found.plot()
        assert complaints(ax) == []
        mesh = ax.collections[0]
        np.testing.assert_allclose(np.asarray(mesh.get_array()).reshape(2, rows), found.gaps.T)


def test_a_million_weightings_become_columns_of_means() -> None:
    rng = np.random.default_rng(0)
    gaps = rng.random((100_003, 2))
    ax = plots.weighting_gaps(_Weightings(gaps))  # type: ignore[arg-type]
    shown = np.asarray(ax.collections[0].get_array()).reshape(2, -1)
    assert shown.shape[1] <= 720
    np.testing.assert_allclose(shown[0, 0], gaps[:139, 0].mean())


class _Weightings:
    """What the picture asks of `Profiles`."""

    def __init__(self, gaps: np.ndarray) -> None:
        self.gaps = gaps
        self.enough = np.ones(gaps.shape, dtype=bool)
        self.flagged = np.zeros(0)
        self.null = None
        self.failures: dict[int, Exception] = {}


def test_spaces_without_a_chart_have_their_gaps() -> None:
    rng = np.random.default_rng(0)
    profile = sr.profile(sr.Directions(rng.standard_normal((80, 5)), normalize=True), levels=1)
    ax = profile.plot()
    assert len(ax.figure.axes) == 1
    assert complaints(ax) == []


def test_a_space_of_ones_own_says_how_it_is_drawn() -> None:
    """A declared chart is all that a picture asks; no space is asked which one it is."""
    from steradian.spaces.base import chart_of

    class Mine:
        chart = "sphere"

    assert chart_of(Mine()) == "sphere"  # type: ignore[arg-type]
    assert chart_of(object()) == "none"  # type: ignore[arg-type]
    assert [chart_of(sr.Torus(k)) for k in (1, 2, 3)] == ["circle", "torus", "none"]
    assert [chart_of(sr.Axes(d)) for d in (2, 3, 4)] == ["circle", "sphere", "none"]


def test_pages_fit_journal_columns() -> None:
    one, two = plots.gaps(fitted(bearings(133))), fitted(bearings(133)).plot()
    assert one.figure.get_size_inches()[0] == pytest.approx(3.5)  # type: ignore[union-attr]
    assert two.figure.get_size_inches()[0] == pytest.approx(7.2)


def test_densities_relative_to_another_law_are_drawn_against_uniform() -> None:
    mask = sr.Mask(bands=[(-20.0, 20.0)])
    x = sr.Sphere().uniform(400, np.random.default_rng(0))
    profile = sr.profile(x[mask.sees(x)], levels=1, reference=mask)
    ax = plots.mollweide(profile)
    assert mesh_mass(ax) == pytest.approx(1.0, abs=0.02)
    values = np.asarray(ax.collections[0].get_array()).reshape(180, 360)
    np.testing.assert_array_equal(values[88:92], 0.0)  # nobody looked there
    assert "relative to" in plots.gaps(profile).get_xlabel()
