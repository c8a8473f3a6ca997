"""Who reads: somebody at a Python prompt, or at a command line, where a remedy is an option."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum


class Audience(Enum):
    """Whom the words are for."""

    PYTHON = "python"
    COMMAND_LINE = "command line"


_AUDIENCE: ContextVar[Audience] = ContextVar("audience", default=Audience.PYTHON)


def audience() -> Audience:
    """Whom words are made for at present."""
    return _AUDIENCE.get()


@contextlib.contextmanager
def speaking_to(whom: Audience) -> Iterator[None]:
    """Make words for somebody else within the block; no number depends on it."""
    before = _AUDIENCE.set(whom)
    try:
        yield
    finally:
        _AUDIENCE.reset(before)


@dataclass(frozen=True, slots=True)
class Advice:
    """Something to write, in the reader's own terms: an argument in Python, an option elsewhere.

    Examples
    --------
    >>> advice = Advice("normalize=True", "--normalize")
    >>> print(advice)
    normalize=True
    >>> with speaking_to(Audience.COMMAND_LINE):
    ...     print(advice)
    --normalize
    """

    python: str
    command_line: str

    def __str__(self) -> str:
        return self.command_line if audience() is Audience.COMMAND_LINE else self.python
