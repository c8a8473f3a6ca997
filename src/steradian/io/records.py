"""Results out: plain records that every reader of JSON understands, and files that appear whole."""

from __future__ import annotations

import errno
import math
import os
import tempfile
from pathlib import Path
from typing import Any

from steradian.errors import InvalidArgument


def without_nan(value: Any) -> Any:
    """The same with None for what is not a finite number, which JSON does not know."""
    if isinstance(value, dict):
        return {key: without_nan(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [without_nan(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


_ELSEWHERE = "choose another place for it"
_FULL = "make room there, or choose another place for it"
_REMEDIES: dict[int | None, str] = dict.fromkeys(
    (errno.ENOSPC, getattr(errno, "EDQUOT", None)), _FULL
)


def write_whole(target: Path, content: bytes) -> None:
    """Write beside the target, then rename, so that nobody sees half a file.

    Raises
    ------
    InvalidArgument
        The system does not write it: the disk is full, or closed to whoever asks.
    """
    try:
        _write_beside(target, content)
    except OSError as error:
        why = str(error.strerror or error).lower()
        raise InvalidArgument(
            "{path} cannot be written: {why}; {remedy}",
            path=str(target), why=why, remedy=_REMEDIES.get(error.errno, _ELSEWHERE),
        ) from error  # fmt: skip


def _write_beside(target: Path, content: bytes) -> None:
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(content)
            stream.flush()
            os.fsync(stream.fileno())
        mask = os.umask(0)
        os.umask(mask)
        os.chmod(name, 0o666 & ~mask)  # a temporary file is closed to others
        os.replace(name, target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
