"""Every convention: signs and zeros against published examples and other libraries, and back."""

from __future__ import annotations

import datetime
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest

import steradian as sr
from steradian.data.conventions import CONVENTIONS, convention
from steradian.numerics.arrays import Array

RNG = np.random.default_rng(20)
N = 400
ROUND, LAT = RNG.uniform(-360.0, 720.0, N), np.rad2deg(np.arcsin(RNG.uniform(-1.0, 1.0, N)))
COLAT, DIP = 90.0 - LAT, RNG.uniform(0.0, 90.0, N)
D = sr.Directions
MAKERS: dict[str, tuple[Callable[..., sr.Directions], tuple[Array, ...]]] = {
    "lonlat": (D.from_lonlat, (ROUND, LAT)),
    "radec": (D.from_radec, (ROUND, LAT)),
    "colatitude": (D.from_colatitude, (COLAT, ROUND)),
    "declination_inclination": (D.from_declination_inclination, (ROUND, LAT)),
    "trend_plunge": (D.from_trend_plunge, (ROUND, LAT)),
    "strike_dip": (D.from_strike_dip, (ROUND, DIP)),
    "dip_direction": (D.from_dip_direction, (ROUND, DIP)),
    "azimuth_altitude": (D.from_azimuth_altitude, (ROUND, LAT)),
    "azimuth": (D.from_azimuth, (ROUND,)),
    "angle": (D.from_angles, (ROUND,)),
    "dihedrals": (D.from_dihedrals, (ROUND, LAT)),
}
# Coordinates hold an angle to 2 roundings, so that arctan2 gives it to some 4e-16 radians, or
# 3e-14 degrees, over the cosine of what lies nearest the poles; reduction adds 720 roundings.
BOUND = 1e-12


def refusal(make: Callable[[], object]) -> str:
    with pytest.raises(sr.InvalidDirections) as caught:
        make()
    return str(caught.value)


@pytest.mark.parametrize("name", MAKERS)
@pytest.mark.parametrize("degrees", [True, False])
def test_round_trips(name: str, degrees: bool) -> None:
    make, columns = MAKERS[name]
    unit = 1.0 if degrees else np.pi / 180.0
    given = [unit * column for column in columns]
    made = make(*given, degrees=degrees)
    back = made.coordinates()
    turn = 360.0 * unit
    for one, other in zip(back, made.coordinates(name, degrees=degrees), strict=True):
        # the same formula twice: sines of arrays that lie otherwise in memory may round otherwise
        np.testing.assert_allclose(one, other, rtol=0.0, atol=BOUND * turn / 360.0)
    slack = np.ones(N)
    if len(columns) == 2 and name != "dihedrals":  # a longitude near a pole says little
        tilt = columns[0] if name == "colatitude" else columns[1]
        flat = np.sin if name in ("colatitude", "strike_dip", "dip_direction") else np.cos
        slack = 1.0 / np.abs(flat(np.deg2rad(tilt)))
    for one, other in zip(given, back, strict=True):
        apart = np.abs((one - other + turn / 2) % turn - turn / 2)
        assert (apart <= BOUND * slack).all()
    again = make(*back, degrees=degrees)
    np.testing.assert_allclose(again.x, made.x, rtol=0.0, atol=BOUND)


def test_every_convention_has_a_constructor_and_names_itself() -> None:
    assert set(MAKERS) | {"xyz", "time", "quaternions", "rotations"} == set(CONVENTIONS)
    for name, (make, columns) in MAKERS.items():
        notation = make(*columns, degrees=True).notation
        assert notation is not None
        assert notation.convention is convention(name) is CONVENTIONS[name]
        assert convention(name.replace("_", "-").upper()) is CONVENTIONS[name]
    assert convention("cartesian") is CONVENTIONS["xyz"]
    assert refusal(lambda: convention("polar")).startswith("coords is 'polar'; choose xyz, lonlat")


# --- signs and zeros ----------------------------------------------------------------------


def test_palaeomagnetic_examples() -> None:
    """Those of pmagpy's `dir2cart` (Tauxe et al. 2016, doi:10.1002/2016GC006307)."""
    x = D.from_declination_inclination([200.0], [40.0]).x[0]
    np.testing.assert_allclose(x, [-0.719846310392954, -0.262002630229385, 0.642787609686539])
    dec, inc = [16.0, 30.5, 6.9, 352.5], [43.0, 53.6, 33.2, 40.2]
    field = np.array([21620.33, 12922.58, 15780.08, 33947.52])
    printed = [
        [15199.574113612794, 4358.407742577491, 14745.029604010038],
        [6607.405832448041, 3892.0594770716, 10401.304487835589],
        [13108.574245285025, 1586.3117853121191, 8640.591471770322],
        [25707.154931463603, -3384.411152593326, 21911.687763162565],
    ]
    found = field[:, None] * D.from_declination_inclination(dec, inc).x
    np.testing.assert_allclose(found, printed, rtol=1e-13)


def test_the_four_quarters_of_the_compass() -> None:
    """North, east, south, west: x north, y east; inclination, plunge and z are downwards."""
    quarters, level = [0.0, 90.0, 180.0, 270.0], [0.0] * 4
    ring = [[1, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]]
    assert D.from_declination_inclination(quarters, level).x.tolist() == ring
    assert D.from_trend_plunge(quarters, level).x.tolist() == ring
    assert D.from_azimuth_altitude(quarters, level).x.tolist() == ring
    assert D.from_azimuth(quarters).x.tolist() == [row[:2] for row in ring]
    assert D.from_trend_plunge([123.0], [90.0]).x.tolist() == [[0, 0, 1]]
    assert D.from_azimuth_altitude([123.0], [90.0]).x.tolist() == [[0, 0, -1]]
    assert D.from_colatitude([0.0, 90.0, 180.0], [77.0, 90.0, 5.0]).x.tolist() == [
        [0, 0, 1], [0, 1, 0], [0, 0, -1]
    ]  # fmt: skip


def test_poles_of_planes_against_mplstereonet() -> None:
    net = pytest.importorskip("mplstereonet")
    strike, dip = RNG.uniform(0.0, 360.0, 50), RNG.uniform(1.0, 89.0, 50)
    plunge, bearing = net.pole2plunge_bearing(strike, dip)
    poles = D.from_strike_dip(strike, dip, axial=False)
    np.testing.assert_allclose(poles.x, D.from_trend_plunge(bearing, plunge).x, atol=1e-12)
    assert (poles.x[:, 2] > 0).all()  # lower hemisphere: z is down
    towards = D.from_dip_direction(strike + 90.0, dip, axial=False)
    np.testing.assert_allclose(towards.x, poles.x, atol=1e-14)


def test_planes_are_axes_unless_said_otherwise() -> None:
    assert D.from_strike_dip([30.0], [60.0]).space == sr.Axes(3)
    assert D.from_dip_direction([30.0], [60.0]).space == sr.Axes(3)
    assert D.from_strike_dip([30.0], [60.0], axial=False).space == sr.Sphere()
    assert D.from_trend_plunge([30.0], [60.0], axial=True).space == sr.Axes(3)


def test_the_sky_against_astropy() -> None:
    pytest.importorskip("astropy")
    from astropy import units as u
    from astropy.coordinates import SkyCoord

    ra, dec = RNG.uniform(0.0, 360.0, 50), RNG.uniform(-90.0, 90.0, 50)
    sky = SkyCoord(ra * u.deg, dec * u.deg)
    expected = sky.cartesian.xyz.value.T
    quantities = D.from_radec(np.deg2rad(ra) * u.rad, dec * u.deg)
    for made in (
        D.from_radec(ra, dec),
        D.from_radec(ra / 15.0, dec, hours=True),
        D.from_radec(np.deg2rad(ra), np.deg2rad(dec), degrees=False),
        D.from_radec(sky),
        D.from_radec(sky.galactic),
        quantities,
        D.from_lonlat(sky),
    ):
        np.testing.assert_allclose(made.x, expected, atol=1e-12)
    galactic = sky.galactic
    np.testing.assert_allclose(
        D.from_lonlat(galactic).x, galactic.cartesian.xyz.value.T, atol=1e-12
    )
    assert sr.profile(sky, levels=1).n == 50
    assert refusal(lambda: D.from_radec(ra * u.m, dec * u.m)).startswith("a quantity is no angle:")
    assert "carry a unit" in refusal(lambda: D.from_radec(ra * u.deg, dec))
    assert refusal(lambda: D.from_radec(ra)) == "give both columns, or an astropy SkyCoord alone"


def test_rotations_against_scipy() -> None:
    from scipy.spatial.transform import Rotation

    turns = Rotation.random(20, random_state=3)
    frame = pd.DataFrame(
        turns.as_matrix().reshape(-1, 9), columns=[f"R{i}{j}" for i in "123" for j in "123"]
    )
    quaternions = pd.DataFrame(turns.as_quat(), columns=["qx", "qy", "qz", "qw"])
    expected = D.from_rotations(turns).x
    for made in (sr.read_directions(frame), sr.read_directions(quaternions)):
        np.testing.assert_allclose(made.x, expected, atol=1e-14)
        assert made.space == sr.Rotations()
    assert sr.profile(turns, levels=1).moments.hierarchy.space == sr.Rotations()


# --- units --------------------------------------------------------------------------------


def test_radians_that_are_taken_for_degrees_are_refused() -> None:
    lon, lat = np.deg2rad(ROUND % 360.0), np.deg2rad(LAT)
    words = refusal(lambda: D.from_lonlat(lon, lat))
    assert words.endswith(
        "these look like radians, and degrees are assumed; pass degrees=False, or degrees=True if "
        "they are degrees"
    )
    right = D.from_lonlat(lon, lat, degrees=False)
    np.testing.assert_allclose(right.x, D.from_lonlat(ROUND, LAT).x, atol=1e-12)
    assert D.from_lonlat(lon, lat, degrees=True).n == N  # if somebody insists


def test_degrees_that_are_taken_for_radians_are_refused() -> None:
    for theta in (RNG.uniform(0.0, 360.0, 9), np.arange(0, 90, 10)):
        words = refusal(lambda theta=theta: D.from_angles(theta))  # type: ignore[misc]
        assert "pass degrees=True, or degrees=False if they are radians" in words
        assert D.from_angles(theta, degrees=True).n == 9
    assert D.from_angles(RNG.uniform(-np.pi, 3 * np.pi, 50)).n == 50


def test_hours_that_are_taken_for_degrees_are_refused() -> None:
    words = refusal(lambda: D.from_radec(RNG.uniform(0.0, 24.0, 50), RNG.uniform(-90, 90, 50)))
    assert words.endswith("pass hours=True, or degrees=True if they are degrees")
    assert "not radians" in refusal(lambda: D.from_radec([1], [1], hours=True, degrees=False))


@pytest.mark.parametrize("small", [[0.1, 0.2, 0.3], [1, 2, 3, 4, 5, 6]])
def test_few_rows_and_whole_numbers_tell_no_unit(small: list[float]) -> None:
    assert D.from_lonlat(small, small).n == len(small)


def test_beyond_a_pole() -> None:
    words = "row 1 has inclination 91, beyond ±90; check the column order and the unit"
    assert refusal(lambda: D.from_declination_inclination([0, 0], [0, 91])).startswith(words)
    assert "dip 95, beyond 0 to 90" in refusal(lambda: D.from_strike_dip([0], [95]))
    assert "2 trends but 1 plunges" in refusal(lambda: D.from_trend_plunge([0, 1], [95]))


# --- times --------------------------------------------------------------------------------


def test_hours_of_the_day() -> None:
    hours = [0.0, 6.0, 12.0, 18.0, 24.0, 30.0]
    ring = [[1, 0], [0, 1], [-1, 0], [0, -1], [1, 0], [0, 1]]
    assert D.from_times(hours, 24).x.tolist() == ring
    assert D.from_times(hours[:5]).x.tolist() == ring[:5]
    clock = ["00:00", "06:00", "12:00:00", "18:00", "24:00", "6:00"]
    assert D.from_times(clock).x.tolist() == ring
    times: Any = [datetime.time(0), datetime.time(6), datetime.time(12), datetime.time(18)]
    assert D.from_times(times).x.tolist() == ring[:4]
    assert D.from_times([0, 3, 6, 9], 12).x.tolist() == ring[:4]


@pytest.mark.parametrize("kind", ["text", "numpy", "pandas", "python"])
def test_calendar_times(kind: str) -> None:
    text = ["2024-01-01 00:00", "2024-01-01T18:00:00", "2023-07-02 12:00", "2024-12-31 06:00"]
    dates = np.array([t.replace(" ", "T") for t in text], dtype="datetime64[s]")
    given: Any = {
        "text": text, "numpy": dates, "pandas": pd.Series(dates), "python": dates.tolist(),
    }[kind]  # fmt: skip
    day = D.from_times(given).x
    np.testing.assert_allclose(day, [[1, 0], [0, -1], [-1, 0], [0, 1]], atol=1e-15)
    year = D.from_times(given, "year").coordinates()[0] / (365.2425 * 24.0)
    leap, plain = 366.0, 365.0
    expected = [0.0, 0.75 / leap, (31 + 28 + 31 + 30 + 31 + 30 + 1.5) / plain, 365.25 / leap]
    np.testing.assert_allclose(year, expected, atol=1e-13)
    week = D.from_times(given, "week").coordinates()[0] / 24.0  # days since Monday
    np.testing.assert_allclose(week, [0.0, 0.75, 6.5, 1.25], atol=1e-12)


@pytest.mark.parametrize(
    ("values", "period", "words"),
    [
        (["2024-01-01T10:00Z"], "day", "time in row 0 is '2024-01-01T10:00Z', with a time zone"),
        (["soon"], "day", "times are not understood: "),
        (["25:00"], "day", "25:00 is no time of the day"),
        (["10:00"], "year", "times of the day have no year; give dates with them"),
        ([1.0], "year", "period is 'year' for plain numbers; give a number like 24"),
        ([1.0], -1.0, "period is -1.0; give a number like 24"),
        (np.array(["NaT"], dtype="datetime64[s]"), "day", "time in row 0 is missing"),
        (["2024-01-01"], 24.0, "period is 24.0 for calendar times; give period='day'"),
    ],
)
def test_times_that_are_none(values: Any, period: Any, words: str) -> None:
    assert refusal(lambda: D.from_times(values, period)).startswith(words)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([2141, 615, 1230], "hours and minutes without a colon; write them like 21:41"),
        ([77000, 300], "seconds of the day; give period=86400"),
        ([119, 121, 4], "days of the year; give period=365.25"),
        ([1.7e9, 1.71e9], "seconds since 1970; give period=86400"),
        ([-1, 4], "time in row 0 is -1, beyond the hours 0 to 24 of the day that are assumed"),
        ([4, 30], "time in row 1 is 30, beyond the hours 0 to 24"),
    ],
)
def test_numbers_that_are_no_hours_of_a_day(values: Any, words: str) -> None:
    assert words in refusal(lambda: D.from_times(values))
    folded = D.from_times(values, 24).x  # where the period is stated they may pass it
    np.testing.assert_array_equal(folded, D.from_times(np.mod(values, 24)).x)


def test_times_say_what_is_assumed_of_them() -> None:
    def said(made: sr.Directions) -> str:
        assert made.reading is not None
        return made.reading.words

    assert "time, hours of the day (assumed); weights" in said(D.from_times([1.0, 2.0]))
    assert "(assumed)" not in said(D.from_times([1.0, 2.0], 24))
    assert "time of the day; weights" in said(D.from_times(["10:00", "11:30"]))
    assert D.from_times([43210.0], 86400).notation.words(np.array([-1.0, 0.0])) == "43200 of 86400"  # type: ignore[union-attr]


def test_dates_are_not_all_midnight() -> None:
    dates: Any = ["2024-01-01", "2024-06-01"]
    assert "give period='year'" in refusal(lambda: D.from_times(dates))
    assert D.from_times(dates, "day").n == D.from_times(dates, "year").n == 2


def test_one_bad_time_is_the_one_that_is_named() -> None:
    words = refusal(lambda: D.from_times(["10:00", "noon", "11:00"]))
    assert "row 1 is 'noon'" in words


def test_right_ascensions_beyond_a_day_are_no_hours() -> None:
    words = refusal(lambda: D.from_radec([3.0, 306.0], [0, 1], hours=True))
    assert "row 1 has right ascension 306, beyond 24 hours" in words
    assert "degrees=True in place of hours=True" in words


# --- told back ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (
            D.from_declination_inclination([341.2], [-76.0]),
            "declination 341.2°, inclination -76.0°",
        ),
        (D.from_radec([5.5], [22.0], hours=True), "right ascension 5.500 h, declination 22.0°"),
        (D.from_lonlat([-10], [3]), "longitude 350.0°, latitude 3.0°"),
        (D.from_colatitude([3], [-10]), "colatitude 3.0°, longitude 350.0°"),
        (D.from_strike_dip([30], [60], axial=False), "strike 30.0°, dip 60.0°"),
        (D.from_azimuth([359.99]), "azimuth 0.0°"),
        (D.from_angles([1.25]), "angle 1.2500 rad"),
        (D.from_times([6.5]), "06:30"),
        (D.from_times(["2024-03-05 13:20"], "week"), "Tuesday 13:20"),
        (D.from_times(["2023-07-02 12:00"], "year"), "2 July"),
        (D.from_times([3.0], 12), "3 of 12"),
    ],
)
def test_a_mean_is_told_as_the_data_were(made: sr.Directions, words: str) -> None:
    assert made.notation is not None
    assert made.notation.words(made.x[0]) == words


def test_profiles_say_what_was_read_and_where_the_mean_is() -> None:
    rng = np.random.default_rng(0)
    made = D.from_declination_inclination(rng.normal(340, 9, 99), rng.normal(60, 5, 99))
    text = sr.profile(made, levels=1).summary()
    assert text.startswith(
        "read 99 rows: declination, inclination, degrees (assumed); weights none"
    )
    x, y, z = made.x.mean(axis=0)
    dec, inc = np.degrees(np.arctan2(y, x)) % 360, np.degrees(np.arctan2(z, np.hypot(x, y)))
    assert f"mean direction: declination {dec:.1f}°, inclination {inc:.1f}°" in text
    planes = D.from_strike_dip(rng.normal(30, 2, 99), rng.normal(60, 2, 99), degrees=True)
    text = sr.profile(planes, levels=1).summary()
    assert "principal axis: strike 30." in text or "principal axis: strike 29." in text
    assert "axes without a sign" in text.replace("\n", " ")


def test_directions_keep_their_notation() -> None:
    made = D.from_lonlat([1, 2, 3], [4, 5, 6], weights=[1, 2, 3])
    part = made.take(np.array([0, 2]))
    assert part.reading is not None
    assert made.reading is not None
    assert part.reading.words == made.reading.words.replace("3 rows", "2 rows")
    assert D.from_lonlat([0, 90, 180], [0, 0, 0]).within_span().notation is None
    again = pickle.loads(pickle.dumps(made))
    assert again.notation == made.notation


@pytest.mark.parametrize("name", MAKERS)
def test_weights_and_counts_everywhere(name: str) -> None:
    make, columns = MAKERS[name]
    few = [column[:3] for column in columns]
    weighted = make(*few, degrees=True, weights=[1.0, 0.0, 3.0])
    assert weighted.weights.tolist() == [0.25, 0.0, 0.75]
    counted = make(*few, degrees=True, counts=[2, 0, 1])
    assert counted.n == 3
    assert np.array_equal(counted.x[0], counted.x[1])
