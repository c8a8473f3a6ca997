"""What was worked out before: nothing that is asked for twice is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

Answer = TypeVar("Answer")


class Memo:
    """Answers about one object that does not change, by what was asked.

    Examples
    --------
    >>> memo = Memo()
    >>> memo.once("six", lambda: 2 * 3), memo.once("six", lambda: 7)
    (6, 6)
    """

    __slots__ = ("_known",)

    def __init__(self) -> None:
        self._known: dict[Hashable, Any] = {}

    def once(self, asked: Hashable, work: Callable[[], Answer]) -> Answer:
        """The answer of ``work``, which is done the first time that ``asked`` is asked.

        What cannot be looked up is worked out, or refused by ``work`` in its own words.
        """
        try:
            known = asked in self._known
        except TypeError:
            return work()
        if not known:
            self._known[asked] = work()
        found: Answer = self._known[asked]
        return found

    def known(self, asked: Hashable) -> bool:
        """Whether it was asked before."""
        return asked in self._known


class SharedMemo(Memo):
    """Answers that people hold: their arrays are read-only, so that nobody changes another's.

    Examples
    --------
    >>> SharedMemo().once("zeros", lambda: np.zeros(2)).flags.writeable
    False
    """

    __slots__ = ()

    def once(self, asked: Hashable, work: Callable[[], Answer]) -> Answer:
        """As `Memo.once`."""
        return super().once(asked, lambda: _read_only(work()))


def _read_only(answer: Answer) -> Answer:
    """The same, its arrays and those of what it holds locked."""
    if isinstance(answer, np.ndarray):
        answer.flags.writeable = False
    elif isinstance(answer, tuple | list):
        for part in answer:
            _read_only(part)
    elif is_dataclass(answer) and not isinstance(answer, type):
        for field in fields(answer):
            _read_only(getattr(answer, field.name, None))
    return answer
