"""Angles written with letters of the compass: NNE, N27E, 149.17W."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from steradian.data.conventions import Convention

_WORDS = (
    "N", "NNE", "NE", "ENE", "E", "ESE", "SE", "SSE",
    "S", "SSW", "SW", "WSW", "W", "WNW", "NW", "NNW",
)  # fmt: skip
_POINTS: Mapping[str, float] = {word: 22.5 * k for k, word in enumerate(_WORDS)}
_QUADRANT = re.compile(r"([NS])\s*(\d{1,2}(?:\.\d*)?)\s*°?\s*([EW])")
_SIDE = re.compile(r"(.*\d.*?)\s*([NSEW]{1,3})")
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
        """Whether it goes round the compass; of strikes, letters leave open which end is meant."""
        limits, one = self.convention.limits, self.convention.frame == "compass"
        return one and self.role != "strike" and not np.isfinite(limits[self.column][0])

    def signed(self, cell: Any) -> tuple[str, float]:
        """The text of a longitude or latitude without its letter, and its sign; 0 without one."""
        found = _SIDE.fullmatch(str(cell).strip().upper())
        east_west = _HEMISPHERES.get(self.role, "")
        if found is None or found[2] not in tuple(east_west):
            return "", 0.0
        return found[1].lower(), 1.0 if found[2] in "EN" else -1.0

    def remedy(self, cell: Any) -> str:
        """What to do with a cell that cannot be read."""
        lettered = np.isfinite(bearing(cell))
        if self.role == "strike" and lettered:
            return (
                "letters do not say to which side of its strike a plane dips; give strikes as "
                "azimuths from 0 to 360 with the plane dipping to their right, or dip directions"
            )
        if self.role == "dip" and _SIDE.fullmatch(str(cell).strip().upper()):
            return (
                "give the dip alone, from 0 to 90; to which side is told by the strike, to the "
                "right of which a plane dips, or by a dip direction"
            )
        if lettered and len(self.convention.roles) == 1:
            return "compass bearings are coords='azimuth'"
        return "give numbers, or name other columns (columns=)"
