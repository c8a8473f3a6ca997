"""What a map shows: data, the density of a level, or both."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import ducc0
import numpy as np

from steradian.arguments import checked_profile, one_of, shown, whole_number
from steradian.data.directions import Directions
from steradian.data.notation import Notation
from steradian.errors import InvalidArgument
from steradian.numerics.arrays import Array
from steradian.plots.level_layout import chosen_level
from steradian.references.base import reference_words, underlying
from steradian.spaces import Space
from steradian.spaces.base import Chart, chart_of, has_no_sign
from steradian.text.numbers import counted

if TYPE_CHECKING:
    from steradian.decomposition import Profile
    from steradian.fitting.maxent import MaxEntFit


DataStyle = Literal["auto", "points", "bins", "none"]
DATA_STYLES: tuple[DataStyle, ...] = ("auto", "points", "bins", "none")
MOST_POINTS = 3000  # drawn one by one; more are counted in bins
_PER_BIN = 12  # rows per bin that a uniform law would put there, at least
_FINEST = 64  # HEALPix sides: bins of 0.9 degrees, which paper just shows


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Data and the law of a level, either of which may be missing, and how they are told.

    Attributes
    ----------
    space : Space
        Where they live.
    directions : Directions or None
        The data to draw.
    fit : MaxEntFit or None
        The law to draw.
    notation : Notation or None
        The convention that the data came in.
    noise : bool
        Whether no level was asked for and none is significant.
    """

    space: Space
    directions: Directions | None
    fit: MaxEntFit | None
    notation: Notation | None
    noise: bool = False

    @property
    def axial(self) -> bool:
        """Whether x and -x are one point."""
        return has_no_sign(underlying(self.space))

    @property
    def frame(self) -> str:
        """The orientation of the field: that of a convention, else "none"."""
        return "none" if self.notation is None else self.notation.convention.frame

    @property
    def binned(self) -> bool:
        """Whether there are too many points to draw one by one."""
        return self.directions is not None and self.directions.n > MOST_POINTS

    def without(self, what: DataStyle) -> Scene:
        """The same without its data where these are not wanted."""
        one_of(what, "data", DATA_STYLES)
        if what == "none" or self.directions is None:
            return replace(self, directions=None)
        return self

    def words(self, x: Array) -> str:
        """A point in the coordinates that the data came in, as exactly as a picture shows it."""
        told = self.notation
        if told is None or not told.convention.angular:
            parts = (f"{round(float(v), 2) + 0.0:.2f}" for v in x)  # no negative zeros
            return ("(" + ",\u00a0".join(parts) + ")").replace("-", "−")
        if told.clock is not None:
            return told.words(x)
        named = []
        for k, column in enumerate(told.values(x[None])):
            value = float(column[0])
            shown = f"{np.rad2deg(value) if told.unit == 'radians' else value:.0f}°"
            if told.unit == "hours" and k == 0:
                shown = f"{value:.1f} h"
            named.append(f"{told.convention.role(k)}\u00a0{shown}")
        text = ", ".join(named).replace("-", "−").replace("\u00a0−0°", "\u00a00°")
        return text.replace("\u00a0360°", "\u00a00°")

    @property
    def level_words(self) -> str:
        """The level of the law, like "Level 2 (axis or girdle)"."""
        assert self.fit is not None
        if self.fit.level == 0:
            return f"Level 0 ({reference_words(self.space) or 'uniform'})"
        return f"Level {self.fit.level} ({self.fit.hierarchy.level_names[self.fit.level - 1]})"

    @property
    def noise_words(self) -> str:
        """What is said instead of a peak that noise made, empty where there is none."""
        if not self.noise or self.fit is None:
            return ""
        return f"No level is significant; level {self.fit.level} is drawn"

    @property
    def count_words(self) -> str:
        """How many of what, like "133 directions"."""
        if self.directions is None:
            return ""
        return counted(self.directions.n, self.space.point_name)


def scene_of(source: Any, level: int | None, *charts: Chart) -> Scene:
    """The scene of a profile, a fit or directions, on one of these charts.

    ``level`` is of a profile; the highest significant one unless given.
    """
    if isinstance(source, Directions):
        scene = Scene(source.space, source, None, source.notation)
    elif hasattr(source, "fits"):
        scene = _of_profile(source, level, charts)
    elif hasattr(source, "logpdf"):
        scene = Scene(source.space, None, source, None)
    else:
        raise InvalidArgument(f"{shown(source)} is no profile, fit or set of directions")
    _refuse_others(scene.space, charts)
    return scene


def _of_profile(profile: Profile, level: int | None, charts: tuple[Chart, ...]) -> Scene:
    """The scene of a level of a profile, of the one that a picture shows where none is given."""
    fits = checked_profile(profile).fits
    _refuse_others(fits[0].space, charts)  # before anything is tested
    chosen, noise = chosen_level(profile) if level is None else (level, False)
    if whole_number(chosen, "level") not in range(len(fits)):
        raise InvalidArgument(f"level is {shown(level)}; give 0 to {len(fits) - 1}")
    known = profile.reading
    told = None if known is None or known.within else known.notation
    return Scene(fits[chosen].space, profile.directions, fits[chosen], told, noise)


_MAPS = {"circle": "roses", "sphere": "maps of the sphere", "torus": "maps of two angles"}


def _refuse_others(space: Space, charts: tuple[Chart, ...]) -> None:
    """Say how points of a space are drawn, where it is on none of these charts."""
    known = chart_of(space)
    if known == "none":
        raise InvalidArgument(
            f"there is no picture of its points (space: {space.name}); plot() draws the gaps"
        )
    if known not in charts:
        raise InvalidArgument(
            f"the {space.name} is drawn on {_MAPS[known]}, not on {_MAPS[charts[0]]}"
        )


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """Weight per HEALPix bin, as a multiple of what the uniform law puts there.

    All bins have the same area (Górski et al. 2005).
    """

    base: Any
    density: Array

    def at(self, x: Array) -> Array:
        """The bin's value at points ``x`` (…, 3)."""
        return np.asarray(self.density[self.base.vec2pix(np.ascontiguousarray(x))])

    @property
    def fullest(self) -> Array:
        """The middle of the bin that holds most, (3,)."""
        return np.asarray(self.base.pix2vec(np.array([np.argmax(self.density)]))[0])


def binned(directions: Directions, *, axial: bool) -> Bins:
    """Count rows by bins, a block of rows at a time; axes count half at either end."""
    sides = 1
    while sides < _FINEST and 12 * (2 * sides) ** 2 * _PER_BIN <= directions.n:
        sides *= 2
    base = ducc0.healpix.Healpix_Base(sides, "RING")
    bins = 12 * sides * sides
    total = np.zeros(bins)
    for x, w in directions.blocks():
        total += np.bincount(base.vec2pix(np.ascontiguousarray(x)), weights=w, minlength=bins)
        if axial:
            other = base.vec2pix(np.ascontiguousarray(-x))
            total += np.bincount(other, weights=w, minlength=bins)
    return Bins(base, total * (bins / total.sum()))
