"""Mask: what of the circle or the sphere is not looked at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from steradian.arguments import number_array, shown, truth
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import AnyArray, Array, BoolArray
from steradian.numerics.tolerances import ANGLE_LIMIT, CONCENTRIC
from steradian.references.base import HalfSpace, Reference, reference_space
from steradian.references.cut_rules import LADDER, circle_rule, sphere_rule
from steradian.references.density import Density, OfDensity, rejected
from steradian.references.shapes import Band, Cap, Polygon, Shape, lonlat_vector
from steradian.spaces.base import Rule, Space, refuse_no_space

_MOST_NODES = 400_000  # of one rule
_RUNG = 1  # by which sizes of others are told
_FINE = 7  # that gives areas to rounding


@dataclass(frozen=True, slots=True, init=False, repr=False)
class Mask:
    """Parts of the sphere, or the circle, that nobody looked at: a reference of `profile`.

    The reference law is uniform on what is left. Rules that integrate against it end exactly at
    the edges, wherever these lie, so that no digit is lost there.

    Parameters
    ----------
    bands : sequence of (low, high)
        Latitudes about ``pole``.
    caps : sequence of (lon, lat, radius)
        Discs, by centre and radius; on the circle (angle, radius).
    polygons : sequence of (m, 2) array_like
        Longitude and latitude of corners, between which edges are arcs of great circles. Of the
        two sides the smaller one is meant.
    pole : (lon, lat), optional
        What latitudes of bands are about; by default the pole of the coordinates. The pole of the
        Milky Way has right ascension 192.85948° and declination 27.12825° (J2000).
    keep : bool
        Whether the shapes are all that was looked at, rather than what was not.
    density : callable, optional
        From points (n, d) to an exposure, smooth where nothing is masked; uniform by default.
    degrees : bool
        Unit of all angles, degrees unless False.

    Examples
    --------
    >>> import numpy as np, steradian as sr
    >>> mask = sr.Mask(bands=[(-20, 20)])
    >>> mask
    Mask(without latitudes -20° to 20°)
    >>> x = sr.Sphere().uniform(400, np.random.default_rng(0))
    >>> p = sr.profile(x[abs(x[:, 2]) > np.sin(np.radians(20))], reference=mask, levels=2)
    >>> p.tests().pvalue.round(2).tolist()
    [0.17, 0.25]
    """

    shapes: tuple[Shape, ...]
    keep: bool
    density: Callable[[Array], AnyArray] | None

    def __init__(  # noqa: PLR0913 - what people say of a mask
        self,
        bands: Sequence[ArrayLike] = (),
        caps: Sequence[ArrayLike] = (),
        polygons: Sequence[ArrayLike] = (),
        *,
        pole: ArrayLike | None = None,
        keep: bool = False,
        density: Callable[[Array], AnyArray] | None = None,
        degrees: bool = True,
    ) -> None:
        unit = np.pi / 180.0 if truth(degrees, "degrees") else 1.0
        up = (0.0, 0.0, 1.0) if pole is None else _vector(_numbers(pole, 2, "pole") * unit)
        shapes: list[Shape] = [_band(each, unit, up) for each in _listed(bands, "bands")]
        shapes += [_cap(each, unit) for each in _listed(caps, "caps")]
        shapes += [_polygon(each, unit) for each in _listed(polygons, "polygons")]
        if not shapes:
            raise InvalidArgument("a mask without bands, caps or polygons; give at least one")
        if len({len(shape.axis) for shape in shapes}) > 1:
            raise InvalidArgument(
                "caps (angle, radius) are of the circle; bands and others are not"
            )
        if density is not None and not callable(density):
            raise InvalidArgument(f"density is {shown(density)}; give a function of points (n, d)")
        object.__setattr__(self, "shapes", tuple(shapes))
        object.__setattr__(self, "keep", truth(keep, "keep"))
        object.__setattr__(self, "density", density)

    def __repr__(self) -> str:
        return f"Mask({self.words})"

    @property
    def words(self) -> str:
        """What is looked at, after "uniform": "without latitudes -10° to 10°"."""
        named = " and ".join(shape.words for shape in self.shapes[:3])
        more = f" and {len(self.shapes) - 3} more" if len(self.shapes) > 3 else ""
        return f"{'only' if self.keep else 'without'} {named}{more}"

    @property
    def d(self) -> int:
        """Ambient dimension."""
        return len(self.shapes[0].axis)

    def sees(self, x: ArrayLike) -> BoolArray:
        """Which of the unit vectors ``x`` (n, d) lie where it was looked, (n,).

        Examples
        --------
        >>> import steradian as sr
        >>> sr.Mask(bands=[(-20, 20)]).sees([[1, 0, 0], [0, 0, 1]]).tolist()
        [False, True]
        """
        points = number_array(x, "x", f"give points (n, {self.d})")
        if points.ndim != 2 or points.shape[1] != self.d or not np.isfinite(points).all():
            raise InvalidArgument(f"x has shape {points.shape}; give finite points (n, {self.d})")
        masked = np.zeros(len(points), dtype=bool)
        for shape in self.shapes:
            masked |= shape.holds(points)
        return masked if self.keep else ~masked

    def on(self, space: Space) -> Region | Exposure:
        """The law of what is left of a space."""
        refuse_no_space(space)
        if space.d != self.d or space.dimension != self.d - 1:
            where = "circle" if self.d == 2 else "sphere"
            raise InvalidArgument(
                f"this mask is of the {where}, and the data are on the {space.name}"
            )
        found = Region(space, self)
        if not _cut(found, 0)[1] > 0.0:
            raise InvalidArgument(f"nothing is left of the {space.name}: {self.words}")
        return found if self.density is None else Exposure(found, self.density)


@dataclass(frozen=True, slots=True)
class Region(Reference):
    """The reference law of a mask that is uniform on what it leaves."""

    space: Space
    mask: Mask

    @property
    def words(self) -> str:
        return f"uniform {self.mask.words}"

    @property
    def area(self) -> float:
        """Share of the space that was looked at."""
        return _cut(self, min(_FINE, _affordable(self) - 1))[1]

    @property
    def half_spaces(self) -> list[HalfSpace]:
        """Some that hold all that was looked at."""
        shapes, keep = self.mask.shapes, self.mask.keep
        if keep and len(shapes) > 1:
            return []
        return [each for shape in shapes for each in shape.half_spaces(around=not keep)]

    def rules(self) -> int:
        return _affordable(self)

    def rule(self, rung: int) -> Rule:
        return _cut(self, rung)[0]

    def turned_rule(self, rung: int, rng: np.random.Generator) -> Rule:
        """The same about another axis of the sphere, or cut at one more angle of the circle."""
        return _cut_about(self, LADDER[rung], self.space.uniform(1, rng)[0])[0]

    def logpdf(self, x: Array) -> Array:
        return np.asarray(np.where(self.mask.sees(x), -np.log(self.area), -np.inf))

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        def values(x: Array) -> Array:
            return self.mask.sees(x).astype(np.float64)

        return rejected(self.space, values, 1.0, n, rng)


@dataclass(frozen=True, slots=True)
class Exposure(OfDensity):
    """The reference law of a mask that has a density on what it leaves: one on its region."""

    region: Region
    function: Callable[[Array], AnyArray]

    @property
    def density(self) -> Density:
        return Density(reference_space(self.region.space, self.region), self.function)

    @property
    def words(self) -> str:
        return f"a given density {self.region.mask.words}"

    @property
    def area(self) -> float:
        """Share of the space that was looked at."""
        return self.region.area

    def logpdf(self, x: Array) -> Array:
        out = self.region.logpdf(x)
        seen = out > -np.inf
        out[seen] += self.density.logpdf(x[seen])
        return out

    def sample(self, n: int, rng: np.random.Generator) -> Array:
        return self.density.sample(n, rng)


@lru_cache(maxsize=32)
def _cut(region: Region, rung: int) -> tuple[Rule, float]:
    """A rule of what is left, and the share of it."""
    axis = None if region.space.d == 2 else _best_axis(region.mask.shapes)
    return _cut_about(region, LADDER[rung], axis)


def _cut_about(region: Region, size: int, axis: Array | None) -> tuple[Rule, float]:
    """The same about a given axis of the sphere; on the circle cut there as well, if anywhere."""
    mask = region.mask
    if region.space.d == 2:
        ends = [shape.ends for shape in mask.shapes if isinstance(shape, Cap)]
        more = [] if axis is None else [np.arctan2(axis[1:], axis[:1])]
        return circle_rule(np.concatenate([*ends, *more]), mask.sees, size)
    assert axis is not None
    edges = [edge for shape in mask.shapes for edge in shape.edges]
    return sphere_rule(edges, mask.sees, axis, size)


@lru_cache(maxsize=64)
def _affordable(region: Region) -> int:
    """Rules whose nodes are not too many, as they grow with the square; always two."""
    first = len(_cut(region, _RUNG)[0].weights)
    sizes = [first * (size / LADDER[_RUNG]) ** 2 for size in LADDER]
    return max(2, sum(size <= _MOST_NODES for size in sizes))


def _best_axis(shapes: Sequence[Shape]) -> Array:
    """The axis of most edges: about it they are bands."""
    axes = [shape.axis for shape in shapes]
    count = [sum(abs(float(one @ other)) > 1.0 - CONCENTRIC for other in axes) for one in axes]
    return axes[int(np.argmax(count))]


def _listed(values: Any, name: str) -> list[Any]:
    try:
        if isinstance(values, str | bytes):
            raise TypeError("text")
        return list(values)
    except Exception as error:  # whatever a foreign object does, the message is ours
        raise InvalidArgument(f"{name} is {shown(values)}; give a list") from error


def _numbers(values: ArrayLike, count: int, name: str) -> Array:
    remedy = f"give {count} finite numbers"
    found = number_array(values, name, remedy)
    if found.shape != (count,) or not np.isfinite(found).all():
        raise InvalidArgument(f"{name} is {shown(values)}; {remedy}")
    return found


def _vector(lonlat: Array) -> tuple[float, ...]:
    if abs(lonlat[1]) > 0.5 * np.pi + ANGLE_LIMIT:
        raise InvalidArgument(
            f"a latitude of {np.degrees(lonlat[1]):g}° is beyond the poles; give (lon, lat)"
        )
    return tuple(lonlat_vector(*lonlat).tolist())


def _band(values: ArrayLike, unit: float, pole: tuple[float, ...]) -> Band:
    low, high = _numbers(values, 2, "a band") * unit
    if not -0.5 * np.pi - ANGLE_LIMIT <= low < high <= 0.5 * np.pi + ANGLE_LIMIT:
        raise InvalidArgument(
            f"a band is {shown(values)}; give latitudes (low, high) from pole to pole, low first"
        )
    return Band(float(low), float(high), (pole[0], pole[1], pole[2]))


def _cap(values: ArrayLike, unit: float) -> Cap:
    count = 2 if number_array(values, "a cap", "give 3 finite numbers").shape == (2,) else 3
    found = _numbers(values, count, "a cap") * unit
    if not 0.0 < found[-1] < np.pi:
        raise InvalidArgument(
            f"a cap is {shown(values)}; give its radius, between 0 and half a turn, last"
        )
    if count == 2:
        return Cap((float(np.cos(found[0])), float(np.sin(found[0]))), float(found[1]))
    return Cap(_vector(found[:2]), float(found[2]))


def _polygon(values: ArrayLike, unit: float) -> Polygon:
    remedy = "give longitude and latitude of m corners, (m, 2)"
    found = number_array(values, "a polygon", remedy)
    if found.ndim != 2 or found.shape[1] != 2 or not np.isfinite(found).all():
        raise InvalidArgument(
            f"a polygon has shape {found.shape}, or entries that are not finite; {remedy}"
        )
    return Polygon.of(np.array([_vector(corner) for corner in found * unit]))
