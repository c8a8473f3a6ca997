"""Who reads: somebody at a Python prompt, or at a command line, where a remedy is an option."""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator
from contextvars import ContextVar
from dataclasses import dataclass
from enum import Enum


class Audience(Enum):
    """Whom the words are for."""

    PYTHON = "python"
    COMMAND_LINE = "command line"


_AUDIENCE: ContextVar[Audience] = ContextVar("audience", default=Audience.PYTHON)
_OFFERED: ContextVar[Collection[str] | None] = ContextVar("offered", default=None)


def audience() -> Audience:
    """Whom words are made for at present."""
    return _AUDIENCE.get()


def is_offered(option: str) -> bool:
    """Whether the command that speaks has an option, as far as it has said which it has."""
    offered = _OFFERED.get()
    return offered is None or option in offered


@contextlib.contextmanager
def speaking_to(whom: Audience, options: Collection[str] | None = None) -> Iterator[None]:
    """Make words for somebody else within the block; no number depends on it.

    ``options`` are those that the command in use has, None where all are as good as there.
    """
    before, offered = _AUDIENCE.set(whom), _OFFERED.set(options)
    try:
        yield
    finally:
        _AUDIENCE.reset(before)
        _OFFERED.reset(offered)


@dataclass(frozen=True, slots=True)
class Advice:
    """Something to write, in the reader's own terms: an argument in Python, an option elsewhere.

    Examples
    --------
    >>> advice = Advice("tests()", "--design")
    >>> print(advice)
    tests()
    >>> with speaking_to(Audience.COMMAND_LINE):
    ...     print(advice)
    --design
    """

    python: str
    command_line: object  # words, or an option as a value

    def __str__(self) -> str:
        return str(self.command_line) if audience() is Audience.COMMAND_LINE else self.python
