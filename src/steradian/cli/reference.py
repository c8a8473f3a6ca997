"""What --reference names."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from steradian.cli.options import Source
from steradian.errors import InvalidArgument

HELP = (
    "What information is relative to, instead of uniform: a HEALPix map (FITS), a profile written "
    "by --json (fit.json, or fit.json:2 for its level 2), or a table with a sample, read like FILE."
)
_OF_ROWS = ("weights", "counts")  # said of FILE alone


def parse_reference(text: str, where: Source) -> Any:
    """The reference that ``text`` names."""
    from steradian.profile.reference_files import is_map_file, read_fit, read_map

    name, level = text, 0
    if found := re.fullmatch(r"(.+\.json):(\d+)", text, re.IGNORECASE):
        name, level = found[1], int(found[2])
    path = Path(name)
    if not path.is_file():
        raise InvalidArgument(f"--reference {name}: there is no such file")
    if is_map_file(path):
        return read_map(path)
    if path.suffix.lower() == ".json":
        return read_fit(path, level)
    said = {key: value for key, value in where.said.items() if key not in _OF_ROWS}
    return Source((name,), said).read().directions
