"""What was worked out before: nothing that is asked for twice is computed twice."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

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
