"""Coordinate conventions: one table that Python, files, the command line and print share.

Compass conventions share one frame, x north, y east and z down (the palaeomagnetic one: Tauxe,
*Essentials of Paleomagnetism*, 2010, section 2.1); planes are held by the pole of their lower
hemisphere (Allmendinger, Cardozo and Fisher, *Structural Geology Algorithms*, 2012, chapter 2).
Longitude and latitude, right ascension and declination, and colatitude share the other: x at
(0, 0), y at longitude 90°, z at the north pole. docs/coordinates.md has both as a table.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

import numpy as np

from steradian.arguments import wrong_value
from steradian.errors import InvalidDirections
from steradian.numerics.arrays import ROUNDOFF, Array
from steradian.spaces import Rotations, Space, Torus
from steradian.spaces.rotations import as_quaternions
from steradian.text.messages import Name

Unit = Literal["degrees", "radians", "hours"]
Frame = Literal["geographic", "sky", "compass", "plane", "clock", "none"]
Turns = Sequence[tuple[Array, Array]]  # cosine and sine of each column

DEGREES_PER_HOUR = 15.0
_ANYTHING = -np.inf, np.inf


@dataclass(frozen=True, slots=True)
class Convention:
    """How numbers in columns are a direction, and how a direction is told in them.

    Attributes
    ----------
    name : str
        As in ``coords=`` and ``--coords``.
    roles : tuple of str
        What each column is. Empty where there may be any number of them.
    names : tuple of tuples of str
        Names of columns that say so, in lower case, one tuple for each spelling.
    limits : tuple of pairs
        Smallest and largest value in degrees of each column.
    rows, angles : callables
        Coordinates (n, d) from cosines and sines of the columns; angles in radians from them.
    space : callable, optional
        The space of so many columns, where it is not the unit sphere.
    axial : bool
        Whether a row has no sign unless it is said to have one.
    unit : {"degrees", "radians"}
        What arrays are in when nobody says so; columns of tables are in degrees.
    frame : str
        Orientation of pictures: "compass" is clockwise from north, "sky" has longitude to the left.
    orientation : str
        The axes, in words.
    recognised : bool
        Whether names of columns alone are enough.
    hemisphere : int or None
        The coordinate that is never negative where lines without a sign are written in it too.
    """

    name: str
    roles: tuple[str, ...]
    names: tuple[tuple[str, ...], ...]
    limits: tuple[tuple[float, float], ...] = ()
    rows: Callable[[Turns], Array] | None = None
    angles: Callable[[Array], list[Array]] | None = None
    space: Callable[[int], Space] | None = None
    axial: bool = False
    unit: Unit = "degrees"
    frame: Frame = "none"
    orientation: str = ""
    recognised: bool = True
    hemisphere: int | None = None

    @property
    def angular(self) -> bool:
        """Whether its columns are angles, rather than numbers without a unit."""
        return self.rows is not None

    def role(self, column: int) -> str:
        """What a column is, in words."""
        return self.roles[column] if column < len(self.roles) else f"angle {column + 1}"

    def on_one_side(self, x: Array) -> bool:
        """Whether all points ``x`` (n, d) lie where lines without a sign are written by habit."""
        side = self.hemisphere
        return side is not None and bool((x[:, side] >= -ROUNDOFF).all())

    def refuse_number(self, columns: int) -> None:
        """Refuse a number of columns that makes no direction."""
        if self.roles and columns != len(self.roles):
            raise InvalidDirections(
                "{name} {coords!r} takes {count} column(s), not {columns}",
                name=Name("coords"), coords=self.name, count=len(self.roles), columns=columns,
            )  # fmt: skip


def _from_longitude(turns: Turns) -> Array:
    (cos_lon, sin_lon), (cos_lat, sin_lat) = turns
    return np.stack([cos_lat * cos_lon, cos_lat * sin_lon, sin_lat], axis=1)


def _longitude(x: Array) -> list[Array]:
    return [np.arctan2(x[:, 1], x[:, 0]), np.arctan2(x[:, 2], np.hypot(x[:, 0], x[:, 1]))]


def _from_colatitude(turns: Turns) -> Array:
    (cos, sin), longitude = turns
    return _from_longitude([longitude, (sin, cos)])


def _colatitude(x: Array) -> list[Array]:
    return [np.arctan2(np.hypot(x[:, 0], x[:, 1]), x[:, 2]), np.arctan2(x[:, 1], x[:, 0])]


def _from_altitude(turns: Turns) -> Array:
    azimuth, (cos, sin) = turns
    return _from_longitude([azimuth, (cos, 0.0 - sin)])  # no negative zeros


def _altitude(x: Array) -> list[Array]:
    return _longitude(x * np.array([1.0, 1.0, -1.0]))


def _from_dip_direction(turns: Turns) -> Array:
    """The pole n = (-sin δ cos α, -sin δ sin α, cos δ) of a plane that dips by δ towards α."""
    (cos, sin), (cos_dip, sin_dip) = turns
    return np.stack([-sin_dip * cos, -sin_dip * sin, cos_dip], axis=1) + 0.0


def _dip_direction(x: Array) -> list[Array]:
    pole = np.where(x[:, 2:] < 0.0, -x, x)
    dip = np.arctan2(np.hypot(pole[:, 0], pole[:, 1]), pole[:, 2])
    return [np.arctan2(-pole[:, 1], -pole[:, 0]), dip]


def _from_strike(turns: Turns) -> Array:
    """Strike is a quarter turn before the direction of dip: the right-hand rule."""
    (cos, sin), dip = turns
    return _from_dip_direction([(-sin, cos), dip])


def _strike(x: Array) -> list[Array]:
    towards, dip = _dip_direction(x)
    return [towards - 0.5 * np.pi, dip]


def _from_angles(turns: Turns) -> Array:
    parts = [part for turn in turns for part in turn]
    if not parts:
        raise InvalidDirections("there is no column of angles; give at least one")
    return np.stack(parts, axis=1)


def _angles(x: Array) -> list[Array]:
    return [np.arctan2(x[:, k + 1], x[:, k]) for k in range(0, x.shape[1], 2)]


def _rotations(_: int) -> Space:
    return Rotations()


def matrices_as_quaternions(columns: Array) -> Array:
    """Quaternions (n, 4) of matrices in nine columns, row by row."""
    return as_quaternions(columns.reshape(-1, 3, 3))


_ROUND, _BETWEEN_POLES = _ANYTHING, (-90.0, 90.0)
_POLAR = (_ROUND, _BETWEEN_POLES)
_NORTH_POLE = "x at (0, 0), y at longitude 90°, z at the north pole"
_DOWN = "x north, y east, z down"

_TABLE = (
    Convention(
        "xyz", (), (("x", "y", "z"), ("x", "y"), ("nx", "ny", "nz"), ("ux", "uy", "uz"),
                    ("vx", "vy", "vz")),
        orientation="as given",
    ),
    Convention(
        "lonlat", ("longitude", "latitude"),
        (("lon", "lat"), ("longitude", "latitude"), ("long", "lat"), ("lng", "lat"),
         ("glon", "glat"), ("elon", "elat"), ("l", "b")),
        _POLAR, _from_longitude, _longitude, frame="geographic", orientation=_NORTH_POLE,
    ),
    Convention(
        "radec", ("right ascension", "declination"),
        (("ra", "dec"), ("ra", "de"), ("right_ascension", "declination"), ("raj2000", "dej2000"),
         ("rajd", "dejd")),
        _POLAR, _from_longitude, _longitude, frame="sky", orientation=_NORTH_POLE,
    ),
    Convention(
        "colatitude", ("colatitude", "longitude"),
        (("theta", "phi"), ("colatitude", "longitude"), ("colat", "lon"), ("polar", "azimuthal")),
        ((0.0, 180.0), _ROUND), _from_colatitude, _colatitude, frame="geographic",
        orientation="theta from z, phi from x towards y",
    ),
    Convention(
        "declination_inclination", ("declination", "inclination"),
        (("dec", "inc"), ("declination", "inclination"), ("decl", "incl")),
        _POLAR, _from_longitude, _longitude, frame="compass", orientation=_DOWN,
    ),
    Convention(
        "trend_plunge", ("trend", "plunge"), (("trend", "plunge"), ("azimuth", "plunge")),
        _POLAR, _from_longitude, _longitude, frame="compass", orientation=_DOWN, hemisphere=2,
    ),
    Convention(
        "strike_dip", ("strike", "dip"), (("strike", "dip"), ("strike", "dip_angle")),
        (_ROUND, (0.0, 90.0)), _from_strike, _strike, axial=True, frame="compass",
        orientation=f"{_DOWN}; the pole of a plane that dips to the right of its strike",
    ),
    Convention(
        "dip_direction", ("dip direction", "dip"),
        tuple((towards, dip) for dip in ("dip", "dip_angle") for towards in (
            "dip_direction", "dipdirection", "dipdir", "dip_dir", "dip_azimuth", "dipazimuth")),
        (_ROUND, (0.0, 90.0)), _from_dip_direction, _dip_direction, axial=True, frame="compass",
        orientation=f"{_DOWN}; the pole of the plane",
    ),
    Convention(
        "azimuth_altitude", ("azimuth", "altitude"),
        (("azimuth", "altitude"), ("az", "alt"), ("az", "el"), ("azimuth", "elevation")),
        _POLAR, _from_altitude, _altitude, frame="compass", orientation=_DOWN,
    ),
    Convention(
        "azimuth", ("azimuth",), (
            ("azimuth",), ("bearing",), ("heading",), ("wind_direction",), ("wind_dir",),
            ("winddir",)),
        (_ROUND,), _from_angles, _angles, frame="compass", orientation="x north, y east",
    ),
    Convention(
        "angle", ("angle",), (("angle",), ("theta",)),
        (_ROUND,), _from_angles, _angles, unit="radians", frame="plane",
        orientation="counter-clockwise from x",
    ),
    Convention(
        "time", ("time",), (("time",), ("hour",), ("hours",), ("datetime",), ("timestamp",),
                            ("date",)),
        (_ROUND,), _from_angles, _angles, frame="clock",
        orientation="clockwise from the beginning of the period", recognised=False,
    ),
    Convention(
        "dihedrals", (), (("phi", "psi"), ("phi", "psi", "omega")),
        (), _from_angles, _angles, Torus, unit="radians", frame="plane",
        orientation="cosine and sine of each angle",
    ),
    Convention(
        "quaternions", ("x", "y", "z", "w"), (("qx", "qy", "qz", "qw"),), space=_rotations,
        orientation="scalar last",
    ),
    Convention(
        "rotations", tuple(f"R{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3)),
        tuple(tuple(f"{letter}{i}{j}" for i in range(first, first + 3)
                    for j in range(first, first + 3)) for letter in "rm" for first in (1, 0)),
        space=_rotations, orientation="matrices, row by row",
    ),
)  # fmt: skip

CONVENTIONS: Mapping[str, Convention] = MappingProxyType({each.name: each for each in _TABLE})

_OTHER_NAMES = {
    "cartesian": "xyz", "lon_lat": "lonlat", "geographic": "lonlat", "ra_dec": "radec",
    "spherical": "colatitude", "theta_phi": "colatitude", "dec_inc": "declination_inclination",
    "decinc": "declination_inclination", "paleomag": "declination_inclination",
    "palaeomag": "declination_inclination", "dip_direction_dip": "dip_direction",
    "dipdir_dip": "dip_direction", "alt_az": "azimuth_altitude", "altaz": "azimuth_altitude",
    "bearing": "azimuth", "compass": "azimuth", "angles": "angle", "times": "time",
    "dihedral": "dihedrals", "quaternion": "quaternions", "rotation": "rotations",
}  # fmt: skip


def convention(name: object) -> Convention:
    """The convention of a name, as in ``coords=``; hyphens and other common names do too."""
    if isinstance(name, str):
        key = name.strip().lower().replace("-", "_")
        found = CONVENTIONS.get(_OTHER_NAMES.get(key, key))
        if found is not None:
            return found
    raise wrong_value("coords", name, f"choose {', '.join(CONVENTIONS)}", InvalidDirections)
