"""Angles written with letters of the compass: NNE, N27E, 149.17W, 41SE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.data.conventions import Convention
from steradian.text.messages import Message, arguments, message

_WORDS = (
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE",
    "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW",
)  # fmt: skip
_POINTS: Mapping[str, float] = {word: 22.5 * k for k, word in enumerate(_WORDS)}
_QUADRANT = re.compile(r"([NS])\s*(\d{1,2}(?:\.\d*)?)\s*°?\s*([EW])")
_SIDE = re.compile(r"(.*\d.*?)\s*([NSEW]{1,3})")
_DIP = re.compile(r"(\d{1,2}(?:\.\d*)?)\s*°?\s*([NSEW]{1,3})?")
_RIGHT_ANGLE = 90.0
_HEMISPHERES: Mapping[str, str] = {"longitude": "EW", "latitude": "NS"}


def bearing(cell: Any) -> float:
    """Degrees clockwise from north of a point of the compass or a quadrant bearing; else nan.

    Examples
    --------
    >>> [bearing(cell) for cell in ("NNE", "n27e", "S15W", "N 10.5 W", "home")]
    [22.5, 27.0, 195.0, 349.5, nan]
    """
    text = str(cell).strip().upper()
    found = _QUADRANT.fullmatch(text)
    if found is None:
        return _POINTS.get(text, np.nan)
    size = float(found[2])
    if size > _RIGHT_ANGLE:
        return np.nan
    from_north = size if found[1] == "N" else 180.0 - size
    return from_north if found[3] == "E" else (360.0 - from_north) % 360.0


def dip_and_side(cell: Any) -> tuple[float, float]:
    """Degrees of a dip and, clockwise from north, of the side it goes to; else nan.

    Examples
    --------
    >>> [dip_and_side(cell) for cell in ("41SE", "55.5 n", 90, "NE")]
    [(41.0, 135.0), (55.5, 0.0), (90.0, nan), (nan, nan)]
    """
    found = _DIP.fullmatch(str(cell).strip().upper())
    if found is None:
        return np.nan, np.nan
    side = _POINTS.get(found[2] or "", np.nan)
    return (np.nan if found[2] and np.isnan(side) else float(found[1])), side


@dataclass(frozen=True, slots=True)
class AngleColumn:
    """A column of a convention, with the letters that its cells may have."""

    convention: Convention
    column: int

    @property
    def role(self) -> str:
        """What it is."""
        return self.convention.role(self.column)

    @property
    def takes_bearings(self) -> bool:
        """Whether it goes round the compass."""
        limits, one = self.convention.limits, self.convention.frame == "compass"
        return one and not np.isfinite(limits[self.column][0])

    @property
    def takes_sides(self) -> bool:
        """Whether its cells may say to which side of a strike a plane dips: see `io.dip_sides`."""
        return self.role == "dip" and "strike" in self.convention.roles

    def signed(self, cell: Any) -> tuple[str, float]:
        """The text of a longitude or latitude without its letter, and its sign; 0 without one."""
        found = _SIDE.fullmatch(str(cell).strip().upper())
        east_west = _HEMISPHERES.get(self.role, "")
        if found is None or found[2] not in tuple(east_west):
            return "", 0.0
        return found[1].lower(), 1.0 if found[2] in "EN" else -1.0

    def remedy(self, cell: Any) -> Message | str:
        """What to do with a cell that cannot be read."""
        lettered = np.isfinite(bearing(cell))
        if self.role == "dip" and _SIDE.fullmatch(str(cell).strip().upper()):
            return "give the dip alone, from 0 to 90; the dip direction tells to which side"
        if lettered and len(self.convention.roles) == 1:
            return message("compass bearings are {remedy}", remedy=arguments(coords="azimuth"))
        return message(
            "give numbers, or name other columns ({remedy})", remedy=arguments(columns=...)
        )
