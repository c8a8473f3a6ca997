"""Angles whose hours or degrees, minutes and seconds stand in columns of their own."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from steradian.data.conventions import CONVENTIONS
from steradian.errors import InvalidDirections

_PARTS: Mapping[str, str] = {
    word: part
    for part, words in {
        "h": "h hr hour hours", "d": "d deg degs degree degrees", "m": "m min mins minutes",
        "s": "s sec secs seconds", "-": "- sign sgn", "largest": "max maximum",
    }.items()
    for word in words.split()
}  # fmt: skip
_ANGLES = sorted(
    {
        name
        for each in CONVENTIONS.values()
        if each.angular and each.frame != "clock"
        for names in each.names
        for name in names
    }
)
_NAME = re.compile(
    rf"_?(?P<angle>{'|'.join(_ANGLES)})[\s_.]*(?P<part>{'|'.join(_PARTS)})", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class SplitAngle:
    """Columns that are one angle together."""

    angle: str  # as the names begin, in lower case
    columns: tuple[str, ...]
    hours: bool

    @property
    def joined(self) -> str:
        """How to write it in one column, in words."""
        return f"{'05h34m31.9s' if self.hours else '-00d00m36s'} in {self.angle!r}"


def split_angles(columns: Sequence[str]) -> list[SplitAngle]:
    """Angles in parts, like RA_h, RA_m, RA_s or lat_deg, lat_min."""
    angles: dict[str, dict[str, str]] = {}
    for column in columns:
        if (found := _NAME.fullmatch(column.strip())) is not None:
            parts = angles.setdefault(found["angle"].lower(), {})
            parts[_PARTS[found["part"].lower()]] = column
    return [
        SplitAngle(name, tuple(parts[each] for each in "-hdms" if each in parts), "h" in parts)
        for name, parts in angles.items()
        if "m" in parts and ("h" in parts or "d" in parts) and "largest" not in parts
    ]


def refuse_split(angles: Sequence[SplitAngle]) -> None:
    """Refuse angles in parts, with how to join them."""
    named = " and ".join(", ".join(each.columns) for each in angles)
    joined = " and ".join(each.joined for each in angles)
    raise InvalidDirections(
        f"columns {named} are the parts of {'one angle' if len(angles) == 1 else 'angles'}; join "
        f"them in one column for each, as text like {joined}, a sign before the whole"
    )
