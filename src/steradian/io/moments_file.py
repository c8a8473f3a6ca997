"""Files of moments: two lines of text, then the sums as plain numbers.

The format, version 2:

* line 1: ``steradian-moments 2 `` and the CRC-32 of all that follows, as eight hexadecimal digits;
* line 2: a JSON object on one line with ``hierarchy`` (its dictionary), ``n``, ``weight``,
  ``weight_sq``, ``exponent`` and ``arrays`` (names and shapes, in order);
* the rest: the arrays, one after the other, row by row, as little-endian IEEE doubles.

Version 1 is read as well. Its first line ends with the version, and ``crc32`` of the arrays stands
in the JSON object, which no checksum covers: what it says is held against the sums alone.

Nothing in such a file is ever executed, and no more is read than its size on disk.
"""

from __future__ import annotations

import json
import math
import os
import re
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from steradian.arguments import shown
from steradian.errors import InvalidArgument
from steradian.io.records import write_whole
from steradian.text.audience import Advice

SUFFIX = ".moments"
_MAGIC = "steradian-moments"
_FIRST_LINE = re.compile(rb"steradian-moments (?:1|2 ([0-9a-f]{8}))\n")
_MOST_HEADER = 1 << 24  # bytes of the line of JSON
_NUMBER = np.dtype("<f8")
_WRITTEN_BY = Advice("Moments.save", "steradian moments --out")


def is_moments_file(path: Any) -> bool:
    """Whether a path is named like a file of moments."""
    return isinstance(path, str | os.PathLike) and os.fspath(path).endswith(SUFFIX)


def write_moments(path: str | Path, record: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a header and arrays; what stands at ``path`` is replaced whole or not at all."""
    target = _path(path)
    parts = {name: np.ascontiguousarray(array, dtype=_NUMBER) for name, array in arrays.items()}
    body = b"".join(part.tobytes() for part in parts.values())
    shapes = [[name, list(part.shape)] for name, part in parts.items()]
    try:
        header = json.dumps({**record, "arrays": shapes})
    except (TypeError, ValueError) as error:
        raise InvalidArgument(
            f"these moments cannot be written down ({error}); let to_dict of their hierarchy "
            "give plain numbers, text and lists"
        ) from error
    rest = f"{header}\n".encode("ascii") + body
    head = f"{_MAGIC} 2 {zlib.crc32(rest):08x}\n".encode("ascii")
    if target.is_dir():
        raise InvalidArgument(f"{target} is a directory; give the name of a file")
    if not target.parent.is_dir():
        raise InvalidArgument(f"no directory {str(target.parent)!r}; make it first")
    write_whole(target, head + rest)


def read_moments(path: str | Path) -> dict[str, Any]:
    """The header of a file of moments with its arrays, all of them of the promised size.

    Raises
    ------
    InvalidArgument
        It is no such file, of a newer version, truncated or damaged.
    """
    source = _path(path)
    if not source.is_file():
        raise InvalidArgument(f"no file {str(source)!r}; check the path")
    with source.open("rb") as stream:
        checksum = _checksum(stream.readline(64), source.name)
        rest = stream.read()
    if checksum is not None and zlib.crc32(rest) != checksum:
        raise InvalidArgument(
            f"{source.name} is truncated or damaged: its checksum differs; copy it again"
        )
    line, ended, body = rest.partition(b"\n")
    header = _header(line + ended, source.name)
    shapes = _shapes(header.pop("arrays", None), source.name)
    wanted = _NUMBER.itemsize * sum(math.prod(shape) for shape in shapes.values())
    if len(body) != wanted:
        what = "truncated" if len(body) < wanted else "longer than it says"
        raise InvalidArgument(
            f"{source.name} is {what}: {len(body)} bytes of sums, not {wanted}; copy it again"
        )
    if checksum is None and zlib.crc32(body) != header.pop("crc32", None):
        raise InvalidArgument(f"{source.name} is damaged: its checksum differs; copy it again")
    start = 0
    for name, shape in shapes.items():
        count = math.prod(shape)
        array = np.frombuffer(body, _NUMBER, count, start).reshape(shape)
        header[name] = array.astype(np.float64)
        start += count * _NUMBER.itemsize
    return header


def _path(path: Any) -> Path:
    try:
        found = Path(path)
        found.is_file()  # a name too long
    except (TypeError, ValueError, OSError) as error:
        raise InvalidArgument(f"path is {shown(path)}; give the name of a file") from error
    if "\0" in str(found):
        raise InvalidArgument(f"path is {shown(path)}; give the name of a file")
    return found


def _checksum(line: bytes, name: str) -> int | None:
    """The checksum of all that follows the first line; None of version 1, which has another."""
    found = _FIRST_LINE.fullmatch(line)
    if found is not None:
        return None if found[1] is None else int(found[1], 16)
    magic, _, version = line.decode("ascii", "replace").rstrip("\n").partition(" ")
    if magic != _MAGIC or not line.endswith(b"\n"):
        raise InvalidArgument(
            "{name} is no file of moments; write one with {remedy}", name=name, remedy=_WRITTEN_BY
        )
    raise InvalidArgument(
        f"{name} is a file of moments of version {shown(version)}, and versions 1 and 2 are "
        "known; read it with the steradian that wrote it, or a newer one"
    )


def _header(line: bytes, name: str) -> dict[str, Any]:
    wrong = f"{name} is truncated or damaged: its header cannot be read; copy it again"
    if not line.endswith(b"\n"):
        raise InvalidArgument(wrong)
    try:
        header = json.loads(line.decode("ascii"))
    except (ValueError, RecursionError) as error:
        raise InvalidArgument(wrong) from error
    if not isinstance(header, dict):
        raise InvalidArgument(wrong)
    return header


def _shapes(listed: Any, name: str) -> dict[str, tuple[int, ...]]:
    """Names and shapes of the arrays, as the header lists them."""
    shapes: dict[str, tuple[int, ...]] = {}
    for entry in listed if isinstance(listed, list) else [None]:
        match entry:
            case [str(label), list(sizes)] if label not in shapes and all(
                type(size) is int and 0 <= size <= _MOST_HEADER for size in sizes
            ):
                shapes[label] = tuple(sizes)
            case _:
                raise InvalidArgument(
                    f"{name} does not say which sums it holds; write it with Moments.save"
                )
    return shapes
