"""HealpixMap: a map of the sky as a reference, constant within each pixel."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt

import ducc0
import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import number_array, one_of
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import AnyArray, Array, IntArray
from steradian.numerics.spheres.healpix_faces import (
    are_halved,
    face_points,
    square_nodes,
    triangle_nodes,
)
from steradian.numerics.tolerances import UNSEEN_PIXEL
from steradian.references.base import Reference
from steradian.spaces.base import Rule, Space, refuse_no_space

_UNSEEN = -16_375.0 * 10.0**26  # by which HEALPix marks pixels that were not looked at
_SCHEMES = {"ring": "RING", "nested": "NEST"}
_LADDER = ((12, 1), (16, 2), (24, 3), (32, 4), (48, 5), (64, 6), (96, 8))
"""Nodes along the side of a face that suffice for fits, and that a pixel has at least."""

_SMOOTH = 3  # nodes along the side of a pixel, from which rules agree to rounding, or nearly
_MOST_NODES = 450_000  # of one rule,
_MOST_PIXELS = 900_000  # and of the only one where pixels are many


@dataclass(frozen=True, slots=True, eq=False, init=False)
class HealpixMap:
    """A map of the sky in HEALPix pixels: a reference of `profile`.

    The law has a constant density within each pixel, in proportion to its value: an exposure, a
    coverage, a background. Give pixels at an edge the share of them that was seen; with 0 and 1
    alone the edge is as wrong as a pixel is wide. Pixels of value zero, or marked as unseen by
    -1.6375e30, were not looked at. Integrals over pixels are exact, however large these are.

    Parameters
    ----------
    values : array_like, (12 nside²,)
        One value per pixel, not negative.
    order : {"ring", "nested"}
        How pixels are ordered.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> sky = sr.HealpixMap(np.arange(48.0), "ring")
    >>> sky
    HealpixMap(nside 2, ring)
    >>> sky.at([[0, 0, -1]]).tolist()
    [44.0]
    """

    values: Array  # (npix,)
    order: str

    def __init__(self, values: ArrayLike, order: str) -> None:
        found = _numbers(values)
        if not is_map(found):
            raise InvalidArgument(
                f"a map has shape {found.shape}; give one value for each of 12 nside² pixels"
            )
        object.__setattr__(self, "order", one_of(order, "order", _SCHEMES))
        found[np.isclose(found, _UNSEEN, rtol=UNSEEN_PIXEL)] = 0.0
        bad = np.flatnonzero(~(np.isfinite(found) & (found >= 0.0)))
        if len(bad):
            raise InvalidArgument(
                f"pixel {bad[0]} of the map is {found[bad[0]]:g}; give values that are finite and "
                "not negative, 0 where nobody looked"
            )
        if not found.any():
            raise InvalidArgument(
                "all pixels of the map are zero; give at least one positive value"
            )
        nside = isqrt(len(found) // 12)
        if order == "nested" and nside & (nside - 1):
            raise InvalidArgument(f"nside is {nside}; nested maps have a power of two")
        found.flags.writeable = False
        object.__setattr__(self, "values", found)

    def __repr__(self) -> str:
        return f"HealpixMap(nside {self.nside}, {self.order})"

    @property
    def nside(self) -> int:
        """Pixels along the side of a face."""
        return isqrt(len(self.values) // 12)

    def at(self, x: ArrayLike) -> Array:
        """Values of the pixels that unit vectors ``x`` (n, 3) lie in, (n,)."""
        pixels = ducc0.healpix.Healpix_Base(self.nside, _SCHEMES[self.order])
        points = number_array(x, "x", "give unit vectors (n, 3)")
        if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
            raise InvalidArgument(f"x has shape {points.shape}; give finite unit vectors (n, 3)")
        return np.asarray(self.values[pixels.vec2pix(points)])

    def on(self, space: Space) -> Pixelated:
        """The law of the map on the two-sphere."""
        refuse_no_space(space)
        if space.dimension != 2 or space.log_area != float(np.log(4.0 * np.pi)):
            raise InvalidArgument(f"a map is of the sphere, and the data are on the {space.name}")
        return Pixelated(self)


def _numbers(values: ArrayLike) -> Array:
    """A copy of the values as numbers."""
    return number_array(values, "values of the map", "give one number for each pixel")


def is_map(values: AnyArray) -> bool:
    """Whether so many numbers are those of the pixels of a map."""
    nside = isqrt(values.size // 12) if values.ndim == 1 else 0
    return nside > 0 and 12 * nside * nside == values.size


@dataclass(frozen=True, slots=True)
class Pixelated(Reference):
    """The reference law of a map."""

    map: HealpixMap

    @property
    def words(self) -> str:
        return f"a map of nside {self.map.nside}"

    @property
    def rough(self) -> bool:
        return _ladder(self.map)[-1][1] < _SMOOTH

    def rules(self) -> int:
        return len(_ladder(self.map))

    def rule(self, rung: int) -> Rule:
        return _rule(self.map, *_ladder(self.map)[rung])

    def logpdf(self, x: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.log(self.map.at(x) / self.map.values.mean())

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        """Exact draws: a piece by its mass, and a point of it by its coordinates."""
        pieces = _pieces(self.map)
        mass = np.concatenate([piece.value * piece.side**2 for piece in pieces])
        chosen = rng.choice(len(mass), n, p=mass / mass.sum())
        face, x, y = (np.concatenate([getattr(p, k) for p in pieces]) for k in ("face", "x", "y"))
        side = np.concatenate([np.full(len(piece.x), piece.side) for piece in pieces])[chosen]
        u, v = rng.random((2, n))
        return face_points(face[chosen], x[chosen] + side * u, y[chosen] + side * v)


@dataclass(frozen=True, slots=True, eq=False)
class _Pieces:
    """Squares of one size on the faces, each of one value."""

    face: IntArray
    x: Array  # (k,) coordinates of the southern corner
    y: Array
    side: float
    value: Array  # (k,), positive


@lru_cache(maxsize=16)
def _pieces(sky: HealpixMap) -> tuple[_Pieces, ...]:
    """Pixels of positive value; where four that belong together are equal, they are one."""
    nside = sky.nside
    if nside & (nside - 1):
        return (_of_pixels(sky.values, np.flatnonzero(sky.values), nside, "RING"),)
    values = sky.values
    if sky.order == "ring":
        pixels = ducc0.healpix.Healpix_Base(nside, "NEST")
        values = values[pixels.nest2ring(np.arange(len(values)))]
    found, alone = [], np.ones(len(values), dtype=bool)  # whether of one value throughout
    while True:
        fours = values.reshape(-1, 4)
        joined = (alone.reshape(-1, 4).all(axis=1)) & (fours == fours[:, :1]).all(axis=1)
        joined &= nside > 1
        kept = alone & ~np.repeat(joined, 4) & (values > 0.0)
        if kept.any():
            found.append(_of_pixels(values, np.flatnonzero(kept), nside, "NEST"))
        if nside == 1 or not joined.any():
            return tuple(found)
        values, alone, nside = np.where(joined, fours[:, 0], np.nan), joined, nside // 2


def _of_pixels(values: Array, which: IntArray, nside: int, scheme: str) -> _Pieces:
    xyf = ducc0.healpix.Healpix_Base(nside, scheme).pix2xyf(which)
    x, y, face = (np.asarray(xyf[:, k]) for k in range(3))
    return _Pieces(face.astype(np.int64), x / nside, y / nside, 1.0 / nside, values[which])


@lru_cache(maxsize=16)
def _ladder(sky: HealpixMap) -> tuple[tuple[int, int], ...]:
    """Those of the rules whose nodes are not too many; always two."""
    pieces = _pieces(sky)
    count = sum(len(piece.x) for piece in pieces)
    if count > _MOST_PIXELS:
        raise InvalidArgument(
            f"the map has {count} pixels of different values, more than can be integrated over; "
            f"degrade it to nside {sky.nside // 2} or less"
        )

    def size(face: int, least: int) -> int:
        return sum(len(p.x) * _nodes(p.side, face, least) ** 2 for p in pieces)

    fitting = tuple(each for each in _LADDER if size(*each) <= _MOST_NODES)
    return fitting if len(fitting) >= 2 else _LADDER[:2]


def _nodes(side: float, face: int, least: int) -> int:
    return max(least, int(np.ceil(face * side)))


@lru_cache(maxsize=8)
def _rule(sky: HealpixMap, face: int, least: int) -> Rule:
    points, masses = [], []
    for piece in _pieces(sky):
        count = _nodes(piece.side, face, least)
        halved = are_halved(piece.face, piece.x, piece.y, piece.side)
        for which, nodes in ((~halved, square_nodes), (halved, triangle_nodes)):
            if which.any():
                at = piece.face[which], piece.x[which], piece.y[which]
                x, share = nodes(*at, piece.side, count)
                points.append(x.reshape(-1, 3))
                masses.append(np.outer(piece.value[which] * piece.side**2, share).ravel())
    mass = np.concatenate(masses)
    return Rule(np.concatenate(points), mass / mass.sum())
