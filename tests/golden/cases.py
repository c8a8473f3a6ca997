"""A case of the record: a sample, features, a design, and what is asked.

Lists of them are in `golden.lists`, grouped as they are filed. The name of a case says what it is,
and stays, for it is the key of its record.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import steradian as sr
from golden.answers import QUESTIONS, Answer, of_profile, refusal

Record = dict[str, Answer]


@dataclass(frozen=True)
class Case:
    """Something that is made from a sample, and questions to it."""

    name: str
    make: Callable[[], Any]
    asks: tuple[str, ...]

    @property
    def group(self) -> str:
        """The file that its record is in."""
        return self.name.split("/", 1)[0]

    def record(self) -> Record:
        """Every answer, or which error came instead; a warning of NumPy or Python is an error."""
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                made = self.make()
            except sr.SteradianError as error:
                return _refused(error)
            return {ask: _answer(ask, made) for ask in self.asks}


def _refused(error: sr.SteradianError) -> Record:
    below = getattr(error, "profile", None)
    return {"made": refusal(error)} | ({} if below is None else {"below": of_profile(below)})


def _answer(ask: str, made: Any) -> Answer:
    try:
        return QUESTIONS[ask](made)
    except sr.SteradianError as error:
        return refusal(error)
