"""Contracts: lines in words, each a function that looks at an object and says what is broken.

The first sentence of a line's docstring is the line. It yields one sentence for every way in which
the object breaks it, and raises `NotOffered` where the object does not offer what it is about.
"""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from steradian.arguments import shown
from steradian.errors import ConformanceError

T = TypeVar("T")
Line = Callable[[T], Iterator[str]]
"""What is looked at → sentences about what is broken; none where the line is kept."""


class NotOffered(Exception):
    """The object does not offer what a line is about, for the reason given."""


@dataclass(frozen=True, slots=True)
class Report:
    """What was checked on an object that keeps its contract; ``print`` shows the lines.

    Attributes
    ----------
    subject : str
        The object, as it prints.
    kept : tuple of str
        The lines that it keeps.
    not_offered : tuple of str
        The lines about what it does not offer, each with the reason.
    """

    subject: str
    kept: tuple[str, ...]
    not_offered: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.subject} keeps its contract: {len(self.kept)} lines"]
        lines += [f"  + {each}" for each in self.kept]
        lines += [f"  - {each}" for each in self.not_offered]
        return "\n".join(lines)


def examined(subject: Any, specimen: T, stages: Iterable[Sequence[Line[T]]]) -> Report:
    """Hold ``specimen`` against the lines of a contract, stage by stage.

    Raises
    ------
    ConformanceError
        A stage has lines that are broken; all of them are named. Later stages are not looked at,
        since they take for granted what this one says.
    """
    kept: list[str] = []
    absent: list[str] = []
    for stage in stages:
        broken: list[str] = []
        for line in stage:
            try:
                found = list(line(specimen))
            except NotOffered as reason:
                absent.append(f"{words_of(line)} Not offered: {reason}")
                continue
            except Exception as error:  # whatever somebody else's code raises
                found = [_raised(error)]
            broken += [f"{words_of(line)} {each}" for each in found]
            kept += [] if found else [words_of(line)]
        if broken:
            raise ConformanceError(shown(subject), tuple(broken))
    return Report(shown(subject), tuple(kept), tuple(absent))


def words_of(line: Callable[..., Any]) -> str:
    """A line of a contract in words."""
    return (line.__doc__ or line.__name__).strip().splitlines()[0]


def missing_members(thing: object, protocol: type) -> list[str]:
    """Members of a Protocol, or of a base class and what it demands, that an object lacks."""
    return [name for name in _members(protocol) if not _has(thing, name)]


def is_object_of(thing: object, protocol: type) -> bool:
    """Whether a thing is no class and has all members of a Protocol."""
    return not isinstance(thing, type) and not missing_members(thing, protocol)


@cache
def _members(protocol: type) -> tuple[str, ...]:
    parts = [(*vars(base), *vars(base).get("demanded", ())) for base in protocol.__mro__]
    names = {name for part in parts for name in part if not name.startswith("_")}
    return tuple(sorted(names - {"demanded"}))


def _has(thing: object, name: str) -> bool:
    """Whether there is such a member, though reading it may fail."""
    return hasattr(type(thing), name) or name in getattr(thing, "__dict__", {})


def _raised(error: Exception) -> str:
    """An exception as a sentence: what, and where."""
    frames = traceback.extract_tb(error.__traceback__)
    last = frames[-1]
    where = f"{last.name}, {Path(last.filename).name}:{last.lineno}"
    return f"It raised {type(error).__name__} in {where}: {error or 'without words'}"
