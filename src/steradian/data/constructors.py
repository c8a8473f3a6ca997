"""Directions from every convention: thin constructors over one table."""

# ruff: noqa: PLR0913 - unit, weights, counts and sign can be said in every convention

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

from numpy.typing import ArrayLike

from steradian.data.conventions import CONVENTIONS
from steradian.data.interpretation import Points, Units, points, sky, stacked_columns
from steradian.errors import InvalidDirections

Optional = ArrayLike | None


class Constructors:
    """The ``from_…`` of `Directions`.

    All take ``weights`` (n,), any scale, and ``counts`` (n,), how often each row was observed.
    ``degrees`` is assumed as the signature's convention has it when left out; angles whose sizes
    are those of another unit are refused then, with the option that says it. With ``axial`` x and
    -x are the same. Quantities of astropy bring their own unit.
    """

    __slots__ = ()

    @classmethod
    def _understood(cls, points: Points, weights: Optional, counts: Optional, axial: bool) -> Self:
        raise NotImplementedError  # of `Directions`

    @classmethod
    def _angular(
        cls,
        name: str,
        columns: Sequence[Any],
        units: Units,
        weights: Optional,
        counts: Optional,
        axial: bool,
    ) -> Self:
        return cls._understood(points(CONVENTIONS[name], columns, units), weights, counts, axial)

    @classmethod
    def from_angles(
        cls,
        theta: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions on the circle from angles, counter-clockwise from the first axis.

        Radians unless ``degrees=True``. Angles may be in any range in which double precision holds
        them to 1e-9 radians: up to 4.5e6 radians, or 2.5e8 degrees. With ``axial`` an angle and
        the one half a turn further are the same.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_angles([0, 90], degrees=True).x.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return cls._angular("angle", [theta], Units(degrees), weights, counts, axial)

    @classmethod
    def from_azimuth(
        cls,
        azimuth: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions on the circle from compass bearings, clockwise from north.

        x is north and y east; degrees unless ``degrees=False``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_azimuth([0, 90]).x.tolist()
        [[1.0, 0.0], [0.0, 1.0]]
        """
        return cls._angular("azimuth", [azimuth], Units(degrees), weights, counts, axial)

    @classmethod
    def from_times(
        cls,
        values: ArrayLike,
        period: float | str | None = None,
        *,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions on the circle from times that come round.

        Numbers are in the unit of ``period``, and taken modulo it; without one they are hours of
        the day, 0 to 24, and others an error. `coordinates` gives them back in the unit of
        ``period``, hours for ``"day"``, ``"week"`` and ``"year"``. Calendar times
        (datetimes of NumPy, pandas or Python, text like ``2024-03-01 14:35``) take ``"day"``,
        ``"week"`` (from Monday) or ``"year"``; text like ``14:35`` is a time of the day.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_times([0, 6, 12]).x.tolist()
        [[1.0, 0.0], [0.0, 1.0], [-1.0, 0.0]]
        >>> sr.Directions.from_times(["2024-01-01 18:00"], "day").x.tolist()
        [[0.0, -1.0]]
        """
        return cls._angular("time", [values], Units(period=period), weights, counts, axial)

    @classmethod
    def from_lonlat(
        cls,
        lon: Any,
        lat: Optional = None,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions on the sphere from longitude and latitude, degrees unless said otherwise.

        x points to (0, 0), y to (90, 0), z to the north pole. Latitudes beyond a pole are
        an error; longitudes may be in any range. An astropy SkyCoord alone is read in its own
        frame.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_lonlat([0, 90, 0], [0, 0, 90]).x.tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        pair, known = _pair(lon, lat, equatorial=False)
        units = Units(True if known else degrees)
        return cls._angular("lonlat", pair, units, weights, counts, axial)

    @classmethod
    def from_radec(
        cls,
        ra: Any,
        dec: Optional = None,
        *,
        degrees: bool | None = None,
        hours: bool = False,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions on the sky from right ascension and declination, degrees unless said.

        With ``hours`` the right ascension is in hours, 24 a turn, and the declination in degrees.
        An astropy SkyCoord alone is read in ICRS, with its own unit. x points to (0, 0), y to
        right ascension 90°, z to the north celestial pole.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_radec([0, 6, 0], [0, 0, 90], hours=True).x.tolist()
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        pair, known = _pair(ra, dec, equatorial=True)
        units = Units(True) if known else Units(degrees, hours)
        return cls._angular("radec", pair, units, weights, counts, axial)

    @classmethod
    def from_colatitude(
        cls,
        theta: ArrayLike,
        phi: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions on the sphere from the angle to the north pole and the longitude.

        θ runs from 0 at z to 180°, φ from x towards y (the order of physics, ISO 80000-2);
        degrees unless ``degrees=False``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_colatitude([0, 90], [0, 90]).x.tolist()
        [[0.0, 0.0, 1.0], [0.0, 1.0, 0.0]]
        """
        return cls._angular("colatitude", [theta, phi], Units(degrees), weights, counts, axial)

    @classmethod
    def from_declination_inclination(
        cls,
        dec: ArrayLike,
        inc: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Palaeomagnetic directions: declination east of north, inclination downwards.

        x north, y east, z down; degrees unless ``degrees=False``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_declination_inclination([90, 0], [0, 90]).x.tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        name, units = "declination_inclination", Units(degrees)
        return cls._angular(name, [dec, inc], units, weights, counts, axial)

    @classmethod
    def from_trend_plunge(
        cls,
        trend: ArrayLike,
        plunge: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Lines from trend (clockwise from north) and plunge (downwards).

        x north, y east, z down; degrees unless ``degrees=False``. Lines without a sense, such as
        fold axes and mineral lineations, are ``axial=True``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_trend_plunge([90, 0], [0, 90]).x.tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        return cls._angular("trend_plunge", [trend, plunge], Units(degrees), weights, counts, axial)

    @classmethod
    def from_strike_dip(
        cls,
        strike: ArrayLike,
        dip: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = True,
    ) -> Self:
        """Poles of planes from strike and dip by the right-hand rule, as axes.

        A plane dips to the right of its strike. The pole is the one of the lower hemisphere, of
        trend strike - 90° and plunge 90° - dip; x north, y east, z down. Degrees unless
        ``degrees=False``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_strike_dip([0, 45], [90, 0]).x.tolist()  # vertical; flat
        [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
        """
        return cls._angular("strike_dip", [strike, dip], Units(degrees), weights, counts, axial)

    @classmethod
    def from_dip_direction(
        cls,
        direction: ArrayLike,
        dip: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = True,
    ) -> Self:
        """Poles of planes from the azimuth they dip towards and the dip, as axes.

        As `from_strike_dip`, with the direction of dip a quarter turn after the strike.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_dip_direction([90], [45]).coordinates("trend_plunge")[0].tolist()
        [270.0]
        """
        name, units = "dip_direction", Units(degrees)
        return cls._angular(name, [direction, dip], units, weights, counts, axial)

    @classmethod
    def from_azimuth_altitude(
        cls,
        azimuth: ArrayLike,
        altitude: ArrayLike,
        *,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
        axial: bool = False,
    ) -> Self:
        """Directions from azimuth (clockwise from north) and altitude above the horizon.

        x north, y east, z down; degrees unless ``degrees=False``.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_azimuth_altitude([90, 0], [0, 90]).x.tolist()
        [[0.0, 1.0, 0.0], [0.0, 0.0, -1.0]]
        """
        name, units = "azimuth_altitude", Units(degrees)
        return cls._angular(name, [azimuth, altitude], units, weights, counts, axial)

    @classmethod
    def from_dihedrals(
        cls,
        *angles: ArrayLike,
        degrees: bool | None = None,
        weights: Optional = None,
        counts: Optional = None,
    ) -> Self:
        """Points of a torus from several angles per row, such as φ and ψ of a protein.

        Parameters
        ----------
        *angles : array_like
            One column (n,) for each angle, or all of them in one array (n, k).
        degrees : bool, optional
            Whether they are in degrees rather than radians.
        weights, counts : array_like, (n,), optional
            As for `Directions`.

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Directions.from_dihedrals([-60, -120], [-45, 130], degrees=True)
        Directions(n=2, d=4, equal weights, torus of 2 angles)
        """
        columns = stacked_columns(angles)
        return cls._angular("dihedrals", columns, Units(degrees), weights, counts, False)


def _pair(first: Any, second: Any, *, equatorial: bool) -> tuple[Sequence[Any], bool]:
    """Two columns, and whether they are degrees for certain: those of a SkyCoord are."""
    if second is not None:
        return [first, second], False
    found = sky(first, equatorial=equatorial)
    if found is None:
        raise InvalidDirections("give both columns, or an astropy SkyCoord alone")
    return found, True
