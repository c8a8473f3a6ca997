"""What --reference names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from steradian.cli.options import Source
from steradian.errors import InvalidArgument

HELP = (
    "What information is relative to, instead of uniform: all but the latitudes that nobody looked "
    "at (unseen:-90..-20, or several with commas), a HEALPix map (FITS), a profile written by "
    "--json (fit.json, or fit.json:2 for its level 2), or a table with a sample, read like FILE."
)
_UNSEEN = "unseen:"
_DEGREES = r"([-+]?(?:\d+(?:\.\d+)?|\.\d+))"
_BAND = re.compile(rf"\s*{_DEGREES}\s*\.\.\s*{_DEGREES}\s*")
_OF_ROWS = ("weights", "counts")  # said of FILE alone


def parse_reference(text: str, where: Source) -> Any:
    """The reference that ``text`` names."""
    from steradian.profile.reference_files import is_map_file, read_fit, read_map

    if text.startswith(_UNSEEN):
        return _mask(text.removeprefix(_UNSEEN))
    name, level = text, 0
    if found := re.fullmatch(r"(.+\.json):(\d+)", text, re.IGNORECASE):
        name, level = found[1], int(found[2])
        if not level:
            raise InvalidArgument(f"--reference {text}: levels of a profile are counted from 1")
    path = Path(name)
    if not path.is_file():
        raise InvalidArgument(
            f"--reference {name}: there is no such file, and no band like {_UNSEEN}-90..-20"
        )
    if is_map_file(path):
        return read_map(path)
    if path.suffix.lower() == ".json":
        return read_fit(path, level)
    said = {key: value for key, value in where.said.items() if key not in _OF_ROWS}
    return Source((name,), said).read().directions


def _mask(text: str) -> Any:
    """A sky without bands of latitude, in degrees."""
    from steradian.references.mask import Mask

    bands = []
    for part in text.split(","):
        found = _BAND.fullmatch(part)
        if found is None:
            raise InvalidArgument(
                f"--reference {_UNSEEN}{text}: {part!r} is no band of latitudes; write two degrees "
                f"like {_UNSEEN}-90..-20"
            )
        bands.append((float(found[1]), float(found[2])))
    return Mask(bands=bands)
